"""Describes one format: how its files are recognized, how they are read, and what they contain.

Each reader describes itself with these classes, and the table of readers lists it. Nothing here knows which readers
there are, and nothing here opens a file.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec import field as struct_field

from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.kinds.records import FactForm, Field
from evalhouse.warehouse.loading.staging.columns import Findings
from evalhouse.warehouse.loading.staging.json_values import ITEM, JSONError, KeyPath, key_paths, parse_json, values
from evalhouse.warehouse.loading.staging.staged import Staged, Staging

# === how a reader works ===============================================================================================
# A load has three steps, and the reader takes part in each:
#
#     1. Every file is shown to `Reader.recognizes` (as a `Start`), which returns the evidence for the reader and the
#        role of the file in the load (`Recognition`, `Role`). If a file could be several things, it is `unsure` and a
#        person decides.
#     2. Files are put in order: keys first, then facts, then attributes. A `PART` is read together with another file.
#     3. `Reader.stage` gets each file (as a `Staging`). For values that the file does not give, it calls
#        `staging.named`, which falls back on `Reader.unsaid`. `staging.keys` has the keys that the load found for the
#        file. `staging.replicate` names a run of a system. Failures go on a sheet of the form FAILURES.


class Option(Struct, frozen=True):
    """An option for how a file is read, such as `--depth 10`. A default of None means that it is not set.

    An option with `is_file` names a file that is read together with the others, such as `--gold gold.conll`. If that
    file is among the files of the load, it is not loaded by itself.
    """

    name: str
    meaning: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    is_file: bool = False
    several: bool = False
    """Whether it may name several files, separated by commas."""
    of_texts: bool = False
    """Whether it affects only texts, so that no result depends on it."""

    def files(self, text: str) -> list[Path]:
        """The files that the option names."""
        names = text.split(",") if self.several else [text]
        return [Path(name.strip()) for name in names if name.strip()]


class Role(IntEnum):
    """The role of a file in its load. Files are loaded in the order of their roles, whatever their order on the command
    line.
    """

    KEY = 1
    """What systems are judged by: qrels, gold answers, labels."""
    FACTS = 2
    """The answers and decisions of systems."""
    FIGURES = 3
    """Computed from facts, such as the output of a scorer. The facts are loaded before."""
    ATTRIBUTES = 4
    """Descriptions of systems or documents."""
    PART = 5
    """Read together with another file and not by itself, such as a results file beside its samples."""


class Evidence(IntEnum):
    """What a reader recognizes its files by, from the strongest to the weakest. Readers with stronger evidence are
    asked first.

    Readers with the same kind of evidence are asked in the order of the table, and those of other packages after them.
    """

    MARK = 1
    """A text that only files of this format begin with or contain."""
    NAMES = 2
    """Names of files, keys or columns that no other format uses."""
    COLUMNS = 3
    """Columns that have the names of a fact's fields."""
    SHAPE = 4
    """The number of columns, and which of them hold numbers."""
    BESIDE = 5
    """The name of another file in the folder alone: any text could stand there."""


class Recognition(Struct, frozen=True):
    """The evidence for a reader in the start of a file ("its columns y_true and y_pred"), and the role of the file in
    the load.

    `unsure` is set if the file cannot be loaded before a person decides something. It says what the file could be, and
    which option decides ("columns 2 and 3 are both tags; --tags pos,entities says what they are"). It is empty if there
    is nothing to decide. `evidence` is set if it is weaker than what the reader has for its other files.

    `lacks` is a field that the load must give, because nothing in the file does: "system". Several such files with the
    same columns take it from their names; until it is given, any other reader goes first. If it is given, nothing is
    `unsure`.
    """

    why: str
    role: Role = Role.FACTS
    unsure: str = ""
    evidence: Evidence | None = None
    lacks: str = ""


