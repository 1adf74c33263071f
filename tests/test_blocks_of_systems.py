"""What is computed or drawn in blocks, so that many systems fit into memory, is as at once, to the last digit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evalhouse.warehouse.comparing.observations import _number_distinct, _ranks
from evalhouse.warehouse.render import Style, data, find_format
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance import correlation, sums
from evalhouse.warehouse.significance.arrays import Floats, Integers, narrow
from evalhouse.warehouse.significance.bootstrap import resamples
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import ratio_influences
from evalhouse.warehouse.significance.draws import RESAMPLES, Draws

ASKED = (
    "compare F, recall for all on TST3 shuffles 999",
    "compare F for all on TST3 adjust holm",
    "compare F for all on TST3 shuffles 999 adjust maxt interval percentile",
    "compare F for all against GE on TST3 shuffles 999 test studentized one-sided",
    "group F for all on TST3 shuffles 999",
)

counts = st.integers(-40, 40) | st.sampled_from([2**7, -(2**7) - 1, 2**15, 2**31, -(2**31) - 1, 2**45])
tables = arrays(np.int64, st.tuples(st.integers(2, 6), st.integers(1, 12)), elements=counts)
values = arrays(
    np.float64,
    st.tuples(st.integers(2, 7), st.integers(1, 30)),
    elements=st.floats(-1e6, 1e6, width=32) | st.just(float("nan")) | st.just(0.5),
)


@pytest.fixture
def session() -> Iterator[Session]:
    with Session.open() as opened:
        yield opened


@pytest.mark.long
@pytest.mark.parametrize("asked", ASKED)
def test_the_size_of_blocks_changes_no_digit(session: Session, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = session.run(asked).as_dict()
    monkeypatch.setattr(correlation, "_NUMBERS", 230)
    monkeypatch.setattr(sums, "AT_ONCE", 320)
    monkeypatch.setattr("evalhouse.warehouse.significance.shuffles.coins.SLICE", 1_100)
    monkeypatch.setattr("evalhouse.warehouse.significance.shuffles.coins.SPREAD", 5_000)
    monkeypatch.setattr("evalhouse.warehouse.significance.bootstrap.confidence_intervals.AT_ONCE", 3)
    monkeypatch.setattr("evalhouse.warehouse.comparing.observations.AT_MOST", 0)
    assert session.run(asked).as_dict() == at_once


@settings(max_examples=60, deadline=None)
@given(values, st.integers(1, 60))
def test_correlations_in_blocks(table: Floats, numbers: int) -> None:
    """Sums of products differ behind the twelfth digit by their order, whatever the blocks, as they do by machine."""
    pairs = [(a, b) for a in range(len(table)) for b in range(len(table)) if a != b]
    at_once = correlation.correlations(table, pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correlation, "_NUMBERS", numbers)
        in_blocks = correlation.correlations(table, pairs)
    for one, other in zip(at_once, in_blocks, strict=True):
        assert one == other or one == pytest.approx(other, abs=1e-11)


@settings(max_examples=60, deadline=None)
@given(tables, st.randoms(use_true_random=False), st.integers(1, 40))
def test_differing_units_are_counted_alike_in_any_type(over: Integers, random: object, at_once: int) -> None:
    under = np.abs(np.roll(over, 1, axis=0))
    pairs = [(a, b) for a in range(len(over)) for b in range(len(over)) if (a + 2 * b) % 3]
    expected = [int(((over[a] != over[b]) | (under[a] != under[b])).sum()) for a, b in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "AT_ONCE", at_once)
        assert sums._differing(sums._as_one(over, under), pairs) == expected
        assert sums._differing((narrow(over), narrow(under)), pairs) == expected


@settings(max_examples=60, deadline=None)
@given(tables)
def test_narrow_counts_are_the_same_counts(table: Integers) -> None:
    assert (narrow(table).astype(np.int64) == table).all()
    assert (narrow(table[:0]).astype(np.int64) == table[:0]).all()


@settings(max_examples=60, deadline=None)
@given(tables)
def test_influences_row_by_row(table: Integers) -> None:
    under = np.abs(table) + 1
    times = np.arange(1, table.shape[1] + 1)
    ratio = (table * times).sum(axis=1) / (under * times).sum(axis=1)
    whole = (table - under * ratio[:, None]) / (under * times).sum(axis=1)[:, None]
    assert (ratio_influences(table, under, times) == whole).all()


@given(st.lists(st.integers(-5, 400), min_size=1, unique=True), st.lists(st.integers(0, 10**6), min_size=1))
def test_places_by_a_table_or_by_searching(in_order: list[int], chosen: list[int]) -> None:
    order = np.array(in_order)
    ids = order[np.array(chosen) % len(order)]
    found = [in_order.index(number) for number in ids.tolist()]
    numbered = np.unique(np.array(found), return_inverse=True)
    for most in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("evalhouse.warehouse.comparing.observations.AT_MOST", most)
            assert _ranks(ids, order).tolist() == found
            distinct, place = _number_distinct(np.array(found), len(order))
            assert distinct.tolist() == numbered[0].tolist()
            assert place.tolist() == numbered[1].tolist()


@pytest.mark.parametrize("format", ["json", "ndjson", "csv", "tsv"])
def test_parts_of_a_drawing_are_the_whole(session: Session, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results = [session.run("compare F for all on TST3 shuffles 99"), session.run("show tests")]
    for digits in (None, 3):
        style = Style(digits=digits)
        whole = [find_format(format).draw(result, style) for result in results]
        with monkeypatch.context() as patch:
            patch.setattr(data, "PART", 7)
            parts = [list(find_format(format).parts(result, style)) for result in results]
        assert ["".join(of) for of in parts] == whole
        assert len(parts[0]) > 136 / 7


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=20), st.integers(1, 60), st.integers(1, 600))
def test_resamples_of_kinds_are_the_same_in_parts_and_drawn_again(times: list[int], ready: int, drawn: int) -> None:
    kinds, draws = np.array(times), Draws(drawn, 7)
    columns = np.arange(2.0 * len(times)).reshape(2, -1)
    units = int(kinds.sum())
    chunks = (draws.generator(chunk, RESAMPLES).multinomial(units, kinds / units, size=256) for chunk in range(3))
    whole = columns @ np.concatenate(list(chunks))[:drawn].T
    for kept in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(resamples, "READY", ready)
            patch.setattr(resamples, "KEPT_COUNTS", kept)
            made = resamples.Resamples.of_kinds(kinds, draws)
            assert made.size == drawn
            assert (made.sums(columns) == whole).all()
            assert (made.sums(columns) == whole).all()
