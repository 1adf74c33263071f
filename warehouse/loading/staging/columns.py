"""Files of columns: a token a line, its cells apart by tabs or blanks, sentences apart by blank lines; and which of the
columns hold tags.

Lines `-DOCSTART-`, and `# newdoc` in CoNLL-U, begin texts; other comments are passed over. Whose tags a column holds,
the key's or a system's, is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.lines import Document, documents
from warehouse.loading.staging.staged import Staging
from warehouse.loading.staging.tagging import is_meant, kinds_of, tag_of
from warehouse.tasks.observed import counted

TEXT_BEGINS = "-DOCSTART-"

MOST_CELLS = 3_000_000
"""How many cells a sentence may have: each takes some hundred bytes of memory, and a sentence is read as a whole."""

_COMMENT = re.compile(r"#\s*(\S+\s*=\s|newdoc\b|newpar\b|global\.columns\b)")


class Sentence(NamedTuple):
    """A sentence: the line of its first token, the number of its text (0 where texts are not marked), and the cells of
    its tokens, column by column.
    """

    line: int
    text: int
    columns: Sequence[Sequence[str]]

    @property
    def length(self) -> int:
        """How many tokens it has."""
        return len(self.columns[0])


def sentences(staging: Staging) -> Iterator[Sentence]:
    """The sentences of a file.

    Raises DataError where a line has another number of columns than the first, and where a sentence is too long.
    """
    texts = 0
    for document in documents(staging):
        last = texts
        for sentence in _sentences(document):
            last = texts + sentence.text if sentence.text else last
            yield sentence if not texts or not sentence.text else sentence._replace(text=last)
        texts = last


def _sentences(document: Document) -> Iterator[Sentence]:
    reading = _Reading(document)
    for lines, plain in _stretches(document):
        columns = reading.columns(lines) if plain else None
        if columns is not None:
            yield Sentence(reading.number + 1, reading.text, columns)
            reading.number += len(lines)
            continue
        for line in lines:
            if sentence := reading.read(line):
                yield sentence
    if sentence := reading.ended():
        yield sentence


LONG = 100_000
"""So many lines without an empty one are not waited for."""


def _stretches(document: Document) -> Iterator[tuple[list[str], bool]]:
    """The lines up to an empty one, which is a stretch of its own; and whether they stand between two such."""
    rest: list[str] = []
    for piece in document.pieces():
        lines = rest + piece
        begins, look = 0, len(rest)
        while True:
            try:
                ends = lines.index("", look)
            except ValueError:
                break
            if ends > begins:
                yield lines[begins:ends], True
            yield [""], False
            begins = look = ends + 1
        rest = lines[begins:]
        if len(rest) > LONG:
            yield rest, False
            rest = []
    if rest:
        yield rest, True


@dataclass(slots=True)
class _Reading:
    """What is known of a file up to a line; the number of that line, and the tokens of the sentence that it is in."""

    document: Document
    number: int = 0
    text: int = 0
    width: int = 0
    separator: str = " "
    begins: int = 0
    rows: list[list[str]] = field(default_factory=list)

    def columns(self, lines: list[str]) -> Sequence[Sequence[str]] | None:
        """The cells of lines that are the tokens of a sentence and need no further look, as nearly all are."""
        width, separator = self.width, self.separator
        if self.rows or width < 2 or len(lines) > MOST_CELLS // width:
            return None
        if {line.count(separator) for line in lines} != {width - 1}:
            return None
        # All at once, and what is to be looked at in each line is looked for in all of them.
        joined = separator.join(lines)
        cells = joined.split(separator)
        if joined[0] in "# " or TEXT_BEGINS in joined or (separator == " " and "  " in joined):
            return None
        columns = [cells[place::width] for place in range(width)]
        return None if any(not cell or cell[-1] <= " " for cell in set(columns[-1])) else columns

    def read(self, line: str) -> Sentence | None:
        """Reads a line; gives the sentence that ends with it. Raises DataError."""
        self.number += 1
        if not line or line.isspace() or line.startswith(TEXT_BEGINS):
            ended = self.ended()
            self.text += line.startswith(TEXT_BEGINS)
            return ended
        if not self.rows and line[0] == "#" and _is_comment(line, self.separator, self.width):
            self.text += line.removeprefix("#").lstrip().startswith("newdoc")
            return None
        if not self.width:
            self.separator = "\t" if "\t" in line else " "
        cells = line.rstrip().split(self.separator)
        if self.separator == " " and "" in cells:
            cells = [cell for cell in cells if cell]
        if len(cells) != self.width:
            if self.width:
                said = f"{counted(len(cells), 'column')} in this line, and {self.width} before it"
                raise self.document.refusal(said, self.number)
            self.width = len(cells)
        if not self.rows:
            self.begins = self.number
        self.rows.append(cells)
        if len(self.rows) > MOST_CELLS // self.width:
            said = f"the sentence that begins here has more than {MOST_CELLS:,} cells"
            raise self.document.refusal(said, self.begins)
        return None

    def ended(self) -> Sentence | None:
        """The sentence that ends here, if there is one."""
        if not self.rows:
            return None
        sentence = Sentence(self.begins, self.text, list(zip(*self.rows, strict=True)))
        self.rows = []
        return sentence


def _is_comment(line: str, separator: str, width: int) -> bool:
    """Whether a line that begins with # is no token: a word may begin with it, too."""
    if _COMMENT.match(line):
        return True
    return bool(width) and len(line.split(separator if separator == "\t" else None)) != width


