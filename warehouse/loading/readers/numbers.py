"""Numbers that systems predict, beside the true ones: a table with a column of each, or with the true numbers and one
column per system.

Columns are known by their names: truth, gold, y_true, target, human and label are true, y_pred and prediction are
predicted. Columns that identify replicates, such as a seed, tell the runs of a system.
Whole numbers on both sides may be classes, as scikit-learn takes them to be; if one is a fraction they are numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.kinds.records import (
    DOCUMENT,
    EVALUATION,
    NUMBERS,
    RUNS,
    SYSTEM,
    SYSTEMS,
    TEST_SET,
    FactForm,
)
from evalhouse.warehouse.loading.staging import tabular
from evalhouse.warehouse.loading.staging.cells import CHECKS, complaint, is_number, quote_cell
from evalhouse.warehouse.loading.staging.columns import MARKS, REPLICATES, called, is_place, noun_of, plain
from evalhouse.warehouse.loading.staging.own_tables import RUNS_NAMED, run_name, runs_in
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Start, filled
from evalhouse.warehouse.loading.staging.sheets import refuse_settings
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Matching, Staged, Staging
from evalhouse.warehouse.measures.measure import lower_by_name
from evalhouse.warehouse.measures.numbers import PREDICTION, TRUTH
from evalhouse.warehouse.measures.values import says_share
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

EXAMPLE = "id,gold,bert,glove\nP1,4.5,4.2,2.9\nP2,0.5,0.9,1.4\nP3,3.0,3.3,2.0\n"

TRUTHS = (TRUTH, "gold", "y_true", "target", "human", "label")
PREDICTIONS = ("y_pred", "prediction")
"""Names of columns, the most telling first."""

CLASSES = ("y_true", "y_pred")
"""The columns of classes, as scikit-learn calls them."""

RATED = "human"
"""What people rated is a number, whole or not."""

COLUMNS = Option("systems", "the columns that are systems, A,B; default: all other columns of numbers")

CELLS = FactForm("number_cells", "", key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT), attributes=True)
"""The table as it is."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages a row for each system and document, and the runs of systems. Raises DataError if a cell is no number, or
    if it is unclear which columns are true numbers and predictions.
    """
    refuse_settings(staging, CELLS, named=(*(field.name for field in CELLS.key), TRUTH, PREDICTION, *REPLICATES))
    cells = tabular.stage_table(staging.of(CELLS), _match_columns)
    try:
        headings = cells.attributes
        replicates = {
            heading: f"attribute_{place}"
            for place, heading in enumerate(headings)
            if heading in _replicates(staging, headings)
        }
        numbers = {heading: f"attribute_{place}" for place, heading in enumerate(headings) if heading not in replicates}
        _check(staging, cells, numbers)
        of_systems = _a_row_a_system(staging, cells, numbers, replicates)
        return of_systems, *(_staged_runs(staging, cells, replicates) if replicates else ())
    finally:
        for temporary in (staging.of(CELLS).table, RUNS_NAMED):
            staging.database.forget(temporary)


def _match_columns(staging: Staging, header: tuple[str, ...], line: int | None) -> Matching:
    """The columns of fields, and then the true numbers and the predictions as attributes. Raises DataError."""
    said = staging.columns
    fields: dict[str, int] = {}
    for field in CELLS.key:
        heading = said.get(field.name) or _named(field.name, header)
        if heading in header and field.name not in staging.fields:
            fields[field.name] = header.index(heading)
    there_are = f"the columns are {', '.join(quote_cell(heading)[1:-1] for heading in header[:20])}"
    if DOCUMENT.name not in fields:
        raise staging.refusal(
            f"no column names the documents; {there_are}; --map document=COLUMN says which does", line
        )
    truth = said.get(TRUTH) or truth_in(header)
    if truth not in header:
        raise staging.refusal(
            f"no column holds the true numbers; {there_are}; --map {TRUTH}=COLUMN says which does", line
        )
    taken = {*fields.values(), header.index(truth)}
    prediction = said.get(PREDICTION) or next((heading for heading in header if plain(heading) in PREDICTIONS), None)
    listed = staging.options.get(COLUMNS.name)
    others = [heading for place, heading in enumerate(header) if place not in taken]
    if listed is not None:
        others = [heading.strip() for heading in listed.split(",") if heading.strip()]
    elif prediction is not None:
        others = [prediction]
    elif SYSTEM.name in fields:
        raise staging.refusal(
            f"no column holds predictions; {there_are}; --map {PREDICTION}=COLUMN says which does", line
        )
    if absent := [heading for heading in others if heading not in header]:
        raise staging.refusal(f"there is no column {', '.join(absent)}; {there_are}", line)
    others = [heading for heading in others if listed is not None or prediction is not None or not _is_other(heading)]
    if not others:
        raise staging.refusal(f"no column holds predictions; {there_are}", line)
    free = (heading for place, heading in enumerate(header) if place not in taken and heading not in others)
    replicates = _replicates(staging, free)
    places = (header.index(truth), *map(header.index, others), *map(header.index, replicates))
    left = [heading for place, heading in enumerate(header) if place not in {*taken, *places}]
    notes = [f"true numbers: {truth}; {'predictions' if prediction else 'systems'}: {', '.join(others)}"]
    notes += [f"replicates: {', '.join(replicates)}"] if replicates else []
    notes += [f"left out (not numbers of systems): {', '.join(left)}"] if left else []
    unsaid = _unsaid(staging, fields, _name_systems(others, {*fields, *staging.fields}))
    return Matching(fields, places, tuple(notes), unsaid)


def _unsaid(staging: Staging, fields: Collection[str], by_columns: bool) -> dict[str, str]:
    """What the names of the file say of the test set and the system, where nothing else does. The name of the file is
    that of the test set if it is not needed for the system.
    """
    unsaid = dict(staging.unsaid)
    if by_columns or SYSTEM.name in fields:
        unsaid |= filled({TEST_SET.name: "{stem}"}, staging.source)
    lacking = (TEST_SET.name,) if by_columns else (TEST_SET.name, SYSTEM.name)
    return {field: unsaid[field] for field in lacking if field not in fields and field not in staging.fields}


def _named(field: str, header: Sequence[str]) -> str:
    """The column that names a field; the most telling one of several."""
    found = called(field, header)
    return field if field in header else found[0] if found else ""


def document_in(header: Sequence[str]) -> str:
    """The column that names the documents, as its name says; empty where none says so."""
    return _named(DOCUMENT.name, header)


def truth_in(header: Iterable[str]) -> str | None:
    """The column of true numbers, as its name says; None where none says so."""
    by_name = {plain(heading): heading for heading in header}
    return next((by_name[word] for word in TRUTHS if word in by_name), None)


def _replicates(staging: Staging, headings: Iterable[str]) -> list[str]:
    """The columns that tell the runs of a system, by their names or by --map."""
    said = {heading for field, heading in staging.columns.items() if field in REPLICATES}
    return [heading for heading in headings if heading in said or plain(heading) in REPLICATES]


def _is_other(heading: str) -> bool:
    """Whether the numbers of a column are those of no system, as its name says: an id, a place, a seed, a measure."""
    word = plain(heading)
    is_measure = word in MARKS or says_share(word) or lower_by_name(word) or word in ("confidence", "probability")
    return is_place(heading) or word in REPLICATES or is_measure


def _check(staging: Staging, cells: Staged, numbers: Mapping[str, str]) -> None:
    """Raises DataError for the first cells that are not numbers."""
    table = staging.of(CELLS).table
    complaints: list[tuple[int, str]] = []
    total = 0
    for heading, column in numbers.items():
        cell = Sql(column)
        wrong = cell + " is null or not (" + CHECKS["value"].passed_by(cell) + ")"
        [(bad,)] = staging.database.rows("select count_if(" + wrong + f") from {table}")
        total += bad or 0
        if bad:
            first = "select rowid, " + cell + f" from {table} where " + wrong + f" order by rowid limit {MOST_FAULTS}"
            complaints += (
                (row, f"{heading} is empty" if text is None else complaint("value", heading, text))
                for row, text in staging.database.rows(first)
            )
    if complaints:
        raise DataError(cells.faults(staging, sorted(complaints)[:MOST_FAULTS]), total)


def _a_row_a_system(
    staging: Staging, cells: Staged, numbers: Mapping[str, str], replicates: Mapping[str, str]
) -> Staged:
    """Turns each row into one row per system. Given are the columns of the true numbers and of the predictions, and
    those that tell runs, by heading.
    """
    table, given = staging.of(NUMBERS).table, {*cells.columns, *staging.fields}
    truth, *predictions = numbers
    by_columns = _name_systems(predictions, given)
    fields = [field.name for field in CELLS.key if field.name in given]
    columns = [name(field) for field in fields if not (by_columns and field == SYSTEM.name)]
    unnested = "unnest([" + ", ".join(numbers[heading] for heading in predictions) + "]) as prediction"
    systems = "unnest([" + join(", ", (value(heading) + "::varchar" for heading in predictions)) + "]) as system, "
    rows = "select " + join(", ", columns) + f", blanks, rowid as place, {numbers[truth]} as truth, "
    rows += (systems if by_columns else "") + unnested + f" from {staging.of(CELLS).table}"
    if replicates:
        on = [field.name for field in (EVALUATION, TEST_SET) if field.name in given]
        rows = _rows_of_runs(staging, rows, on, replicates)
    staging.database.run(
        "create or replace temp table " + name(table) + " as select * from (" + rows + ") order by place"
    )
    query = f"select rowid, place from {table} where rowid in "

    def lines(rows: Iterable[int]) -> dict[int, int]:
        places = dict(staging.database.rows(query + values(rows)))
        found = cells.lines(places.values()) if cells.lines else {}
        return {row: found[place] for row, place in places.items() if place in found}

    named = {
        **cells.columns,
        "truth": "truth",
        "prediction": "prediction",
        **({"system": "system"} if by_columns else {}),
    }
    observed = Observed(noun_of(named["document"])) if named.get("document") not in (None, "document") else None
    return Staged(NUMBERS, named, (), cells.notes, lines if cells.lines else None, observed=observed)


def _rows_of_runs(staging: Staging, rows: Sql, on: Sequence[str], replicates: Mapping[str, str]) -> Sql:
    """The rows of systems with the name of the run in place of that of its system. The runs are written to a table of
    their own, with the fields that say what they are `on`, and the cells that tell them.
    """
    database = staging.database
    cells = join(", ", (name(cell) for cell in replicates.values()))
    named = "select rowid as place, " + run_name(replicates) + " as run, " + cells + f" from {staging.of(CELLS).table}"
    joined = "(select r.* rename (system as model), t.* exclude (place) from (" + rows + ") r join (" + named
    joined += ") t using (place))"
    found = "select distinct " + join(", ", map(name, (*on, "model", "run"))) + ", " + cells + " from " + joined
    database.run(f"create or replace temp table {RUNS_NAMED} as select *, model as system from (" + found + ")")
    runs = runs_in(database, Sql(f"select test_set, model, run from {RUNS_NAMED}"))
    for run, stored in zip(runs, staging.name_runs(runs), strict=True):
        this_run = Sql(" where test_set = ? and model = ? and run = ?", (run.test_set, run.model, run.id))
        database.run(Sql(f"update {RUNS_NAMED} set system = ?", (stored.system,)) + this_run)
    columns = "r.* exclude (model, run, " + cells + "), n.system"
    keys = join(" and ", (f"r.{key} is not distinct from n.{key}" for key in (*on, "model", "run")))
    return "select " + columns + " from " + joined + f" r join {RUNS_NAMED} n on " + keys


def _staged_runs(staging: Staging, cells: Staged, replicates: Mapping[str, str]) -> tuple[Staged, ...]:
    """The runs that were named, and what tells each as attributes of its system."""
    runs, systems = (name(staging.of(form).table) for form in (RUNS, SYSTEMS))
    there = f" from {RUNS_NAMED} where run <> ''"
    attributes = (*replicates.values(), "model")
    listed = ", ".join(f"any_value({cell}) as attribute_{place}" for place, cell in enumerate(attributes))
    of_each = f" as select system, {listed}, false as blanks{there} group by system"
    staging.database.run("create or replace temp table " + runs + " as select *, false as blanks" + there)
    staging.database.run("create or replace temp table " + systems + of_each)
    on = [field.name for field in (EVALUATION, TEST_SET) if field.name in cells.columns]
    of_runs = Staged(RUNS, {field: field for field in (*on, SYSTEM.name, "model", "run")}, (), (), None)
    return of_runs, Staged(SYSTEMS, {SYSTEM.name: SYSTEM.name}, (*replicates, "model"), (), None)


def _name_systems(headings: Sequence[str], given: Collection[str]) -> bool:
    """Whether columns of predictions are named after their systems: several, or one if nothing else names it."""
    return len(headings) > 1 or (plain(headings[0]) not in PREDICTIONS and SYSTEM.name not in given)


# === which tables hold numbers ========================================================================================


def _recognizes(start: Start) -> Recognition | None:
    """Recognizes true numbers beside predictions, or beside one column per system."""
    header = [heading for record in start.records[:1] for heading in record]
    truth = start.mapped.get(TRUTH) or truth_in(header)
    cells = {heading: [record.get(heading, "").strip() for record in start.records] for heading in header}
    if truth is None or not cells or not called("document", header) or not _are_numbers(cells[truth]):
        return None
    said = [start.mapped.get(PREDICTION) or "", *(heading for heading in header if plain(heading) in PREDICTIONS)]
    predicted = [heading for heading in said if heading in cells and heading != truth]
    if predicted:
        fit = _are_numbers(cells[predicted[0]]) and not _may_be_classes(truth, cells[truth], cells[predicted[0]])
        return Recognition(f"the numbers in its columns {truth} and {predicted[0]}") if fit else None
    named = {heading for field in ("document", "system", "test_set", "evaluation") for heading in called(field, header)}
    others = [heading for heading in header if heading not in (truth, *named) and plain(heading) not in REPLICATES]
    systems = [heading for heading in others if not _is_other(heading) and _are_numbers(cells[heading])]
    texts = any(not _are_numbers(cells[heading]) for heading in others)
    fit = systems == others and not texts and not called("system", header)
    fit = fit and not all(_may_be_classes(truth, cells[truth], cells[heading]) for heading in systems)
    return Recognition(f"the numbers in its columns {', '.join([truth, *systems][:6])}") if fit and systems else None


def _are_numbers(cells: Sequence[str]) -> bool:
    return any(cells) and all(map(is_number, cells))


def _may_be_classes(truth: str, right: Sequence[str], said: Sequence[str]) -> bool:
    """Whether numbers may be classes: all are whole, and not ratings; or those said are probabilities of 0 or 1."""
    whole = [all(float(cell).is_integer() for cell in cells) for cells in (right, said)]
    if all(whole):
        return plain(truth) != RATED
    shares = all(0 <= float(cell) <= 1 for cell in said)
    return whole[0] and shares and {float(cell) for cell in right} <= {0.0, 1.0}


def are_numbers(start: Start) -> bool:
    """Whether a table holds predicted numbers, and no classes."""
    return _recognizes(start) is not None


READER = Reader(
    NUMBERS.name,
    "predicted numbers beside the true ones: a table of id, gold and prediction, or gold and one column per system",
    (NUMBERS,),
    EXAMPLE,
    stage,
    options=(COLUMNS,),
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
