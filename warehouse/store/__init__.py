"""The warehouse file: its schema, its names, opening and changing it, and keeping it sound. The only room that imports
duckdb.
"""
