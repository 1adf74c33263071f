"""Turns text into nodes in steps: limits, parsing, drafts. For a text with a mistake, it finds how far the text can be
read.
"""
