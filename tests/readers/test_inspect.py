"""Logs of Inspect: samples as values, epochs as replicates, and failures with their reasons."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import inspect_log
from evalhouse.warehouse.loading.staging import door
from evalhouse.warehouse.loading.staging.zstandard import zipfile
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

HEADER = {"task": "quiz", "model": "m", "task_id": "T1", "created": "2026-01-16T15:00:00"}


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select system, document, measure, value from document_values order by all"))


def failures(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select test_set, system, item, reason from failures order by all"))


def log_of(*samples: dict[str, object], **others: object) -> str:
    return json.dumps({"eval": HEADER, "status": "success", "samples": samples, **others})


def answer(number: int, value: object, epoch: int = 1, scorer: str = "match", **others: object) -> dict[str, object]:
    return {"id": number, "epoch": epoch, "scores": {scorer: {"value": value}}, **others}


def archive_of(samples: dict[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("header.json", json.dumps({"eval": HEADER}))
        for name, text in samples.items():
            archive.writestr(name, text)
    return packed.getvalue()


def test_the_scorer_with_letters_gives_accuracy_and_others_their_own_measures(
    database: Database, load_text: Load
) -> None:
    notes = load_text(inspect_log.EXAMPLE, "inspect", "log.json").notes
    assert values(database) == [
        ("openai/gpt-4o-mini", "1", "accuracy", 1.0),
        ("openai/gpt-4o-mini", "1", "length", 12.0),
        ("openai/gpt-4o-mini", "2", "accuracy", 0.0),
        ("openai/gpt-4o-mini", "2", "length", 7.0),
    ]
    assert notes == ("accuracy is what match says",)


def test_letters_count_as_inspect_counts_them(database: Database, load_text: Load) -> None:
    load_text(log_of(*(answer(k, letter) for k, letter in enumerate("CPIN"))), "inspect", "log.json")
    assert [value for *_, value in values(database)] == [1.0, 0.5, 0.0, 0.0]


def test_of_several_scorers_with_letters_the_first_is_the_accuracy(database: Database, load_text: Load) -> None:
    scores = {"strict": {"value": "I"}, "lenient": {"value": "C"}}
    load_text(log_of({"id": 1, "scores": scores}, {"id": 2, "scores": scores}), "inspect", "log.json")
    assert {(measure, value) for _, _, measure, value in values(database)} == {("accuracy", 0.0), ("lenient", 1.0)}


def test_numbers_are_the_accuracy_where_the_log_sums_them_up_as_that(database: Database, load_text: Load) -> None:
    results = {"scores": [{"name": "judge", "metrics": {"accuracy": {"value": 0.5}}}]}
    load_text(log_of(answer(1, 1, scorer="judge"), answer(2, 0, scorer="judge"), results=results), "inspect", "l.json")
    assert [(measure, value) for *_, measure, value in values(database)] == [("accuracy", 1.0), ("accuracy", 0.0)]


def test_a_scorer_of_several_values_has_a_measure_for_each(database: Database, load_text: Load) -> None:
    load_text(log_of(answer(1, {"fluent": 1, "short": 0.5})), "inspect", "log.json")
    assert [row[2:] for row in values(database)] == [("match.fluent", 1.0), ("match.short", 0.5)]


def test_epochs_are_replicates(database: Database, load_text: Load) -> None:
    log = log_of(answer(1, "C", 1), answer(1, "I", 2), answer(2, "I", 1), answer(2, "C", 2))
    assert "samples were answered in 2 epochs; each is a run" in load_text(log, "inspect", "log.json").notes
    assert values(database) == [
        ("m", "1", "accuracy", 1.0),
        ("m", "2", "accuracy", 0.0),
        ("m#2", "1", "accuracy", 0.0),
        ("m#2", "2", "accuracy", 1.0),
    ]
    models = "select system, value from system_attributes where attribute = 'model' order by all"
    assert database.rows(Sql(models)) == [("m", "m"), ("m#2", "m")]


def test_epochs_of_a_log_that_says_neither_its_run_nor_its_date_are_replicates(
    database: Database, load_text: Load
) -> None:
    samples = [answer(1, "C", 1), answer(1, "I", 2)]
    log = json.dumps({"eval": {"task": "quiz", "model": "m"}, "samples": samples})
    load_text(log, "inspect", "log.json")
    assert values(database) == [("m", "1", "accuracy", 1.0), ("m#2", "1", "accuracy", 0.0)]
    assert load_text(log, "inspect", "again.json").rows_new == 0


def test_another_run_is_a_replicate_and_the_same_one_is_there_already(database: Database, load_text: Load) -> None:
    load_text(log_of(answer(1, "C")), "inspect", "log.json")
    assert load_text(log_of(answer(1, "C")), "inspect", "again.json").rows_new == 0
    other = log_of(answer(1, "I")).replace("T1", "T2")
    load_text(other, "inspect", "other.json")
    assert values(database) == [("m", "1", "accuracy", 1.0), ("m#2", "1", "accuracy", 0.0)]


def test_samples_without_a_score_are_failures_with_their_reason(database: Database, load_text: Load) -> None:
    refusal = {"choices": [{"stop_reason": "content_filter"}], "completion": "No."}
    log = log_of(
        answer(1, "C"),
        {"id": 2, "scores": {}, "error": {"message": "out of memory"}},
        {"id": 3, "scores": {}, "output": refusal},
        {"id": 4, "scores": {}, "output": {"choices": [], "completion": ""}},
        {"id": 5, "output": {"choices": [{"stop_reason": "stop"}], "completion": "42"}},
        answer(6, float("nan"), output={"completion": "42"}),
    )
    notes = load_text(log, "inspect", "log.json").notes
    assert [row[2:] for row in failures(database)] == [
        ("2", "error"),
        ("3", "refused"),
        ("4", "no answer"),
        ("5", "not scored"),
        ("6", "not scored"),
    ]
    assert "without a score, not scored: 2 samples" in notes
    assert "left out (match is neither C, I, P, N nor a finite number): 1 sample" in notes


@pytest.mark.parametrize(("status", "reason"), [("error", "error"), ("cancelled", "cancelled")])
def test_what_a_log_lacks_that_did_not_end_well_failed(
    database: Database, load_text: Load, status: str, reason: str
) -> None:
    header = {**HEADER, "dataset": {"sample_ids": [1, 2, 3]}}
    load_text(log_of(answer(2, "C"), eval=header, status=status), "inspect", "log.json")
    assert values(database) == [("m", "2", "accuracy", 1.0)]
    assert failures(database) == [("quiz", "m", "1", reason), ("quiz", "m", "3", reason)]


def test_a_log_that_failed_before_its_first_sample_is_one_failure(database: Database, load_text: Load) -> None:
    load_text(json.dumps({"eval": HEADER, "status": "error", "error": {"message": "x"}}), "inspect", "log.json")
    assert failures(database) == [("quiz", "m", "*", "error")]


def test_a_log_without_samples_has_the_figures_it_was_summed_up_in(database: Database, load_text: Load) -> None:
    metrics = {"accuracy": {"value": 0.431}, "stderr": {"value": 0.0157}}
    results = {"completed_samples": 1000, "scores": [{"name": "judge", "scored_samples": 990, "metrics": metrics}]}
    load_text(json.dumps({"eval": HEADER, "status": "success", "results": results}), "inspect", "log.json")
    query = "select test_set, system, measure, value, documents, standard_error from published_figures"
    [(*names, value, documents, error)] = database.rows(Sql(query))
    assert (*names, float(value), documents, error) == ("quiz", "m", "accuracy", 0.431, 990, 0.0157)


def test_an_archive_and_a_json_log_give_the_same(database: Database, load_text: Load) -> None:
    samples = [answer(1, "C"), answer(2, "I")]
    log = archive_of({f"samples/{k}_epoch_1.json": json.dumps(sample) for k, sample in enumerate(samples)})
    load_text(log, "inspect", "log.eval")
    assert values(database) == [("m", "1", "accuracy", 1.0), ("m", "2", "accuracy", 0.0)]
    assert load_text(log_of(*samples), "inspect", "log.json").rows_new == 0
    assert load_text(gzip.compress(log_of(*samples).encode()), "inspect", "log.json.gz").rows_new == 0


@pytest.mark.parametrize(
    ("content", "file", "sentence"),
    [
        ('{"eval": {\n', "log.json", "log.json:2: this is not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "log.json", "log.json: this is not an object"),
        ("{}", "log.json", "log.json: this is not an Inspect log: it has no eval"),
        (log_of(answer(1, "C"), answer(1, "I")), "log.json", "log.json: sample '1' appears twice in epoch 1"),
        (log_of(answer(1, "C", epoch="x")), "log.json", "log.json: the epoch of sample '1' is not a whole number"),  # type: ignore[arg-type]
        (archive_of({})[:-30], "log.eval", "log.eval: the archive is cut off or damaged"),
        (
            archive_of({"samples/a.json": '{"id": 1,\n,'}),
            "log.eval",
            "log.eval/samples/a.json:2: this is not JSON: Expecting property name enclosed in double quotes",
        ),
        (
            archive_of({"samples/a.json": "{}"}),
            "log.eval",
            "log.eval/samples/a.json: this is not a sample: it has no id",
        ),
        ("[" * 100_000, "log.json", "log.json: this is not JSON: it is nested too deep"),
    ],
)
def test_what_is_no_log_of_inspect_is_refused(
    complaints: Complaints, content: str | bytes, file: str, sentence: str
) -> None:
    assert complaints(content, "inspect", file) == [sentence]


def test_a_member_packed_in_a_way_unknown_here_says_what_helps(complaints: Complaints) -> None:
    """Method 98 is PPMd, which no Python unpacks."""
    packed = bytearray(archive_of({"samples/a.json": "{}"}))
    for signature, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        packed[packed.rindex(signature) + method] = 98
    [said] = complaints(bytes(packed), "inspect", "log.eval")
    assert said.startswith("log.eval/samples/a.json: its compression is not supported; inspect log")


def test_a_log_packed_with_zstandard_is_read(database: Database, load_text: Load, complaints: Complaints) -> None:
    log = archive_of({"samples/a.json": json.dumps(answer(1, 0.5))}, zipfile.ZIP_ZSTANDARD)
    load_text(log, "inspect", "log.eval")
    assert values(database) == [("m", "1", "accuracy", 0.5)]
    place = log.index(b"\x28\xb5\x2f\xfd", log.index(b"samples/a.json"))
    broken = log[: place + 4] + bytes(8) + log[place + 12 :]
    assert complaints(broken, "inspect", "log.eval") == [
        "log.eval/samples/a.json: this member of the archive is damaged"
    ]


def test_a_member_that_unpacks_to_too_much_is_refused(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "LARGEST_MEMBER", 1000)
    bomb = archive_of({"samples/a.json": " " * 5000 + "{}"})
    assert complaints(bomb, "inspect", "log.eval") == ["log.eval/samples/a.json: this is larger than 1,000 bytes"]
    monkeypatch.setattr(door, "UNSUSPICIOUS", 1000)
    bomb = archive_of({"samples/a.json": " " * 500_000 + "{}"})
    assert complaints(bomb, "inspect", "log.eval") == [
        "log.eval: unpacked, it is more than 200 times as large; load --max-unpacked SIZE allows more"
    ]


def test_real_logs_give_the_accuracy_that_they_print(database: Database, real_files: Path) -> None:
    for file in sorted((real_files / "inspect").glob("*.json")):
        log = json.loads(file.read_text())
        load(database, file, "inspect")
        [scores] = log["results"]["scores"]
        test_set = log["eval"]["task"]
        rows = database.rows(
            Sql(
                "select avg(value) from document_values where test_set = ? and measure = 'accuracy' "
                "union all select value::double from published_figures where test_set = ?",
                (test_set, test_set),
            )
        )
        metric = scores["metrics"].get("accuracy") or scores["metrics"]["mean"]
        assert [pytest.approx(metric["value"], abs=1e-9)] == [value for (value,) in rows if value is not None]
    agent = "anthropic/claude-opus-4-6(solver=agent_with_success_check,wrapped_agent=inspect_swe/claude_code)"
    assert failures(database) == [("cvebench", agent, "CVE-2024-36858-one_day", "error")]


def epochs_of(*values: list[object]) -> list[dict[str, object]]:
    """Samples with a value of `match` in each epoch."""
    return [
        {"id": number, "epoch": epoch, "scores": {"match": {"value": value}}}
        for number, of_sample in enumerate(values, start=1)
        for epoch, value in enumerate(of_sample, start=1)
    ]


def stating(samples: list[dict[str, object]], *figures: tuple[str, float]) -> str:
    """A log that states figures of `match`, by reducer."""
    scores = [
        {"name": "match", "scorer": "match", "reducer": reducer, "metrics": {"accuracy": {"value": value}}}
        for reducer, value in figures
    ]
    return log_of(*samples, results={"scores": scores})


def test_what_a_log_states_is_compared_with_its_samples(load_text: Load) -> None:
    samples = epochs_of(["C"], ["I"], ["P"], ["yes"])
    assert load_text(stating(samples, ("mean", 0.625)), "inspect", "l.json").disagreeing == ()
    assert load_text(stating(samples, ("mean", 0.9)), "inspect", "l.json").disagreeing == (
        "the summary of the log gives accuracy of match as 0.9, but the mean of the samples is 0.625",
    )


def test_epochs_are_reduced_as_the_log_says(load_text: Load) -> None:
    samples = epochs_of(["C", "C", "I"], ["I", "I", "C"], ["C", "C", "C"])
    right = [("mean", 2 / 3), ("median", 2 / 3), ("mode", 2 / 3), ("max", 1.0), ("at_least_2", 2 / 3),
             ("pass_at_2", (1 + 2 / 3 + 1) / 3), ("pass_k_2", (1 / 3 + 0 + 1) / 3)]  # fmt: skip
    assert load_text(stating(samples, *right), "inspect", "l.json").disagreeing == ()
    wrong = [(reducer, value / 2) for reducer, value in right]
    assert len(load_text(stating(samples, *wrong), "inspect", "l.json").disagreeing) == 6
    assert load_text(stating(samples, ("of_ours", 0.1)), "inspect", "l.json").disagreeing == ()


def test_reducers_of_a_log_without_samples_are_measures(database: Database, load_text: Load) -> None:
    load_text(stating([], ("mean", 0.5), ("max", 0.75)), "inspect", "l.json")
    rows = database.rows(Sql("select measure, value::double from published_figures order by all"))
    assert rows == [("accuracy", 0.5), ("accuracy:max", 0.75)]


def test_the_keys_of_a_scorer_have_figures_of_their_own(load_text: Load) -> None:
    samples = [answer(n, {"tone": n, "facts": 1}, scorer="judge") for n in (0, 1)]
    scores = [{"name": key, "scorer": "judge", "metrics": {"mean": {"value": value}}} for key, value in
              (("tone", 0.5), ("facts", 0.25))]  # fmt: skip
    loaded = load_text(log_of(*samples, results={"scores": scores}), "inspect", "l.json")
    assert loaded.disagreeing == (
        "the summary of the log gives mean of judge.facts as 0.25, but the mean of the samples is 1",
    )


SAID_OF_TASKS = [{}, {"lang": "de"}, {"lang": "en"}, {"lang": "de", "level": 2}, {"prompt": "Say\n" * 50}]
SAID_OF_MODELS: list[dict[str, object]] = [
    {},
    {"model_args": {"quantized": True}},
    {"model_generate_config": {"temperature": 0.7}},
    {"solver": "chain_of_thought"},
    {"solver": "chain_of_thought", "solver_args": {"steps": 3}},
]


def test_other_arguments_of_a_task_ask_something_else_and_make_a_test_set_of_their_own(
    database: Database, load_text: Load
) -> None:
    for number, arguments in enumerate(SAID_OF_TASKS):
        header = {**HEADER, "task_id": f"T{number}", "task_args": arguments}
        load_text(log_of(answer(1, number), eval=header), "inspect", f"{number}.json")
    found = database.rows(Sql("select test_set, system, value from document_values order by value"))
    assert [row[1:] for row in found] == [("m", float(number)) for number in range(len(SAID_OF_TASKS))]
    assert [str(test_set) for test_set, *_ in found[:4]] == [
        "quiz",
        "quiz:lang=de",
        "quiz:lang=en",
        "quiz:lang=de,level=2",
    ]
    assert len({test_set for test_set, *_ in found}) == len(SAID_OF_TASKS)


def test_a_model_that_answers_otherwise_is_another_system_and_no_run_of_the_first(
    database: Database, load_text: Load
) -> None:
    for number, said in enumerate(SAID_OF_MODELS):
        header = {**HEADER, "task_id": f"T{number}", **said}
        load_text(log_of(answer(1, number), eval=header), "inspect", f"{number}.json")
    assert [row[0] for row in database.rows(Sql("select system from document_values order by value"))] == [
        "m",
        "m(quantized=true)",
        "m(temperature=0.7)",
        "m(solver=chain_of_thought)",
        "m(solver=chain_of_thought,steps=3)",
    ]
    models = database.rows(Sql("select count(distinct model) from run"))
    assert models == [(len(SAID_OF_MODELS),)]


def test_the_settings_of_the_plan_count_and_those_of_its_operation_do_not(database: Database, load_text: Load) -> None:
    plan = {"config": {"temperature": 1.0, "max_retries": 8, "seed": 3, "max_connections": 4, "top_p": None}}
    load_text(log_of(answer(1, "C"), plan=plan), "inspect", "log.json")
    assert [row[0] for row in values(database)] == ["m(temperature=1.0)"]


def test_arguments_that_were_passed_name_a_task_and_defaults_do_not(database: Database, load_text: Load) -> None:
    header = {**HEADER, "task_args": {"lang": "de", "folder": "/tmp/x"}, "task_args_passed": {"lang": "de"}}
    load_text(log_of(answer(1, "C"), eval=header), "inspect", "log.json")
    assert database.rows(Sql("select name from test_set")) == [("quiz:lang=de",)]


def test_another_version_and_another_grader_are_other_tasks(database: Database, load_text: Load) -> None:
    roles = {"grader": {"model": "acme/judge", "config": {}}}
    others: list[dict[str, object]] = [{"task_version": 0}, {"task_version": 2}, {"model_roles": roles}]
    for number, said in enumerate(others):
        header: dict[str, object] = {**HEADER, "task_id": str(number), **said}
        load_text(log_of(answer(1, "C"), eval=header), "inspect", f"{number}.json")
    found = database.rows(Sql("select name from test_set order by name"))
    assert found == [("quiz",), ("quiz:grader=acme/judge",), ("quiz:version=2",)]


def test_the_number_of_samples_makes_no_other_task(database: Database, load_text: Load) -> None:
    for number, limit in enumerate((None, 1)):
        header = {**HEADER, "task_id": f"T{number}", "config": {"limit": limit}}
        load_text(log_of(answer(1, "C"), eval=header), "inspect", f"{number}.json")
    assert [row[0] for row in values(database)] == ["m", "m#2"]
    assert database.rows(Sql("select name from test_set")) == [("quiz",)]


def test_samples_of_another_dataset_under_the_same_ids_are_refused(database: Database, load_text: Load) -> None:
    def log(run: str, dataset: str) -> str:
        return log_of(answer(1, "C"), eval={**HEADER, "task_id": run, "dataset": {"name": dataset}})

    load_text(log("T1", "rivers"), "inspect", "rivers.json")
    assert load_text(log("T2", "rivers"), "inspect", "again.json").rows_new
    with pytest.raises(DataError, match="'dataset' mountains, but is stored with 'dataset' rivers"):
        load_text(log("T3", "mountains"), "inspect", "mountains.json")


def test_what_a_sample_took_is_kept_and_less_is_better(database: Database, load_text: Load) -> None:
    usage = {"input_tokens": 60, "output_tokens": 5, "total_tokens": 65, "total_cost": 0.25}
    usages = {"m": usage, "judge": {"input_tokens": 900, "output_tokens": 1, "total_tokens": 901}}
    took = answer(1, "C", model_usage=usages, working_time=1.5, total_time=9.0)
    load_text(log_of(took, answer(2, "I", model_usage={}, total_time=0)), "inspect", "log.json")
    assert [row[1:] for row in values(database)] == [
        ("1", "accuracy", 1.0),
        ("1", "cost", 0.25),
        ("1", "input_tokens", 60.0),
        ("1", "output_tokens", 5.0),
        ("1", "seconds", 1.5),
        ("1", "tokens", 65.0),
        ("2", "accuracy", 0.0),
    ]
    lower = database.rows(Sql("select measure from direction where lower_is_better order by measure"))
    assert [measure for (measure,) in lower] == ["input_tokens", "output_tokens", "seconds", "tokens"]


def test_a_score_of_that_name_stays_and_a_usage_of_other_models_is_left_out(
    database: Database, load_text: Load
) -> None:
    usages = {"a": {"total_tokens": 7}, "b": {"total_tokens": 8}}
    load_text(log_of(answer(1, 3, scorer="tokens", model_usage={"m": {"total_tokens": 9}})), "inspect", "one.json")
    assert [row[2:] for row in values(database)] == [("tokens", 3.0)]
    other = {**HEADER, "task": "other"}
    load_text(log_of(answer(1, "C", model_usage=usages), eval=other), "inspect", "two.json")
    assert len(values(database)) == 2
