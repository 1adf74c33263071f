"""The command `completion`: prints a completion script for the system's shell, which shtab generates from the command
line. It does not complete statements; the shell of evalhouse does that.
"""

from __future__ import annotations

import argparse
import sys

from warehouse.commands import DONE


def completion(args: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    parser: argparse.ArgumentParser = args.everything()
    _say_what_may_follow(parser, shtab.FILE)
    sys.stdout.write(shtab.complete(parser, args.shell).rstrip() + "\n")
    return DONE


def _say_what_may_follow(parser: argparse.ArgumentParser, file: object) -> None:
    """Adds what only completion needs: the names of the formats, and which arguments are files."""
    from warehouse.render import FORMATS

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _say_what_may_follow(command, file)
        elif "--format" in action.option_strings:
            action.choices = [format.name for format in FORMATS]
        elif action.metavar == "FILE" or not (action.option_strings or action.choices):
            action.complete = file  # type: ignore[attr-defined]
