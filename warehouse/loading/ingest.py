"""Carries out the plan of a load: loads each file through its reader into the warehouse; and undoes a load.

Readers know what a file looks like, the checks decide what may be stored, and the store keeps the warehouse safe on
disk. Whoever opened the warehouse decides whether the whole load is kept or nothing of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec import field as struct_field
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError, Fault, MemoryShortError, WarehouseError
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import (
    FACT_TABLES,
    FORMS,
    IDENTITIES,
    POINTERS,
    RUNS,
    SYSTEM,
    TEST_SET,
    TEXT_FORMS,
    FactForm,
)
from evalhouse.warehouse.loading import checks, groups, planning
from evalhouse.warehouse.loading.checks import FilePart, check_cells, refusal
from evalhouse.warehouse.loading.disagreements import disagreements
from evalhouse.warehouse.loading.facts import attribute_columns, given_fields, make_facts, number_names, store_facts
from evalhouse.warehouse.loading.identities import check_identities
from evalhouse.warehouse.loading.keys import check_keys, check_truths
from evalhouse.warehouse.loading.late_answers import LateAnswers
from evalhouse.warehouse.loading.planning import LoadPlan, LoadRequest, PlannedFile
from evalhouse.warehouse.loading.readers import READERS, Reader, plugins, reader_name
from evalhouse.warehouse.loading.runs_brought import RunsBrought, runs_brought
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.columns import Findings
from evalhouse.warehouse.loading.staging.door import EVERYWHERE, Door
from evalhouse.warehouse.loading.staging.reader import filled
from evalhouse.warehouse.loading.staging.sheets import text_tables
from evalhouse.warehouse.loading.staging.staged import Staged, Staging, list_of
from evalhouse.warehouse.loading.texts import notes_of, store_texts, texts_of
from evalhouse.warehouse.store import fingerprints
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.column_roles import forget_roles, knows_roles, store_roles
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, join, name, values
from evalhouse.warehouse.version import __version__

# === one file =========================================================================================================
# A file is loaded completely or not at all, with one row that records where its facts came from.

_NAMES = ("document", "system", "unit", "annotator", "item", "test_set", "evaluation")
"""The tables of names; documents come before the test sets that they point to."""


class Loaded(Struct, frozen=True):
    """What a load did.

    `rows_read` and `rows_new` count facts: one per row of the file, or one per attribute if columns are attributes.
    `rows_repeated` are those that only repeat other rows of the same load. `texts_read`, `texts_new` and
    `texts_repeated` count inputs, references and outputs in the same way. `import_id` is None if nothing was new, and
    for a dry run. If only a declaration was new, it is the id of an import without rows. `measures` are the measures
    for which the file has values or figures, and `declared` the directions that were declared for some of them. `said`
    is what was declared about the documents. `disagreeing` are those of the notes that say where a figure that the file
    states differs from its rows.
    """

    source: str
    reader: str
    import_id: int | None
    rows_read: int
    rows_new: int
    notes: tuple[str, ...]
    parts: tuple[LoadedPart, ...] = ()
    measures: tuple[str, ...] = ()
    declared: Mapping[str, bool] = struct_field(default_factory=dict)
    texts_read: int = 0
    texts_new: int = 0
    rows_repeated: int = 0
    texts_repeated: int = 0
    said: tuple[planning.Said, ...] = ()
    disagreeing: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """The groups that settings named for its test sets."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that its facts are about."""
        return tuple(sorted({system for part in self.parts for system in part.systems}))

    @property
    def test_sets(self) -> tuple[str, ...]:
        """The test sets that its facts are about."""
        return tuple(sorted({test_set for part in self.parts for test_set in part.test_sets}))


class LoadedPart(Struct, frozen=True):
    """What a load did with the facts of one form: how many it read, how many were new, and the first rows as texts."""

    form: FactForm
    rows_read: int
    rows_new: int
    rows_repeated: int
    columns: tuple[str, ...]
    first: tuple[tuple[str | None, ...], ...]
    systems: tuple[str, ...] = ()
    test_sets: tuple[str, ...] = ()


MANY_ROWS = 40_000_000
"""A file with more rows than this is sorted with more memory."""


