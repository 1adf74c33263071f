"""Loads by writers who do not wait for each other end in what some order of them, one after the other, gives in a
file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import FACT_TABLES
from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import LakePlace
from evalhouse.warehouse.lake.states import open_lake, unsettled_tables
from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.store import upgrading
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.counting import Count
from tests.lakes import empty_lake

COLUMNS = {
    "scores": "evaluation,test_set,system,document,unit,possible,actual,correct,partial",
    "counts": "test_set,system,document,passed,{count}",
    "values": "test_set,system,document,measure,value",
    "numbers": "test_set,system,document,truth,prediction",
    "rankings": "test_set,system,document,item,rank",
    "labels": "test_set,document,annotator,label",
    "judgments": "test_set,document,item,grade",
    "systems": "system,size",
    "documents": "test_set,document,source",
    "runs": "test_set,system,model,run",
    "published": "test_set,system,task,measure,value,resolution",
}
"""By reader, the columns of its files."""


class Change(Struct, frozen=True):
    """A file to load, with what is declared; or, without a reader, the import of the file `text` to forget."""

    reader: str
    text: str
    fields: tuple[tuple[str, str], ...] = ()
    lower: bool | None = None
    share: bool = False

    def done(self, database: Database, file: Path) -> object:
        """What came of it: the rows that are new, or that it was refused."""
        try:
            if not self.reader:
                called = [
                    number for (number,) in database.rows(Sql("select id from import where source = ?", (self.text,)))
                ]
                return forget(database, called[0]).rows if called else None
            declared = {} if self.lower is None else {"M": self.lower}
            loaded = load(
                database,
                file,
                self.reader,
                fields=dict(self.fields),
                lower_is_better=declared,
                shares=("M",) if self.share else (),
                called=file.name,
            )
            return loaded.rows_new, loaded.import_id is not None
        except DataError:
            return "refused"


def one_of(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


@st.composite
def loads(draw: st.DrawFn) -> Change:
    reader = draw(st.sampled_from([*COLUMNS, "scores", "counts", "rankings"]))
    header = COLUMNS[reader].format(count=draw(one_of("attempts", "Attempts", "tries")))
    test_set, system = draw(one_of("T", "T", "U")), draw(one_of("A", "B"))
    documents = sorted(draw(st.sets(one_of("d1", "d2", "d3"), min_size=1)))
    number, word = draw(one_of("5", "7")), draw(one_of("x", "y"))
    value = draw(one_of(number, "0.5"))
    rows = {
        "scores": f"{draw(one_of('', '', 'E', 'F'))},{test_set},{system},{{}},{draw(one_of('', 'u'))},9,9,{number},0",
        "counts": f"{test_set},{system},{{}},{draw(one_of('1', '2'))},{draw(one_of('1', '3'))}",
        "values": f"{test_set},{system},{{}},M,{value}",
        "numbers": f"{test_set},{system},{{}},1.5,{value}",
        "rankings": f"{test_set},{system},t,{{}},RANK",
        "labels": f"{test_set},{{}},{draw(one_of('', 'eve'))},{draw(one_of('relevant', 'nonrelevant'))}",
        "judgments": f"{test_set},t,{{}},1",
        "systems": f"{system},{word}",
        "documents": f"{test_set},{{}},{word}",
        "runs": f"{test_set},{system},{word},{number}",
        "published": f"{test_set},{system},extraction,F,{number},1",
    }[reader]
    lines = dict.fromkeys(rows.format(document) for document in documents)
    text = "\n".join([header, *(line.replace("RANK", str(place)) for place, line in enumerate(lines, 1)), ""])
    fields = draw(st.sampled_from([(), (), (("noun", "question"),), (("noun", "pair"),), (("group", "G"),)]))
    has_documents = reader not in ("systems", "runs", "published")
    return Change(reader, text, fields if has_documents else (), draw(st.none() | st.booleans()), draw(st.booleans()))


CHANGES = loads() | st.just(Change("", "0.csv"))


class Writers(Struct):
    """The files of some changes, by their places."""

    folder: Path
    changes: Sequence[Change]

    def file(self, place: int) -> Path:
        file = self.folder / f"{place}.csv"
        file.write_text(self.changes[place].text)
        return file

    def one_after_the_other(self, order: Sequence[int]) -> tuple[dict[int, object], object]:
        """What came of each change, and what is stored then."""
        with in_memory() as database:
            outcomes = {place: self.changes[place].done(database, self.file(place)) for place in order}
            return outcomes, stored(database)

    def on_a_lake(self, lake: LakePlace, place: int, meanwhile: Callable[[], None]) -> object:
        """Carries out one change; others carry out theirs after it was prepared and before it is stored."""
        others = [meanwhile]

        def work(database: Database) -> object:
            done = self.changes[place].done(database, self.file(place))
            if others:
                others.pop()()
            return done

        change = self.changes[place]
        return change_lake(lake, "load" if change.reader else "forget", work, [self.file(place)])[0]


def stored(database: Database) -> dict[str, list[str]]:
    """Everything that is stored, without the numbers that names and imports have."""
    names = "(select t.id, e.name || '/' || t.name as name from test_set t join evaluation e on e.id = t.evaluation_id)"
    named = {"test_set": names, "import": "(select id, source as name from import)"}
    tables = {}
    said = ("observed", "test_set_group", "direction", "share")
    named_in = ("document", "system", "item", "unit", "annotator", "import")
    for table in (*FACT_TABLES, *said, *named_in):
        columns = [str(row[0]) for row in database.rows(Sql(f"select column_name from (describe {table})"))]
        left_out = ("id", "imported_at", "sha256")
        cells, joins = [], ""
        for column in columns:
            pointed = column.removesuffix("_id")
            if column.endswith("_id"):
                cells.append(f"n_{pointed}.name")
                joins += f" left join {named.get(pointed, pointed)} as n_{pointed} on n_{pointed}.id = f.{column}"
            elif column not in left_out:
                cells.append(f'f."{column}"')
        tables[table] = sorted(map(repr, database.rows(Sql(f"select {', '.join(cells)} from {table} as f{joins}"))))
    return tables


def same_as_some_order(changes: Sequence[Change], first: int, nested: bool) -> None:
    """Fails unless the changes after the `first`, of writers at the same time, come out as in some order."""
    with TemporaryDirectory() as folder:
        writers = Writers(Path(folder), changes)
        lake = empty_lake(Path(folder) / "lake")
        outcomes: dict[int, object] = {}

        def alone(place: int) -> None:
            outcomes[place] = writers.on_a_lake(lake, place, lambda: None)

        def one_by_one(places: Sequence[int]) -> None:
            for place in places:
                alone(place)

        def beside(places: Sequence[int]) -> None:
            """The first is prepared before the others are carried out: each of them likewise, or one by one."""
            if places:
                here, *others = places
                outcomes[here] = writers.on_a_lake(lake, here, partial(beside if nested else one_by_one, others))

        one_by_one(range(first))
        beside(range(first, len(changes)))
        with open_lake(lake) as database:
            assert upgrading.check(database) == ()
            there = stored(database)
        assert list(unsettled_tables(lake, read_log(lake))) == []
        orders = (
            writers.one_after_the_other([*range(first), *order]) for order in permutations(range(first, len(changes)))
        )
        assert any(order == (outcomes, there) for order in orders)


WRITERS = st.tuples(st.lists(CHANGES, min_size=2, max_size=4), st.integers(0, 1), st.booleans())


@pytest.mark.long
@settings(max_examples=2, derandomize=True, phases=[Phase.generate])
@given(WRITERS)
def test_a_few_writers_at_the_same_time(drawn: tuple[list[Change], int, bool]) -> None:
    same_as_some_order(*drawn)


@pytest.mark.soak
def test_many_writers_at_the_same_time(count: Count) -> None:
    @settings(max_examples=500, deadline=None)
    @given(WRITERS)
    def all_of_them(drawn: tuple[list[Change], int, bool]) -> None:
        same_as_some_order(*drawn)
        count("sets of writers of a lake at the same time", 1)

    all_of_them()


# What property tests found, or what somebody thought of: two loads that each read what the other one writes.
T = "T,A,d1"
SCORES, COUNTS = COLUMNS["scores"], "test_set,system,document"


def scored(row: str) -> Change:
    return Change("scores", f"{SCORES}\n{row}\n")


@pytest.mark.long
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (scored(f",{T},,9,9,5,0"), scored("E,T,B,d1,,9,9,5,0")),
        (scored(f"E,{T},,9,9,5,0"), scored(",T,B,d1,,9,9,5,0")),
        (scored(f",{T},,9,9,5,0"), scored(f",{T},u,9,9,5,0")),
        (Change("counts", f"{COUNTS},passed\n{T},1\n"), Change("counts", f"{COUNTS},Passed\nT,B,d2,1\n")),
        (Change("counts", f"{COUNTS},passed\n{T},3\n"), Change("counts", f"{COUNTS},attempts\n{T},2\n")),
        (
            Change("rankings", f"{COUNTS},item,rank\n{T},x,1\n"),
            Change("rankings", f"{COUNTS},item,rank\n{T},y,2\n{T},z,1\n"),
        ),
        (
            Change("values", f"{COUNTS},measure,value\n{T},M,1\n", lower=True),
            Change("values", f"{COUNTS},measure,value\nU,B,d,M,1\n", lower=False),
        ),
        (
            Change("values", f"{COUNTS},measure,value\n{T},M,1\n", share=True),
            Change("values", f"{COUNTS},measure,value\nU,B,d,M,7\n"),
        ),
        (
            Change("values", f"{COUNTS},measure,value\n{T},M,1\n", (("group", "U"),)),
            Change("values", f"{COUNTS},measure,value\nU,B,d,M,7\n"),
        ),
    ],
    ids=["evaluation", "names", "units", "case of counts", "limits", "ranks", "directions", "shares", "groups"],
)
def test_loads_that_each_read_what_the_other_writes(one: Change, other: Change) -> None:
    same_as_some_order([one, other], 0, nested=True)
