"""`differ`: its slices compared with pandas, its p-values with the random draws of `compare`, clusters, and
messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import WithValues, write_csv
from tests.empty import create

DOCUMENTS = 90

PAIR = ("value_a", "value_b", "difference", "p", "p_adjusted", "shrunken", "se")


def attributes_of(k: int) -> tuple[str, object, object, str]:
    """Source, words, level and passage of a document; some lack the first two."""
    return (
        "" if k % 11 == 0 else ("radio", "press", 'the "wire"')[k % 3],
        "" if k % 13 == 0 else (k * 37) % 97 + 0.5,
        k % 3 + 1,
        f"P{k // 5}",
    )


def counts() -> pd.DataFrame:
    source = np.random.default_rng(7)
    rows = []
    for k in range(DOCUMENTS):
        for place, system in enumerate(("base", "new")):
            possible, actual = int(source.integers(0, 6)), int(source.integers(1, 7))
            correct = int(min(possible, actual) * (0.4 + 0.3 * place * (k % 3 == 0)))
            partial = int(correct < min(possible, actual))
            rows.append(("T", system, f"d{k:02}", possible, actual, correct, partial))
    return pd.DataFrame(rows, columns=["test_set", "system", "document", "possible", "actual", "correct", "partial"])


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("differ")
    frame = counts()
    right = [
        (name, system, f"d{k:02}", "accuracy", int((k * 7 + place * (k % 4)) % 5 < 3))
        for name in ("qa", "few")
        for place, system in enumerate(("base", "new", "old"))
        for k in range(DOCUMENTS if name == "qa" else 12)
    ]
    of_documents = [(name, f"d{k:02}", *attributes_of(k)) for name in ("T", "qa", "few") for k in range(DOCUMENTS)]
    of_documents = [row for row in of_documents if row[0] != "few" or row[1] < "d12"]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "c.csv", " ".join(frame.columns), frame.itertuples(index=False)), "scores")
        load(database, write_csv(folder / "v.csv", "test_set system document measure value", right), "values")
        header = "test_set document source words level passage"
        load(database, write_csv(folder / "d.csv", header, of_documents), "documents")
        site = [("base", "here"), ("new", "there")]
        load(database, write_csv(folder / "s.csv", "system site", site), "systems")
    return folder / "w.duckdb"


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as session:
        yield session


def by_slice(result: Result) -> dict[Cell, dict[str, Cell]]:
    return {row["slice"]: row for row in result.rows}


def frame_of_slices() -> pd.DataFrame:
    """The documents with what they have, as pandas sees them."""
    frame = counts()
    known = pd.DataFrame(
        [(f"d{k:02}", *attributes_of(k)) for k in range(DOCUMENTS)],
        columns=["document", "source", "words", "level", "passage"],
    )
    frame = frame.merge(known, on="document")
    frame["n"] = 2 * frame.correct + frame.partial
    return frame


def recall(frame: pd.DataFrame, system: str) -> float:
    own = frame[frame.system == system]
    return float(own.n.sum() / (2 * own.possible.sum()))


@pytest.mark.long
def test_slices_are_those_of_pandas(session: Session) -> None:
    found = by_slice(session.run("differ recall for new, base on T by document.source, document.level depth 2"))
    frame = frame_of_slices()
    whole = recall(frame, "new") - recall(frame, "base")
    masks = {
        'document.source = "radio"': frame.source == "radio",
        'document.source = "press"': frame.source == "press",
        'document.source = "the ""wire"""': frame.source == 'the "wire"',
        "document.source is missing": frame.source == "",
        **{f"document.level = {level}": frame.level == level for level in (1, 2, 3)},
    }
    pairs = {
        f"{one} and {other}": masks[one] & masks[other]
        for one in list(masks)[:4]
        for other in list(masks)[4:]
        if (masks[one] & masks[other]).any()
    }
    assert set(found) == {*masks, *pairs}
    by_system = frame.groupby("system")[["n", "possible"]].sum()
    (n_a, d_a), (n_b, d_b) = ((by_system.n[s], 2 * by_system.possible[s]) for s in ("new", "base"))
    for name, mask in (masks | pairs).items():
        inside, row = frame[mask], found[name]
        assert row["documents"] == inside.document.nunique()
        assert row["value_a"] == pytest.approx(recall(inside, "new"))
        assert row["value_b"] == pytest.approx(recall(inside, "base"))
        assert row["difference"] == pytest.approx(recall(inside, "new") - recall(inside, "base"))
        sums = inside.groupby("system")[["n", "possible"]].sum()
        more, longer = sums.n["new"] - sums.n["base"], 2 * (sums.possible["new"] - sums.possible["base"])
        part = (more * (d_a + d_b) - longer * (n_a + n_b)) / (2 * d_a * d_b)
        assert row["share"] == pytest.approx(part / whole)


