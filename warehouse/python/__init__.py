"""What Python programs use of evalhouse: a warehouse with a method for each statement, results that print, tables in
memory that load as files do. `evalhouse.py` offers it under one name; nothing is answered or drawn here.
"""
