"""Which texts are stored: what systems were given of documents, what is right, and what systems answered.

Texts stand beside facts and decide nothing; whoever shows them cleans them, for they are stored to the byte.
"""

from __future__ import annotations

from collections.abc import Collection

from warehouse.query.path import Query
from warehouse.store.sql import Sql, value, values
from warehouse.tasks.records import PIECE_LENGTH

LONGEST_SHOWN = 20_000
"""How many characters of a text are fetched by default: more than anyone reads, and cheap to carry."""


def texts(
    test_set: int,
    systems: Collection[int],
    documents: Sql | Collection[str],
    *,
    longest: int = LONGEST_SHOWN,
    called: str = "texts",
) -> Query:
    """The query, called so among the facts, of the texts of some systems and documents of a test set.

    `documents` are names, or a query of one column that gives the ids of documents, where only the database knows
    which they are. Its rows are (document, system, kind, text, characters), sorted by document, then input, references
    and outputs, these by system: names of the document and the system, "input", "reference" or "output", the text as
    far as its first `longest` characters, and how many it has. The system is null for references, and for the input
    that holds for all but the systems that have one of their own. There may be several of a kind. A warehouse without
    texts gives no rows, and so does a lake.

        in compile:  return (…, texts(entry.test_set.id, [system.id for system in entry.systems], ["D1", "D2"]))
        in answer:   for document, system, kind, text, characters in facts["texts"]: …
    """
    of_documents = documents
    if not isinstance(of_documents, Sql):
        named = "select id from document where test_set_id = " + value(test_set) + " and name in "
        of_documents = named + values(sorted(of_documents))
    # Of a long text no more pieces are read than are shown.
    shown = " where test_set_id = " + value(test_set) + " and document_id in (select id from chosen) and piece <= "
    shown += value(-(-longest // PIECE_LENGTH))
    return Query(
        called,
        "with chosen(id) as ("
        + of_documents
        + "), shown as (select document_id, null as system_id, kind, number, piece, characters, text from document_text"
        + shown
        + " union all select document_id, system_id, kind, number, piece, characters, text from system_text"
        + shown
        + " and system_id in "
        + values(sorted(systems))
        + ") select d.name, s.name, kind, left(string_agg(text, '' order by piece), "
        + value(longest)
        + "), any_value(characters) from shown join document d on d.id = document_id "
        "left join system s on s.id = system_id group by d.name, s.name, kind, number order by d.name, "
        "case kind when 'input' then 1 when 'reference' then 2 else 3 end, s.name nulls first, number",
    )
