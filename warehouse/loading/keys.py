"""Whether all systems of a test set were judged by one key, where a file brings the key beside each system's answers.

Such a key is not stored by itself: it is what was `possible` in each document, or the true number beside what a system
predicted. A file with another key for a document is refused, since its values could not be compared with those that are
there. Nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.loading.checks import FilePart
from evalhouse.warehouse.loading.facts import make_facts, place_test_sets
from evalhouse.warehouse.loading.identities import SAME_DOCUMENTS
from evalhouse.warehouse.loading.planning import some
from evalhouse.warehouse.loading.staging.reader import Reader
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql

DIFFERING = """
with held as (
    select test_set_id, document_id, system_id,
           coalesce(string_agg(u.name || ' ' || possible, ', ' order by u.name) filter (possible > 0), '') as key
    from score join unit u on u.id = unit_id left join import i on i.id = score.import_id
    where (score.import_id = ? or i.reader = ?)
      and test_set_id in (select test_set_id from score where import_id = ?)
    group by all
), differing as (
    select test_set_id, document_id, min(key) as one, max(key) as other from held
    group by all having count(distinct key) > 1
)
select t.name, d.name, one, other, count(*) over () from differing
join test_set t on t.id = test_set_id join document d on d.id = document_id
order by t.name, d.name limit 20
"""
"""The documents of which systems have different keys, and two of these; and how many documents there are."""


APART = """
with judged as (
    select test_set_id, s.name as system,
           list(distinct u.name order by u.name) filter (possible > 0 and u.id > 0) as kinds
    from score join unit u on u.id = unit_id join system s on s.id = system_id
    left join import i on i.id = score.import_id
    where (score.import_id = ? or i.reader = ?)
      and test_set_id in (select test_set_id from score where import_id = ?)
    group by all
)
select t.name, a.system, a.kinds, b.system, b.kinds
from judged a join judged b on b.test_set_id = a.test_set_id and b.system > a.system
join test_set t on t.id = a.test_set_id where not list_has_any(a.kinds, b.kinds) order by all limit 1
"""
"""Two systems of a test set that are judged by keys without a common class or type, and these."""


MIXED = """
with brought as (
    select test_set_id from score where import_id = $1 union select test_set_id from decision where import_id = $1
), classed as (
    select test_set_id, document_id, u.name as class, s.name as system
    from score join unit u on u.id = unit_id join system s on s.id = system_id left join import i on i.id = import_id
    where possible > 0 and (import_id = $1 or i.reader = $2) and test_set_id in (select test_set_id from brought)
), labelled as (
    select test_set_id, document_id, label from key_label left join import i on i.id = import_id
    where annotator_id = 0 and (import_id = $1 or i.reader = $2)
)
select t.name, class, min(system)
from classed join labelled using (test_set_id, document_id) join test_set t on t.id = test_set_id
group by t.name, class having count(distinct label) > 1 order by all limit 1
"""
"""A class of a key with several classes, with a system that is judged by it, the documents of which a key with two
classes puts into both.
"""


STRANGERS = """
with held as (
    select test_set_id, system_id, document_id, import_id from score
    union all select test_set_id, system_id, document_id, import_id from decision
), brought as (select distinct test_set_id, system_id, document_id from held where import_id = $1),
before as (
    select distinct test_set_id, system_id, document_id from held join import i on i.id = import_id
    where import_id <> $1 and i.reader = $2 and test_set_id in (select test_set_id from brought)
)
select t.name, (select min(name) from system join brought b on b.system_id = id where b.test_set_id = t.id),
       (select min(name) from system join before b on b.system_id = id where b.test_set_id = t.id)
from test_set t where t.id in (select test_set_id from before)
  and t.id not in (select b.test_set_id from brought b semi join before a using (document_id))
  and t.id not in (select b.test_set_id from brought b semi join before a using (test_set_id, system_id))
