"""The input and output of a reader: a file and its forms go in, temporary tables of texts come out.

There is one table per form, called `staged_scores` and so on, or a view of the file that looks the same. It has one
row per record, in the order of the file (row ids count from 0). Nothing here checks what the texts say.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from msgspec import Struct
from msgspec import field as struct_field
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.kinds.records import ColumnUse, FactForm, Field
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.columns import Findings, TestSet, named_otherwise
from evalhouse.warehouse.loading.staging.door import EVERYWHERE, Door
from evalhouse.warehouse.loading.staging.json_values import NotReadError, parse_json
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.store.accuracies import accuracies
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

if TYPE_CHECKING:
    from evalhouse.warehouse.store.database import Database


# === runs of a model ==================================================================================================
# A second run is a replicate: a system of its own beside the first, and never a contradiction. The first run of a model
# on a test set is stored under the name of the model, and later ones as `model#2`, `model#3` and so on. A run is
# identified by its id, or by its date if it has no id. A run that is already stored keeps its name, so loading its
# files again adds nothing.


class Run(Struct, frozen=True):
    """A run of a model on a test set, with its id and date, and the name of the system under which it is stored.
    `settings` are those that the file states beside the model, such as n_shot=5; they are empty if it states none.
    """

    test_set: str
    model: str
    id: str | None
    date: str | None
    system: str = ""
    settings: str = ""

    @property
    def told_by(self) -> str | None:
        """What identifies the run among the runs of the model: its id or its date."""
        return self.id or self.date

    @property
    def stored_id(self) -> str | None:
        """What is stored as its id: with settings, what identifies the run and these."""
        return f"{self.told_by}{_WITH}{self.settings}" if self.told_by and self.settings else self.id

    @classmethod
    def of_stored(cls, test_set: str, model: str, stored_id: str | None, date: str | None, system: str) -> Run:
        """A run as it is stored."""
        told_by, _, settings = (stored_id or "").partition(_WITH)
        return cls(test_set, model, told_by if told_by != date else None, date, system, settings)


_WITH = " with "

Brought = dict[tuple[str, str, str], Run]
"""The runs in a file, by test set, model and what identifies them."""


def system_of(database: Database, brought: Brought, run: Run) -> str:
    """The name of the system under which a run is stored; the run is added to those of the file. If nothing identifies
    the run, it is the name of the model.
    """
    run = replace(run, test_set=_name(run.test_set), model=_name(run.model))
    if run.told_by is None:
        return run.model
    key = run.test_set, run.model, run.told_by
    if key not in brought:
        there = [*_runs_stored(database, run.model), *brought.values()]
        own = replace(run, model=_model_with_settings(there, run))
        if own.model != run.model:
            there += _runs_stored(database, own.model)
        brought[key] = replace(own, system=_free(there, own))
    return brought[key].system


def _model_with_settings(there: Iterable[Run], run: Run) -> str:
    """The model of a run. If it ran on the test set with other settings before, the settings are part of the name,
    because runs with different settings have no common mean.
    """
    here = [other for other in there if other.test_set == run.test_set and other.settings and run.settings]
    of_model = [other.settings for other in here if other.model == run.model]
    return f"{run.model}({run.settings})" if of_model and run.settings not in of_model else run.model


def systems_of(database: Database, runs: Sequence[Run]) -> list[Run]:
    """The runs with their system names. If a model has several runs on a test set, they are called `model#1`, `model#2`
    and so on.
    """
    stored: dict[str, list[Run]] = {}
    for run in _runs_stored(database):
        stored.setdefault(run.model, []).append(run)
    several = Counter((run.test_set, run.model) for run in runs)
    named = []
    for run in runs:
        others = stored.setdefault(run.model, [])
        # A seed is an attribute of its run, so that a run with another one is another system on other test sets, too.
        taken = {other.system for other in others if other.told_by != run.told_by}
        numbered = several[run.test_set, run.model] > 1
        others.append(replace(run, system=_free(others, run, numbered, taken)))
        named.append(others[-1])
    return named


def _name(text: str) -> str:
    """A name as it is stored."""
    return normalize("NFC", text.strip())


def _free(runs: list[Run], run: Run, numbered: bool = False, taken: Collection[str] = ()) -> str:
    """The name that the run already has, on its test set, or on another test set if that name is free here; otherwise
    the next name that is free here and not `taken`.

    With `numbered`, the first run gets a number too, unless it has the name of the model on another test set: it is
    `model#1` then, whatever it is stored as.
    """
    runs = [other for other in runs if other.model == run.model]
    here = {other.system: other for other in runs if other.test_set == run.test_set}
    same = [other for other in runs if other.told_by == run.told_by]
    for other in sorted(same, key=lambda other: other.test_set != run.test_set):
        if other.test_set == run.test_set or other.system not in here:
            return other.system
    known = {other.system for other in runs}
    with_number = (numbered and run.model not in known) or f"{run.model}#1" in known
    first = f"{run.model}#1" if with_number else run.model
    names = (f"{run.model}#{number}" if number > 1 else first for number in count(1))
    return next(name for name in names if name not in here and name not in taken)


def _runs_stored(database: Database, model: str | None = None) -> list[Run]:
    rows = database.rows(
        Sql(
            "select t.name, r.model, r.run, r.date, s.name from run r join test_set t on t.id = r.test_set_id "
            "join system s on s.id = r.system_id where r.model = coalesce(?, r.model)",
            (model,),
        )
    )
    return [Run.of_stored(*row) for row in rows]


# === staged tables ====================================================================================================
# Each field that the file or a setting gives is a text column with the name of the field: trimmed, with names in
# Unicode NFC, and null for an empty cell. Inputs, references and outputs are unchanged. The column `blanks` says
# whether there were blanks around a name. Attributes have columns of their own, `attribute_0`, `attribute_1` and so on.
# A reader of large files may stage numbers instead of names, because the database joins and sorts numbers in a fraction
# of the time: the numbers of names in a list, or those that stored names have in the warehouse.

MOST_FAULTS = 20
"""How many faults of a file are reported one by one."""

MOST_COLUMNS = 20_000
"""How many columns a table may have, or how many different names the objects of a file may have together."""


def name_it(field: str) -> str:
    """What to type if a file does not name its system, or another field."""
    of_each = ", or each file after its folder with --set 'system={parent}'" if field == "system" else ""
    return f"name it with --set {field}=NAME{of_each}"


class Staging(Struct, frozen=True):
    """One file to stage, as records of one form (if a file contains several forms, of each in turn).

    `fields` sets one value of a field for all rows, and `columns` names the column of a field. `options` are the
    reader's options, with defaults for those that are not set. All files are opened through the `door`. `unsaid` has
    the values of fields that neither a setting nor the file gives. `keys` are the files of the load that are keys for
    this one; they are loaded before it. `called` is the name of the file in messages, if it is not its path. `texts`
    says whether inputs, references and outputs are staged too. `cluster` is the attribute that documents share, if the
    load sets it: then a column of that name is an attribute and nothing else. `findings` are what was decided about the
    columns of the file, if that was decided over several files.
    """

    database: Database
    source: Path
    form: FactForm
    fields: Mapping[str, str]
    columns: Mapping[str, str]
    options: Mapping[str, str | None] = struct_field(default_factory=dict)
    door: Door = EVERYWHERE
    unsaid: Mapping[str, str] = struct_field(default_factory=dict)
    keys: tuple[Path, ...] = ()
    called: str = ""
    runs: Brought = struct_field(default_factory=dict)
    stated: list[StatedFigure] = struct_field(default_factory=list)
    parts: set[str] = struct_field(default_factory=set)
    groups: dict[tuple[str, str], bool] = struct_field(default_factory=dict)
    texts: bool = False
    cluster: str = ""
    findings: Findings | None = None
    like: str = ""
    """The neighbour whose reader was taken, if no reader recognizes the file itself. Only such a file may be empty."""

    @property
    def table(self) -> str:
        """The temporary table for the records of the form."""
        return f"staged_{self.form.name}"

    def of(self, form: FactForm) -> Staging:
        """The same file, as records of another form."""
        return replace(self, form=form)

    def beside(self, name: str, most: int) -> bytes | None:
        """The bytes of a file in the same folder; None if it does not exist or is larger than `most`.

        Raises DataError if it is outside the folder that a script is confined to.
        """
        try:
            with self.door.open(self.source.absolute().parent / name) as file:
                read = file.read(most + 1)
        except OSError:
            return None
        return read if len(read) <= most else None

    def json(self, text: str | bytes, called: str, line: int | None = None, member: str | None = None) -> Any:
        """Parses a JSON text. Error messages call the text `called` ("this line").

        Raises DataError with the line inside the text, unless `line` gives the line of the file that the text is.
        """
        try:
            return parse_json(text)
        except NotReadError as error:
            raise self.refusal(f"{called} {error.why}", line or error.line, member) from None

    def json_beside(self, name: str, most: int) -> Any:
        """Parses a JSON file in the same folder; None if it does not exist. Raises DataError."""
        written = self.beside(name, most)
        try:
            return None if written is None else parse_json(written)
        except NotReadError as error:
            where = f"line {error.line} of " if error.line else ""
            raise self.refusal(f"{where}{name} beside it {error.why}") from None

    def has_beside(self, name: str) -> bool:
        """Whether the same folder has a file of this name. Raises DataError as `beside` does."""
        try:
            self.door.open(self.source.absolute().parent / name).close()
        except OSError:
            return False
        return True

    def names_beside(self) -> list[str]:
        """The sorted names of the files in the same folder."""
        return self.door.names(self.source.absolute().parent)

    def named(self, field: str, said: str | None, otherwise: str) -> str:
        """The name for a field: the setting, or else what the file gives, or else the value in `unsaid`.

        Raises DataError if there is none of these.
        """
        if text := self.fields.get(field) or said or self.unsaid.get(field):
            return text
        raise self.refusal(f"{otherwise}; {name_it(field)}")

    def replicate(
        self, model: str, test_set: str, *, run: str | None = None, date: str | None = None, settings: str = ""
    ) -> str:
        """The name of the system under which a run of a model is stored: the name of the model, or `model#2` if another
        run of the model is already there. A run is identified by its id or its date, which are stored. Without both
        it is the model itself. A run with other `settings` than those of the model's other runs on the test set is of a
        system of its own.
        """
        return system_of(self.database, self.runs, Run(test_set, model, run, date, settings=settings))

    def notes_on_settings(self) -> list[str]:
        """A note on the systems that have their settings in their names."""
        systems = dict.fromkeys(run.model for run in self.runs.values() if run.model.endswith(f"({run.settings})"))
        return [f"run with other settings before, so a system of its own: {', '.join(systems)}"] if systems else []

    def name_runs(self, runs: Sequence[Run]) -> list[Run]:
        """The runs of a file that are all known, in their order, with the names of their systems: `model#1`, `model#2`
        and so on where a model has several.
        """
        cleaned = [replace(run, test_set=_name(run.test_set), model=_name(run.model)) for run in runs]
        named = systems_of(self.database, cleaned)
        self.runs.update({(run.test_set, run.model, run.told_by): run for run in named if run.told_by is not None})
        return named

    def accuracy(self, test_set: str, metrics: Collection[str], right: str | None) -> str | None:
        """Which of the metrics of a file is the accuracy: `right`, unless the warehouse has another metric as the
        accuracy of the test set. Two metrics must not be compared under one name.
        """
        named = self.database.rows(Sql("select id from test_set where name = ?", (_name(test_set),)))
        stored = accuracies(self.database, [number for (number,) in named]) if named and right else ()
        if not stored or right in stored:
            return right
        return next((metric for metric in metrics if metric in stored), None)

    def part(self, test_set: str, *parts: str | None) -> str:
        """The name of a part of a test set that is a test set of its own: `Intents:validation:de` for the part
        `validation`, `de`. The name of the whole may be a setting.
        """
        name = ":".join(part for part in (test_set, *parts) if part)
        if name != test_set:
            self.parts.add(name)
        return name

    def in_group(self, test_set: str, group: str, *, is_mean: bool = False) -> None:
        """Says that a test set belongs to a group, and whether the harness takes the mean over its test sets, each
        counted once. Otherwise a printed figure of the group tells how it is made of them.
        """
        self.groups[_name(test_set), _name(group)] = is_mean

    @property
    def settings(self) -> dict[str, str]:
        """The settings that hold for all rows as they are. The names of runs and of parts of a test set are made of
        what is set for the model and the test set, so they stand.
        """
        made = {*(["system"] if self.runs else []), *(["test_set"] if self.parts else [])}
        return {field: text for field, text in self.fields.items() if field not in made}

    def state(self, figure: StatedFigure) -> None:
        """Hands over a figure that the file states, which the load computes from the rows and compares."""
        self.stated.append(figure)

    def whole(self, option: str, least: int = 1) -> int | None:
        """An option that is a whole number; None if it is not set. Raises DataError if it is not a whole number."""
        given = self.options.get(option)
        if given is None:
            return None
        if not re.fullmatch("[0-9]{1,9}", given) or int(given) < least:
            raise self.refusal(f"--{option} is {quote_cell(given)}, not a whole number of at least {least}")
        return int(given)

    def number(self, option: str) -> float | None:
        """An option that is a number; None if it is not set. Raises DataError if it is not a number."""
        given = self.options.get(option)
        if given is None:
            return None
        try:
            number = float(given)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self.refusal(f"--{option} is {quote_cell(given)}, not a number")
        return number

    def fault(self, message: str, line: int | None = None, member: str | None = None) -> Fault:
        """A fault of this file, or of a member of this archive."""
        source = self.called or str(self.source)
        return Fault(f"{source}/{member}" if member else source, line, message)

    def refusal(self, message: str, line: int | None = None, member: str | None = None) -> DataError:
        """The error for a file with one fault."""
        return DataError((self.fault(message, line, member),))


def list_of(field: str) -> str:
    """The temporary table in which a reader lists the names of a field that its rows have: `id` and `name`. The id of a
    document is the reader's own; those of other names are the ids of `list_names`.
    """
    return f"listed_{field}"


def list_names(staging: Staging, field: Field, names: Sql) -> None:
    """Writes the table `list_of(field.name)` from a query for the different names of a field other than DOCUMENT: each
    with the number that it has in the warehouse, or that this load will give it, in alphabetical order.
    """
    last = f"(select coalesce(max(id), 0) from {field.name})"
    number = f"coalesce(stored.id, {last} + row_number() over (partition by stored.id is null order by listed.name))"
    made = f"create or replace temp table {list_of(field.name)} as select ({number})::integer as id, listed.name from ("
    staging.database.run(made + names + f") as listed left join {field.name} as stored using (name)")


class Staged(Struct, frozen=True):
    """What a reader staged for one form.

    `columns` maps fields to the names of their columns in the file, for fields that have one. `attributes` are the
    names of the attribute columns. `lines` returns the line on which each of some rows begins; it is None if the format
    has no lines. `members` returns the archive members of rows that come from one.
    """

    form: FactForm
    columns: Mapping[str, str]
    attributes: tuple[str, ...]
    notes: tuple[str, ...]
    lines: Callable[[Iterable[int]], dict[int, int]] | None
    members: Callable[[Iterable[int]], dict[int, str]] = lambda rows: {}
    numbers: frozenset[str] = frozenset()
    """The fields that are staged as numbers and not as texts, because the file or the reader gives numbers."""
    listed: frozenset[str] = frozenset()
    """The fields of names that are staged as the numbers of these names in the table `list_of(field)`."""
    stored: frozenset[str] = frozenset()
    """The fields of stored names that are staged as the numbers which these names have in the warehouse."""
    in_order: bool = False
    """Whether the rows of one document of a system are together already. Such rows are stored in the order they have.
    """
    directions: Mapping[str, bool] = struct_field(default_factory=dict)
    """For each measure whose direction the file states, whether lower values are better."""
    accuracy: str = ""
    """The file's own name for the accuracy, with its filter if it has filters."""
    observed: Observed | None = None
    """What the documents are, if the file says so rather than its format."""
    header: tuple[str, ...] = ()
    """The columns of the file, if the meaning of every column is known."""
    inferred: frozenset[str] = frozenset()
    """The attributes of a table that are attributes only because they do not differ where attributes must not."""
    told_apart: Mapping[str, str] = struct_field(default_factory=dict)
    """For what the file says that its documents are, the words of the command line that keep others apart by it."""
    taken: tuple[tuple[TestSet, str, ColumnUse], ...] = ()
    """What the columns of a table were taken for, for later loads: the heading and its role on each test set."""

    def text(self, field: Field) -> Sql:
        """The staged text of a field. Where a number is staged, this looks up the name, so it is meant for few rows."""
        if field.name in self.listed | self.stored:
            table = list_of(field.name) if field.name in self.listed else field.name
            # An aggregate, because DuckDB would count all ids to make sure that each has only one name.
            looked_up = "(select any_value(names.name) from " + name(table) + " as names where names.id = "
            return looked_up + name(field.name) + ")"
        return name(field.name)

    def faults(self, staging: Staging, complaints: Iterable[tuple[int, str]]) -> tuple[Fault, ...]:
        """Errors about rows as faults, each with its line or, if there are no lines, with the number of its row."""
        listed = list(complaints)
        if self.lines is None:
            return tuple(staging.fault(f"row {row + 1}: {message}") for row, message in listed)
        rows = {row for row, _ in listed}
        lines, members = self.lines(rows), self.members(rows)
        return tuple(staging.fault(message, lines.get(row), members.get(row)) for row, message in listed)


