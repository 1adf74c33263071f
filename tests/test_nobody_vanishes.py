"""Nobody vanishes from an answer without a word: systems that have rows of another kind alone, and runs that a test set
lacks, are named in a note and in the data of every statement. Kinds and statements come from the tables of the program,
so that new ones are held to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.grammar import nodes as n
from evalhouse.grammar.clauses import QUESTIONS as BY_WORD
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.planning import LoadRequest
from evalhouse.warehouse.results import UNEVEN, Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements.pictures import PICTURES
from evalhouse.warehouse.statements.questions import QUESTIONS
from tests.conftest import write_csv
from tests.empty import create

DOCUMENTS = [f"d{number}" for number in range(6)]

MEASURED: Mapping[str, str] = {
    "extraction": "F of extraction",
    "filtering": "fallout",
    "counts": "pass(k=1)",
    "rankings": "RR",
    "numbers": "mae",
    "values": "m",
    "published": "printed",
}
"""A measure of each kind, which no other kind has unless the kind is said."""

COLUMNS: Mapping[str, str] = {
    "scores": "test_set system document possible actual correct partial",
    "labels": "test_set document label",
    "decisions": "test_set system document decision confidence",
    "counts": "test_set system document count number",
    "judgments": "test_set document item grade",
    "rankings": "test_set system document item rank",
    "numbers": "test_set system document truth prediction",
    "values": "test_set system document measure value",
    "published": "test_set system task measure value resolution",
}

Rows = dict[str, list[tuple[Any, ...]]]


def rows_of(kind: str, test_set: str, system: str) -> Rows:
    """The rows of a system on a test set, by their reader, with the key where there is one."""
    right = [(ord(system[0]) + place) % 3 for place in range(len(DOCUMENTS))]
    documents = list(zip(DOCUMENTS, right, strict=True))
    match kind:
        case "extraction":
            return {"scores": [(test_set, system, d, 3, 3, number, 0) for d, number in documents]}
        case "filtering":
            labels = [(test_set, d, "relevant" if place % 2 else "nonrelevant") for place, d in enumerate(DOCUMENTS)]
            decided = [(test_set, system, d, "yes" if number else "no", number / 4) for d, number in documents]
            return {"labels": labels, "decisions": decided}
        case "counts":
            pairs = (("attempts", 3), ("passed", None))
            return {"counts": [(test_set, system, d, c, of or number) for d, number in documents for c, of in pairs]}
        case "rankings":
            judged = [(test_set, d, item, int(item == "hit")) for d in DOCUMENTS for item in ("hit", "x")]
            ranked = [(test_set, system, d, "hit", number + 1) for d, number in documents]
            others = [(test_set, system, d, f"y{r}", r) for d, number in documents for r in range(1, number + 1)]
            return {"judgments": judged, "rankings": [*ranked, *others]}
        case "numbers":
            truths = enumerate(DOCUMENTS)
            return {"numbers": [(test_set, system, d, place / 2, right[place] + place / 4) for place, d in truths]}
        case "values":
            return {"values": [(test_set, system, d, "m", number) for d, number in documents]}
        case "published":
            return {"published": [(test_set, system, "values", "printed", sum(right) / 8, 0.01)]}
    raise KeyError(kind)


def filled(path: Path, *parts: Rows) -> Session:
    """A new warehouse with rows, each once."""
    with create(path) as database:
        for reader, columns in COLUMNS.items():
            if lines := list(dict.fromkeys(line for part in parts for line in part.get(reader, ()))):
                load(database, write_csv(path.with_name(f"{reader}.csv"), columns, lines), reader)
        topics = {
            (of[0], d, "even" if place % 2 else "odd")
            for part in parts
            for lines in part.values()
            for of in lines
            for place, d in enumerate(DOCUMENTS)
        }
        load(database, write_csv(path.with_name("d.csv"), "test_set document part", sorted(topics)), "documents")
    return Session.open(path)


PAIRS = list(zip(KINDS, [*list(KINDS)[1:], next(iter(KINDS))], strict=True))
"""Each kind, which is asked about, and another."""


def named(own: str, other: str) -> str:
    return f"{own}_{other}"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """For each two kinds two test sets, on which two systems have rows of the one and two of the other."""
    parts = [
        rows_of(kind, f"{named(own, other)}{half}", system)
        for own, other in PAIRS
        for half in ("", "_too")
        for kind, systems in ((own, ("lark", "wren")), (other, ("merle", "finch")))
        for system in systems
    ]
    with filled(tmp_path_factory.mktemp("kinds") / "w.duckdb", *parts) as session:
        yield session


ASKED: Mapping[type[n.Node], str] = {
    n.Score: "score {m} for {who} on {t}",
    n.Compare: "compare {m} for {who} on {t}",
    n.Group: "group {m} for {who} on {t}",
    n.Rank: "rank {m} for {who} on {t} shuffles 200",
    n.PaperTable: "table {m} for {who} on {t}",
    n.Power: "power {m} for {who} on {t}",
    n.Change: "change {m} for {who} from {t} to {t}_too",
    n.Replicate: "replicate {m} for {who} from {t} to {t}_too",
    n.Project: "project {m} for {who} from {t} to generality 0.1",
    n.Spread: "spread {m} for {who} on {t}",
    n.Documents: "documents {m} for {who} on {t}",
    n.Differ: "differ {m} for {who} on {t} by document.part",
    n.Curve: "curve {m} for {who} on {t}",
}

RUNS_ONLY = (n.Spread,)
"""What asks about the runs of systems, and there are none here."""

NEVER_MEANT = ("finch", "merle")


def answered(
    session: Session, node: type[n.Node], own: str, other: str, tail: str = "", measure: str | None = None
) -> Result:
    return session.run(ASKED[node].format(m=measure or MEASURED[own], who="all", t=named(own, other)) + tail)


def meant(node: type[n.Node]) -> bool:
    return issubclass(node, n.Measured)


def test_every_kind_and_statement_is_asked() -> None:
    assert set(MEASURED) == set(KINDS)
    assert set(ASKED) == {node for node in QUESTIONS if meant(node)}


def check_named(result: Result, own: str, other: str, names: tuple[str, ...] = NEVER_MEANT) -> None:
    """The systems with rows of another kind stand in a note, with their number, and in the data."""
    have = f"{len(names)} system{'s have' if len(names) > 1 else ' has'} {KINDS[other].rows}"
    (note,) = (note for note in result.notes if note.startswith(have) and f"no {KINDS[own].rows}" in note)
    said = str(result.summary[0]["left_out"])
    for name in names:
        assert re.search(rf"\b{name}\b", note)
        assert f"{name}: {named(own, other)} ({KINDS[other].rows})" in said or f"{named(own, other)}_too" in said
    shown = {cell for row in result.rows for cell in row.values()}
    assert not shown & set(NEVER_MEANT)


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(node, marks=[pytest.mark.long] if node is n.Power else [])
        for node in QUESTIONS
        if meant(node) and node not in RUNS_ONLY
    ],
)
def test_who_has_rows_of_another_kind_is_named(kinds: Session, node: type[n.Node]) -> None:
    answers = 0
    for own, other in PAIRS:
        try:
            result = answered(kinds, node, own, other)
        except QueryError:
            continue
        check_named(result, own, other)
        answers += 1
    assert answers >= (1 if node in (n.Project, n.Curve, n.Change) else 4)


@pytest.mark.parametrize(
    "word",
    [
        pytest.param(word, marks=[pytest.mark.long] if word == n.Power.words else [])
        for word in PICTURES
        if meant(BY_WORD[word])
    ],
)
def test_so_it_is_beside_pictures(kinds: Session, word: str) -> None:
    node = next(node for node, asked in ASKED.items() if asked.split()[0] == word)
    answers = 0
    for own, other in PAIRS:
        asked = "plot " + ASKED[node].format(m=MEASURED[own], who="all", t=named(own, other))
        try:
            result = kinds.run(asked)
        except QueryError:
            continue
        assert any("finch, merle" in note and KINDS[other].rows in note for note in result.notes), asked
        answers += 1
    assert answers


@given(st.sampled_from(PAIRS), st.sampled_from(("score", "table", "compare", "rank", "group")))
def test_a_pattern_and_except_leave_out_only_whom_they_mean(kinds: Session, pair: tuple[str, str], word: str) -> None:
    own, other = pair
    for who, names in (
        ("*r*", ("merle",)),
        ("all except finch", ("merle",)),
        ("all except merle, finch", ()),
        ("lark, wren", ()),
    ):
        asked = f"{word} {MEASURED[own]} for {who} on {named(own, other)}"
        try:
            result = kinds.run(asked)
        except QueryError:
            assert not KINDS[own].by_document
            return
        if names:
            check_named(result, own, other, names)
        else:
            assert not any("finch" in note or "merle" in note for note in result.notes)
            assert all("left_out" not in row for row in result.summary)


@pytest.mark.parametrize("node", [node for node in ASKED if "missing" in node.__struct_fields__])
def test_missing_error_names_them(kinds: Session, node: type[n.Node]) -> None:
    refused = 0
    for own, other in PAIRS:
        with pytest.raises(QueryError) as error:
            answered(kinds, node, own, other, tail=" missing error", measure=MEASURED[own].partition(" of ")[0])
        told = str(error.value)
        if "printed" not in told and KINDS[own].by_document:
            assert f"finch ({KINDS[other].rows} on " in told, told
            assert "merle (" in told
            refused += 1
    assert refused


def test_who_has_rows_of_both_kinds_is_not_missing(tmp_path: Path) -> None:
    both = [rows_of(kind, "t", system) for kind in ("values", "published") for system in ("lark", "wren")]
    with filled(tmp_path / "w.duckdb", *both) as session:
        result = session.run("score m for all on t missing error")
        assert not result.notes
        assert not result.summary


def test_on_several_test_sets_it_is_said_once_and_not_as_if_nothing_were_there(tmp_path: Path) -> None:
    parts = [rows_of("values", "t", name) for name in ("lark", "wren", "finch")]
    parts += [rows_of("values", "u", name) for name in ("lark", "wren")]
    parts += [rows_of("published", "u", "finch")]
    with filled(tmp_path / "w.duckdb", *parts) as session:
        for asked in ("score m for all on t, u", "compare m for all on t, u over test sets", "rank m for all on t, u"):
            result = session.run(asked)
            notes = [note for note in result.notes if "finch" in note]
            assert notes == ["1 system has published figures on u but no values, and is left out there: finch"]
            assert {row["left_out"] for row in result.summary} == {"finch: u (published figures)"}
        filled_in = session.run("score m for all on t, u missing zero")
        assert any("finch (not on u, where it has published figures)" in note for note in filled_in.notes)


# --- runs -------------------------------------------------------------------------------------------------------------

RUNS = st.dictionaries(
    st.sampled_from(("lark", "wren", "finch")), st.tuples(*[st.integers(0, 3) for _ in "tu"]).filter(any), min_size=2
)
"""How many seeds of each model there are on each of two test sets."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.mark.long
@settings(max_examples=15)
@given(RUNS, st.sampled_from(("score", "table", "compare", "rank", "group")), st.integers(0, 10**9))
def test_a_run_that_a_test_set_lacks_is_named(
    folder: Path, runs: dict[str, tuple[int, int]], word: str, number: int
) -> None:
    lines = [
        (test_set, model, seed, d, (seed + place) % 2)
        for model, of in runs.items()
        for test_set, seeds in zip("tu", of, strict=True)
        for seed in range(seeds)
        for place, d in enumerate(DOCUMENTS)
    ]
    path = folder / f"{number}.duckdb"
    path.unlink(missing_ok=True)
    with create(path) as database:
        load(database, write_csv(path.with_suffix(".csv"), "test_set system seed document m", lines), "table")
    there = {test_set: {m: of[place] for m, of in runs.items() if of[place]} for place, test_set in enumerate("tu")}
    fewer = {
        (model, test_set) for test_set, of in there.items() for model, seeds in of.items() if seeds < max(runs[model])
    }
    with Session.open(path) as session:
        try:
            result = session.run(f"{word} m for all on t, u")
        except QueryError:
            return
        for model, test_set in fewer:
            (note,) = (note for note in result.notes if note.startswith(f"{test_set}: not "))
            last = f"{model}#{max(runs[model])}"
            assert re.search(rf"\b{there[test_set][model]} for {model} \(without [^)]*{last}\)", note)
            assert f"{last}: {test_set}" in str(result.summary[0]["left_out"])
        for test_set, of in there.items():
            noted = any(note.startswith(f"{test_set}: not all systems have as many runs: ") for note in result.notes)
            of_models = {seeds for model, seeds in of.items() if max(runs[model]) > 1}
            assert noted >= (len(of_models) > 1)
            assert noted <= (len(set(of.values())) > 1)
        if fewer:
            with pytest.raises(QueryError, match="not every run is on every test set"):
                session.run(f"{word} m for all on t, u missing error")


