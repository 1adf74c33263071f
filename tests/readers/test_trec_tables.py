"""Qrels and runs in tables, in JSON and in three columns: the same rankings as in the columns of TREC, and what
pytrec_eval computes of the same dictionaries.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.loading.readers import READERS, Recognition, Start
from evalhouse.warehouse.loading.readers.recognition import recognize_file
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Complaints, Load

ON = {"test_set": "T"}
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
RUN = {"q1": {"d1": 2.5, "d2": 1.5}, "q2": {"d4": 3.0, "d3": 1.0}}


def table(header: str, *rows: str, separator: str = ",") -> str:
    return "".join(line.replace(",", separator) + "\n" for line in (header, *rows))


RUNS = {
    "run.json": json.dumps(RUN),
    "run.indented.json": json.dumps(RUN, indent=2),
    "terrier.csv": table(
        "qid,docid,docno,rank,score,query",
        "q1,7,d1,0,2.5,x y",
        "q1,8,d2,1,1.5,x y",
        'q2,9,d4,0,3.0,"z,\nz"',
        "q2,7,d3,1,1.0,z",
    ),
    "frame.tsv": table("query_id,doc_id,score", "q1,d1,2.5", "q1,d2,1.5", "q2,d4,3.0", "q2,d3,1.0", separator="\t"),
    "lines.jsonl": "".join(
        json.dumps({"query_id": topic, "doc_id": item, "score": score}) + "\n"
        for topic, items in RUN.items()
        for item, score in items.items()
    ),
    "marco.tsv": "q1\td1\t1\nq1\td2\t2\nq2\td4\t1\nq2\td3\t2\n",
}  # fmt: skip

GRADES = {
    "qrels.json": json.dumps({"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}),
    "test.tsv": table("query-id,corpus-id,score", "q1,d1,1", "q1,d2,0", "q2,d3,2", separator="\t"),
    "qrels.csv": table("qid,docno,label", "q1,d1,1", "q1,d2,0.0", "q2,d3,2"),
    "judged.jsonl": "".join(
        json.dumps({"query_id": topic, "doc_id": item, "relevance": grade, "iteration": "0"}) + "\n"
        for topic, item, grade in (("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d3", 2))
    ),
}


def values(database: Database, *measures: str) -> dict[tuple[str, str], float]:
    rows = Session(database).run(f"score {', '.join(measures)} of rankings on T by document missing zero").rows
    return {(str(row["document"]), measure): float(row[measure]) for row in rows for measure in measures}  # type: ignore[arg-type]


@pytest.mark.parametrize("file", RUNS)
def test_a_run_in_another_form_is_the_run(database: Database, load_text: Load, file: str) -> None:
    load_text(QRELS, "trec", "qrels.txt", fields=ON)
    load_text(RUNS[file], "trec", file, fields=ON)
    ranked = database.rows(Sql("select system, document, rank, item from rankings order by document, rank"))
    assert [row[1:] for row in ranked] == [("q1", 1, "d1"), ("q1", 2, "d2"), ("q2", 1, "d4"), ("q2", 2, "d3")]
    assert {row[0] for row in ranked} == {Path(file).stem}
    assert values(database, "RR", "nDCG@10")["q2", "RR"] == 0.5
    assert check(database) == ()


@pytest.mark.parametrize("file", GRADES)
def test_qrels_in_another_form_are_the_qrels(database: Database, load_text: Load, file: str) -> None:
    load_text(GRADES[file], "trec", file, fields=ON)
    judged = database.rows(Sql("select document, item, grade from judgments order by all"))
    assert judged == [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d3", 2)]
    assert database.rows(Sql("select count(*) from labels")) == [(3,)]


@pytest.mark.parametrize("file", [*RUNS, *GRADES])
def test_each_is_recognized(database: Database, tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text({**RUNS, **GRADES}[file])
    known = recognize_file(tmp_path / file, database)
    assert known is not None
    assert (known.reader, known.role.name, known.unsure) == ("trec", "KEY" if file in GRADES else "FACTS", "")


def test_a_table_in_parquet(database: Database, load_text: Load) -> None:
    load_text(QRELS, "trec", "qrels.txt", fields=ON)
    rows = [{"q_id": topic, "doc_id": item, "score": score} for topic, of in RUN.items() for item, score in of.items()]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), "ours.parquet")
    assert recognize_file(Path("ours.parquet"), database).reader == "trec"  # type: ignore[union-attr]
    load(database, Path("ours.parquet"), "trec", fields=ON)
    assert values(database, "RR")["q2", "RR"] == 0.5


NAMES = st.text("abc'é\"\\ ,", min_size=1, max_size=3).map(str.strip).filter(bool)
TOPICS = st.dictionaries(
    NAMES, st.dictionaries(NAMES, st.integers(0, 8), min_size=1, max_size=6), min_size=1, max_size=4
)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(grades=TOPICS, scores=TOPICS)
def test_dictionaries_agree_with_pytrec_eval(
    database: Database, load_text: Load, grades: dict[str, dict[str, int]], scores: dict[str, dict[str, int]]
) -> None:
    """Runs with ties, topics without output, and names with quotes."""
    runs = {topic: {item: score / 4 + 0.1 for item, score in items.items()} for topic, items in scores.items()}
    load_text(json.dumps(grades), "trec", "qrels.json", fields=ON)
    load_text(json.dumps(runs), "trec", "run.json", fields=ON)
    wanted = pytrec_eval.RelevanceEvaluator(grades, {"map", "recip_rank", "ndcg"}).evaluate(runs)
    found = values(database, "AP", "RR", "nDCG")
    for topic in grades:
        of_topic = wanted.get(topic, {"map": 0.0, "recip_rank": 0.0, "ndcg": 0.0})
        for ours, theirs in (("AP", "map"), ("RR", "recip_rank"), ("nDCG", "ndcg")):
            assert found[topic, ours] == pytest.approx(of_topic[theirs], abs=1e-9)
    forget(database, 2)
    forget(database, 1)


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("x.csv", "qid,docno,score\nq1,d1,high\n", "x.csv:2: score is 'high', not a finite number"),
        ("x.csv", "qid,docno,score\nq1,d1,1.5,9\n", "x.csv:2: 4 cells in this row, and 3 in the header"),
        ("x.csv", "qid,docno,score\nq1,d1,1.5\nq1,d1,1.2\n", "x.csv:3: 'd1' of topic 'q1' is already on line 2"),
        ("x.csv", "qid,docno,score\n,d1,1.5\n", "x.csv:2: qid is empty"),
        ("x.csv", "qid,docno,label\nq1,d1,1.5\n", "x.csv:2: grade is '1.5', not a whole number"),
        ("x.tsv", "q1\td1\t1\nq1\td2\t2\nq1\td3\n", "x.tsv:3: 3 columns in this line; qrels"),
        ("x.json", '{"q1": {"d1": 1.5, "d2": 2.5, "d1": 1.1}}', "x.json: this has 'd1' twice in one object"),
        ("x.json", '{"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 0}}',
         "x.json: its numbers are whole, so they could be grades of qrels or scores of a run; call it qrels… or run…"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(complaints: Complaints, file: str, text: str, sentence: str) -> None:
    if file == "x.tsv":
        assert complaints(text, "trec", file, fields=ON)[0].startswith("x.tsv:1: 3 columns in this line; qrels have 4")
        return
    if "twice" in sentence:
        text, file = text.replace('"q1": {', '"q0": {"d": 0.5}, "q1": {'), "x.json"
    assert complaints(text, "trec", file, fields={**ON, "system": "s"}) == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}}',
        '{"joy": {"precision": 0.5, "recall": 1.0}, "fear": {"precision": 0.25, "recall": 0.5}}',
        '{"q1": {"map": 0.5, "ndcg": 0.7}, "q2": {"map": 0.1, "ndcg": 0.2}}',
        '{"a": 0.5, "b": 0.25}',
        "a b 1\n",
        "a b 1\nc d 1\n",
        "a b 1\na c 3\n",
        "the DT 1\ncat NN 2\n\nsat VB 1\n",
        "doc_id,topic,label\nd1,sport,1\n",
        "qid,correct\nq1,1\n",
    ],
)
def test_what_only_looks_like_a_run_is_none(text: str) -> None:
    assert READERS["trec"].recognizes(Start("file", text)) is None


def test_a_run_without_scores_is_in_the_order_of_its_ranks(
    database: Database, load_text: Load, complaints: Complaints
) -> None:
    load_text(QRELS, "trec", "qrels.txt", fields=ON)
    load_text("q1\td2\t1\nq1\td1\t2\nq1\td9\t3\n", "trec", "marco.tsv", fields=ON)
    ranked = database.rows(Sql("select rank, item, score from rankings order by rank"))
    assert ranked == [(1, "d2", None), (2, "d1", None), (3, "d9", None)]
    said = complaints(RUNS["marco.tsv"], "trec", "m.tsv", fields=ON, options={"threshold": "0.5"})
    assert said == ["m.tsv: it has ranks and no scores, so --threshold says nothing; --depth would"]


@pytest.mark.parametrize("second", ["0", "Q0", "1", "x", "-"])
def test_the_second_column_of_a_run_may_hold_anything(second: str) -> None:
    lines = f"q1 {second} d1 1 0.5 s\nq1 0 d2 2 0.25 s\n"
    found = READERS["trec"].recognizes(Start("a.run", lines))
    assert isinstance(found, Recognition)
    assert not found.unsure


JUDGES = "q1 anna d1 1\nq1 ben d1 0\nq1 anna d2 0\nq2 ben d3 2\n"


def test_several_judges_are_annotators_beside_a_key(database: Database, load_text: Load) -> None:
    load_text(JUDGES, "trec", "qrels.txt", fields=ON, options={"judge": "anna"})
    labels = database.rows(Sql("select annotator, document, label from labels order by all"))
    assert labels == [
        ("anna", "q1/d1", "relevant"),
        ("anna", "q1/d2", "nonrelevant"),
        ("ben", "q1/d1", "nonrelevant"),
        ("ben", "q2/d3", "relevant"),
        (None, "q1/d1", "relevant"),
        (None, "q1/d2", "nonrelevant"),
    ]
    judged = database.rows(Sql("select document, item, grade from judgments order by all"))
    assert judged == [("q1", "d1", 1), ("q1", "d2", 0)]
    assert check(database) == ()


def test_several_judges_are_asked_about(complaints: Complaints) -> None:
    said = (
        "is judged several times, by 'anna', 'ben'; --judge anna, for example, takes the judgments of one for the key"
    )
    assert complaints(JUDGES, "trec", "qrels.txt", fields=ON) == [f"qrels.txt:2: 'd1' of topic 'q1' {said}"]
    unknown = complaints(JUDGES, "trec", "qrels.txt", fields=ON, options={"judge": "carl"})
    assert unknown == ["qrels.txt: --judge 'carl': the second column says 'anna', 'ben'"]


def test_the_qrels_of_another_judge_are_labels_alone(database: Database, load_text: Load) -> None:
    load_text(QRELS, "trec", "qrels.txt", fields=ON)
    load_text("q1 0 d1 0\n", "trec", "second.txt", fields={**ON, "annotator": "ben"})
    labels = database.rows(Sql("select label from labels where annotator = 'ben'"))
    assert labels == [("nonrelevant",)]
    assert database.rows(Sql("select grade from judgments where item = 'd1'")) == [(1,)]


def test_judgments_of_a_table_judge_runs(database: Database, load_text: Load) -> None:
    load_text("test_set,document,item,grade\nT,q1,d1,1\nT,q1,d2,0\nT,q2,d3,2\n", "judgments", "judged.csv")
    loaded = load_text(RUNS["run.json"], "trec", "run.json", fields=ON)
    assert values(database, "RR") == {("q1", "RR"): 1.0, ("q2", "RR"): 0.5}
    counts = database.rows(Sql("select document, possible, actual, correct from scores order by document"))
    assert counts == [("q1", 1, 2, 1), ("q2", 1, 2, 1)]
    assert {part.form.name for part in loaded.parts} == {"scores", "rankings"}
    assert check(database) == ()
