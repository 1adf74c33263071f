"""Measures of rankings compared with ir_measures, which calls trec_eval, and with their papers if trec_eval does not
have them; how they are asked for; and how topics and items without judgments are treated.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from math import log2
from pathlib import Path

import ir_measures
import pytest
from ir_measures import AP, RR, Bpref, Judged, P, R, Rprec, Success, nDCG

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.upgrading import check
from tests.conftest import write_csv
from tests.empty import create
from tests.store.texts import Complaints, Load

Scores = Mapping[str, Mapping[str, float]]
Grades = Mapping[str, Mapping[str, int]]

GAINS = {-1: 0, 0: 0, 1: 1, 2: 3, 3: 7}
"""2^grade − 1."""

LEVELS, CUTOFFS = (1, 2, 3), (1, 3, 5, 10, 100)

OF_TREC_EVAL = {
    **{f"AP@{k}(rel={rel})": AP(rel=rel) @ k for rel in LEVELS for k in CUTOFFS},
    **{f"P@{k}(rel={rel})": P(rel=rel) @ k for rel in LEVELS for k in CUTOFFS},
    **{f"R@{k}(rel={rel})": R(rel=rel) @ k for rel in LEVELS for k in CUTOFFS},
    **{f"Success@{k}(rel={rel})": Success(rel=rel) @ k for rel in LEVELS for k in CUTOFFS},
    **{f"AP(rel={rel})": AP(rel=rel) for rel in LEVELS},
    **{f"RR(rel={rel})": RR(rel=rel) for rel in LEVELS},
    **{f"Rprec(rel={rel})": Rprec(rel=rel) for rel in LEVELS},
    **{f"Bpref(rel={rel})": Bpref(rel=rel) for rel in LEVELS},
    **{f"nDCG@{k}": nDCG @ k for k in CUTOFFS},
    **{f"nDCG@{k}(dcg=exp-log2)": nDCG(gains=GAINS) @ k for k in CUTOFFS},
    "nDCG": nDCG,
    "nDCG(dcg=exp-log2)": nDCG(gains=GAINS),
    **{f"AP@{k}(unjudged=removed)": AP(judged_only=True) @ k for k in CUTOFFS},
    **{f"P@{k}(rel=2, unjudged=removed)": P(rel=2, judged_only=True) @ k for k in CUTOFFS},
    **{f"nDCG@{k}(unjudged=removed)": nDCG(judged_only=True) @ k for k in CUTOFFS},
    "RR(unjudged=removed)": RR(judged_only=True),
    "Rprec(unjudged=removed)": Rprec(judged_only=True),
}


def collection(seed: int, ties: bool) -> tuple[Grades, Scores]:
    """Topics with grades from -1 on, one of them without anything relevant, and a run that leaves three of them out."""
    chance = random.Random(seed)
    names = [f"d{k}" for k in range(80)]
    grades = {
        f"t{t}": {d: chance.choice((-1, 0, 0, 0, 1, 2, 3)) for d in chance.sample(names, chance.randrange(1, 60))}
        for t in range(30)
    }
    grades["t29"] = {"d1": 0, "d2": -1}
    scores = {
        topic: {
            d: chance.randrange(8) / 4 if ties else chance.random()
            for d in chance.sample(names, chance.randrange(1, 70))
        }
        for topic in [*grades][3:]
    }
    return grades, scores


def lines(grades: Grades, scores: Scores, system: str = "base") -> tuple[str, str]:
    """Qrels and a run."""
    qrels = "".join(f"{topic} 0 {item} {grade}\n" for topic, of in grades.items() for item, grade in of.items())
    run = "".join(
        f"{topic} Q0 {item} 1 {score} {system}\n" for topic, of in scores.items() for item, score in of.items()
    )
    return qrels, run


ON = {"test_set": "T"}


def values(session: Session, *measures: str, how: str = "") -> dict[str, dict[str, float]]:
    """By measure and topic."""
    found = session.run(f"score {', '.join(measures)} for base on T by document {how}")
    labels = [column.name for column in found.table.columns][5 : 5 + len(measures)]
    return {
        measure: {str(row["document"]): float(row[label]) for row in found.rows}  # type: ignore[arg-type]
        for measure, label in zip(measures, labels, strict=True)
    }


@pytest.fixture(scope="module", params=["with ties", "without ties"])
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Session, Grades, Scores]]:
    folder = tmp_path_factory.mktemp("judged")
    grades, scores = collection(7, request.param == "with ties")
    with in_memory() as database:
        for name, text in zip(("qrels", "run"), lines(grades, scores), strict=True):
            (folder / name).write_text(text)
            load(database, folder / name, "trec", fields=ON)
        assert check(database) == ()
        yield Session(database), grades, scores


def test_values_are_those_of_trec_eval(judged: tuple[Session, Grades, Scores]) -> None:
    session, grades, scores = judged
    found = values(session, *OF_TREC_EVAL)
    # One by one: together, nDCG@1 with and without gains of its own are now and then taken for one another.
    wanted = {
        name: {one.query_id: one.value for one in ir_measures.iter_calc([measure], grades, scores)}
        for name, measure in OF_TREC_EVAL.items()
    }
    wanted = {name: {topic: value for topic, value in of.items() if topic in scores} for name, of in wanted.items()}
    for name in OF_TREC_EVAL:
        assert found[name] == pytest.approx(wanted[name], abs=1e-12), name


def test_judged_and_reciprocal_ranks_are_those_of_ir_measures(tmp_path: Path) -> None:
    """They break ties the other way round, so there are none."""
    grades, scores = collection(11, ties=False)
    asked = {**{f"Judged@{k}": Judged @ k for k in CUTOFFS}, **{f"RR@{k}(rel=2)": RR(rel=2) @ k for k in CUTOFFS}}
    with in_memory() as database:
        for name, text in zip(("qrels", "run"), lines(grades, scores), strict=True):
            (tmp_path / name).write_text(text)
            load(database, tmp_path / name, "trec", fields=ON)
        found = values(Session(database), *asked)
    for name, measure in asked.items():
        known = ir_measures.iter_calc([measure], grades, scores)
        wanted = {one.query_id: one.value for one in known if one.query_id in scores}
        assert found[name] == pytest.approx(wanted, abs=1e-12), name


def ranked(grades: Mapping[str, int], scores: Mapping[str, float]) -> list[int]:
    """The grades of the items of a run in their order, 0 where there is none."""
    order = sorted(scores, key=lambda item: (scores[item], item), reverse=True)
    return [max(grades.get(item, 0), 0) for item in order]


def err(list_of_grades: list[int], highest: int) -> float:
    """Chapelle, Metzler, Zhang and Grinspan (2009), algorithm 2."""
    going_on, total = 1.0, 0.0
    for place, grade in enumerate(list_of_grades, start=1):
        stops = (2 ** min(grade, highest) - 1) / 2**highest
        total += going_on * stops / place
        going_on *= 1 - stops
    return total


def test_expected_reciprocal_ranks_are_those_of_their_paper(judged: tuple[Session, Grades, Scores]) -> None:
    session, grades, scores = judged
    found = values(session, "ERR", "ERR@5", "ERR@5(max=4)", "ERR@10(max=2)")
    lists = {topic: ranked(grades[topic], of) for topic, of in scores.items()}
    assert found["ERR"] == pytest.approx({topic: err(of, 3) for topic, of in lists.items()}, abs=1e-12)
    assert found["ERR@5"] == pytest.approx({topic: err(of[:5], 3) for topic, of in lists.items()}, abs=1e-12)
    assert found["ERR@5(max=4)"] == pytest.approx({topic: err(of[:5], 4) for topic, of in lists.items()}, abs=1e-12)
    assert found["ERR@10(max=2)"] == pytest.approx({topic: err(of[:10], 2) for topic, of in lists.items()}, abs=1e-12)


def test_rank_biased_precision_is_that_of_its_paper(judged: tuple[Session, Grades, Scores]) -> None:
    """(1 − p) · Σ p^(i − 1) · r_i (Moffat and Zobel 2008, equation 4)."""
    session, grades, scores = judged
    found = values(session, "RBP", "RBP@5(p=0.5, rel=2)")
    lists = {topic: ranked(grades[topic], of) for topic, of in scores.items()}

    def rbp(of: list[int], p: float, rel: int) -> float:
        return (1 - p) * sum(p**place for place, grade in enumerate(of) if grade >= rel)

    assert found["RBP"] == pytest.approx({topic: rbp(of, 0.8, 1) for topic, of in lists.items()}, abs=1e-12)
    wanted = {topic: rbp(of[:5], 0.5, 2) for topic, of in lists.items()}
    assert found["RBP@5(p=0.5, rel=2)"] == pytest.approx(wanted, abs=1e-12)


def test_missing_zero_is_trec_eval_c(judged: tuple[Session, Grades, Scores]) -> None:
    """The mean over all judged topics, as ir_measures takes it; else that over the topics of the run."""
    session, grades, scores = judged
    everywhere = session.run("score AP, nDCG@10, Judged@5 for all on T missing zero")
    [row] = everywhere.rows
    assert row["documents"] == len(grades)
    wanted = ir_measures.calc_aggregate([AP, nDCG @ 10], grades, scores)
    assert row["AP"] == pytest.approx(wanted[AP], abs=1e-12)
    assert row["nDCG@10"] == pytest.approx(wanted[nDCG @ 10], abs=1e-12)
    assert "judged topics that a run leaves out count as 0, as with trec_eval -c" in everywhere.caption
    [own] = session.run("score AP for all on T").rows
    assert own["documents"] == len(scores)
    assert own["AP"] == pytest.approx(wanted[AP] * len(grades) / len(scores), abs=1e-12)


def test_a_thousand_places_of_large_grades_do_not_overflow(database: Database, load_text: Load) -> None:
    grades = {"t": {f"d{k:04}": 999_999_999 - k for k in range(1000)}}
    scores = {"t": {f"d{k:04}": 1.0 + k for k in range(1000)}}
    for name, text in zip(("qrels", "run"), lines(grades, scores), strict=True):
        load_text(text, "trec", name, fields=ON)
    [row] = Session(database).run("score nDCG, ERR, nDCG(dcg=exp-log2) for all on T").rows
    best = [999_999_999 - k for k in range(1000)]
    discounts = [log2(place + 2) for place in range(1000)]
    wanted = sum(g / d for g, d in zip(best[::-1], discounts, strict=True)) / sum(
        g / d for g, d in zip(best, discounts, strict=True)
    )
    assert row["nDCG"] == pytest.approx(wanted, abs=1e-12)


# --- how they are asked for -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Three systems on four topics; `short` leaves one out. To be asked only."""
    files = {"q": "".join(f"{t} 0 d{k} {int((k + t) % 3 == 0)}\n" for t in range(4) for k in range(6))}
    for place, system in enumerate(("base", "new", "short")):
        topics = range(3 if system == "short" else 4)
        files[system] = "".join(
            f"{t} Q0 d{(k * (place + 1) + t) % 7} 1 {9 - k} {system}\n" for t in topics for k in range(6)
        )
    folder = tmp_path_factory.mktemp("small")
    with in_memory() as database:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
            load(database, folder / name, "trec", fields=ON)
        yield Session(database)


