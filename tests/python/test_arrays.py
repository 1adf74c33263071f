"""Two arrays are compared without a warehouse of their own, and the answer is that of a warehouse with the same table,
to the last digit.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalhouse as eh
from evalhouse.warehouse.python import arrays, one_table

CELLS = (
    st.sampled_from([0, 1]),
    st.sampled_from([0.0, 1.0]),
    st.booleans(),
    st.integers(-5, 40),
    st.floats(0, 1, width=32),
    st.floats(-1e15, 1e15),
    st.sampled_from([0, 1, 0.1, 1 / 3, -0.0, 1e-15, 1e15, 1e16, 5e-324, 123456.789, True]),
    st.sampled_from([0, 1, None, float("nan")]),
)
NAMES = st.one_of(
    st.integers(-1, 10**6),
    st.sampled_from(["q1", "Q1", "q10", "q2", "007", "1", "nan", "NA", "null", "2020-01-01", "true", "é", " x", "a b"]),
)
CLAUSES: tuple[dict[str, Any], ...] = (
    {},
    {"shuffles": 199},
    {"shuffles": 199, "seed": 7, "one_sided": True},
    {"exact": True, "level": 0.1},
    {"test": "t"},
    {"test": "wilcoxon"},
    {"test": "sign"},
    {"test": "bootstrap"},
    {"test": "studentized", "shuffles": 199},
    {"test": "mcnemar"},
    {"interval": "bca"},
    {"interval": "percentile", "level": 0.01},
    {"margin": 0.1},
    {"adjust": "holm"},
    {"against": "b"},
    {"exchange_by": "document"},
    {"where": 'document like "1%"'},
    {"missing": "zero"},
    {"missing": "drop"},
    {"missing": "bounds"},
    {"anytime": True},
    {"planned": 50},
    {"cluster": "passage"},
    {"set": {"test_set": "dev"}},
    {"lower_is_better": "value"},
    {"share": "value", "margin": "5%"},
    {"test": "no such test"},
)

PLAIN = [place % 7 / 10 for place in range(35)], [place % 5 / 10 for place in range(35)]


def answer_or_error(ask: Any) -> str:
    """What came out, as data: the answer, or the message of the error."""
    try:
        result: eh.Result = ask()
    except (eh.Error, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return result.to_json()


@given(st.data(), st.sampled_from(CELLS), st.sampled_from(CLAUSES))
@settings(max_examples=40, deadline=None)
def test_the_answer_is_that_of_a_warehouse(data: st.DataObject, cell: st.SearchStrategy[Any], clauses: Any) -> None:
    size = data.draw(st.integers(1, 30))
    first, second = (data.draw(st.lists(cell, min_size=size, max_size=size)) for _ in "ab")
    names = data.draw(st.one_of(st.none(), st.lists(NAMES, min_size=size, max_size=size, unique=True)))
    given_: tuple[Any, Any] = (first, second)
    if names is not None:
        given_ = (dict(zip(names, first, strict=True)), dict(zip(names, second, strict=True)))
    direct = answer_or_error(lambda: eh.compare(*given_, **clauses))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "compare_arrays", lambda *given: None)
        stored = answer_or_error(lambda: eh.compare(*given_, **clauses))
    assert direct == stored


@pytest.mark.parametrize("clauses", CLAUSES[:11])
def test_plain_arrays_make_no_warehouse(clauses: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    eh.compare(*PLAIN)
    monkeypatch.setattr(one_table, "create_warehouse", lambda path: pytest.fail("a warehouse was made"))
    if clauses != {"test": "mcnemar"}:  # which refuses these numbers
        assert eh.compare(*PLAIN, **clauses)[0]["value_a"] == pytest.approx(0.3)


def test_a_picture_is_drawn_by_a_warehouse() -> None:
    result = eh.compare(*PLAIN)
    assert f"difference 0.1, p = {result.pvalue:.4f} (exact)" in str(result.plot())


FORKED = """
import os
import evalhouse as eh

arrays = [1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 0, 1]
eh.compare(*arrays)
child = os.fork()
if not child:
    os._exit(0 if eh.compare(*arrays, test="t").pvalue < 1 else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_process_compares_too() -> None:
    """In a process of its own: a fork of this one would also clear away the databases of other tests, whose threads it
    does not have.
    """
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
