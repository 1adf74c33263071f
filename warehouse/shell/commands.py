"""The commands of the shell, which begin with a dot: COMMANDS is the one table of them, in the order of `.help`."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grammar.editing.hints import hints
from grammar.errors import QueryError
from warehouse.faults import DataError, Fault
from warehouse.render import FORMATS, files

if TYPE_CHECKING:
    from warehouse.shell.repl import Shell

MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name without the dot, what may follow, what it does. `choices` are what completion offers."""

    name: str
    follows: str
    meaning: str
    run: Callable[[Shell, str], None]
    choices: tuple[str, ...] = ()


def run(shell: Shell, line: str) -> None:
    """Runs a line that begins with a dot. Raises QueryError if it is wrong."""
    name, _, rest = line.strip().removeprefix(".").partition(" ")
    known = {command.name: command for command in COMMANDS}
    command = known.get(name.casefold())
    if command is None:
        raise QueryError(f"there is no command .{name}", hints=hints(name, known, "commands"))
    if rest.strip() and not command.follows:
        raise QueryError(f".{command.name} stands alone")
    command.run(shell, rest.strip())


def _format(shell: Shell, name: str) -> None:
    if name:
        known = [each.name for each in FORMATS]
        if name not in known:
            raise QueryError(f"there is no format '{name}'", hints=hints(name, known, "formats"))
        shell.format = name
    shell.say(f"format {shell.format}")


def _digits(shell: Shell, number: str) -> None:
    if number:
        if not number.isdecimal() or int(number) > MOST_DIGITS:
            raise QueryError(f"'{number}' is no number of decimals from 0 to {MOST_DIGITS}")
        shell.digits = int(number)
    else:
        shell.digits = None
    shell.say(f"digits {'as usual' if shell.digits is None else shell.digits}")


def _timer(shell: Shell, state: str) -> None:
    if state not in ("", "on", "off"):
        raise QueryError(f"the timer is on or off, not '{state}'")
    shell.timer = not shell.timer if not state else state == "on"
    shell.say(f"timer {'on' if shell.timer else 'off'}")


def _output(shell: Shell, words: str) -> None:
    names = _words(words)
    force = "--force" in names
    names = [name for name in names if name != "--force"]
    if len(names) > 1:
        raise QueryError(".output takes one file")
    if not names:
        shell.output = None
        shell.say("results are shown here")
        return
    path = Path(names[0]).expanduser()
    shell.output = (path, files.check(path, None if path.suffix else shell.format, force))
    shell.gathered = []
    shell.say(f"results go to {path}; .output alone brings them back")


def _read(shell: Shell, name: str) -> None:
    names = _words(name)
    if len(names) != 1:
        raise QueryError(".read takes one file")
    path = Path(names[0]).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or "cannot be read").lower() if isinstance(error, OSError) else "is not UTF-8"
        raise DataError((Fault(str(path), None, reason),)) from None
    shell.statements(text, str(path))


def _edit(shell: Shell, nothing: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "statement.eval"
        file.write_text(shell.last_text + "\n", encoding="utf-8")
        try:
            status = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
            text = file.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError):
            raise QueryError(f"the editor '{editor}' cannot be run", hints=("$EDITOR names another",)) from None
    if status == 0:
        # What was edited waits for Enter: nothing runs that was not looked at once more.
        shell.waiting = text


def _last(shell: Shell, name: str) -> None:
    if shell.last is None:
        raise QueryError("there is no result yet")
    known = [each.name for each in FORMATS]
    if name and name not in known:
        raise QueryError(f"there is no format '{name}'", hints=hints(name, known, "formats"))
    shell.show(shell.last, name or shell.format)


def _explain(shell: Shell, nothing: str) -> None:
    if shell.last is None:
        raise QueryError("there is no statement yet")
    shell.statements(f"explain {shell.last.statement}", keep=False)


_VIEWS = (
    "select view_name as name, coalesce(comment, '') as holds from duckdb_views() where not internal "
    "and database_name = current_database() order by view_name"
)


def _tables(shell: Shell, nothing: str) -> None:
    shell.statements(f'sql "{_VIEWS}"', keep=False)


def _open(shell: Shell, name: str) -> None:
    names = _words(name)
    if len(names) != 1:
        raise QueryError(".open takes one file")
    shell.open(Path(names[0]).expanduser())


def _help(shell: Shell, words: str) -> None:
    shell.help(words)


def _quit(shell: Shell, nothing: str) -> None:
    raise EOFError


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise QueryError("a quote is not closed") from None


_FORMAT_NAMES = tuple(each.name for each in FORMATS)

COMMANDS: tuple[Command, ...] = (
    Command("format", "NAME", f"how results are shown: {', '.join(_FORMAT_NAMES)}", _format, _FORMAT_NAMES),
    Command("digits", "N", "decimals of numbers; without N the usual ones", _digits),
    Command("timer", "on|off", "how long each statement takes", _timer, ("on", "off")),
    Command("output", "FILE", "results into a file, in the format of its ending; without FILE back here", _output),
    Command("read", "FILE", "runs a file of statements", _read),
    Command("edit", "", "the last statement in $EDITOR, then back here to be run", _edit),
    Command("last", "FORMAT", "the last result once more, in another format; nothing runs", _last, _FORMAT_NAMES),
    Command("explain", "", "how the last question was answered", _explain),
    Command("tables", "", "the views that sql can ask", _tables),
    Command("open", "FILE", "another warehouse", _open),
    Command("help", "WORD", "this, or more of a word", _help),
    Command("quit", "", "leaves, as Ctrl-D does", _quit),
)
