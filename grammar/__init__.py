"""The query language: text to nodes and back. Lark parses it. It never knows a warehouse.

Names are not looked up here and defaults are not filled in; resolution does both.
"""
