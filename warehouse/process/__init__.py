"""What a process owes its machine: how it stops, what memory and threads it takes, where it keeps files and how it
publishes them. Nothing here knows what a warehouse is.
"""
