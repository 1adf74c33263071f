"""Answers are arithmetic: given a plan and the facts that its queries would return, no database is opened."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.measures import Statistic, find_measure, settle
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.path import Query, Workforce, fetch
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.significance.tests import find_adjustment
from evalhouse.warehouse.statements import agree, compare, coverage, expect, generality, group, rank, replicate, score
from evalhouse.warehouse.statements.score_plan import ScorePlan
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql

T = p.TestSet(1, "T", "T")
A, B = p.StoredSystem(1, "A"), p.StoredSystem(2, "B")
NOBODY = Workforce()


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that opens a database fails."""

    def opened(*arguments: object) -> None:
        raise AssertionError("a database was opened")

    monkeypatch.setattr(Database, "__init__", opened)


def statistic(name: str, task: str) -> Statistic:
    measure = find_measure(name, task)
    assert measure is not None
    return settle(measure, {})


def entry(name: str, task: str, *systems: p.System) -> p.Entry:
    return p.Entry(T, KINDS[task], (statistic(name, task),), systems, 0, p.Units(3, in_units=False), "f")


def observed(correct: dict[int, list[int]], possible: int = 4) -> dict[str, Any]:
    """The facts of a comparison of recall, for each system its correct counts on documents 10, 11, …"""
    counts = [(system, 10 + place, count) for system, row in correct.items() for place, count in enumerate(row)]
    system, document, right = (np.array(column) for column in zip(*counts, strict=True))
    rows = {
        "system": system,
        "document": document,
        "correct": right,
        "partial": np.zeros_like(right),
        "possible": np.full_like(right, possible),
    }
    names = {"id": np.array([10, 11, 12]), "name": np.array(["d1", "d2", "d3"], dtype=object)}
    return {"observations on 'T'": rows, "documents of 'T'": names}


IMPORTS = {"imports of arrivals on 'T'": [(1, 1), (2, 1)]}
"""Both systems came with the same import."""


def test_score_rounds_the_quotient_of_its_sums_once() -> None:
    asked, plain = (entry("recall", "extraction", A, B),), p.Testing.plain(None)
    plan = ScorePlan("score recall", asked, (), plain, "recall", True, None)
    facts = {"sums on 'T'": [(1, 3, 1, 3), (2, 3, 2, 0)]}
    assert [query.name for query in score.compile(plan) if query.needed is None or query.needed(facts)] == list(facts)
    result = score.answer(plan, facts, NOBODY)
    assert result.rows == [
        {"test_set": "T", "task": "extraction", "system": "A", "documents": 3, "recall": 1 / 6, "source": "documents"},
        {"test_set": "T", "task": "extraction", "system": "B", "documents": 3, "recall": None, "source": "documents"},
    ]
    assert result.notes == ("recall on T: undefined for B (possible is 0, or a count it needs was not loaded)",)


HOW_MANY = {"documents of each system on 'T'": [(1, "", 3), (2, "", 2)], "documents of any system on 'T'": [("", 3)]}
"""On how many documents A and B were scored."""


def compared(facts: dict[str, Any], **how: Any) -> Result:
    testing = replace(p.Testing.plain(None), **how)
    plan = compare.ComparePlan("compare", (entry("recall", "extraction", A, B),), testing)
    facts = facts | IMPORTS
    asked = (query for query in compare.compile(plan) if query.needed is None or query.needed(facts))
    assert {query.name for query in asked} == facts.keys()
    return compare.answer(plan, facts, NOBODY)


def test_compare_counts_every_exchange_of_three_documents() -> None:
    (row,) = compared(observed({1: [4, 4, 4], 2: [0, 0, 0]})).rows
    assert (row["value_a"], row["value_b"], row["method"]) == (1.0, 0.0, "exact")
    assert row["p"] == pytest.approx(0.25)


def test_a_document_that_one_system_lacks_is_named_dropped_or_counted_as_nothing() -> None:
    facts = observed({1: [4, 4, 4], 2: [0, 0]})
    with pytest.raises(QueryError, match="1 document of T is missing for some systems: d3"):
        compared(facts)
    (dropped,) = compared(facts | HOW_MANY, missing="drop").rows
    (zero,) = compared(facts, missing="zero").rows
    assert (dropped["documents"], zero["documents"]) == (2, 3)


def test_documents_alike_are_counted_and_those_that_one_lacks_have_a_row_of_their_own() -> None:
    many = p.Entry(
        T, KINDS["extraction"], (statistic("recall", "extraction"),), (A, B), 0, p.Units(30_000, in_units=False)
    )
    plan = compare.ComparePlan("compare", (many,), p.Testing.plain(None))
    query, names, *_ = compare.compile(plan)
    assert names.needed is not None
    masked = np.ma.masked_array([2, 2, 0], mask=[False, False, True])
    counts = {"correct": [4, 2, 1], "partial": [0, 0, 0], "possible": [4, 4, 4]}
    columns: dict[str, Any] = {"system_0": np.array([1, 1, 1]), "system_1": masked, "times": np.array([5, 20, 1])}
    for name, row in counts.items():
        columns[f"{name}_0"] = np.array(row)
        columns[f"{name}_1"] = np.ma.masked_array([1, 1, 0], mask=[False, False, True])
    with pytest.raises(QueryError, match="1 document of T is missing for some systems: d9"):
        compare.answer(plan, {query.name: columns, names.name: [("d9",)]}, NOBODY)
    assert names.needed({query.name: columns})
    assert not names.needed({query.name: {name: np.asarray(column) for name, column in columns.items()}})
    dropping = compare.ComparePlan("compare", (many,), replace(p.Testing.plain(None), missing="drop"))
    result = compare.answer(dropping, {query.name: columns, **HOW_MANY}, NOBODY)
    assert result.rows[0]["documents"] == 25
    assert result.notes[0] == "T: left out 1 document that not every system has (missing: 1 for B)"


