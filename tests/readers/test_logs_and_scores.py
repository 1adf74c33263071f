"""Inspect, HELM, segment scores and classes: what is stored of each, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path

import pytest
from sacrebleu.metrics import CHRF  # type: ignore[attr-defined]
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from tests.store.texts import Complaints, Load
from warehouse.faults import DataError
from warehouse.loading.ingest import load
from warehouse.loading.readers import classes, helm, inspect_log, segments
from warehouse.loading.staging.zstandard import zipfile
from warehouse.store.database import Database
from warehouse.store.sql import Sql

ON = {"test_set": "news", "system": "base"}


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select test_set, system, document, measure, value from document_values order by all"))


def counts(database: Database, columns: str = "possible, actual, correct") -> list[tuple[object, ...]]:
    return database.rows(Sql(f"select document, unit, {columns} from scores order by document, unit"))


def inspect_log_of(*samples: dict[str, object]) -> str:
    return json.dumps({"eval": {"task": "quiz", "model": "m"}, "samples": samples})


def answer(number: int, value: object, epoch: int = 1) -> dict[str, object]:
    return {"id": number, "epoch": epoch, "scores": {"match": {"value": value}}}


def eval_archive(samples: dict[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "quiz", "model": "m"}}))
        for name, text in samples.items():
            archive.writestr(name, text)
    return packed.getvalue()


def test_letters_are_items_and_numbers_are_values(database: Database, load_text: Load) -> None:
    load_text(inspect_log.EXAMPLE, "inspect", "log.json")
    assert counts(database, "correct, incorrect") == [("1", "match", 1, 0), ("2", "match", 0, 1)]
    assert values(database) == [
        ("popularity", "openai/gpt-4o-mini", "1", "length", 12.0),
        ("popularity", "openai/gpt-4o-mini", "2", "length", 7.0),
    ]


def test_each_letter_has_its_counts(database: Database, load_text: Load) -> None:
    load_text(inspect_log_of(*(answer(k, letter) for k, letter in enumerate("CPIN"))), "inspect", "log.json")
    assert counts(database, "possible, actual, correct, partial, incorrect, missing, noncommittal") == [
        ("0", "match", 1, 1, 1, 0, 0, 0, 0),
        ("1", "match", 1, 1, 0, 1, 0, 0, 0),
        ("2", "match", 1, 1, 0, 0, 1, 0, 0),
        ("3", "match", 1, 0, 0, 0, 0, 1, 1),
    ]


def test_epochs_are_replicates(database: Database, load_text: Load) -> None:
    log = inspect_log_of(answer(1, "C", 1), answer(1, "I", 2), answer(2, 0.5, 1), answer(2, 1.0, 2))
    assert load_text(log, "inspect", "log.json").notes == (
        "samples were answered up to 2 times (epochs): values are means over them, score tuples are sums",
    )
    assert counts(database) == [("1", "match", 2, 2, 1)]
    assert values(database) == [("quiz", "m", "2", "match", 0.75)]


def test_an_archive_and_a_json_log_give_the_same(database: Database, load_text: Load) -> None:
    samples = [answer(1, "C"), answer(2, {"a": 1, "b": 0.5})]
    log = eval_archive({f"samples/{k}_epoch_1.json": json.dumps(sample) for k, sample in enumerate(samples)})
    load_text(log, "inspect", "log.eval")
    assert values(database) == [("quiz", "m", "2", "match.a", 1.0), ("quiz", "m", "2", "match.b", 0.5)]
    assert load_text(inspect_log_of(*samples), "inspect", "log.json").rows_new == 0
    assert load_text(gzip.compress(inspect_log_of(*samples).encode()), "inspect", "log.json.gz").rows_new == 0


def test_what_has_no_score_or_no_number_is_listed(database: Database, load_text: Load) -> None:
    log = inspect_log_of(answer(1, "C"), {"id": 2, "scores": {}}, answer(3, float("nan")), answer(4, "maybe"))
    assert load_text(log, "inspect", "log.json").notes == (
        "left out, having no score: 1 samples (2)",
        "left out, match being neither C, I, P, N nor a finite number: 2 samples",
    )


@pytest.mark.parametrize(
    ("content", "file", "sentence"),
    [
        ('{"eval": {\n', "log.json", "log.json:2: this is not JSON"),
        ("[]", "log.json", "log.json: this is no object"),
        ("{}", "log.json", "log.json: this is no log of Inspect: it has no samples"),
        (inspect_log_of(answer(1, None)), "log.json", "log.json: no sample has a score; samples: 1"),
        (eval_archive({})[:-30], "log.eval", "log.eval: the archive is cut off or damaged"),
        (
            eval_archive({"samples/a.json": '{"id": 1,\n,'}),
            "log.eval",
            "log.eval/samples/a.json:2: this is not JSON",
        ),
        (
            eval_archive({"samples/a.json": "{}"}),
            "log.eval",
            "log.eval/samples/a.json: this is no sample: it has no id",
        ),
        ("[" * 100_000, "log.json", "log.json: this is not JSON"),
    ],
)
def test_what_is_no_log_of_inspect_is_refused(
    complaints: Complaints, content: str | bytes, file: str, sentence: str
) -> None:
    assert complaints(content, "inspect", file) == [sentence]


def test_a_member_packed_in_a_way_unknown_here_says_what_helps(complaints: Complaints) -> None:
    """Method 98 is PPMd, which no Python unpacks."""
    packed = bytearray(eval_archive({"samples/a.json": "{}"}))
    for signature, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        packed[packed.rindex(signature) + method] = 98
    [said] = complaints(bytes(packed), "inspect", "log.eval")
    assert said.startswith("log.eval/samples/a.json: this is compressed in a way that is not known here; inspect log")


def test_a_log_packed_with_zstandard_is_read(database: Database, load_text: Load, complaints: Complaints) -> None:
    log = eval_archive({"samples/a.json": json.dumps(answer(1, 0.5))}, zipfile.ZIP_ZSTANDARD)
    load_text(log, "inspect", "log.eval")
    assert values(database) == [("quiz", "m", "1", "match", 0.5)]
    place = log.index(b"\x28\xb5\x2f\xfd", log.index(b"samples/a.json"))
    broken = log[: place + 4] + bytes(8) + log[place + 12 :]
    assert complaints(broken, "inspect", "log.eval") == [
        "log.eval/samples/a.json: this member of the archive is damaged"
    ]


def test_a_member_that_unpacks_to_too_much_is_refused(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "LARGEST_MEMBER", 1000)
    bomb = eval_archive({"samples/a.json": " " * 5000 + "{}"})
    assert complaints(bomb, "inspect", "log.eval") == ["log.eval/samples/a.json: this is larger than 1000 bytes"]
    monkeypatch.setattr(inspect_log, "LARGEST_ARCHIVE", 1000)
    assert complaints(bomb, "inspect", "log.eval") == ["log.eval: the archive holds more than 1000 bytes, unpacked"]


def test_the_real_log_of_inspect_has_no_scores(database: Database, real_files: Path) -> None:
    [file] = (real_files / "llm").glob("*.eval")
    with pytest.raises(DataError, match="no sample has a score; samples: 10"):
        load(database, file, "inspect")


def test_helm_values_are_by_instance_and_perturbation(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "mmlu:subject=law,model=openai_gpt2"
    folder.mkdir()
    file = folder / "per_instance_stats.json"
    file.write_text(helm.EXAMPLE)
    load(database, file, "helm")
    assert values(database) == [
        ("mmlu:subject=law", "openai_gpt2", "id1", "exact_match", 1.0),
        ("mmlu:subject=law", "openai_gpt2", "id1:typos", "exact_match", 0.0),
    ]


def test_helm_perturbations_of_one_name_are_told_apart_by_their_parameters(database: Database, load_text: Load) -> None:
    said = {"name": "dialect", "robustness": False, "fairness": True, "computed_on": "perturbed", "mapping": None}
    stats = [{"name": {"name": "f1"}, "sum": 1.0, "count": 1}]
    ways = [said, {**said, "target": "AAVE", "prob": 1.0}, {**said, "target": "SAE", "prob": 1.0, "both": False}]
    text = json.dumps([{"instance_id": "i", "perturbation": way, "stats": stats} for way in ways])
    assert load_text(text, "helm", "s.json", fields=ON).notes == ()
    assert [document for (_, _, document, _, _) in values(database)] == [
        "i:dialect",
        "i:dialect(both=false,prob=1.0,target=SAE)",
        "i:dialect(prob=1.0,target=AAVE)",
    ]


def test_helm_values_are_sums_by_counts_averaged_over_trials(database: Database, load_text: Load) -> None:
    def trial(number: int, total: float, count: int) -> dict[str, object]:
        return {"instance_id": "i", "train_trial_index": number, "stats": [
            {"name": {"name": "f1", "sub_split": "hard"}, "sum": total, "count": count}]}  # fmt: skip

    loaded = load_text(json.dumps([trial(0, 3.0, 4), trial(1, 0.5, 2), trial(2, 0, 0)]), "helm", "s.json", fields=ON)
    assert values(database) == [("news", "base", "i", "f1@hard", 0.5)]
    assert loaded.notes == (
        "instances were tried up to 2 times; values are means over the trials",
        "left out, being of no instance or no finite number: 1 statistics",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[{", "s.json:1: this is not JSON"),
        ("{}", "s.json: this is no list of instances"),
        ('[{"stats": []}]', "s.json: instance 1 has no instance_id, or no stats with name, count and sum"),
        ("[]", "s.json: there is nothing in it to store"),
    ],
)
def test_what_is_not_of_helm_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "helm", "s.json", fields=ON) == [sentence]


def test_a_number_a_line_is_a_value_a_segment(database: Database, load_text: Load) -> None:
    load_text("31.5\n-2e-1\n", "sacrebleu", "seg.txt", fields=ON, options={"measure": "COMET"})
    assert values(database) == [("news", "base", "1", "COMET", 31.5), ("news", "base", "2", "COMET", -0.2)]


@pytest.mark.parametrize("text", [segments.EXAMPLE, segments.EXAMPLE.replace("segment\t", "").replace("\n1\t", "\n").
                                  replace("\n2\t", "\n")])  # fmt: skip
def test_a_table_has_a_column_a_system(database: Database, load_text: Load, text: str) -> None:
    load_text(text, "sacrebleu", "seg.tsv", fields={"test_set": "T"}, options={"measure": "BLEU"})
    assert [row[1:] for row in values(database)] == [
        ("base", "1", "BLEU", 31.4),
        ("base", "2", "BLEU", 12.9),
        ("tuned", "1", "BLEU", 33.0),
        ("tuned", "2", "BLEU", 18.5),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1\nx\n", "s:2: 'x' is not a finite number"),
        ("1\n\n2\n", "s:2: this line is blank, and others follow; a line is a segment"),
        ("a\tb\n1\t2\t3\n", "s:2: 3 cells in this line, and 2 are wanted"),
        ("a\ta\n1\t2\n", "s:1: a system stands twice in the first line"),
        ("31,4\n", "s:1: the first line names systems, and no line of numbers follows"),
        ("a\t1\n", "s:1: the first line of a table names the systems, and there is a number in it"),
    ],
)
def test_segments_that_are_not_alike_are_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "sacrebleu", "s", fields=ON, options={"measure": "BLEU"}) == [sentence]


def test_segments_need_a_measure(complaints: Complaints) -> None:
    assert complaints("1\n", "sacrebleu", "s", fields=ON) == [
        "s: the file does not say the measure; --measure NAME does"
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
    assert load_text(table.format("1"), "sklearn", "in.csv", fields=ON).notes == ("left out, being no field: weight",)
    notes = load_text(table.format("2"), "sklearn", "other.csv", fields={**ON, "test_set": "other"}).notes
    assert notes == ("left out, being no field: score, weight",)


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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,y_true\n1,2\n", "in.csv:1: there is no column y_pred; the columns are id, y_true"),
        ("id,y_true,y_true,y_pred\n", "in.csv:1: the column 'y_true' stands more than once in the header"),
        ("id,y_true,y_pred\n1,2\n", "in.csv:2: 2 cells in this row, and 3 in the header"),
        ("id,y_true,y_pred\n1,2,\n", "in.csv:2: y_pred is empty"),
        ("id,y_true,y_pred\n", "in.csv: there is a header and no rows"),
        ("id,y_true,y_pred\n1,a,b\n1,b,b\n", "in.csv:3: news, base, 1, a has possible 0, missing 0, but on line 2 it "
         "has possible 1, missing 1"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_classes_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "sklearn", "in.csv", fields=ON)[0] == sentence
