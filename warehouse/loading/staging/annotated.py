"""Documents with the entities that somebody marked in them: spans in JSON (doccano, spaCy, Prodigy), tokens with tags
in JSON (Hugging Face datasets), and PubTator.

Whether the entities are the key's or a system's is said by the fields of a record, or not at all. What is right is not
known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct

from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.json_values import JSONError, values
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.spans import Mention, entities, tag_of
from evalhouse.warehouse.loading.staging.staged import Staging

GOLD, ANSWERS = "gold", "answers"
"""The two sides, as --map names them."""

TEXTS = ("text", "sentence", "data", "content")
TOKENS = ("tokens", "words")
NAMES = ("id", "doc_id", "document", "guid", "sentence_id")

MARKED = ("entities", "ents", "spans", "label", "labels", "annotations", "ner_tags", "tags", "ner", "gold")
"""Names of fields with entities, in the order in which they are preferred."""

FOUND = tuple(
    f"{said}{noun}"
    for said in ("predicted", "prediction", "predictions", "pred", "preds")
    for noun in ("", *(f"_{name}" for name in MARKED))
)
"""Names of fields with what a system found, beside the key."""

LARGEST = 256 * 1024 * 1024
"""The largest array that is read, in bytes."""


class Annotated(Struct, frozen=True):
    """A document and its entities, by side. Tokens have tags as they are written; `tokens` is empty for texts."""

    line: int | None
    name: str | None
    text: str
    mentions: Mapping[str, list[Mention]]
    tokens: Sequence[str] = ()
    tags: Mapping[str, Sequence[str]] = {}
    member: str | None = None

    def marked(self, side: str) -> str:
        """The entities as a text: PER: Ada Lovelace; LOC: Turin"""
        pieces = self.tokens or self.text
        return "; ".join(
            f"{mention.kind}: {_joined(pieces[mention.start : mention.end])}" for mention in self.mentions[side]
        )


def _joined(pieces: str | Sequence[str]) -> str:
    return pieces if isinstance(pieces, str) else " ".join(pieces)


class Fields(Struct, frozen=True):
    """The fields of a record with the tokens or the text, and with the entities of each side."""

    of_text: str
    sides: Mapping[str, str]
    is_tokens: bool


# === what a record is =================================================================================================


def fields_of(records: Sequence[Any], columns: Mapping[str, str] = {}) -> Fields | None:
    """The fields of some records; None if they are no documents with entities. `columns` names fields by side."""
    plain = [_plain(record) for record in records]
    if not plain or any(record is None for record in plain):
        return None
    maps = [record for record in plain if record is not None]
    keys = list(dict.fromkeys(key for record in maps for key in record))
    text = next((name for name in TEXTS if all(isinstance(record.get(name), str) for record in maps)), None)
    tokens = next((name for name in TOKENS if all(_is_texts(record.get(name)) for record in maps)), None)
    if text is not None and (sides := _sides(maps, keys, _are_spans, columns)):
        return Fields(text, sides, False)
    if tokens is not None and (sides := _sides(maps, keys, _are_tags, columns)):
        return Fields(tokens, sides, True)
    return None


def _sides(records: list[dict[str, Any]], keys: list[str], fits: Any, columns: Mapping[str, str]) -> dict[str, str]:
    """The field of each side: those that are named, or the first that fits. A field fits where it is there."""

    def fitting(names: Sequence[str]) -> str | None:
        for name in names:
            there = [record[name] for record in records if record.get(name) is not None]
            if name in keys and there and all(map(fits, there)):
                return name
        return None

    found = {GOLD: fitting([columns[GOLD]] if GOLD in columns else MARKED)}
    found[ANSWERS] = fitting([columns[ANSWERS]] if ANSWERS in columns else FOUND)
    return {side: name for side, name in found.items() if name}


def _plain(record: Any) -> dict[str, Any] | None:
    """A record as an object. spaCy's training data are pairs of a text and its annotations."""
    if isinstance(record, list) and len(record) == 2 and isinstance(record[0], str) and isinstance(record[1], dict):
        return {"text": record[0], **record[1]}
    return record if isinstance(record, dict) else None


