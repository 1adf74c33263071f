"""Carries out the plan of a load: loads one file after another into a warehouse, and then checks what can only be
checked when all files are loaded.

`planning` makes the plan. Whoever opened the warehouse decides whether the whole load is kept or nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from warehouse.faults import DataError, Fault
from warehouse.loading import declaring
from warehouse.loading.ingest import Loaded, load
from warehouse.loading.planning import LoadPlan, LoadRequest, PlannedFile
from warehouse.loading.staging.templates import filled
from warehouse.store import fingerprints
from warehouse.store.database import Database
from warehouse.store.sql import Sql

Advance = Callable[[float, str], None]
"""Is called with the share that is done, from 0 to 1, and with words that say how far the load is."""


class CarriedOut(Struct, frozen=True):
    """The outcome of a plan: what was loaded from each file, the errors of files that were left out, and the notes on
    all files together.
    """

    loaded: tuple[tuple[PlannedFile, Loaded], ...]
    bad: tuple[DataError, ...]
    notes: tuple[str, ...] = ()

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

    Raises DataError for the first bad file, unless bad files are skipped. Also raises it if a direction is declared for
    a measure that no file has.
    """
    [(systems_before,)] = database.rows(Sql("select coalesce(max(id), 0) from system"))
    done: list[tuple[PlannedFile, Loaded]] = []
    bad = list(plan.bad)
    rows = 0
    for place, file in enumerate(plan.files):
        words = f"file {place + 1:,} of {len(plan.files):,}, {rows:,} rows"
        try:
            loaded = load(
                database,
                file.found.path,
                file.reader,
                fields=filled(_fields(request, file, plan), file.found.path),
                columns=request.columns,
                options=_options(request, file, len(plan.files)),
                lower_is_better=request.lower_is_better,
                simulated=request.simulated,
                called=file.found.called,
                unsaid=filled(file.reader.unsaid, file.found.path, file.folder),
                keys=file.keys,
                door=file.found.door,
                texts=request.texts,
                alone=len(plan.files) == 1,
                progress=partial(_overall, advance, place, len(plan.files), words),
            )
        except DataError as error:
            if not request.skip_bad:
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
    notes = declaring.notes(database, said) if len(plan.files) > 1 else []
    return CarriedOut(tuple(done), tuple(bad), tuple(notes))


def _overall(advance: Advance, place: int, files: int, words: str, share: float) -> None:
    """Turns the share done of one file into the share done of all files, and reports it."""
    advance((place + share) / files, words)


def _fields(request: LoadRequest, file: PlannedFile, plan: LoadPlan) -> Mapping[str, str]:
    """The field values set for a file. A setting such as a noun or a test set is about documents. If some files of the
    load have documents and this one has none (a table of systems), this file gets only the settings of fields that
    it has.
    """
    if declaring.has_documents(file.reader) or not any(declaring.has_documents(other.reader) for other in plan.files):
        return request.fields
    known = {field.name for form in file.reader.forms for field in form.fields}
    return {name: text for name, text in request.fields.items() if name in known}


def _options(request: LoadRequest, file: PlannedFile, files: int) -> dict[str, str]:
    """The options for a file. If a load has several files, each gets only the options that its reader knows."""
    known = {option.name for option in file.reader.options}
    return {name: text for name, text in request.options.items() if files == 1 or name in known}


def _check_declared(request: LoadRequest, done: list[Loaded]) -> None:
    """Raises DataError if a direction is declared for a measure that no file has."""
    measures = sorted({measure for loaded in done for measure in loaded.measures})
    known = {measure.casefold() for measure in measures}
    unknown = [measure for measure in request.lower_is_better if measure.casefold() not in known]
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
