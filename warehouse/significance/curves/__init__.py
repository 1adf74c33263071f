"""Measures at every threshold of confidence: values, bands that hold at all thresholds at once, the best threshold and
areas.

The package takes numbers and returns numbers. It must not know names, SQL or the definition of a measure.
"""
