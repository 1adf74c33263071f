"""SETTINGS, the one table of everything that a user may set once for all commands.

A setting is on the command line, in the environment, or in the user's settings file, in this order of precedence.
This module reads and checks settings; other modules act on them.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from evalhouse.warehouse.commands import DONE
from evalhouse.warehouse.process import memory
from evalhouse.warehouse.process.memory import MOST_THREADS

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


# === the table of settings ============================================================================================

THEMES = ("auto", "light", "dark")

MOST_BYTES = 1_000_000
"""A larger file cannot be a settings file."""


class SettingError(Exception):
    """What is wrong with a setting, and where it was set."""


class Settable(Struct, frozen=True):
    """A setting: its name, which is also the name of its option, its description, its default, and how its value is
    read. Reading raises ValueError with a description of valid values.
    """

    name: str
    meaning: str
    otherwise: str
    read: Callable[[str], object]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"EVALHOUSE_{self.name.upper()}"


class Held(Struct, frozen=True):
    """The value of a setting: as it was written, what it means, and where it was set (empty if it was not set)."""

    setting: Settable
    written: str | None = None
    meant: object = None
    where: str = ""


def _text(written: str) -> str:
    if not written:
        raise ValueError("a name")
    return written


def _format(written: str) -> str:
    from evalhouse.warehouse.render import FORMATS

    known = [form.name for form in FORMATS]
    if written not in known:
        raise ValueError(f"one of {', '.join(known)}")
    return written


def digits(written: str) -> int:
    """A number of decimal places. Raises ValueError."""
    return _whole(written, 0, 15)


def _whole(written: str, least: int, most: int) -> int:
    if not written.isascii() or not written.isdigit() or len(written) > 9 or not least <= int(written) <= most:
        raise ValueError(f"a whole number from {least} to {most}")
    return int(written)


def level(written: str) -> str:
    """A significance level as statements write it: 0.01 or 1%. Raises ValueError."""
    share = math.nan
    with contextlib.suppress(ValueError):
        share = float(written.removesuffix("%")) / (100 if written.endswith("%") else 1)
    if not 0 < share < 1 or not set(written) <= set("0123456789.%"):
        raise ValueError("a number between 0 and 1, such as 0.01 or 1%")
    return written


def theme(written: str) -> str:
    """A theme. Raises ValueError."""
    if written not in THEMES:
        raise ValueError(f"one of {', '.join(THEMES)}")
    return written


def threads(written: str) -> int:
    """A number of threads. Raises ValueError."""
    return _whole(written, 1, MOST_THREADS)


def _yes(written: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if written.casefold() not in words:
        raise ValueError("true or false")
    return words[written.casefold()]


SETTINGS = (
    Settable("db", "the warehouse to query", "evalhouse.duckdb in the folder", _text),
    Settable("sample", "use the sample data where there is no warehouse, in scripts too", "false", _yes),
    Settable("format", "the format of results", "table on a terminal, tsv in a pipe", _format),
    Settable("digits", "number of decimals", "by kind of number", digits),
    Settable("level", "the significance level of statements without one", "0.05", level),
    Settable("theme", "colours of the shell and of pictures: auto, light or dark", "auto", theme),
    Settable("threads", "threads to use", "one per processor", threads),
    Settable("quiet", "leave out notes and progress", "false", _yes),
)


def file_of_user() -> Path:
    """The path of the user's settings file, whether it exists or not."""
    from pathlib import Path

    if named := os.environ.get("EVALHOUSE_CONFIG"):
        return Path(named)
    from evalhouse.warehouse.process.folders import user_folder

    return user_folder("config") / "config.toml"


