"""Carries out the plan of a load: file after file into a warehouse, and what a load knows only in the end.

What a plan is and how it comes about is the business of `planning`; whether all of a load is kept or nothing, that of
whoever opened the warehouse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from warehouse.faults import DataError, Fault
from warehouse.loading import declaring
from warehouse.loading.ingest import Loaded, load
from warehouse.loading.planning import LoadPlan, LoadRequest, PlannedFile
from warehouse.loading.staging.templates import filled
from warehouse.store import fingerprints
from warehouse.store.database import Database
from warehouse.store.sql import Sql

Advance = Callable[[float, str], None]
"""Is told the share that is done, from 0 to 1, and how far that is in words."""


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """What became of the files of a plan: what was loaded of each, the faults of those that are left out, and what
    there is to note of all files together.
    """

    loaded: tuple[tuple[PlannedFile, Loaded], ...]
    bad: tuple[DataError, ...]
    notes: tuple[str, ...] = ()


def silent(*progress: object) -> None:
    """Says nothing."""


def carry_out(
    database: Database,
    request: LoadRequest,
    plan: LoadPlan,
    *,
    advance: Advance = silent,
    tell: Callable[[Loaded], None] = silent,
) -> CarriedOut:
    """Loads the files of a plan. `tell` hears of each that is loaded.

    Raises DataError for the first file that is wrong, unless bad files are skipped, and where no file has a measure
    whose direction is declared.
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
    # Attributes of documents come after the facts, so only now is it certain which are there.
    said = [row for _, loaded in done for row in loaded.said]
    notes = declaring.notes(database, said) if len(plan.files) > 1 else []
    return CarriedOut(tuple(done), tuple(bad), tuple(notes))


def _overall(advance: Advance, place: int, files: int, words: str, share: float) -> None:
    """Tells the share of all files, from the share of one."""
    advance((place + share) / files, words)


def _fields(request: LoadRequest, file: PlannedFile, plan: LoadPlan) -> Mapping[str, str]:
    """The fields that are set in a file. Beside files of documents a table without any, as of systems, gets those that
    it has: a noun or a test set is said of the documents.
    """
    if declaring.has_documents(file.reader) or not any(declaring.has_documents(other.reader) for other in plan.files):
        return request.fields
    known = {field.name for form in file.reader.forms for field in form.fields}
    return {name: text for name, text in request.fields.items() if name in known}


def _options(request: LoadRequest, file: PlannedFile, files: int) -> dict[str, str]:
    """The options for a file. Where a load has files for several readers, each gets its own options."""
    known = {option.name for option in file.reader.options}
    return {name: text for name, text in request.options.items() if files == 1 or name in known}


def _check_declared(request: LoadRequest, done: list[Loaded]) -> None:
    """Raises DataError where none of the files has a measure whose direction is declared."""
    measures = sorted({measure for loaded in done for measure in loaded.measures})
    known = {measure.casefold() for measure in measures}
    unknown = [measure for measure in request.lower_is_better if measure.casefold() not in known]
    if unknown:
        there_are = f"the measures are {', '.join(measures)}" if measures else "there are no values at all"
        faults = (Fault(done[-1].source, None, f"no values of {measure}; {there_are}") for measure in unknown)
        raise DataError(tuple(faults))


def _number_firsts(database: Database, systems_before: int) -> None:
    """Where a load brought several runs of a new model, the first of them is the system `model#1`, as the second is
    `model#2`. A system that was there before keeps its name, which questions of the past have used.
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
