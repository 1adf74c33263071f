"""The query language: text to nodes and back. Knows the standard library, never a warehouse.

Names are not looked up here and defaults not filled in; that is the business of resolution.
"""
