"""What answers say in one sentence: names, directions, numbers and verdicts of their rows, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.results import CellKind, Column, Table
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements import sentences

# === pairs, whatever their rows =======================================================================================

COLUMNS = (
    *(Column(name, "name") for name in ("test_set", "measure", "system_a", "system_b")),
    Column("difference", "difference"),
    Column("ci_low", "difference", "95% CI"),
    Column("ci_high", "difference"),
    *(Column(name, "probability") for name in ("p", "p_adjusted")),
    Column("verdict", "text"),
    Column("level", "number"),
)

VERDICTS = ("significant", "not significant", "undecided", "equivalent", "not worse", "better", "worse", "inconclusive")

numbers = st.floats(-1, 1, allow_nan=False)

rows_of_pairs = st.builds(
    lambda a, b, measure, difference, half, p, verdict: (
        "TST3", measure, a, b, difference, difference - half, difference + half, p, None, verdict, 0.05,
    ),
    st.sampled_from(["ge", "umass"]),
    st.sampled_from(["sri", "bbn"]),
    st.sampled_from(["F(beta=1)", "seconds"]),
    numbers,
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(VERDICTS),
)  # fmt: skip


def said_of(*rows: tuple[Any, ...]) -> str:
    return sentences.of_pairs(Table(COLUMNS, rows), {"seconds"})


@given(rows_of_pairs)
def test_a_pair_is_told_with_its_names_its_direction_and_its_verdict(row: tuple[Any, ...]) -> None:
    said = said_of(row)
    _, measure, a, b, difference, _, _, p, _, verdict, _ = row
    assert a in said
    assert b in said
    assert ("F1" if measure == "F(beta=1)" else measure) in said
    ahead = f"{a} is" in said and "ahead of" in said
    behind = f"{a} is" in said and "behind" in said
    if ahead or behind:
        assert ahead == ((difference > 0) != (measure == "seconds"))
    if verdict == "significant":
        assert ", significant (" in said
    else:
        assert not re.search(r"(?<!not )\bsignificant", said)
    assert ("ndecided" in said) == (verdict == "undecided")
    assert ("Inconclusive" in said) == (verdict == "inconclusive")
    assert ("equivalent" in said) == (verdict == "equivalent")
    if verdict == "not significant":
        told = re.search(r"p ([<=]) (\.\d+|1\.00)", said)
        assert told is not None
        assert (p < 0.0001) if told[1] == "<" else abs(float(told[2]) - p) <= max(0.06 * p, 0.00005)


@given(rows_of_pairs)
def test_the_numbers_of_a_sentence_are_those_of_its_row(row: tuple[Any, ...]) -> None:
    said = said_of(row).replace("−", "-")
    known = [abs(100 * row[4]), *(100 * limit for limit in row[5:7])]
    told = [float(found) for found in re.findall(r"[-+]?\d+\.\d+(?= points| to |\))", said.partition("p =")[0])]
    assert all(any(abs(number - one) <= 0.05 + 1e-9 for one in known) for number in told)


@given(st.lists(rows_of_pairs, min_size=2, max_size=8))
def test_of_several_pairs_it_is_counted_what_was_decided(rows: list[tuple[Any, ...]]) -> None:
    said = said_of(*rows)
    verdicts = [row[9] for row in rows]
    assert said.startswith(f"Of {len(rows)} ")
    if "undecided" in verdicts:
        assert f"{verdicts.count('undecided')} {'is' if verdicts.count('undecided') == 1 else 'are'} undecided" in said
    if "inconclusive" in verdicts:
        assert "inconclusive" in said


@given(st.floats(0, 1, exclude_min=True))
def test_a_p_is_never_told_as_the_level_that_it_is_not(p: float) -> None:
    said = sentences.chance(p, 0.05)
    assert said == "p < .0001" if p < 0.0001 else said.startswith(("p = .", "p = 1.00"))
    if said == "p = .05":
        assert abs(p - 0.05) < 0.00005


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open(None) as there:
        yield there


# === every statement ==================================================================================================

STATEMENTS = (
    "score F for all on TST3",
    "score F for GE on TST3 interval",
    "compare F for GE, UMASS on TST3",
    "compare F for all against GE on TST3 shuffles 99",
    "compare F for all on TST3 shuffles 99",
    "compare F for GE, UMASS on TST3 margin 20%",
    "compare F for GE-CMU, UMASS on TST3 margin 1%",
    "compare F for GE, UMASS over test sets shuffles 99",
    "group F on TST3 shuffles 99",
    "rank F on TST3 shuffles 99",
    "table F for all on TST3",
    "documents F for GE, UMASS on TST3 limit 2",
    "power F for GE, UMASS on TST3",
    "expect better compare F for GE against UMASS on TST3",
    "replicate F for GE, UMASS from TST3 to TST4",
    "change F from TST3 to TST4",
    "generality on TST3",
    "audit published on TST2",
    "coverage on TST3",
    "confusion of filtering for GE on TST3",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_says_its_answer(session: Session, statement: str) -> None:
    result = session.run(statement)
    assert re.fullmatch(r"[A-Z0-9].*\.", result.sentence)
    assert result.as_dict()["sentence"] == result.sentence
    assert result.foot.endswith(f"numbers {result.digits}")
    assert len(result.digits) == 8


NUMBERS: dict[str, CellKind] = {"m": "number"}

VALUES = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from([0.0, 0.5, 1.0, 12345.0])),
    unique_by=lambda row: row[0],
    min_size=1,
)


def valued(*found: tuple[str, float | None]) -> list[dict[str, Any]]:
    return [{"test_set": "t", "measure": "m", "system": name, "value": value} for name, value in found]


@given(VALUES, st.booleans())
def test_whoever_has_the_best_value_is_named_and_nobody_else(found: list[tuple[str, float]], less: bool) -> None:
    said = sentences.of_values(valued(*found), NUMBERS, {"m"} if less else ())
    best = (min if less else max)(value for _, value in found)
    first = [name for name, value in found if value == best]
    assert "e+" not in said
    if len(found) == 1:
        assert said.startswith(f"The m of {found[0][0]} on t is ")
        return
    assert said.startswith(f"Of {len(found)} systems, ")
    assert ("the same m" in said) == (len(first) == len(found))
    named = said.partition(", ")[2].partition(" ha")[0]
    assert len(first) > sentences.NAMED or re.findall(r"\b[a-f]\b", named) == first


@given(VALUES, st.integers(1, 6))
def test_systems_of_one_value_lead_together(found: list[tuple[str, float]], close: int) -> None:
    in_order = sorted(found, key=lambda row: -row[1])
    columns = [Column(name, "name") for name in ("test_set", "measure", "system", "value", "rank_low", "undecided")]
    rows = [("t", "m", name, value, 1 if at < close else 2, None) for at, (name, value) in enumerate(in_order)]
    said = sentences.of_ranks(Table(tuple(columns), tuple(rows)))
    first = [name for name, value in in_order if value == in_order[0][1]]
    assert ("leads in m on t" in said) == (len(first) == 1)
    assert ("are level at the front in m on t" in said) == (len(first) > 1)
    behind = len(found) - max(len(first), min(close, len(found)))
    assert ("significantly behind" in said.replace("not significantly behind", "")) == (
        len(found) > len(first) and behind == len(found) - len(first)
    )


def test_values_on_different_documents_have_no_best() -> None:
    rows = valued(("a", 1.0), ("b", 0.5))
    assert sentences.of_values(rows, NUMBERS, ()) == "Of 2 systems, a has the highest m on t (1)."
    assert sentences.of_values(rows, NUMBERS, {"m"}) == "Of 2 systems, b has the lowest m on t (0.5)."
    assert sentences.of_values(rows, NUMBERS, (), uneven={("t", "m")}) == ""
    assert sentences.of_values(rows, NUMBERS, (), shown={"b"}) == ""


def test_an_undefined_value_leads_nowhere() -> None:
    assert sentences.of_values(valued(("a", None), ("b", None)), NUMBERS, ()) == ""
    assert sentences.of_values(valued(("a", None)), NUMBERS, ()) == ""
