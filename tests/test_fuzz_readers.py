# ruff: noqa: E501 - the table of what is odd
"""Files with mistakes in them, for every reader, and texts that are not statements: whatever is in them, they are
loaded or refused in sentences, and the warehouse stays sound. EVALHOUSE_EXAMPLES=20000 makes more of them.
"""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.significance.exact import counting
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.upgrading import check
from tests.counting import Count

EXAMPLES = int(os.environ.get("EVALHOUSE_EXAMPLES", "1500"))

ODD = (
    b"\0", b'"', b"'", b",", b"\t", b"\r", b"\n", b"\xef\xbb\xbf", b"\xff", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04",
    b"{", b"}", b"[" * 200, b"1e999", b"-1", b"99999999999999999999", b"0x10", b"nan", b"null", b"true", b"\xe2\x80\xae",
    b"x" * 300, b"=1+1", b"\x1b[31m", b"'; drop table score; --", b" ", b"",
)  # fmt: skip


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A file with up to two mistakes in it, some of them compressed."""
    for _ in range(chance.randint(0, 2)):
        place, length = chance.randrange(len(content) + 1), chance.randrange(1, 30)
        match chance.randrange(6):
            case 0:
                content = content[:place] + chance.choice(ODD) + content[place:]
            case 1:
                content = content[:place] + content[place + length :]
            case 2:
                content = content[:place] + content[place : place + length] * 2 + content[place + length :]
            case 3:
                content = content[:place]
            case 4 if content:
                place %= len(content)
                content = content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]
            case _:
                lines = content.splitlines(keepends=True)
                chance.shuffle(lines)
                content = b"".join(lines)
    return content


@pytest.mark.fuzz
def test_files_with_mistakes_are_loaded_or_refused(tmp_path: Path, count: Count) -> None:
    chance = random.Random(8)
    readers = list(READERS.values())
    loaded = refused = 0
    for number in range(max(EXAMPLES // 25, len(readers))):
        reader = readers[number % len(readers)]
        content = mutated(reader.example.encode(), chance)
        file = tmp_path / chance.choice(("in.csv", "in.jsonl", "in.txt", "in.tsv"))
        if chance.random() < 0.1:
            file = file.with_name(file.name + ".gz")
            content = gzip.compress(content, mtime=0)
            content = mutated(content, chance) if chance.random() < 0.5 else content
        file.write_bytes(content)
        given = {} if chance.random() < 0.3 else {"system": "S", "test_set": "T"}
        with in_memory() as database:
            try:
                name = recognize(file, database).reader if chance.random() < 0.2 else reader.name
                load(database, file, name, fields=given if READERS[name].columns else {})
                loaded += 1
            except DataError as error:
                said = [fault.message for fault in error.faults]
                refused += 1
                if not all(said or [""]):
                    pytest.fail(f"refused without a reason: {content!r}")
            assert check(database) == (), content
    count("files with mistakes that were loaded", loaded)
    count("files with mistakes that were refused", refused)
    assert loaded
    assert refused


@settings(max_examples=max(EXAMPLES // 15, 50), deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_statements_or_an_error_with_a_place(text: str) -> None:
    try:
        statements = parse(text)
    except QueryError as error:
        if not error.message or not 0 <= error.span.start <= error.span.end <= len(text) + 1:
            pytest.fail(f"not said well: {error}")
        return
    assert parse("; ".join(map(to_text, statements))) == statements


@settings(max_examples=max(EXAMPLES // 15, 50), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12),
    st.integers(0, 11),
    st.integers(1, 9),
)
def test_p_falls_as_the_observed_difference_grows(pairs: list[tuple[int, int]], document: int, more: int) -> None:
    """One document in which A is better by more raises what was observed by as much as any exchange at most."""
    ones = np.ones(len(pairs), dtype=np.int64)
    a, b = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    better = a.copy()
    better[document % len(pairs)] += more
    before, after = (counting.exact_test(Sums.of_two(each, ones, b, ones), "one-sided").p for each in (a, better))
    assert after <= before + 1e-12
