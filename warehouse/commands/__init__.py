"""What the command line can do: a module a family of commands, each a function from the words of the line to an exit
status. Which commands there are, and their options, is said in `table`; nothing heavy is imported before it is needed.
"""

from __future__ import annotations

DONE, WRONG, MISUSED, CLOSED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses: done; the query or the data was wrong; the command line was; the warehouse cannot be opened or
written; Ctrl-C.
"""
