"""What follows an error: names that are near, or what there is."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from grammar.editing.nearness import near


def hints(word: str, known: Iterable[str], what: str) -> tuple[str, ...]:
    """Near names if there are any, else what there is."""
    known = list(known)
    close = near(word, known)
    if close:
        return (f"did you mean {' or '.join(close)}?",)
    return listing(known, what)


def listing(known: Iterable[str], what: str) -> tuple[str, ...]:
    """A line that lists what there is, at most a dozen."""
    names = sorted(known)
    if not names:
        return (f"there are no {what}",)
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return (f"{what}: {', '.join(names[:12])}{more}",)


def written(number: Decimal) -> str:
    """A number as it would be typed."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def brief(text: str) -> str:
    """A name for a message: a very long one is cut in the middle."""
    return text if len(text) <= 60 else f"{text[:40]}…{text[-19:]}"
