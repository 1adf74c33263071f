"""Makes `wire/`: the decisions of three systems that do not exist on a news wire, for eight reader profiles. In April
each pair of a profile and a story has a label, and two people and a model independently labelled a third of the pairs.
In June the systems run, and labels come later, for a quarter of the pairs. Everything is random with a fixed seed.
`make.py` writes the files.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from math import exp

from msgspec import Struct

PROFILES = {
    "ferry-accidents": (0.30, 0.06),
    "dam-projects": (0.34, 0.09),
    "grain-exports": (0.45, 0.16),
    "wildfires": (0.50, 0.22),
    "port-strikes": (0.26, 0.05),
    "rail-freight": (0.38, 0.12),
    "fishing-quotas": (0.24, 0.05),
    "border-crossings": (0.42, 0.13),
}
"""The share of stories that is relevant to each profile, in April and in June. The stories of April were chosen by
hand.
"""

AGENCIES = ("coastal", "inland", "overseas")
STORIES = 75
LABELS = ("relevant", "optional", "nonrelevant")
OPTIONAL = 0.05


class Story(Struct, frozen=True):
    """A story for a profile: its correct label, and what a system sees of it, which is higher for stories that look
    relevant.
    """

    name: str
    agency: str
    label: str
    looks: float


class Letting(Struct, frozen=True):
    """How a system decides: how much of the truth it sees, how much random noise it adds, and the threshold above which
    it says yes. Systems without `sure` give no confidences.
    """

    skill: float
    scatter: float
    threshold: float
    weak: str
    sure: bool = True


SYSTEMS = {
    "keywords": Letting(1.9, 1.15, 0.95, "rail-freight", sure=False),
    "svm": Letting(2.3, 0.85, 1.75, "border-crossings"),
    "encoder": Letting(2.7, 0.65, 1.15, "fishing-quotas"),
}


def stories(month: str, day: str, profile: str) -> Iterator[Story]:
    """The stories of a profile in a month."""
    chance = random.Random(f"{profile} in {month}")
    share = PROFILES[profile][month == "june"]
    numbers = sorted(chance.sample(range(1, 1000), STORIES))
    for number in numbers:
        drawn = chance.random()
        label = LABELS[0 if drawn < share else 1 if drawn < share + OPTIONAL else 2]
        looks = {"relevant": 1.0, "optional": 0.55, "nonrelevant": 0.0}[label] + chance.gauss(0.0, 0.4)
        yield Story(f"{profile}/{day}-{number:03d}", chance.choice(AGENCIES), label, looks)


def decided(system: str, story: Story) -> tuple[str, str]:
    """A system's decision on a story, with its confidence. What looks relevant looks relevant to all systems."""
    made = SYSTEMS[system]
    chance = random.Random(f"{system} on {story.name}")
    skill = made.skill - 0.9 * story.name.startswith(made.weak)
    score = skill * story.looks + chance.gauss(0.0, made.scatter)
    decision = "yes" if score > made.threshold else "no"
    if not made.sure:
        return decision, ""
    shown = 1 / (1 + exp(-2 * (score - made.threshold))) if system == "encoder" else score - made.threshold
    return decision, f"{shown:.4f}"


SLIPS = {"ines": (0.04, 0.04), "tom": (0.07, 0.07), "llm": (0.03, 0.10)}
"""How often an annotator errs on a relevant story and on one that is not relevant. The model labels too many stories as
relevant.
"""


def labelled(annotator: str, story: Story) -> str:
    """An annotator's label of a story. Errors are more likely on stories that look neither relevant nor irrelevant, and
    on optional ones.
    """
    chance = random.Random(f"{annotator} on {story.name}")
    slips = SLIPS[annotator][story.label == "nonrelevant"]
    if story.label == "optional":
        slips = 0.3
    elif 0.25 < story.looks < 0.75:
        slips *= 2
    if chance.random() > slips:
        return story.label
    if story.label == "optional":
        return "relevant" if annotator == "llm" else chance.choice(("relevant", "nonrelevant"))
    other = "nonrelevant" if story.label == "relevant" else "relevant"
    return "optional" if chance.random() < 0.3 else other


def table(header: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table as CSV."""
    return "\n".join([header, *(",".join(row) for row in rows)]) + "\n"


def files() -> Iterator[tuple[str, str]]:
    """The name and the text of each file in `wire/`."""
    months = {
        month: [story for profile in PROFILES for story in stories(month, day, profile)]
        for month, day in (("april", "0412"), ("june", "0621"))
    }
    for month, all_stories in months.items():
        yield (
            f"{month}/decisions.csv.gz",
            table(
                "test_set,system,document,decision,confidence",
                ((month, system, story.name, *decided(system, story)) for system in SYSTEMS for story in all_stories),
            ),
        )
        yield (
            f"{month}/stories.csv.gz",
            table(
                "test_set,document,profile,agency",
                ((month, story.name, story.name.partition("/")[0], story.agency) for story in all_stories),
            ),
        )
    april, june = months["april"], months["june"]
    twice = random.Random("labelled twice").sample(april, len(april) // 3)
    later = random.Random("labelled later").sample(june, len(june) // 4)
    yield "april/key.csv", table("test_set,document,label", (("april", story.name, story.label) for story in april))
    yield (
        "april/annotators.csv",
        table(
            "test_set,document,annotator,label",
            (("april", story.name, who, labelled(who, story)) for who in SLIPS for story in twice),
        ),
    )
    yield "april/kinds.csv", table("system,kind", (("ines", "person"), ("tom", "person"), ("llm", "model")))
    yield "labels/key.csv", table("test_set,document,label", (("june", story.name, story.label) for story in later))
    yield (
        "labels/llm.csv",
        table(
            "test_set,document,annotator,label",
            (("june", story.name, "llm", labelled("llm", story)) for story in june),
        ),
    )
