"""The Python interface of evalhouse: a warehouse with a method for each statement, results that print, and tables in
memory that load like files. `interface.py` lists what `import evalhouse` offers. Nothing is computed or drawn here.
"""
