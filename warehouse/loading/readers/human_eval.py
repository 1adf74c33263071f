"""Results of HumanEval and of EvalPlus: which completions of a programming task passed its tests.

HumanEval writes a line for each completion, `samples.jsonl_results.jsonl`; EvalPlus writes one object,
`samples_eval_results.json`, with the tests of HumanEval or MBPP (base) and with its own beside them (plus). A document
is a task. Its completions are runs of the system and so the attempts of `pass(k=10)`. `accuracy` is 1 for completions
that passed. With EvalPlus that is `base`, what the base tests say; `plus` is 1 for those that passed both, which is the
accuracy of a test set of its own, `HumanEval:plus`. The pass@k of EvalPlus is computed again and compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from math import comb, nan
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.records import VALUES
from evalhouse.warehouse.loading.staging.decoding import decode_lines, decode_whole
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.naming import name_of_run
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure, Values
from evalhouse.warehouse.measures.values import ACCURACY

EXAMPLE = """\
{"task_id": "HumanEval/0", "completion": "    return 1\\n", "result": "passed", "passed": true}
{"task_id": "HumanEval/0", "completion": "    return 2\\n", "result": "failed: assertion", "passed": false}
{"task_id": "HumanEval/1", "completion": "    return 3\\n", "result": "timed out", "passed": false}
{"task_id": "HumanEval/1", "completion": "    return 4\\n", "result": "passed", "passed": true}
"""

EXAMPLE_OF_EVALPLUS = """\
{"date": "2026-03-02 10:00", "hash": "fe585eb4df8c88d844eeb463ea4d0302", "eval": {
  "HumanEval/0": [
    {"task_id": "HumanEval/0", "solution": "def f(): return 1", "base_status": "pass", "plus_status": "fail"},
    {"task_id": "HumanEval/0", "solution": "def f(): return 2", "base_status": "fail", "plus_status": "fail"}],
  "HumanEval/1": [
    {"task_id": "HumanEval/1", "solution": "def g(): return 3", "base_status": "pass", "plus_status": "pass"},
    {"task_id": "HumanEval/1", "solution": "def g(): return 4", "base_status": "pass", "plus_status": "pass"}]},
 "pass_at_k": {"base": {"pass@1": 0.75}, "plus": {"pass@1": 0.5}}}
"""

BASE, PLUS = "base", "plus"
"""The measures of completions that pass the base tests, and those of EvalPlus as well."""

MOST_RUNS = 1_000
"""How many completions of a task are read. Each becomes a system, and its name is searched among all."""

START = 65_536
"""How many bytes say whether a file is lines or one object."""

_PASSED = "pass"
_ALL = frozenset(("samples", "completions", "solutions", "results"))
"""Names of files that name no system."""

# === contents =========================================================================================================


class _Completion(Struct, frozen=True):
    """A line of HumanEval's results."""

    task_id: str | int
    passed: bool
    completion: str | None = None


class _Solution(Struct, frozen=True):
    """A completion in EvalPlus's results. Without the tests of EvalPlus, `plus_status` is None."""

    base_status: str | None
    plus_status: str | None = None
    solution: str | None = None


class _Results(Struct, frozen=True):
    """EvalPlus's results. Older ones have the statuses of all completions of a task in two lists."""

    eval: dict[str, list[_Solution] | dict[str, Any]]
    pass_at_k: dict[str, dict[str, float]] = {}


class _Attempt(Struct, frozen=True):
    """A completion of a task, and whether it passed the tests, by measure."""

    task: str
    passed: dict[str, bool]
    text: str | None
    line: int | None
    member: str | None


