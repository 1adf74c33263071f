"""What is known of one format: how its files are recognized, how they are read, and what they hold.

Each file of `warehouse.loading.readers` describes its reader with these classes, and the table there lists it. A load
goes through three steps, and the reader has a say in each:

1. Every file is shown to `Reader.recognizes` (a `Start`), which says what speaks for the reader and what the file is
   to a load (`Recognition`, `Role`). What may be one thing or another is `unsure`, and asked of the person.
2. Files are put in order: keys first, then facts, then attributes. A `PART` is read together with another file.
3. `Reader.stage` is handed each file (`Staging`). What the file does not say comes from `staging.named`, and from
   `Reader.unsaid` after that; the keys that the load has for the file are `staging.keys`; a run of a system is named
   by `staging.replicate`; what failed goes on a sheet of the form FAILURES.

Nothing here knows which readers there are, and nothing here opens a file.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import IntEnum
from itertools import islice
from pathlib import Path

from warehouse.loading.staging.json_values import JSONError, parsed, values
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.observed import Observed
from warehouse.tasks.records import FactForm, Field


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be said about how a file is read: `--depth 10`. A default of None leaves it unsaid.

    One with `is_file` names a file that is read together with the others: `--gold gold.conll`. Where it is among the
    files of the load it is not loaded by itself.
    """

    name: str
    meaning: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    is_file: bool = False
    several: bool = False
    """Whether it may name several files, with commas between them."""
    of_texts: bool = False
    """Whether it is about texts alone, so that no answer depends on it."""

    def files(self, text: str) -> list[Path]:
        """The files that are named."""
        names = text.split(",") if self.several else [text]
        return [Path(name.strip()) for name in names if name.strip()]


class Role(IntEnum):
    """What a file is to the load that it is part of; that is the order of loading, whatever the order of the files."""

    KEY = 1
    """What systems are judged by: qrels, gold answers, labels."""
    FACTS = 2
    """What systems did."""
    FIGURES = 3
    """What was computed of facts, which come first: the output of a scorer."""
    ATTRIBUTES = 4
    """What is known of systems or documents."""
    PART = 5
    """Read together with another file, and not by itself: a results file beside its samples."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """What in the start of a file speaks for a reader ("its columns y_true and y_pred"), and what it is to a load.

    `unsure` is a sentence for a file that cannot be loaded before something is said: what it could be, and the option
    that settles it ("columns 2 and 3 are both tags; --tags pos,entities says what they are"). It is empty where nothing
    has to be asked.
    """

    why: str
    role: Role = Role.FACTS
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """The name of a file in lower case, without what says that it is compressed, and its first bytes as text.

    `named` are the columns of a file that names them elsewhere than in its first line, and `rows` some of its rows;
    `whole` says whether the text is all of the file; `path` is where the file is, and `beside` are the names of the
    files in its folder, its own among them; `options` are those of the command line.
    """

    name: str
    text: str
    named: frozenset[str] = frozenset()
    whole: bool = True
    path: Path = Path()
    beside: frozenset[str] = frozenset()
    options: Mapping[str, str] = dataclass_field(default_factory=dict)
    rows: tuple[dict[str, str], ...] = ()

    @property
    def first(self) -> str:
        """The first line that is not blank."""
        return next((line for line in self.text.splitlines() if line.strip()), "")

    @property
    def lines(self) -> list[str]:
        """The lines that are not blank, without the last where it may be cut off."""
        text = self.text if self.whole else self.text.rpartition("\n")[0]
        return [line for line in text.splitlines() if line.strip()]

    @property
    def records(self) -> list[dict[str, str]]:
        """The first records of a table or of a list of objects, each a text by heading; none where it is neither."""
        return list(self.rows) or _records(self.first, self.lines, self.text)

    @property
    def columns(self) -> frozenset[str]:
        """The names of columns, where the file is a table or holds objects."""
        if self.named:
            return self.named
        if self.first.strip() in ("[", "[{"):
            return frozenset(key for record in self.records for key in record)
        if self.first.lstrip().startswith(("{", "[")):
            return frozenset(re.findall(r'"([^"\\]+)"\s*:', self.first))
        cells = next(csv.reader([self.first], delimiter="\t" if "\t" in self.first else ","), [])
        return frozenset(cell.strip().removeprefix("\ufeff") for cell in cells)


_MOST_RECORDS = 50


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
            record = parsed(one)
            if not isinstance(record, dict):
                return []
            found.append({key: as_text(item) for key, item in record.items()})
    return found


def as_text(item: object) -> str:
    """What a cell says of a value."""
    return "" if item is None else item if isinstance(item, str) else json.dumps(item)


class Evidence(IntEnum):
    """What a reader recognizes its files by, from the strongest to the weakest; that is the order of asking.

    Readers that go by the same are asked in the order of the table, and those of other packages after them.
    """

    MARK = 1
    """A text that files of no other format begin with or have in them."""
    NAMES = 2
    """Names that no other format gives to its files, keys or columns."""
    COLUMNS = 3
    """Columns that are named like the fields of a fact."""
    SHAPE = 4
    """How many columns a line has, and in which of them there are numbers."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How one format becomes facts.

    `reads` says in one line what a file holds; `example` is a small file; `stage` puts the records of a file into
    temporary tables of texts, one a form and one column a field, and raises DataError if the file cannot be read.
    `recognizes` says what in the start of a file speaks for this reader, or None; a text is the `why` of a Recognition.
    A file of a reader with `columns` is a table whose columns are named like the fields of its only form.
    """

    name: str
    reads: str
    forms: tuple[FactForm, ...]
    example: str
    stage: Callable[[Staging], tuple[Staged, ...]]
    options: tuple[Option, ...] = ()
    columns: bool = False
    noun: str = ""
    """What a document of the warehouse is in such a file; empty where it may be anything."""
    cluster: str = ""
    """The attribute that documents share which are not independent, where the file gives it to them."""
    observed_in: Mapping[str, Observed] = dataclass_field(default_factory=dict)
    """By the names of forms, what their documents are where they are not what the noun says."""
    recognizes: Callable[[Start], Recognition | str | None] = lambda start: None
    evidence: Evidence = Evidence.SHAPE
    unsaid: Mapping[str, str] = dataclass_field(default_factory=lambda: {"test_set": "{stem}"})
    """By field the template of its value where neither a setting nor the file says it: {"test_set": "{parent}"}."""
    whole_archives: bool = False
    """Whether a tar archive is one file to this reader. Other archives are unpacked, and loaded like a folder."""
    whole_folders: str = ""
    """The ending of files whose folders, side by side, are one file to this reader, as if they were in an archive."""

    def observed(self, form: FactForm) -> Observed:
        """What the documents are that records of a form are about."""
        return self.observed_in.get(form.name, Observed(self.noun, self.cluster))

    @property
    def fields(self) -> tuple[Field, ...]:
        """What the columns of a file are matched with; none where a file has no named columns."""
        return self.forms[0].fields if self.columns else ()
