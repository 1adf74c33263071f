"""Kappa, balanced accuracy, specificity and Jaccard of filtering: their values compared with scikit-learn for every way
that optional documents count, their tests compared with enumeration, and that everything that takes MCC takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, jaccard_score, recall_score

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import Function, Ratio, find_measure, settle
from evalhouse.warehouse.measures.filtering import COLUMNS, OPTIONAL
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

Cells = dict[str, int]
CELLS = st.fixed_dictionaries({cell: st.integers(0, 30) for cell in COLUMNS})


def specificity_score(labels: Sequence[int], answers: Sequence[int]) -> float:
    """The recall of the documents that are not relevant."""
    return float(recall_score(labels, answers, pos_label=0))


ORACLES: dict[str, Callable[[Sequence[int], Sequence[int]], float]] = {
    "kappa": cohen_kappa_score,
    "balanced-accuracy": balanced_accuracy_score,
    "specificity": specificity_score,
    "Jaccard": jaccard_score,
}


def computed(name: str, optional: str, cells: Cells) -> float | None:
    measure = find_measure(name, "filtering")
    assert measure is not None
    computation = settle(measure, {"optional": optional}).computation
    assert isinstance(computation, Ratio | Function)
    sums = [sum(weight * cells[cell] for cell, weight in form) for form in computation.forms]
    return computation.value(sums)


def labelled(optional: str, cells: Cells) -> tuple[list[int], list[int]]:
    """Labels and answers, 1 for relevant, with optional documents as each convention takes them."""
    labels = [1] * cells["a"] + [0] * cells["b"] + [1] * cells["c"] + [0] * cells["d"]
    answers = [1] * cells["a"] + [1] * cells["b"] + [0] * cells["c"] + [0] * cells["d"]
    of_optional = [1] * cells["x"] + [0] * cells["y"]
    label = {"credit": of_optional, "relevant": [1] * len(of_optional), "nonrelevant": [0] * len(of_optional)}
    if optional == "excluded":
        return labels, answers
    return labels + label[optional], answers + of_optional


def undefined(name: str, labels: Sequence[int], answers: Sequence[int]) -> bool:
    """Whether the measure divides by 0."""
    relevant, said = sum(labels), sum(answers)
    match name:
        case "kappa":
            return (relevant, said) in ((0, 0), (len(labels), len(labels)))
        case "specificity":
            return relevant == len(labels)
        case "Jaccard":
            return relevant == said == 0
    return relevant in (0, len(labels))


@pytest.mark.long
@pytest.mark.parametrize("optional", OPTIONAL)
@pytest.mark.parametrize("name", ORACLES)
@given(cells=CELLS)
def test_the_value_is_that_of_scikit_learn(name: str, optional: str, cells: Cells) -> None:
    labels, answers = labelled(optional, cells)
    value = computed(name, optional, cells)
    if undefined(name, labels, answers):
        assert value is None
    else:
        assert value == pytest.approx(ORACLES[name](labels, answers), abs=1e-12)


@pytest.mark.parametrize(("name", "other"), [("specificity", "TNR"), ("Jaccard", "IoU")])
def test_other_names_of_the_field_are_shown_as_they_were_typed(session: Session, name: str, other: str) -> None:
    (row,) = session.run(f"score {name}, {other} of filtering for GE on TST3").rows
    assert row[other] == row[name]


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.open()


KEY = "RRRRORNNNN"
DECIDED = {"A": "yyynyynnny", "B": "nynnynynyy"}
"""Two systems that differ on seven of ten documents, one of them optional."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("decided")
    said = {"y": "yes", "n": "no"}
    decisions = [("t", s, f"d{k}", said[v]) for s, of in DECIDED.items() for k, v in enumerate(of)]
    label = {"R": "relevant", "N": "nonrelevant", "O": "optional"}
    labels = [("t", f"d{k}", label[v]) for k, v in enumerate(KEY)]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


