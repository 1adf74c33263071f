"""Entities as spans of texts or as tags of tokens: JSON of doccano, spaCy, Prodigy and Hugging Face datasets, and
PubTator. Gold entities and answers are in two fields of one file, or in two files.

A document is a record, named by its id or else by its place. A unit is a type, and every document has every type. A
document that a system leaves out has no answers; documents without a key are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from evalhouse.warehouse.kinds.records import COUNTS, SCORES
from evalhouse.warehouse.loading.staging.annotated import (
    ANSWERS,
    GOLD,
    Annotated,
    annotated,
    fields_of,
    first_records,
    is_pubtator,
)
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.spans import PLACED_COLUMNS, Tally, tally_mentions
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.measures.values import RIGHT, TOTAL

EXAMPLE = """\
{"id": "n1", "text": "Ada saw Turin", "entities": [[0, 3, "PER"], [8, 13, "LOC"]], "predicted": [[8, 13, "ORG"]]}
{"id": "n2", "text": "It rained", "entities": [], "predicted": []}
"""

_GOLD = re.compile(r"(^|[._ -])(gold|key|truth)([._ -]|$)")
"""Names that mean gold."""

_FEW = 5
"""Up to this many documents are named."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages one score tuple per document and type, and for tokens how many have the right tag. Raises DataError if the
    key is not known, or if a document has another text in it.
    """
    overlap = staging.options.get("overlap") == "partial"
    with Sheets(staging, SCORES, COUNTS, named=(GOLD, ANSWERS)) as sheets:
        ours = _by_name(staging, annotated(staging))
        key = _key(staging, ours)
        if key is None:
            return ()
        side = ANSWERS if key is ours else _side_of(ours)
        kinds = sorted(
            {mention.kind for document in key.values() for mention in document.mentions[_side_of(key)]}
            | {mention.kind for document in ours.values() for mention in document.mentions[side]}
        )
        scores = sheets.open(SCORES, "document", "unit", *PLACED_COLUMNS)
        tokens = sheets.open(COUNTS, "document", "count", "number")
        for name, wanted in key.items():
            given = ours.get(name)
            if given is not None and given.text != wanted.text:
                texts = f"{quote_cell(given.text)}, and {quote_cell(wanted.text)} in the key"
                raise staging.refusal(f"the text of {quote_cell(name)} is {texts}", given.line, given.member)
            line, member = (None, None) if given is None else (given.line, given.member)
            gold = wanted.mentions[_side_of(key)]
            found = given.mentions[side] if given else []
            tallied = tally_mentions(gold, found, overlap=overlap)
            for kind in kinds:
                scores.add(line, name, kind, *tallied.get(kind, Tally()).placed_cells, member=member)
            if wanted.tags:
                answers = given.tags[side] if given else ["O"] * len(wanted.tokens)
                right = sum(map(str.__eq__, wanted.tags[_side_of(key)], answers))
                tokens.add(line, name, TOTAL, len(wanted.tokens), member=member)
                tokens.add(line, name, RIGHT, right, member=member)
            sheets.identify(line, {"text": wanted.text}, member=member, document=name)
            sheets.texts.input(line, wanted.text, member=member, document=name)
            sheets.texts.references(line, [wanted.marked(_side_of(key))], member=member, document=name)
            sheets.texts.outputs(line, [given.marked(side)] if given else [], member=member, document=name)
        return sheets.staged(_notes(key, ours))


Documents = dict[str, Annotated]


def _by_name(staging: Staging, documents: Iterable[Annotated]) -> Documents:
    """The documents by their ids, or by their places if they have none. Raises DataError for a second one."""
    found: Documents = {}
    for number, document in enumerate(documents, start=1):
        name = document.name or str(number)
        if name in found:
            there = f"there is a document {quote_cell(name)} already"
            raise staging.refusal(there + (f", on line {found[name].line}" if found[name].line else ""), document.line)
        found[name] = document
    if not found:
        raise staging.refusal("there is no document in it")
    return found


def _side_of(documents: Documents) -> str:
    """The side of a file that has one alone, and that of the key if it has both."""
    return GOLD if GOLD in next(iter(documents.values())).mentions else ANSWERS


def _key(staging: Staging, ours: Documents) -> Documents | None:
    """The documents with the key: of the file itself, if it has both sides, or of another one. None if this is the
    file with the key. Raises DataError if there is no key.
    """
    named = staging.options.get("gold")
    if named is None and {GOLD, ANSWERS} <= next(iter(ours.values())).mentions.keys():
        return ours
    if named is None and not staging.keys:
        if _is_called_gold(staging.source):
            return None
        raise staging.refusal(
            "one field has entities, so gold or answers are not in this file; --gold FILE names the file with the gold "
            "entities, or --map gold=FIELD --map answers=FIELD the fields with both"
        )
    source = Path(named) if named else staging.keys[0]
    key = replace(staging, source=source, called="", columns={})
    return _by_name(key, annotated(key))


def _notes(key: Documents, ours: Documents) -> list[str]:
    unknown = [name for name in ours if name not in key]
    missing = [name for name in key if name not in ours]
    notes = []
    if missing:
        notes.append(f"documents of the key without answers: {_some(missing)}; nothing was found in them")
    if unknown:
        notes.append(f"left out (no key): {_some(unknown)}")
    return notes


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def _is_called_gold(path: Path) -> bool:
    return any(_GOLD.search(name) for name in (path.name.casefold(), path.absolute().parent.name.casefold()))


def _recognizes(start: Start) -> Recognition | None:
    if is_pubtator(start.text):
        why, both = "its titles and abstracts, as PubTator has them", False
    else:
        fields = fields_of(first_records(start.text)) if start.is_json else None
        if fields is None:
            return None
        both = len(fields.sides) > 1
        why = f"the entities in {' and '.join(fields.sides.values())}"
    if not both and "gold" not in start.options and _is_called_gold(start.path):
        return Recognition(f"{why}, and gold in its name", Role.KEY)
    return Recognition(why)


READER = Reader(
    "spans",
    "entities as spans or tags in JSON (doccano, spaCy, Prodigy, Hugging Face datasets), and PubTator",
    (SCORES, COUNTS),
    EXAMPLE,
    stage,
    keyed=True,
    options=(
        Option("gold", "the file with the gold entities", is_file=True),
        Option("overlap", "what an overlapping entity of the same type is", "wrong", ("wrong", "partial")),
        Option("tags", "names of the tags that are numbers: O,B-PER,I-PER"),
    ),
    noun="document",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
