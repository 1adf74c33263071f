"""Annotations of BRAT: an archive (.tar, .tar.gz) of folders of `.ann` files. The folder named gold is the key.

Every other folder is a system, and a file in it is a document. Only text-bound annotations (T lines) are compared, as
the entities of tagged tokens are (`tally_mentions`). Relations, events, attributes and notes are not read.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from evalhouse.warehouse.kinds.records import SCORES
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.spans import PLACED_COLUMNS, Mention, Tally, tally_mentions
from evalhouse.warehouse.loading.staging.staged import Staged, Staging

EXAMPLE = "T1\tPerson 0 12\tAda Lovelace\nT2\tPlace 17 22\tTurin\nR1\tVisited Arg1:T1 Arg2:T2\n"
"""One file of an archive."""

_ANNOTATION = re.compile(r"T\S*\t(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)(?:\t.*)?")

_OTHERS = "REAMN*#"
"""The first characters of lines for relations, events, attributes, normalizations, equivalences and notes."""

_FEW = 5
"""Up to this many files are named."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages one score tuple per system, document and type. Raises DataError if there is no folder with the key."""
    gold = staging.options.get("gold") or "gold"
    overlap = staging.options.get("overlap") == "partial"
    folders: dict[str, dict[str, list[Mention]]] = {}
    others: list[str] = []
    for document in documents(staging):
        if document.member is None:
            raise staging.refusal("expected an archive (.tar or .tar.gz) of folders of .ann files")
        path = PurePosixPath(document.member)
        if path.name.startswith("."):
            continue
        if path.suffix.casefold() != ".ann":
            others.append(document.member)
        else:
            folder = folders.setdefault(path.parent.name, {})
            if path.stem in folder:
                raise document.refusal(f"there is another {path.parent.name}/{path.name} in the archive")
            folder[path.stem] = _annotations(document)
    if gold not in folders or len(folders) < 2:
        there_are = f"the folders are {', '.join(map(quote_cell, folders))}" if folders else "there are none"
        raise staging.refusal(f"expected folders of .ann files, {quote_cell(gold)} and one per system; {there_are}")
    key = folders.pop(gold)
    files = [annotations for folder in (key, *folders.values()) for annotations in folder.values()]
    kinds = sorted({annotation.kind for annotations in files for annotation in annotations})
    unknown = [f"{system}/{name}.ann" for system, folder in folders.items() for name in folder if name not in key]
    with Sheets(staging, SCORES) as sheets:
        scores = sheets.open(SCORES, "system", "document", "unit", *PLACED_COLUMNS)
        for name, wanted in sorted(key.items()):
            places = sorted(f"{mention.kind} {mention.start} {mention.end}" for mention in wanted)
            sheets.identify(None, {"key": ", ".join(places)}, member=f"{gold}/{name}.ann", document=name)
        for system, folder in sorted(folders.items()):
            for name, wanted in sorted(key.items()):
                tallied = tally_mentions(wanted, folder.get(name, []), overlap=overlap)
                member = f"{system}/{name}.ann"
                for kind in kinds:
                    scores.add(None, system, name, kind, *tallied.get(kind, Tally()).placed_cells, member=member)
        left_out = {"no key": unknown, "no annotations": others}
        return sheets.staged(f"left out ({why}): {_some(files)}" for why, files in left_out.items() if files)


def _some(files: list[str]) -> str:
    """A few files by name, and how many more there are."""
    more = f" and {len(files) - _FEW:,} more" if len(files) > _FEW else ""
    return ", ".join(files[:_FEW]) + more


def _annotations(document: Document) -> list[Mention]:
    annotations = []
    for number, line in document.lines():
        if not line.startswith("T"):
            if line.strip() and line[0] not in _OTHERS:
                wrong = "this is not an annotation: lines of BRAT begin with T, R, E, A, M, N, * or #"
                raise document.refusal(wrong, number)
            continue
        read = _ANNOTATION.fullmatch(line)
        if read is None:
            raise document.refusal("this is not a text-bound annotation: T1, a tab, a type and its offsets", number)
        pieces = (piece.split(" ") for piece in read[2].split(";"))
        place = [(int(start), int(end)) for start, end in pieces]
        if any(start > end for start, end in place):
            raise document.refusal(f"{quote_cell(read[2])} ends before it begins", number)
        annotations.append(Mention(read[1], *place[0], tuple(place[1:])))
    return annotations


def _recognizes(start: Start) -> Recognition | str | None:
    annotations = f"{start.path.stem}.ann"
    if start.name.endswith(".txt") and annotations in start.beside:
        return Recognition(f"its name: it is the text of {annotations}", Role.PART)
    return "its annotations T1, T2, …" if re.match(r"T\d+\t\S+ \d+ \d+", start.first) else None


READER = Reader(
    "brat",
    "an archive of folders of BRAT .ann files, gold and one per system",
    (SCORES,),
    EXAMPLE,
    stage,
    keyed=True,
    options=(
        Option("gold", "the folder that is the key", "gold"),
        Option("overlap", "what an overlapping annotation of the same type is", "wrong", ("wrong", "partial")),
    ),
    noun="document",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={"test_set": "{stem}"},
    whole_archives=True,
    whole_folders=".ann",
)