def test_a_condition_on_runs_names_a_run_alike_on_all_test_sets(tmp_path: Path) -> None:
    lines = [
        (t, s, seed, d, 1)
        for t, s, seeds in (("t", "lark", 2), ("t", "wren", 2), ("u", "lark", 2), ("u", "wren", 1))
        for seed in range(1, seeds + 1)
        for d in DOCUMENTS
    ]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "w.csv", "test_set system seed document m", lines), "table")
    with Session.open(tmp_path / "w.duckdb") as session:
        result = session.run("score m for all on t, u where system.run = 2")
        assert {row["system"] for row in result.rows} == {"lark#2", "wren#2"}
        assert result.notes == ("1 of 2 systems is not on u: wren#2",)
        assert result.summary[0]["left_out"] == "wren#2: u"
        left = session.run("score m for all except wren#2 on t, u")
        assert not any("without" in note for note in left.notes)


# --- counts and marks stand beside their measure ----------------------------------------------------------------------


@pytest.mark.long
@settings(max_examples=10)
@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from(DOCUMENTS), min_size=1), st.sets(st.sampled_from(DOCUMENTS), min_size=1)),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 10**9),
)
def test_the_count_beside_a_measure_is_that_of_the_measure(
    folder: Path, systems: list[tuple[set[str], set[str]]], number: int
) -> None:
    lines = [
        ("t", f"s{place}", d, measure, 1)
        for place, of in enumerate(systems)
        for measure, documents in zip(("m", "k"), of, strict=True)
        for d in sorted(documents)
    ]
    path = folder / f"c{number}.duckdb"
    path.unlink(missing_ok=True)
    with create(path) as database:
        load(database, write_csv(path.with_suffix(".csv"), COLUMNS["values"], lines), "values")
    with Session.open(path) as session:
        scored, tabled = session.run("score m, k for all on t"), session.run("table m, k for all on t")
        of = {f"s{place}": dict(zip(("m", "k"), map(len, both), strict=True)) for place, both in enumerate(systems)}
        assert {r["system"]: {m: r[f"documents({m})"] for m in ("m", "k")} for r in scored.rows} == of
        assert all(row["documents"] == of[str(row["system"])][str(row["measure"])] for row in tabled.rows)
        for place, measure in enumerate(("m", "k")):
            uneven = len({frozenset(both[place]) for both in systems}) > 1
            marks = {row.get(f"mark({measure})") for row in scored.rows}
            assert marks == ({UNEVEN} if uneven else {None})
            assert {row["mark"] for row in tabled.rows if row["measure"] == measure} == marks


