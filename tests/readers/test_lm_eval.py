"""Sample logs of lm-evaluation-harness: values by sample and filter, and spans as tuples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import corpus_bleu, corpus_chrf, corpus_ter
from sklearn.metrics import f1_score, matthews_corrcoef

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.lm_eval import EXAMPLE
from evalhouse.warehouse.loading.staging.spans import labelled_spans
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

DATE = "2026-01-16T15-23-47.285735"
LOG = f"samples_arith_{DATE}.jsonl"
GEMMA = {"system": "gemma"}


def sample(number: int, metric: str, item: object, filtered: str = "none", doc_hash: str = "h") -> str:
    sample = {"doc_id": number, "doc_hash": doc_hash, "filter": filtered, "metrics": [metric], metric: item}
    return json.dumps(sample) + "\n"


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select system, document, measure, value from document_values order by all"))


def test_values_are_of_samples_and_the_task_is_the_test_set(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "lm-eval", LOG, fields=GEMMA)
    assert values(database) == [("gemma", "0", "accuracy", 1.0), ("gemma", "1", "accuracy", 0.0)]
    assert database.rows(Sql("select name from test_set")) == [("arith",)]
    hashes = "select document, value from document_attributes where attribute = 'doc_hash' order by 1"
    assert database.rows(Sql(hashes)) == [("0", "9f2c"), ("1", "77ab")]


def test_the_first_filter_is_the_accuracy_and_others_are_measures_of_their_own(
    database: Database, load_text: Load
) -> None:
    text = sample(0, "exact_match", True, "strict-match") + sample(0, "exact_match", 0.5, "flexible-extract")
    assert load_text(text, "lm-eval", LOG, fields=GEMMA).notes == ("accuracy is exact_match,strict-match",)
    assert values(database) == [
        ("gemma", "0", "accuracy", 1.0),
        ("gemma", "0", "exact_match:flexible-extract", 0.5),
    ]


def test_of_several_metrics_the_one_that_says_what_is_right_is_the_accuracy(
    database: Database, load_text: Load
) -> None:
    said = {"doc_id": 0, "filter": "none", "metrics": ["acc_norm", "acc", "f1"], "acc_norm": 1.0, "acc": 0.0, "f1": 1}
    load_text(json.dumps(said), "lm-eval", LOG, fields=GEMMA)
    assert [row[2:] for row in values(database)] == [("acc_norm", 1.0), ("accuracy", 0.0), ("f1", 1.0)]


@pytest.mark.long
@pytest.mark.parametrize("name", ["accuracy", "acc", "mean_acc", "exact_match", '"exact_match,strict-match"', "EM"])
def test_what_a_log_calls_the_accuracy_finds_it(database: Database, load_text: Load, name: str) -> None:
    text = sample(0, "exact_match", 1.0, "strict-match") + sample(0, "exact_match", 0.5, "flexible-extract")
    load_text(text, "lm-eval", LOG, fields=GEMMA)
    session = Session(database)
    assert session.run(f"score {name} for all on arith").rows[0][name.strip('"')] == 1.0
    other = "exact_match,flexible-extract"
    assert session.run(f'score "{other}" for all on arith').rows[0][other] == 0.5


def test_runs_that_were_appended_are_replicates(database: Database, load_text: Load) -> None:
    notes = load_text(EXAMPLE + EXAMPLE.replace("1.0", "0.0"), "lm-eval", LOG, fields=GEMMA).notes
    assert "2 runs follow one another in this log; each is a run" in notes
    assert values(database)[2:] == [("gemma#2", "0", "accuracy", 0.0), ("gemma#2", "1", "accuracy", 0.0)]


def test_a_later_log_is_a_replicate_and_the_same_log_is_there_already(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "lm-eval", LOG, fields=GEMMA)
    assert load_text(EXAMPLE, "lm-eval", LOG, fields=GEMMA).rows_new == 0
    load_text(EXAMPLE.replace("1.0", "0.0"), "lm-eval", LOG.replace("2026-01", "2026-02"), fields=GEMMA)
    assert [row[:2] for row in values(database)][2:] == [("gemma#2", "0"), ("gemma#2", "1")]
    dates = "select system, date from runs order by all"
    assert database.rows(Sql(dates)) == [("gemma", DATE), ("gemma#2", DATE.replace("2026-01", "2026-02"))]


def test_a_log_of_other_samples_is_refused(load_text: Load) -> None:
    load_text(EXAMPLE, "lm-eval", LOG, fields=GEMMA)
    with pytest.raises(DataError, match="arith, 0 has 'doc_hash' other, but is stored with 'doc_hash' 9f2c"):
        load_text(EXAMPLE.replace("9f2c", "other"), "lm-eval", LOG, fields={"system": "phi"})


def test_the_folder_or_the_results_file_names_the_system(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "google__gemma-2b"
    folder.mkdir()
    (folder / LOG).write_text(EXAMPLE)
    load(database, folder / LOG, "lm-eval")
    (tmp_path / LOG).write_text(EXAMPLE)
    results = {"model_name": "phi", "results": {"arith": {"acc,none": 0.75}}, "configs": {"arith": {}}}
    (tmp_path / f"results_{DATE.split('.')[0]}.285735.json").write_text(json.dumps(results))
    notes = load(database, tmp_path / LOG, "lm-eval").notes
    assert {row[0] for row in values(database)} == {"google/gemma-2b", "phi"}
    assert "results_2026-01-16T15-23-47.285735.json gives acc,none as 0.75, but the mean of the samples is 0.5" in notes


def results_of(folder: Path, results: dict[str, object], **others: object) -> Path:
    file = folder / f"results_{DATE}.json"
    file.write_text(json.dumps({"model_name": "phi", "results": results, **others}))
    return file


def figures(database: Database) -> list[tuple[object, ...]]:
    query = "select test_set, system, measure, value::double, documents, standard_error from published_figures"
    return database.rows(Sql(query + " order by all"))


def test_tasks_and_groups_without_samples_are_published_figures(database: Database, tmp_path: Path) -> None:
    anatomy = {"alias": " - anatomy", "acc,none": 0.25, "acc_stderr,none": 0.125}
    file = results_of(
        tmp_path,
        {"mmlu": {"acc,none": 0.5, "acc_stderr,none": "N/A"}, "mmlu_anatomy": anatomy, "arith": {"acc,none": 0.5}},
        **{"n-samples": {"mmlu_anatomy": {"original": 9, "effective": 8}}, "groups": {"mmlu": {"acc,none": 0.5}}},
    )
    (tmp_path / LOG).write_text(EXAMPLE)
    load(database, file, "lm-eval")
    assert figures(database) == [
        ("mmlu", "phi", "accuracy", 0.5, None, None),
        ("mmlu_anatomy", "phi", "accuracy", 0.25, 8, 0.125),
    ]
    load(database, tmp_path / LOG, "lm-eval")
    assert {row[0] for row in values(database)} == {"phi"}


def test_a_results_file_whose_tasks_all_have_samples_adds_no_figures(database: Database, tmp_path: Path) -> None:
    file = results_of(tmp_path, {"arith": {"acc,none": 0.5}})
    (tmp_path / LOG).write_text(EXAMPLE)
    load(database, file, "lm-eval")
    load(database, tmp_path / LOG, "lm-eval")
    assert figures(database) == []
    assert len(values(database)) == 2


def test_samples_know_the_groups_of_their_task(database: Database, tmp_path: Path) -> None:
    groups = {"mmlu": ["mmlu_stem"], "mmlu_stem": ["arith"], "arith": []}
    results_of(tmp_path, {"arith": {"acc,none": 0.5}}, group_subtasks=groups)
    (tmp_path / LOG).write_text(EXAMPLE)
    load(database, tmp_path / LOG, "lm-eval")
    query = "select document, value from document_attributes where attribute = 'mmlu' order by all"
    assert database.rows(Sql(query)) == [("0", "mmlu_stem"), ("1", "mmlu_stem")]


def test_the_results_file_says_which_way_a_metric_goes(database: Database, tmp_path: Path) -> None:
    told = {"arith": {"likelihood_diff": False, "acc": True, "word_perplexity": False}}
    results_of(tmp_path, {"arith": {"acc,none": 0.5}}, higher_is_better=told)
    (tmp_path / LOG).write_text(sample(0, "likelihood_diff", 3.5) + sample(0, "word_perplexity", 9.0, "x"))
    load(database, tmp_path / LOG, "lm-eval")
    assert database.rows(Sql("select measure, lower_is_better from direction")) == [("likelihood_diff", True)]


def test_a_results_file_of_another_tool_is_refused(database: Database, tmp_path: Path) -> None:
    file = results_of(tmp_path, {})
    file.write_text('{"results": 3}')
    with pytest.raises(DataError, match="this is not a results file of lm-evaluation-harness"):
        load(database, file, "lm-eval")
    (tmp_path / LOG).write_text(EXAMPLE)
    with pytest.raises(DataError, match=r"the results file beside it, results_.*json, is not a results file of lm"):
        load(database, tmp_path / LOG, "lm-eval")


def test_spans_become_tuples_by_label(database: Database, load_text: Load) -> None:
    pairs = [["PER: Ada $$ LOC: Turin", ["per: Ada $ org: Turin"]], ["", [""]]]
    text = "".join(sample(k, "f1", pair) for k, pair in enumerate(pairs))
    load_text(text, "lm-eval", LOG, fields=GEMMA, options={"spans": "f1"})
    counts = "select document, unit, possible, actual, correct from scores order by all"
    assert database.rows(Sql(counts)) == [
        ("0", "loc", 1, 0, 0),
        ("0", "other", 0, 1, 0),
        ("0", "per", 1, 1, 1),
        ("1", "loc", 0, 0, 0),
        ("1", "other", 0, 0, 0),
        ("1", "per", 0, 0, 0),
    ]


def test_the_spans_of_a_second_filter_are_a_test_set_of_their_own(database: Database, tmp_path: Path) -> None:
    """The results file states an F for each filter."""
    pairs = {"strict": "PER: Ada", "flexible": "PER: Eve"}
    log = "".join(sample(0, "f1", ["PER: Ada", [found]], filtered) for filtered, found in pairs.items())
    metrics = [{"metric": "f1", "aggregation": "def span_f1_agg(items):"}]
    results_of(tmp_path, {"arith": {"f1,strict": 1.0, "f1,flexible": 0.5}}, configs={"arith": {"metric_list": metrics}})
    (tmp_path / LOG).write_text(log)
    loaded = load(database, tmp_path / LOG, "lm-eval", texts=True)
    assert loaded.disagreeing == (f"results_{DATE}.json gives f1,flexible as 0.5, but the F of the spans is 0",)
    counts = "select test_set, unit, possible, actual, correct from scores where unit = 'per' order by all"
    assert database.rows(Sql(counts)) == [("arith", "per", 1, 1, 1), ("arith:flexible", "per", 1, 1, 0)]


def test_a_figure_that_is_no_mean_is_not_compared(database: Database, tmp_path: Path) -> None:
    metrics = [{"metric": "length", "aggregation": "median"}, {"metric": "acc", "aggregation": "mean"}]
    stated = {"length,none": 12.2, "acc,none": 1.0}
    results_of(tmp_path, {"arith": stated}, configs={"arith": {"metric_list": metrics}})
    (tmp_path / LOG).write_text(sample(0, "length", -2.5) + sample(1, "acc", 1.0))
    loaded = load(database, tmp_path / LOG, "lm-eval", strict=True)
    assert "not checked, because the results file does not give its mean: length,none" in loaded.notes


PAIRS = [[1, 1], [0, 1], [1, 0], [0, 0], [1, 1], [0, 0], [1, 1]]
LIKELIHOODS = [(-12.25, 9), (-3.000000001, 4), (-0.0, 1), (-141.6180339887, 37)]
NATS = -sum(likelihood for likelihood, _ in LIKELIHOODS)
LENGTH = sum(length for _, length in LIKELIHOODS)

ALL_TOGETHER: dict[str, tuple[Sequence[object], float]] = {
    "inst_level_strict_acc": ([[True, False], [True], [False, False, True], [True]], 4 / 7),
    "inst_level_loose_acc": ([[True, True], [True]], 1.0),
    "mcc": (PAIRS, matthews_corrcoef(*zip(*PAIRS, strict=True))),
    "f1": (PAIRS, f1_score(*zip(*PAIRS, strict=True))),
    "perplexity": ([-2.5, -1.125, -0.3], exp(3.925 / 3)),
    "word_perplexity": (LIKELIHOODS, exp(NATS / LENGTH)),
    "byte_perplexity": (LIKELIHOODS, exp(NATS / LENGTH)),
    "bits_per_byte": (LIKELIHOODS, NATS / LENGTH / log(2)),
}
"""Metrics that are computed of all samples together: what is logged of each sample, and the value."""


@pytest.mark.parametrize("metric", ALL_TOGETHER)
@pytest.mark.parametrize("filtered", ["none", "get-answer"])
def test_metrics_of_all_samples_together_are_those_of_the_harness(
    database: Database, tmp_path: Path, metric: str, filtered: str
) -> None:
    items, value = ALL_TOGETHER[metric]
    results_of(tmp_path, {"arith": {f"{metric},{filtered}": value}})
    (tmp_path / LOG).write_text("".join(sample(k, metric, item, filtered) for k, item in enumerate(items)))
    loaded = load(database, tmp_path / LOG, "lm-eval", strict=True)
    assert loaded.disagreeing == ()
    [row] = Session(database).run(f"score {metric} for all on arith").rows
    assert row[metric] == pytest.approx(value, abs=1e-9)


TRANSLATED = [
    ["the cat sat on the mat and slept", "the cat sat on a mat and slept well"],
    ["two dogs ran home from the park", "two dogs ran home from the park"],
    ["it rained all night in the old town", "it was raining all night in the town"],
]
"""References and answers."""


@pytest.mark.parametrize(
    ("metric", "called", "corpus"),
    [("bleu", "BLEU", corpus_bleu), ("chrf", "chrF", corpus_chrf), ("ter", "TER", corpus_ter)],
)
@pytest.mark.parametrize("in_lists", [False, True])
def test_translations_are_counted_as_the_harness_does(
    database: Database, tmp_path: Path, metric: str, called: str, corpus: Callable[..., Any], in_lists: bool
) -> None:
    references, answers = map(list, zip(*TRANSLATED, strict=True))
    value = corpus(answers, [references]).score
    results_of(tmp_path, {"arith": {f"{metric},none": value}})
    items = [[[reference], answer] if in_lists else [reference, answer] for reference, answer in TRANSLATED]
    (tmp_path / LOG).write_text("".join(sample(k, metric, item) for k, item in enumerate(items)))
    assert load(database, tmp_path / LOG, "lm-eval", strict=True).disagreeing == ()
    [row] = Session(database).run(f"score {metric} for all on arith").rows
    assert row[called] == pytest.approx(value / 100, abs=1e-9)


def test_another_value_of_translations_is_noticed(database: Database, tmp_path: Path) -> None:
    results_of(tmp_path, {"arith": {"bleu,none": 12.5}})
    (tmp_path / LOG).write_text("".join(sample(k, "bleu", item) for k, item in enumerate(TRANSLATED)))
    [said] = load(database, tmp_path / LOG, "lm-eval").disagreeing
    assert "gives bleu,none as 12.5, but the value over all samples together is" in said


def test_another_value_of_all_samples_together_is_noticed(database: Database, tmp_path: Path) -> None:
    results_of(tmp_path, {"arith": {"mcc,none": 0.25}})
    (tmp_path / LOG).write_text("".join(sample(k, "mcc", item) for k, item in enumerate(PAIRS)))
    [said] = load(database, tmp_path / LOG, "lm-eval").disagreeing
    assert "gives mcc,none as 0.25, but the value over all samples together is 0.416667" in said


def test_a_metric_whose_figure_is_its_mean_is_taken_as_one(database: Database, tmp_path: Path) -> None:
    metrics = [{"metric": "perplexity", "aggregation": "mean"}]
    results_of(tmp_path, {"arith": {"perplexity,none": -1.5}}, configs={"arith": {"metric_list": metrics}})
    (tmp_path / LOG).write_text(sample(0, "perplexity", -1.0) + sample(1, "perplexity", -2.0))
    assert load(database, tmp_path / LOG, "lm-eval", strict=True).disagreeing == ()
    [row] = Session(database).run("score perplexity for all on arith").rows
    assert row["perplexity"] == -1.5


@pytest.mark.parametrize("item", [[1, 2], ["1", "0"], [1], [[1, 1]], [True, None]])
def test_classes_that_are_not_two_are_left_out(load_text: Load, item: object) -> None:
    notes = load_text(EXAMPLE + sample(2, "mcc", item), "lm-eval", LOG, fields=GEMMA).notes
    assert notes[0] == "left out (mcc has items that are not finite numbers): 1 sample"


@pytest.mark.long
@given(
    st.lists(
        st.lists(st.booleans(), min_size=1, max_size=4).map(lambda one: (one, [not each for each in one])),
        min_size=4,
        max_size=6,
    )
)
def test_instructions_are_tested_by_exchanging_whole_samples(answers: list[tuple[list[bool], list[bool]]]) -> None:
    """All exchanges of samples, counted one by one."""
    with in_memory() as database, TemporaryDirectory() as folder:
        for place, model in enumerate(("new", "old")):
            home = Path(folder) / f"org__{model}"
            home.mkdir()
            (home / LOG).write_text(
                "".join(sample(k, "inst_level_strict_acc", pair[place]) for k, pair in enumerate(answers))
            )
            load(database, home / LOG, "lm-eval")
        asked = 'compare inst_level_strict_acc for "org/new", "org/old" on arith test randomization'
        [row] = Session(database).run(asked).rows
    number = sum(len(one) for one, _ in answers)
    gains = [sum(one) - sum(other) for one, other in answers]
    assert row["difference"] == pytest.approx(sum(gains) / number)
    signed = [sum(s * g for s, g in zip(signs, gains, strict=True)) for signs in product((1, -1), repeat=len(gains))]
    assert row["p"] == pytest.approx(sum(abs(one) >= abs(sum(gains)) for one in signed) / len(signed))


def test_runs_that_follow_one_another_are_not_compared(database: Database, tmp_path: Path) -> None:
    results_of(tmp_path, {"arith": {"acc,none": 0.25}})
    (tmp_path / LOG).write_text(EXAMPLE + EXAMPLE)
    assert load(database, tmp_path / LOG, "lm-eval").disagreeing == ()


@pytest.mark.parametrize("item", [["a", "b"], float("nan"), 10**400])
def test_what_is_no_number_is_listed(load_text: Load, item: object) -> None:
    notes = load_text(EXAMPLE + sample(2, "rouge", item), "lm-eval", LOG, fields=GEMMA).notes
    assert notes[0] == "left out (rouge has items that are not finite numbers): 1 sample"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            EXAMPLE + '{"doc_id": 1,',
            f"{LOG}:3: this line is not JSON: Expecting property name enclosed in double quotes",
        ),
        (EXAMPLE + "[]", f"{LOG}:3: this is not a sample: it has no doc_id"),
        (EXAMPLE + '{"doc_id": 1}', f"{LOG}:3: this sample has no list of metrics"),
        ("\n", f"{LOG}: it has nothing to store"),
    ],
)
def test_what_is_no_sample_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "lm-eval", LOG, fields=GEMMA) == [sentence]


def test_a_sample_without_any_finite_value_failed(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE + sample(2, "acc", float("nan")) + sample(3, "bleu", ["a", "b"]), "lm-eval", LOG, fields=GEMMA)
    assert database.rows(Sql("select item, reason from failures")) == [("2", "not scored")]


def test_names_that_nothing_says_must_be_set(complaints: Complaints) -> None:
    assert complaints(EXAMPLE, "lm-eval", "log.jsonl", fields=GEMMA) == [
        "log.jsonl: the name of the file does not name the task; name it with --set test_set=NAME"
    ]
    assert complaints(EXAMPLE, "lm-eval", LOG) == [
        f"{LOG}: no folder or results file names the model; name it with --set system=NAME, "
        "or each file after its folder with --set 'system={parent}'"
    ]


def test_the_sample_logs_give_the_f1_of_their_results_files(database: Database, real_files: Path) -> None:
    folder = real_files / "llm"
    for file in sorted(folder.glob("samples_*")):
        date = file.name.removesuffix(".jsonl.gz").rpartition("_")[2]
        load(database, file, "lm-eval", fields={"system": date})
        results = json.loads((folder / f"results_{date}.json").read_text())["results"]["masakhaner_luo_prompt_1"]
        [(samples, correct, both)] = database.rows(
            Sql(
                "select count(distinct document), sum(correct), sum(possible + actual) from scores where system = ?",
                (date,),
            )
        )
        assert samples == 185
        # The harness adds 1e-13 to each denominator.
        assert 2 * correct / both == pytest.approx(results["f1,flexible-extract"], rel=1e-11)


def test_labelled_spans_are_those_of_the_answers() -> None:
    assert Counter(labelled_spans(["DATE: 1 $", "per: An Ada $$ x $ LOC: the  Turin, ORG: a: b"])) == Counter(
        [("per", "an ada"), ("loc", "turin"), ("date", "1")]
    )


def test_a_log_holds_so_many_runs(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalhouse.warehouse.loading.readers.lm_eval.MOST_RUNS", 3)
    assert complaints(EXAMPLE * 4, "lm-eval", LOG, fields=GEMMA) == [f"{LOG}:7: doc_id '0' appears more than 3 times"]
