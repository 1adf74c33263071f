"""The pictures that statements draw for the documentation, each for light pages and for dark ones.

    python docs/drawings.py

writes `NAME.svg` and `NAME-dark.svg` into `docs/pictures`. `docs/reference_tables.py` puts the pictures into the
gallery and the pages of statements. The site shows the one that suits the reader (`docs/conf.py`). Other pictures have
scripts of their own in `docs/pictures`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import evalhouse as eh

DOCS = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Picture:
    """A picture and the statement that draws it."""

    name: str
    heading: str
    shows: str
    statement: str
    data: tuple[str, ...] = ()
    """What is loaded of `docs/examples`; the sample data where nothing is named."""
    source: str = ""
    """Which data these are, for a page that shows the picture."""
    page: str = ""
    """The page that works with these data."""

    def draw(self, folder: Path) -> None:
        """Writes both files into a folder."""
        with tempfile.TemporaryDirectory() as temporary:
            if self.data:
                warehouse = eh.create(Path(temporary) / "pictures.duckdb")
                warehouse.load(*(DOCS / "examples" / data for data in self.data))
            else:
                warehouse = eh.open(sample=True)
            with warehouse:
                picture = warehouse.run(self.statement).plot()
                picture.save(folder / f"{self.name}.svg", theme="light", force=True)
                picture.save(folder / f"{self.name}-dark.svg", theme="dark", force=True)


PICTURES = (
    Picture(
        "groups",
        "Systems ranked",
        "Systems ranked, with intervals, and brackets around those that do not differ significantly.",
        "plot group F for all on TST3",
    ),
    Picture(
        "ranks",
        "The ranks that each system may have",
        "The ranks that each system may have, for all of them together.",
        "plot rank F for all on TST3",
    ),
    Picture(
        "mean_ranks",
        "Mean ranks over test sets",
        "The mean rank of each system over two test sets, and bars over systems that do not differ significantly.",
        "plot rank F for all on TST3, TST4 over test sets by mean rank",
    ),
    Picture(
        "against",
        "How far systems are ahead of one of them",
        "How far each system is ahead of one of them, with intervals.",
        "plot compare accuracy for all against tern-1b",
        ("results",),
        "the logs of the tutorial on language models",
        "tutorial-llm",
    ),
    Picture(
        "ner",
        "How far systems are ahead on two test sets",
        "How far each system is ahead of one of them on two test sets, with intervals for all pairs together.",
        "plot compare F1 for all against crf on minutes, news adjust holm",
        ("ner",),
        "the files of the tutorial on named entities",
        "tutorial-ner",
    ),
    Picture(
        "mt",
        "Translations ranked",
        "BLEU with intervals, and brackets around systems that do not differ significantly. Whole texts are exchanged.",
        "plot group BLEU for all on news exchange by document.text",
        ("mt/news", "mt/segments.csv"),
        "the segments of the tutorial on translation",
        "tutorial-mt",
    ),
    Picture(
        "null",
        "The differences that chance makes",
        "The differences that chance makes, and the one that was observed.",
        "plot compare F for GE, UMASS on TST3 shuffles 9999",
    ),
    Picture(
        "squares",
        "All pairs of systems",
        "All pairs of systems, with the p-value of each.",
        "plot compare F for GE, GE-CMU, UMASS, SRI, NYU, LSI on TST3",
    ),
    Picture(
        "documents",
        "What each document adds to a difference",
        "What each document adds to the difference between two systems, sorted.",
        "plot documents F for GE, UMASS on TST3",
    ),
    Picture(
        "power",
        "How often a difference would be found",
        "How often a difference would be found, by the number of documents.",
        "plot power F for GE, UMASS on TST3 detect 2%, 5%, 10%",
    ),
    Picture(
        "filtering",
        "Precision against recall",
        "Precision against recall, with guessing and lines of equal F.",
        "plot score recall, precision of published for all on TST3",
    ),
    Picture(
        "change",
        "How systems changed from one test set to the next",
        "How each system changed from one test set to the next. Dashed lines fall.",
        "plot change recall, precision of filtering for all from TST3 to TST4",
    ),
    Picture(
        "replicate",
        "Differences on two test sets",
        "The difference of each pair on one test set against its difference on the other. Below 0 the sign changed.",
        "plot replicate F for GE, GE-CMU, UMASS, SRI, NYU, LSI from TST3 to TST4",
    ),
    Picture(
        "project",
        "F where fewer or more of the documents are relevant",
        "F where fewer or more documents are relevant, with bands, crossings, and the best system of each region.",
        "plot project F of filtering for GE, UMASS, allrel from TST3 to generality 0.01, 0.99",
    ),
    Picture(
        "differ",
        "Where a difference comes from",
        "How much two systems differ in each slice of the topics, with intervals.",
        "plot differ AP for biencoder, bm25 on garden-2025 by document.want",
        ("garden",),
        "the runs of the tutorial on search",
        "tutorial-ir",
    ),
    Picture(
        "curve",
        "What every threshold would have given",
        "Precision against recall at every threshold of confidence, with bands. A dot is what a system decided, a ring "
        "the threshold with the best utility.",
        "plot curve precision, recall for all on april utility 3, -1, -1, 0",
        ("wire/april",),
        "the decisions of the tutorial on filtering",
        "tutorial-filtering",
    ),
    Picture(
        "confusion",
        "Which class is answered for which",
        "Which class two systems answer for each class of the key: the larger the share, the stronger the square.",
        "plot confusion for aurora, basalt on inbox",
        ("inbox",),
        "the submissions of the tutorial on a shared task",
        "tutorial-shared-task",
    ),
)
"""In the order of the gallery."""


if __name__ == "__main__":
    for drawn in PICTURES:
        drawn.draw(DOCS / "pictures")
