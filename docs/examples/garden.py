"""Makes `garden/`: the runs and judgments of a search track that does not exist, in two years. Its topics are
gardeners' questions. Five systems search pages of advice, and judges saw the first ten pages of four of them.
Everything is random with a fixed seed. `make.py` writes the files.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from msgspec import Struct

ASKED = {
    "2025": {
        "fact": (
            "do coffee grounds acidify soil",
            "depth of roots of a hazel hedge",
            "are foxglove leaves poisonous to dogs",
            "hardiness of olive trees in frost",
            "when do swifts leave gardens",
            "pH that blueberries need",
            "life span of a rhubarb crown",
            "is horse manure free of weedkiller",
            "which pumpkins store until spring",
            "what eats vine weevil grubs",
            "does borax kill ants",
            "nitrogen in comfrey leaves",
            "do marigolds keep whitefly away",
            "is wood ash good for roses",
            "germination temperature of chillies",
        ),
        "how-to": (
            "prune an old apple tree back to fruit",
            "get rid of ground elder in a border",
            "store carrots without a cellar",
            "sow a lawn on clay",
            "graft a pear onto quince",
            "stop pigeons eating cabbages",
            "make leaf mould in a year",
            "overwinter dahlias in the ground",
            "water pots during a holiday",
            "divide a congested iris",
            "grow sweet potatoes in a cool summer",
            "train a fig against a wall",
            "save tomato seed true to type",
            "thin a plum that bears too much",
            "bring a brown box hedge back",
        ),
        "choice": (
            "clay or plastic pots for alpines",
            "best rootstock for a small orchard",
            "peat-free compost for seedlings compared",
            "hedge plants against traffic noise",
            "mulch of bark or of straw",
            "early potatoes that resist blight",
            "drip hose or sprinkler for vegetables",
            "climbing roses for a north wall",
            "green manure for sandy soil",
            "electric or petrol shredder",
            "lawn or meadow for bees",
            "raised beds of oak or larch",
            "bush beans or runner beans for wind",
            "slug pellets or nematodes",
            "cold frame or polytunnel in the north",
        ),
    },
    "2026": {
        "fact": (
            "how long do leek seeds keep",
            "is Japanese knotweed edible",
            "do bats eat codling moths",
            "potassium in banana skins",
            "are yew berries dangerous to birds",
            "what makes hydrangeas turn blue",
            "how far do hedgehogs walk at night",
            "does copper tape stop slugs",
            "frost date and apple blossom",
            "why do onions bolt",
            "number of chill hours of peaches",
            "is rain from a tar roof safe for salad",
            "what are the white specks on leeks",
            "do worms die in hot compost",
            "salt tolerance of asparagus",
        ),
        "how-to": (
            "rescue a waterlogged lawn",
            "take cuttings of rosemary",
            "build a pond without a pump",
            "move a grown peony",
            "keep deer out of an orchard",
            "ripen green tomatoes in October",
            "harden off seedlings on a balcony",
            "cure garlic in a wet summer",
            "prune wisteria twice a year",
            "remove moss from paving without salt",
            "start asparagus from seed",
            "make nettle feed that does not smell",
            "plant bulbs under turf",
            "propagate strawberries from runners",
            "control bindweed among raspberries",
        ),
        "choice": (
            "autumn or summer raspberries",
            "hand mower for a slope",
            "wool pellets or coir for pots",
            "evergreen ferns for dry shade",
            "apple varieties for juice",
            "fleece or netting over brassicas",
            "water butt of steel or plastic",
            "ground cover between stepping stones",
            "heat mat or window sill for peppers",
            "long-handled weeders compared",
            "grapes for an unheated greenhouse",
            "trees for a garden of forty square metres",
            "spring or autumn planting of garlic",
            "bokashi or worm bin in a flat",
            "winter salads that need no glass",
        ),
    },
}
"""The titles of the topics, by year and by type of question."""


class Searching(Struct, frozen=True):
    """How a system searches: how well its score recognizes relevant pages, how much words and meaning count, and
    whether its first ten pages were judged.
    """

    skill: float
    words: float
    meaning: float
    helped: dict[str, float]
    pooled: bool = True


SYSTEMS = {
    "bm25": Searching(0.48, 1.0, 0.0, {"fact": 0.15, "how-to": -0.1}),
    "bm25-rm3": Searching(0.58, 0.95, 0.2, {"fact": 0.1, "choice": 0.1}),
    "biencoder": Searching(0.62, 0.1, 1.0, {"how-to": 0.4, "fact": -0.3}),
    "hybrid": Searching(0.8, 0.6, 0.6, {"how-to": 0.2}),
    "late-reranker": Searching(0.97, 0.3, 0.9, {"how-to": 0.3, "choice": 0.1}, pooled=False),
}
CANDIDATES, KEPT, POOLED = 120, 25, 10
LEFT_OUT = {"2026": {"biencoder": 2}}
"""The number of topics for which a run has no results, because its system ran out of time."""


def scored(year: str, number: int, want: str) -> tuple[dict[str, int], dict[str, list[tuple[str, float]]]]:
    """The grades of the pages that could be found for a topic, and the pages of each system with their scores. Systems
    that use the same words, or the same meaning, make the same mistakes.
    """
    chance = random.Random(f"topic {number} of {year}")
    easy, share = chance.gauss(0.0, 0.45), chance.betavariate(1.4, 7.0)
    pages = [f"gp-{code:05d}" for code in chance.sample(range(100, 60000), CANDIDATES)]
    grades = {page: (chance.random() < share) * (1 + (chance.random() < 0.3)) for page in pages}
    grades[pages[0]] = 2
    words = {page: chance.gauss(0.0, 0.7) for page in pages}
    meaning = {page: chance.gauss(0.0, 0.7) for page in pages}
    ranked = {}
    for name, system in SYSTEMS.items():
        own = random.Random(f"{name} on topic {number} of {year}")
        skill = system.skill + system.helped.get(want, 0.0) + easy + own.gauss(0.0, 0.25)
        found = [
            (
                page,
                skill * grades[page] ** 0.7
                + system.words * words[page]
                + system.meaning * meaning[page]
                + own.gauss(0.0, 0.6),
            )
            for page in pages
        ]
        ranked[name] = sorted(found, key=lambda page: -page[1])[:KEPT]
    return grades, ranked


def shown(name: str, score: float) -> str:
    """A score as systems of this kind print it."""
    return f"{max(12 + 4 * score, 0.1):.4f}" if name.startswith("bm25") else f"{0.5 + score / 12:.6f}"


def files() -> Iterator[tuple[str, str]]:
    """The name and the text of each file in `garden/`."""
    titles = ["test_set,document,title,want"]
    for year, wants in ASKED.items():
        topics = [
            (want, title)
            for column in zip(*wants.values(), strict=True)
            for want, title in zip(wants, column, strict=True)
        ]
        qrels: list[str] = []
        runs: dict[str, list[str]] = {name: [] for name in SYSTEMS}
        for number, (want, title) in enumerate(topics, start=1 if year == "2025" else 51):
            titles.append(f"garden-{year},{number},{title},{want}")
            grades, ranked = scored(year, number, want)
            pool = {page for name, found in ranked.items() if SYSTEMS[name].pooled for page, _ in found[:POOLED]}
            qrels += [f"{number} 0 {page} {grades[page]}" for page in sorted(pool)]
            for name, found in ranked.items():
                if len(topics) - topics.index((want, title)) > LEFT_OUT.get(year, {}).get(name, 0):
                    runs[name] += [
                        f"{number} Q0 {page} {rank} {shown(name, score)} {name}"
                        for rank, (page, score) in enumerate(found, start=1)
                    ]
        yield f"garden-{year}/qrels.txt", "\n".join(qrels) + "\n"
        for name, lines in runs.items():
            yield f"garden-{year}/{name}.run.gz", "\n".join(lines) + "\n"
    yield "topics.csv", "\n".join(titles) + "\n"