class Matching(Struct, frozen=True):
    """Which columns of a file, counted from 0, are fields and which are attributes, and notes on that."""

    positions: Mapping[str, int]
    attributes: tuple[int, ...]
    notes: tuple[str, ...]
    unsaid: Mapping[str, str] = struct_field(default_factory=dict)
    """The values of required fields that neither the file nor a setting gives."""
    texts: frozenset[int] = frozenset()
    """The attributes that are texts, which stay unchanged."""

    def staged(
        self,
        form: FactForm,
        header: tuple[str, ...],
        lines: Callable[[Iterable[int]], dict[int, int]] | None,
        members: Callable[[Iterable[int]], dict[int, str]] = lambda rows: {},
    ) -> Staged:
        """The result to return when the rows are staged."""
        columns = {field: header[place] for field, place in self.positions.items()} | {
            name: name for name in self.unsaid
        }
        return Staged(form, columns, tuple(header[place] for place in self.attributes), self.notes, lines, members)


def match(staging: Staging, header: tuple[str, ...], header_line: int | None) -> Matching:
    """Matches the columns of a file with the fields of its form. Raises DataError with all mismatches."""
    form, fields, columns = staging.form, staging.fields, staging.columns
    if len(header) > MOST_COLUMNS:
        raise staging.refusal(f"it has {len(header):,} columns, but a table has at most {MOST_COLUMNS:,}", header_line)
    names = [field.name for field in form.fields]
    listed = "the columns are " + ", ".join(quote_cell(column)[1:-1] or "(no name)" for column in header)
    wrong_settings = [
        f"there is no field {quote_cell(field)} in {form.name}; its fields are {', '.join(names)}"
        for field in (*fields, *columns)
        if field not in names
    ]
    wrong_settings += [
        f"{field} is both set to {quote_cell(fields[field])} and taken from {quote_cell(column)}"
        for field, column in columns.items()
        if field in fields
    ]
    wrong_columns = [
        f"there is no column {quote_cell(column)} to take {field} from; {listed}"
        for field, column in columns.items()
        if column not in header
    ]
    wrong_columns += [
        f"the column {quote_cell(column)} appears more than once in the header"
        for column, times in Counter(header).items()
        if column and times > 1
    ]
    wanted = {field: columns.get(field, field) for field in names if field not in fields}
    required = [field.name for field in form.fields if field.required and field.name in wanted]
    lacking = [field for field in required if field not in columns and field not in header]
    unsaid = {field: staging.unsaid[field] for field in lacking if field in staging.unsaid}
    absent = [field for field in lacking if field not in unsaid]
    if absent:
        wrong_columns.append(
            f"there is no column for {', '.join(absent)}; {listed}; {named_otherwise(absent, header, wanted)}"
        )
    positions = {field: header.index(column) for field, column in wanted.items() if column in header}
    taken = {*positions.values()}
    others = tuple(place for place, column in enumerate(header) if place not in taken and column not in fields)
    if form.attributes:
        wrong_columns += [f"column {place + 1} has no name" for place in others if not header[place]]
        if not (others or wrong_settings or wrong_columns):
            wrong_columns.append(f"there is no attribute beside {', '.join(positions)}; {listed}")
    faults = [*map(staging.fault, wrong_settings), *(staging.fault(wrong, header_line) for wrong in wrong_columns)]
    if faults:
        raise DataError(tuple(faults[:MOST_FAULTS]), len(faults))
    notes = [f"the column {column} is left out, because --set sets this field" for column in header if column in fields]
    if form.attributes:
        return Matching(positions, others, tuple(notes), unsaid)
    if others:
        left_out = ", ".join(header[place] or f"column {place + 1}" for place in others)
        notes.append(f"left out (not fields): {left_out}")
    return Matching(positions, (), tuple(notes), unsaid)


