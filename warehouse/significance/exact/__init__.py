"""Exact randomization: every exchange is counted."""
