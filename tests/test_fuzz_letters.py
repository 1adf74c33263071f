"""Statements with mistakes and with letters replaced by others from all of Unicode: each is parsed, or is an error with
a place. The parser raises nothing but QueryError, a parsed statement prints and parses again to the same nodes, and
every question is resolved or refused.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.highlighting import tokens
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import is_complete, parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.substitution import substitute
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements import resolve
from tests.counting import Count
from tests.grammar.test_other_cases import look_alikes
from tests.test_fuzz_queries import mutated

FEW = 1_000
MANY = int(os.environ.get("EVALHOUSE_EXAMPLES", "100000"))
"""EVALHOUSE_EXAMPLES=1000000 asks a million, which takes half an hour."""


@cache
def others() -> list[str]:
    """Letters that change when their case does, and signs that join letters."""
    letters = [letter for alike in look_alikes().values() for letter in alike]
    return [*letters, *"\u0307\u0345\u200d\ufe0f\u00ad\u0131\u01c5\u1e9e"]


def with_letters(text: str, chance: random.Random) -> str:
    """A text some letters of which are those that Unicode takes for them, in any table of cases."""
    letters = list(text)
    for _ in range(chance.choice((0, 1, 1, 2, 4))):
        place = chance.randrange(len(letters) + 1)
        if place < len(letters) and chance.random() < 0.8:
            alike = look_alikes().get(letters[place].lower()) or [letters[place].swapcase(), chance.choice(others())]
            letters[place] = chance.choice(alike)
        else:
            letters[place:place] = chance.choice([*others(), chr(chance.randrange(0x110000))])
    changed = "".join(letters)
    return chance.choice((str, str, str, str.upper, str.title, str.swapcase, str.casefold))(changed)


def statements(chance: random.Random, times: int) -> Iterator[str]:
    for _ in range(times):
        yield with_letters(mutated(chance), chance)


def read_or_refused(text: str, scope: Scope) -> bool:
    """Whether a text is read; every one of its statements is then printed, read again and resolved."""
    try:
        parsed = parse(text)
    except QueryError:
        return False
    for statement in parsed:
        assert to_text(parse(to_text(statement))[0]) == to_text(statement)
        # What changes the warehouse or the session is not resolved, but run.
        if not isinstance(statement, n.Let | n.Define | n.Load | n.Forget):
            with suppress(QueryError):
                resolve(substitute(statement, {}), scope)
    return True


@pytest.fixture(scope="module")
def scope(warehouses: dict[str, Path]) -> Iterator[Scope]:
    with Session.open(warehouses["sample"]) as session:
        yield Scope(session.catalog, {})


def asked(scope: Scope, times: int, seed: int, count: Count) -> None:
    read = sum(read_or_refused(text, scope) for text in statements(random.Random(seed), times))
    assert 0 < read < times
    count("statements with mistakes and odd letters: read, or refused with a place", times)


@pytest.mark.long
def test_odd_letters_are_read_or_refused(scope: Scope, count: Count) -> None:
    asked(scope, FEW, 18, count)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_many_of_them(scope: Scope, part: int, count: Count) -> None:
    asked(scope, MANY // 4, 19 + part, count)


def test_what_helps_to_type_reads_them_too() -> None:
    for text in statements(random.Random(7), 150):
        is_complete(text)
        tokens(text)
