"""`documents`: its values, the sum of its shares, its order, and its message if there is no difference to share."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import WithValues, write_csv
from tests.empty import create


def number(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)


def families(result: Result) -> dict[tuple[Cell, ...], list[dict[str, Cell]]]:
    found: dict[tuple[Cell, ...], list[dict[str, Cell]]] = {}
    for row in result.rows:
        found.setdefault(tuple(row[name] for name in ("test_set", "measure", "system_a", "system_b")), []).append(row)
    return found


QUESTIONS = (
    ("sample", "F, recall, precision, error, mean(F) of extraction for GE, UMASS, MITRE on TST3, TST4"),
    ("sample", "F, MCC, kappa, fallout, Jaccard, balanced-accuracy of filtering for GE, UMASS on TST3"),
    ("sample", "precision(optional=excluded) of filtering for GE, allrel on TST3"),
    ("worked", "F, mean(recall) for A, B, C on abc"),
    ("clustered", "AP, P@3, nDCG@2 for all on robust missing zero"),
    ("clustered", "precision, MCC for all on robust"),
    ("clustered", "accuracy for all on reading"),
    ("imported", "WER, effort for all on speech"),
    ("imported", "accuracy for new, old on seven"),
    ("imported", "helpful for tuned, late on faq missing drop"),
    ("imported", "helpful for tuned, late on faq missing zero"),
    ("replicated", "accuracy, seconds for base, tuned on qa replicates by system.model missing drop"),
)


@pytest.mark.long
@pytest.mark.parametrize(("data", "question"), QUESTIONS)
def test_shares_add_up_to_one_and_contributions_to_the_difference(
    data: str, question: str, warehouses: dict[str, Path]
) -> None:
    with Session.open(warehouses[data]) as session:
        found = families(session.run(f"documents {question}"))
        compared = {
            tuple(row[name] for name in ("test_set", "measure", "system_a", "system_b")): row
            for row in session.run(f"compare {question} shuffles 9").rows
        }
        assert set(found) == set(compared)
        for key, rows in found.items():
            whole = number(compared[key]["difference"])
            parts = [number(row["contribution"]) for row in rows]
            assert sum(parts) == pytest.approx(whole, abs=1e-11 * (1e-9 + sum(map(abs, parts))) + 1e-14)
            if all(row["share"] is None for row in rows):
                assert whole == pytest.approx(0.0, abs=1e-12)
            else:
                shares = [number(row["share"]) for row in rows]
                assert sum(shares) == pytest.approx(1.0, abs=1e-9 * sum(map(abs, shares)))


def test_values_are_those_of_each_document_alone_and_shares_those_of_the_formula(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["sample"]) as session:
        rows = session.run("documents recall of extraction for GE, UMASS on TST3").rows
        sql = """select document, system, 2*sum(correct)+sum(partial) as n, 2*sum(possible) as d from scores
                 where test_set = ''TST3'' and system in (''GE'', ''UMASS'') group by all""".replace("''", "'")
        summed = {
            (row["document"], row["system"]): (int(number(row["n"])), int(number(row["d"])))
            for row in session.run(f'sql "{" ".join(sql.split())}"').rows
        }
        alone = {
            system: {
                row["document"]: row["recall"]
                for row in session.run(f"score recall of extraction for {system} on TST3 by document").rows
            }
            for system in ("GE", "UMASS")
        }
    totals = {
        system: [sum(of[place] for (_, owner), of in summed.items() if owner == system) for place in (0, 1)]
        for system in ("GE", "UMASS")
    }
    (n_a, d_a), (n_b, d_b) = totals["GE"], totals["UMASS"]
    assert len(rows) == 100
    for row in rows:
        first, second = (summed[row["document"], system] for system in ("GE", "UMASS"))
        part = Fraction((first[0] - second[0]) * (d_a + d_b) - (first[1] - second[1]) * (n_a + n_b), 2 * d_a * d_b)
        assert row["contribution"] == pytest.approx(float(part), abs=1e-15)
        assert row["share"] == pytest.approx(float(part / (Fraction(n_a, d_a) - Fraction(n_b, d_b))))
        assert (row["value_a"], row["value_b"]) == (alone["GE"][row["document"]], alone["UMASS"][row["document"]])
        known = row["value_a"] is not None and row["value_b"] is not None
        assert (row["difference"] is not None) == known
    shares = [number(row["share"]) for row in rows]
    assert shares == sorted(shares, reverse=True)


def test_only_lists_where_one_system_alone_is_right(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["imported"]) as session:
        better = session.run("documents accuracy for new, old on seven only new").rows
        worse = session.run("documents accuracy for new, old on seven only old").rows
        lower = session.run("documents WER for kaldi, hybrid on speech only hybrid").rows
    assert [row["document"] for row in better] == [f"q{k:02}" for k in range(7)]
    assert {(row["value_a"], row["value_b"], row["share"]) for row in better} == {(1.0, 0.0, 1 / 7)}
    assert worse == []
    assert lower
    assert all(number(row["value_a"]) > number(row["value_b"]) for row in lower)


def test_systems_that_are_equal_have_no_difference_to_share_out(with_values: WithValues) -> None:
    rows = [("t", system, f"d{k}", "accuracy", (k + place) % 2) for place, system in enumerate("ab") for k in range(4)]
    with with_values(rows) as session:
        result = session.run("documents accuracy for a, b on t")
    assert {row["share"] for row in result.rows} == {None}
    assert [row["contribution"] for row in result.rows] == [0.25, 0.25, -0.25, -0.25]
    assert "so there is no difference to share out" in result.caption


def test_values_that_are_equal_but_for_rounding_have_no_shares(with_values: WithValues) -> None:
    # 0.1 + 0.2 is not 0.3 in floating point.
    rows = [
        ("t", "a", "d0", "m", 0.1),
        ("t", "a", "d1", "m", 0.2),
        ("t", "b", "d0", "m", 0.3),
        ("t", "b", "d1", "m", 0.0),
    ]
    with with_values(rows) as session:
        assert {row["share"] for row in session.run("documents m for a, b on t").rows} == {None}


def test_systems_that_never_differ(with_values: WithValues) -> None:
    with with_values([("t", system, f"d{k}", "m", 1) for system in "ab" for k in range(3)]) as session:
        result = session.run("documents m for a, b on t")
    assert {row["contribution"] for row in result.rows} == {0.0}
    assert "m of a − b on t: the two systems do not differ on any document" in result.notes


def test_large_shares_are_told(with_values: WithValues) -> None:
    rows = [("t", "a", f"d{k:03}", "m", float(k < 50) + (k == 100) / 2) for k in range(101)]
    rows += [("t", "b", f"d{k:03}", "m", float(50 <= k < 100)) for k in range(101)]
    with with_values(rows) as session:
        result = session.run("documents m for a, b on t")
    assert result.rows[0]["share"] == pytest.approx(2.0)
    assert any("nearly cancels out" in note for note in result.notes)


def test_a_document_without_a_denominator_has_no_value_and_may_contribute(tmp_path: Path) -> None:
    header = "test_set system document possible actual correct partial"
    counts = [
        ("t", "a", "d0", 4, 4, 4, 0),
        ("t", "a", "d1", 0, 0, 0, 0),
        ("t", "b", "d0", 4, 4, 4, 0),
        ("t", "b", "d1", 0, 4, 0, 0),
    ]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "c.csv", header, counts), "scores")
    with Session.open(tmp_path / "w.duckdb") as session:
        first, second = session.run("documents precision for a, b on t").rows
    assert (first["document"], first["value_a"], first["value_b"], first["difference"]) == ("d1", None, 0.0, None)
    assert (first["share"], second["share"]) == (1.0, 0.0)


def test_a_limit_takes_the_first_of_each_pair(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["sample"]) as session:
        all_rows = families(session.run("documents F of extraction for GE, UMASS, MITRE on TST3"))
        some = families(session.run("documents F of extraction for GE, UMASS, MITRE on TST3 limit 4"))
    assert {key: rows[:4] for key, rows in all_rows.items()} == some


@pytest.mark.long
def test_many_documents_are_listed_by_name(with_values: WithValues) -> None:
    many = 20_001
    rows = [
        ("t", system, f"d{k:05}", "m", int(k % 7 < 3 + place)) for place, system in enumerate("ab") for k in range(many)
    ]
    with with_values(rows) as session:
        result = session.run("documents m for b, a on t")
    assert len(result.rows) == many
    assert result.rows[0]["document"] == "d00003"
    assert number(result.rows[0]["share"]) * sum(k % 7 == 3 for k in range(many)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "said", "hint"),
    [
        ("documents F for GE, UMASS on TST3 only GEE", "GEE is not one of the systems compared", "did you mean GE?"),
        (
            "documents F for GE, UMASS on TST3 only MITRE",
            "MITRE is not one of the systems compared",
            "systems: GE, UMASS",
        ),
        (
            "documents F of published for GE, UMASS on TST3",
            "published figures have no documents, so their differences cannot be traced to documents",
            None,
        ),
        ("documents F for GE on TST3", "documents needs two systems, but there is only GE on TST3", None),
        (
            "documents F for GE, UMASS on TST3 missing bounds",
            "missing bounds works only with compare",
            "write missing drop, or missing zero",
        ),
        ("documents F for GE, random(s=0.5) on TST3", "random(s=0.5) has only expected values, no decisions", None),
    ],
)
def test_what_cannot_be_asked(question: str, said: str, hint: str | None, warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["sample"]) as session, pytest.raises(QueryError) as caught:
        session.run(question)
    assert caught.value.message == said
    assert hint is None or hint in caught.value.hints


def test_an_area_has_no_documents_of_its_own(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["imported"]) as session, pytest.raises(QueryError) as caught:
        session.run("documents auc for bayes, tree on mail")
    assert "it cannot be split by document" in caught.value.message


def test_texts_stand_beside_documents(tmp_path: Path) -> None:
    long = "why " * 60
    asked = [("q1", long, "4"), ("q2", "Capital of Peru?", "Lima"), ("q3", "one\ntwo", "Bogota")]
    answers = {"new": ("4", "Lima", "=cmd"), "base": ("5", "Quito", "Bogota")}
    rows = [
        (system, name, question, target, given[place], int(given[place] == target))
        for system, given in answers.items()
        for place, (name, question, target) in enumerate(asked)
    ]
    path = write_csv(tmp_path / "t.csv", "model id input target output correct", rows)
    with create(tmp_path / "w.duckdb") as database:
        load(database, path, "table", fields={"test_set": "qa"}, texts=True)
    with Session.open(tmp_path / "w.duckdb") as session:
        result = session.run("documents accuracy for new, base on qa")
        turned = session.run("documents accuracy for base, new on qa only base")
    assert [
        tuple(row[name] for name in ("document", "input", "reference", "output_a", "output_b")) for row in result.rows
    ] == [
        ("q1", long, "4", "4", "5"),
        ("q2", "Capital of Peru?", "Lima", "Lima", "Quito"),
        ("q3", "one\ntwo", "Bogota", "=cmd", "Bogota"),
    ]
    assert [(row["document"], row["output_a"], row["output_b"]) for row in turned.rows] == [("q3", "Bogota", "=cmd")]
    screen = render(result, "table", Style(width=160))
    assert "why why why why why why why why why why…" in screen
    assert "one two" in screen
    assert long.strip() in render(result, "html", Style())


def test_documents_without_texts_have_none(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["imported"]) as session:
        result = session.run("documents accuracy for new, old on seven")
    assert {row[name] for row in result.rows for name in ("input", "reference", "output_a", "output_b")} == {None}
    assert "input" not in render(result, "table", Style(width=200))
