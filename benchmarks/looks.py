"""What looking more than once does: how often each way of asking finds a difference that is not there and one that is,
and after how many documents.

    python benchmarks/looks.py [--sets 1000] [--only asked | ways] [--picture docs/pictures/looks.svg]

Seeds are fixed, and the same arguments print the same tables, the worst row first. With 1,000 sets, a size of 0.05 is
measured between 0.036 and 0.064 nineteen times in twenty. `asked` is the exact test of right-or-wrong items asked again
and again, 20,000 evaluations of two equal systems; `--picture` draws it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.looking import contributions, log_capital, look_by_plan
from evalhouse.warehouse.significance.matched import mcnemar
from evalhouse.warehouse.significance.shuffles.randomization import functional_test, randomization_test
from evalhouse.warehouse.significance.spending import SPENDINGS
from evalhouse.warehouse.significance.sums import Sums, Valuation

LEVEL, ITEMS = 0.05, 400
LOOKS = (50, 100, 150, 200, 250, 300, 350, 400)
SHUFFLES = 999
Source = np.random.Generator
Integers = NDArray[np.int64]


# --- the exact test asked again and again -----------------------------------------------------------------------------

ASKED: Mapping[str, Sequence[int]] = {
    "39 looks, from 20 items on after every 10": range(20, 401, 10),
    "8 looks, at 25, 50, 100, 150, 200, 250, 300 and 400 items": (25, 50, 100, 150, 200, 250, 300, 400),
    "one look, at 400 items": (400,),
}
EVALUATIONS, DISCORDANT = 20_000, 0.42
"""Both systems are right on 70% of the items, each on its own."""


@cache
def significant(ahead: int, behind: int) -> bool:
    """Whether the exact test finds a difference; of items of one size the exact randomization test is McNemar's."""
    return mcnemar(ahead, behind).p <= LEVEL


def asked() -> dict[str, list[tuple[int, float]]]:
    """For each way of asking, the share of evaluations that were significant at least once by each look."""
    source = np.random.default_rng(1992)
    draws = source.random((EVALUATIONS, ITEMS))
    ahead = np.cumsum(draws < DISCORDANT / 2, axis=1)
    behind = np.cumsum((draws >= DISCORDANT / 2) & (draws < DISCORDANT), axis=1)
    found: dict[str, list[tuple[int, float]]] = {}
    for name, looks in ASKED.items():
        once, shares = np.zeros(EVALUATIONS, dtype=bool), []
        for look in looks:
            counts = zip(ahead[:, look - 1].tolist(), behind[:, look - 1].tolist(), strict=True)
            once |= np.fromiter((significant(*pair) for pair in counts), dtype=bool, count=EVALUATIONS)
            shares.append((look, float(once.mean())))
        found[name] = shares
    return found


# --- evaluations ------------------------------------------------------------------------------------------------------


def accuracy(source: Source, better: float, share: float) -> Sums:
    """Items right or wrong, of different difficulty; the first system is right so much more often."""
    ease = source.beta(2.1, 0.9, ITEMS)
    raised = np.stack((np.clip(ease + better, 0, 1), ease))
    return Sums.of_ratios((source.random((2, ITEMS)) < raised).astype(np.int64), np.ones((2, ITEMS), dtype=np.int64))


def precision(source: Source, better: float, share: float) -> Sums:
    """Precision 0.5; the first system answers a share of the documents, the second all."""
    ease, found = source.beta(2, 2, ITEMS), 1 + source.poisson(2, (2, ITEMS))
    found[0] *= source.random(ITEMS) < share
    found[0, 0] += 1
    return Sums.of_ratios(source.binomial(found, np.stack((np.clip(ease + better, 0, 1), ease))), found)