def test_a_slice_is_a_condition_of_the_language(session: Session) -> None:
    for name, row in by_slice(
        session.run("differ recall for new, base on T by document.source, document.words depth 2 shuffles 9")
    ).items():
        if row["difference"] is None:
            continue
        (alone,) = session.run(f"compare recall for new, base on T where {name} shuffles 9").rows
        assert alone["difference"] == pytest.approx(row["difference"])
        assert alone["documents"] == row["documents"]


def test_shares_of_each_attribute_add_up_to_one(session: Session) -> None:
    result = session.run("differ recall, F for new, base on T by document.source, document.words, document.level")
    for measure in ("recall", "F(beta=1)"):
        for attribute in ("source", "words", "level"):
            shares = [
                float(row["share"] or 0)
                for row in result.rows
                if row["measure"] == measure and f"document.{attribute}" in str(row["slice"])
            ]
            assert sum(shares) == pytest.approx(1.0)


def test_numbers_are_cut_at_quartiles(session: Session) -> None:
    result = session.run("differ recall for new, base on T by document.words shuffles 9")
    words = sorted(float(str(attributes_of(k)[1])) for k in range(DOCUMENTS) if attributes_of(k)[1] != "")
    at = [words[-(-len(words) * quarter // 4) - 1] for quarter in (1, 2, 3)]
    low, middle, high = (f"{number:g}" for number in at)
    assert [row["slice"] for row in result.rows] == [
        f"document.words < {low}",
        f"document.words >= {low} and document.words < {middle}",
        f"document.words >= {middle} and document.words < {high}",
        f"document.words >= {high}",
        "document.words is missing",
    ]
    assert f"document.words on T is cut at its quartiles, {low}, {middle} and {high}" in result.notes


@pytest.mark.parametrize("measure", ["recall", "F", "mean(F)"])
def test_levels_of_the_whole_and_of_a_slice_are_those_of_compare(measure: str, session: Session) -> None:
    found = by_slice(session.run(f"differ {measure} for new, base on T by document.source shuffles 4999"))
    for name, row in found.items():
        (alone,) = session.run(f"compare {measure} for new, base on T where {name} test studentized").rows
        assert row["p"] == pytest.approx(alone["p"], abs=4 * (2 * 0.25 / 4999) ** 0.5)


def test_few_documents_are_exchanged_in_every_way(session: Session) -> None:
    result = session.run("differ accuracy for new, base on few by document.level level 0.3")
    assert "exact" in result.caption
    for name, row in by_slice(result).items():
        (alone,) = session.run(f"compare accuracy for new, base on few where {name} exact").rows
        assert row["p"] == pytest.approx(alone["p"])


def test_slices_of_few_documents_are_not_tested(session: Session) -> None:
    result = session.run("differ recall for new, base on T by document.passage shuffles 99")
    assert {row["p"] for row in result.rows} == {None}
    assert {row["p_adjusted"] for row in result.rows} == {None}
    few = "18 slices with fewer than 6 documents, not tested since p cannot get as low as 0.05"
    assert f"new and base, recall on T: {few}" in result.notes


def test_clusters_are_exchanged_together_also_where_slices_cut_them(session: Session) -> None:
    result = session.run(
        "differ recall for new, base on T by document.source exchange by document.passage shuffles 999"
    )
    assert "18 units of document.passage exchanged (90 documents)" in result.caption
    assert any("differs within units of document.passage" in note for note in result.notes)
    kept = session.run("differ recall for new, base on T by document.passage exchange by document.passage shuffles 99")
    assert not any("differs within" in note for note in kept.notes)
    assert kept.summary[0]["heterogeneity_p"] is None
    assert {row["shrunken"] for row in kept.rows} == {None}
    assert any("each slice is a single unit of document.passage" in note for note in kept.notes)


@pytest.mark.long
def test_documents_that_a_system_lacks_are_told_of(with_values: WithValues, tmp_path: Path) -> None:
    rows = [("t", system, f"d{k}", "m", k % 3) for system in "ab" for k in range(12) if (system, k) != ("b", 4)]
    with with_values(rows) as session:
        for asked in ("documents m for a, b on t", "differ m for a, b on t by document.x"):
            if "differ" in asked:
                path = write_csv(tmp_path / "x.csv", "test_set document x", (("t", f"d{k}", k % 2) for k in range(12)))
                list(session.results(f'load "{path}" as documents'))
            dropped, filled = (session.run(f"{asked} missing {word}") for word in ("drop", "zero"))
            assert "missing documents left out" in dropped.caption
            assert "t: left out 1 document that not every system has (missing: 1 for b)" in dropped.notes
            assert "missing documents count as nothing" in filled.caption
            assert "t: of 12 documents, those that a system lacks count as nothing: 1 for b" in filled.notes


@pytest.mark.long
def test_numbers_that_are_not_cut_are_told_of(with_values: WithValues, tmp_path: Path) -> None:
    rows = [("t", system, f"d{k}", "m", k % 3) for system in "ab" for k in range(12)]
    with with_values(rows) as session:
        lengths = (("t", f"d{k}", "n/a" if k == 3 else 10 * k) for k in range(12))
        list(session.results(f'load "{write_csv(tmp_path / "x.csv", "test_set document x", lengths)}" as documents'))
        notes = session.run("differ m for a, b on t by document.x").notes
    assert 'document.x is not cut at its quartiles: "n/a" is not a number' in notes


def test_units_can_be_exchanged(session: Session) -> None:
    plain = session.run("differ recall for new, base on T by document.source shuffles 99").rows
    units = session.run("differ recall for new, base on T by document.source exchange by unit shuffles 99").rows
    assert [row["difference"] for row in plain] == [row["difference"] for row in units]


def test_a_slice_that_is_the_whole(session: Session) -> None:
    result = session.run('differ recall for new, base on T by document.source where document.source = "radio"')
    (row,) = result.rows
    (whole,) = session.run('compare recall for new, base on T where document.source = "radio"').rows
    assert (row["share"], row["p_adjusted"]) == (1.0, row["p"])
    assert row["shrunken"] == pytest.approx(whole["difference"])
    assert row["p"] == pytest.approx(whole["p"], abs=0.02)
    assert result.summary[0]["heterogeneity_p"] is None
    assert any("is the same for all documents" in note for note in result.notes)


def test_systems_that_never_differ(session: Session) -> None:
    result = session.run(
        "define measure sure = possible / possible; differ sure for new, base on T by document.source shuffles 99"
    )
    assert {row["share"] for row in result.rows} == {None}
    assert {row["p"] for row in result.rows} == {row["p_adjusted"] for row in result.rows} == {1.0}
    assert {row["shrunken"] for row in result.rows} == {0.0}
    assert result.summary[0]["heterogeneity_p"] == 1.0


def test_the_order_of_the_systems_turns_the_signs_alone(session: Session) -> None:
    there = by_slice(session.run("differ F for new, base on T by document.source shuffles 99"))
    back = by_slice(session.run("differ F for base, new on T by document.source shuffles 99"))
    for name, row in there.items():
        assert (row["value_a"], row["value_b"]) == (back[name]["value_b"], back[name]["value_a"])
        assert row["difference"] == pytest.approx(-float(back[name]["difference"] or 0))
        assert row["share"] == pytest.approx(back[name]["share"])
        assert (row["p"], row["p_adjusted"]) == (back[name]["p"], back[name]["p_adjusted"])


def test_the_rest_of_a_question_changes_no_level(session: Session) -> None:
    alone = by_slice(session.run("differ recall for new, base on T by document.source shuffles 99"))
    together = session.run("differ F, recall for new, base on T by document.source, document.words shuffles 99").rows
    for row in together:
        if row["measure"] == "recall" and row["slice"] in alone:
            assert {name: row[name] for name in PAIR if name != "p_adjusted"} == {
                name: alone[row["slice"]][name] for name in PAIR if name != "p_adjusted"
            }


def test_a_limit_shows_fewer_and_adjusts_as_before(session: Session) -> None:
    question = "differ recall for new, base on T by document.source, document.words shuffles 99"
    assert session.run(f"{question} limit 3").rows == session.run(question).rows[:3]


def test_pairs_of_attributes_stand_in_the_order_of_their_levels(session: Session) -> None:
    rows = session.run("differ recall for new, base on T by document.source, document.level depth 2 shuffles 99").rows
    levels = [row["p_adjusted"] for row in rows if " and " in str(row["slice"])]
    known = [float(level) for level in levels if level is not None]
    assert known == sorted(known)
    assert None not in levels[: len(known)]


def test_several_test_sets_and_pairs(session: Session) -> None:
    result = session.run("differ accuracy for base, new, old on qa, few by document.level shuffles 99")
    assert len(result.sections) == 6
    assert len(result.summary) == 6
    assert {row["test_set"] for row in result.rows} == {"qa", "few"}


@pytest.mark.parametrize(
    ("question", "said", "hint"),
    [
        (
            "differ recall for new, base on T by document.sorce",
            "unknown attribute 'document.sorce'",
            "did you mean document.source or document.words or document.passage?",
        ),
        (
            "differ recall for new, base on T by system.site",
            "differ splits documents, and system.site is an attribute of systems",
            "attributes of documents: document.level, document.passage, document.source, document.words",
        ),
        (
            "differ recall for new, base on T by unit",
            "the documents of T have no units",
            None,
        ),
        (
            "differ recall for new, base on T by document.source depth 2",
            "depth 2 needs two attributes",
            "write by document.X, document.Y",
        ),
        (
            "differ recall for new, base on T by document.source, document.level depth 3",
            "depth must be a whole number from 1 to 2, not 3",
            None,
        ),
        (
            "differ mean(F) for new, base on T by document.source exchange by unit",
            "mean(F(beta=1)) is a mean over documents, so units cannot be exchanged",
            None,
        ),
        ("differ recall for new on T by document.source", "differ needs two systems, but there is only new on T", None),
        ("differ recall for new, base on T", "differ needs an attribute", "by document.source"),
    ],
)
def test_what_cannot_be_asked(question: str, said: str, hint: str | None, session: Session) -> None:
    with pytest.raises(QueryError) as caught:
        session.run(question)
    assert caught.value.message == said
    assert hint is None or hint in caught.value.hints


def test_too_many_slices(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalhouse.warehouse.comparing.slices.MOST_SLICES", 10)
    with pytest.raises(QueryError) as caught:
        session.run("differ recall for new, base on T by document.passage")
    assert caught.value.message == "that would be 18 slices on T; at most 10 are allowed"
    assert caught.value.hints == ("document.passage has 18 values",)
