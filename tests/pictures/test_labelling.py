"""Names do not overlap anything else, and axes contain their data."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.charts.axes import limits, place, spread_out, ticks

coordinate = st.integers(0, 400).map(float)
points = st.lists(st.tuples(coordinate, coordinate), max_size=25)
finite = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 4))


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@given(points, st.integers(1, 12))
def test_no_name_lies_on_another_or_on_a_point_or_outside(at: list[tuple[float, float]], letters: int) -> None:
    sizes = [(6.0 * (letters + place_in % 3), 12.0) for place_in in range(len(at))]
    labels = place(at, sizes, (400.0, 400.0), 7.0)
    boxes = [
        (label.x, label.y - 6, label.x + size[0], label.y + 6)
        for label, size in zip(labels, sizes, strict=True)
        if label is not None
    ]
    for number, box in enumerate(boxes):
        assert min(box) >= 0
        assert max(box) <= 400
        assert not any(overlap(box, other) for other in boxes[:number])
        assert not any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in at)


def test_a_name_stands_to_the_right_where_there_is_room() -> None:
    (label,) = place([(10.0, 10.0)], [(30.0, 12.0)], (100.0, 20.0), 7.0)
    assert label is not None
    assert (label.x, label.y, label.far) == (17.0, 10.0, False)


def test_there_is_no_place_where_everything_is_taken() -> None:
    assert place([(50.0, 50.0)], [(30.0, 12.0)], (100.0, 100.0), 7.0, [(0.0, 0.0, 100.0, 100.0)]) == [None]


@given(st.lists(st.floats(0, 100), max_size=12))
def test_ends_are_apart_in_their_order_and_inside(wanted: list[float]) -> None:
    found = spread_out(wanted, 5.0, 0.0, 100.0)
    order = sorted(range(len(wanted)), key=lambda each: (wanted[each], each))
    in_order = [found[each] for each in order]
    assert all(second - first >= 5.0 - 1e-6 for first, second in pairwise(in_order))
    assert all(-1e-6 <= each <= 100 + 1e-6 for each in found)


def test_ends_that_are_apart_stay_where_they_are() -> None:
    assert spread_out([10.0, 90.0, 50.0], 5.0, 0.0, 100.0) == [10.0, 90.0, 50.0]


@given(st.lists(finite, min_size=1, max_size=20))
def test_limits_hold_all_values(values: list[float]) -> None:
    low, high = limits(values)
    assert low <= min(values) <= max(values) <= high
    assert low < high


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_limits_of_proportions_stay_proportions(values: list[float]) -> None:
    low, high = limits(values, (0.0, 1.0))
    assert -1e-9 <= low <= min(values) <= max(values) <= high <= 1 + 1e-9


@given(finite, st.floats(0.001, 1e6))
def test_ticks_lie_between_the_limits_and_are_few(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert len(found) <= 7
    assert all(low - span * 1e-6 <= each <= low + span * (1 + 1e-6) for each in found)


def test_ticks_are_round() -> None:
    assert ticks(0.0, 1.0) == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert ticks(0.01, 0.69, log=True) == (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
