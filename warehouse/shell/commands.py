"""The commands of the shell, which begin with a dot. COMMANDS is the only table of them, in the order of `.help`."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from evalhouse.grammar.editing.hints import hints
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import file_error
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.render import FORMATS, files
from evalhouse.warehouse.results import Result

MOST_DIGITS = 15


class Console(Protocol):
    """The part of the shell that its commands read and set."""

    format: str
    digits: int | None
    timer: bool
    output: tuple[Path, str] | None
    gathered: list[Result]
    last: Result | None
    last_text: str
    waiting: str

    def say(self, text: str) -> None: ...
    def statements(self, text: str, source: str | None = None, keep: bool = True) -> None: ...
    def show(self, result: Result, format: str) -> None: ...
    def open(self, path: Path) -> None: ...
    def browse(self, result: Result) -> None: ...
    def help(self, words: str) -> None: ...


class DotCommand(Struct, frozen=True):
    """A command: its name without the dot, its argument, and what it does. `choices` are offered by completion."""

    name: str
    follows: str
    meaning: str
    run: Callable[[Console, str], None]
    choices: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f".{self.name} {self.follows}".rstrip()


def run(console: Console, line: str) -> None:
    """Runs a line that begins with a dot. Raises QueryError if it is wrong."""
    name, _, rest = line.strip().removeprefix(".").partition(" ")
    known = {command.name: command for command in COMMANDS}
    command = known.get(name.casefold())
    if command is None:
        raise QueryError(f"there is no command .{name}", hints=hints(name, known, "commands"))
    if rest.strip() and not command.follows:
        raise QueryError(f".{command.name} takes nothing after it")
    command.run(console, rest.strip())


def _format(console: Console, name: str) -> None:
    console.format = _known_format(name) or console.format
    console.say(f"format {console.format}")


def _digits(console: Console, number: str) -> None:
    if number:
        if not number.isdecimal() or int(number) > MOST_DIGITS:
            raise QueryError(f"'{number}' is not a number of decimals from 0 to {MOST_DIGITS}")
        console.digits = int(number)
    else:
        console.digits = None
    console.say(f"digits {'as usual' if console.digits is None else console.digits}")


def _signature(console: Console, nothing: str) -> None:
    if console.last is None:
        raise QueryError("there is no answer yet whose signature could be shown")
    console.say(console.last.signature)


def _timer(console: Console, state: str) -> None:
    if state not in ("", "on", "off"):
        raise QueryError(f"the timer is on or off, not '{state}'")
    console.timer = not console.timer if not state else state == "on"
    console.say(f"timer {'on' if console.timer else 'off'}")


def _output(console: Console, words: str) -> None:
    names = _words(words)
    force = "--force" in names
    names = [name for name in names if name != "--force"]
    if len(names) > 1:
        raise QueryError(".output takes one file")
    if not names:
        console.output = None
        console.say("results are shown here")
        return
    path = Path(names[0]).expanduser()
    console.output = (path, files.check(path, None if path.suffix else console.format, force))
    console.gathered = []
    console.say(f"results go to {path}; .output alone brings them back")


def _read(console: Console, name: str) -> None:
    path = _one_file(name, ".read")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or "cannot be read").lower() if isinstance(error, OSError) else "is not UTF-8"
        raise file_error(path, reason) from None
    console.statements(text, str(path))


def _edit(console: Console, nothing: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with temporary() as folder:
        file = folder / "statement.study"
        file.write_text(console.last_text + "\n", encoding="utf-8")
        try:
            status = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
            text = file.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError):
            raise QueryError(f"the editor '{editor}' cannot be run", hints=("$EDITOR names another",)) from None
    if status == 0:
        # The edited text waits for Enter: nothing runs before the user has looked at it once more.
        console.waiting = text


def _last(console: Console, name: str) -> None:
    if console.last is None:
        raise QueryError("there is no result yet")
    console.show(console.last, _known_format(name) or console.format)


def _explain(console: Console, nothing: str) -> None:
    if console.last is None:
        raise QueryError("there is no statement yet")
    console.statements(f"explain {console.last.statement}", keep=False)


_VIEWS = (
    "select view_name as name, coalesce(comment, '') as holds from duckdb_views() where not internal "
    "and database_name = current_database() order by view_name"
)


def _tables(console: Console, nothing: str) -> None:
    console.statements(f'sql "{_VIEWS}"', keep=False)


def _open(console: Console, name: str) -> None:
    if name:
        console.open(_one_file(name, ".open"))
    elif console.last is None:
        raise QueryError("there is no result yet", hints=(".open FILE opens another warehouse",))
    else:
        console.browse(console.last)


def _help(console: Console, words: str) -> None:
    console.help(words)


def _quit(console: Console, nothing: str) -> None:
    raise EOFError


def _known_format(name: str) -> str:
    """Returns the name. Raises QueryError if no format has it."""
    if name and name not in _FORMAT_NAMES:
        raise QueryError(f"there is no format '{name}'", hints=hints(name, _FORMAT_NAMES, "formats"))
    return name


def _one_file(text: str, command: str) -> Path:
    names = _words(text)
    if len(names) != 1:
        raise QueryError(f"{command} takes one file")
    return Path(names[0]).expanduser()


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise QueryError("a quote is not closed") from None


_FORMAT_NAMES = tuple(format.name for format in FORMATS)

COMMANDS: tuple[DotCommand, ...] = (
    DotCommand("format", "NAME", f"how results are shown: {', '.join(_FORMAT_NAMES)}", _format, _FORMAT_NAMES),
    DotCommand("digits", "N", "number of decimals; without N the default", _digits),
    DotCommand("signature", "", "all that decides the numbers of the last answer", _signature),
    DotCommand("timer", "on|off", "how long each statement takes", _timer, ("on", "off")),
    DotCommand("output", "FILE", "results into a file, in the format of its ending; without FILE back here", _output),
    DotCommand("read", "FILE", "runs a file of statements", _read),
    DotCommand("edit", "", "edit the last statement in $EDITOR, then run it", _edit),
    DotCommand("last", "FORMAT", "show the last result in another format; nothing is run again", _last, _FORMAT_NAMES),
    DotCommand("explain", "", "how the last question was answered", _explain),
    DotCommand("tables", "", "the views that sql can query", _tables),
    DotCommand("open", "FILE", "another warehouse; without FILE the last result as a page in the browser", _open),
    DotCommand("help", "WORD", "this help, or help on a word", _help),
    DotCommand("quit", "", "quits, as Ctrl-D does", _quit),
)
