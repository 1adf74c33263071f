"""The command `completion`: a script for the shell of the system, made of the options of the command line itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from warehouse.commands import DONE
from warehouse.shell.system_shells import SCRIPTS

if TYPE_CHECKING:
    import argparse


def completion(args: argparse.Namespace) -> int:
    """Prints the script."""
    sys.stdout.write(SCRIPTS[args.shell](args.everything()))
    return DONE