def current_settings(given: Mapping[str, object]) -> list[Held]:
    """The current value of each setting, from the options of the line (None or False if they are not given), the
    environment and the file. Raises SettingError for an invalid setting in the file, even if it is overridden,
    and for an invalid variable of the environment that is used.
    """
    kept = _settings_of_user()
    listed = []
    for setting in SETTINGS:
        on_line, variable = given.get(setting.name), os.environ.get(setting.variable, "")
        if on_line is not None and on_line is not False:
            written = "true" if on_line is True else str(on_line)
            listed.append(Held(setting, written, on_line, f"--{setting.name}"))
        elif variable:
            listed.append(_read(setting, variable, f"${setting.variable}"))
        else:
            listed.append(kept.get(setting.name, Held(setting)))
    return listed


def fill(args: argparse.Namespace) -> None:
    """Fills arguments of a command that the line does not give from the environment and the file. Remembers in `said`
    which ones the line gave.

    Raises SettingError.
    """
    args.said = {setting.name: getattr(args, setting.name) for setting in SETTINGS}
    for one in current_settings(args.said):
        if one.written is not None:
            setattr(args, one.setting.name, one.meant)
    try:
        memory.memory_allowed()
    except ValueError as error:
        raise SettingError(f"${error}") from None


def _read(setting: Settable, written: str, where: str) -> Held:
    try:
        return Held(setting, written, setting.read(written), where)
    except ValueError as error:
        raise SettingError(f"{where}: {setting.name} is {written!r}, and must be {error}") from None


def _settings_of_user() -> dict[str, Held]:
    """The settings in the user's file, each written as in the environment, with its line number."""
    file = file_of_user()
    try:
        with file.open("rb") as opened:
            raw = opened.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        if os.environ.get("EVALHOUSE_CONFIG"):
            raise SettingError(f"{file}: there is no such file, which $EVALHOUSE_CONFIG names") from None
        return {}
    except OSError as error:
        raise SettingError(f"{file}: it cannot be read: {(error.strerror or 'no reason is known').lower()}") from None
    if not raw.strip():
        return {}
    if len(raw) > MOST_BYTES:
        raise SettingError(f"{file}: this is larger than {MOST_BYTES:,} bytes")
    return _check_file(raw, file)


def _check_file(raw: bytes, file: Path) -> dict[str, Held]:
    import tomllib

    from evalhouse.grammar.editing.hints import hints

    try:
        text = raw.decode()
        said = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise SettingError(f"{file}:{line}: this is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        why = str(error)[: place.start()] if place else str(error)
        raise SettingError(f"{file}:{line}: this is not TOML: {why[:1].lower()}{why[1:]}") from None
    known = {setting.name: setting for setting in SETTINGS}
    kept: dict[str, Held] = {}
    for name, said_of in said.items():
        begin = re.search(rf"""^\s*\[?\s*["']?{re.escape(name)}["']?\s*[\]=.]""", text, re.MULTILINE)
        where = f"{file}:{text.count(chr(10), 0, begin.end()) + 1 if begin else 1}"
        if name not in known:
            raise SettingError(f"{where}: there is no setting {name!r}; {hints(name, known, 'settings')[0]}")
        if not isinstance(said_of, str | int | float):
            raise SettingError(f"{where}: {name} is a {type(said_of).__name__}, and must be one value")
        written = str(said_of).lower() if isinstance(said_of, bool) else str(said_of)
        kept[name] = _read(known[name], written, where)
    return kept


# === the command config ===============================================================================================
# Prints the value of every setting, and where it was set.


def config(args: argparse.Namespace) -> int:
    """Prints the settings."""
    from evalhouse.warehouse.commands.answering import show
    from evalhouse.warehouse.commands.streams import note
    from evalhouse.warehouse.results import Column, Result, TableRows

    columns = tuple(Column(name, "name") for name in ("setting", "value", "where", "meaning"))
    rows = TableRows.of(columns)
    for one in current_settings(args.said):
        written = one.written if one.written is not None else one.setting.otherwise
        rows.add(setting=one.setting.name, value=written, where=one.where or "default", meaning=one.setting.meaning)
    show(args, Result("config", "settings", "", rows.table(columns)))
    file = file_of_user()
    known = f"settings file: {file}"
    none = f"no settings file yet ({file}); create it with lines such as digits = 1"
    note(args, known if file.exists() else none)
    return DONE
