"""The commands of the command line: a module for each family, each command a function from parsed arguments to an exit
status. Which commands there are, and their options, is said in `table`; nothing heavy is imported before it is needed.
"""

from __future__ import annotations

DONE, WRONG, MISUSED, CLOSED, NOT_MET, UNDECIDED = 0, 1, 2, 3, 4, 5
"""Exit statuses: done; an error in the query or the data; an error on the command line; the warehouse cannot be
opened or written; what was expected does not hold; whether it does cannot be decided.
"""
