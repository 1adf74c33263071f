"""The JSON of comet-score (--to_json): for each file of translations, the segments with their source, their reference
and their scores.

The system is the name of the file of translations, without its ending. A document is a segment, numbered from 1. Marked
errors of XCOMET are not read.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from evalhouse.warehouse.kinds.records import VALUES
from evalhouse.warehouse.loading.staging.identity import ANSWER, QUESTION
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging

EXAMPLE = """\
{"base.txt": [{"src": "Der Hund schläft.", "mt": "The dog sleep.", "ref": "The dog is asleep.", "COMET": 0.81}]}
"""

LARGEST = 256 * 1024 * 1024
"""The largest file that is read, in bytes."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages one value for each score of a segment. Raises DataError if the file is something else, or if the systems
    have different numbers of segments.
    """
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        for document in documents(staging):
            said = document.json(LARGEST)
            said = (
                {file: segments for file, segments in said.items() if isinstance(segments, list)}
                if isinstance(said, dict)
                else {}
            )
            if not said:
                raise document.refusal("this is not an object with a list of segments for each file of translations")
            sizes = {system: len(segments) for system, segments in said.items()}
            if len(set(sizes.values())) > 1:
                listed = ", ".join(f"{size} in {system}" for system, size in sizes.items())
                raise document.refusal(f"the systems have different numbers of segments: {listed}")
            for file, segments in said.items():
                system = staging.named("system", PurePath(file).stem if len(said) > 1 or file else None, "no name")
                for place, segment in enumerate(segments, start=1):
                    for measure, value in _scores(segment):
                        values.add(None, system, place, measure, repr(value), member=document.member)
                    of: dict[str, Any] = {"member": document.member, "document": place}
                    source, reference, translation = (_text(segment, name) for name in ("src", "ref", "mt"))
                    sheets.identify(None, {QUESTION: source, ANSWER: reference}, **of)
                    sheets.texts.input(None, source, **of)
                    sheets.texts.references(None, [reference], **of)
                    sheets.texts.outputs(None, [translation], **of, system=system)
        return sheets.staged()


def _scores(segment: Any) -> list[tuple[str, float]]:
    """The scores of a segment, by the names of their metrics."""
    if not isinstance(segment, dict):
        return []
    return [(name, value) for name, value in segment.items() if isinstance(value, int | float) and name != "id"]


def _text(segment: Any, name: str) -> str | None:
    text = segment.get(name) if isinstance(segment, dict) else None
    return text if isinstance(text, str) else None


def _recognizes(start: Start) -> str | None:
    keys = {path[-1] for path in start.keys if len(path) == 3 and path[1] == "[]"}
    return "its segments with src, mt and COMET" if {"src", "mt", "COMET"} <= keys else None


READER = Reader(
    "comet",
    "scores of segments as comet-score writes them with --to_json",
    (VALUES,),
    EXAMPLE,
    stage,
    noun="segment",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={"test_set": "{parent}"},
)
