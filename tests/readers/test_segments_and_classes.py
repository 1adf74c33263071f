"""Segment scores and classes: what is stored of each, and what is refused."""

from __future__ import annotations

import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF  # type: ignore[attr-defined]
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import classes, segments
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

ON = {"test_set": "news", "system": "base"}


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select test_set, system, document, measure, value from document_values order by all"))


def counts(database: Database, columns: str = "possible, actual, correct") -> list[tuple[object, ...]]:
    return database.rows(Sql(f"select document, unit, {columns} from scores order by document, unit"))


def test_a_number_a_line_is_a_value_a_segment(database: Database, load_text: Load) -> None:
    load_text("31.5\n-2e-1\n", "sacrebleu", "seg.txt", fields=ON, options={"measure": "COMET"})
    assert values(database) == [("news", "base", "1", "COMET", 31.5), ("news", "base", "2", "COMET", -0.2)]


@pytest.mark.parametrize("text", [segments.EXAMPLE, segments.EXAMPLE.replace("segment\t", "").replace("\n1\t", "\n").
                                  replace("\n2\t", "\n")])  # fmt: skip
def test_a_table_has_a_column_a_system(database: Database, load_text: Load, text: str) -> None:
    load_text(text, "sacrebleu", "seg.tsv", fields={"test_set": "T"}, options={"measure": "BLEU"})
    assert [row[1:] for row in values(database)] == [
        ("base", "1", "sentence-BLEU", 31.4),
        ("base", "2", "sentence-BLEU", 12.9),
        ("tuned", "1", "sentence-BLEU", 33.0),
        ("tuned", "2", "sentence-BLEU", 18.5),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1\nx\n", "s:2: 'x' is not a finite number"),
        ("1\n\n2\n", "s:2: this line is blank, but others follow; each line is a segment"),
        ("a\tb\n1\t2\t3\n", "s:2: 3 cells in this line, but 2 are expected"),
        ("a\ta\n1\t2\n", "s:1: a system appears twice in the first line"),
        ("31,4\n", "s:1: the first line names systems, but no line of numbers follows"),
        ("a\t1\n", "s:1: the first line of a table names the systems, but this one holds a number"),
    ],
)
def test_segments_that_are_not_alike_are_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "sacrebleu", "s", fields=ON, options={"measure": "BLEU"}) == [sentence]


def test_segments_need_a_measure(complaints: Complaints) -> None:
    assert complaints("1\n", "sacrebleu", "s", fields=ON) == [
        "s: the file does not name the measure; --measure NAME does"
    ]


def test_statistics_of_chrf_sum_to_what_sacrebleu_sums(database: Database, load_text: Load) -> None:
    chrf = CHRF(word_order=2)
    pairs = [("the cat sat", "the cat sat down"), ("a dog barked", "the dog barks"), ("no", "nothing like it")]
    statistics = chrf._extract_corpus_statistics([given for given, _ in pairs], [[wanted for _, wanted in pairs]])
    text = "".join(" ".join(str(int(count)) for count in line) + "\n" for line in statistics)
    load_text(text, "sacrebleu", "s", fields=ON, options={"statistics": "chrf"})
    sums = {
        unit: (actual, possible, correct)
        for unit, actual, possible, correct in database.rows(
            Sql("select unit, sum(actual), sum(possible), sum(correct) from scores group by all")
        )
    }
    units = [*(f"char-{k}" for k in range(1, 7)), "word-1", "word-2"]
    flat = [int(count) for unit in units for count in sums[unit]]
    wanted = [sum(int(line[place]) for line in statistics) for place in range(24)]
    assert flat == wanted
    assert chrf._compute_score_from_stats(flat).score == chrf.corpus_score(
        [given for given, _ in pairs], [[wanted for _, wanted in pairs]]
    ).score  # fmt: skip


def test_more_matches_than_n_grams_are_refused(complaints: Complaints) -> None:
    said = complaints("9 15 9 8 14 8\n4 9 5 1 1 1\n", "sacrebleu", "s", fields=ON, options={"statistics": "chrf"})
    assert said == ["s:2: 5 matches of 4 and 9 n-grams"]


