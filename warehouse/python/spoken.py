"""What an error says, in the words of Python: all that the command line would say of it, its options as arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from grammar.errors import EvalhouseError, QueryError
from warehouse.faults import DataError, WarehouseError
from warehouse.render.diagnostics import data_error, query_error, warehouse_error
from warehouse.results import NotMetError, UndecidedError, UnmetError

T = TypeVar("T")

for _error, _called in (
    (EvalhouseError, "Error"),
    (QueryError, "QueryError"),
    (DataError, "LoadError"),
    (WarehouseError, "WarehouseError"),
    (UnmetError, "UnmetError"),
    (NotMetError, "NotMetError"),
    (UndecidedError, "UndecidedError"),
):
    # Tracebacks and pickles name them as programs do.
    _error.__module__, _error.__name__, _error.__qualname__ = "evalhouse", _called, _called

_FLAGS = ("force", "skip-bad", "texts", "simulated", "dry-run")


def _name(option: str) -> str:
    return option.replace("-", "_")


_MADE = re.compile(r"evalhouse init (\S+) (?:--sample )?(makes one|makes a warehouse)(?: of them)?")

_OPTIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(r"--(set|map) (['\"]?)(\w+)=([^\s'\";,()]+)\2"),
        lambda found: f'{found[1]}={{"{found[3]}": "{found[4]}"}}',
    ),
    (re.compile(r"--as ([\w-]+)"), lambda found: f'as_="{found[1]}"'),
    (re.compile(rf"--({'|'.join(_FLAGS)})\b"), lambda found: f"{_name(found[1])}=True"),
    # A value is in capitals, a list, or the one word that there is a choice of.
    (
        re.compile(r"--([a-z][a-z-]*) ([A-Z][A-Z,]*|[\w.]+(?:,[\w.]+)+|systems)(?![\w.])"),
        lambda found: f'{_name(found[1])}="{found[2]}"',
    ),
    (re.compile(r"--([a-z][a-z-]+)"), lambda found: _name(found[1])),
)
"""Options of the command line, and how the same is said in Python."""


def _made(text: str) -> str:
    """How a warehouse is made, where a hint says it."""
    return _MADE.sub(lambda found: f'evalhouse.create("{found[1]}") {found[2]}', text)


def in_python(text: str) -> str:
    """A hint of the command line as one of Python. A command that would help stays as it is typed."""
    text = _made(text)
    if "evalhouse " not in text:
        for written, said in _OPTIONS:
            text = written.sub(said, text)
    return text


def say(error: EvalhouseError, text: str) -> None:
    """Puts into an error what people are to read: what is wrong, the place in the text, and what would help."""
    match error:
        case QueryError():
            drawn = query_error(error, text)
        case DataError():
            drawn = data_error(error)
        case WarehouseError():
            drawn = warehouse_error(error)
        case _:
            return
    lines = [line.removeprefix("error: ") for line in drawn.split("\n")]
    # Of a statement and its place nothing else is touched: they are what was written.
    error.drawn = "\n".join(map(_made if isinstance(error, QueryError) else in_python, lines))


def in_full(work: Callable[[], T], text: str = "") -> T:
    """What some work gives. Its errors say all that there is to say, of that text where they are of one, and show
    nothing of the inside.
    """
    try:
        return work()
    except EvalhouseError as error:
        say(error, text)
        raise error.with_traceback(None) from None
