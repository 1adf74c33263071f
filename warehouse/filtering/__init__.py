"""What Lewis and Tong (1992) ask of text filtering: generality, guessing, projection, change, audit, agreement.

Numbers in, frozen results out. Standard library and numpy only: nothing here knows SQL or a query.
"""
