"""Storing texts beside facts: inputs, references and outputs of the documents and systems that facts have named.

Texts decide nothing, so they never contradict: of two for one place the first stays, and a note says how many differ.
What may not be stored at all was refused before, and which texts a file has is the business of its reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warehouse.loading.checks import FilePart
from warehouse.loading.facts import make_facts, place_test_sets
from warehouse.store.sql import Sql
from warehouse.tasks.observed import counted
from warehouse.tasks.records import DOCUMENT_TEXTS, INPUT, SYSTEM_TEXTS


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """How many different texts of one form a file has, and how many were new; of how many the documents were not known,
    in the place of how many others were, and how many are inputs of single systems.
    """

    read: int
    new: int
    unknown: int
    unlike: int
    own: int


def notes_of(stored: Sequence[StoredTexts]) -> tuple[str, ...]:
    """What there is to note of the texts of a file."""
    notes = {
        "left out, nothing else being known of their documents": sum(texts.unknown for texts in stored),
        "left out, others being there in their place": sum(texts.unlike for texts in stored),
        "kept with their system, other inputs being those of the documents": sum(texts.own for texts in stored),
    }
    return tuple(f"{what}: {counted(many, 'text')}" for what, many in notes.items() if many)


def store_texts(part: FilePart, import_id: int) -> StoredTexts:
    """Stores the texts of one form that are not there yet, of a file whose facts are stored. To be called in the
    transaction of these.
    """
    staging, form, database = part.staging, part.staging.form, part.staging.database
    place_test_sets(staging, part.staged)
    # The texts themselves stay where they are staged until they are stored: sorted are their places.
    make_facts(staging.of(replace(form, content=())), part.staged)
    [(staged, placed)] = database.rows(Sql(f"select (select count(*) from {staging.table}), count(*) from fact"))
    same = " and ".join(f"a.{column} = b.{column}" for column in form.key_columns)
    keys = ", ".join(form.key_columns)
    firsts = f"(select {keys}, min(place) as place from fact group by all having count(*) > 1)"
    repeated, differing = _dropped(part, f"{firsts} as b on {same} and a.place <> b.place", "b.place")
    shared, alike = _store_shared_inputs(part, import_id) if form is SYSTEM_TEXTS else (0, 0)
    _, unlike = _dropped(part, f"{form.table} as b on {same}", None)
    [(inputs, new)] = database.rows(Sql(f"select count(*) filter (kind = '{INPUT}'), count(*) from fact"))
    columns = ", ".join(f"fact.{column}" for column in form.key_columns)
    database.run(_inserting(part, form.table, form.key_columns, f"select place, {columns} from fact", import_id))
    own = inputs if form is SYSTEM_TEXTS else 0
    return StoredTexts(placed - repeated - alike, shared + new, staged - placed, differing + unlike, own)


def _inserting(part: FilePart, table: str, columns: tuple[str, ...], places: str, import_id: int) -> Sql:
    """What stores the texts at some places under their keys."""
    into = f"insert into {table} ({', '.join(columns)}, text, import_id) "
    keys = ", ".join(f"places.{column}" for column in columns)
    rows = f"select {keys}, staged.text, ?::integer from ({places}) as places join {part.staging.table} as staged "
    return Sql(into + rows + "on staged.rowid = places.place", (import_id,))


def _store_shared_inputs(part: FilePart, import_id: int) -> tuple[int, int]:
    """Stores the first input that a system was given of a document that has none as that of the document, and drops
    all inputs that say the same. Returns how many were stored, and how many only repeat those of other systems.
    """
    database, staged = part.staging.database, part.staging.table
    columns = DOCUMENT_TEXTS.key_columns
    inputs = f"from fact where kind = '{INPUT}' group by all"
    firsts = f"select {', '.join(columns)}, min(place) as place {inputs}"
    lacking = f"select * from ({firsts}) anti join {DOCUMENT_TEXTS.table} using ({', '.join(columns)})"
    [(given,)] = database.rows(Sql(f"select count(*) from ({lacking})"))
    database.run(_inserting(part, DOCUMENT_TEXTS.table, columns, lacking, import_id))
    same = " and ".join(f"a.{column} = b.{column}" for column in columns)
    beside = f"fact as a join {DOCUMENT_TEXTS.table} as b on {same} join {staged} as ours on ours.rowid = a.place"
    alike = f"select a.place, a.document_id from {beside} where ours.text = b.text"
    database.run(Sql(f"create or replace temp table alike as {alike}"))
    [(repeats,)] = database.rows(Sql("select count(*) - count(distinct document_id) from alike"))
    database.run(Sql("delete from fact where place in (select place from alike)"))
    database.forget("alike")
    return int(given), int(repeats)


def _dropped(part: FilePart, others: str, first: str | None) -> tuple[int, int]:
    """Drops the texts, `a`, in whose place others, `b`, are: stored ones, or those in the file that are staged at
    `first`. Returns how many there were, and how many of them say something else.
    """
    database, staged = part.staging.database, part.staging.table
    beside = f"fact as a join {others}"
    [(many,)] = database.rows(Sql(f"select count(*) from {beside}"))
    if not many:
        return 0, 0
    ours = f"{beside} join {staged} as ours on ours.rowid = a.place"
    theirs, text = (f" join {staged} as theirs on theirs.rowid = {first}", "theirs.text") if first else ("", "b.text")
    [(unlike,)] = database.rows(Sql(f"select count(*) from {ours}{theirs} where ours.text <> {text}"))
    database.run(Sql(f"delete from fact as a where place in (select a.place from {beside})"))
    return int(many), int(unlike)
