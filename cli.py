"""The command line in a checkout: `python cli.py`. What is installed has `evalhouse` and `python -m evalhouse`."""

from __future__ import annotations

from warehouse.commands.program import command, main

__all__ = ["command", "main"]

if __name__ == "__main__":
    raise SystemExit(command())
