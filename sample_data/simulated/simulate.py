"""Simulate the messages of MUC-4 whose published sums are in ../published: labels.csv, decisions.csv, scores.csv.

The message by message counts of MUC-4 are no part of this project. These stand in for them: invented messages on
which every system has exactly its official totals (muc4_official_totals.csv), its text filtering comes out as printed
(lewis_tong_1992_table2.csv), and a few pairs of systems differ about as significantly as reported (LEVELS below).

    python sample_data/simulated/simulate.py [--into FOLDER]

writes the three files again, byte for byte the same on every machine: chance comes from `random.Random.random` alone,
whose sequence Python guarantees, and arithmetic that may differ in a last bit is kept out. It prints the text filtering
figures that no whole number of documents gives. Standard library only; imports nothing of the project.
"""

import argparse
import csv
import math
import random
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, product
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from msgspec import Struct

SEED = 11  # picked because its levels come near those printed and no single message decides a pair
HERE = Path(__file__).resolve().parent
PUBLISHED = HERE.parent / "published"

EVALUATIONS = {"TST2": "MUC-3", "TST3": "MUC-4", "TST4": "MUC-4"}
LABELS = ("relevant", "optional", "nonrelevant")
COUNTS = ("possible", "actual", "correct", "partial", "incorrect", "spurious", "missing", "noncommittal")

# Two-sided significance levels to aim at on TST3. Printed in Chinchor 1992 are 0.0994, 0.0415 and 0.8918 for the first
# three pairs; the aims differ by what the normal approximation (see Target) is off. Of other pairs she says only
# whether they differ at 0.10 with confidence 0.99: in F, MDC and PARAMAX do, MDC and SRA and PARAMAX and SRA do not; in
# recall, MDC and SRA do not. These levels are free choices on the right side. In precision, UMBC-Conquest (SYNCH) does
# not differ from seven other sites; which seven is not said, and that SRA is one of them is a guess.
TUNED_TEST_SET = "TST3"
LEVELS = (
    ("F(beta=1)", "GE", "UMASS", 0.0989),
    ("F(beta=1)", "GE", "GE-CMU", 0.0425),
    ("F(beta=1)", "GE-CMU", "UMASS", 0.8918),
    ("F(beta=1)", "MDC", "PARAMAX", 0.06),
    ("F(beta=1)", "MDC", "SRA", 0.15),
    ("F(beta=1)", "PARAMAX", "SRA", 0.90),
    ("recall", "MDC", "SRA", 0.15),
    ("precision", "SRA", "SYNCH", 0.12),
)
# The denominator of a measure, as shares of possible and actual, where the numerator is 2·correct + partial.
DENOMINATORS = {"F(beta=1)": (1, 1), "recall": (2, 0), "precision": (0, 2)}


class Chance:
    """Draws from one seeded stream. Sums and weights are integers, so that no draw hangs on the last bit of a float."""

    def __init__(self, *seed: object) -> None:
        self._uniform = random.Random(" ".join(map(str, seed))).random

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._uniform() * n)

    def normal(self) -> float:
        """Nearly standard normal: the sum of twelve draws, uniform from 0 to 1, less six."""
        return (sum(self.below(1_000_000) for _ in range(12)) - 6_000_000) / 1_000_000

    def weight(self, shared: float, own: float) -> int:
        """A positive weight, 1,000 in the middle, from a shared value and own noise, both on a log scale."""
        return 1 + int(1000 * Decimal(shared + own * self.normal()).exp())  # the same everywhere; math.exp may not be

    def shuffle(self, labels: list[str]) -> None:
        """Put labels in random order, in place."""
        for last in range(len(labels) - 1, 0, -1):
            other = self.below(last + 1)
            labels[last], labels[other] = labels[other], labels[last]

    def deal(self, items: int, weights: Sequence[int], room: Sequence[int] | None = None) -> list[int]:
        """Deal items one by one to places in proportion to their weights, at most room[place] to each."""
        dealt = [0] * len(weights)
        left = [w if room is None or room[place] else 0 for place, w in enumerate(weights)]
        sums = list(accumulate(left))
        for _ in range(items):
            if not sums[-1]:
                raise ValueError(f"no room for {items} items")
            place = bisect_right(sums, self.below(sums[-1]))
            dealt[place] += 1
            if room is not None and dealt[place] == room[place]:
                left[place] = 0
                sums = list(accumulate(left))
        return dealt


