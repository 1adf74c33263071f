"""`value`, the decorator of nodes, plans and other records: frozen dataclasses that are quick to define.

`dataclass(frozen=True, slots=True)` writes and compiles six methods for every class. For the two hundred classes that a
comparison needs, that takes longer than the answer, and the import of `dataclasses` takes nearly as long. Here all
classes share their methods, which look up the fields when they are called. `dataclasses.fields` and its other functions
take these records too, but the program uses `field`, `replace` and `names_of` from here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from dataclasses import field, replace
else:

    def field(**said):
        """What is said of a field, in the words of `dataclasses.field`."""
        return _Field(said)

    def replace(it, /, **changes):
        """A record with other contents in some fields. It takes other dataclasses, too."""
        shape = getattr(it, _SHAPE, None)
        if shape is None:
            from dataclasses import replace

            return replace(it, **changes)
        return type(it)(**{name: getattr(it, name) for name in shape.names} | changes)


__all__ = ["field", "names_of", "replace", "value"]

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


def names_of(record: Any) -> tuple[str, ...]:
    """The names of the fields of a record, or of a class of records, in order."""
    return tuple(record.__value_shape__.fields)


class _Field:
    """A field: what is said of it, in the words of `dataclasses.field`, and its annotation."""

    __slots__ = ("annotation", "said")

    def __init__(self, said: dict[str, Any], annotation: str = "") -> None:
        self.said = said
        self.annotation = annotation


class _Shape(NamedTuple):
    """What the shared methods know about a class."""

    fields: dict[str, _Field]
    names: frozenset[str]
    shown: tuple[str, ...]
    compared: tuple[str, ...]
    hashed: tuple[str, ...]
    defaults: dict[str, Any]
    factories: dict[str, Callable[[], Any]]
    checked: bool
    """Whether it has a `__post_init__`."""


_SHAPE = "__value_shape__"
_NONE: Any = object()


def _made(cls: type, eq: bool, slots: bool) -> type:
    own, inherited = cls.__dict__, set[str]()
    every: dict[str, _Field] = {}
    for base in cls.__mro__[-2:0:-1]:
        inherited.update(base.__dict__.get("__slots__", ()))
        if _SHAPE in base.__dict__:
            every.update(base.__dict__[_SHAPE].fields)
    for name, annotation in cls.__annotations__.items():
        if annotation.startswith("ClassVar"):
            continue
        default = own.get(name, _NONE)
        said = default.said if type(default) is _Field else {} if default is _NONE else {"default": default}
        every[name] = _Field(said, annotation)
    kept = {name: content for name, content in own.items() if name not in every}
    kept.pop("__dict__", None)
    kept.pop("__weakref__", None)
    added = {
        **_METHODS,
        **(_EQUALITY if eq else {}),
        _SHAPE: _shape_of(cls, every),
        "__match_args__": tuple([name for name, one in every.items() if not one.said.get("kw_only")]),
    }
    if slots:
        added["__slots__"] = tuple([name for name in every if name not in inherited])
        made = type(cls)(cls.__name__, cls.__bases__, {**kept, **added})
        made.__qualname__ = cls.__qualname__
        return made
    for name, one in every.items():
        if type(own.get(name)) is _Field:
            delattr(cls, name)
            if "default" in one.said:
                setattr(cls, name, one.said["default"])
    for name, content in added.items():
        setattr(cls, name, content)
    return cls


def _shape_of(cls: type, every: dict[str, _Field]) -> _Shape:
    shown, compared, hashed = [], [], []
    defaults, factories = {}, {}
    for name, one in every.items():
        said = one.said
        if said.get("repr", True):
            shown.append(name)
        if said.get("compare", True):
            compared.append(name)
        if said.get("hash", said.get("compare", True)):
            hashed.append(name)
        if "default" in said:
            defaults[name] = said["default"]
        elif "default_factory" in said:
            factories[name] = said["default_factory"]
    checked = hasattr(cls, "__post_init__")
    return _Shape(every, frozenset(every), tuple(shown), tuple(compared), tuple(hashed), defaults, factories, checked)


class _OfDataclass:
    """An attribute that the functions of `dataclasses` look for in a class. It is made when they do."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, record: object, kind: type) -> Any:
        return getattr(_as_dataclass(kind), self.name)


@cache
def _as_dataclass(kind: type) -> type:
    """A dataclass with the fields of a class of records."""
    import dataclasses

    every: dict[str, _Field] = getattr(kind, _SHAPE).fields
    listed = [(name, one.annotation, dataclasses.field(**one.said)) for name, one in every.items()]
    return dataclasses.make_dataclass(kind.__name__, listed, init=False, repr=False, eq=False, frozen=True)


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
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: Any) -> tuple[Callable[[type, dict[str, Any]], Any], tuple[type, dict[str, Any]]]:
    return _rebuilt, (type(self), {name: getattr(self, name) for name in self.__value_shape__.names})


def _rebuilt(kind: type, named: dict[str, Any]) -> Any:
    return kind(**named)


_METHODS: dict[str, Any] = {
    "__dataclass_fields__": _OfDataclass("__dataclass_fields__"),
    "__dataclass_params__": _OfDataclass("__dataclass_params__"),
    "__init__": _init,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__reduce__": _reduce,
    "__replace__": replace,
}

_EQUALITY: dict[str, Callable[..., Any]] = {"__eq__": _eq, "__hash__": _hash}
