"""The parts that readers are made of: files as lines and cells, records as sheets, and staged tables. Nothing here
knows a format.
"""