@pytest.mark.long
@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("ap", "AP"),
        ("MAP", "MAP"),
        ("MRR@10", "MRR@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("recall_5", "R@5"),
        ("Recall@5", "Recall@5"),
        ("P(k=3)", "P@3"),
        ("p@3(rel=2)", "P@3(rel=2)"),
        ("mean(AP)", "AP"),
        ("rbp(p=0.95)", "RBP(p=0.95)"),
        ("nDCG@3(dcg=exp-log2, unjudged=removed)", "nDCG@3(dcg=exp-log2, unjudged=removed)"),
    ],
)
def test_names_are_found_in_any_case_and_by_their_synonyms(small: Session, written: str, label: str) -> None:
    assert label in small.run(f"score {written} for all on T").rows[0]


@pytest.mark.parametrize(
    ("measure", "message", "hint"),
    [
        ("P@0", "k is a whole number from 1 to 1000000, not 0", ""),
        ("P@1000000000", "k is a whole number from 1 to 1000000, not 1000000000", ""),
        ("P@5(rel=1.5)", "rel is a whole number from 1 to 10000, not 1.5", ""),
        ("nDCG(dcg=log10)", "dcg is one of log2, exp-log2, not log10", ""),
        ("P", "unknown measure 'P'", "write P@10"),
        ("RBP(p=1)", "p is a number from 0.0001 to 0.9999, not 1", ""),
        ("Bpref@10", "Bpref takes no cutoff", "write Bpref"),
    ],
)
def test_what_cannot_be_asked_is_said(small: Session, measure: str, message: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        small.run(f"score {measure} for all on T")
    assert caught.value.message == message
    assert not hint or hint in caught.value.hints


def test_an_unknown_measure_is_told_what_the_test_set_has(small: Session) -> None:
    with pytest.raises(QueryError) as caught:
        small.run("score G7 for all on T")
    assert caught.value.hints[0].startswith("measures: 11pt_avg, AP, BPM@k, Bpref, ")


@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "compare AP, P@3 for all against base on T missing zero",
        "compare AP for base, new on T test wilcoxon",
        "compare nDCG@3 for base, new on T test t",
        "compare AP for base, short on T missing drop",
        "compare AP for base, short on T missing bounds",
        "compare AP for base, new on T margin 0.1",
        "group AP for all on T missing zero adjust holm",
        "rank nDCG@5 for base, new on T",
        "score AP, RR for all on T interval",
        "score AP for all on T standardized",
        "plot score AP for all on T",
        "plot compare AP for base, new on T",
        "coverage of rankings for all on T",
        "expect score AP for base on T at least 0.1",
    ],
)
def test_whatever_values_have_they_have(small: Session, statement: str) -> None:
    assert small.run(statement).rows or small.run(statement).chart


