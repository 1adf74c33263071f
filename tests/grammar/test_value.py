"""Classes made with `value` behave like those of `dataclass(frozen=True, slots=True)`."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from dataclasses import field as field_of_theirs
from functools import cached_property
from typing import Any

import pytest

from grammar import nodes
from grammar.span import Span
from grammar.value import field, names_of, value
from grammar.value import replace as replaced
from warehouse.query import plan


@value
class Ours:
    a: int
    b: str = "b"
    span: int = field(default=0, compare=False, repr=False, kw_only=True)


@value
class OursMore(Ours):
    c: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Theirs:
    a: int
    b: str = "b"
    span: int = field_of_theirs(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class TheirsMore(Theirs):
    c: tuple[int, ...] = ()


@value(slots=False)
class OursChecked:
    a: int
    b: list[int] = field(default_factory=list, hash=False)

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError("less than none")

    @cached_property
    def doubled(self) -> int:
        return 2 * self.a


@value(eq=False)
class OursAlone:
    a: int


PAIRS: list[tuple[Any, Any]] = [(Ours, Theirs), (OursMore, TheirsMore)]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, "x"), {"span": 3}),
    ((), {"a": 1, "b": "y"}),
    ((), {}),
    ((1, "x", 3, 4), {}),
    ((1,), {"a": 2}),
    ((1,), {"other": 2}),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize(("positional", "named"), CALLS)
def test_calls_are_taken_and_refused_alike(ours: Any, theirs: Any, positional: Any, named: Any) -> None:
    try:
        expected = theirs(*positional, **named)
    except TypeError:
        with pytest.raises(TypeError):
            ours(*positional, **named)
        return
    made = ours(*positional, **named)
    assert repr(made) == repr(expected).replace("Theirs", "Ours")
    assert [getattr(made, each.name) for each in fields(made)] == [
        getattr(expected, each.name) for each in fields(expected)
    ]
    assert ours.__match_args__ == theirs.__match_args__
    assert names_of(made) == names_of(ours) == tuple(each.name for each in fields(theirs))
    assert replaced(made, a=7) == replace(made, a=7)
    assert repr(replace(made, a=7)) == repr(replace(expected, a=7)).replace("Theirs", "Ours")


def test_values_are_equal_by_class_and_compared_fields() -> None:
    assert Ours(1, span=1) == Ours(1, span=2)
    assert hash(Ours(1, span=1)) == hash(Ours(1, span=2))
    assert Ours(1) != Ours(2)
    assert Ours(1) != OursMore(1)
    assert Ours(1) != 1
    assert nodes.Name("GE") != nodes.Text("GE")


def test_values_are_frozen_and_have_slots() -> None:
    made: Any = OursMore(1)
    for name in ("a", "c", "new"):
        with pytest.raises(FrozenInstanceError):
            setattr(made, name, 2)
    with pytest.raises(FrozenInstanceError):
        del made.a
    assert not hasattr(made, "__dict__")


def test_values_are_checked_when_made_and_lists_are_not_shared() -> None:
    with pytest.raises(ValueError, match="less than none"):
        OursChecked(-1)
    one, other = OursChecked(1), OursChecked(1)
    assert one.doubled == 2
    assert one == other
    assert hash(one) == hash(OursChecked(1, [3]))
    one.b.append(3)
    assert other.b == []
    assert pickle.loads(pickle.dumps(one)) == one


def test_values_that_hold_arrays_are_equal_to_themselves_alone() -> None:
    one = OursAlone(1)
    assert one == one
    assert one != OursAlone(1)
    assert len({one, OursAlone(1)}) == 2


def test_nodes_and_plans_are_such_values() -> None:
    name = nodes.Name("GE", span=Span(0, 2))
    match name:
        case nodes.Name(text):
            assert text == "GE"
    assert repr(name) == "Name(text='GE')"
    assert plan.Dimension("document", "source").name == "document.source"
    assert not any(hasattr(each, "__dict__") for each in (name, plan.Dimension("unit")))