# === reading it =======================================================================================================


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages what each completion passed. Raises DataError if the file has no results of completions."""
    attempts, pass_at_k = _read(staging)
    test_set = staging.named("test_set", _benchmark(attempts), "the tasks are of several benchmarks")
    model = staging.named("system", _model(staging), "the file does not name the system")
    most = Counter(attempt.task for attempt in attempts)
    plus = staging.part(test_set, PLUS) if any(PLUS in attempt.passed for attempt in attempts) else ""
    systems: dict[str, None] = {}
    numbers: Counter[str] = Counter()
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        for attempt in attempts:
            numbers[attempt.task] += 1
            if numbers[attempt.task] > MOST_RUNS:
                raise staging.refusal(f"{attempt.task} has more than {MOST_RUNS:,} completions", attempt.line)
            run = name_of_run(None, numbers[attempt.task], max(most.values()) > 1)
            system = staging.replicate(model, test_set, run=run)
            systems[system] = None
            for measure, passed in attempt.passed.items():
                values.add(attempt.line, test_set, system, attempt.task, measure, int(passed), member=attempt.member)
            of = {"test_set": test_set, "system": system, "document": attempt.task}
            sheets.texts.outputs(attempt.line, [attempt.text], member=attempt.member, **of)
            if PLUS in attempt.passed:
                # With the name of the run that it is on the base tests.
                again = staging.replicate(model, plus, run=run)
                of_plus = int(attempt.passed[PLUS])
                values.add(attempt.line, plus, again, attempt.task, ACCURACY, of_plus, member=attempt.member)
        _state(staging, pass_at_k, test_set, tuple(systems))
        return sheets.staged()


def _read(staging: Staging) -> tuple[list[_Attempt], dict[str, dict[str, float]]]:
    """The completions, and the pass@k that the file states of them."""
    if not _is_lines(staging):
        attempts: list[_Attempt] = []
        stated: dict[str, dict[str, float]] = {}
        for document in documents(staging):
            results = decode_whole(document, _Results, "the results of EvalPlus")
            stated = results.pass_at_k
            for task, solutions in results.eval.items():
                listed = _of_older(solutions) if isinstance(solutions, dict) else solutions
                attempts += (
                    _Attempt(task, _passed(solution), solution.solution, None, document.member) for solution in listed
                )
        return attempts, stated
    lines = decode_lines(staging, _Completion, "a result of HumanEval")
    return [
        _Attempt(str(line.task_id), {ACCURACY: line.passed}, line.completion, number, document.member)
        for document, number, line in lines
    ], {}


def _is_lines(staging: Staging) -> bool:
    """Whether a file has a line for each completion, and not one object."""
    for document in documents(staging):
        with document.unbroken():
            begins = document.binary.read(START)
        return not all(key in begins for key in (b'"hash"', b'"eval"'))
    return False


def _of_older(said: dict[str, Any]) -> list[_Solution]:
    """The completions of a task in results of EvalPlus 0.1: {"nfiles": 1, "base": [["success", …]], "plus": []}."""
    base, plus = said.get("base") or [], said.get("plus") or []
    statuses = [[_PASSED if str(status[0]) == "success" else "fail" for status in of] for of in (base, plus)]
    return [_Solution(status, statuses[1][place] if plus else None) for place, status in enumerate(statuses[0])]


def _passed(solution: _Solution) -> dict[str, bool]:
    """What a completion passed; the tests of EvalPlus count together with the base tests."""
    base = solution.base_status == _PASSED
    of_plus = {} if solution.plus_status is None else {PLUS: base and solution.plus_status == _PASSED}
    return {ACCURACY: base, BASE: base, **of_plus}


def _benchmark(attempts: Iterable[_Attempt]) -> str | None:
    """The benchmark that the names of all tasks begin with: HumanEval/0 is of HumanEval."""
    names = {attempt.task.partition("/")[0] for attempt in attempts if "/" in attempt.task}
    return names.pop() if len(names) == 1 else None


_ENDING = re.compile(r"(\.jsonl)?([._](eval_)?results)?(\.jsonl|\.json)(\.gz|\.zst)?$", re.IGNORECASE)


def _model(staging: Staging) -> str | None:
    """The system that the file is named after: gpt-4_eval_results.json, or the folder of eval_results.json."""
    stem = _ENDING.sub("", staging.source.name)
    if stem.casefold() == "eval":
        stem = staging.source.absolute().parent.name
    return None if stem.casefold() in _ALL else stem.replace("--", "/") or None


def _state(staging: Staging, pass_at_k: dict[str, dict[str, float]], test_set: str, systems: tuple[str, ...]) -> None:
    for tests, figures in pass_at_k.items():
        for called, value in figures.items():
            k = called.removeprefix("pass@")
            if k.isdecimal() and tests in (BASE, PLUS):
                figure = StatedFigure(
                    *(test_set, systems, tests, f"{called} of {tests}", "the file"),
                    value,
                    over_runs=partial(_pass_at, int(k)),
                    computed_as=f"{called} of the completions here",
                )
                staging.state(figure)


def _pass_at(k: int, values: Values) -> float:
    """How probable it is that one of k completions of a task passes (Chen et al. 2021)."""
    total, right = len(values), sum(value >= 1 for value in values)
    return 1 - comb(total - right, k) / comb(total, k) if total >= k else nan


def _recognizes(start: Start) -> str | None:
    keys = start.keys
    if {("task_id",), ("completion",), ("passed",), ("result",)} <= keys and start.first.lstrip().startswith("{"):
        return "its completions that passed"
    tasks = any(path[0] == "eval" and len(path) == 2 and "/" in path[1] for path in keys)
    if tasks and {("hash",), ("eval",)} <= keys and ('"base_status"' in start.text or '"nfiles"' in start.text):
        return "its hash and the tasks in eval"
    return None


READER = Reader(
    "human-eval",
    "results of HumanEval and EvalPlus: which completions of a task passed",
    (VALUES,),
    EXAMPLE,
    stage,
    noun="task",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={"test_set": "{stem}"},
)
