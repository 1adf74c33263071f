"""`score … corrected by JUDGE` from files to numbers: who judged, who labelled, and the messages about it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.prediction_powered import correct_mean
from evalhouse.warehouse.store.replacement import create
from tests.conftest import write_csv

DOCUMENTS = 120
WORDS = {True: "relevant", False: "nonrelevant"}


def said(seed: int, share: float) -> list[bool]:
    return [bool(draw < share) for draw in np.random.default_rng(seed).random(DOCUMENTS)]


RIGHT, SEEN = said(1, 0.7), [right == agrees for right, agrees in zip(said(1, 0.7), said(2, 0.85), strict=True)]
RELEVANT = said(3, 0.4)
JUDGED = [relevant == agrees for relevant, agrees in zip(RELEVANT, said(4, 0.9), strict=True)]
DECIDED = [relevant == agrees for relevant, agrees in zip(RELEVANT, said(5, 0.8), strict=True)]


def document(number: int) -> str:
    return f"d{number:03}"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """People labelled every fourth document, and the judge all, but for one that only people have."""
    folder = tmp_path_factory.mktemp("judges")
    values = [("qa", "new", document(k), "llm", int(SEEN[k])) for k in range(DOCUMENTS)]
    values += [("qa", "new", document(k), "accuracy", int(RIGHT[k])) for k in range(0, DOCUMENTS, 4)]
    values += [("qa", "new", "d999", "accuracy", 1)]
    values += [("few", "new", document(k), "llm", k % 2) for k in range(10)]
    values += [("few", "new", document(k), "accuracy", 1) for k in range(2)]
    values += [("sure", "new", document(k), "llm", k % 2) for k in range(60)]
    values += [("sure", "new", document(k), "accuracy", k % 2) for k in range(12)]
    values += [("apart", "new", document(k), "llm" if k % 2 else "accuracy", 1) for k in range(10)]
    values += [("unlike", "new", document(k), "llm", int(k < 20 or k % 10 == 0)) for k in range(100)]
    values += [("unlike", "new", document(k), "accuracy", int(k % 7 > 0)) for k in range(40)]
    values += [("rare", "new", document(k), "llm", int(k % 10 > 0)) for k in range(DOCUMENTS)]
    values += [("rare", "new", document(k), "accuracy", int(k % 15 > 0)) for k in range(60)]
    values += [("slip", "new", document(k), "llm", int(k % 3 > 0)) for k in range(DOCUMENTS)]
    values += [("slip", "new", document(k), "accuracy", int(k % 3 > 0 and k != 1)) for k in range(40)]
    scattered = np.random.default_rng(5).normal(size=(3, DOCUMENTS)).tolist()
    for k, (one, two, three) in enumerate(zip(*scattered, strict=True)):
        tail = 30.0 if k in (17, 60) else 0.0
        values += [("slow", "new", document(k), "llm", 10 + one + tail), ("slow", "new", document(k), "guess", two)]
        values += [("slow", "new", document(k), "odd", three + (tail if k >= 40 else 0.0))]
        values += [("slow", "new", document(k), "blind", 10 * two)]
        if k < 40:
            said = {
                "latency": 10 + one + tail,
                "speed": 10 * two + tail,
                "steady": three + two,
                "even": two + three / 2,
            }
            values += [("slow", "new", document(k), name, of + three / 9) for name, of in said.items()]
    decisions = [("mail", "A", document(k), "yes" if DECIDED[k] else "no") for k in range(DOCUMENTS)]
    labels = [("mail", document(k), WORDS[JUDGED[k]], "llm") for k in range(DOCUMENTS)]
    labels += [("mail", document(k), WORDS[RELEVANT[k]], "") for k in range(0, DOCUMENTS, 4)]
    sources = [
        (name, document(k), "radio" if k % 3 else "press", f"s{k // 6}")
        for k in range(DOCUMENTS)
        for name in ("qa", "mail", "rare")
    ]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "v.csv", "test_set system document measure value", values), "values")
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        load(database, write_csv(folder / "l.csv", "test_set document label annotator", labels), "labels")
        load(database, write_csv(folder / "s.csv", "test_set document source story", sources), "documents")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def labelled() -> NDArray[np.bool_]:
    return np.asarray(np.arange(DOCUMENTS) % 4 == 0)


def ones(values: list[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array(values, dtype=float), np.ones(len(values))


def test_values_of_a_judge_are_corrected_by_those_of_people(session: Session) -> None:
    result = session.run("score accuracy for new on qa corrected by llm")
    [row] = result.rows
    expected = correct_mean(ones(RIGHT), ones(SEEN), labelled())
    assert (row["accuracy"], row["se(accuracy)"], row["lambda"]) == (expected.value, expected.error, expected.weight)
    assert (row["labelled"], row["judged"], row["people"], row["judge"]) == (30, 120, expected.people, np.mean(SEEN))
    assert row["effective"] == round(expected.effective or 0) > 30
    assert (row["ci_low(accuracy)"], row["ci_high(accuracy)"]) == expected.limits(0.05)
    assert "new on qa: 1 document labelled by people but not by llm left out" in result.notes


def test_labels_of_an_annotator_are_corrected_by_those_of_the_key(session: Session) -> None:
    decided = np.array(DECIDED)

    def sides(measure: str, relevant: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        hits = relevant & decided
        over, under = {
            "precision": (hits, decided),
            "recall": (hits, relevant),
            "accuracy": (relevant == decided, np.ones(DOCUMENTS)),
            "F": (2 * hits, relevant.astype(int) + decided),
        }[measure]
        return over.astype(np.float64), under.astype(np.float64)

    for measure in ("precision", "recall", "accuracy", "F"):
        [row] = session.run(f"score {measure} for A on mail corrected by llm").rows
        label = "F(beta=1)" if measure == "F" else measure
        expected = correct_mean(sides(measure, np.array(RELEVANT)), sides(measure, np.array(JUDGED)), labelled())
        assert row[label] == pytest.approx(expected.value, abs=1e-12)
        assert row[f"se({label})"] == pytest.approx(expected.error, abs=1e-12)
        [plain] = session.run(f"score {measure} for A on mail").rows
        assert row["people"] == pytest.approx(plain[label])


@pytest.mark.long
def test_a_level_a_condition_and_clusters(session: Session) -> None:
    [narrow], [wide] = (
        session.run(f"score accuracy for new on qa corrected by llm level {level}").rows for level in (0.2, 0.01)
    )
    expected = correct_mean(ones(RIGHT), ones(SEEN), labelled())
    assert (wide["ci_low(accuracy)"], wide["ci_high(accuracy)"]) == expected.limits(0.01)
    half = (float(str(wide["ci_high(accuracy)"])) - float(str(wide["accuracy"]))) / float(str(wide["se(accuracy)"]))
    assert half >= stats.t.ppf(0.995, 28)
    assert float(str(narrow["ci_low(accuracy)"])) > float(str(wide["ci_low(accuracy)"]))
    [radio] = session.run('score F for A on mail corrected by llm where document.source = "radio"').rows
    assert (radio["labelled"], radio["judged"]) == (20, 80)
    together = session.run("score accuracy for new on qa corrected by llm exchange by document.story")
    assert together.rows[0]["people"] == narrow["people"]
    assert together.rows[0]["se(accuracy)"] != narrow["se(accuracy)"]
    assert "units of document.story drawn as a whole" in together.caption


@pytest.mark.parametrize(
    ("test_set", "value", "note"),
    [
        ("few", 1.0, "new on few: 2 labelled documents are too few for an interval"),
        ("apart", None, "new on apart: no document is labelled by people and judged by llm"),
        (
            "sure",
            0.5,
            "llm is right on all 12 labelled documents, too few to tell how often it is wrong, so there is no interval",
        ),
        ("unlike", None, "llm scores what people labelled differently from the rest"),
    ],
)
def test_what_cannot_be_had_or_trusted_is_said(session: Session, test_set: str, value: float | None, note: str) -> None:
    result = session.run(f"score accuracy for new on {test_set} corrected by llm")
    assert note in " ".join(result.notes)
    if test_set != "unlike":
        assert (result.rows[0]["accuracy"], result.rows[0]["ci_low(accuracy)"]) == (value, None)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("score accuracy on qa corrected by lm", "unknown measure 'lm' on qa"),
        ("score F on mail corrected by bob", "unknown annotator 'bob' on mail"),
        ("score accuracy on qa corrected by accuracy", "accuracy cannot correct itself"),
        ("score F, recall on mail corrected by llm", "a judge corrects one measure"),
        ("score F(optional=all) on mail corrected by llm", "one measure, but F(optional=all) stands for 4"),
        ("score F(optional=bounds) on mail corrected by llm", "one measure, but F(optional=bounds) stands for 2"),
        ("score MCC on mail corrected by llm", "MCC is not a ratio of sums, so it cannot be corrected"),
        ("score mean(F) on mail corrected by llm", "is not a ratio of sums, so it cannot be corrected"),
        ("score F by document.source on mail corrected by llm", "corrected by cannot be combined with by"),
        ("score F on mail corrected by llm interval bca", "corrected by cannot be combined with interval bca"),
        ("score F on mail corrected by llm standardized", "corrected by cannot be combined with standardized"),
        ("score F on mail corrected by llm where label = relevant", "unlabelled documents have no label"),
        ("score F for allrel on mail corrected by llm", "allrel is computed from the key and has no judge"),
    ],
)
def test_what_a_judge_cannot_correct_is_refused(session: Session, statement: str, message: str) -> None:
    with pytest.raises(QueryError, match=message.replace("(", r"\(").replace(")", r"\)")):
        session.run(statement)


@pytest.mark.parametrize(
    ("statement", "note"),
    [
        ("accuracy for new on rare", "new on rare: of 60 labelled documents only 4 count as wrong"),
        ("accuracy for new on rare exchange by document.story", "the 60 labelled documents come from only 10 units"),
        ("accuracy for new on slip", "new on slip: of 40 labelled documents only 1 shows a mistake of llm"),
        (
            "latency for new on slow",
            "new on slow: latency has a long tail: 1 of 40 documents make up half of the variance",
        ),
        ("speed for new on slow", "new on slow: what blind leaves of speed has a long tail: 1 of 40 documents"),
        ("steady for new on slow", "new on slow: odd has a long tail: 1 of 120 documents make up half of the variance"),
        ("precision for A on mail", "A on mail: of 30 labelled documents only"),
    ],
)
def test_what_is_seldom_seen_is_said(session: Session, statement: str, note: str) -> None:
    judge = JUDGE_OF.get(statement.split()[0], "llm")
    [said] = [note for note in session.run(f"score {statement} corrected by {judge}").notes if "too often" in note]
    assert note in said


JUDGE_OF = {"latency": "llm", "speed": "blind", "steady": "odd"}


def test_what_is_often_seen_is_not_noted(session: Session) -> None:
    assert not [
        note for note in session.run("score accuracy for new on qa corrected by llm").notes if "too often" in note
    ]


def test_the_caption_says_which_interval_it_is_and_a_seed_draws_others(session: Session) -> None:
    skewed, other, even = (
        session.run(f"score {what}")
        for what in (
            "latency for new on slow corrected by llm",
            "latency for new on slow corrected by llm seed 7",
            "even for new on slow corrected by guess",
        )
    )
    assert "95% CI by bootstrap-t, 2,000 resamples, seed 1992" in skewed.caption
    assert "seed 7" in other.caption
    assert skewed.rows[0]["latency"] == other.rows[0]["latency"]
    assert skewed.rows[0]["ci_high(latency)"] != other.rows[0]["ci_high(latency)"]
    assert even.caption.endswith("95% CI by Student's t")


def test_limits_stay_between_0_and_1_and_nothing_is_worth_more_than_all(session: Session) -> None:
    [row] = session.run("score accuracy for new on rare corrected by llm level 0.0001").rows
    assert row["ci_high(accuracy)"] == 1.0
    people = np.array([0.0, 1.0, 0.0, 1.0] * 10)
    judge = np.concatenate((people[:20], people[:20]))
    judge[0] = 1.0
    known = np.arange(40) < 20
    of = correct_mean((people, np.ones(40)), (judge, np.ones(40)), known)
    assert of.effective is not None
    assert of.effective <= of.judged == 40


def test_without_an_interval_there_is_no_standard_error(session: Session) -> None:
    [row] = session.run("score accuracy for new on sure corrected by llm").rows
    assert (row["se(accuracy)"], row["ci_low(accuracy)"], row["effective"]) == (None, None, None)


def test_other_rows_have_no_judge() -> None:
    with Session.open() as sample, pytest.raises(QueryError, match="corrected by does not work for score tuples"):
        sample.run("score F for GE on TST3 corrected by llm")


def test_an_expectation_looks_at_the_value_or_the_interval_and_a_picture_draws_it(session: Session) -> None:
    asked = "score accuracy for new on qa corrected by llm"
    [row] = session.run(asked).rows
    for bound, outcome in ((0.2, "met"), (row["accuracy"], "undecided"), (0.99, "not met")):
        assert session.run(f"expect {asked} at least {bound} interval").outcome == outcome
    above = float(str(row["accuracy"])) + 1e-6
    for bound, outcome in ((row["ci_low(accuracy)"], "met"), (row["accuracy"], "met"), (above, "not met")):
        assert session.run(f"expect {asked} at least {bound}").outcome == outcome
    assert session.run(f"{asked} interval").rows == [row]
    picture = session.run(f"plot {asked}").chart
    assert picture is not None
    assert any("PPI++" in line for line in picture.legend)


def test_judge_and_people_the_wrong_way_round_are_told(session: Session) -> None:
    result = session.run("score llm for new on qa corrected by accuracy")
    assert (
        "new on qa: accuracy has values for 31 documents, and llm for 120; "
        "if llm is the judge, write score accuracy … corrected by llm"
    ) in result.notes


def test_explain_says_how_a_judge_corrects(session: Session) -> None:
    rows = session.run("explain score accuracy for new on qa corrected by llm").table.rows
    said = {str(stage): str(what) for stage, what in rows}
    assert "PPI++" in said["executor"]
    assert "λ" in said["executor"]
    assert "Student's t" in said["executor"]
