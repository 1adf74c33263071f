"""`python -m evalhouse` is the command line."""

from evalhouse.warehouse.commands.program import command

raise SystemExit(command())
