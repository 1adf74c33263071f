"""Hints below an error: known words that a misspelt word may mean, or a list of what exists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal


def hints(word: str, known: Iterable[str], what: str, typed: Callable[[str], str] = str) -> tuple[str, ...]:
    """Similar names if there are any, otherwise a list of what exists. `typed` returns a name as it is typed."""
    known = list(known)
    close = near(word, known)
    if close:
        return (f"did you mean {' or '.join(map(typed, close))}?",)
    return listing(known, what, typed)


def listing(known: Iterable[str], what: str, typed: Callable[[str], str] = str) -> tuple[str, ...]:
    """A line that lists what exists, at most a dozen. `typed` returns a name as it is typed."""
    names = sorted(known)
    if not names:
        return (f"there are no {what}",)
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return (f"{what}: {', '.join(map(typed, names[:12]))}{more}",)


def number_text(number: Decimal) -> str:
    """A number as it would be typed."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def brief(text: str) -> str:
    """A name for a message: a very long one is cut in the middle."""
    return text if len(text) <= 60 else f"{text[:40]}…{text[-19:]}"


LONGEST = 200
"""Longer words are not compared, because they are not typing errors."""


def near(word: str, among: Iterable[str], at_most: int = 3) -> tuple[str, ...]:
    """Up to `at_most` of the words `among` that `word` may be a misspelling of, the nearest first.

    Case is ignored. A word is near if at most a third of its letters differ (one may always differ), or if it begins
    with `word` and `word` has three letters or more.
    """
    written = word.casefold()
    if not written or len(written) > LONGEST:
        return ()
    likely = []
    for order, candidate in enumerate(dict.fromkeys(among)):
        known = candidate.casefold()
        most = max(1, max(len(written), len(known)) // 3)
        distance = edits(written, known, most)
        if distance <= most and distance < len(written) and distance < len(known):
            likely.append((distance, order, candidate))
        elif len(written) >= 3 and known.startswith(written):
            likely.append((most + 1, order, candidate))
    return tuple(candidate for _, _, candidate in sorted(likely)[:at_most])


def edits(one: str, other: str, most: int) -> int:
    """The number of letters to insert, drop, replace or swap with a neighbour to turn one word into the other.

    This is the Damerau-Levenshtein distance in which no letter is edited twice. Any number above `most` means "more
    than that".
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        here = [row]
        for column, known in enumerate(other, start=1):
            cost = min(above[column] + 1, here[column - 1] + 1, above[column - 1] + (letter != known))
            swapped = row > 1 and column > 1 and letter == other[column - 2] and known == one[row - 2]
            if swapped:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        if min(here) > most and (row == 1 or min(above) > most):
            return most + 1
        before, above = above, here
    return above[-1]
