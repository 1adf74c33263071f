"""`value`, the decorator of nodes and plans: frozen dataclasses with slots that are quick to define.

`dataclass(frozen=True, slots=True)` writes and compiles six methods for every class. For the seventy classes that a
query needs, that takes longer than answering it. Here they share seven methods, the last for pickle, which look at the
fields when they are called; `dataclasses.fields` and `dataclasses.replace` work as ever. Fields with a default factory
are not for this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Makes a class of annotated fields a frozen dataclass with slots."""
    for name, method in _METHODS.items():
        setattr(cls, name, method)
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    setattr(made, _FIELDS, fields(made))  # type: ignore[arg-type]  # mypy does not see that it is one now
    return made


_FIELDS = "__value_fields__"


def _fields(self: Any) -> tuple[Field[Any], ...]:
    all_fields: tuple[Field[Any], ...] = getattr(self, _FIELDS)
    return all_fields


def _init(self: Any, *positional: Any, **named: Any) -> None:
    order = type(self).__match_args__
    if len(positional) > len(order):
        raise TypeError(f"{type(self).__name__} takes {len(order)} values in order, and {len(positional)} were given")
    given = dict(zip(order, positional, strict=False))
    twice = given.keys() & named.keys()
    given.update(named)
    for attribute in _fields(self):
        content = given.pop(attribute.name, attribute.default)
        if content is MISSING:
            raise TypeError(f"{type(self).__name__} is given no {attribute.name}")
        object.__setattr__(self, attribute.name, content)
    if twice or given:
        raise TypeError(f"{type(self).__name__} is wrongly given {', '.join([*twice, *given])}")


def _repr(self: Any) -> str:
    shown = (f"{attribute.name}={getattr(self, attribute.name)!r}" for attribute in _fields(self) if attribute.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, attribute.name) for attribute in _fields(self) if attribute.compare)


def _eq(self: Any, other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _setattr(self: Any, name: str, it: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: Any) -> tuple[Callable[[type, dict[str, Any]], Any], tuple[type, dict[str, Any]]]:
    return _rebuilt, (type(self), {attribute.name: getattr(self, attribute.name) for attribute in _fields(self)})


def _rebuilt(kind: type, named: dict[str, Any]) -> Any:
    return kind(**named)


_METHODS: dict[str, Callable[..., Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__reduce__": _reduce,
}