@pytest.mark.long
@pytest.mark.parametrize("name", ORACLES)
def test_the_exact_level_is_that_of_every_exchange(small: Session, name: str) -> None:
    """Each exchange scored by scikit-learn, the optional document left out."""

    def score(answers: Sequence[str]) -> float:
        kept = [(label == "R", answer == "y") for label, answer in zip(KEY, answers, strict=True) if label != "O"]
        return ORACLES[name]([int(label) for label, _ in kept], [int(answer) for _, answer in kept])

    pairs = list(zip(*DECIDED.values(), strict=True))
    differences = []
    for exchanged in product((False, True), repeat=len(pairs)):
        first = [pair[swap] for pair, swap in zip(pairs, exchanged, strict=True)]
        second = [pair[not swap] for pair, swap in zip(pairs, exchanged, strict=True)]
        differences.append(score(first) - score(second))
    beyond = sum(abs(difference) >= abs(differences[0]) - 1e-9 for difference in differences)
    (row,) = small.run(f"compare {name}(optional=excluded) of filtering for A, B on t exact").rows
    assert row["difference"] == pytest.approx(differences[0], abs=1e-12)
    assert row["p"] == pytest.approx(beyond / len(differences), abs=1e-12)


@pytest.mark.parametrize(
    "clauses",
    [
        "test studentized shuffles 999",
        "test bootstrap shuffles 999",
        "test tukey shuffles 999",
        "shuffles 999 adjust maxt",
        "exact adjust holm",
        "interval percentile",
        "interval bca",
        "margin 5%",
    ],
)
def test_what_tests_and_adjusts_mcc_does_so_for_each(session: Session, clauses: str) -> None:
    rows = session.run(f"compare {', '.join(ORACLES)} of filtering for GE, SRI, USC on TST3 {clauses}").rows
    assert len(rows) == 3 * len(ORACLES)
    for row in rows:
        assert isinstance(row["p"], float)
        assert 0 < row["p"] <= 1
        if clauses == "margin 5%" and row["ci_low"] is None:
            assert (int(row["differing"] or 0) < 10, row["verdict"]) == (True, "inconclusive")
        else:
            assert row["ci_low"] < row["difference"] < row["ci_high"]  # type: ignore[operator]


@pytest.mark.parametrize("question", ["score", "compare", "group", "rank"])
@pytest.mark.parametrize("name", ORACLES)
def test_every_picture_draws_it(session: Session, question: str, name: str) -> None:
    systems = "GE, HUGHES" if question == "compare" else "GE, SRI, USC"
    assert session.run(f"plot {question} {name} of filtering for {systems} on TST3").chart is not None


def test_a_definition_can_use_each(session: Session) -> None:
    """A name with a hyphen stands in quotes, where a hyphen subtracts."""
    statements = (
        'define measure J = 2 * "balanced-accuracy" - 1; define measure Dice = 2 * Jaccard / (1 + Jaccard); '
        "define measure K = kappa + 0 * specificity; "
        "score J, recall, specificity, Dice, F, K, kappa of filtering for GE on TST3"
    )
    (row,) = session.run(statements).rows
    values = {name: value for name, value in row.items() if isinstance(value, float)}
    assert values["J"] == pytest.approx(values["recall"] + values["specificity"] - 1)
    assert values["Dice"] == pytest.approx(values["F(beta=1)"])
    assert values["K"] == pytest.approx(values["kappa"])


def test_a_name_that_needs_quotes_in_a_definition_is_offered_in_quotes(session: Session) -> None:
    with pytest.raises(QueryError) as raised:
        session.run("define measure J = 2 * balanced-accuracy - 1")
    assert raised.value.hints == ('did you mean "balanced-accuracy"?',)


@pytest.mark.parametrize("name", ["kappa", "balanced-accuracy"])
def test_matched_pairs_say_why_not(session: Session, name: str) -> None:
    with pytest.raises(
        QueryError, match=f"needs the same denominator for both systems in every unit, and those of {name}"
    ):
        session.run(f"compare {name} of filtering for GE, SRI on TST3 test wilcoxon")


@pytest.mark.parametrize("name", ["specificity", "Jaccard"])
def test_shares_go_with_tests_of_proportions(session: Session, name: str) -> None:
    (row,) = session.run(f"compare {name} of filtering for GE, SRI on TST3 test z").rows
    assert 0 < row["p"] <= 1  # type: ignore[operator]


@pytest.mark.parametrize("name", ORACLES)
def test_exact_and_shuffled_levels_agree(session: Session, name: str) -> None:
    (counted,) = session.run(f"compare {name} of filtering for GE, SRI on TST3 exact").rows
    (shuffled,) = session.run(f"compare {name} of filtering for GE, SRI on TST3 shuffles 99999").rows
    p = counted["p"]
    assert isinstance(p, float)
    assert shuffled["p"] == pytest.approx(p, abs=4 * (p * (1 - p) / 99999) ** 0.5 + 1e-12)
