"""The page that says what a field's words are called here: each of its names is a measure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalhouse.grammar import nodes as n
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.measures import find_measure
from evalhouse.warehouse.measures.values import says_right

PAGE = Path("docs/language/what-your-field-calls-it.md")

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text().splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| the word"))
]

NAMES = [name for row in ROWS for cell in row[:2] for name in re.findall(r"`([^`]+)`", cell)]


def test_each_row_says_all() -> None:
    assert len(ROWS) > 30
    assert all(len(row) == 4 and all(row) for row in ROWS)
    assert all("`" in row[1] for row in ROWS)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_a_measure(name: str) -> None:
    [score] = parse(f"score {name} for all")
    assert isinstance(score, n.Score)
    [measure] = score.measures
    call = measure.measure if isinstance(measure, n.Mean) else measure
    found = [known for kind in KINDS if (known := find_measure(call.name, kind)) is not None]
    assert found or says_right(call.name), name
    parameters = {parameter.name for known in found for parameter in known.parameters}
    assert {argument.name for argument in call.parameters} <= parameters
