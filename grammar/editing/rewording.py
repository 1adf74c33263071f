"""What people type for what the language says otherwise, and the line that says it: `paired bootstrap` for `test
bootstrap`, `top 5` for `limit 5`, `sample size` for `power`.

REWORDINGS is the one table: a pattern, and what it can only mean. A statement that cannot be read is reworded by all
that fit, and offered where it can be read then. Nothing is answered that was not typed.
"""

from __future__ import annotations

import re

from lark import UnexpectedInput
from msgspec import Struct

_WITH = r"(?:\b(?:using|with|by|and)\s+)?(?:\b(?:an?|the)\s+)?"
"""What may come before the name of a method."""


class Rewording(Struct, frozen=True):
    """What was typed, as a pattern, and what it means, which may repeat the groups of the pattern."""

    typed: re.Pattern[str]
    means: str


def _of(typed: str, means: str) -> Rewording:
    return Rewording(re.compile(typed, re.IGNORECASE), means)


REWORDINGS = (
    # statements
    _of(r"^\s*ranking\b", "rank"),
    _of(r"^\s*(?:sample\s+size|how\s+many)(?:\s+(?:documents|samples|items))?(?:\s+for)?\b", "power"),
    _of(r"^\s*plot\s+(?!(?:score|compare|group|rank|table|power|generality|change|replicate|project|audit|agree|"
        r"coverage|spread|documents|differ|curve)\b)", "plot score "),
    _of(r"^\s*compare\b(?=.*\bby\s+(?!document\b\s*$)\S+)", "differ"),
    _of(r"^\s*(?:show\s+)?win\s+rate\b\s*(?:of\s+|for\s+)?", "documents F for "),
    _of(r"^\s*describe\s+.*$", "show systems"),
    _of(r"^\s*show\s+documents\b.*$", "coverage"),
    _of(r"^\s*(?:show\s+)?schema\s*;?\s*$", 'sql "select table_name, column_name from information_schema.columns"'),
    # tests and adjustments
    _of(_WITH + r"\bpaired\s+bootstrap(?:\s+test)?\b", "test bootstrap"),
    _of(r"(?<!\bon\s)" + _WITH + r"\b(?:test\s+)?(?:paired\s+)?t[- ]tests?\b", "test t"),
    _of(_WITH + r"\bpaired\s+t\b", "test t"),
    _of(r"(?<!\btest\s)" + _WITH + r"\bwilcoxon(?:\s+(?:signed[- ]rank\s+)?test)?\b", "test wilcoxon"),
    _of(r"(?<!\badjust\s)" + _WITH + r"\b(bonferroni|holm)(?:\s+(?:correction|adjustment|adjusted|corrected))?\b",
        r"adjust \1"),
    _of(r"\bp\s*<=?\s*(0?\.\d+)", r"level \1"),
    # the rest of a statement
    _of(r"\b(?:top|best|first)\s+(\d+)\b", r"limit \1"),
    _of(r"\b(?:sort(?:ed)?|ordered)\s+by\b", "order by"),
    _of(r"\bversus\b", "vs"),
    _of(_WITH + r"(?:\b\d+\s*%\s*)?\b(?:cis?|confidence\s+intervals?)\b", "interval"),
    _of(r"\bnon-?inferior(?:ity)?\s+margin\b", "margin"),
)  # fmt: skip


def reworded(text: str) -> str:
    """The same statement in words of the language; empty if none of them fits, or if it cannot be read then either."""
    from evalhouse.grammar.parsing.lark_parser import parser

    line = " ".join(text.strip().rstrip(";").split())
    if ";" in line or '"' in line:
        return ""
    new = line
    for rewording in REWORDINGS:
        new = rewording.typed.sub(rewording.means, new)
    new = re.sub(r"level \.", "level 0.", " ".join(new.split()))
    if new == line:
        return ""
    try:
        parser().parse(new)
    except (UnexpectedInput, RecursionError):
        return ""
    return new