def test_columns_that_are_not_kept_are_named(load_text: Load) -> None:
    table = "id,y_true,y_pred,score,weight\nD1,{},1,0.9,2\n"
    assert load_text(table.format("1"), "sklearn", "in.csv", fields=ON).notes == ("left out (not fields): weight",)
    notes = load_text(table.format("2"), "sklearn", "other.csv", fields={**ON, "test_set": "other"}).notes
    assert notes == ("left out (not fields): score, weight",)


def test_two_classes_are_labels_and_decisions(database: Database, load_text: Load) -> None:
    load_text(classes.EXAMPLE, "sklearn", "in.csv", fields=ON)
    rows = "select document, label, decision, confidence from labels join decisions using (document) order by all"
    assert database.rows(Sql(rows)) == [
        ("D1", "relevant", True, 0.93),
        ("D2", "nonrelevant", True, 0.58),
        ("D3", "nonrelevant", False, 0.11),
    ]


def test_many_classes_sum_to_what_scikit_learn_gives(database: Database, load_text: Load) -> None:
    chance = random.Random(5)
    gold, found = ([chance.choice("abcd") for _ in range(200)] for _ in range(2))
    rows = "".join(f"{k},{g},{f}\n" for k, (g, f) in enumerate(zip(gold, found, strict=True)))
    load_text("key,gold,y_pred\n" + rows, "sklearn", "in.csv", fields=ON, columns={"id": "key", "y_true": "gold"})
    by_class = database.rows(
        Sql("select sum(correct) / sum(actual), sum(correct) / sum(possible) from scores group by unit order by unit")
    )
    precision, recall, *_ = precision_recall_fscore_support(gold, found)
    assert by_class == list(zip(precision, recall, strict=True))
    [(accuracy,)] = database.rows(Sql("select sum(correct) / sum(possible) from scores"))
    assert accuracy == accuracy_score(gold, found)


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6),
    st.lists(st.sampled_from([1, 2, 10, 20]), min_size=1, max_size=3, unique=True),
    st.sampled_from(["seed", "run", "epoch"]),
    st.randoms(use_true_random=False),
)
def test_seeds_are_runs_whose_accuracies_scikit_learn_gives(
    gold: list[str], seeds: list[int], heading: str, chance: random.Random
) -> None:
    answers = {seed: [chance.choice("abc") for _ in gold] for seed in seeds}
    rows = [(k, right, answers[seed][k], seed) for seed in seeds for k, right in enumerate(gold)]
    chance.shuffle(rows)
    with TemporaryDirectory() as folder, in_memory() as database:
        file = Path(folder, "in.csv")
        file.write_text(f"id,y_true,y_pred,{heading}\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        load(database, file, "sklearn", fields=ON)
        found = database.rows(
            Sql("select r.run, r.model, sum(s.correct) / sum(s.possible) from scores s join runs r using (system) ")
            + Sql("group by all order by r.run")
        )
    assert found == [
        (f"{heading}={seed}", "base", accuracy_score(gold, answers[seed])) for seed in sorted(seeds, key=str)
    ]


def test_a_table_of_classes_may_name_systems_and_test_sets(database: Database, load_text: Load) -> None:
    rows = "quiz,m1,1,D1,yes,no\nquiz,m1,2,D1,yes,yes\nquiz,m2,,D1,yes,no\nlate,m2,,D1,no,no\n"
    load_text("test_set,model,seed,id,y_true,y_pred\n" + rows, "sklearn", "in.csv", fields={})
    assert database.rows(Sql("select test_set, system, decision from decisions order by all")) == [
        ("late", "m2", False),
        ("quiz", "m1#1", False),
        ("quiz", "m1#2", True),
        ("quiz", "m2", False),
    ]
    seeds = "select system, value from system_attributes where attribute = 'seed' order by all"
    assert database.rows(Sql(seeds)) == [("m1#1", "1"), ("m1#2", "2")]


@pytest.mark.parametrize(
    ("rows", "cell", "separators"),
    [
        ("1,a/b,a\n2,b,b\n", "y_true is 'a/b', and its parts are labels, too", ("/", "none")),
        ("1,a,a\n2,b,a & b\n", "y_pred is 'a & b', and its parts are labels, too", ("&", "none")),
        ("1,c|a b,a\n2,b,b\n", "y_true is 'c|a b', and its parts are labels, too", (" ", "none")),
        ("1,1,0.83\n2,0,0.2\n", "y_pred is '0.83', a number and no class", ("none",)),
    ],
)
def test_cells_that_may_be_several_classes_or_none_are_decided_by_a_person(
    tmp_path: Path, rows: str, cell: str, separators: tuple[str, ...]
) -> None:
    file = tmp_path / "in.csv"
    file.write_text("id,y_true,y_pred\n" + rows)
    with in_memory() as database, pytest.raises(DataError, match=re.escape(cell)):
        load(database, file, "sklearn", fields=ON)
    for separator in separators:
        with in_memory() as database:
            assert load(database, file, "sklearn", fields=ON, options={"separator": separator}).rows_new


@pytest.mark.parametrize(
    ("rows", "units"),
    [
        ('1,"a,b",a\n2,c,"c,a"\n', {"a", "b", "c"}),
        ('1,"a, b",a\n2,b,"b, a"\n', {"a", "b"}),
        ('1,"a,b;c",a\n2,c,b|a\n', {"a", "b", "c"}),
    ],
)
def test_commas_separate_classes_that_also_stand_alone(
    database: Database, load_text: Load, rows: str, units: set[str]
) -> None:
    load_text("id,y_true,y_pred\n" + rows, "sklearn", "in.csv", fields=ON)
    assert {unit for (unit,) in database.rows(Sql("select distinct unit from scores"))} == units


@pytest.mark.parametrize("rows", ['1,"Paris, France",Paris\n2,Rome,Rome\n', '1,"a,b",c\n2,c,c\n'])
def test_a_comma_that_may_be_part_of_a_class_is_refused(tmp_path: Path, rows: str) -> None:
    file = tmp_path / "in.csv"
    file.write_text("id,y_true,y_pred\n" + rows)
    with in_memory() as database, pytest.raises(DataError, match=r"several labels or one; --separator ,"):
        load(database, file, "sklearn", fields=ON)


@pytest.mark.parametrize("name", ["C++", "A+", "New York", "and/or", "R&B", "2", "2.0"])
def test_marks_in_the_name_of_a_class_separate_nothing(database: Database, load_text: Load, name: str) -> None:
    load_text(f"id,y_true,y_pred\n1,{name},A\n2,C,{name}\n", "sklearn", "in.csv", fields=ON)
    assert database.rows(Sql("select distinct unit from scores order by 1")) == [
        (one,) for one in sorted({"A", "C", name})
    ]


def test_classes_of_one_test_set_are_no_classes_of_another(database: Database, load_text: Load) -> None:
    load_text("dataset,id,y_true,y_pred\nt1,D1,joy,joy\nt2,D1,war,art\n", "sklearn", "in.csv", fields={"system": "m"})
    found = database.rows(Sql("select distinct test_set, unit from scores order by all"))
    assert found == [("t1", "joy"), ("t2", "art"), ("t2", "war")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,y_true\n1,2\n", "in.csv:1: there is no column y_pred; the columns are id, y_true"),
        ("id,y_true,y_true,y_pred\n", "in.csv:1: the column 'y_true' appears more than once in the header"),
        ("id,y_true,y_pred\n1,2\n", "in.csv:2: 2 cells in this row, and 3 in the header"),
        ("id,y_true,y_pred\n1,2,\n", "in.csv:2: y_pred is empty"),
        ("id,y_true,y_pred\n", "in.csv: there is a header, but no rows"),
        ("id,y_true,y_pred\n1,a,b\n1,b,b\n", "in.csv:3: news, base, 1, a has possible 0, missing 0, but on line 2 it "
         "has possible 1, missing 1"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_classes_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "sklearn", "in.csv", fields=ON)[0] == sentence