def test_all_measures_of_a_statement_are_one_query(small: Session) -> None:
    for statement in ("score AP, P@3, RR for base, new on T", "compare AP, P@3, RR for base, new on T"):
        explained = small.run(f"explain {statement}").rows
        computing = [row["what"] for row in explained if row["stage"] == "sql" and "m0" in str(row["what"])]
        assert len(computing) == 1
        assert "m2" in str(computing[0])


def test_systems_with_other_topics_are_noted_and_not_compared_unasked(small: Session) -> None:
    notes = small.run("score AP for all on T").notes
    assert any("not all systems were scored on the same topics" in note for note in notes)
    with pytest.raises(QueryError, match="1 topic of T is missing for some systems: 3"):
        small.run("compare AP for base, short on T")


def test_mean_ranks_with_missing_zero_count_topics_that_a_run_leaves_out(tmp_path: Path) -> None:
    with in_memory() as database:
        for year in ("T1", "T2"):
            for name, text in (
                ("q", "1 0 a 1\n2 0 a 1\n"),
                ("whole", "1 Q0 a 1 2 whole\n2 Q0 b 1 2 whole\n2 Q0 a 2 1 whole\n"),
                ("half", "1 Q0 a 1 2 half\n"),
            ):
                (tmp_path / name).write_text(text, encoding="utf-8")
                load(database, tmp_path / name, "trec", fields={"test_set": year})
        session = Session(database)
        with pytest.raises(QueryError, match="1 topic of T1 is missing for some systems: 2"):
            session.run("rank RR for all on T1, T2 over test sets by mean rank")
        without = session.run("rank RR for all on T1, T2 over test sets by mean rank missing drop")
        with_zero = session.run("rank RR for all on T1, T2 over test sets by mean rank missing zero")
    assert {row["system"]: row["mean_rank"] for row in without.rows} == {"half": 1.5, "whole": 1.5}
    assert {row["system"]: row["mean_rank"] for row in with_zero.rows} == {"whole": 1.0, "half": 2.0}
    assert "as with trec_eval -c" in with_zero.caption
    assert "trec_eval" not in without.caption


