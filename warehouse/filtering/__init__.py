"""The analyses of text filtering in Lewis and Tong (1992): generality, guessing, projection, change, audit, agreement.

The functions take numbers and return frozen results. They use the standard library and numpy only and must not know SQL
or a query.
"""
