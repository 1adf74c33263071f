"""The command line in a checkout: `python cli.py`. An installed package has `evalhouse` and `python -m evalhouse`
instead.
"""

from __future__ import annotations

from evalhouse.warehouse.commands.program import command, main

__all__ = ["command", "main"]

if __name__ == "__main__":
    raise SystemExit(command())
