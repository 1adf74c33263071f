"""`rank`: rank sets compared with the comparisons that they come from, clusters, ties, directions, and over
test sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from random import Random

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Brackets
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import WithValues

Open = Callable[..., Session]


@pytest.fixture
def opened(with_values: WithValues) -> Open:
    """A warehouse of values by test set, system and document; lower is better for latency."""

    def of_test_sets(test_sets: dict[str, dict[str, list[float]]], measure: str = "m") -> Session:
        return with_values(
            (name, system, f"d{place:03}", measure, value)
            for name, systems in test_sets.items()
            for system, values in systems.items()
            for place, value in enumerate(values)
        )

    return of_test_sets


@pytest.fixture
def sample() -> Iterator[Session]:
    with Session.open() as session:
        yield session


def ranks_of(result: Result) -> dict[str, tuple[int, int, int]]:
    """Of each system its rank, and the lowest and the highest that it may have."""
    return {
        str(row["system"]): (int(row["rank"] or 0), int(row["rank_low"] or 0), int(row["rank_high"] or 0))
        for row in result.rows
    }


def answers(shares: dict[str, float], items: int = 60, seed: int = 1) -> dict[str, list[float]]:
    random = Random(seed)
    return {name: [float(random.random() < share) for _ in range(items)] for name, share in shares.items()}


@pytest.mark.long
@pytest.mark.parametrize(("clauses", "adjust"), [("shuffles 1999", "maxt"), ("exact", "holm"), ("adjust holm", "holm")])
def test_sets_follow_from_one_sided_comparisons_both_ways(opened: Open, clauses: str, adjust: str) -> None:
    systems = answers({"A": 0.95, "B": 0.9, "C": 0.6, "D": 0.55, "E": 0.1})
    asked = clauses if "adjust" in clauses else f"{clauses} adjust {adjust}"
    with opened({"t": systems}) as session:
        result = session.run(f"rank m for all on t {clauses}")
        rows = ranks_of(result)
        # Both ways at once: every system against each other, which compare asks of one after another.
        names = sorted(rows)
        better = {
            (a, b): row["verdict"] == "significant"
            for a, b in permutations(names, 2)
            for row in session.run(f"compare m for {a}, {b} on t one-sided level 0.0025 {asked}").rows
        }
    for name, (_, low, high) in rows.items():
        # 20 comparisons: what holds at a twentieth of the level holds after any adjustment.
        assert low >= 1 + sum(better[other, name] for other in names if other != name)
        assert high <= len(names) - sum(better[name, other] for other in names if other != name)
    assert [rows[name][1] for name in "ABE"] == [1, 1, 5]
    assert result.rows[0]["cluster"] != result.rows[-1]["cluster"]


def test_who_is_better_than_all_others_ends_a_cluster(opened: Open) -> None:
    systems = {"A": [1.0] * 40, "B": [1.0] * 20 + [0.0] * 20, "C": [0.0] * 40, "D": [0.0] * 40}
    with opened({"t": systems}) as session:
        result = session.run("rank m for all on t")
    assert [(row["rank"], row["system"], row["rank_low"], row["rank_high"], row["cluster"]) for row in result.rows] == [
        (1, "A", 1, 1, 1),
        (2, "B", 2, 2, 2),
        (3, "C", 3, 4, 3),
        (3, "D", 3, 4, 3),
    ]


def test_lower_may_be_better(opened: Open) -> None:
    slow = answers({"A": 0.95, "B": 0.5, "C": 0.05}, 80)
    with opened({"t": slow}, "latency") as session:
        rows = session.run("rank latency for all on t").rows
    assert [(row["system"], row["rank_low"], row["rank_high"]) for row in rows] == [
        ("C", 1, 1),
        ("B", 2, 2),
        ("A", 3, 3),
    ]


def test_too_few_shuffles_leave_pairs_undecided_and_sets_wide(opened: Open) -> None:
    with opened({"t": answers({"A": 0.9, "B": 0.1})}) as session:
        result = session.run("rank m for all on t shuffles 19")
    assert [(row["rank_low"], row["rank_high"], row["undecided"]) for row in result.rows] == [(1, 2, "B"), (1, 2, "A")]
    assert any("undecided pairs count as not different" in note for note in result.notes)


@pytest.mark.parametrize("measure", ["MCC of filtering", "mean(F)", "F", "fallout of filtering"])
def test_functions_means_and_ratios_are_ranked(sample: Session, measure: str) -> None:
    rows = ranks_of(sample.run(f"rank {measure} for GE, MDC, SYNCH on TST4"))
    assert len(rows) == 3
    assert all(low <= rank <= high for rank, low, high in rows.values())


# --- over test sets ---------------------------------------------------------------------------------------------------


def many_test_sets(count: int) -> dict[str, dict[str, list[float]]]:
    return {
        f"t{place:02}": {
            name: [quality + 0.01 * ((place * step) % 5)]
            for step, (name, quality) in enumerate({"A": 0.9, "B": 0.9, "C": 0.5, "D": 0.1}.items(), 1)
        }
        for place in range(count)
    }


def test_mean_ranks_and_who_is_told_apart(opened: Open) -> None:
    with opened(many_test_sets(14)) as session:
        result = session.run("rank m for all on all over test sets by mean rank")
        nemenyi = session.run("rank m for all on all over test sets by mean rank adjust nemenyi")
    assert [(row["system"], row["rank_low"], row["rank_high"], row["cluster"]) for row in result.rows][2:] == [
        ("C", 3, 3, 2),
        ("D", 4, 4, 3),
    ]
    assert {row["rank_high"] for row in result.rows[:2]} == {2}
    assert result.rows[2]["mean_rank"] == 3.0
    (summary,) = result.summary
    assert summary["df"] == 3
    assert summary["critical_difference"] is None
    (summary,) = nemenyi.summary
    assert summary["critical_difference"] == pytest.approx(1.2536, abs=1e-4)


def test_few_test_sets_cannot_tell(opened: Open) -> None:
    with opened(many_test_sets(5)) as session:
        holm = session.run("rank m for all on all over test sets by mean rank")
        nemenyi = session.run("rank m for A, B on t00, t01 over test sets by mean rank adjust nemenyi")
    assert {(row["rank_low"], row["rank_high"]) for row in holm.rows} == {(1, 4)}
    assert holm.notes == (
        "with 5 test sets Wilcoxon's p is at least 0.062, 0.38 after adjustment, above the level 0.05: no pair can be "
        "significant with fewer than 8",
    )
    assert nemenyi.notes == (
        "with 2 test sets the critical difference exceeds every possible difference of mean ranks",
    )


@pytest.mark.long
def test_cliques_of_the_diagram_are_pairwise_alike(opened: Open) -> None:
    """A and B, and B and C, are not told apart, but A and C are: two brackets, and not one."""
    forwards, backwards = {"A": [0.3], "B": [0.2], "C": [0.1]}, {"A": [0.1], "B": [0.2], "C": [0.3]}
    test_sets = {f"t{place:02}": forwards if place < 14 else backwards for place in range(20)}
    with opened(test_sets) as session:
        chart = session.run("plot rank m for all on all over test sets by mean rank adjust nemenyi").chart
    assert chart is not None
    (brackets,) = chart.panels[0].marks_of(Brackets)
    assert [group.members for group in brackets.groups] == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rank F for all on TST3 one-sided", "rank tests every pair both ways"),
        ("rank F for all on TST3 adjust bh", "adjust bh does not hold for all sets of ranks together"),
        ("rank F for GE on TST3", "rank needs two systems, but there is only GE on TST3"),
        (
            "rank F for all on TST3 over test sets by mean rank",
            "a mean rank needs two test sets, but there is only one",
        ),
        (
            "rank F for GE on TST3, TST4 over test sets by mean rank",
            "rank needs two systems that are on all test sets, but only GE is",
        ),
        (
            "rank F for all on TST3, TST4 over test sets by mean rank missing bounds",
            "missing bounds works only with compare",
        ),
        (
            "rank F of published for all on TST3, TST4 over test sets by mean rank missing zero",
            "TST3 has published figures, which have no documents, so none can be missing",
        ),
        (
            "rank F for all on TST3, TST4 over test sets by mean rank adjust maxt",
            "by mean rank adjusts by holm or nemenyi",
        ),
        (
            "rank F(optional=all) of filtering for all on TST3, TST4 over test sets by mean rank",
            "a mean rank takes one value per test set, and F(optional=all) stands for several",
        ),
        ("rank F for all on TST3, TST4 over test sets by mean rank exact", "a mean rank takes one value per test set"),
    ],
)
def test_what_cannot_be_ranked(sample: Session, text: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        sample.run(text)
    assert raised.value.message.startswith(message)
