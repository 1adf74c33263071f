"""Tables whose columns are the fields of facts, and what other columns say that the documents are: a question, a split.

Which columns these are is decided by their names. Nothing is compared here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from evalhouse.warehouse.kinds.records import DOCUMENT, EVALUATION, IDENTITIES, TEST_SET, FactForm
from evalhouse.warehouse.loading.staging import tabular
from evalhouse.warehouse.loading.staging.columns import parts_of, tells_document, words_apart
from evalhouse.warehouse.loading.staging.identity import identities_in
from evalhouse.warehouse.loading.staging.staged import Matching, Staged, Staging, match
from evalhouse.warehouse.store.sql import join, name, value, values

IDENTIFIED = FactForm("identified", "", key=(EVALUATION, TEST_SET, DOCUMENT), attributes=True)
"""The documents of a table, with the columns that say what they are."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages a file as records of its form, and what columns beside the fields say of its documents. Raises DataError
    as `stage_table` does.
    """
    headers: list[tuple[str, ...]] = []

    def matching(staging: Staging, header: tuple[str, ...], line: int | None) -> Matching:
        headers.append(header)
        return match(staging, header, line)

    staged = tabular.stage_table(staging, matching)
    [header] = headers
    free = [place for place, column in enumerate(header) if column not in staged.columns.values()]
    telling = tuple(place for place in free if tells_document(header[place]))
    if staging.form.attributes or DOCUMENT not in staging.form.key or not telling:
        return (staged,)
    return staged, _stage_identities(staging, staged, header, telling)


def _stage_identities(staging: Staging, staged: Staged, header: tuple[str, ...], telling: tuple[int, ...]) -> Staged:
    key = [field.name for field in IDENTIFIED.key if field.name in {*staged.columns, *staging.fields}]

    def matching(*table: object) -> Matching:
        columns = {field: column for field, column in staged.columns.items() if field in key}
        positions = {field: header.index(column) for field, column in columns.items() if column in header}
        unsaid = {field: staging.unsaid[field] for field in columns.keys() - positions.keys()}
        return Matching(positions, telling, (), unsaid)

    fields = {field: text for field, text in staging.fields.items() if field in key}
    identified = replace(staging.of(IDENTIFIED), fields=fields)
    cells = tabular.stage_table(identified, matching)
    texts = ", ".join(f"attribute_{number}" for number in range(len(telling)))
    names = join(", ", map(value, cells.attributes))
    rows = f"select rowid as place, {', '.join(key)}, unnest([" + names + f"]) as name, unnest([{texts}]) as text "
    rows += "from " + name(identified.table)
    database, table = staging.database, staging.of(IDENTITIES).table
    with_blanks = (
        "select *, false as blanks from (" + identities_in(rows, key, parts_of(cells.attributes)) + ") order by place"
    )
    database.run(f"create or replace temp table {table} as " + with_blanks)
    database.forget(identified.table)

    def lines(rows: Iterable[int]) -> dict[int, int]:
        query = f"select rowid, place from {table} where rowid in "
        places = dict(database.rows(query + values(rows)))
        found = cells.lines(places.values()) if cells.lines else {}
        return {row: found[place] for row, place in places.items() if place in found}

    columns = {field: field for field in (*key, "name", "begins", "digest") if field not in fields}
    parts = [] if staged.columns.get(TEST_SET.name) in header else parts_of(cells.attributes)
    apart = {column: words_apart("test_set", column) for column in parts}
    return Staged(IDENTITIES, columns, (), (), lines if cells.lines else None, told_apart=apart)