def f(source: Source, better: float, share: float) -> Sums:
    """F of slots: both find about half of what there is; what the first one answers is spread over fewer documents."""
    possible, ease = 1 + source.poisson(2, ITEMS), source.uniform(0.6, 1.4, ITEMS)
    chosen = source.random(ITEMS) < share
    right = source.binomial(possible, np.clip(np.stack(((0.5 + better) * ease * chosen, 0.5 * share * ease)), 0, 1))
    spurious = source.poisson(np.stack((0.5 * possible * chosen, 0.5 * share * possible)))
    return Sums.of_ratios(2 * right, possible + right + spurious)


def _matthews(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    a, b, c, d = sums
    under = np.sqrt((a + b) * (a + c) * (d + b) * (d + c))
    return np.asarray(np.divide(a * d - b * c, under, out=np.full(under.shape, np.nan), where=under > 0))


def _matthews_exactly(sums: tuple[int, ...]) -> Decimal | None:
    a, b, c, d = map(Decimal, sums)
    under = (a + b) * (a + c) * (d + b) * (d + c)
    return (a * d - b * c) / under.sqrt() if under else None


MATTHEWS = Valuation(_matthews, _matthews_exactly)


def _decided(source: Source, documents: int, skills: Sequence[float], share: float) -> list[NDArray[np.bool_]]:
    """The cells of decisions on documents of which three in ten are relevant; the first system says yes more rarely."""
    relevant, hard = source.random(documents) < 0.3, source.normal(0, 0.7, documents)
    lean = np.array([np.log(share), 0.0])[:, None]
    told = np.array(skills)[:, None] * np.where(relevant, 1, -1) + hard + lean
    yes = told + source.logistic(0, 1, (2, documents)) > 0
    return [yes & relevant, yes & ~relevant, ~yes & relevant, ~yes & ~relevant]


SKILL = 1.2


@cache
def as_skilled(share: float) -> float:
    """The skill with which the first system has the MCC of the second, though it says yes more rarely."""
    low, high = 0.5, 3.0
    while high - low > 0.001:
        middle = (low + high) / 2
        cells = _decided(np.random.default_rng(7), 1_000_000, (middle, SKILL), share)
        first, second = _matthews(np.array([cell.sum(axis=1) for cell in cells], dtype=np.float64))
        low, high = (middle, high) if first < second else (low, middle)
    return low


def mcc(source: Source, better: float, share: float) -> Sums:
    """MCC of decisions."""
    skill = SKILL if share == 1 else as_skilled(share)
    cells = _decided(source, ITEMS, (skill + better, SKILL), share)
    return Sums(tuple(cell.astype(np.int64) for cell in cells), MATTHEWS)


Design = Callable[[Source, float, float], Sums]
DESIGNS: Mapping[str, tuple[Design, float, float]] = {
    "accuracy": (accuracy, 0.08, 1.0),
    "precision, as many answers": (precision, 0.08, 1.0),
    "precision, a third as many answers": (precision, 0.08, 1 / 3),
    "F, as many answers": (f, 0.08, 1.0),
    "F, answers in a third of the documents": (f, 0.16, 1 / 3),
    "MCC, as many answers yes": (mcc, 0.6, 1.0),
    "MCC, fewer answers yes": (mcc, 0.6, 0.6),
}
"""How each is made, how much better the first system is where it is, and what share of the documents it answers."""


# --- ways of asking ---------------------------------------------------------------------------------------------------
# Each returns after how many documents it found a difference, 0 where it never did.


def _p(paired: Sums, seed: int) -> float:
    test = functional_test if paired.is_function else randomization_test
    return test(paired, Draws(SHUFFLES, seed)).p


def once(paired: Sums, seed: int) -> int:
    return ITEMS if _p(paired, seed) <= LEVEL else 0


def at_each(paired: Sums, seed: int) -> int:
    return next((look for look in LOOKS if _p(paired.first(look), seed) <= LEVEL), 0)


def anytime(paired: Sums, seed: int) -> int:
    capital = np.maximum.accumulate(log_capital(contributions(paired), "two-sided"))
    return next((look for look in LOOKS if capital[look - 1] >= -np.log(LEVEL)), 0)


def planned(spending: int) -> Callable[[Sums, int], int]:
    def way(paired: Sums, seed: int) -> int:
        shares = [look / ITEMS for look in LOOKS]
        found = look_by_plan(paired, LOOKS, shares, SPENDINGS[spending], LEVEL, Draws(SHUFFLES, seed))
        return LOOKS[found.look - 1] if found.crossed else 0

    return way


WAYS: Mapping[str, Callable[[Sums, int], int]] = {
    "the fixed test, at each look": at_each,
    "the fixed test, once": once,
    "`planned 400`": planned(0),
    "`planned 400 spending pocock`": planned(1),
    "`anytime`": anytime,
}


def ways(sets: int) -> list[tuple[str, str, float, float, float]]:
    """Measure, way, size, power, and how many documents it took on average where there is a difference."""
    rows = []
    for number, (name, (make, better, share)) in enumerate(DESIGNS.items()):
        of_null = [make(np.random.default_rng((1992, number, 0, place)), 0.0, share) for place in range(sets)]
        of_effect = [make(np.random.default_rng((1992, number, 1, place)), better, share) for place in range(sets)]
        for way, ask in WAYS.items():
            size = np.mean([ask(paired, place) > 0 for place, paired in enumerate(of_null)])
            ends = np.array([ask(paired, place) for place, paired in enumerate(of_effect)])
            took = np.where(ends > 0, ends, ITEMS)
            rows.append((name, way, float(size), float((ends > 0).mean()), float(took.mean())))
            print(f"{name}, {way}: done", file=sys.stderr, flush=True)
    return sorted(rows, key=lambda row: -row[2])


# --- what is printed --------------------------------------------------------------------------------------------------


def picture(found: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    """The shares as steps, by items, for a page on white or on black."""
    left, top, width, height, most = 56, 16, 520, 220, 0.25

    def across(items: float) -> float:
        return left + width * items / ITEMS

    def up(share: float) -> float:
        return top + height * (1 - share / most)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 150} {top + height + 52}" '
        'font-family="Liberation Sans, Arial, Helvetica, sans-serif" font-size="13" fill="#667">',
        "<title>Two equal systems: the share of evaluations in which the exact test was significant at least once, by "
        "the number of items, for 39 looks, 8 looks and one</title>",
    ]
    for percent in range(0, 26, 5):
        y = up(percent / 100)
        dash = ' stroke-dasharray="5 4"' if percent == 5 else ""
        colour = "#889" if percent == 5 else "#8894"
        parts.append(f'<path d="M{left} {y:.1f}H{left + width}" stroke="{colour}"{dash}/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{percent}%</text>')
    for items in range(0, ITEMS + 1, 100):
        parts.append(f'<text x="{across(items):.1f}" y="{top + height + 20}" text-anchor="middle">{items}</text>')
    parts.append(f'<text x="{left + width / 2}" y="{top + height + 42}" text-anchor="middle">items so far</text>')
    for colour, (name, shares) in zip(("#c0392b", "#d98200", "#2a7fb8"), found.items(), strict=True):
        path = f"M{across(0):.1f} {up(0):.1f}" + "".join(f"H{across(n):.1f}V{up(share):.1f}" for n, share in shares)
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        last, said = shares[-1][1], name.partition(",")[0]
        place = f'x="{left + width + 8}" y="{up(last) + 4:.1f}"'
        parts.append(f'<text {place} fill="{colour}">{said}: {100 * last:.0f}%</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--only", choices=("asked", "ways"))
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    if given.only != "ways":
        found = asked()
        heads("the exact test, two equal systems", "significant at least once")
        for name, shares in found.items():
            row(name, f"{100 * shares[-1][1]:.1f}%")
        print()
        if given.picture:
            given.picture.write_text(picture(found), encoding="utf-8")
    if given.only != "asked":
        heads("measure", "asked", "size", "power", "documents")
        for name, way, size, power, documents in ways(given.sets):
            row(name, way, f"{size:.3f}", f"{power:.2f}", f"{documents:.0f}")


if __name__ == "__main__":
    main()