@pytest.mark.parametrize("kind", [kind for kind, of in KINDS.items() if of.by_document])
def test_runs_are_answered_whatever_becomes_of_what_they_lack(tmp_path: Path, kind: str) -> None:
    """Two runs of a model, the second of which lacks a document, beside another system; all documents but one."""
    runs = [rows_of(kind, "t", system) for system in ("wren#1", "lark")]
    shorter = rows_of(kind, "t", "wren#2")
    keys = {"labels", "judgments"}
    runs += [{r: v if r in keys else [line for line in v if DOCUMENTS[-1] not in line] for r, v in shorter.items()}]
    with filled(tmp_path / "w.duckdb", *runs) as session:
        path = tmp_path / "runs.csv"
        of_model = [("t", f"wren#{number}", "wren", str(number), f"2026-01-0{number}") for number in (1, 2)]
        write_csv(path, "test_set system model run date", of_model)
        session.load(LoadRequest([str(path)], "runs"))
        for word in ("score", "table", "compare", "rank", "group"):
            for missing in ("zero", "drop"):
                for condition in ("", f" where document != {DOCUMENTS[0]}"):
                    asked = f"{word} {MEASURED[kind]} for all on t missing {missing}{condition}"
                    if KINDS[kind].of_numbers and missing == "zero":
                        with pytest.raises(QueryError, match="gives no prediction"):
                            session.run(asked)
                        continue
                    result = session.run(asked)
                    systems = {str(row[name]) for row in result.rows for name in row if name.startswith("system")}
                    assert systems == {"wren", "lark"}, asked


