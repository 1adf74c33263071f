"""The words and signs of the language as text: bare names, numbers, quoted texts, and names of functions.

It contains no rules of the language. The rules are in language.lark; the keywords are also defined there, and are
read from it.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from pathlib import Path

from msgspec import Struct

# === words and signs ==================================================================================================
# The form of a bare name, and how a number or a quoted text is read.

MOST_DIGITS = 28
"""Numbers have at most this many digits, which decimal arithmetic represents exactly."""

GRAMMAR = Path(__file__).with_name("language.lark")

LANGUAGE = GRAMMAR.read_text(encoding="utf-8")

KEYWORDS = frozenset(re.findall(r"^[A-Z_]+(?:\.[0-9])?: +/\(\?ai:([a-z-]+)\)\\b", LANGUAGE, re.MULTILINE))
"""All keywords. Those that are not reserved are bare names wherever the keyword is not possible."""

(_RESERVED,) = re.findall(r"^NOT_RESERVED: /\(\?!\(\?ai:([a-z|-]+)\)", LANGUAGE, re.MULTILINE)
RESERVED = frozenset(_RESERVED.split("|"))
"""Words that are names only in quotes."""

NUMBER = r"[0-9][0-9_]*(?:\.[0-9]+)?(?:\^[0-9]+|%)?"
BARE_NAME = re.compile(r"[A-Za-z0-9_]+(?:[-/.:+@#][A-Za-z0-9_]+)*(?:\+\+)?")
PATTERN = re.compile(r"(?:\w+[-/.:+@#])*\w*\*[\w*]*(?:[-/.:+@#][\w*]+)*")
WORD = re.compile(r"[A-Za-z0-9_]+")
WHOLE_NUMBER = re.compile(NUMBER)
_NAME = re.compile(r"\w+(?:[-/.:+@#]\w+)*(?:\+\+)?")
VARIABLE_NAME = re.compile(r"\w+")


def keyword(terminal: str) -> str:
    """The keyword of a terminal of language.lark; empty for other terminals."""
    word = terminal.lower().replace("_", "-")
    return word if word in KEYWORDS else ""


def is_bare_name(text: str) -> bool:
    """Whether a name needs no quotes in a list of names. Names beyond ASCII are printed in quotes."""
    return _is_bare(text, BARE_NAME)


def is_bare_word(text: str) -> bool:
    """Whether a name needs no quotes in `where`, `define` and parentheses, where `-` subtracts."""
    return _is_bare(text, WORD)


def as_word(name: str) -> str:
    """A name as it is written in `where`, `define` and parentheses: in quotes if necessary."""
    return name if is_bare_word(name) else quote(normalize(name))


def is_word(text: str) -> bool:
    """Whether a text can be a word without quotes, with letters of any alphabet."""
    return _is_bare(text, VARIABLE_NAME)


def is_name(text: str) -> bool:
    """Whether a text can be a name without quotes, with letters of any alphabet."""
    return _is_bare(text, _NAME)


def _is_bare(text: str, form: re.Pattern[str]) -> bool:
    if not form.fullmatch(text) or text.lower() in RESERVED:
        return False
    return not WHOLE_NUMBER.fullmatch(text)


def quote(text: str) -> str:
    """The text in double quotes, with its quotes doubled."""
    return '"' + text.replace('"', '""') + '"'


def unquote(text: str) -> str:
    """The text inside double quotes."""
    return text[1:-1].replace('""', '"')


def normalize(name: str) -> str:
    """A name in Unicode NFC, the form in which names are compared."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def number_value(text: str) -> Decimal:
    """The value of a number as written: 9_999, 0.10, 2^20, 10%.

    Raises ValueError, with a sentence for the user, for a number of more than MOST_DIGITS digits.
    """
    digits = text.replace("_", "")
    base, _, exponent = digits.partition("^")
    percent = base.endswith("%")
    mantissa = base.rstrip("%")
    if len(mantissa.replace(".", "")) > MOST_DIGITS or len(exponent) > len(str(MOST_DIGITS * 4)):
        raise ValueError(f"a number can have at most {MOST_DIGITS} digits")
    value = Decimal(mantissa)
    if percent:
        return value.scaleb(-2)
    if not exponent:
        return value
    if "." in mantissa:
        raise ValueError("only a whole number can be raised to a power")
    power = int(mantissa) ** int(exponent)
    if power >= 10**MOST_DIGITS:
        raise ValueError(f"a number can have at most {MOST_DIGITS} digits")
    return Decimal(power)


# === functions of define ==============================================================================================
# The functions that expressions may call, as in `sqrt(recall * precision)`. Nothing is computed here.


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
