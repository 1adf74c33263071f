"""Finds the columns of tags in a file of tokens. Whether they are the key's or a system's tags is not known here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field

from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.staged import Staging
from warehouse.loading.staging.tagging import is_meant, kinds_of, tag_of
from warehouse.loading.staging.tokens import Sentences, sentences


class TagColumn(Struct):
    """A column (counted from 0) in which each cell is a tag: the tags, and the types that they name."""

    place: int
    tags: set[str] = field(default_factory=set)

    @property
    def kinds(self) -> set[str]:
        """The types of its entities; empty if all tokens are outside entities."""
        return kinds_of(self.tags)

    def __str__(self) -> str:
        listed = sorted(self.kinds)
        named = ", ".join(shown(kind)[1:-1] for kind in listed[:4]) + (", …" if len(listed) > 4 else "")
        return f"column {self.place + 1} ({named})" if listed else f"column {self.place + 1} (O alone)"


class Columns(NamedTuple):
    """The columns of a file: how many there are, which hold only tags, and which one holds the words, if any."""

    width: int
    tagged: list[TagColumn]
    words: int | None


def columns_of(staging: Staging) -> Columns:
    """Finds the columns of tags. Raises DataError if a cell in such a column is not a tag."""
    first: Sequence[Sequence[str]] = []
    columns: list[TagColumn] = []
    for some in sentences(staging):
        if not first:
            first = next(some.one_by_one()).columns
            columns = [TagColumn(place) for place in range(len(first))]
        columns = [column for column in columns if _holds_tags(column, some, staging)]
    if not first:
        raise staging.refusal("there is no token in it")
    width, tagged = len(first), {column.place for column in columns}
    others = (place for place in range(width) if place not in tagged)
    # The column before the words may number them.
    words = next((place for place in others if not all(cell.isdigit() for cell in first[place])), None)
    return Columns(width, columns, words)


def _holds_tags(column: TagColumn, some: Sentences, staging: Staging) -> bool:
    """Whether a column also holds tags in these further sentences; their tags are added to it. Raises DataError if a
    column of tags has a cell that is not a tag.
    """
    new = set(some.columns[column.place]) - column.tags
    if all(map(tag_of, new)):
        column.tags |= new
        return True
    for line, columns in some.one_by_one():
        cells = columns[column.place]
        new = set(cells) - column.tags
        wrong = {text for text in new if tag_of(text) is None}
        # A column of words is told from a column of tags by the first sentence with a word that does not look like a
        # tag.
        if wrong and (not column.place or not (column.kinds or all(map(is_meant, new)))):
            return False
        if wrong:
            token, text = next((token, text) for token, text in enumerate(cells) if text in wrong)
            said = f"{shown(text)} in column {column.place + 1} is not a tag"
            said += ": O, or one of B, I, E, S with a type, such as B-PER"
            raise staging.refusal(said, line + token)
        column.tags |= new
    return True