# --- what is published -----------------------------------------------------------------------------------------------


class KeyCounts(NamedTuple):
    """How many messages of a test set are relevant, optional and nonrelevant."""

    relevant: int
    optional: int
    nonrelevant: int


class Figures(NamedTuple):
    """Recall, precision and fallout of text filtering as printed, in hundredths."""

    recall: int
    precision: int
    fallout: int


class Cells(NamedTuple):
    """The yes decisions of a system: on relevant (a), optional (x) and nonrelevant (b) messages.

    With the key counts they give the whole contingency table (Lewis & Tong 1992, figure 1).
    """

    a: int
    x: int
    b: int

    def ratios(self, key: KeyCounts) -> tuple[tuple[int, int], ...]:
        """Numerator and denominator of recall, precision and fallout, formulas (1) to (3)."""
        yes = self.a + self.x
        return (yes, key.relevant + self.x), (yes, yes + self.b), (self.b, key.nonrelevant + key.optional - self.x)


def read(file: str) -> list[dict[str, str]]:
    with (PUBLISHED / file).open(newline="", encoding="utf-8") as source:
        return list(csv.DictReader(source))


def read_key_counts() -> dict[str, KeyCounts]:
    return {row["test_set"]: KeyCounts(*(int(row[label]) for label in LABELS)) for row in read("key_counts.csv")}


def read_totals() -> dict[str, dict[str, dict[str, int]]]:
    """The official totals: by test set, then system, then count."""
    totals: dict[str, dict[str, dict[str, int]]] = {}
    for row in read("muc4_official_totals.csv"):
        totals.setdefault(row["test_set"], {})[row["system"]] = {count: int(row[count]) for count in COUNTS}
    return totals


def read_figures() -> dict[tuple[str, str], Figures]:
    """Table 2 of Lewis & Tong by test set and system."""
    printed: dict[tuple[str, str], dict[str, int]] = {}
    for row in read("lewis_tong_1992_table2.csv"):
        printed.setdefault((row["test_set"], row["system"]), {})[row["measure"]] = int(100 * Fraction(row["value"]))
    return {key: Figures(**figures) for key, figures in printed.items()}


# --- text filtering: whole documents behind printed figures ----------------------------------------------------------