# --- as tables --------------------------------------------------------------------------------------------------------

JUDGMENTS = "test_set,document,item,grade\nT,1,A,1\nT,1,B,0\n"
RANKINGS = "test_set,system,document,item,rank\n"


def test_tables_of_rankings_load_without_scores(database: Database, load_text: Load) -> None:
    load_text(JUDGMENTS, "judgments")
    load_text(RANKINGS + "T,base,1,B,1\nT,base,1,A,2\n", "rankings")
    session = Session(database)
    assert session.run("score RR for all on T").rows[0]["RR"] == 0.5
    assert session.run("show systems").rows[0]["test_sets"] == "T"
    assert check(database) == ()


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("T,base,1,A,1\nT,base,1,A,2\n", "in:3: T, base, 1, A has rank 2, but on line 2 it has rank 1"),
        ("T,base,1,A,0\n", "in:2: rank is '0', not a whole number from 1 to 999999999"),
        ("T,base,1,A,1\nT,base,1,B,1\n", "in:2: the ranks of T, base, 1 are not 1 to 2"),
        ("T,base,1,A,1\nT,base,1,B,3\n", "in:2: the ranks of T, base, 1 are not 1 to 2"),
    ],
)
def test_ranks_that_are_no_order_are_refused(complaints: Complaints, rows: str, sentence: str) -> None:
    assert complaints(RANKINGS + rows, "rankings", "in") == [sentence]


