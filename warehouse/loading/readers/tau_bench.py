"""Trajectories of tau-bench: the reward of an agent on each task, in several trials; and the simulations of tau2-bench.

A document is a task. Trials are runs of the agent, so `every(k=3)` is the benchmark's pass^3 and the mean over runs its
average reward. `accuracy` is 1 for trials with a reward of 1, and `reward` is the reward. A trial that ended with an
error has a reward of 0, as the benchmark counts it, and is a failure too.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.records import FAILURES, VALUES
from evalhouse.warehouse.loading.staging.decoding import LARGEST, convert, text_of
from evalhouse.warehouse.loading.staging.identity import QUESTION
from evalhouse.warehouse.loading.staging.json_values import ITEM
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.resources import Resources, directions
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.measures.values import ACCURACY

EXAMPLE = """\
[{"task_id": 0, "reward": 1.0, "info": {"task": {"user_id": "ada", "instruction": "Cancel the order"}},
  "traj": [{"role": "user", "content": "Cancel it"}, {"role": "assistant", "content": "Done"}], "trial": 0},
 {"task_id": 1, "reward": 0.0, "info": {"task": {"user_id": "bo", "instruction": "Return the lamp"}},
  "traj": [{"role": "user", "content": "Take it back"}, {"role": "assistant", "content": "No"}], "trial": 0},
 {"task_id": 0, "reward": 1.0, "info": {"task": {"user_id": "ada", "instruction": "Cancel the order"}},
  "traj": [{"role": "user", "content": "Cancel it"}, {"role": "assistant", "content": "Done"}], "trial": 1},
 {"task_id": 1, "reward": 1.0, "info": {"task": {"user_id": "bo", "instruction": "Return the lamp"}},
  "traj": [{"role": "user", "content": "Take it back"}, {"role": "assistant", "content": "Yes"}], "trial": 1}]