def test_group_gives_letters_to_what_does_not_differ() -> None:
    plan = group.GroupPlan("group", (entry("recall", "extraction", A, B),), p.Testing.plain(None))
    result = group.answer(plan, observed({1: [4, 4, 4], 2: [0, 0, 0]}), NOBODY)
    assert [(row["system"], row["letters"]) for row in result.rows] == [("A", "a"), ("B", "a")]


def test_rank_gives_each_system_all_ranks_that_no_test_excludes() -> None:
    how = replace(p.Testing.plain(None), adjustment=find_adjustment("holm"))
    plan = rank.RankPlan("rank", (entry("recall", "extraction", A, B),), how)
    result = rank.answer(plan, observed({1: [4, 4, 4], 2: [0, 0, 0]}), NOBODY)
    assert [(row["system"], row["rank"], row["rank_low"], row["rank_high"]) for row in result.rows] == [
        ("A", 1, 1, 2),
        ("B", 2, 1, 2),
    ]


def test_replicate_compares_the_differences_on_both_test_sets() -> None:
    first = entry("recall", "extraction", A, B)
    second = replace(first, test_set=p.TestSet(2, "U", "U"))
    facts = observed({1: [4, 4, 4], 2: [0, 0, 0]})
    halved = observed({1: [4, 4, 4], 2: [2, 2, 2]})
    facts |= {name.replace("'T'", "'U'"): rows for name, rows in halved.items()}
    plan = replicate.ReplicatePlan("replicate", first, second, p.Testing.plain(None))
    assert {query.name for query in replicate.compile(plan)} == facts.keys()
    (row,) = replicate.answer(plan, facts, NOBODY).rows
    assert [row[name] for name in row if name.startswith("difference")] == [1.0, 0.5]


def test_expect_is_not_met_where_a_test_finds_nothing() -> None:
    asked = compare.ComparePlan("compare", (entry("recall", "extraction", A, B),), p.Testing.plain(None))
    plan = expect.ExpectPlan("expect better compare", compare.COMPARE, asked, "better")
    result = expect.answer(plan, observed({1: [4, 4, 4], 2: [0, 0, 0]}), NOBODY)
    assert (result.outcome, result.rows[0]["why"]) == ("not met", "p 0.2500 > 0.05")


def test_generality_is_what_the_labels_say() -> None:
    plan = generality.GeneralityPlan("generality", (entry("recall", "filtering"),), (), None)
    (row,) = generality.answer(
        plan, {"key of 'T'": [("relevant", 65), ("optional", 4), ("nonrelevant", 31)]}, NOBODY
    ).rows
    assert (row["generality"], row["generality_strict"]) == (0.69, 0.65)


def test_agree_needs_labels_of_two() -> None:
    plan = agree.AgreePlan("agree", (entry("recall", "filtering"),), (), p.Testing.plain(None))
    alone = agree.answer(plan, {"labels of 'T'": [("ann", "d1", "relevant")]}, NOBODY)
    assert alone.notes == (
        "agree needs labels of two annotators, and T has only those of ann; add with key to count the key",
    )


def test_coverage_is_the_difference_of_counts() -> None:
    plan = coverage.CoveragePlan("coverage", (entry("recall", "extraction", A, B),))
    facts = {
        "scored of extraction on 'T'": [(1, 3), (2, 2)],
        "by measure of extraction on 'T'": [(1, "", 3), (2, "", 2)],
        "by any of extraction on 'T'": [("", 3)],
        "absent of extraction on 'T'": [(2, "d3")],
        "failed of extraction on 'T'": [(2, "error", False, 1, 1)],
        "names failed of extraction on 'T'": [(2, "d4")],
        "failed elsewhere of extraction on 'T'": [(1,)],
    }
    assert {query.name for query in coverage.compile(plan)} == facts.keys()
    rows = coverage.answer(plan, facts, NOBODY).rows
    assert [(row["system"], row["scored"], row["absent"], row["failed"], row["names"]) for row in rows] == [
        ("A", 3, 1, 0, None),
        ("B", 2, 1, 1, "d3, d4"),
    ]


class Counting:
    """An engine that counts what it is asked."""

    workforce = Workforce()

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        self.asked.append(query.text)
        return [(len(self.asked),)]

    def columns(self, query: Sql) -> dict[str, Any]:
        return {"asked": self.rows(query)}

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        return ("asked",), self.rows(Sql(text))

    def interrupt(self) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is open."""


def test_facts_of_one_name_are_fetched_once() -> None:
    engine = Counting()
    queries = (Query("a", Sql("select 1")), Query("b", Sql("select 2"), "columns"), Query("a", Sql("select 1")))
    assert fetch(queries, engine) == {"a": [(1,)], "b": {"asked": [(2,)]}}
    assert engine.asked == ["select 1", "select 2"]


def test_what_no_facts_need_is_not_asked() -> None:
    engine = Counting()
    queries = (Query("a", Sql("select 1")), Query("b", Sql("select 2"), needed=lambda facts: facts["a"] == []))
    assert fetch(queries, engine) == {"a": [(1,)]}


def test_two_queries_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two different queries are called 'a'"):
        fetch((Query("a", Sql("select 1")), Query("a", Sql("select 2"))), Counting())


def test_levels_are_decimals_all_the_way() -> None:
    assert p.Testing.plain(None).level == Decimal("0.05")
