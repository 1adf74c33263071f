"""The Python interface of evalhouse: a warehouse with a method for each statement, results that print, and tables in
memory that load like files. `evalhouse.py` offers it under one name. Nothing is computed or drawn here.
"""