def staged_columns(
    staging: Staging, matching: Matching, cell: Callable[[int], Sql], whole: Collection[str] = ()
) -> Sql:
    """The select list of a staged table. `cell` gives the raw text of a column, or the number if its field is in
    `whole`.
    """
    listed: list[Sql] = []
    blanks: list[Sql] = [Sql("false")]
    for field in staging.form.fields:
        if field.name in staging.fields:
            text = value(staging.fields[field.name]) + "::varchar"
        elif field.name in matching.unsaid:
            text = value(matching.unsaid[field.name]) + "::varchar"
        elif field.name in matching.positions:
            text = cell(matching.positions[field.name])
            if field.kind == "name":
                blanks.append("coalesce(" + _pad(text) + ", false)")
        else:
            continue
        listed.append((text if field.name in whole else _clean(text, field)) + " as " + name(field.name))
    for number, place in enumerate(matching.attributes):
        text = cell(place)
        listed.append((text if place in matching.texts else trim(text)) + Sql(f" as attribute_{number}"))
    listed.append(join(" or ", blanks) + " as blanks")
    return join(", ", listed)


def trim(text: Sql) -> Sql:
    """The SQL for a text as a name: without blanks around it, in Unicode NFC, and null if nothing is left."""
    return "nfc_normalize(nullif(" + _trim(text) + ", ''))"


def _clean(text: Sql, field: Field) -> Sql:
    cleaned = "nullif(" + _trim(text) + ", '')"
    return "nfc_normalize(" + cleaned + ")" if field.kind == "name" else cleaned


def _trim(text: Sql) -> Sql:
    # Trimming every cell would take longer than everything else that is done to it.
    return "case when " + _pad(text) + " then trim(" + text + ") else " + text + " end"


def _pad(text: Sql) -> Sql:
    # There are many kinds of blanks, and all except one take more than one byte.
    plain = "starts_with(" + text + ", ' ') or ends_with(" + text + ", ' ')"
    return plain + " or strlen(" + text + ") <> length(" + text + ") and trim(" + text + ") <> " + text


def places(staging: Staging, column: str) -> Callable[[Iterable[int]], dict[int, Any]]:
    """Looks up where the records of some rows are in the file, by the column `line` or `member` of their staged table.
    Rows without a place are left out.
    """
    query = f"select rowid, {column} from {staging.table} where {column} is not null and rowid in "
    return lambda rows: dict(staging.database.rows(query + values(rows)))
