"""`value`, the decorator of nodes, plans and other records: frozen dataclasses that are quick to define.

`dataclass(frozen=True, slots=True)` writes and compiles six methods for every class. For the two hundred classes that a
comparison needs, that takes longer than the answer. Here they share seven methods (the last one is for pickle), which
look up the fields when they are called. `dataclasses.fields` and `dataclasses.replace` work as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, NamedTuple, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def value(cls: type[T]) -> type[T]: ...


@overload
def value(*, eq: bool = True, slots: bool = True) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T] | None = None, *, eq: bool = True, slots: bool = True) -> Any:
    """Makes a class with annotated fields a frozen dataclass with slots.

    With `eq=False`, each instance equals only itself; classes that hold arrays need that. Cached properties need
    `slots=False`.
    """
    if cls is None:
        return lambda decorated: _made(decorated, eq, slots)
    return _made(cls, eq, slots)


class _Shape(NamedTuple):
    """What the shared methods know about a class: the names of its fields, and the defaults of those that are not
    given.
    """

    names: frozenset[str]
    shown: tuple[str, ...]
    compared: tuple[str, ...]
    hashed: tuple[str, ...]
    defaults: dict[str, Any]
    factories: dict[str, Callable[[], Any]]
    checked: bool
    """Whether it has a `__post_init__`."""


_SHAPE = "__value_shape__"


def _made(cls: type, eq: bool, slots: bool) -> type:
    for name, method in (_METHODS | _EQUALITY if eq else _METHODS).items():
        setattr(cls, name, method)
    made: type = dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    every = fields(made)
    shape = _Shape(
        frozenset(one.name for one in every),
        tuple(one.name for one in every if one.repr),
        tuple(one.name for one in every if one.compare),
        tuple(one.name for one in every if (one.compare if one.hash is None else one.hash)),
        {one.name: one.default for one in every if one.default is not MISSING},
        {one.name: one.default_factory for one in every if one.default_factory is not MISSING},
        hasattr(made, "__post_init__"),
    )
    setattr(made, _SHAPE, shape)
    return made


def _init(self: Any, *positional: Any, **named: Any) -> None:
    shape: _Shape = self.__value_shape__
    given = dict(zip(self.__match_args__, positional, strict=False))
    if len(given) < len(positional) or not given.keys().isdisjoint(named):
        raise _misgiven(self, positional, named)
    contents = {**shape.defaults, **given, **named}
    for name, made in shape.factories.items():
        if name not in contents:
            contents[name] = made()
    if contents.keys() != shape.names:
        raise _misgiven(self, positional, named)
    for name, content in contents.items():
        object.__setattr__(self, name, content)
    if shape.checked:
        self.__post_init__()


def _misgiven(self: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    """The error for values that do not match the fields."""
    kind, order, shape = type(self).__name__, self.__match_args__, self.__value_shape__
    if len(positional) > len(order):
        return TypeError(f"{kind} takes {len(order)} values in order, and {len(positional)} were given")
    in_order = order[: len(positional)]
    if wrongly := [name for name in named if name in in_order or name not in shape.names]:
        return TypeError(f"{kind} is wrongly given {', '.join(wrongly)}")
    lacking = sorted(shape.names - {*in_order, *named, *shape.defaults, *shape.factories})
    return TypeError(f"{kind} is given no {', '.join(lacking)}")


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in self.__value_shape__.shown)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _contents(self: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in names])


def _eq(self: Any, other: Any) -> bool:
    names: tuple[str, ...] = self.__value_shape__.compared
    return _contents(self, names) == _contents(other, names) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_contents(self, self.__value_shape__.hashed))


def _setattr(self: Any, name: str, it: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: Any) -> tuple[Callable[[type, dict[str, Any]], Any], tuple[type, dict[str, Any]]]:
    return _rebuilt, (type(self), {name: getattr(self, name) for name in self.__value_shape__.names})


def _rebuilt(kind: type, named: dict[str, Any]) -> Any:
    return kind(**named)


_METHODS: dict[str, Callable[..., Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__reduce__": _reduce,
}

_EQUALITY: dict[str, Callable[..., Any]] = {"__eq__": _eq, "__hash__": _hash}
