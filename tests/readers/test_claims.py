"""Each reader claims the files of its own format and no others: neither those of another reader, nor those of tools
that no reader reads, nor its own keys inside something else.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.loading.readers import READERS, Start
from evalhouse.warehouse.loading.readers.lm_eval import EXAMPLE as SAMPLES
from evalhouse.warehouse.loading.readers.recognition import recognize_file
from evalhouse.warehouse.loading.readers.trec import EXAMPLE_RUN
from evalhouse.warehouse.loading.staging.json_values import key_paths
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database

DATE = "2026-01-16T15-23-47.285735"

Named = tuple[str, str]
"""The name and the text of a file."""

# --- files that are read ----------------------------------------------------------------------------------------------

RESULTS = {"results": {"arith": {"alias": "arith", "acc,none": 0.5}}, "configs": {}, "model_name": "phi"}
STATS = [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0, "sum_squared": 1.0}]
FIGURES = {"evaluation_id": "e", "model_info": {"id": "m"}, "evaluation_results": []}
ANSWER = {"evaluation_id": "e", "model_id": "m", "evaluation_name": "t", "sample_id": "q", "evaluation": {"score": 1}}
OF_ONE = {"a__a-1": {"patch_is_None": False, "patch_successfully_applied": True, "resolved": True}}
SUBMISSION = {"no_generation": [], "generated": ["a"], "resolved": ["a"]}
OLD_TASK = {"mteb_version": "1.0.2", "mteb_dataset_name": "STS", "test": {"cos_sim": {"spearman": 0.5}}}

GRADED = {
    "gradingResult": {"pass": True, "score": 1.0},
    "prompt": {"raw": "Name a mountain", "label": "main"},
    "provider": {"id": "acme:m1", "label": ""},
    "score": 1.0,
    "success": True,
    "testIdx": 0,
}
DONE = {"task_id": "HumanEval/0", "solution": "pass", "base_status": "pass", "plus_status": "fail"}
METRIC = {"name": "Faithfulness", "threshold": 0.5, "success": True, "score": 0.9}
CASE = {"name": "test_case_0", "input": "Hi", "actualOutput": "Ho", "success": True, "metricsData": [METRIC]}
EVENTS = (
    {"spec": {"completion_fns": ["m1"], "eval_name": "quiz.dev.v0", "split": "dev", "run_id": "r1"}},
    {"run_id": "r1", "event_id": 0, "sample_id": "quiz.0", "type": "match", "data": {"correct": True}},
    {"final_report": {"accuracy": 1.0}},
)
TRAJECTORY = {"task_id": 0, "reward": 1.0, "info": {"task": {"user_id": "u0"}}, "traj": [], "trial": 0}
COMPLETED = {"task_id": "HumanEval/0", "completion": "    pass\n", "result": "passed", "passed": True}
GENERATED = {"prompt": "Q0", "origin_prediction": "A", "predictions": "A", "references": "A", "correct": True}
GAMES = {"question_id": "q1", "model": "m1", "judge": "gpt-4", "games": [{"judgment": "so", "score": "A>B"}]}
PAIRED = {"question_id": 81, "model_1": "m1", "model_2": "m2", "g1_winner": "tie", "g2_winner": "tie", "judge": ["j"]}
DETAILED = {"accuracy": 50.0, "details": {"0": GENERATED, "1": GENERATED, "type": "GEN"}}
LIGHTEVAL = {
    "config_general": {"model_name": "org/m1"},
    "results": {"quiz|0": {"em": 0.5, "em_stderr": 0.1}, "all": {"em": 0.5}},
    "versions": {},
    "config_tasks": {},
    "summary_tasks": {},
}
RUN = {"testCases": [CASE], "metricsScores": []}
SOLVED = {"date": "2026-03-02", "hash": "h", "eval": {"HumanEval/0": [DONE]}}
SIMULATED = {"timestamp": "2026", "info": {"num_trials": 1}, "tasks": [{"id": "0"}], "simulations": [{"task_id": "0"}]}
GRADED_ALL = {"evalId": "e", "results": {"version": 3, "results": [GRADED]}, "config": {}}

READ: list[tuple[str, Named]] = [
    *((reader.name, ("file", reader.example)) for reader in READERS.values()),
    ("trec", ("base.run", EXAMPLE_RUN)),
    ("lm-eval", (f"samples_arith_{DATE}.jsonl", SAMPLES)),
    ("lm-eval", (f"results_{DATE}.json", json.dumps(RESULTS))),
    ("lm-eval", (f"results_{DATE}.json", json.dumps(RESULTS, indent=2))),
    ("helm", ("stats.json", json.dumps(STATS))),
    ("every-eval-ever", ("r.json", json.dumps(FIGURES, indent=4))),
    ("every-eval-ever", ("r_samples.jsonl", json.dumps(ANSWER))),
    ("swe-bench", ("report.json", json.dumps(OF_ONE))),
    ("swe-bench", ("results.json", json.dumps(SUBMISSION, indent=2))),
    ("mteb", ("STS.json", json.dumps(OLD_TASK))),
    ("promptfoo", ("output.json", json.dumps(GRADED_ALL))),
    ("promptfoo", ("output.json", json.dumps(GRADED_ALL, indent=2))),
    ("promptfoo", ("output.jsonl", json.dumps({**GRADED, "promptIdx": 0}) + "\n")),
    ("deepeval", (".latest_test_run.json", json.dumps({"testRunData": RUN}))),
    ("deepeval", ("test_run_20260302.json", json.dumps(RUN, indent=4))),
    ("human-eval", ("s.jsonl_results.jsonl", "".join(json.dumps(COMPLETED) + "\n" for _ in range(3)))),
    ("human-eval", ("m1_eval_results.json", json.dumps(SOLVED))),
    ("human-eval", ("m1_eval_results.json", json.dumps(SOLVED, indent=2))),
    ("tau-bench", ("m1.json", json.dumps([TRAJECTORY, {**TRAJECTORY, "task_id": 1}], indent=2))),
    ("tau-bench", ("m1.json", json.dumps(SIMULATED))),
    ("openai-evals", ("r1_m1_quiz.jsonl", "".join(json.dumps(event) + "\n" for event in EVENTS))),
    ("lighteval", (f"results_{DATE}.json", json.dumps(LIGHTEVAL, indent=2))),
    ("opencompass", ("quiz.json", json.dumps(DETAILED))),
    ("opencompass", ("quiz.json", json.dumps(DETAILED, indent=4))),
    ("opencompass", ("quiz.json", json.dumps({"details": [{"example_abbr": "a_0", "correct": [True]}]}))),
    ("opencompass", ("quiz.json", json.dumps({"0": {"origin_prompt": "Q", "prediction": "A", "gold": "A"}}))),
    ("opencompass", ("summary_20260302_100000.csv", "dataset,version,metric,mode,m1\nquiz,1d7,accuracy,gen,50.00\n")),
    ("llm-judge", ("m1.jsonl", json.dumps(GAMES) + "\n")),
    ("llm-judge", ("gpt-4_pair.jsonl", json.dumps(PAIRED) + "\n")),
    ("trec-eval", ("all.eval", "runid\tall\tbase\nmap\tall\t0.5000\n")),
]

# --- files that are not read ------------------------------------------------------------------------------------------

NOT_READ: dict[str, list[tuple[str, Any]]] = {
    "bigcode-evaluation-harness": [
        ("results.json", {"humaneval": {"pass@1": 0.5}, "config": {"model": "acme/m1", "temperature": 0.2}})
    ],
    "simple-evals": [("simpleqa_m1.json", {"score": 0.5, "metrics": {"is_correct": 0.5}, "convos": []})],
}

OTHERS: list[tuple[str, Named]] = [
    *((tool, (name, json.dumps(said))) for tool, files in NOT_READ.items() for name, said in files),
    *((tool, (name, json.dumps(said, indent=2))) for tool, files in NOT_READ.items() for name, said in files),
    ("opencompass", ("summary.csv", "dataset,version,metric,mode,m1-hf,m2-hf\nquiz,1d7fe4,accuracy,gen,50.00,75.00\n")),
]


@pytest.fixture(scope="module")
def untouched() -> Iterator[Database]:
    with in_memory() as database:
        yield database


def claims(named: Named) -> set[str]:
    """The readers that are sure that a file is theirs, each asked alone."""
    name, text = named
    found = {
        reader.name: reader.recognizes(Start(name.casefold(), text, path=Path(name))) for reader in READERS.values()
    }
    return {
        reader
        for reader, claim in found.items()
        if claim and not (getattr(claim, "unsure", "") or getattr(claim, "lacks", ""))
    }


@pytest.mark.parametrize(("reader", "named"), READ, ids=lambda it: it if isinstance(it, str) else it[0])
def test_a_file_is_claimed_by_its_own_reader_alone(reader: str, named: Named) -> None:
    assert claims(named) == {reader}


@pytest.mark.parametrize(("tool", "named"), OTHERS, ids=lambda it: it if isinstance(it, str) else it[0])
def test_a_file_of_a_tool_that_is_not_read_is_claimed_by_none(
    untouched: Database, tmp_path: Path, tool: str, named: Named
) -> None:
    assert claims(named) == set(), tool
    (tmp_path / named[0]).write_text(named[1])
    known = recognize_file(tmp_path / named[0], untouched)
    assert known is None or known.lacks == "system"  # a table of one system, if a person says so


def test_the_details_of_lighteval_are_claimed_by_its_reader(untouched: Database, tmp_path: Path) -> None:
    details = pyarrow.table(
        {
            "doc": [{"query": "Q0?", "choices": ["yes", "no"], "id": "0", "task_name": "quiz|0"}],
            "model_response": [{"input": "Q0?", "text": ["yes"]}],
            "metric": [{"em": 1.0}],
        }
    )
    file = tmp_path / f"details_quiz|0_{DATE}.parquet"
    pyarrow.parquet.write_table(details, file)
    found = recognize_file(file, untouched)
    assert found is not None
    assert found.reader == "lighteval"


def of_table(text: str) -> Any:
    rows = list(csv.DictReader(io.StringIO(text)))
    return rows[0] if rows else text


def parsed(text: str) -> Any:
    """A file as a JSON value: a table as its first row, JSON lines as their first value, other texts as they are."""
    for part in (text, text.partition("\n")[0]):
        try:
            return json.loads(part)
        except ValueError:
            continue
    return of_table(text) if "," in text else text


@settings(max_examples=200)
@given(
    st.sampled_from([parsed(text) for _, (_, text) in READ]),
    st.lists(st.sampled_from(["data", "run", "x", "item"]), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from(["output.json", "stats.json", f"results_{DATE}.json", f"samples_t_{DATE}.jsonl", "log.json"]),
    st.sampled_from([None, 2]),
)
def test_what_a_format_has_inside_something_else_is_not_that_format(
    said: Any, around: list[str], listed: bool, name: str, indent: int | None
) -> None:
    for key in around:
        said = {"other": 1, key: [said] if listed else said}
    # A list of records inside an object is a table of one's own.
    assert claims((name, json.dumps(said, indent=indent))) <= ({"table"} if listed else set())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def paths_of(said: Any, around: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(said, list):
        for item in said:
            yield from paths_of(item, (*around, "[]"))
    elif isinstance(said, dict):
        for key, item in said.items():
            escaped = json.dumps(key)[1:-1]
            yield (*around, escaped)
            yield from paths_of(item, (*around, escaped))


@given(JSON, st.sampled_from([None, 1]), st.integers(0, 200))
@example([{"a": {"b": '": {"c": 1}'}}], None, 17)
@example({"a": "\\"}, None, 8)
def test_the_keys_of_a_text_are_those_of_its_value(said: Any, indent: int | None, cut: int) -> None:
    text = json.dumps(said, indent=indent)
    wanted = {path for path in paths_of(said) if len(path) <= 3}
    assert key_paths(text) == wanted
    assert key_paths(text[:cut]) <= wanted
