"""The shared frame and look of reports, served pages and published pages, and the one way to draw a statement with its
answer. This package draws what it is given and makes no links of its own.
"""