class Nearly(Struct, frozen=True):
    """What a reader misses in a file that it does not recognize, as a clause ("nothing names the system"), and the
    words of the command line that would help: `--as table --set system=NAME`.
    """

    misses: str
    words: str


class Start(Struct, frozen=True):
    """The start of a file: its name in lower case without the ending for compression, and its first bytes as text.

    `named` are the columns, if the file names them somewhere else than in its first line, and `rows` are some of its
    rows. `whole` says whether the text is the whole file. `path` is the path of the file, and `beside` are the names of
    all files in its folder. `options` come from the command line, and so does what is `mapped`: fields, or measures,
    to the columns that they are taken from.
    """

    name: str
    text: str
    named: frozenset[str] = frozenset()
    whole: bool = True
    path: Path = Path()
    beside: frozenset[str] = frozenset()
    options: Mapping[str, str] = struct_field(default_factory=dict)
    rows: tuple[dict[str, str], ...] = ()
    mapped: Mapping[str, str] = struct_field(default_factory=dict)

    @property
    def first(self) -> str:
        """The first line that is not blank."""
        return next((line for line in self.text.splitlines() if line.strip()), "")

    @property
    def lines(self) -> list[str]:
        """The lines that are not blank. The last line is left out if it may be incomplete."""
        text = self.text if self.whole else self.text.rpartition("\n")[0]
        return [line for line in text.splitlines() if line.strip()]

    @property
    def records(self) -> list[dict[str, str]]:
        """The first records of a table or of a list of objects, as texts by heading; empty if the file is neither."""
        return list(self.rows) or _records(self.first, self.lines, self.text)

    @property
    def keys(self) -> frozenset[KeyPath]:
        """The keys of a JSON text with the keys around them: ("eval", "task"); empty if the file is something else."""
        return key_paths(self.text) if self.is_json else frozenset()

    @property
    def is_json(self) -> bool:
        """Whether the text begins like JSON. A bracket with a blank behind it may be a token of a text."""
        return _JSON.match(self.text) is not None

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns, if the file is a table or holds objects."""
        if self.named:
            return self.named
        if self.first.strip() in ("[", "[{"):
            return frozenset(key for record in self.records for key in record)
        if self.first.lstrip().startswith(("{", "[")):
            return frozenset(path[-1] for path in key_paths(self.first) if path[:-1] in ((), (ITEM,)))
        return frozenset(self.header)

    @property
    def header(self) -> list[str]:
        """The cells of the first line, if they are separated by tabs or commas."""
        cells = next(csv.reader([self.first], delimiter="\t" if "\t" in self.first else ","), [])
        return [cell.strip().removeprefix("\ufeff") for cell in cells]


_MOST_RECORDS = 50

_JSON = re.compile(r"\ufeff?\s*[\[{]([\"\[{\]}0-9-]|[ \t]*([\r\n]|$))")


def _records(first: str, lines: list[str], text: str) -> list[dict[str, str]]:
    if not first.lstrip().startswith(("{", "[")):
        separator = "\t" if "\t" in first else ","
        header = [cell.strip().removeprefix("\ufeff") for cell in next(csv.reader([first], delimiter=separator), [])]
        with contextlib.suppress(csv.Error):
            rows = csv.reader((line + "\n" for line in lines[1 : _MOST_RECORDS + 1]), delimiter=separator)
            return [dict(zip(header, row, strict=False)) for row in rows]
        return []
    found: list[dict[str, str]] = []
    with contextlib.suppress(JSONError, ValueError):
        for one in islice(values([text]), _MOST_RECORDS):
            record = parse_json(one)
            if not isinstance(record, dict):
                return []
            found.append({key: as_text(item) for key, item in record.items()})
    return found


def as_text(item: object) -> str:
    """A value as the text of a cell."""
    return "" if item is None else item if isinstance(item, str) else json.dumps(item)


class Reader(Struct, frozen=True):
    """How one format becomes facts.

    `reads` describes in one line what a file contains, and `example` is a small file. `stage` writes the records of a
    file to temporary tables of texts, one table per form and one column per field, and raises DataError if the file
    cannot be read. `recognizes` returns the evidence for this reader in the start of a file, or None; a plain text is
    the `why` of a Recognition. A file of a reader with `columns` is a table whose columns have the names of the fields
    of its only form.
    """

    name: str
    reads: str
    forms: tuple[FactForm, ...]
    example: str
    stage: Callable[[Staging], tuple[Staged, ...]]
    options: tuple[Option, ...] = ()
    columns: bool = False
    noun: str = ""
    """What one document of such a file is called; empty if it may be anything."""
    cluster: str = ""
    """The attribute that dependent documents share, if the file has it."""
    observed_in: Mapping[str, Observed] = struct_field(default_factory=dict)
    """For forms whose documents differ from `noun`, what they are, by the name of the form."""
    recognizes: Callable[[Start], Recognition | str | None] = lambda start: None
    evidence: Evidence = Evidence.SHAPE
    nearly: Callable[[Start], Nearly | None] = lambda start: None
    """What it misses in the start of a file that it does not recognize; None if the file is nothing like its own."""
    unsaid: Mapping[str, str] = struct_field(default_factory=lambda: {"test_set": "{stem}"})
    """Templates for the values of fields that neither a setting nor the file gives: {"test_set": "{parent}"}."""
    survey: Callable[[Sequence[Staging]], Sequence[Findings | None]] | None = None
    """For a reader of tables that are alike, decides what the columns of several files mean. Of a file that cannot be
    read it says nothing, because `stage` will say why.
    """
    keyed: bool = False
    """Whether the counts of `possible` are those of a key, which the file brings beside the answers of each system."""
    whole_archives: bool = False
    """Whether this reader reads a tar archive as one file. Otherwise archives are unpacked and loaded like a folder."""
    whole_folders: str = ""
    """The ending of files whose folders, side by side, are read as one file, as if they were in an archive."""
    formerly: tuple[str, ...] = ()
    """Names that it had: `load` still takes them, and imports of that time have stored them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and those that it had."""
        return (self.name, *self.formerly)

    def observed(self, form: FactForm) -> Observed:
        """What the documents are that the records of a form are about."""
        return self.observed_in.get(form.name, Observed(self.noun, self.cluster))

    @property
    def names_by_folder(self) -> bool:
        """Whether a test set is named after a folder, unless a setting or the file names it."""
        return "{parent}" in self.unsaid.get("test_set", "")

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that columns of a file are matched with; empty if files of this reader have no named columns."""
        return self.forms[0].fields if self.columns else ()


# === templates of names ===============================================================================================
# What `{stem}`, `{name}`, `{parent}` and `{parent2}` mean for a file.

PARTS = ("stem", "name", "parent", "parent2")

_PART = re.compile(r"\{([^{}]*)\}")
_PACKED = re.compile(r"\.(gz|tgz|zst|zip|tar)$", re.IGNORECASE)


def filled(templates: Mapping[str, str], file: Path, folder: Path | None = None) -> dict[str, str]:
    """The templates, filled with the parts of a file's path. If `folder` is given, it replaces the folder of the file.
    Raises ValueError for an unknown part.
    """
    folder = folder or file.absolute().parent
    unpacked = file.name
    while _PACKED.search(unpacked):
        unpacked = _PACKED.sub("", unpacked)
    parts = {
        "stem": Path(unpacked).stem,
        "name": file.name,
        "parent": folder.name,
        "parent2": folder.parent.name,
    }

    def part(found: re.Match[str]) -> str:
        if found[1] not in parts:
            raise ValueError(f"{found[0]} is not known; the parts are {', '.join(f'{{{name}}}' for name in PARTS)}")
        return parts[found[1]]

    return {field: _PART.sub(part, template) for field, template in templates.items()}
