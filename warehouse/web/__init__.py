"""Pages of a warehouse: the content of each address, and the server that shows it. Pages consist of statements of the
language, which the session answers. Nothing here contains SQL, computes a number or draws.
"""
