"""Columns of CoNLL: a token a line, its gold tag and its predicted tag in the last two columns, sentences apart.

A document is a sentence, numbered from 1; a unit is an entity type, and every sentence has every type of the file.
Where `-DOCSTART-` lines begin texts, the number of its text is an attribute of a sentence, so that texts can be
exchanged as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.lines import Document, documents
from warehouse.loading.staging.mentions import COLUMNS, OUTSIDE, SCHEMES, Tally, entities, tallies
from warehouse.loading.staging.reader import Evidence, Option, Reader, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.observed import counted
from warehouse.tasks.records import DOCUMENTS, SCORES

EXAMPLE = """\
-DOCSTART- O O

Ada B-PER B-PER
Lovelace I-PER I-PER
saw O O
Turin B-LOC B-ORG

It O O
rained O O
"""

TEXT_BEGINS = "-DOCSTART-"

Tags = tuple[list[str], list[str]]
"""The gold and the predicted tags of a sentence."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages a score tuple a sentence and type. Raises DataError where a line has no two tags."""
    scheme, overlap = staging.options.get("scheme") or "conlleval", staging.options.get("overlap") == "partial"
    with Sheets(staging, SCORES, DOCUMENTS) as sheets:
        scores = sheets.open(SCORES, "document", "unit", *COLUMNS)
        attributes = sheets.open(DOCUMENTS, "document", "text")
        kinds = _kinds(staging)
        sentence, last_text, nothing = 0, 0, Tally().cells
        for document in documents(staging):
            texts_before = last_text
            for line, text, (gold, predicted) in _sentences(document):
                sentence += 1
                wanted = entities(gold, scheme)
                given = wanted if predicted == gold else entities(predicted, scheme)
                tallied = tallies(wanted, given, overlap=overlap)
                for kind in kinds:
                    cells = tallied[kind].cells if kind in tallied else nothing
                    scores.add(line, sentence, kind, *cells, member=document.member)
                if text:
                    last_text = texts_before + text
                    attributes.add(line, sentence, last_text, member=document.member)
        if not kinds:
            raise staging.refusal("no token has a tag other than O in the last two columns")
        return sheets.staged()


def _kinds(staging: Staging) -> list[str]:
    """Every type that is tagged in the file; a sentence without entities still needs a row. Checks nothing."""
    tags: set[str] = set()
    for document in documents(staging):
        for _, line in document.lines():
            if not line.startswith(TEXT_BEGINS):
                tags.update(line.rsplit(None, 2)[1:])
    return sorted({tag.partition("-")[2] or "_" for tag in tags - OUTSIDE})


def _sentences(document: Document) -> Iterator[tuple[int, int, Tags]]:
    """The line on which each sentence begins, the number of its text (0 where texts are not marked), and its tags."""
    gold: list[str] = []
    predicted: list[str] = []
    begins = text = 0
    known = set(OUTSIDE)
    for number, line in document.lines():
        cells = line.rsplit(None, 2)
        marks = line.startswith(TEXT_BEGINS)
        if not cells or marks:
            text += marks
            if gold:
                yield begins, text - marks, (gold, predicted)
                gold, predicted = [], []
            continue
        if len(cells) < 3:
            columns = counted(len(cells), "column")
            raise document.refusal(
                f"{columns} in this line; a token, its gold and its predicted tag are wanted", number
            )
        _, wanted, given = cells
        if wanted not in known or given not in known:
            for tag in {wanted, given} - known:
                if tag[0] not in "BIES" or tag[1:2] not in ("", "-") or len(tag) == 2:
                    sentence = f"{shown(tag)} is no tag: O, or one of B, I, E, S with a type, such as B-PER"
                    raise document.refusal(sentence, number)
            known |= {wanted, given}
        if not gold:
            begins = number
        gold.append(wanted)
        predicted.append(given)
    if gold:
        yield begins, text, (gold, predicted)


def _recognizes(start: Start) -> str | None:
    if start.first.startswith(TEXT_BEGINS):
        return f"its {TEXT_BEGINS}"
    cells = start.first.split()
    tagged = len(cells) >= 3 and all(re.fullmatch(r"O|[BIES](-\S+)?", cell) for cell in cells[-2:])
    return "the tags in its last two columns" if tagged else None


READER = Reader(
    "conll",
    "tokens with gold and predicted tags in the last two columns (IOB1, IOB2, IOBES)",
    (SCORES, DOCUMENTS),
    EXAMPLE,
    stage,
    options=(
        Option("scheme", "how tags are read: by the rules of conlleval, or strictly", SCHEMES[0], SCHEMES),
        Option("overlap", "what an overlapping entity of the same type is", "wrong", ("wrong", "partial")),
    ),
    noun="sentence",
    cluster="text",
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
)