def load(
    database: Database,
    source: Path,
    reader: str | Reader,
    *,
    fields: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    lower_is_better: Mapping[str, bool] | None = None,
    shares: Sequence[str] = (),
    simulated: bool = False,
    dry_run: bool = False,
    called: str | None = None,
    unsaid: Mapping[str, str] | None = None,
    keys: tuple[Path, ...] = (),
    like: str = "",
    door: Door = EVERYWHERE,
    texts: bool = False,
    findings: Findings | None = None,
    alone: bool = True,
    strict: bool = False,
    same_documents: bool = False,
    before: int | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> Loaded:
    """Loads one file, all or nothing, with a reader or the name of one.

    The import is recorded under the path as it was given, or under `called`. `fields` sets one value of a field for all
    rows; it also sets the noun for a document (`noun`), the attribute that clusters documents (`cluster`) and
    the group of the test sets (`group`). `unsaid`
    has values for fields that neither `fields` nor the file gives. `keys` are the files that systems are judged by,
    and `like` is the file of the load that this one was found to be like.
    `columns` maps fields to the names of their columns. `options` are the reader's options. `door` opens the files.
    `lower_is_better` declares directions for measures of the file, and `shares` which of them are shares. `texts`
    also stores inputs, references and outputs, if the reader finds them. `findings` are what was decided about the
    columns of all tables of the load together.
    `alone` is false if other files of the load may have attributes of these documents.
    `strict` refuses a file that states another figure than its rows have.
    `same_documents` takes documents of one name for the same, also where files say that they are others.
    `before` is the last import before the load, if the load has other files. `progress` is called with the share that
    is done, from 0 to 1, and with how many rows have been read. Facts that are already stored are not stored again.
    Raises DataError, with up to 20 faults, if a row is invalid, if rows contradict each other or stored rows, or if a
    declaration contradicts a stored one. Raises WarehouseError if the rows cannot be stored.
    """
    reader = _reader(reader, source) if isinstance(reader, str) else reader
    progress = progress or (lambda share, rows: None)
    staging, declared = _staging(
        database,
        source,
        reader,
        fields=fields or {},
        columns=columns or {},
        options=options or {},
        called=called or "",
        unsaid=filled(reader.unsaid, source) if unsaid is None else unsaid,
        keys=keys,
        door=door,
        texts=texts,
        like=like,
    )
    staging = replace(staging, findings=findings)
    progress(0.0, 0)
    as_it_was = _stamp(source)
    try:
        # Staging runs before the transaction, because inside it row ids would not be the places of the rows.
        earlier = last_import(database) if before is None else before
        staged_parts = [FilePart(staging.of(staged.form), staged, earlier) for staged in _stage(reader, staging)]
        parts = [part for part in staged_parts if part.staging.form not in (IDENTITIES, *TEXT_FORMS)]
        identities = [part for part in staged_parts if part.staging.form is IDENTITIES]
        with_texts = [part for part in staged_parts if part.staging.form in TEXT_FORMS and checks.has_rows(part)]
        everything = [*parts, *with_texts]
        counts = join(" + ", ("0", *(f"(select count(*) from {part.staging.table})" for part in parts)))
        [(staged_rows,)] = database.rows("select " + counts)
        progress(0.5, staged_rows)
        if staged_rows > MANY_ROWS:
            database.hold_more()
        notes = [note for part in everything for note in (*part.staged.notes, *check_cells(part))]
        disagreeing = disagreements(staging, {part.staged.form for part in parts})
        if disagreeing and strict:
            kept = "without --strict the rows are stored, and notes say what differs"
            raise DataError(tuple(map(staging.fault, disagreeing)), hints=(kept,))
        notes = [*disagreeing, *notes]
        progress(0.6, staged_rows)
        measures = planning.measures_of(parts)
        shares = planning.declared_shares(measures, shares)
        import_id = None
        loaded: list[LoadedPart] = []
        said: list[planning.Said] = []
        with database.transaction(keep=not dry_run):
            number = last_import(database) + 1
            late = LateAnswers(database, reader.names)
            shares_before = Catalog(database).shares
            placed: groups.Placed = {}
            new_names = fingerprints.next_numbers(database)
            for part in parts:
                if part.total and not checks.leave_only_good(part):
                    continue
                try:
                    stored, more_notes = _store(part, number, late, shares_before.union(shares))
                except DataError as error:
                    raise refusal(parts, error) or error from None
                loaded.append(stored)
                placed |= groups.placed_in(part)
                if alone:
                    declared.check(part)
                said += declared.said(part)
                # If there are several forms, their counts already say that all rows of one were stored before.
                of_form = [note for note in more_notes if len(parts) == 1 or note not in checks.NOTHING_ADDED]
                notes += of_form if len(parts) == 1 else (f"{stored.form.name}: {note}" for note in of_form)
            by_folder = TEST_SET.name not in staging.fields and reader.names_by_folder
            check_keys(
                database, reader, number, called or str(source), by_folder=by_folder, same_documents=same_documents
            )
            for part in parts:
                check_truths(part, number)
            # What is said of documents comes after the facts, which have given numbers to the names.
            notes += [note for of in identities for note in check_identities(of, same_documents=same_documents)]
            new_facts = sum(part.rows_new for part in loaded)
            if new_facts:
                for of in identities:
                    store_facts(of.staging, number)
            of_texts = [store_texts(part, number) for part in with_texts if not part.total]
            if wrong := refusal(everything):
                raise wrong
            if _stamp(source) != as_it_was:
                raise staging.refusal("the file changed while it was being read")
            rows_new, texts_new = new_facts, sum(part.new for part in of_texts)
            notes += notes_of(of_texts)
            progress(0.9, staged_rows)
            stated = planning.stated_directions(database, parts) | dict(lower_is_better or {})
            directed = planning.declared_directions(measures, stated)
            planning.check_directions(database, called or str(source), directed)
            planning.check_shares(database, called or str(source), shares)
            if alone:
                notes += planning.notes_on_declarations(database, said)
            known = planning.knows_declaration(database, said) and planning.knows_direction(database, directed)
            known = known and shares_before.issuperset(shares)
            known = known and not late.imports and knows_roles(database, late.roles)
            in_groups = groups.memberships(staging, declared.group, placed)
            known = known and groups.knows(database, in_groups)
            notes += [*late.notes, *groups.check(staging, in_groups, placed)]
            if (rows_new or texts_new or not known) and not dry_run:
                import_id = number
                accuracy = next((part.staged.accuracy for part in parts if part.staged.accuracy), "")
                _record_import(staging, reader, import_id, called or str(source), rows_new, simulated, accuracy)
                planning.store_declarations(database, said, import_id)
                planning.store_directions(database, directed, import_id)
                planning.store_shares(database, shares, import_id)
                store_roles(database, late.roles, import_id)
                groups.store(database, in_groups, import_id)
            if rows_new:
                notes += planning.notes_on_directions(
                    database, (measure for measure in measures if measure not in directed)
                )
            fingerprints.keep(database, (number, *late.imports), new_names)
    except MemoryShortError as error:
        much = f"{called or source}: loading it needs more memory or temporary disk space than there is"
        raise WarehouseError(much, ("split it into files of fewer rows and load those", *error.hints)) from None
    finally:
        with contextlib.suppress(WarehouseError):  # if the connection broke, report that error
            staged = (*(staging.of(form).table for form in (*FORMS, IDENTITIES)), *text_tables(staging))
            for table in ("placed", "fact", *staged, *map(list_of, _NAMES)):
                database.forget(table)
    rows_read = sum(part.rows_read for part in loaded)
    progress(1.0, rows_read)
    return Loaded(
        source=called or str(source),
        reader=reader.name,
        import_id=import_id,
        rows_read=rows_read,
        rows_new=rows_new,
        notes=tuple(notes),
        parts=tuple(loaded),
        measures=measures,
        declared=directed,
        texts_read=sum(part.read for part in of_texts),
        texts_new=texts_new,
        rows_repeated=sum(part.rows_repeated for part in loaded),
        texts_repeated=sum(part.repeated for part in of_texts),
        said=tuple(said),
        disagreeing=disagreeing,
        groups=tuple(dict.fromkeys(of.group for of in in_groups if of.pooled)),
    )


def _stage(reader: Reader, staging: Staging) -> tuple[Staged, ...]:
    """What a reader stages. A bug in a reader, which may come from another package, is reported as an error of the
    file.
    """
    try:
        return reader.stage(staging)
    except (DataError, WarehouseError):
        raise
    except Exception as error:
        said = f"the reader {reader.name} failed: {type(error).__name__}: {error}"
        raise staging.refusal(said) from error


def _stamp(source: Path) -> tuple[int, int, int] | None:
    """A value that changes when the file changes. Some files are read several times, and must be the same file each
    time.
    """
    with contextlib.suppress(OSError):
        stat = source.stat()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns
    return None


def _reader(named: str, source: Path) -> Reader:
    """A reader by its name. Raises DataError if there is none."""
    named = reader_name(named)
    readers = READERS if named in READERS else READERS | plugins()
    if named not in readers:
        there_are = f"there is no reader {quote_cell(named)}; the readers are {', '.join(readers)}"
        raise DataError((Fault(str(source), None, there_are),))
    return readers[named]


def _staging(
    database: Database,
    source: Path,
    reader: Reader,
    *,
    fields: Mapping[str, str],
    columns: Mapping[str, str],
    options: Mapping[str, str],
    called: str,
    unsaid: Mapping[str, str],
    keys: tuple[Path, ...],
    door: Door,
    texts: bool,
    like: str = "",
) -> tuple[Staging, planning.Declaring]:
    """A file to stage, and what is declared about its documents. Raises DataError for a wrong option or setting."""
    staging = Staging(
        database,
        source,
        reader.forms[0],
        dict(fields),
        dict(columns),
        door=door,
        unsaid=dict(unsaid),
        keys=keys,
        called=called,
        texts=texts,
        like=like,
    )
    staging = _with_options(staging, reader, options)
    fixed, declared = planning.split_settings(staging, reader)
    return replace(staging, fields=fixed, cluster=declared.attribute), declared


def _with_options(staging: Staging, reader: Reader, options: Mapping[str, str]) -> Staging:
    """The staging with the reader's options. Raises DataError for an option that the reader does not have, or for a
    value that is not among the choices of an option.
    """
    known = {option.name: option for option in reader.options}
    for option, text in options.items():
        if option not in known:
            there_are = f"; its options are {', '.join(known)}" if known else ""
            raise staging.refusal(f"the reader {reader.name} has no option {quote_cell(option)}{there_are}")
        if known[option].choices and text not in known[option].choices:
            raise staging.refusal(f"--{option} is {quote_cell(text)}, not {' or '.join(known[option].choices)}")
    return replace(staging, options={option.name: option.default for option in reader.options} | dict(options))


def _store(
    part: FilePart, import_id: int, late: LateAnswers, shares: Collection[str]
) -> tuple[LoadedPart, tuple[str, ...]]:
    """Stores the new facts of one form unless something is wrong with them, such as a value of one of the `shares` that
    is not between 0 and 1. Returns counts, first rows, and notes. Attributes that turn out to be none are removed.
    """
    staging, staged = part.staging, part.staged
    known = checks.last_numbers(staging)
    notes = number_names(staging, staged)
    checks.check_new_names(part, known)
    make_facts(staging, staged)
    late.recognize(part)
    checks.complain_of_shares(part, shares)
    systems, test_sets = _named_in_facts(staging, staged)
    compared = checks.leave_only_new(part)
    fields = tuple(field.name for field in given_fields(staging, staged))
    columns = join(", ", (*map(staged.text, given_fields(staging, staged)), *map(name, attribute_columns(staged))))
    first = staging.database.rows("select " + columns + f" from {staging.table} where rowid < 5 order by rowid")
    if not part.total:
        store_facts(staging, import_id)
    counts = compared.read, compared.new, compared.repeated
    part_of = LoadedPart(staging.form, *counts, fields + staged.attributes, tuple(first), systems, test_sets)
    return part_of, (*notes, *compared.notes)


def last_import(database: Database) -> int:
    """The number of the last import that was given, whether it is still stored or not."""
    [(last,)] = database.rows(Sql("select coalesce(max(id), 0) from import"))
    return max(int(last), database.imports_given)


def _named_in_facts(staging: Staging, staged: Staged) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems and the test sets that the facts are about."""
    names: list[tuple[str, ...]] = []
    systems = f"select id from {list_of(SYSTEM.name)}" if SYSTEM.name in staged.listed else "select system_id from fact"
    for field, of in ((SYSTEM, systems), (TEST_SET, "select test_set_id from placed")):
        rows = []
        if field in staging.form.key:
            rows = staging.database.rows(Sql(f"select name from {field.name} where id in ({of}) order by name"))
        names.append(tuple(str(name) for (name,) in rows))
    return names[0], names[1]


class Forgotten(Struct, frozen=True):
    """How many facts and how many texts an import had."""

    rows: int
    texts: int


def forget(database: Database, import_id: int) -> Forgotten:
    """Undoes one load: removes its facts and texts and the names that nothing else uses.

    A fact that a later file repeats belongs to the first import, and is removed with it. Raises DataError if there is
    no such import.
    """
    rows = dict(database.rows(Sql("select id, rows from import order by id")))
    if import_id not in rows:
        there_are = f"the imports are {', '.join(map(str, rows))}" if rows else "nothing has been imported"
        raise DataError((Fault(f"import {import_id}", None, f"there is no such import; {there_are}"),))
    with database.transaction():
        texts = texts_of(database, import_id)
        for table in FACT_TABLES:
            database.remove_facts(table, import_id)
        database.run(Sql("delete from import where id = ?", (import_id,)))
        planning.forget_declared_measures(database, import_id)
        _prune(database)
        planning.forget_declarations(database, import_id)
        forget_roles(database, import_id)
        groups.forget(database, import_id)
        fingerprints.keep(database, (import_id,))
    return Forgotten(int(rows[import_id]), texts)


def _prune(database: Database) -> None:
    """Removes the names that no row refers to. Row 0 of each table stands for a name that is not given, and stays."""
    for table in _NAMES:
        pointing = [other for other, targets in POINTERS.items() if table in targets]
        used = join(" union all ", (f"select {table}_id from " + name(other) for other in pointing))
        database.run("delete from " + name(table) + " where id <> 0 and id not in (" + used + ")")


def _record_import(
    staging: Staging, reader: Reader, number: int, called: str, rows: int, simulated: bool, accuracy: str
) -> None:
    """Writes the row that records the import. Facts of all forms of a file belong to one import. Raises DataError."""
    options: dict[str, Mapping[str, str | None] | str] = {"columns": staging.columns, "fields": staging.fields}
    of_texts = {option.name for option in reader.options if option.of_texts}
    if said := {option: text for option, text in staging.options.items() if option not in of_texts}:
        options["options"] = said
    if accuracy:
        options["accuracy"] = accuracy
    try:
        with staging.door.open(staging.source) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise staging.refusal(f"the file cannot be read: {error.strerror}") from None
    row = (
        number,
        called,
        digest,
        reader.name,
        json.dumps(options, sort_keys=True, ensure_ascii=False, separators=(",", ":")),
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        rows,
        __version__,
        simulated,
    )
    staging.database.run("insert into import values " + values(row))


# === all files of a plan ==============================================================================================
# One file is loaded after another. Then follow the checks that need all files.

Advance = Callable[[float, str], None]
"""Is called with the share that is done, from 0 to 1, and with words that say how far the load is."""


class CarriedOut(Struct, frozen=True):
    """The outcome of a plan: what was loaded from each file, the errors of files that were left out, and the notes on
    all files together.
    """

    loaded: tuple[tuple[PlannedFile, Loaded], ...]
    bad: tuple[DataError, ...]
    notes: tuple[str, ...] = ()
    runs: RunsBrought = RunsBrought({}, {})

    def moved(self, by: int) -> CarriedOut:
        """The same outcome with the numbers that its imports have since others loaded something before them."""
        imports = (
            (file, done if done.import_id is None else replace(done, import_id=done.import_id + by))
            for file, done in self.loaded
        )
        return replace(self, loaded=tuple(imports))


def silent(*progress: object) -> None:
    """Prints nothing."""


def carry_out(
    database: Database,
    request: LoadRequest,
    plan: LoadPlan,
    *,
    advance: Advance = silent,
    tell: Callable[[Loaded], None] = silent,
) -> CarriedOut:
    """Loads the files of a plan. `tell` is called after each loaded file.

    Raises DataError for the first bad file, unless bad files are skipped. Also raises it if something is declared
    about a measure that no file has.
    """
    [(systems_before,)] = database.rows(Sql("select coalesce(max(id), 0) from system"))
    done: list[tuple[PlannedFile, Loaded]] = []
    bad = list(plan.bad)
    before, rows = last_import(database), 0
    findings = _survey(database, request, plan)
    for place, file in enumerate(plan.files):
        try:
            loaded = load(
                database,
                file.found.path,
                file.reader,
                **_arguments(request, file, plan),
                lower_is_better=request.lower_is_better,
                shares=request.shares,
                simulated=request.simulated,
                findings=findings.get(place),
                alone=len(plan.files) == 1,
                strict=request.strict,
                same_documents=request.same_documents,
                before=before,
                progress=partial(_overall, advance, place, len(plan.files), rows),
            )
        except DataError as error:
            if not request.leaves_out:
                raise
            bad.append(error)
            continue
        rows += loaded.rows_read
        done.append((file, loaded))
        tell(loaded)
    if not done:
        raise DataError(tuple(fault for error in bad for fault in error.faults))
    _check_declared(request, [loaded for _, loaded in done])
    _number_firsts(database, int(systems_before))
    # Attributes of documents are loaded after the facts, so only now is it known which attributes there are.
    said = [row for _, loaded in done for row in loaded.said]
    notes = planning.notes_on_declarations(database, said) if len(plan.files) > 1 else []
    notes += groups.notes_on_groups(database, {of for _, loaded in done for of in loaded.groups})
    # The names of first runs may have changed since they were loaded.
    brought = {system for _, loaded in done for part in loaded.parts if part.form is RUNS for system in part.systems}
    runs = runs_brought(database, {*brought, *(f"{system}#1" for system in brought)})
    return CarriedOut(tuple(done), tuple(bad), tuple(filter(None, (*plan.notes, *notes, *runs.notes()))), runs)


def _arguments(request: LoadRequest, file: PlannedFile, plan: LoadPlan) -> dict[str, Any]:
    """How a file is read."""
    return {
        "fields": filled(_fields(request, file, plan), file.found.path),
        "columns": request.columns,
        "options": _options(request, file, len(plan.files)),
        "called": file.found.called,
        "unsaid": file.unsaid,
        "keys": file.keys,
        "door": file.found.door,
        "texts": request.texts,
        "like": file.like,
    }


def _survey(database: Database, request: LoadRequest, plan: LoadPlan) -> dict[int, Findings | None]:
    """What the columns of tables mean, by the place of each file: it is decided over all files of a reader together.
    Files that cannot be read are left out here, because their own load says why.
    """
    stagings: dict[str, dict[int, Staging]] = {}
    for place, file in enumerate(plan.files):
        if file.reader.survey:
            with contextlib.suppress(DataError):
                staging, _ = _staging(database, file.found.path, file.reader, **_arguments(request, file, plan))
                stagings.setdefault(file.reader.name, {})[place] = staging
    findings: dict[int, Findings | None] = {}
    for of_reader in stagings.values():
        survey = plan.files[next(iter(of_reader))].reader.survey
        if survey and len(of_reader) > 1:
            findings |= zip(of_reader, survey(list(of_reader.values())), strict=True)
    return findings


def _overall(advance: Advance, place: int, files: int, rows_before: int, share: float, rows: int) -> None:
    """Turns the share done of one file, and the rows read of it, into those of all files, and reports them."""
    advance((place + share) / files, f"file {place + 1:,} of {files:,}, {quantity(rows_before + rows, 'row')}")


def _fields(request: LoadRequest, file: PlannedFile, plan: LoadPlan) -> Mapping[str, str]:
    """The field values set for a file. A setting such as a noun or a test set is about documents. If some files of the
    load have documents and this one has none (a table of systems), this file gets only the settings of fields that
    it has.
    """
    if planning.has_documents(file.reader) or not any(planning.has_documents(other.reader) for other in plan.files):
        return request.fields
    known = {field.name for form in file.reader.forms for field in form.fields}
    return {name: text for name, text in request.fields.items() if name in known}


def _options(request: LoadRequest, file: PlannedFile, files: int) -> dict[str, str]:
    """The options for a file. If a load has several files, each gets only the options that its reader knows."""
    known = {option.name for option in file.reader.options}
    return {name: text for name, text in request.options.items() if files == 1 or name in known}


def _check_declared(request: LoadRequest, done: list[Loaded]) -> None:
    """Raises DataError if something is declared about a measure that no file has."""
    measures = sorted({measure for loaded in done for measure in loaded.measures})
    known = {measure.casefold() for measure in measures}
    said = dict.fromkeys((*request.lower_is_better, *request.shares))
    unknown = [measure for measure in said if measure.casefold() not in known]
    if unknown:
        there_are = f"the measures are {', '.join(measures)}" if measures else "there are no values at all"
        faults = (Fault(done[-1].source, None, f"no values of {measure}; {there_are}") for measure in unknown)
        raise DataError(tuple(faults))


def _number_firsts(database: Database, systems_before: int) -> None:
    """If a load brought several runs of a new model, renames the first to `model#1`, to go with `model#2`. A system
    that was there before the load keeps its name, because saved queries use it.
    """
    with database.transaction():
        [(renamed,)] = database.rows(
            Sql(
                "update system set name = name || '#1' where id > ? and exists "
                "(from system second where second.name = system.name || '#2') "
                "and not exists (from system first where first.name = system.name || '#1') "
                "and id in (select system_id from run where model = system.name)",
                (systems_before,),
            )
        )
        if renamed:
            fingerprints.keep(database, names_from={})