# --- a system alone ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind, of in KINDS.items() if of.by_document])
@pytest.mark.parametrize("word", ["score", "table"])
def test_a_system_alone_is_told_what_it_lacks(tmp_path: Path, kind: str, word: str) -> None:
    """Of what a key has, if it is the only system; else of what others have."""
    lark, wren = rows_of(kind, "t", "lark"), rows_of(kind, "t", "wren")
    last = DOCUMENTS[-1]
    keys = {"labels", "judgments"}
    fewer = {r: lines if r in keys else [line for line in lines if last not in line] for r, lines in lark.items()}
    alone = bool(keys & set(lark))
    with filled(tmp_path / "w.duckdb", fewer, *(() if alone else (wren,))) as session:
        asked = f"{word} {MEASURED[kind]} for lark on t"
        (note,) = (note for note in session.run(asked).notes if "fewer than the 6 documents that there are" in note)
        assert "5 for lark" in note
        with pytest.raises(QueryError, match=f"1 document of t is missing: {last}"):
            session.run(f"{asked} missing error")
        if KINDS[kind].of_numbers:
            with pytest.raises(QueryError, match="missing zero gives no prediction"):
                session.run(f"{asked} missing zero")
        else:
            assert not any("fewer" in note for note in session.run(f"{asked} missing zero").notes)
