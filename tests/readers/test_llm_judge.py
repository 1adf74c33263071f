"""Judgments of MT-Bench and Arena-Hard: grades by turn, and wins over both orders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.llm_judge import EXAMPLE
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.loading.staging.staged import name_it
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

GRADES = """\
{"question_id": 81, "model": "m1", "judge": ["gpt-4", "single-v1"], "judgment": "Good. [[8]]", "score": 8, "turn": 1}
{"question_id": 81, "model": "m1", "judge": ["gpt-4", "single-v1"], "judgment": "Fair. [[6]]", "score": 6, "turn": 2}
{"question_id": 82, "model": "m1", "judge": ["gpt-4", "single-v1"], "judgment": "Great. [[9]]", "score": 9, "turn": 1}
"""


def grade(question: int, score: float, turn: int = 1, **more: Any) -> dict[str, Any]:
    return {"question_id": question, "model": "m1", "judge": ["gpt-4", "v1"], "score": score, "turn": turn, **more}


def lines(*judgments: dict[str, Any]) -> str:
    return "".join(json.dumps(judgment) + "\n" for judgment in judgments)


def values(database: Database, measure: str) -> list[tuple[object, ...]]:
    query = "select test_set, system, document, value from document_values where measure = ? order by all"
    return database.rows(Sql(query, (measure,)))


def failures(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select item, reason from failures order by all"))


def test_a_question_is_graded_by_the_mean_of_its_turns(database: Database, load_text: Load) -> None:
    load_text(GRADES, "llm-judge", "gpt-4_single.jsonl")
    assert values(database, "score") == [("mt_bench", "m1", "81", 7.0), ("mt_bench", "m1", "82", 9.0)]
    assert values(database, "turn_1") == [("mt_bench", "m1", "81", 8.0), ("mt_bench", "m1", "82", 9.0)]
    assert values(database, "turn_2") == [("mt_bench", "m1", "81", 6.0)]
    assert database.rows(Sql("select run from runs")) == [("gpt-4 single-v1",)]


def test_grades_are_recognized_though_they_are_a_table_too(database: Database, tmp_path: Path) -> None:
    (tmp_path / "gpt-4_single.jsonl").write_text(GRADES)
    assert recognize(tmp_path / "gpt-4_single.jsonl", database).reader == "llm-judge"


def test_games_are_won_in_both_orders(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "llm-judge", "m1.jsonl")
    assert values(database, "win_rate") == [("arena-hard", "m1", "q1", 1.0), ("arena-hard", "m1", "q2", 0.25)]


def test_another_judge_is_another_run(database: Database, load_text: Load) -> None:
    load_text(lines(grade(81, 8), grade(81, 5, judge=["other", "v1"])), "llm-judge", "j.jsonl")
    assert [row[1::2] for row in values(database, "score")] == [("m1", 8.0), ("m1#2", 5.0)]


def test_a_judgment_without_a_grade_is_a_failure(database: Database, load_text: Load) -> None:
    load_text(lines(grade(81, 8), grade(82, -1)), "llm-judge", "j.jsonl")
    assert [row[2:] for row in values(database, "score")] == [("81", 8.0)]
    assert failures(database) == [("82", "not scored")]


def test_a_model_wins_a_pair_in_both_orders(database: Database, load_text: Load) -> None:
    def pair(question: int, first: str, second: str) -> dict[str, Any]:
        models = {"model_1": "m1", "model_2": "base"}
        return {"question_id": question, **models, "g1_winner": first, "g2_winner": second, "judge": "gpt-4", "turn": 1}

    outcomes = [("model_1", "model_1"), ("model_1", "model_2"), ("model_2", "model_2"), ("error", "tie")]
    load_text(lines(*(pair(place, *it) for place, it in enumerate(outcomes))), "llm-judge", "j.jsonl")
    assert values(database, "win_rate") == [
        ("mt_bench:base", "m1", "0", 1.0),
        ("mt_bench:base", "m1", "1", 0.5),
        ("mt_bench:base", "m1", "2", 0.0),
    ]
    assert failures(database) == [("3", "not scored")]


@pytest.mark.parametrize(
    ("verdicts", "won"),
    [(("A>B", "A>B"), 0.5), (("B>A", "A>B"), 1.0), (("A=B", "B>A"), 0.25), (("B>>A", "B>A"), 0.75)],
)
def test_the_baseline_is_first_in_the_first_game(
    database: Database, tmp_path: Path, verdicts: tuple[str, str], won: float
) -> None:
    folder = tmp_path / "arena-hard-v0.1" / "model_judgment" / "gpt-4"
    folder.mkdir(parents=True)
    games = [{"judgment": "so", "score": verdict} for verdict in verdicts]
    said = {"question_id": "q1", "model": "m1", "judge": "gpt-4", "games": games}
    lost = {"uid": "q2", "model": "m1", "judge": "gpt-4", "games": [games[0], {"score": None}]}
    (folder / "m1.jsonl").write_text(lines(said, lost))
    load(database, folder / "m1.jsonl", "llm-judge")
    assert values(database, "win_rate") == [("arena-hard-v0.1", "m1", "q1", won)]
    assert failures(database) == [("q2", "not scored")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "j.jsonl:1: this line is not JSON: Expecting property name enclosed in double quotes"),
        ('{"model": "m1", "score": 3}', "j.jsonl:1: this is not a judgment: it has no question_id"),
        ('{"question_id": 1}', f"j.jsonl: a judgment does not name the model; {name_it('system')}"),
        (
            lines({**grade(1, 3), "score": "high"}),
            "j.jsonl:1: this is not a judgment: expected 'float | null', got 'str' - at '$.score'",
        ),
    ],
)
def test_what_is_no_judgment_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "llm-judge", "j.jsonl") == [sentence]
