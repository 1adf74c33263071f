"""Pages of a warehouse: what stands at which address, and the server that shows them. A page is made of statements of
the language, which the session answers; nothing here has SQL, computes a number or draws.
"""
