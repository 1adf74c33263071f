"""Exact randomization: every exchange counted."""
