"""Stores texts beside facts: inputs, references and outputs of documents and systems that the facts have named.

No result depends on a text, so texts never cause a contradiction: if two texts have the same place, the first one
stays, and a note says how many differ. Texts that may not be stored at all were refused before. The reader decides
which texts a file has. The queries here work on the places of texts; the texts themselves stay in pieces in the staged
tables until they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import DOCUMENT_TEXTS, INPUT, PIECE, SYSTEM_TEXTS, TEXT_FORMS, FactForm
from evalhouse.warehouse.loading.checks import FilePart
from evalhouse.warehouse.loading.facts import make_facts, place_test_sets
from evalhouse.warehouse.loading.staging.sheets import pieces_of
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql


class StoredTexts(Struct, frozen=True):
    """Counts of the texts of one form in a file: `read` different texts, of which `new` were stored. `unknown` were
    left out because their documents are not known, `unlike` because a different text has their place. `own` are
    inputs of single systems. `repeated` are those whose place another file of the load has filled.
    """

    read: int
    new: int
    repeated: int
    unknown: int
    unlike: int
    own: int


def notes_of(stored: Sequence[StoredTexts]) -> tuple[str, ...]:
    """The notes on the texts of a file."""
    notes = {
        "left out, because nothing else is known about their documents": sum(texts.unknown for texts in stored),
        "left out, because other texts are stored in their place": sum(texts.unlike for texts in stored),
        "kept with their system, because the documents have other inputs": sum(texts.own for texts in stored),
    }
    return tuple(f"{what}: {quantity(many, 'text')}" for what, many in notes.items() if many)


def store_texts(part: FilePart, import_id: int) -> StoredTexts:
    """Stores the texts of one form that are not stored yet. The facts of the file must be stored; call it in the same
    transaction.
    """
    staging, form, database = part.staging, part.staging.form, part.staging.database
    place_test_sets(staging, part.staged)
    make_facts(staging.of(_without_pieces(form)), part.staged)
    [(staged, placed)] = database.rows(Sql(f"select (select count(*) from {staging.table}), count(*) from fact"))
    repeated, differing = _drop_repeated(part, form)
    shared, alike, of_load = _store_shared_inputs(part, import_id) if form is SYSTEM_TEXTS else (0, 0, 0)
    unlike, in_files = _drop_stored(part, form)
    [(inputs, new)] = database.rows(Sql(f"select count(*) filter (kind = '{INPUT}'), count(*) from fact"))
    _store(part, form, "fact", import_id)
    return StoredTexts(
        read=placed - repeated - alike,
        new=shared + new,
        repeated=of_load + in_files,
        unknown=staged - placed,
        unlike=differing + unlike,
        own=inputs if form is SYSTEM_TEXTS else 0,
    )


def texts_of(database: Database, import_id: int) -> int:
    """How many texts an import has."""
    counts = (f"(select count(*) from {form.table} where import_id = $1 and piece = 1)" for form in TEXT_FORMS)
    [(texts,)] = database.rows(Sql(f"select {' + '.join(counts)}", (import_id,)))
    return int(texts)


def _without_pieces(form: FactForm) -> FactForm:
    """The form of whole texts, without the fields for their pieces."""
    return replace(form, key=tuple(field for field in form.key if field is not PIECE), content=())


def _keys(form: FactForm) -> tuple[str, ...]:
    """The columns that identify a text."""
    return _without_pieces(form).key_columns


def _same(form: FactForm) -> str:
    """The condition that `a` and `b` are texts with the same place."""
    return " and ".join(f"a.{column} = b.{column}" for column in _keys(form))


def _store(part: FilePart, form: FactForm, texts: str, import_id: int) -> None:
    """Stores the pieces of texts whose keys and places are in a table."""
    staging, keys = part.staging, _keys(form)
    into = f"insert into main.{form.table} ({', '.join(keys)}, piece, characters, text, import_id) "
    rows = (
        f"select {', '.join(f'texts.{key}' for key in keys)}, pieces.piece, staged.characters::integer, pieces.text, "
        f"?::integer from {pieces_of(staging)} as pieces join {texts} as texts on texts.place = pieces.place "
        f"join {staging.table} as staged on staged.rowid = pieces.place"
    )
    staging.database.run(Sql(into + rows, (import_id,)))


def _store_shared_inputs(part: FilePart, import_id: int) -> tuple[int, int, int]:
    """If a document has no input of its own, stores the first input that a system was given as the input of the
    document. Then drops all inputs that are equal to it. Returns how many were stored, how many only repeat those of
    other systems of the file, and how many those of other files of the load.
    """
    database, form = part.staging.database, DOCUMENT_TEXTS
    keys = ", ".join(_keys(form))
    firsts = f"select {keys}, min(place) as place from fact where kind = '{INPUT}' group by all"
    lacking = f"select * from ({firsts}) as a anti join {form.table} as b on {_same(form)}"
    database.run(Sql(f"create or replace temp table shared as {lacking}"))
    _store(part, form, "shared", import_id)
    [(stored,)] = database.rows(Sql("delete from fact where place in (select place from shared)"))
    database.forget("shared")
    if not database.rows(Sql(f"select 1 from fact where kind = '{INPUT}' limit 1")):
        return int(stored), 0, 0
    alike = (
        "select a.place, a.document_id, a.number, b.import_id "
        f"from fact as a join {form.table} as b on {_same(form)} and b.piece = 1 "
        f"where a.place not in ({_unlike_stored(part, form)})"
    )
    database.run(Sql(f"create or replace temp table alike as {alike}"))
    # One text for each document stored earlier is the file's own first copy; the others repeat it.
    first = "count(distinct (document_id, number)) filter (import_id <> ?"
    counted = Sql(
        f"select count(*) - {first}), {first} and import_id > ?) from alike", (import_id, import_id, part.before)
    )
    [(repeats, of_load)] = database.rows(counted)
    database.run(Sql("delete from fact where place in (select place from alike)"))
    database.forget("alike")
    return int(stored), int(repeats), int(of_load)


def _drop_repeated(part: FilePart, form: FactForm) -> tuple[int, int]:
    """Drops texts whose place another text earlier in the file already has. Returns how many there were, and how many
    of them differ from it.
    """
    database, pieces, staged = part.staging.database, pieces_of(part.staging), part.staging.table
    keys = ", ".join(_keys(form))
    firsts = f"(select {keys}, min(place) as place from fact group by all having count(*) > 1)"
    later = (
        f"select a.place, b.place as first from fact as a join {firsts} as b on {_same(form)} and a.place <> b.place"
    )
    database.run(Sql(f"create or replace temp table repeated as {later}"))
    [(many,)] = database.rows(Sql("select count(*) from repeated"))
    [(unlike,)] = database.rows(
        Sql(
            "select count(distinct repeated.place) from repeated "
            f"join {staged} as later on later.rowid = repeated.place "
            f"join {staged} as first on first.rowid = repeated.first join {pieces} as p on p.place = repeated.place "
            f"join {pieces} as q on q.place = repeated.first and q.piece = p.piece "
            "where p.text <> q.text or later.characters <> first.characters"
        )
    )
    database.run(Sql("delete from fact where place in (select place from repeated)"))
    database.forget("repeated")
    return int(many), int(unlike)


def _drop_stored(part: FilePart, form: FactForm) -> tuple[int, int]:
    """Drops texts whose place a stored text already has. Returns how many of them differ from it, and how many of the
    stored ones came with other files of the load.
    """
    database = part.staging.database
    [(unlike,)] = database.rows(Sql(f"select count(*) from ({_unlike_stored(part, form)})"))
    there = f"from fact as a join {form.table} as b on {_same(form)} and b.piece = 1"
    [(in_files,)] = database.rows(Sql(f"select count(*) {there} where b.import_id > ?", (part.before,)))
    database.run(Sql(f"delete from fact where place in (select a.place {there})"))
    return int(unlike), int(in_files)


def _unlike_stored(part: FilePart, form: FactForm) -> str:
    """The query for the places of texts that differ from the stored text with the same key."""
    return (
        f"select distinct a.place from fact as a join {part.staging.table} as staged on staged.rowid = a.place "
        f"join {form.table} as b on {_same(form)} "
        f"join {pieces_of(part.staging)} as pieces on pieces.place = a.place and pieces.piece = b.piece "
        "where pieces.text <> b.text or staged.characters::integer <> b.characters"
    )
