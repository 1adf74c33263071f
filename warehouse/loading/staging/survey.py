"""Decides what the columns of tables are by their cells: over all tables of a load together, and by what earlier loads
took the columns of the same test sets for.

So it does not matter into how many files a table is split, and in which order they come. Nothing is staged or stored
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec import field as struct_field

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import REFERENCE
from evalhouse.warehouse.loading.staging.cells import LONGEST_NAME, quote_cell
from evalhouse.warehouse.loading.staging.columns import (
    IDS,
    MARKS,
    NO_DOCUMENT,
    PARTS,
    SETTINGS,
    SYNONYMS,
    CellColumn,
    Findings,
    Roles,
    TestSet,
    UnclearError,
    plain,
    text_kind,
    words_apart,
)
from evalhouse.warehouse.loading.staging.own_tables import AT_ONCE, OwnTable, field_text, run_name
from evalhouse.warehouse.store.column_roles import KnownColumns, known_columns, not_of_systems
from evalhouse.warehouse.store.sql import Sql, join, value, values

if TYPE_CHECKING:
    from evalhouse.warehouse.store.database import Database

FEW_DOCUMENTS = 8
"""On fewer documents, phrases that are all different do not yet look like answers."""

MOSTLY = 0.8
"""If more different phrases than this share of the documents are in a column, they look like answers."""

_NONE: frozenset[str] = frozenset()

PAIRED = 3
"""On at least this many documents systems must have the same number in a column for it to say nothing about them."""

SURVEYED = "surveyed"
"""The temporary table with the rows of several tables."""


class _Surveyed(Struct):
    """One table, and what has been found about it."""

    table: OwnTable
    columns: Mapping[str, CellColumn]
    roles: Roles
    known_on: dict[TestSet, KnownColumns] = struct_field(default_factory=dict)
    document: str = ""
    unclear: str = ""
    attempts: bool = False

    @property
    def test_sets(self) -> tuple[TestSet, ...]:
        """The test sets of its rows."""
        return tuple(self.known_on)

    @property
    def known(self) -> KnownColumns:
        """What is known of the columns on all of its test sets."""
        return KnownColumns.of_all(self.known_on.values())

    @property
    def clusters(self) -> frozenset[str]:
        """The columns that this load or an earlier one declared to be clusters."""
        return (self.known.clusters | {self.table.staging.cluster}) & self.columns.keys()

    @property
    def candidates(self) -> list[str]:
        """The columns that could name the documents, from the most to the least preferred."""
        preferred = (*SYNONYMS["document"], "sample_index")
        called = (column.heading for column in self.roles.documents)
        return sorted(called, key=lambda heading: preferred.index(plain(heading)))


class Survey:
    """Looks at the tables of one load. A single table is read where it is; of several, what is needed is copied."""

    def __init__(self, database: Database, reader: Sequence[str]) -> None:
        """A survey of tables that a reader of these names loads."""
        self._database, self._reader = database, reader
        self._tables: list[_Surveyed] = []
        self._headings: dict[str, int] = {}
        """The number of each heading: the column c3 has the cells of heading 3."""
        self._rows = Sql("")

    def __enter__(self) -> Survey:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.forget(SURVEYED)

    def add(self, table: OwnTable, columns: Sequence[CellColumn], roles: Roles, *, alone: bool = False) -> None:
        """Adds a table whose cells are staged. They must stay staged if it is `alone`."""
        place = len(self._tables)
        self._tables.append(_Surveyed(table, {column.heading: column for column in columns}, roles))
        listed = [Sql(f"{place} as file"), run_name(roles.told_by) + " as run"]
        listed += [field_text(table, roles, field) + f" as {field}" for field in ("test_set", "system")]
        listed.append("coalesce(" + field_text(table, roles, "evaluation") + ", '') as evaluation")
        for heading, column in self._tables[place].columns.items():
            number = self._headings.setdefault(heading, len(self._headings))
            cell = Sql(f"attribute_{column.place}")
            # Of long texts, only whether they are the same matters.
            brief = "if(length(" + cell + f") > {LONGEST_NAME}, md5(" + cell + "), " + cell + ")"
            listed.append((brief if column.is_text else cell) + f" as c{number}")
        rows = "select " + join(", ", listed) + " from " + table.name
        if alone:
            self._rows = "(" + rows + ")"
            return
        if place == 0:
            fields = "file integer, run varchar, evaluation varchar, test_set varchar, system varchar"
            self._database.run(Sql(f"create or replace temp table {SURVEYED} ({fields})"))
            self._rows = Sql(SURVEYED)
        for number in [self._headings[column.heading] for column in columns]:
            self._database.run(Sql(f"alter table {SURVEYED} add column if not exists c{number} varchar"))
        self._database.run(f"insert into {SURVEYED} by name " + rows)

    def findings(self) -> list[Findings]:
        """What was found about each table, in the order in which they were added."""
        self._find_test_sets()
        for group in self._groups():
            self._choose_documents(group)
        for one in self._tables:
            one.roles = one.roles.named_by(one.columns.get(one.document))
        for group in self._groups():
            self._find_attempts([self._tables[place] for place in group])
        counted = self._counted()
        stored = [self._stored(one) for one in self._tables]
        numbers = self._numbers(counted)
        same = self._same_for_all(numbers) | self._same_for_systems(numbers)
        maybe = {c.heading for one in self._tables for c in (*one.roles.others, *one.roles.replicates)}
        maybe |= same.union(*(attributes for _, attributes in stored))
        references = {c.heading for one in self._tables for c in one.roles.texts.get(REFERENCE, ())}
        phrases = {heading for heading, column in counted.items() if 2 * column.phrases >= column.filled > 0}
        differing, wordy = self._differing(sorted(maybe | references)), self._wordy(sorted(maybe & phrases))
        varying = self._varying(sorted(maybe)) | not_of_systems(self._database)
        answers = (phrases | references) & _NONE.union(*differing.values())
        if wordy and not self._has_pairs():
            answers |= _NONE.union(*wordy.values())
        return [
            Findings(
                columns={heading: counted[heading] for heading in one.columns},
                test_sets=one.test_sets,
                document=one.document,
                unclear=one.unclear,
                no_measures=(same | attributes) - measures,
                no_attributes={
                    of: differing.get(of, _NONE) | (wordy.get(of, _NONE) | known.not_of_documents) - one.clusters
                    for of, known in one.known_on.items()
                },
                answers=frozenset(answers),
                varying=varying,
                measures=measures,
                clusters=one.clusters,
                attempts=one.attempts,
            )
            for one, (measures, attributes) in zip(self._tables, stored, strict=True)
        ]

    # --- tables, their test sets and their columns --------------------------------------------------------------------

    def _counted(self) -> dict[str, CellColumn]:
        """The counts over the cells of all tables, by heading."""
        counted: dict[str, CellColumn] = {}
        for one in self._tables:
            for heading, column in one.columns.items():
                counted[heading] = counted[heading].counted_with(column) if heading in counted else column
        return counted

    def _find_test_sets(self) -> None:
        known: dict[TestSet, KnownColumns] = {}
        query = "select distinct file, evaluation, test_set from " + self._rows + " where test_set <> ''"
        for file, evaluation, test_set in self._database.rows(query + " order by all"):
            if (evaluation, test_set) not in known:
                known[evaluation, test_set] = known_columns(self._database, evaluation, test_set)
            self._tables[file].known_on[evaluation, test_set] = known[evaluation, test_set]

    def _groups(self) -> list[list[int]]:
        """The tables that share test sets, directly or through others: their documents must have names of one kind."""
        groups: list[tuple[set[TestSet], list[int]]] = []
        for place, one in enumerate(self._tables):
            test_sets, places = set(one.test_sets), [place]
            for group in [group for group in groups if group[0] & test_sets]:
                groups.remove(group)
                test_sets |= group[0]
                places = [*group[1], *places]
            groups.append((test_sets, sorted(places)))
        return [places for _, places in groups]

    def _column(self, heading: str) -> Sql:
        return Sql(f"c{self._headings[heading]}")

    def _numbers(self, counted: Mapping[str, CellColumn]) -> list[str]:
        """The columns of numbers that are measures unless they say nothing about systems."""
        found: dict[str, None] = {}
        for one in self._tables:
            if not one.table.by_systems and one.table.staging.options.get("measures") is None:
                found |= dict.fromkeys(column.heading for column in one.roles.numbers)
        return [heading for heading in found if counted[heading].is_number or counted[heading].is_truth]

    def _stored(self, one: _Surveyed) -> tuple[frozenset[str], frozenset[str]]:
        """The columns of a table that are measures in the warehouse, and those that are attributes of documents there
        because an earlier table had them.
        """
        columns = (*one.roles.numbers, *one.roles.others)
        if not one.known.test_sets or not columns:
            return _NONE, _NONE
        named = {column.measure: column.heading for column in columns} | {c.heading: c.heading for c in columns}
        on = " where test_set_id in " + values(one.known.test_sets)
        measures = self._database.rows(
            "select distinct measure from value" + on + " and measure in " + values(named),
        )
        attributes = self._database.rows(
            "select distinct a.name from document_attribute a join document d on d.id = a.document_id "
            "join import i on i.id = a.import_id" + on + " and i.reader in " + values(self._reader) + " and a.name in "
            + values(column.heading for column in columns)
        )  # fmt: skip
        return frozenset(named[measure] for (measure,) in measures), frozenset(heading for (heading,) in attributes)

    # --- which column names the documents -----------------------------------------------------------------------------

    def _choose_documents(self, places: Sequence[int]) -> None:
        """Chooses the columns that name the documents of tables that share test sets: the one that names the stored
        documents, else the one that all of these tables have, as `_preferred` says.
        """
        undecided = []
        for place in places:
            one = self._tables[place]
            one.document = one.table.staging.columns.get("document", "")
            if not one.document and "document" not in one.table.staging.fields:
                undecided.append(place)
        called = dict.fromkeys(heading for place in undecided for heading in self._tables[place].candidates)
        shared = [heading for heading in called if all(heading in self._tables[at].candidates for at in undecided)]
        try:
            preferred, why_none = self._preferred(undecided, shared), ""
        except UnclearError as error:
            preferred, why_none = "", str(error)
        for place in undecided:
            one = self._tables[place]
            try:
                one.document = self._remembered(place) or self._own(place, shared, preferred, why_none)
            except UnclearError as error:
                one.unclear = str(error)

    def _preferred(self, places: Sequence[int], candidates: Sequence[str]) -> str:
        """The candidate that names the documents of some tables. Ids go before what may be texts; of several that tell
        the rows of a system apart, the one with the fewest names is taken, because systems share them. An id that no
        two systems share, although they share another candidate, numbers rows. Raises UnclearError.
        """
        if len(candidates) < 2:
            return candidates[0] if candidates else ""
        counts = []
        for cell in map(self._column, candidates):
            counts.append("count(distinct (test_set, system, run, " + cell + ")) = count(*)")
            counts.append("count(distinct (test_set, " + cell + "))")
            counts.append("count(distinct (test_set, system, " + cell + "))")
        of_tables = " from " + self._rows + " where file in " + values(places)
        [found] = self._database.rows("select " + join(", ", counts) + of_tables)
        unique = [
            (heading, names, named > names)
            for heading, tells, names, named in zip(candidates, found[::3], found[1::3], found[2::3], strict=True)
            if tells
        ]
        if not unique and sum(map(_is_id, candidates)) == 1:
            return next(filter(_is_id, candidates))
        if not unique:
            raise UnclearError(
                f"{' and '.join(sorted(candidates))} could name the documents, and none tells the rows of a system "
                "apart; --map document=COLUMN says which is meant"
            )
        if any(is_shared for *_, is_shared in unique):
            unique = [candidate for candidate in unique if candidate[2]]
        # Candidates are sorted by preference, and the first of equals is taken.
        return min(unique, key=lambda candidate: (not _is_id(candidate[0]), candidate[1]))[0]

    def _own(self, place: int, shared: Sequence[str], preferred: str, why_none: str) -> str:
        """The column that names the documents of a table whose test sets no table has had before, or one without the
        column that named them. Raises UnclearError.
        """
        one = self._tables[place]
        if why_none:
            raise UnclearError(why_none)
        if not one.candidates:
            others = [*one.roles.others, *(column for of_kind in one.roles.texts.values() for column in of_kind)]
            there_are = ", ".join(quote_cell(column.heading)[1:-1] for column in others)
            raise UnclearError(NO_DOCUMENT + (f" ({there_are})" if others else ""))
        alone = [heading for heading in one.candidates if heading not in shared]
        if not preferred or (not _is_id(preferred) and any(map(_is_id, alone))):
            raise UnclearError(
                f"{alone[0]} names the documents here, and another file of this load with the same test set has no "
                f"such column; --map document={preferred or 'COLUMN'} says which names them in all of them"
            )
        if one.known.documents:
            self._check_names_are_known(place, preferred)
        elif one.known.test_sets:
            self._check_no_other_names_are(place, preferred)
        return preferred

    def _remembered(self, place: int) -> str:
        """The column of a table that named the stored documents of its test sets; empty if there is none. Raises
        UnclearError if it seems to number rows, because none of its names is stored and it could be another column.
        """
        one = self._tables[place]
        heading = next((heading for heading in one.known.documents if heading in one.columns), "")
        others = [other for other in one.candidates if other != heading and _is_id(other)]
        if not heading or not others or self._stored_names(place, heading)[1] or self._has_stored_pairs(one):
            return heading
        known = one.known.documents[heading]
        raise UnclearError(
            f"import {known} named the documents by {heading}, and none of the names here is among those that are "
            f"stored; if these are other documents, --map document={heading} says so; if {' or '.join(others)} names "
            f"them, forget import {known} and load its file with --map document={others[0]}"
        )

    def _check_names_are_known(self, place: int, heading: str) -> None:
        """Raises UnclearError unless the names in a column are those of documents that another column named."""
        one = self._tables[place]
        names, stored = self._stored_names(place, heading)
        if stored < names:
            before, number = next(iter(one.known.documents.items()))
            raise UnclearError(
                f"import {number} named the documents of {_listed(one.test_sets)} by {before}, which is not a column "
                f"here, and {_share(names - stored, names)} in {heading} {'are' if names - stored > 1 else 'is'} not "
                f"known; --map document={heading} takes them for names of other documents"
            )

    def _check_no_other_names_are(self, place: int, heading: str) -> None:
        """Raises UnclearError if stored documents, of whatever reader, have the names in another column."""
        one = self._tables[place]
        if len(one.candidates) > 1 and not self._stored_names(place, heading)[1]:
            for other in one.candidates:
                names, stored = self._stored_names(place, other)
                if stored:
                    raise UnclearError(
                        f"{_share(stored, names)} in {other} are documents of {_listed(one.test_sets)} already, and "
                        f"{heading} would name them otherwise; --map document={other} keeps their names"
                    )

    def _stored_names(self, place: int, heading: str) -> tuple[int, int]:
        """How many names are in a column, and how many of them are names of stored documents."""
        one = self._tables[place]
        cells = "(select distinct " + self._column(heading) + " as name from " + self._rows
        cells += " where file = " + value(place) + ") as named"
        stored = (
            "(select distinct name from document where test_set_id in " + values(one.known.test_sets) + ") as known"
        )
        query = "select count(named.name), count(known.name) from " + cells + " left join " + stored + " using (name)"
        [(names, known)] = self._database.rows(query)
        return int(names), int(known)

    def _has_stored_pairs(self, one: _Surveyed) -> bool:
        """Whether two systems have values on the same stored document, so that its name is certainly shared."""
        pairs = "select 1 from value where test_set_id in " + values(one.known.test_sets)
        return bool(self._database.rows(pairs + " group by document_id having count(distinct system_id) > 1 limit 1"))

    # --- several rows of a system on a document -----------------------------------------------------------------------

    def _find_attempts(self, tables: Sequence[_Surveyed]) -> None:
        """Finds out whether tables that share test sets have several rows of a system on most documents, which are no
        mere repetitions, and no column says of which run they are: then they are attempts. On a few documents they
        contradict each other. If another column tells them apart, it is not clear what they are.
        """
        if any(one.roles.replicates or one.unclear or one.table.by_systems for one in tables):
            return
        key = "file, evaluation, test_set, system, document"
        of_tables = " from " + self._named() + " where document is not null and file in "
        of_tables += values(self._tables.index(one) for one in tables) + f" group by {key}"
        several = "select count_if(n > 1), count(*) from (select count(*) as n" + of_tables + ")"
        [(repeated, documents)] = self._database.rows(several)
        if not repeated or 2 * repeated < documents:
            return
        of_tables += " having count(*) > 1"
        headings = list(dict.fromkeys(heading for one in tables for heading in one.columns))
        whole = "hash(" + join(", ", map(self._column, headings)) + ")"
        if not self._database.rows("select 1" + of_tables + " and count(distinct " + whole + ") > 1 limit 1"):
            return
        # Documents of several parts of a test set are told apart by what they are.
        apart = self._crossed(tables, of_tables)
        for one in tables if plain(apart) not in PARTS else ():
            one.attempts = not apart
            one.unclear = one.unclear or (_rows_apart(apart) if apart else "")

    def _crossed(self, tables: Sequence[_Surveyed], of_tables: Sql) -> str:
        """A column that has each of its values on every document with several rows, as a language or a temperature
        has, and is no answer; empty if there is none.
        """
        maybe = dict.fromkeys(
            column.heading
            for one in tables
            for column in (*one.roles.others, *one.roles.numbers)
            if not column.is_text
            and not text_kind(column.heading)
            and (column in one.roles.others or plain(column.heading) in SETTINGS)
        )
        for heading in maybe:
            cell = self._column(heading)
            by_document = "select count(distinct " + cell + ") as of_it, list_sort(list(distinct " + cell + ")) as them"
            found = "select count(*), min(of_it), count(distinct them) from (" + by_document + of_tables + ")"
            [(documents, fewest, sets)] = self._database.rows(found)
            if documents > 1 and fewest > 1 and sets == 1:
                return heading
        return ""

    # --- what the cells of columns say --------------------------------------------------------------------------------

    def _named(self) -> Sql:
        """The rows of all tables with the names of their documents."""
        document = Sql("case file")
        for place, one in enumerate(self._tables):
            text = self._column(one.document) if one.document else value(one.table.staging.fields.get("document"))
            document += f" when {place} then " + (Sql("null") if one.unclear else text) + "::varchar"
        return "(select *, " + document + " end as document from " + self._rows + ")"

    def _unlike(self, headings: Iterable[str], of: str, key: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """The columns that have several values for one value of a key, with the columns `of` in which they do."""
        for block in _blocks(headings):
            cells = enumerate(map(self._column, block))
            same = ("min(" + cell + ") is not distinct from max(" + cell + f") as same_{n}" for n, cell in cells)
            by_key = f"select {of}, " + join(", ", same) + " from " + self._named()
            by_key += f" where {key} is not null group by {of}, {key}"
            every = ", ".join(f"bool_and(same_{number})" for number in range(len(block)))
            for row in self._database.rows(f"select {every}, {of} from (" + by_key + f") group by {of}"):
                unlike = (heading for heading, is_same in zip(block, row, strict=False) if not is_same)
                yield from ((row[len(block) :], heading) for heading in unlike)

    def _differing(self, headings: Iterable[str]) -> _ByTestSet:
        """The columns that differ between systems on a document."""
        return _by_test_set(self._unlike(headings, "evaluation, test_set", "document"))

    def _varying(self, headings: Iterable[str]) -> frozenset[str]:
        """The columns that differ within a system."""
        return frozenset(heading for _, heading in self._unlike(headings, "run", "system"))

    def _wordy(self, headings: Iterable[str]) -> _ByTestSet:
        """The columns of phrases, of which nearly every document has another one: they look like answers."""
        found: list[tuple[tuple[str, ...], str]] = []
        for block in _blocks(headings):
            counts = join(", ", ("count(distinct " + self._column(heading) + ")" for heading in block))
            query = "select " + counts + ", count(distinct document), evaluation, test_set from " + self._named()
            for *many, documents, evaluation, test_set in self._database.rows(query + " group by evaluation, test_set"):
                enough = max(FEW_DOCUMENTS, MOSTLY * documents)
                unlike = (heading for heading, count in zip(block, many, strict=True) if count >= enough)
                found += (((evaluation, test_set), heading) for heading in unlike)
        return _by_test_set(found)

    def _same_for_all(self, numbers: Iterable[str]) -> frozenset[str]:
        """The columns of numbers in which systems have the same value on every document, but not all documents have
        the same. If no column tells systems apart, they are as good as equal, and no column is one of these.
        """
        same, others = set(), False
        for block in _blocks(numbers):
            cells = enumerate(map(self._column, block))
            limits = ("min(" + cell + f") as low_{n}, max(" + cell + f") as high_{n}" for n, cell in cells)
            by_document = "select " + join(", ", limits) + " from " + self._named() + " where document is not null"
            by_document += " group by evaluation, test_set, document having count(distinct system) > 1"
            verdicts = ", ".join(
                f"count(low_{n}) >= {PAIRED} and bool_and(low_{n} = high_{n}) and min(low_{n}) <> max(low_{n})"
                for n in range(len(block))
            )
            [found] = self._database.rows(f"select {verdicts} from (" + by_document + ")")
            says_nothing = {heading for heading, verdict in zip(block, found, strict=True) if verdict}
            same |= {heading for heading in says_nothing if plain(heading) not in MARKS}
            others = others or len(same) < len(block)
        return frozenset(same) if others else frozenset()

    def _same_for_systems(self, numbers: Iterable[str]) -> frozenset[str]:
        """The columns of numbers in which each run of a system has one value on all documents: a version or a
        temperature describes the system. Unless its name says that it is a setting, the value is neither 0 nor 1: a
        mark may be that of a system that is always right.
        """
        found = set()
        for block in _blocks(numbers):
            cells = [(n, Sql("try_cast(") + self._column(heading) + " as double)") for n, heading in enumerate(block)]
            limits = ("min(" + cell + f") as low_{n}, max(" + cell + f") as high_{n}" for n, cell in cells)
            by_system = "select count(distinct document) as documents, " + join(", ", limits) + " from " + self._named()
            by_system += " where document is not null group by evaluation, test_set, system, run"
            verdicts = ", ".join(
                f"min(documents) >= {PAIRED} and count(low_{n}) = count(*) and bool_and(low_{n} = high_{n}) "
                f"and ({plain(heading) in SETTINGS} or not bool_or(low_{n} in (0, 1)))"
                for n, heading in enumerate(block)
            )
            [verdict] = self._database.rows(f"select {verdicts} from (" + by_system + ")")
            found |= {heading for heading, is_one in zip(block, verdict, strict=True) if is_one}
        return frozenset(heading for heading in found if plain(heading) not in MARKS)

    def _has_pairs(self) -> bool:
        """Whether two systems of the load have the same document."""
        pairs = "select 1 from " + self._named() + " where document is not null group by evaluation, test_set, document"
        return bool(self._database.rows(pairs + " having count(distinct system) > 1 limit 1"))


_ByTestSet = Mapping[TestSet, frozenset[str]]
"""Headings by test set."""


def _by_test_set(found: Iterable[tuple[tuple[str, ...], str]]) -> _ByTestSet:
    headings: dict[TestSet, frozenset[str]] = {}
    for (evaluation, test_set), heading in found:
        headings[evaluation, test_set] = headings.get((evaluation, test_set), frozenset()) | {heading}
    return headings


def _blocks(headings: Iterable[str]) -> Iterator[list[str]]:
    listed = list(dict.fromkeys(headings))
    yield from (listed[first : first + AT_ONCE] for first in range(0, len(listed), AT_ONCE))


def _rows_apart(heading: str) -> str:
    """The error about several rows of a system on a document that a column tells apart."""
    named = quote_cell(heading)[1:-1]
    return (
        f"a system has several rows on a document, which {named} tells apart: {words_apart('run', heading)} says that "
        f"they are its runs, {words_apart('test_set', heading)} that {named} is the test set, "
        f"{words_apart('system', heading)} that it is the system; with --leave-out {quote(heading)} they are attempts"
    )


def _is_id(heading: str) -> bool:
    return plain(heading) in IDS


def _listed(test_sets: Iterable[TestSet]) -> str:
    return ", ".join(quote_cell(name)[1:-1] for _, name in test_sets)


def _share(some: int, names: int) -> str:
    return f"{some:,} of {quantity(names, 'name')}"
