"""Turns a text into nodes: lark parses it, and calls the builder for each rule. For a text with a mistake, it finds how
far the text can be read.
"""
