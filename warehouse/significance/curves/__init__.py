"""Measures at every threshold of confidence: values, bands that hold at all thresholds at once, the best threshold and
areas.

Numbers in, numbers out: nothing here knows names, SQL or where a measure comes from.
"""
