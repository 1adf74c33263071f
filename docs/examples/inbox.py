"""Makes `inbox/`: the submissions of six teams to an invented shared task, to name the mood of 240 short messages, with
the gold labels and the source of each message. `make.py` writes the files.

A message is equally hard for all teams, so their mistakes are correlated. One team leaves messages out, and one answers
nearly always the most frequent mood. Random draws have a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

MESSAGES = 240
MOODS = {"joy": 5, "calm": 4, "anger": 3, "fear": 2, "sorrow": 2}
"""How frequent each mood is."""
SOURCES = ("diary", "forum", "letters")
MISTAKEN = {"joy": "calm", "calm": "joy", "anger": "fear", "fear": "sorrow", "sorrow": "calm"}
"""The mood that each is most often mistaken for."""

TEAMS = {"aurora": 1.6, "basalt": 1.45, "cinder": 1.0, "dune": 0.8, "ember": 0.2}
"""How able each team's system is."""
LEFT_OUT = {"dune": 0.06}
"""The share of messages that a team leaves out."""
BASELINE = "most-frequent"


def messages() -> Iterator[tuple[str, str, str, float]]:
    """The id, the mood and the source of each message, and how hard it is."""
    drawing = random.Random(1)
    for number in range(1, MESSAGES + 1):
        mood = drawing.choices(list(MOODS), list(MOODS.values()))[0]
        source = drawing.choice(SOURCES)
        yield f"m{number:03}", mood, source, drawing.gauss(0.0, 1.2) + (0.5 if source == "letters" else 0.0)


def answers(team: str) -> Iterator[tuple[str, str]]:
    """What a team answers."""
    drawing = random.Random(team)
    for name, mood, _, hard in messages():
        if drawing.random() < LEFT_OUT.get(team, 0.0):
            continue
        knows = drawing.gauss(0.0, 1.0) + TEAMS[team] > hard
        wrong = MISTAKEN[mood] if drawing.random() < 0.7 else drawing.choice(list(MOODS))
        yield name, mood if knows else wrong


def table(head: str, rows: Iterator[tuple[str, str]]) -> str:
    """A file of two columns."""
    return "".join(f"{first}\t{second}\n" for first, second in (tuple(head.split()), *rows))


def files() -> Iterator[tuple[str, str]]:
    """The name and the text of each file in `inbox/`."""
    yield "gold.tsv", table("id label", ((name, mood) for name, mood, *_ in messages()))
    for team in TEAMS:
        yield f"{team}.tsv", table("id label", answers(team))
    yield f"{BASELINE}.tsv", table("id label", ((name, "joy") for name, *_ in messages()))
    sources = "".join(f"inbox,{name},{source}\n" for name, _, source, _ in messages())
    yield "sources.csv", f"test_set,document,source\n{sources}"