def _are_spans(value: Any) -> bool:
    return isinstance(value, list) and all(_span(item) is not None for item in value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_tags(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(item, int) and not isinstance(item, bool) for item in value) or (
        _is_texts(value) and all(map(tag_of, value))
    )


def _span(item: Any) -> Mention | None:
    """[0, 3, "PER"], or an object with start, end and label; None if it is neither."""
    if isinstance(item, list) and len(item) >= 3:
        start, end, label = item[:3]
    elif isinstance(item, dict):
        start = item.get("start_offset", item.get("start"))
        end, label = item.get("end_offset", item.get("end")), item.get("label", item.get("type"))
    else:
        return None
    numbers = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
    return Mention(label, start, end) if numbers and isinstance(label, str) and label else None


def first_records(text: str) -> list[Any]:
    """The first records of JSON lines or of an array, as far as they are there."""
    found: list[Any] = []
    start = text.lstrip("\ufeff \t\r\n")
    # An array of two texts is a record itself, where each line is one.
    by_line = re.match(r'\[\s*"', start) is not None
    try:
        pieces = start.splitlines()[:_MOST] if by_line else islice(values([start]), _MOST)
        found += (msgspec.json.decode(piece) for piece in pieces if piece.strip())
    except (JSONError, msgspec.DecodeError):
        pass
    return found


_MOST = 50


# === reading ==========================================================================================================


def annotated(staging: Staging) -> Iterator[Annotated]:
    """The documents of a file. Raises DataError for a record that is none."""
    for document in documents(staging):
        filled = ((number, line) for number, line in document.lines() if line.strip())
        first = list(islice(filled, 2))
        lines = chain(first, filled)
        begins = "\n".join(line for _, line in first)
        yield from _of_pubtator(document, lines) if is_pubtator(begins) else _of_json(staging, document, lines)


NumberedLines = Iterator[tuple[int, str]]


def _of_json(staging: Staging, document: Document, lines: NumberedLines) -> Iterator[Annotated]:
    records = _records(document, lines)
    first = list(islice(records, _MOST))
    fields = fields_of([record for _, record in first], staging.columns)
    if fields is None:
        wanted = f"no field has entities as {', '.join(MARKED[:5])} would"
        raise document.refusal(f'{wanted}: [[0, 3, "PER"]], objects with start, end and label, or the tags of tokens')
    names = [name.strip() for name in (staging.options.get("tags") or "").split(",") if name.strip()]
    for line, record in chain(first, records):
        plain = _plain(record)
        if plain is None:
            raise document.refusal("this record has no text", line)
        if plain.get("answer") not in _NOT_USED:
            yield _document(document, line, plain, fields, names)


_NOT_USED = ("reject", "ignore")
"""What Prodigy says of a task that is not to be used."""


def _records(document: Document, lines: NumberedLines) -> Iterator[tuple[int | None, Any]]:
    """The records with their lines; those of an array have none."""
    number, first = next(lines, (1, ""))
    begins = first.lstrip()
    if begins.startswith("{") or re.match(r'\[\s*"', begins):
        for line, text in chain(((number, first),), lines):
            yield line, document.json_line(line, text)
        return
    text = "\n".join((first, *(line for _, line in lines)))
    if len(text) > LARGEST:
        raise document.refusal(f"this array is larger than {LARGEST:,} characters; JSON lines may be of any length")
    records = document.staging.json(text, "this", member=document.member)
    if not isinstance(records, list):
        raise document.refusal("this is not a list of records")
    yield from ((None, record) for record in records)


def _document(
    document: Document, line: int | None, record: dict[str, Any], fields: Fields, names: Sequence[str]
) -> Annotated:
    text = record.get(fields.of_text)
    tokens: list[str] = text if fields.is_tokens and isinstance(text, list) and _is_texts(text) else []
    if not isinstance(text, str) and not tokens:
        raise document.refusal(f"{fields.of_text} is {quote_cell(str(text))}, not {_WANTED[fields.is_tokens]}", line)
    mentions: dict[str, list[Mention]] = {}
    tags: dict[str, Sequence[str]] = {}
    for side, field in fields.sides.items():
        said = record.get(field)
        if fields.is_tokens:
            tags[side] = _tags(document, line, field, said, len(tokens), names)
            mentions[side] = entities(tags[side])
        else:
            mentions[side] = _mentions(document, line, field, said or [], len(str(text)))
    name = next((str(record[key]) for key in NAMES if isinstance(record.get(key), str | int)), None)
    plain = " ".join(tokens) if tokens else str(text)
    return Annotated(line, name, plain, mentions, tokens, tags, document.member)


_WANTED = {False: "a text", True: "a list of tokens"}


def _mentions(document: Document, line: int | None, field: str, said: Any, length: int) -> list[Mention]:
    if not isinstance(said, list):
        raise document.refusal(f"{field} is not a list of spans", line)
    found = []
    for item in said:
        mention = _span(item)
        if mention is None or not 0 <= mention.start <= mention.end <= length:
            wrong = f"{quote_cell(msgspec.json.encode(item).decode())} in {field} is not a span of this text"
            raise document.refusal(f"{wrong}: its start, its end and its label", line)
        found.append(mention)
    return found


def _tags(
    document: Document, line: int | None, field: str, said: Any, length: int, names: Sequence[str]
) -> Sequence[str]:
    if not _are_tags(said):
        raise document.refusal(
            f"{field} is not a list of tags: O, or one of B, I, E, S with a type, such as B-PER", line
        )
    if len(said) != length:
        raise document.refusal(f"{len(said)} tags in {field}, and {length} tokens", line)
    if not said or isinstance(said[0], str):
        return list(said)
    if not names:
        said = f"{field} has numbers; --tags O,B-PER,I-PER, for example, names the tags in their order"
        raise document.refusal(said, line)
    if wrong := [number for number in said if not 0 <= number < len(names)]:
        raise document.refusal(f"{field} has the tag {wrong[0]}, and --tags names {len(names)}, from 0 on", line)
    return [names[number] for number in said]


# === PubTator =========================================================================================================
# === PubTator ========================================================================================================
# perhaps an identifier, between tabs. Places count from the title on, with one sign between title and abstract. Lines
# with fewer cells are relations.

_TITLE, _ABSTRACT = (re.compile(rf"([^|\t]+)\|{letter}\|(.*)") for letter in ("t", "a"))
_PLACED = 5


def is_pubtator(text: str) -> bool:
    """Whether a text begins like PubTator."""
    first, second, *_ = [*(line for line in text.lstrip("\ufeff").splitlines() if line.strip()), "", ""]
    return _TITLE.fullmatch(first) is not None and (not second or _ABSTRACT.fullmatch(second) is not None)


def _of_pubtator(document: Document, lines: NumberedLines) -> Iterator[Annotated]:
    name, line_of, parts, mentions = "", 1, list[str](), list[Mention]()
    for line, text in lines:
        cells = text.split("\t")
        if title := _TITLE.fullmatch(text):
            if parts:
                yield Annotated(line_of, name, " ".join(parts), {GOLD: mentions}, member=document.member)
            name, line_of, parts, mentions = title[1].strip(), line, [title[2]], []
        elif parts and (abstract := _ABSTRACT.fullmatch(text)):
            parts.append(abstract[2])
        elif len(cells) >= _PLACED and parts:
            if not (cells[1].isdecimal() and cells[2].isdecimal() and cells[4]) or int(cells[1]) > int(cells[2]):
                raise document.refusal("this is not an annotation: PMID, start, end, text and type", line)
            mentions.append(Mention(cells[4].strip(), int(cells[1]), int(cells[2])))
        elif text.strip() and (not parts or len(cells) < _FEWEST_CELLS):
            raise document.refusal("this is neither a title (PMID|t|…), an abstract nor an annotation", line)
    if parts:
        yield Annotated(line_of, name, " ".join(parts), {GOLD: mentions}, member=document.member)


_FEWEST_CELLS = 3
"""A relation has at least so many cells."""
