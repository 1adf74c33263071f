"""Significance tests: numbers in, numbers out.

Numpy alone; nothing here knows SQL, the language or a measure by name.
"""
