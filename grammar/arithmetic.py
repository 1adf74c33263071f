"""The functions that expressions of `define` may call, as in `sqrt(recall * precision)`. Nothing is computed here."""

from __future__ import annotations

from msgspec import Struct


class ArithmeticFunction(Struct, frozen=True):
    """A function: how it is written, what it is, and how many arguments it takes. `most` is None if there is no
    limit.
    """

    name: str
    usage: str
    meaning: str
    least: int
    most: int | None

    def accepts(self, arguments: int) -> bool:
        """Whether it takes this many arguments."""
        return self.least <= arguments and (self.most is None or arguments <= self.most)

    @property
    def takes(self) -> str:
        """How many arguments it takes, in words."""
        return "one argument" if self.most == 1 else "at least two arguments"


FUNCTIONS = {
    function.name: function
    for function in (
        ArithmeticFunction("sqrt", "sqrt(X)", "the square root", 1, 1),
        ArithmeticFunction("log", "log(X)", "the natural logarithm", 1, 1),
        ArithmeticFunction("exp", "exp(X)", "e to the power of X", 1, 1),
        ArithmeticFunction("min", "min(X, Y, …)", "the smallest of the arguments", 2, None),
        ArithmeticFunction("max", "max(X, Y, …)", "the largest of the arguments", 2, None),
        ArithmeticFunction("abs", "abs(X)", "the absolute value", 1, 1),
    )
}
"""By name. These names are not keywords: without parentheses, or with parameters such as `min(w=1)`, each is a
measure.
"""
