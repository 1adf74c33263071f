"""Significance tests. They take numbers and return numbers.

The package uses numpy only. It must not know SQL, the query language or the name of a measure.
"""