"""

REWARD = "reward"

_SUCCESS = 1e-6
"""How far from 1 a reward may be that is a success, as the benchmark has it."""

# === contents =========================================================================================================


class _Trajectory(Struct, frozen=True):
    """A trial of tau-bench."""

    task_id: int | str
    reward: float
    trial: int = 0
    info: dict[str, Any] = {}
    traj: list[dict[str, Any]] = []


class _Reward(Struct, frozen=True):
    reward: float | None = None


class _Simulation(Struct, frozen=True):
    """A trial of tau2-bench. One that ended too early may have no reward."""

    task_id: int | str
    trial: int | None = 0
    reward_info: _Reward | None = None
    termination_reason: str | None = None
    duration: float | None = None
    agent_cost: float | None = None
    messages: list[dict[str, Any]] | None = None


class _Agent(Struct, frozen=True):
    llm: str | None = None


class _Domain(Struct, frozen=True):
    domain_name: str | None = None


class _About(Struct, frozen=True):
    agent_info: _Agent | None = None
    environment_info: _Domain | None = None


class _Simulations(Struct, frozen=True):
    """A file of tau2-bench."""

    simulations: list[_Simulation]
    info: _About = _About()
    timestamp: str | None = None


class _Trial(Struct, frozen=True):
    """A trial of a task, in either benchmark."""

    task: str
    number: int
    reward: float
    failed: bool
    counted: bool
    instruction: str | None
    messages: list[dict[str, Any]]
    took: Resources

    def values(self) -> dict[str, float]:
        """The measures of the trial."""
        return {ACCURACY: float(abs(self.reward - 1) <= _SUCCESS), REWARD: self.reward, **dict(self.took)}


_NOT_COUNTED = frozenset(("infrastructure_error", "context_window_exceeded"))
"""The reasons why a simulation ended that tau2-bench leaves out of its averages."""

_ERRORS = _NOT_COUNTED | {"agent_error", "user_error", "too_many_errors", "unexpected_error"}
"""The reasons why a simulation ended that are errors."""

_FILE = re.compile(
    r"(?P<agent>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>[0-9.]+)_range_.*_user-.*_(?P<date>[0-9]+)"
)
"""How tau-bench names its files: tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0612073827.json."""

# === reading it =======================================================================================================


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the rewards of all trials. Raises DataError if the file has no trials of tasks."""
    with Sheets(staging, VALUES, FAILURES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        measures: dict[str, None] = {}
        for document in documents(staging):
            trials, about, timestamp = _trials(document)
            named = _FILE.fullmatch(staging.source.name.partition(".json")[0])
            domain = about.environment_info.domain_name if about.environment_info else None
            said = about.agent_info.llm if about.agent_info else None
            test_set = staging.named("test_set", domain, "")
            model = staging.named("system", said or (named["model"] if named else None), "")
            settings = f"agent={named['agent']},temperature={named['temperature']}" if named else ""
            log = named["date"] if named else timestamp
            for trial in trials:
                # With the time of the log, so that another log of the agent has runs of its own.
                run = f"{log}/{trial.number}" if log else str(trial.number)
                system = staging.replicate(model, test_set, run=run, settings=settings)
                for measure, value in trial.values().items() if trial.counted else ():
                    values.add(None, test_set, system, trial.task, measure, value, member=document.member)
                    measures[measure] = None
                if trial.failed:
                    failures.add(None, test_set, system, trial.task, "error", member=document.member)
                of: dict[str, object] = {"test_set": test_set, "document": trial.task}
                sheets.identify(None, {QUESTION: trial.instruction}, member=document.member, **of)
                if sheets.texts.wanted:
                    sheets.texts.input(None, trial.instruction, member=document.member, **of)
                    conversation = [_conversation(trial.messages)]
                    sheets.texts.outputs(None, conversation, member=document.member, system=system, **of)
        return sheets.staged(staging.notes_on_settings(), directions(measures))


def _trials(document: Document) -> tuple[list[_Trial], _About, str | None]:
    """The trials of a file, what it says of them, and its time."""
    said = document.json(LARGEST)
    if isinstance(said, dict):
        of_tau2 = convert(document, said, _Simulations, "a file of tau2-bench")
        return [_of_tau2(simulation) for simulation in of_tau2.simulations], of_tau2.info, of_tau2.timestamp
    trajectories = convert(document, said, list[_Trajectory], "a list of trajectories of tau-bench")
    return [_of_tau(trajectory) for trajectory in trajectories], _About(), None


def _of_tau(trial: _Trajectory) -> _Trial:
    task = trial.info.get("task")
    instruction = text_of(task.get("instruction")) if isinstance(task, dict) else None
    failed = "error" in trial.info
    return _Trial(*(str(trial.task_id), trial.trial, trial.reward, failed, True, instruction, trial.traj, Resources()))


def _of_tau2(trial: _Simulation) -> _Trial:
    reward = trial.reward_info.reward if trial.reward_info else None
    failed, counted = trial.termination_reason in _ERRORS, trial.termination_reason not in _NOT_COUNTED
    took = Resources(seconds=trial.duration, cost=trial.agent_cost)
    return _Trial(
        str(trial.task_id), trial.trial or 0, reward or 0.0, failed, counted, None, trial.messages or [], took
    )


def _conversation(messages: list[dict[str, Any]]) -> str | None:
    """What was said after the system's message, each under its role."""
    said = [(message.get("role"), text_of(message.get("content"))) for message in messages]
    return "\n\n".join(f"{role}: {text}" for role, text in said if text and role != "system") or None


def _recognizes(start: Start) -> str | None:
    keys = start.keys
    if {(ITEM, "task_id"), (ITEM, "reward"), (ITEM, "traj")} <= keys:
        return "its rewards and trajectories"
    if {("simulations",), ("tasks",), ("info",)} <= keys:
        return "its simulations of tasks"
    return None


READER = Reader(
    "tau-bench",
    "trajectories of tau-bench and simulations of tau2-bench: rewards by task and trial",
    (VALUES, FAILURES),
    EXAMPLE,
    stage,
    noun="task",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
