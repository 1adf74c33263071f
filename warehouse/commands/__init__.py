"""The commands of the command line: one module for each family, and each command is a function from parsed arguments to
an exit status. `table` lists the commands and their options. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

DONE, WRONG, MISUSED, CLOSED, NOT_MET, UNDECIDED = 0, 1, 2, 3, 4, 5
"""Exit statuses: success; an error in the query or the data; an error on the command line; the warehouse cannot be
opened or written; an expectation is not met; whether it is met cannot be decided.
"""