@dataclass(slots=True)
class TagColumn:
    """A column, counted from 0, each cell of which is a tag: the tags, and the types that they name."""

    place: int
    tags: set[str] = field(default_factory=set)

    @property
    def kinds(self) -> set[str]:
        """The types of its entities; none where every token is outside of all."""
        return kinds_of(self.tags)

    def __str__(self) -> str:
        listed = sorted(self.kinds)
        named = ", ".join(shown(kind)[1:-1] for kind in listed[:4]) + (", …" if len(listed) > 4 else "")
        return f"column {self.place + 1} ({named})" if listed else f"column {self.place + 1} (O alone)"


class Columns(NamedTuple):
    """What the columns of a file are: how many, which hold tags and nothing else, and which holds the words, if any."""

    width: int
    tagged: list[TagColumn]
    words: int | None


def columns_of(staging: Staging) -> Columns:
    """Finds the columns of tags. Raises DataError where a cell among tags is none."""
    first: Sequence[Sequence[str]] = []
    columns: list[TagColumn] = []
    for sentence in sentences(staging):
        if not first:
            first = sentence.columns
            columns = [TagColumn(place) for place in range(len(first))]
        for column in columns.copy():
            place = column.place
            if column.tags.issuperset(sentence.columns[place]):
                continue
            new = set(sentence.columns[place]) - column.tags
            wrong = {text for text in new if tag_of(text) is None}
            # Words are told from tags by the first sentence in which one does not look like a tag.
            if wrong and (not place or not (column.kinds or all(map(is_meant, new)))):
                columns.remove(column)
            elif wrong:
                token, text = next(each for each in enumerate(sentence.columns[place]) if each[1] in wrong)
                said = f"{shown(text)} in column {place + 1} is no tag"
                said += ": O, or one of B, I, E, S with a type, such as B-PER"
                raise staging.refusal(said, sentence.line + token)
            else:
                column.tags |= new
    if not first:
        raise staging.refusal("there is no token in it")
    width, tagged = len(first), {column.place for column in columns}
    others = (place for place in range(width) if place not in tagged)
    # Words may be numbered in the column before them.
    words = next((place for place in others if not all(cell.isdigit() for cell in first[place])), None)
    return Columns(width, columns, words)
