"""Qrels, runs and the output of trec_eval, compared with trec_eval itself."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
import pytrec_eval

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS, Recognition, Start
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.loading.readers.trec import EXAMPLE, EXAMPLE_RUN
from evalhouse.warehouse.loading.readers.trec_eval import measure_name
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Complaints, Load

ON = {"test_set": "robust"}


def printed_values(database: Database) -> dict[tuple[str, str], float]:
    rows = database.rows(Sql("select document, measure, value from document_values"))
    return {(topic, measure): value for topic, measure, value in rows}


def ranked(database: Database) -> list[tuple[str, int, str, float]]:
    """Topic, rank, item and score."""
    return database.rows(Sql("select document, rank, item, score from rankings order by document, rank"))


def computed(database: Database, *measures: str) -> dict[tuple[str, str], float]:
    """The values of measures by topic, of the one system there is."""
    rows = Session(database).run(f"score {', '.join(measures)} of rankings on robust by document").rows
    return {(str(row["document"]), measure): float(row[measure]) for row in rows for measure in measures}  # type: ignore[arg-type]


def test_qrels_become_labels_with_topic_and_grade(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "trec", "qrels", fields=ON)
    assert database.rows(Sql("select document, label from labels order by document")) == [
        ("301/FBIS3-10", "relevant"),
        ("301/FBIS3-11", "nonrelevant"),
        ("302/FBIS3-12", "relevant"),
    ]
    grades = "select document, value from document_attributes where attribute = 'grade' order by document"
    assert [grade for _, grade in database.rows(Sql(grades))] == ["1", "0", "2"]


def test_relevance_is_the_lowest_relevant_grade(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "trec", "qrels", fields=ON, options={"relevance": "2"})
    assert database.rows(Sql("select document from labels where label = 'relevant'")) == [("302/FBIS3-12",)]


def test_a_topic_without_output_is_empty_and_not_absent(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "trec", "qrels", fields=ON)
    notes = load_text(EXAMPLE_RUN, "trec", "run", fields=ON).notes
    silent = "topics without output: 1; score tuples count them as empty, and measures of rankings leave them out "
    assert f"{silent}unless the statement says missing zero" in notes
    counts = "select document, possible, actual, correct, spurious, missing from scores order by document"
    assert database.rows(Sql(counts)) == [("301", 1, 2, 1, 1, 0), ("302", 1, 0, 0, 0, 1)]
    assert list(computed(database, "AP")) == [("301", "AP")]
    decisions = "select document, decision, confidence from decisions order by document"
    assert database.rows(Sql(decisions)) == [
        ("301/FBIS3-10", True, 1.5),
        ("301/FBIS3-11", True, 2.5),
        ("302/FBIS3-12", False, None),
    ]
    assert check(database) == ()


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "retrieved"),
    [({"depth": "1"}, [1, 0]), ({"threshold": "2"}, [1, 0]), ({"threshold": "1.5"}, [2, 0]), ({"depth": "9"}, [2, 0])],
)
def test_depth_and_threshold_say_what_is_retrieved(
    database: Database, load_text: Load, options: dict[str, str], retrieved: list[int]
) -> None:
    load_text(EXAMPLE, "trec", "qrels", fields=ON)
    load_text(EXAMPLE_RUN, "trec", "run", fields=ON, options=options)
    assert [actual for (actual,) in database.rows(Sql("select actual from scores order by document"))] == retrieved
    assert [rank for _, rank, _, _ in ranked(database)] == list(range(1, retrieved[0] + 1))


def test_white_space_line_ends_and_compression_do_not_matter(database: Database, load_text: Load) -> None:
    load_text(gzip.compress(EXAMPLE.replace(" ", " \t ").replace("\n", "\r\n").encode()), "trec", "q.gz", fields=ON)
    assert load_text(EXAMPLE_RUN.replace(" ", "\t") + "\n\n", "trec", "run", fields=ON).rows_new > 0
    assert computed(database, "RR")["301", "RR"] == 0.5


def test_ties_are_broken_by_name_from_last_to_first(database: Database, load_text: Load) -> None:
    """Scores that differ beyond single precision are tied as well."""
    load_text("1 0 A 1\n1 0 B 0\n", "trec", "qrels", fields=ON)
    load_text("1 Q0 A 1 1.00000001 x\n1 Q0 B 2 1.0 x\n", "trec", "run", fields=ON)
    assert ranked(database) == [("1", 1, "B", 1.0), ("1", 2, "A", 1.00000001)]


def test_what_a_threshold_leaves_is_ranked_without_a_gap(database: Database, load_text: Load) -> None:
    """Though what is left out was ranked between the others, for its name."""
    load_text("1 0 A 1\n", "trec", "qrels", fields=ON)
    run = "1 Q0 C 1 1.00000002 x\n1 Q0 B 2 1.00000001 x\n1 Q0 A 3 1.00000002 x\n"
    load_text(run, "trec", "run", fields=ON, options={"threshold": "1.00000002"})
    assert [row[1:3] for row in ranked(database)] == [(1, "C"), (2, "A")]


def test_ranks_may_be_those_of_the_file(database: Database, load_text: Load) -> None:
    """Their order counts; those of one rank are in the order of their scores, and then of their names."""
    load_text("1 0 A 1\n", "trec", "qrels", fields=ON)
    run = "1 Q0 A 0 1 x\n1 Q0 B 7 1 x\n1 Q0 C 3 9 x\n1 Q0 D 7 1 x\n1 Q0 E 7 2 x\n"
    load_text(run, "trec", "run", fields=ON, options={"ranks": "given"})
    assert [row[1:3] for row in ranked(database)] == [(1, "A"), (2, "C"), (3, "E"), (4, "D"), (5, "B")]


def test_topics_without_qrels_are_ranked_and_not_scored(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "trec", "qrels", fields=ON)
    notes = load_text(EXAMPLE_RUN + "9 Q0 D 1 1 base\n", "trec", "run", fields=ON).notes
    assert "topics that have no qrels: 1; nothing is computed for them until they are judged" in notes
    assert ("9", 1, "D", 1.0) in ranked(database)
    assert {topic for topic, _ in computed(database, "P@1")} == {"301"}


def test_the_grade_that_counts_is_that_of_the_qrels(database: Database, load_text: Load) -> None:
    load_text("1 0 A 1\n1 0 B 2\n", "trec", "qrels", fields=ON, options={"relevance": "2"})
    load_text("1 Q0 A 1 2 x\n1 Q0 B 2 1 x\n", "trec", "run", fields=ON)
    [row] = Session(database).run("score RR, RR(rel=1) for all on robust").rows
    assert (row["RR(rel=2)"], row["RR"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("\n1 0 A\n", ["in:2: 3 columns in this line; qrels have 4 (topic, iteration, document, grade) and runs 6 "
                     "(topic, Q0, document, rank, score, system)"]),
        ("1 0 A 1\n\n1 0 B\n", ["in:3: 3 columns in this line, and 4 in the first"]),
        ("1 0 A 1\n1 0 B high\n", ["in:2: grade is 'high', not a whole number"]),
        ("1 0 A 1\n1 0 B 0\n1 0 A 0\n", ["in:3: 'A' of topic '1' is already on line 1"]),
        ("1 Q0 A 1 nan x\n", ["in:1: score is 'nan', not a finite number"]),
        ("1 Q0 A 1 2 x\n1 Q0 A 2 1 x\n", ["in:2: 'A' of topic '1' is already on line 1"]),
        ("1 Q0 A 1 2 x\n", ["in: this is a run, and there are no qrels of 'robust' to judge it by; load them first"]),
        ("1 Q0 A first 2 x\n", ["in:1: rank is 'first', not a whole number"]),
        ("\n\n", ["in: there are only blank lines in the file"]),
    ],
)  # fmt: skip
def test_what_is_no_qrels_and_no_run_is_refused(complaints: Complaints, text: str, sentences: list[str]) -> None:
    options = {"ranks": "given"} if "first" in text else {}
    assert complaints(text, "trec", "in", fields=ON, options=options) == sentences


def test_options_are_numbers(complaints: Complaints) -> None:
    assert complaints(EXAMPLE, "trec", "in", fields=ON, options={"relevance": "x"}) == [
        "in: --relevance is 'x', not a whole number of at least 1"
    ]
    assert complaints(EXAMPLE, "trec", "in", fields=ON, options={"deep": "1"}) == [
        "in: the reader trec has no option 'deep'; its options are depth, threshold, relevance, judge, ranks"
    ]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("301 0 FBIS3-10 1\n301 0 FBIS3-11 0\n", "KEY"),
        ("301 Q0 FBIS3-10 -1\n", "KEY"),
        ("301 0 7187155 1\n", "KEY"),
        ("301 3 FBIS3-10 1\n301 4 FBIS3-11 0\n", "asked"),
        ("1 2 3 4\n5 6 7 8\n", "asked"),
        ("the DT I-NP 0\ncat NN I-NP 0\n", None),
        ("red 1.5 small 3\n", None),
        ("301 0 FBIS3-10 1\n301 0 FBIS3-11 high\n", None),
        ("301 0 FBIS3-10 x\n301 0 FBIS3-11 1\n301 0 FBIS3-12 0\n", "KEY"),
        ("301 0 7187155 x\n301 0 7187156 1\n301 0 7187157 0\n", "KEY"),
        ("301 3 FBIS3-10 x\n301 3 FBIS3-11 1\n301 3 FBIS3-12 0\n", None),
        ("base\ttuned\tlarge\tsmall\n1\t0\t1\t1\n0\t0\t1\t0\n", None),
        ("base tuned large small\n0.5 0 1 1\n0 0 1 0\n", None),
    ],
)
def test_four_columns_are_qrels_only_with_an_iteration(text: str, role: str | None) -> None:
    found = READERS["trec"].recognizes(Start("file", text))
    assert isinstance(found, Recognition) is (role is not None)
    if isinstance(found, Recognition):
        assert ("asked" if found.unsure else found.role.name) == role


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (EXAMPLE_RUN + "9 Q0 D 3 oops base\n", 3),
        (EXAMPLE_RUN + "9 Q0 D 3 2.5\n", 3),
        ("301 0 FBIS3-9 x\n" + EXAMPLE, 1),
        ("301 0 FBIS3-9\n" + EXAMPLE, 1),
        ("topic iteration document sort\n" + EXAMPLE, 1),
        (EXAMPLE_RUN.replace(" base", " base of ours"), 1),
        (EXAMPLE + "301 0 FBIS3-9 1.5\n", 4),
    ],
)
def test_a_wrong_line_is_named_where_the_format_was_not_recognized(
    text: str, line: int, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=rf"in\.txt:{line}: "):
        load(database, file, recognize(file, database).reader, fields=ON)


@pytest.mark.parametrize("more", [{}, {"depth": "1"}, {"ranks": "given"}])
def test_a_threshold_above_all_scores_is_what_is_refused(load_text: Load, more: dict[str, str]) -> None:
    load_text(EXAMPLE, "trec", "qrels", fields=ON)
    with pytest.raises(DataError, match=r"run: no line is left: the highest score is 2\.5, below the threshold 5"):
        load_text(EXAMPLE_RUN, "trec", "run", fields=ON, options={"threshold": "5", **more})
    load_text(EXAMPLE_RUN, "trec", "run", fields=ON, options={"threshold": "2.5", **more})


def printed(file: Path) -> dict[tuple[str, str], str]:
    """What trec_eval printed, by topic and measure under its name here."""
    cells = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {(topic, measure_name(measure)): value for measure, topic, value in cells if topic != "all"}


def test_a_run_gives_what_trec_eval_prints(database: Database, real_files: Path) -> None:
    for file in ("qrels.test", "results.test"):
        load(database, real_files / "trec" / file, "trec", fields=ON)
    wanted = printed(real_files / "trec" / "out.test.aq")
    measures = sorted({measure for _, measure in wanted if is_computed(measure)})
    assert len(measures) > 40
    found = computed(database, *measures)
    assert {key: f"{value:.4f}" for key, value in found.items()} == {key: wanted[key] for key in found}
    counts = {topic: counts for topic, *counts in database.rows(Sql(
        "select document, possible, actual, correct from scores"))}  # fmt: skip
    for topic, (possible, actual, correct) in counts.items():
        assert (str(possible), str(actual), str(correct)) == (
            wanted[topic, "num_rel"],
            wanted[topic, "num_ret"],
            wanted[topic, "num_rel_ret"],
        )


def is_computed(measure: str) -> bool:
    return measure.partition("@")[0] in ("AP", "P", "R", "RR", "Rprec", "Bpref", "nDCG", "Success")


def test_what_trec_eval_printed_is_stored_by_topic(database: Database, real_files: Path) -> None:
    loaded = load(database, real_files / "trec" / "out.test.aq", "trec-eval", fields=ON)
    wanted = printed(real_files / "trec" / "out.test.aq")
    assert loaded.notes == ("left out (not numbers): relstring",)
    assert printed_values(database) == {key: float(text) for key, text in wanted.items() if key[1] != "relstring"}
    assert database.rows(Sql("select name from system")) == [("STANDARD",)]


@pytest.mark.long
@pytest.mark.parametrize("order", ["as it comes", "ranked", "ranked but for ties", "topics mixed"])
def test_random_runs_with_ties_agree_with_trec_eval(database: Database, load_text: Load, order: str) -> None:
    """Whatever the order of their lines is."""
    chance = random.Random(1992)
    names = [f"d{k}" for k in range(60)]
    grades = {f"t{t}": {d: chance.choice((-1, 0, 0, 1, 2, 3)) for d in chance.sample(names, 40)} for t in range(12)}
    scores = {t: {d: chance.randrange(8) / 4 for d in chance.sample(names, chance.randrange(1, 50))} for t in grades}
    load_text("".join(f"{t} 0 {d} {g}\n" for t in grades for d, g in grades[t].items()), "trec", "qrels", fields=ON,
              options={"relevance": "2"})  # fmt: skip
    lines = [(topic, score, name) for topic, of in scores.items() for name, score in of.items()]
    if order == "topics mixed":
        chance.shuffle(lines)
    elif order != "as it comes":
        lines.sort(key=lambda line: (line[0], line[1], line[2] if order == "ranked" else ""), reverse=True)
    load_text("".join(f"{t} Q0 {d} 1 {s} x\n" for t, s, d in lines), "trec", "run", fields=ON)
    asked = {"map", "recip_rank", "Rprec", "ndcg", "P", "ndcg_cut", "bpref", "recall", "map_cut", "success"}
    wanted = pytrec_eval.RelevanceEvaluator(grades, asked, relevance_level=2).evaluate(scores)
    compared = {
        (topic, measure_name(measure)): value
        for topic, measures in wanted.items()
        for measure, value in measures.items()
    }
    names = sorted({measure for _, measure in compared})
    on_level_2 = [name if name.startswith("nDCG") else f"{name}(rel=2)" for name in names]
    found = computed(database, *on_level_2)
    assert {(topic, measure.removesuffix("(rel=2)")): value for (topic, measure), value in found.items()} == (
        pytest.approx(compared, abs=1e-12)
    )
    assert len(compared) == 12 * 44


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("map\t301\t0.1\nP_5\t301\n", "in:2: 2 columns in this line; trec_eval prints 3"),
        ("map\t301\tnan\n", "in:1: the value of 'map' is nan, not a finite number"),
        ("map\t301\t0.1 or so\n", "in:1: 5 columns in this line; trec_eval prints 3"),
        ("runid\tall\tx\n", "in: no value is printed"),
    ],
)
def test_what_trec_eval_did_not_print_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "trec-eval", "in", fields={**ON, "system": "x"}) == [sentence]


def figures(database: Database) -> list[tuple[object, ...]]:
    query = "select system, measure, value::varchar, resolution::double, documents from published_figures order by all"
    return database.rows(Sql(query))


PRINTED = "map\t301\t0.2500\nmap\t302\t0.7500\nnum_ret\t301\t3\nnum_ret\t302\t4\nrunid\tall\tbase\nnum_q\tall\t2\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("map\tall\t0.5000\nnum_ret\tall\t7\n", ()),
        ("map\tall\t0.5001\n", ()),
        ("map\tall\t0.6000\n", ("line 7 gives map of all topics as 0.6, but the mean of the topics is 0.5",)),
        ("num_ret\tall\t8\n", ("line 7 gives num_ret of all topics as 8, but the sum of the topics is 7",)),
        ("num_q\tall\t4\nmap\tall\t0.2500\n", ()),
    ],
)
def test_the_figures_of_all_topics_are_compared_with_the_topics(
    load_text: Load, lines: str, said: tuple[str, ...]
) -> None:
    """With trec_eval -c there are more topics than are printed, and they count as 0."""
    assert load_text(PRINTED + lines, "trec-eval", "in", fields=ON).disagreeing == said


def test_figures_of_all_topics_alone_are_published(database: Database, load_text: Load) -> None:
    load_text("runid\tall\tbase\nnum_q\tall\t2\nmap\tall\t0.2500\ngm_map\tall\t0.1\n", "trec-eval", "in", fields=ON)
    assert figures(database) == [("base", "AP", "0.250000000", 0.0001, 2), ("base", "gm_map", "0.100000000", 0.1, 2)]


def test_figures_of_all_topics_are_compared_with_the_stored_run(database: Database, load_text: Load) -> None:
    load_text("301 0 a 1\n302 0 a 1\n", "trec", "qrels", fields=ON)
    load_text("301 Q0 a 1 1 base\n302 Q0 b 1 1 base\n", "trec", "run", fields=ON)
    loaded = load_text("runid\tall\tbase\nmap\tall\t0.5000\nP_5\tall\t0.2000\n", "trec-eval", "in", fields=ON)
    assert loaded.disagreeing == ("line 3 gives P_5 of all topics as 0.2, but the mean of the topics is 0.1",)
    assert figures(database) == []


def test_what_trec_eval_printed_of_its_own_test_agrees_with_itself(database: Database, real_files: Path) -> None:
    for file in ("qrels.test", "results.test"):
        load(database, real_files / "trec" / file, "trec", fields=ON)
    for file in ("out.test", "out.test.aq"):
        assert load(database, real_files / "trec" / file, "trec-eval", fields=ON, strict=True).disagreeing == ()


@pytest.mark.parametrize(
    ("content", "file", "sentence"),
    [
        (b"301 0 D1 1\n301 0 D\xff 1\n", "in", "in:2: this line is not UTF-8"),
        (gzip.compress(b"301 0 D1 1\n" * 9, mtime=0)[:-9], "in.gz", "in.gz:10: the gzip data is cut off or damaged"),
    ],
)
def test_what_cannot_be_read_is_said_as_of_other_files(
    complaints: Complaints, content: bytes, file: str, sentence: str
) -> None:
    assert complaints(content, "trec", file, fields=ON) == [sentence]
