"""Approximate randomization: exchanges drawn by fair coins."""
