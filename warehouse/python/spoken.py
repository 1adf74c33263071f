"""Translates error messages into Python's terms: they contain everything that the command line says, with its options
as arguments.
"""

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
    # Tracebacks and pickles use these public names.
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
    # A value is in capitals, a list, or the only word that can be chosen.
    (
        re.compile(r"--([a-z][a-z-]*) ([A-Z][A-Z,]*|[\w.]+(?:,[\w.]+)+|systems)(?![\w.])"),
        lambda found: f'{_name(found[1])}="{found[2]}"',
    ),
    (re.compile(r"--([a-z][a-z-]+)"), lambda found: _name(found[1])),
)
"""Options of the command line, and the corresponding Python arguments."""


def _made(text: str) -> str:
    """How a warehouse is created, if a hint mentions it."""
    return _MADE.sub(lambda found: f'evalhouse.create("{found[1]}") {found[2]}', text)


def in_python(text: str) -> str:
    """A hint of the command line in Python's terms. If the hint is a command to run, it stays as it is typed."""
    text = _made(text)
    if "evalhouse " not in text:
        for written, said in _OPTIONS:
            text = written.sub(said, text)
    return text


def say(error: EvalhouseError, text: str) -> None:
    """Sets the message of an error: what is wrong, its place in the text, and what would help."""
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
    # The statement and the place of the error stay exactly as they were written.
    error.drawn = "\n".join(map(_made if isinstance(error, QueryError) else in_python, lines))


def in_full(work: Callable[[], T], text: str = "") -> T:
    """The result of some work. Its errors get complete messages, with the text that they refer to, and their tracebacks
    hide internals.
    """
    try:
        return work()
    except EvalhouseError as error:
        say(error, text)
        raise error.with_traceback(None) from None