order by t.name limit 1
"""
"""A test set on which an import brought other systems on other documents than there are, and one system of each."""


def check_keys(
    database: Database, reader: Reader, number: int, called: str, *, by_folder: bool, same_documents: bool
) -> None:
    """Checks the documents of the test sets of an import that is being made. Raises DataError where systems have
    different keys: for one document, or for all of theirs unless these are said to be of one test set. If nothing but
    a folder names the test set, systems without a common document are not of one either.
    """
    if not reader.keyed:
        return
    found = database.rows(Sql(DIFFERING, (number, reader.name, number)))
    faults = tuple(
        Fault(
            called,
            None,
            f"{document} of {test_set} has the key {other} for one system, but {one or 'none'} for another",
        )
        for test_set, document, one, other, _ in found
    )
    if faults:
        raise DataError(faults, int(found[0][-1]), _hints(reader))
    for wrong in () if same_documents else _foreign(database, reader, number, by_folder):
        raise DataError((Fault(called, None, wrong),), hints=(*_hints(reader), SAME_DOCUMENTS))


SEVERAL_TRUTHS = """
select test_set_id, document_id from {table}
where test_set_id in (select test_set_id from {table} where import_id = ?)
group by all having min({truth}) < max({truth})
"""
"""The documents for which several true numbers are stored, on the test sets of an import."""


FIRST_TRUTHS = """
select distinct on (test_set_id, document_id)
    fact.place, t.name, d.name, fact.{truth}, other.{truth}, s.name, i.source
from fact join {table} as other using (test_set_id, document_id)
join test_set t on t.id = test_set_id join document d on d.id = document_id join system s on s.id = other.system_id
left join import i on i.id = other.import_id
where fact.{truth} <> other.{truth}
order by test_set_id, document_id, i.id is null, fact.place
limit {most}
"""
"""Where a file says another true number than is stored for another system: the first place for each document."""


def check_truths(part: FilePart, number: int) -> None:
    """Compares the true numbers of a part of the import `number`, the facts of which are stored, with those that are
    stored for other systems. Raises DataError where a document has two; call it in the same transaction.
    """
    database, form = part.staging.database, part.staged.form
    if not form.truth:
        return
    named = {"table": form.table, "truth": form.truth, "most": MOST_FAULTS}
    several = database.rows(Sql(SEVERAL_TRUTHS.format(**named), (number,)))
    if not several:
        return
    place_test_sets(part.staging, part.staged)
    make_facts(part.staging, part.staged)
    complaints = []
    for place, test_set, document, here, there, system, source in database.rows(Sql(FIRST_TRUTHS.format(**named))):
        other = f"but {there} for {system}" + (f" in {source}" if source else "")
        complaints.append((place, f"the true number of document {document} of {test_set} is {here}, {other}"))
    hints = ("a document has one true number, whatever system predicts it", _APART)
    raise DataError(part.staged.faults(part.staging, sorted(complaints)), len(several), hints)


def _foreign(database: Database, reader: Reader, number: int, by_folder: bool) -> Iterator[str]:
    """Why systems seem to be of different test sets: by all of their keys, or because they share no document."""
    for test_set, one, kinds, other, others in database.rows(Sql(APART, (number, reader.name, number))):
        key = f"the key of {one} on {test_set} has {some(kinds)}"
        yield f"{key}, and that of {other} has {some(others)}: nothing in common"
    for test_set, kind, system in database.rows(Sql(MIXED, (number, reader.name))):
        key = f"the documents of {test_set} whose class is {kind} in the key of {system}"
        yield f"{key} have both classes in another key"
    for test_set, system, other in database.rows(Sql(STRANGERS, (number, reader.name))) if by_folder else ():
        yield f"{system} has no document in common with {other}, although both files are in the folder {test_set}"


_APART = "--set test_set=NAME loads them as another test set"


def _hints(reader: Reader) -> tuple[str, ...]:
    """What keeps test sets with different keys apart."""
    apart = _APART
    if reader.unsaid.get("system") == "{stem}":
        apart += ", and --set 'test_set={stem}' --set 'system={parent}' takes each file for a test set"
    return (f"systems of a test set are judged by one key; {apart}",)
