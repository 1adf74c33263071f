"""What is known of one format: how its files are recognized, how they are read, and what they hold.

Each file of `warehouse.loading.readers` describes its reader with these classes, and the table there lists it. Nothing
here knows which readers there are, and nothing here opens a file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import IntEnum

from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.observed import Observed
from warehouse.tasks.records import FactForm, Field


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be said about how a file is read: `--depth 10`. A default of None leaves it unsaid."""

    name: str
    meaning: str
    default: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """The name of a file without what says that it is compressed, and its first bytes as text.

    `named` are the columns of a file that names them elsewhere than in its first line.
    """

    name: str
    text: str
    named: frozenset[str] = frozenset()

    @property
    def first(self) -> str:
        """The first line that is not blank."""
        return next((line for line in self.text.splitlines() if line.strip()), "")

    @property
    def columns(self) -> frozenset[str]:
        """The names of columns, where the file is a table or holds objects."""
        if self.named:
            return self.named
        if self.first.lstrip().startswith(("{", "[")):
            return frozenset(re.findall(r'"([^"\\]+)"\s*:', self.first))
        cells = next(csv.reader([self.first], delimiter="\t" if "\t" in self.first else ","), [])
        return frozenset(cell.strip().removeprefix("\ufeff") for cell in cells)


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
    `recognizes` says what in the start of a file speaks for this reader ("its columns y_true and y_pred"), or None. A
    file of a reader with `columns` is a table whose
    columns are named like the fields of its only form.
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
    recognizes: Callable[[Start], str | None] = lambda start: None
    evidence: Evidence = Evidence.SHAPE

    def observed(self, form: FactForm) -> Observed:
        """What the documents are that records of a form are about."""
        return self.observed_in.get(form.name, Observed(self.noun, self.cluster))

    @property
    def fields(self) -> tuple[Field, ...]:
        """What the columns of a file are matched with; none where a file has no named columns."""
        return self.forms[0].fields if self.columns else ()
