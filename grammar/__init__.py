"""The query language: text to nodes and back. It knows only the standard library, never a warehouse.

Names are not looked up here and defaults are not filled in; resolution does both.
"""
