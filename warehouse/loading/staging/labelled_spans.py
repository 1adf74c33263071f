"""Answers that list labelled spans, `PER: Ada $$ LOC: Turin`: extracts the spans, and matches those of two answers.

Answers are parsed as in the span F1 of multilingual T5 and of later tasks based on it. Nothing here reads files.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from warehouse.loading.staging.mentions import Tally

OTHER = "other"
"""The unit for spans with a label that no gold span of the log has."""

SpanCounts = dict[str, tuple[int, int, int]]
"""The span counts of a sample: possible, actual and correct by label."""

_PUNCTUATION = re.compile(r"""[!"#$%&'()*+,\-./:;<=>?\[\]^_`{|}~•@]+""")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WIDE = re.compile(r"\s{3,}|\t")


def span_counts(gold: Any, predicted: Any) -> SpanCounts:
    """The counts of an answer by label. Each span is matched with an equal span of the key."""
    wanted, found = Counter(labelled_spans(gold)), Counter(labelled_spans(predicted))
    possible, actual, correct = (
        Counter(label for label, _ in pairs.elements()) for pairs in (wanted, found, wanted & found)
    )
    return {label: (possible[label], actual[label], correct[label]) for label in possible | actual}


def tallies(counts: SpanCounts, labels: list[str]) -> dict[str, Tally]:
    """The counts of a sample by label of the key. Spans with any other label count under `other`."""
    by_label = {label: Tally(*counts.get(label, (0, 0, 0))) for label in labels}
    others = sum(actual for label, (_, actual, _) in counts.items() if label not in by_label)
    by_label[OTHER] = by_label[OTHER]._replace(actual=by_label[OTHER].actual + others)
    return by_label


def labelled_spans(text: Any) -> list[tuple[str, str]]:
    """The (label, text) pairs in an answer, without case, punctuation and articles.

    A pair ends at `$`, at `. ` or at `, `. Anything that is not a label and a text separated by `: ` is ignored.
    """
    whole = " ".join(str(part).strip() for part in text) if isinstance(text, list) else str(text)
    pieces = (
        piece.strip()
        for part in whole.strip().split("$")
        if part
        for sentence in part.strip().split(". ")
        for piece in sentence.split(", ")
    )
    pairs = (piece.split(": ") for piece in pieces)
    return [(_plain(pair[0]), _plain(pair[1])) for pair in pairs if len(pair) == 2]


def _plain(text: str) -> str:
    text = _ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.strip()))
    return re.sub(r"\s+", " ", _WIDE.sub("", text)).lower()
