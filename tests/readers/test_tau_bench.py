"""Trajectories of tau-bench: trials are runs, so that pass^k comes out; and the simulations of tau2-bench."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalhouse.warehouse.loading.readers.tau_bench import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

ON = {"test_set": "retail"}
FILE = "tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0612073827.json"


def values(database: Database, measure: str = "accuracy") -> list[tuple[object, ...]]:
    query = "select system, document, value from document_values where measure = ? order by all"
    return database.rows(Sql(query, (measure,)))


def test_trials_are_runs_of_the_model_that_the_file_names(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "tau-bench", FILE, fields=ON, texts=True)
    assert values(database) == [
        ("gpt-4o", "0", 1.0),
        ("gpt-4o", "1", 0.0),
        ("gpt-4o#2", "0", 1.0),
        ("gpt-4o#2", "1", 1.0),
    ]
    assert values(database, "reward") == values(database)
    query = "select kind, text from texts where document = '0' order by kind limit 2"
    assert database.rows(Sql(query)) == [
        ("input", "Cancel the order"),
        ("output", "user: Cancel it\n\nassistant: Done"),
    ]


def test_another_agent_of_the_model_is_another_system(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "tau-bench", FILE, fields=ON)
    loaded = load_text(EXAMPLE, "tau-bench", FILE.replace("tool-calling", "act"), fields=ON)
    assert {row[0] for row in values(database)} == {
        *("gpt-4o", "gpt-4o#2", "gpt-4o(agent=act,temperature=0.0)", "gpt-4o(agent=act,temperature=0.0)#2"),
    }
    assert any("run with other settings before" in note for note in loaded.notes)


def test_an_error_has_no_reward_and_is_a_failure(database: Database, load_text: Load) -> None:
    trial = {"task_id": 3, "reward": 0.0, "info": {"error": "timeout"}, "traj": [], "trial": 0}
    load_text(json.dumps([trial]), "tau-bench", "m1.json", fields=ON)
    assert values(database) == [("m1", "3", 0.0)]
    assert database.rows(Sql("select item, reason from failures")) == [("3", "error")]


def test_a_reward_in_between_is_no_success(database: Database, load_text: Load) -> None:
    load_text(json.dumps([{"task_id": 3, "reward": 0.5, "traj": []}]), "tau-bench", "m1.json", fields=ON)
    assert values(database) == [("m1", "3", 0.0)]
    assert values(database, "reward") == [("m1", "3", 0.5)]


def test_simulations_of_tau2_name_their_agent_and_domain(database: Database, load_text: Load) -> None:
    def simulation(task: str, reward: float | None, **more: Any) -> dict[str, Any]:
        return {"id": task, "task_id": task, "trial": 0, "reward_info": reward and {"reward": reward}, **more}

    said = {
        "info": {"agent_info": {"llm": "acme/m1"}, "environment_info": {"domain_name": "airline"}},
        "tasks": [],
        "simulations": [
            simulation("a", 1.0, duration=12.5, agent_cost=0.25, termination_reason="user_stop"),
            simulation("b", None, termination_reason="too_many_errors"),
            simulation("c", None, termination_reason="infrastructure_error"),
        ],
        "timestamp": "2026-03-02T10:00:00",
    }
    load_text(json.dumps(said), "tau-bench", "out.json")
    assert values(database) == [("acme/m1", "a", 1.0), ("acme/m1", "b", 0.0)]
    assert values(database, "seconds") == [("acme/m1", "a", 12.5)]
    assert values(database, "cost") == [("acme/m1", "a", 0.25)]
    assert database.rows(Sql("select test_set, item, reason from failures order by item")) == [
        ("airline", "b", "error"),
        ("airline", "c", "error"),
    ]
    assert database.rows(Sql("select run from runs")) == [("2026-03-02T10:00:00/0",)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "m1.json:1: this is not JSON: Expecting value"),
        ("{}", "m1.json: this is not a file of tau2-bench: object missing required field 'simulations'"),
        ("[]", "m1.json: it has nothing to store"),
        (
            '[{"task_id": 1, "reward": "high", "traj": []}]',
            "m1.json: this is not a list of trajectories of tau-bench: expected 'float', got 'str' - at '$[0].reward'",
        ),
    ],
)
def test_what_has_no_trials_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "tau-bench", "m1.json", fields=ON) == [sentence]