def printed_forms(numerator: int, denominator: int) -> set[int]:
    """The hundredths a ratio may be printed as: rounded half up or half to even, at once or after a cut to tenths
    of a hundredth (the 1992 score reports cut, then round)."""
    exact = Fraction(100 * numerator, denominator)
    cut = Fraction(1000 * numerator // denominator, 10)
    return {form for ratio in (exact, cut) for form in (math.floor(ratio + Fraction(1, 2)), round(ratio))}


def reproduces(cells: Cells, key: KeyCounts, figures: Figures) -> bool:
    return all(printed in printed_forms(*ratio) for printed, ratio in zip(figures, cells.ratios(key), strict=True))


def solve(key: KeyCounts, figures: Figures) -> Cells:
    """The cells that reproduce the printed figures; of several, or where there are none, those nearest to them."""

    def distance(cells: Cells) -> float:
        off = [100 * n / d - printed for (n, d), printed in zip(cells.ratios(key), figures, strict=True)]
        return off[0] * off[0] + off[1] * off[1] + off[2] * off[2]

    yes_counts = product(range(1, key.relevant + 1), range(key.optional + 1), range(key.nonrelevant + 1))
    nearest_first = sorted((Cells(*counts) for counts in yes_counts), key=distance)
    return next((cells for cells in nearest_first if reproduces(cells, key, figures)), nearest_first[0])


# --- the messages ----------------------------------------------------------------------------------------------------


class Message(Struct, frozen=True):
    """What all systems share on a message. The last three are on a log scale, 0 in the middle."""

    label: str
    base: int  # fills of the key that every system is held to; 0 unless relevant
    ease: float  # how readily its fills are found
    signal: float  # how readily it is taken for relevant
    lure: float  # how much is read into it that is not there


def shuffled_labels(key: KeyCounts, chance: Chance) -> list[str]:
    """The labels of the messages of a test set, in random order."""
    labels = [label for label, count in zip(LABELS, key, strict=True) for _ in range(count)]
    chance.shuffle(labels)
    return labels


def simulate_messages(labels: Sequence[str], base: int, chance: Chance) -> list[Message]:
    """One message a label, with `base` fills dealt out among the relevant ones."""
    # A relevant message has one to four templates, mostly one or two, of much the same number of fills.
    templates = [(1 + chance.deal(1, (52, 32, 12, 4)).index(1)) * (label == "relevant") for label in labels]
    least = [5 * t for t in templates]
    rest = chance.deal(base - sum(least), [t * chance.weight(0.0, 0.25) for t in templates])
    fills = [few + more for few, more in zip(least, rest, strict=True)]
    return [
        Message(
            label=label,
            base=fill,
            ease=0.6 * chance.normal(),
            signal=0.6 * t + chance.normal(),  # who reports more is harder to miss
            lure=0.5 * chance.normal(),
        )
        for label, t, fill in zip(labels, templates, fills, strict=True)
    ]


def decide(messages: Sequence[Message], cells: Cells, chance: Chance) -> list[bool]:
    """As many yes decisions per label as the cells say, on the messages that most look relevant to the system."""
    looks = [round(1000 * (m.signal + chance.normal())) for m in messages]
    decisions = [False] * len(messages)
    for label, yes in zip(LABELS, cells, strict=True):
        places = [place for place, m in enumerate(messages) if m.label == label]
        for place in sorted(places, key=lambda place: (-looks[place], place))[:yes]:
            decisions[place] = True
    return decisions


class Answers(Struct):
    """A system's counts on the messages of a test set, one place a message. Actual and missing follow from the others.

    Not frozen: tuning moves counts from message to message.
    """

    decisions: list[bool]
    possible: list[int]
    correct: list[int]
    partial: list[int]
    incorrect: list[int]
    spurious: list[int]
    noncommittal: list[int]

    def matched(self, place: int) -> int:
        return self.correct[place] + self.partial[place] + self.incorrect[place]

    def actual(self, place: int) -> int:
        return self.matched(place) + self.spurious[place]

    def missing(self, place: int) -> int:
        return self.possible[place] - self.matched(place)

    def row(self, place: int) -> tuple[int, ...]:
        """The counts on one message, in the order of COUNTS."""
        matched = (self.correct[place], self.partial[place], self.incorrect[place])
        others = (self.spurious[place], self.missing(place), self.noncommittal[place])
        return (self.possible[place], self.actual(place), *matched, *others)


def answer(
    messages: Sequence[Message], decisions: list[bool], totals: Mapping[str, int], base: int, chance: Chance
) -> Answers:
    """Deal a system's official totals out among the messages."""
    may_match = [yes and m.label != "nonrelevant" for yes, m in zip(decisions, messages, strict=True)]

    # Optional fills count as possible only for a system that gave them: they come on top of the shared base, on a
    # relevant message at most half as many.
    length = [m.base or 12 for m in messages]
    extra = chance.deal(
        totals["possible"] - base,
        [n * chance.weight(m.ease, 0.3) * may for n, m, may in zip(length, messages, may_match, strict=True)],
        [m.base // 2 or 30 for m in messages],
    )
    possible = [m.base + more for m, more in zip(messages, extra, strict=True)]

    room = [p * may for p, may in zip(possible, may_match, strict=True)]
    found = [r * chance.weight(m.ease, 0.3) for r, m in zip(room, messages, strict=True)]
    dealt = []
    for count in ("correct", "partial", "incorrect"):
        dealt.append(chance.deal(totals[count], found, room))
        room = [r - items for r, items in zip(room, dealt[-1], strict=True)]

    # Who decides yes gives at least one fill; where none matches, it is spurious.
    matched = [sum(counts) for counts in zip(*dealt, strict=True)]
    alone = [int(yes and not hits) for yes, hits in zip(decisions, matched, strict=True)]
    invented = [n * chance.weight(m.lure, 0.6) * yes for n, m, yes in zip(length, messages, decisions, strict=True)]
    others = chance.deal(totals["spurious"] - sum(alone), invented)
    spurious = [one + more for one, more in zip(alone, others, strict=True)]

    correct, partial, incorrect = dealt
    answers = Answers(decisions, possible, correct, partial, incorrect, spurious, [])
    given = [(possible[p] + answers.actual(p)) * chance.weight(0.0, 0.1) for p in range(len(messages))]
    answers.noncommittal = chance.deal(totals["noncommittal"], given)
    return answers


# --- tuning ----------------------------------------------------------------------------------------------------------


class Target(Struct, frozen=True):
    """How far apart two systems should lie, message by message, for their difference to have a certain level.

    With the measure N/D, exchanging a message's counts moves the difference between the systems by
    d = (N_a - N_b)·S_D - (D_a - D_b)·S_N, S being sums over both. The sums are fixed, so the level hangs on the sum
    of d² over the messages: `wanted`, to a normal approximation.
    """

    measure: str
    systems: tuple[str, str]
    sum_n: int
    sum_d: int
    wanted: int


def ratio(measure: str, counts: Mapping[str, int]) -> tuple[int, int]:
    """Numerator and denominator of a measure of extraction."""
    of_possible, of_actual = DENOMINATORS[measure]
    return 2 * counts["correct"] + counts["partial"], of_possible * counts["possible"] + of_actual * counts["actual"]


def target(measure: str, a: str, b: str, level: float, totals: Mapping[str, Mapping[str, int]]) -> Target:
    (n_a, d_a), (n_b, d_b) = (ratio(measure, totals[system]) for system in (a, b))
    sum_n, sum_d, v = n_a + n_b, d_a + d_b, d_a - d_b
    # Among shuffles v is near 0, so the observed difference weighs more by S_D² / (S_D² - v²).
    observed = Fraction(((n_a - n_b) * sum_d - v * sum_n) * sum_d**2, sum_d**2 - v**2)
    deviations = Fraction(round(1000 * NormalDist().inv_cdf(1 - level / 2)), 1000)
    return Target(measure, (a, b), sum_n, sum_d, round((observed / deviations) ** 2))


def squares(goal: Target, sheets: Mapping[str, Answers], places: Iterable[int]) -> int:
    """The sum of d² over these places."""
    of_possible, of_actual = DENOMINATORS[goal.measure]
    a, b = (sheets[system] for system in goal.systems)
    total = 0
    for place in places:
        n = 2 * (a.correct[place] - b.correct[place]) + a.partial[place] - b.partial[place]
        d = of_possible * (a.possible[place] - b.possible[place]) + of_actual * (a.actual(place) - b.actual(place))
        total += (n * goal.sum_d - d * goal.sum_n) ** 2
    return total


def tune(sheets: Mapping[str, Answers], goals: Sequence[Target], chance: Chance) -> None:
    """Move counts between messages, in place, until the sum of d² of every goal is within 0.3% of the one wanted.

    A move takes correct or spurious fills of one system from one message to another where it also decides yes, and
    keeps all totals, decisions and identities. It stays if it brings the sums nearer, or takes them but little farther
    (else the search ends in dead ends, since the goals share systems). RuntimeError if that leads nowhere.
    """
    systems = sorted({system for goal in goals for system in goal.systems})
    everywhere = range(len(sheets[systems[0]].decisions))
    sums = [squares(goal, sheets, everywhere) for goal in goals]

    def off(total: int, goal: Target) -> int:
        """How far a sum is from the one wanted, in millionths of it."""
        return 1_000_000 * abs(total - goal.wanted) // goal.wanted

    for _ in range(400_000):
        if all(off(total, goal) <= 3_000 for total, goal in zip(sums, goals, strict=True)):
            return
        system = systems[chance.below(len(systems))]
        sheet = sheets[system]
        kind = sheet.correct if chance.below(2) else sheet.spurious
        here, there, items = chance.below(len(kind)), chance.below(len(kind)), 1 + chance.below(4)
        if here == there or not sheet.decisions[there] or kind[here] < items or sheet.actual(here) <= items:
            continue
        if kind is sheet.correct and sheet.missing(there) < items:
            continue
        touched = [number for number, goal in enumerate(goals) if system in goal.systems]
        before = {n: squares(goals[n], sheets, (here, there)) for n in touched}
        kind[here] -= items
        kind[there] += items
        moved = {n: sums[n] - before[n] + squares(goals[n], sheets, (here, there)) for n in touched}
        if sum(off(moved[n], goals[n]) - off(sums[n], goals[n]) for n in touched) < 2_000:
            for n in touched:
                sums[n] = moved[n]
        else:
            kind[here] += items
            kind[there] -= items
    raise RuntimeError("no set of moves found that gives the levels wanted")


# --- test sets and files ----------------------------------------------------------------------------------------------


def simulate_answers(
    test_set: str, labels: Sequence[str], totals: Mapping[str, Mapping[str, int]], cells: Mapping[str, Cells]
) -> dict[str, Answers]:
    """The answers of every system that has official totals for the test set."""
    base = min(counts["possible"] for counts in totals.values())
    messages = simulate_messages(labels, base, Chance(SEED, test_set))
    sheets = {}
    for system, counts in totals.items():
        chance = Chance(SEED, test_set, system)
        sheets[system] = answer(messages, decide(messages, cells[system], chance), counts, base, chance)
    if test_set == TUNED_TEST_SET:
        tune(sheets, [target(*aim, totals) for aim in LEVELS], Chance(SEED, test_set, "tune"))
    return sheets


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def simulate(into: Path) -> None:
    """Write labels.csv, decisions.csv and scores.csv into a folder."""
    totals, figures = read_totals(), read_figures()
    label_rows, decision_rows, score_rows = (list[Sequence[object]]() for _ in range(3))
    for test_set, key in read_key_counts().items():
        evaluation = EVALUATIONS[test_set]
        labels = shuffled_labels(key, Chance(SEED, test_set, "labels"))
        names = [f"SIM{test_set[-1]}-{number:03}" for number in range(1, len(labels) + 1)]
        label_rows += [(evaluation, test_set, *pair) for pair in zip(names, labels, strict=True)]
        if test_set not in totals:
            continue
        cells = {system: solve(key, figures[test_set, system]) for system in totals[test_set]}
        for system, answers in simulate_answers(test_set, labels, totals[test_set], cells).items():
            for place, name in enumerate(names):
                row = (evaluation, test_set, system, name)
                decision_rows.append((*row, "yes" if answers.decisions[place] else "no"))
                score_rows.append((*row, *answers.row(place)))
            printed = figures[test_set, system]
            if not reproduces(cells[system], key, printed):
                print(f"{test_set} {system}: no whole documents give {printed}; nearest {cells[system]}")

    keys = ("evaluation", "test_set", "system", "document")
    write(into / "labels.csv", ("evaluation", "test_set", "document", "label"), label_rows)
    write(into / "decisions.csv", (*keys, "decision"), decision_rows)
    write(into / "scores.csv", (*keys, *COUNTS), score_rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the simulated labels, decisions and score tuples again.")
    parser.add_argument("--into", type=Path, default=HERE, metavar="FOLDER", help="where to write (default: here)")
    simulate(parser.parse_args().into)


if __name__ == "__main__":
    main()
