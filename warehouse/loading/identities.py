"""Whether the documents of a load are those that the warehouse has under their names, as far as files say what they
are: their questions, their right answers, the part of a test set that they are from.

A document has one name, and two systems are compared on it. A load that brings another question under a name that is
taken is refused, because its systems did not answer what the others did. Unless they are said to be the same: then what
was said first stays. Nothing else depends on what is stored here, and a file that says nothing contradicts nothing.
"""

from __future__ import annotations

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import IDENTITIES
from evalhouse.warehouse.loading.checks import FilePart
from evalhouse.warehouse.loading.facts import make_facts, place_test_sets
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS
from evalhouse.warehouse.store.sql import Sql

_SAME = " and ".join(f"a.{column} = b.{column}" for column in IDENTITIES.key_columns)

_IN_FILE = (
    "fact as a join (select {keys}, min(place) as place from fact group by all having count(distinct digest) > 1) "
    "as first using ({keys}) join fact as b on b.place = first.place and {same} and a.digest <> b.digest"
).format(keys=", ".join(IDENTITIES.key_columns), same=_SAME)
"""What a file says of its documents, beside the first other thing that it says of them."""

_STORED = f"fact as a join {IDENTITIES.table} as b on {_SAME} and a.digest <> b.digest"
"""What a file says of its documents, beside another thing that is stored."""

SAME_DOCUMENTS = "--same-documents takes documents of one name for the same, whatever files say of them"
"""The hint for somebody who knows better."""


def check_identities(part: FilePart, *, same_documents: bool) -> tuple[str, ...]:
    """Compares what a file says of its documents, and what is stored of them, and leaves in `fact` what is new. The
    facts of the file must be stored; call it in the same transaction. Returns notes.

    Raises DataError where something else is meant by the same name, unless the documents are said to be the same.
    """
    database = part.staging.database
    place_test_sets(part.staging, part.staged)
    make_facts(part.staging, part.staged)
    unlike = Sql(f"(select a.document_id from {_IN_FILE} union select a.document_id from {_STORED})")
    [(documents,)] = database.rows("select count(*) from " + unlike)
    if documents and not same_documents:
        raise _refusal(part, int(documents))
    keys = ", ".join(IDENTITIES.key_columns)
    database.run(Sql(f"delete from fact where place not in (select min(place) from fact group by {keys})"))
    database.run(Sql(f"delete from fact as a using {IDENTITIES.table} as b where {_SAME}"))
    if not documents:
        return ()
    return (f"taken for the same although files say something else of them: {quantity(int(documents), 'document')}",)


def _refusal(part: FilePart, documents: int) -> DataError:
    """The error about the first documents that are another one in another place."""
    database, staged = part.staging.database, part.staged
    said = (
        "select distinct on (a.document_id) a.place, d.name, t.name, a.name, a.begins, b.begins, {origin}, "
        "(select source from import where import.id = {origin}) "
        "from {pairs} join document d on d.id = a.document_id join test_set t on t.id = a.test_set_id "
        "order by a.document_id, a.place limit " + str(MOST_FAULTS)
    )
    rows = database.rows(Sql(said.format(origin="b.place", pairs=_IN_FILE)))
    in_file = bool(rows)
    if not in_file:
        rows = database.rows(Sql(said.format(origin="b.import_id", pairs=_STORED)))
    lines = staged.lines({row[6] for row in rows}) if staged.lines and in_file else {}
    complaints = []
    for place, document, test_set, name, here, there, origin, source in sorted(rows):
        where = f"in {source} (import {origin})"
        if in_file:
            where = f"on line {lines[origin]}" if origin in lines else "elsewhere in the file"
        # Texts may begin alike.
        but = f"another one {where}" if here == there else f"{quote_cell(there)} {where}"
        complaints.append((place, f"the {name} of document {document} of {test_set} is {quote_cell(here)}, but {but}"))
    names = sorted({row[3] for row in rows})
    apart = [staged.told_apart[name] for name in names if name in staged.told_apart]
    other = " or ".join(dict.fromkeys((*apart, "--set test_set=NAME")))
    hints = (f"if these are other documents, {other} keeps them apart", SAME_DOCUMENTS)
    return DataError(staged.faults(part.staging, complaints), documents, hints)
