"""What people type for what the language says otherwise, and the line that says it: `paired bootstrap` for `test
bootstrap`, `top 5` for `limit 5`, `sample size` for `power`.

REWORDINGS is the one table: a pattern, and what it can only mean. A statement that cannot be read is reworded by all
that fit, and offered where it can be read then. Nothing is answered that was not typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

from lark import UnexpectedInput
from msgspec import Struct

from evalhouse.grammar.clauses import CALLED, QUESTIONS, STATEMENTS
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import KEYWORDS

_WITH = r"(?:\b(?:using|with|by|and|at)\s+)?(?:\b(?:an?|the)\s+)?"
"""What may come before the name of a method."""

_QUESTIONS = "|".join(sorted({*QUESTIONS, *CALLED}))

_AFTER_LISTS = "for|on|of|by|where|against"
"""The words that end a list of names."""


class Rewording(Struct, frozen=True):
    """What was typed, as a pattern, and what it means, which may repeat the groups of the pattern."""

    typed: re.Pattern[str]
    means: str | Callable[[re.Match[str]], str]


def _of(typed: str, means: str | Callable[[re.Match[str]], str]) -> Rewording:
    return Rewording(re.compile(typed, re.IGNORECASE), means)


def _level(typed: re.Match[str]) -> str:
    """The level of a confidence in percent; empty for the usual one."""
    level = (100 - Decimal(typed["percent"])) / 100
    return "" if level == Decimal("0.05") else f"level {level.normalize():f}"


REWORDINGS = (
    # questions in sentences
    _of(r"^\s*is\s+(\S+)\s+(?:significantly\s+)?(?:better|worse)\s+than\s+(\S+)\b", r"compare \1 vs \2"),
    _of(r"^\s*(?:which|what|who)\b.*\b(?:best|better|wins|leads)\b(?:.*?\b(on\s+.+))?$", r"rank \1"),
    _of(r"^\s*(?:where|how)\s+do(?:es)?\s+(\S+)\s+(?:and|vs)\s+(\S+)\s+differ\b", r"documents for \1, \2"),
    _of(r"^\s*(?:examples|errors|cases)\s+(?:of\s+|for\s+|where\s+)?(\S+)\s+(?:and|vs)\s+(\S+)(?:\s+differ)?\b",
        r"documents for \1, \2"),
    _of(r"^\s*(?:sample\s+size|how\s+many)(?:\s+(?!to\b|for\b)[a-z]+){0,2}\s+(?:needed\s+)?to\s+detect\s+(\S+)\s+(.*)$",
        r"power \2 detect \1"),
    # statements
    _of(r"^\s*ranking\b", "rank"),
    _of(r"^\s*(?:sample\s+size|how\s+many)(?:\s+(?:documents|samples|items))?(?:\s+for)?\b", "power"),
    _of(rf"^\s*plot\s+(?!(?:{_QUESTIONS}|show)\b)", "plot score "),
    _of(r"^\s*compare\b(?=.*\bby\s+(?!document\b\s*$)\S+)", "differ"),
    _of(r"^\s*break\s*down\b", "differ"),
    _of(r"^\s*significance\s+groups?\b", "group"),
    _of(r"^\s*threshold\s+curve\b", "curve"),
    _of(r"^\s*classification[\s_-]report\s+(.*)$", r"score precision, recall, F1, support \1 by unit"),
    _of(r"^\s*per[\s-](\w+)\s+(.*)$", r"score \2 by \1"),
    _of(r"^\s*rank\s+(?:the\s+)?(?:systems|models|runs|teams)\s+by\b", "rank"),
    _of(r"^\s*(?:show\s+)?win\s+rate\b\s*(?:of\s+|for\s+)?", "documents for "),
    _of(r"\b(?:show\s+)?(?:the\s+)?confusion\s+(?:matrix|matrices|table)\b(?:\s+of\b(?=\s+\S+\s+on\b))?", "confusion"),
    _of(r"^\s*describe\s+.*$", "show systems"),
    _of(r"^\s*show\s+documents\b.*$", "coverage"),
    _of(r"^\s*(?:show\s+)?schema\s*;?\s*$", 'sql "select table_name, column_name from information_schema.columns"'),
    _of(r"^\s*(?:show|list)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?", "show "),
    _of(r"^show\s+(?:models|runs|submissions|teams|participants)\b", "show systems"),
    _of(r"^show\s+(?:data\s*sets|benchmarks|tasks|collections)\b", "show test sets"),
    _of(r"^show\s+(?:metrics|scores)\b", "show measures"),
    _of(r"^show\s+(?:files|loads)\b", "show imports"),
    # measures and systems
    _of(rf"^(?!\s*(?:{_QUESTIONS})\b)(\s*\S+)\s+of\s+(.+)\s+(on\s)", r"score \1 for \2 \3"),
    _of(r"\b(macro|micro|weighted)\s+(?!\()([a-z]\S*)", r"\1(\2)"),
    _of(r"\bcohen(?:'?s)?\s+kappa\b", "kappa"),
    _of(r"\bbetween\s+(\S+)\s+and\s+", r"for \1, "),
    _of(r"\bper\s+(\w+)", r"by \1"),
    # tests and adjustments
    _of(r"(?<!\btest\s)" + _WITH + r"(?:\bpaired\s+)?\bbootstrap(?:\s+(?:resampling|test))*\b", "test bootstrap"),
    _of(r"(?<!\btest\s)" + _WITH + r"(?:\bpaired\s+)?\bapproximate\s+randomi[sz]ation(?:\s+test)?\b",
        "test randomization"),
    _of(r"(?<!\btest\s)" + _WITH + r"(?:\bpaired\s+)?\b(permutation|randomization)(?:\s+test)?\b", r"test \1"),
    _of(r"(?<!\bon\s)" + _WITH + r"\b(?:test\s+)?(?:paired\s+)?t[- ]?tests?\b", "test t"),
    _of(_WITH + r"\bpaired\s+t\b", "test t"),
    _of(r"(?<!\btest\s)" + _WITH + r"\bwilcoxon(?:\s+(?:signed[- ]rank\s+)?test)?\b", "test wilcoxon"),
    _of(r"(?<!\btest\s)" + _WITH + r"\bmcnemar(?:'?s)?(?:\s+test)?\b", "test mcnemar"),
    _of(r"(?<!\btest\s)" + _WITH + r"\b(tukey|sign|studentized)(?:'?s)?(?:\s+test)?\b", r"test \1"),
    _of(r"(?<!\badjust\s)" + _WITH + r"\bholm-bonferroni\b", "adjust holm"),
    _of(r"(?<!\badjust\s)" + _WITH + r"\b(bonferroni|holm|fdr)(?:\s+(?:correction|adjustment|adjusted|corrected))?\b",
        r"adjust \1"),
    _of(r"(?<!\badjust\s)" + _WITH + r"\b(?:benjamini[- ]hochberg|false\s+discovery\s+rate)\b", "adjust bh"),
    # numbers and levels
    _of(r"\bp\s*<=?\s*(0?\.\d+)", r"level \1"),
    _of(r"\b(alpha|level|seed|limit|margin|shuffles|permutations|resamples)\s*[=:]\s*", r"\1 "),
    _of(_WITH + r"\b(\d[\d_]*)\s+(shuffles|permutations|resamples)\b", r"\2 \1"),
    _of(_WITH + r"\b(?P<percent>\d\d(?:\.\d+)?)\s*%\s+(?:confidence|significance)(?!\s+interval)\b", _level),
    _of(_WITH + r"(?:\b(?P<percent>\d\d(?:\.\d+)?)\s*%\s*)(?:cis?|confidence\s+intervals?)\b",
        lambda typed: f"interval {_level(typed)}"),
    _of(_WITH + r"\b(?:cis?|confidence\s+intervals?|error\s+bars|standard\s+errors?)\b", "interval"),
    _of(r"(?:\+/-|±)", "interval"),
    _of(r"\b(one|two)[- ]tailed\b", r"\1-sided"),
    # the rest of a statement
    _of(r"\b(?:top|best|first)\s+(\d+)\b", r"limit \1"),
    _of(r"\b(?:sort(?:ed)?|ordered)\s+by\b", "order by"),
    _of(r"\bdescending\b", "desc"),
    _of(r"\bascending\b", "asc"),
    _of(r"\bversus\b", "vs"),
    _of(r"\bnon-?inferior(?:ity)?\s+margin\b", "margin"),
)  # fmt: skip


MOST_LETTERS = 400
"""Longer lines are not guesses."""


def reworded(text: str) -> str:
    """The same statement in words of the language; empty if none of them fits, or if it cannot be read then either.
    What begins with no statement may be a measure: accuracy on qa.
    """
    line = _line(text)
    new = _by_table(line)
    other = [_BEGINS_WITH_A_QUESTION.sub(word, new) for word in _WITH_MORE_CLAUSES] if new != line else []
    return _first_to_read(
        line,
        (
            new,
            *(separated(new) if new != line else ()),
            f"score {new}" if _BEGINS_WITH_A_NAME.match(new) else "",
            *other,
        ),
    )


def name_meant(keyword: str, typed: str) -> str:
    """The name after a keyword that is meant by another one: t for a test called t-test; empty if none is."""
    for name in (typed, re.sub(r"[-_]", " ", typed)):
        found = _by_table(name).split()
        if len(found) == 2 and found[0] == keyword:
            return found[1]
    return ""


def _by_table(typed: str) -> str:
    """A text in which all is reworded that fits."""
    for rewording in REWORDINGS:
        typed = rewording.typed.sub(rewording.means, typed)
    return re.sub(r"level \.", "level 0.", " ".join(typed.split()))


_WITH_MORE_CLAUSES = ("score", "compare")
"""Statements that may take a clause which the one that was typed does not: an order and a limit, a margin."""

_BEGINS_WITH_A_QUESTION = re.compile(rf"^(?:{_QUESTIONS})\b", re.IGNORECASE)


def separated(text: str) -> Iterator[str]:
    """The statement with what is missing in a list: commas between its names or, where `vs` joins some of them, the
    word before the systems. Nothing if that does not make a statement of it.
    """
    line = _line(text)
    found = _LIST.match(line)
    names = found["listed"].split() if found else []
    if found is None or len(names) < 2 or KEYWORDS & {name.casefold() for name in names} - {"vs", "and"}:
        return
    first, *others = names
    joined = {"vs", "and"} & {name.casefold() for name in others}
    listed = f"{first} for {' '.join(others)}" if joined else ", ".join(names)
    if new := _first_to_read(line, (f"{found['before']}{listed}{found['behind']}",)):
        yield new


_BEGINS_WITH_A_NAME = re.compile(
    rf"(?!(?:{'|'.join((*STATEMENTS, *CALLED))})\b)[^\s,]+(?:\s*,\s*[^\s,]+)*\s+(?:for|on)\s", re.IGNORECASE
)

_LIST = re.compile(
    rf"^(?P<before>(?:{_QUESTIONS})\s+(?:[^\s]+\s+for\s+)?)(?P<listed>[^\s,()]+(?:\s+(?!(?:{_AFTER_LISTS})\b)[^\s,()]+)+)"
    rf"(?P<behind>\s+(?:{_AFTER_LISTS})\b.*|)$",
    re.IGNORECASE,
)
"""A list in first place, or after one measure and `for`, in which nothing separates some of the names."""


def _line(text: str) -> str:
    """A statement that may be a guess; empty for what is none."""
    line = " ".join(text.strip().rstrip(";").split())
    return "" if len(line) > MOST_LETTERS or ";" in line or '"' in line else line


def _first_to_read(line: str, candidates: Iterable[str]) -> str:
    """The first of some lines, other than the one that was typed, that is a statement of the language."""
    return next((typed for typed in candidates if typed and typed != line and _can_be_read(typed)), "")


def _can_be_read(typed: str) -> bool:
    from evalhouse.grammar.parsing.building import statement_of
    from evalhouse.grammar.parsing.lark_parser import parser

    try:
        pieces: Any = parser().parse(typed)
        return bool([statement_of(piece, typed) for piece in pieces])
    except (UnexpectedInput, QueryError, RecursionError):
        return False