def test_a_list_is_added_to_at_its_end(load_text: Load) -> None:
    load_text(RANKINGS + "T,base,1,A,1\n", "rankings")
    with pytest.raises(DataError, match="the ranks of T, base, 1 are not 1 to 2"):
        load_text(RANKINGS + "T,base,1,B,1\n", "rankings")
    load_text(RANKINGS + "T,base,1,B,2\n", "rankings")


def test_runs_without_judgments_say_what_is_missing(tmp_path: Path) -> None:
    write_csv(tmp_path / "r.csv", "test_set system document item rank", [("T", s, "q", "i", 1) for s in "ab"])
    with create(tmp_path / "w.duckdb") as database:
        load(database, tmp_path / "r.csv", "rankings")
    with Session.open(tmp_path / "w.duckdb") as unjudged:
        notes = unjudged.run("score AP for all on T").notes
        assert "T: no rows for a, b; they have no list for a judged topic" in notes
        with pytest.raises(QueryError, match="no topic of T in this statement has both lists and judgments"):
            unjudged.run("compare AP for a, b on T")


def test_rbp_is_that_of_trec_eval(tmp_path: Path) -> None:
    """What trec_eval prints as rbp is RBP(p=0.9); RBP alone is RBP(p=0.8)."""
    (tmp_path / "qrels.txt").write_text("1 0 p 1\n1 0 q 0\n")
    (tmp_path / "s.run").write_text("1 Q0 p 1 0.9 s\n")
    (tmp_path / "s.study").write_text("rbp\t1\t0.1000\nmap\t1\t1.0000\nrunid\tall\ts\n")
    create(tmp_path / "w.duckdb").close()
    with Session.open(tmp_path / "w.duckdb") as session:
        for file in ("qrels.txt", "s.run", "s.study"):
            session.run(f'load "{tmp_path / file}" as auto')
        [row] = session.run(f'score rbp, RBP(p=0.9), RBP for all on "{tmp_path.name}"').rows
    values = [row[column] for column in row if column.casefold().startswith("rbp")]
    assert values[0] == pytest.approx(0.1)
    assert values[-1] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("printed", "computed"),
    [("err", "ERR"), ("judged", "Judged")],
)
def test_a_printed_measure_is_not_answered_by_another_of_its_name(tmp_path: Path, printed: str, computed: str) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 p 1\n1 0 q 0\n")
    (tmp_path / "s.run").write_text("1 Q0 p 1 0.9 s\n")
    (tmp_path / "s.study").write_text(f"{printed}\t1\t0.1000\nmap\t1\t1.0000\nrunid\tall\ts\n")
    create(tmp_path / "w.duckdb").close()
    with Session.open(tmp_path / "w.duckdb") as session:
        for file in ("qrels.txt", "s.run", "s.study"):
            session.run(f'load "{tmp_path / file}" as auto')
        on = f'on "{tmp_path.name}"'
        with pytest.raises(QueryError, match=f"{printed} on .* could be what was loaded as {printed}, or") as caught:
            session.run(f"score {printed} for all {on}")
        [hint] = caught.value.hints
        first, second = hint.removeprefix("write ").split(" or ")
        assert session.run(f"score {first} for all {on}").rows[0][printed] == pytest.approx(0.1)
        assert second.startswith(computed)
        assert len(session.run(f"score {second} for all {on}").rows) == 1
        assert session.run(f"score AP for all {on}").rows[0]["AP"] == 1
