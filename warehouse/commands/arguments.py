"""Parses a command line with argparse: the options of every command, and the arguments of the commands that occur in
the line. It runs nothing, and `--help` imports nothing but this module and the table of commands.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from evalhouse.warehouse.commands import MISUSED
from evalhouse.warehouse.commands.streams import columns_variable, say
from evalhouse.warehouse.commands.table import COMMANDS, GROUPS, LOOK
from evalhouse.warehouse.version import __version__

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

GIVEN_NOTHING = {
    "db": None,
    "sample": False,
    "signature": False,
    "quiet": False,
    "no_color": False,
    "format": None,
    "digits": None,
    "level": None,
    "theme": None,
    "threads": None,
}
"""Defaults of the options that every command takes. These options may come before or after the command, so argparse
itself must not know their defaults: the default of one position would overwrite the value from the other.
"""


class _Help(argparse.HelpFormatter):
    """Help text as wide as the terminal, without the half dozen modules that argparse imports to measure the width."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, width=_columns() - 2, **options)


def _columns() -> int:
    if columns := columns_variable():
        return columns
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else -1).columns or 80
    except (OSError, ValueError):
        return 80


class _Parser(argparse.ArgumentParser):
    """Prints errors of the command line in the same form as all other errors."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def format_help(self) -> str:
        """Commands stand in their groups, and options behind them."""
        if self._subparsers is None:
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for title in GROUPS:
            formatter.start_section(title)
            for command in (command for command in COMMANDS if command.group == title):
                formatter.add_argument(argparse.Action([], command.name, metavar=command.name, help=command.meaning))
            formatter.end_section()
        formatter.start_section("Options")
        formatter.add_arguments(action for action in self._actions if action.option_strings)
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Raises OSError if the requested help cannot be written; argparse would ignore that."""
        if message:
            (file or sys.stderr).write(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """The same for help that is not written yet."""
        sys.stdout.flush()
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        say(f"error: {message}\n  {self.prog} --help shows the options")
        raise SystemExit(MISUSED)


def parser_for(words: Sequence[str], *, every_command: bool = False) -> argparse.ArgumentParser:
    """The parser for these words. Only commands that occur among the words get their arguments. If the line begins with
    a command, no other command is added, and its help and errors do not list others. This saves time.
    """
    everywhere = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    warehouse = "the warehouse; default $EVALHOUSE_DB, then ./evalhouse.duckdb, then, on a terminal, the sample data"
    everywhere.add_argument("--db", metavar="FILE", help=warehouse)
    everywhere.add_argument("--sample", action="store_true", help="use the sample data instead of a warehouse")
    everywhere.add_argument("--quiet", action="store_true", help="no notes or progress on standard error")
    everywhere.add_argument("--no-color", action="store_true", help="no colour (NO_COLOR does the same)")
    everywhere.add_argument("--format", metavar="FORMAT", help="default: table on a terminal, tsv in a pipe")
    everywhere.add_argument("--digits", type=_as_set("digits"), metavar="N", help="number of decimals")
    level = "the significance level of statements without one; default 0.05"
    signature = "show the whole signature below a table: all that determines its numbers"
    everywhere.add_argument("--signature", action="store_true", help=signature)
    everywhere.add_argument("--level", type=_as_set("level"), metavar="A", help=level)
    theme = "colours of the shell and of pictures: auto, light or dark"
    everywhere.add_argument("--theme", choices=("auto", "light", "dark"), metavar="THEME", help=theme)
    threads = "threads to use; default one per processor; does not change any result"
    everywhere.add_argument("--threads", type=_as_set("threads"), metavar="N", help=threads)
    parser = _Parser(
        prog="evalhouse",
        description=(
            "Store evaluation results, query them, and test which differences are real. Without a command: the shell."
        ),
        epilog="evalhouse COMMAND --help shows the options of a command and an example.",
        parents=[everywhere],
    )
    parser.add_argument("--version", action="version", version=f"evalhouse {__version__}")
    # A completion script needs the options of all commands.
    parser.set_defaults(everything=lambda: parser_for([command.name for command in COMMANDS], every_command=True))
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    first = words[0] if words else ""
    alone = [command for command in COMMANDS if command.name == first and not every_command]
    for command in alone or COMMANDS:
        added = commands.add_parser(
            command.name,
            help=command.meaning,
            description=command.meaning[0].upper() + command.meaning[1:] + ".",
            epilog=f"Example: {command.example}",
            parents=[everywhere] if command.name in words else [],
        )
        if command.name in words:
            command.words(added)
    return parser


VALUED = ("--db", "--format", "--digits", "--level", "--theme", "--threads")
"""The options of every command that take a value."""


def in_full(words: Sequence[str]) -> list[str]:
    """The words of a line, where a path alone stands for the command `look`, and the words of a statement for `query`:
    evalhouse results/; evalhouse compare F for GE, UMASS on TST3. A word that is neither a command nor there, and has
    nothing of a path, is left to be an error.
    """
    place = _place_of_command(words)
    if place is None or _is_command(words[place]):
        return list(words)
    if _begins_statement(words[place]):
        end = next((at for at, word in enumerate(words) if at > place and word.startswith("--")), len(words))
        return [*words[:place], "query", " ".join(words[place:end]), *words[end:]]
    return [*words[:place], LOOK, *words[place:]] if _is_path(words[place]) else list(words)


def _begins_statement(word: str) -> bool:
    from evalhouse.grammar.clauses import STATEMENTS, first_word

    return first_word(word.casefold()) in STATEMENTS


def check_command(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Exits with an error if the line begins with what is neither a command nor a path, and says what is like it."""
    place = _place_of_command(words)
    if place is not None and not _is_command(words[place]):
        from evalhouse.grammar.editing.hints import hints
        from evalhouse.warehouse.render.style import clean

        known = [*(command.name for command in COMMANDS), *sorted(os.listdir())]
        hint = hints(words[place], known, "commands and files")[0]
        parser.error(f"there is no command and no file called {clean(words[place])}; {clean(hint)}")


def _place_of_command(words: Sequence[str]) -> int | None:
    """Where the first word is that is no option, and no value of one."""
    after_option = (place for place, word in enumerate(words) if not place or words[place - 1] not in VALUED)
    return next((place for place in after_option if not words[place].startswith("-")), None)


def _is_command(word: str) -> bool:
    return any(command.name == word for command in COMMANDS)


def _is_path(word: str) -> bool:
    return any(sign in word for sign in "/\\.*?[") or os.path.exists(word)


def _as_set(name: str) -> Callable[[str], object]:
    """Reads an option in the same way as the setting of the same name."""

    def read(text: str) -> object:
        from evalhouse.warehouse.commands.settings import SETTINGS

        [setting] = [setting for setting in SETTINGS if setting.name == name]
        try:
            return setting.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r} is not {error}") from None

    return read
