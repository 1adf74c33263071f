"""What reports, the pages that are served and those that are published are made of: one frame, one look, and one way to
draw a statement with its answer. It draws what it is given and makes no links of its own.
"""
