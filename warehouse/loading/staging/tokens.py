"""Files of columns: one token per line, cells separated by tabs or blanks, sentences by blank lines.

What the cells mean, and whether tags are the key's or a system's, is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.spans import OUTSIDE, is_meant, kinds_of, tag_of
from evalhouse.warehouse.loading.staging.staged import Staging

if TYPE_CHECKING:
    import numpy


# === sentences of tokens ==============================================================================================
# Lines with `-DOCSTART-` or `#begin document`, and `# newdoc` in CoNLL-U, begin texts; other comments are ignored. Many
# sentences are read at a time: if all lines of a stretch are as simple as most lines are, it is split into cells as a
# whole. Any other stretch is read line by line, which also finds the line of an error.

TEXT_BEGINS = ("-DOCSTART-", "#begin document")

TEXT_ENDS = "#end document"

MOST_CELLS = 3_000_000
"""How many cells a sentence may have. Each takes some hundred bytes of memory, and a sentence is read as a whole."""

AT_ONCE = 256 * 1024
"""How many bytes are split into cells at a time. The cells take some thirty times as much memory."""

LONG = 4_000_000
"""Stop looking for the end of a sentence after this many characters without an empty line."""

_COMMENT = re.compile(r"#\s*(\S+\s*=\s|newdoc\b|newpar\b|global\.columns\b|(?<=\s)\S.*\s\w+=\S*$)")
_APART = re.compile(rf"\n(?:#|{TEXT_BEGINS[0]})[^\n]*")
"""A line that may be a comment or begin a text, and the line end before it."""


class Sentences(Struct, frozen=True):
    """Consecutive sentences: for each sentence the line of its first token, the number of its text (0 if texts are not
    marked) and its number of tokens; and the cells of all tokens, column by column.
    """

    lines: numpy.ndarray
    texts: numpy.ndarray
    lengths: numpy.ndarray
    columns: Sequence[Sequence[str]]

    def __len__(self) -> int:
        return len(self.lengths)

    def one_by_one(self) -> Iterator[Sentence]:
        """Yields the sentences one by one."""
        begin = 0
        for line, length in zip(self.lines.tolist(), self.lengths.tolist(), strict=True):
            yield Sentence(line, [column[begin : begin + length] for column in self.columns])
            begin += length

    def parted(self, many: int) -> tuple[Sentences, Sentences]:
        """Splits off the first sentences, as many as asked for."""
        token = int(self.lengths[:many].sum())
        first, others = ([column[part] for column in self.columns] for part in (slice(token), slice(token, None)))
        return (
            Sentences(self.lines[:many], self.texts[:many], self.lengths[:many], first),
            Sentences(self.lines[many:], self.texts[many:], self.lengths[many:], others),
        )


class Sentence(NamedTuple):
    """A sentence: the line of its first token, and the cells of its tokens, column by column."""

    line: int
    columns: Sequence[Sequence[str]]

    @property
    def length(self) -> int:
        """How many tokens it has."""
        return len(self.columns[0])


def sentences(staging: Staging) -> Iterator[Sentences]:
    """Yields the sentences of a file.

    Raises DataError if a line has another number of columns than the first one, or if a sentence is too long.
    """
    texts = 0
    for document in documents(staging):
        last, first = texts, True
        for read in _sentences(document):
            some = _without_ranges(_without_head(read) if first else read)
            first = False
            if some is None:
                continue
            last = max(last, texts + int(some.texts.max()))
            yield some if not texts else replace(some, texts=some.texts + texts * (some.texts > 0))
        texts = last


def _sentences(document: Document) -> Iterator[Sentences]:
    reading = _Reading(document)
    for stretch in _in_plain_columns(_stretches(document)):
        some = reading.at_once(stretch) or reading.line_by_line(stretch)
        if some is not None:
            yield some
    if last := reading.ended():
        yield _behind_one_another([last])


def _stretches(document: Document) -> Iterator[str]:
    """Stretches of many lines, each up to an empty line."""
    rest = ""
    for text in document.texts(AT_ONCE):
        lines = rest + text + "\n"
        ends = lines.rfind("\n\n") + 2
        if ends < 2 and len(lines) > LONG:
            ends = len(lines)
        if ends >= 2:
            yield lines[:ends]
        rest = lines[ends:] if ends >= 2 else lines
    if rest:
        yield rest


# === lines that are not tokens ========================================================================================

_OF_WORDS = {"token", "tokens", "word", "words", "form", "text"}
_OF_TAGS = re.compile(r"tags?|labels?|ner|iob2?|bio|bioes|gold|pred|pos|chunk|entity", re.IGNORECASE)
"""What the cells of a first line are that names the columns."""

_RANGE = re.compile(r"([0-9]+)-([0-9]+)")
_EMPTY_NODE = re.compile(r"[0-9]+\.[0-9]+")
_OF_CONLL_U = 10
"""CoNLL-U has so many columns: the first numbers the words, and the last may hold anything."""

MISC = re.compile(r"(?:^|\|)(?:ner|ne|entity|ent|nertag|named_entity)=([^|]*)", re.IGNORECASE)
"""The tag of a token in the last column of CoNLL-U, as Stanza writes it."""


def _without_head(some: Sentences) -> Sentences | None:
    """The sentences of a file without its first line, if that names the columns; None if nothing is left."""
    if not names_columns([column[0] for column in some.columns]):
        return some
    return _kept(some, [number > 0 for number in range(len(some.columns[0]))])


def names_columns(cells: Sequence[str]) -> bool:
    """Whether the cells of a line are names of columns: token, pos, ner_tag."""
    words = {cell for cell in cells if cell.casefold() in _OF_WORDS}
    return bool(words) and any(_names_tags(cell) for cell in cells if cell not in words)


def _names_tags(cell: str) -> bool:
    return all(_OF_TAGS.fullmatch(word) for word in re.split(r"[_ .-]", cell) if word)


def _without_ranges(some: Sentences | None) -> Sentences | None:
    """The sentences without the empty nodes of CoNLL-U, and with one line for each word. Of a line that stands for
    several words (`1-2`) and these words, the words stay, unless only that line has a tag.
    """
    if some is None or len(some.columns) != _OF_CONLL_U:
        return some
    numbers, misc = some.columns[0], some.columns[-1]
    if not numbers[0][:1].isdigit() or all(map(str.isdigit, numbers)):
        return some
    keep, spoken_for = [], 0
    for number, last in zip(numbers, misc, strict=True):
        if shared := _RANGE.fullmatch(number):
            keep.append(MISC.search(last) is not None)
            spoken_for = int(shared[2]) - int(shared[1]) + 1 if keep[-1] else 0
        elif _EMPTY_NODE.fullmatch(number):
            keep.append(False)
        else:
            keep.append(not spoken_for)
            spoken_for = max(0, spoken_for - 1)
    return _kept(some, keep)


def _kept(some: Sentences, keep: Sequence[bool]) -> Sentences | None:
    """The tokens that are kept; None if there are none."""
    import numpy

    kept = numpy.array(keep)
    sentence = numpy.repeat(numpy.arange(len(some)), some.lengths)
    lengths = numpy.bincount(sentence[kept], minlength=len(some))
    begins = numpy.concatenate(([0], numpy.cumsum(some.lengths)[:-1]))
    there = numpy.flatnonzero(lengths)
    if not len(there):
        return None
    first = numpy.array([numpy.flatnonzero(kept[begins[place] :])[0] for place in there.tolist()])
    columns = [[cell for cell, stays in zip(column, keep, strict=True) if stays] for column in some.columns]
    return Sentences(some.lines[there] + first, some.texts[there], lengths[there], columns)


# === CoNLL-2012 =======================================================================================================
# Its tokens have more columns in sentences with more predicates, and its entities are in brackets: (PERSON* or *) or
# (GPE). What is read is the word, its part of speech and a tag. Lines stay where they are.

_WORD, _POS, _ENTITY, _FEWEST = 3, 4, 10, 12
_BRACKETS = re.compile(r"(?:\(([^()*]+))?\*?(\))?")


def _in_plain_columns(stretches: Iterator[str]) -> Iterator[str]:
    """The lines of CoNLL-2012 with a tag in place of brackets; those of any other file as they are."""
    first = next(stretches, "")
    begun = first.lstrip("\n").startswith(TEXT_BEGINS[1])
    tokens = (line.split() for line in first.split("\n") if line and not line.startswith("#"))
    cells = next(tokens, [])
    if not begun or len(cells) < _FEWEST or not _BRACKETS.fullmatch(cells[_ENTITY]):
        yield from chain((first,), stretches)
        return
    inside = ""
    for stretch in chain((first,), stretches):
        lines = []
        for line in stretch.split("\n"):
            cells = line.split()
            found = _BRACKETS.fullmatch(cells[_ENTITY]) if len(cells) >= _FEWEST and line[0] != "#" else None
            if found is None:
                inside = ""
                lines.append(line)
                continue
            tag = f"B-{found[1]}" if found[1] else f"I-{inside}" if inside else "O"
            inside = "" if found[2] else found[1] or inside
            # A word of CoNLL-2012 may begin with #, which would make it a comment.
            lines.append("\t".join((cells[_WORD], cells[_POS], tag)))
        yield "\n".join(lines)


class _Read(NamedTuple):
    """A sentence that was read line by line: its first line, the number of its text, and the cells of each token."""

    line: int
    text: int
    rows: list[list[str]]


def _behind_one_another(read: list[_Read]) -> Sentences:
    import numpy

    lines, texts, lengths = (numpy.array(of) for of in zip(*((s.line, s.text, len(s.rows)) for s in read), strict=True))
    return Sentences(lines, texts, lengths, list(zip(*chain.from_iterable(s.rows for s in read), strict=True)))


class _Reading(Struct):
    """The state of reading a file: what is known so far, the line number, and the tokens of the current sentence."""

    document: Document
    number: int = 0
    text: int = 0
    width: int = 0
    expected: int = 0
    """How many cells the first token has, before it is read."""
    separator: str = " "
    begins: int = 0
    rows: list[list[str]] = field(default_factory=list)

    def at_once(self, stretch: str) -> Sentences | None:
        """The sentences of some lines; None if there are none, or if a line must be read by itself."""
        import numpy

        if self.rows:
            return None
        width, separator = (self.width, self.separator) if self.width else _shape(stretch)
        plain, begun = _without_marks(stretch, width, separator)
        signs = numpy.frombuffer(plain.encode(), "uint8")
        ends = numpy.flatnonzero(signs == ord("\n"))
        size = numpy.diff(ends, prepend=-1) - 1
        tokens = numpy.flatnonzero(size)
        separators = numpy.flatnonzero(signs == ord(separator))
        if width < 2 or not len(tokens) or len(separators) != len(tokens) * (width - 1):
            return None
        # The total number of separators is right. Each line has its own share of them only if every group of them lies
        # within its line.
        end = ends[tokens]
        begin = end - size[tokens]
        between = separators.reshape(len(tokens), width - 1)
        if (between[:, 0] < begin).any() or (between[:, -1] >= end - 1).any():
            return None
        if separator == " " and ((between[:, 0] == begin).any() or (numpy.diff(between) == 1).any()):
            return None
        first = numpy.flatnonzero(numpy.diff(tokens, prepend=-2) > 1)
        lengths = numpy.diff(first, append=len(tokens))
        if lengths.max() > MOST_CELLS // width:
            return None
        while "\n\n" in plain:
            plain = plain.replace("\n\n", "\n")
        every = plain.strip("\n").replace("\n", separator).split(separator)
        columns = [every[place::width] for place in range(width)]
        if any(cell != cell.rstrip() for cell in set(columns[-1])):
            return None
        self.width, self.separator = width, separator
        texts = self.text + numpy.searchsorted(numpy.array(begun), tokens[first])
        lines = self.number + 1 + tokens[first]
        self.number += len(ends)
        self.text += len(begun)
        return Sentences(lines, texts, lengths, columns)

    def line_by_line(self, stretch: str) -> Sentences | None:
        """The sentences that end in some lines, in the same form as from `at_once`. Raises DataError."""
        if not self.width:
            self.expected, self.separator = _shape(stretch)
        read = [sentence for line in stretch.removesuffix("\n").split("\n") if (sentence := self._read(line))]
        return _behind_one_another(read) if read else None

    def _read(self, line: str) -> _Read | None:
        """Reads a line and returns the sentence that ends with it. Raises DataError."""
        self.number += 1
        if not line or line.isspace() or line.startswith((*TEXT_BEGINS, TEXT_ENDS)):
            ended = self.ended()
            self.text += line.startswith(TEXT_BEGINS)
            return ended
        if not self.rows and line[0] == "#" and _is_comment(line, self.separator, self.width or self.expected):
            self.text += _begins_text(line)
            return None
        if not self.width:
            self.separator = "\t" if "\t" in line else " "
        cells = _cells(line, self.separator)
        if len(cells) != self.width:
            if self.width:
                said = f"{quantity(len(cells), 'column')} in this line, and {self.width} before it"
                raise self.document.refusal(said, self.number)
            self.width = len(cells)
        if not self.rows:
            self.begins = self.number
        self.rows.append(cells)
        if len(self.rows) > MOST_CELLS // self.width:
            said = f"the sentence that begins here has more than {MOST_CELLS:,} cells"
            raise self.document.refusal(said, self.begins)
        return None

    def ended(self) -> _Read | None:
        """The sentence that ends here, if there is one."""
        if not self.rows:
            return None
        sentence = _Read(self.begins, self.text, self.rows)
        self.rows = []
        return sentence


def _cells(line: str, separator: str) -> list[str]:
    cells = line.rstrip().split(separator)
    return [cell for cell in cells if cell] if separator == " " and "" in cells else cells


def _shape(stretch: str) -> tuple[int, str]:
    """How many cells the first token has, and what separates them; 0 if there is no token. A line that begins with #
    is a token only if no other line is.
    """
    marks = (*TEXT_BEGINS, TEXT_ENDS)
    lines = [line for line in stretch.split("\n") if line and not line.isspace() and not line.startswith(marks)]
    tokens = (line for line in lines if not line.startswith("#"))
    others = (line for line in lines if not _COMMENT.match(line))
    for line in chain(tokens, others):
        separator = "\t" if "\t" in line else " "
        return len(_cells(line, separator)), separator
    return 0, " "


def _without_marks(stretch: str, width: int, separator: str) -> tuple[str, list[int]]:
    """Some lines with empty lines in place of comments and of lines that begin a text, and the positions of these,
    counted from 0.
    """
    if "#" not in stretch and TEXT_BEGINS[0] not in stretch:
        return stretch, []
    lines = "\n" + stretch
    begun, kept, number, taken = list[int](), list[str](), -1, 0
    for found in _APART.finditer(lines):
        start, line = found.start(), found[0][1:]
        begins = line.startswith(TEXT_BEGINS)
        # Inside a sentence, a word may begin with #.
        apart = start == taken or lines[start - 1] == "\n"
        if begins or line.startswith(TEXT_ENDS) or (apart and _is_comment(line, separator, width)):
            number += lines.count("\n", taken, start + 1)
            if begins or _begins_text(line):
                begun.append(number)
            kept.append(lines[taken : start + 1])
            taken = found.end()
    return "".join((*kept, lines[taken:]))[1:], begun


def _is_comment(line: str, separator: str, width: int) -> bool:
    """Whether a line that begins with # is a comment and not a token. A word may begin with # too."""
    if _COMMENT.match(line):
        return True
    return bool(width) and len(_cells(line, separator)) != width


def _begins_text(comment: str) -> bool:
    return comment.removeprefix("#").lstrip().startswith("newdoc")


# === columns of tags ==================================================================================================


class Writing(Struct, frozen=True):
    """How a column writes its tags, if not as B-PER. `tag` returns the tag that a cell stands for."""

    named: str
    tag: Callable[[str], str]


TYPES_ALONE = Writing("types without B and I", lambda cell: cell if cell in OUTSIDE else f"I-{cell}")
"""Consecutive tokens of one type are one entity, as in Few-NERD."""

IN_MISC = Writing("in MISC", lambda cell: found[1] if (found := MISC.search(cell)) and found[1] != "_" else "O")


class TagColumn(Struct):
    """A column (counted from 0) in which each cell is a tag: the tags, and the types that they name."""

    place: int
    tags: set[str] = field(default_factory=set)
    writing: Writing | None = None

    @property
    def kinds(self) -> set[str]:
        """The types of its entities; empty if all tokens are outside entities."""
        return kinds_of(self.tags)

    def read(self, cells: Sequence[str]) -> Sequence[str]:
        """The tags that cells stand for."""
        if self.writing is None:
            return cells
        tags = {cell: self.writing.tag(cell) for cell in set(cells)}
        return [tags[cell] for cell in cells]

    def __str__(self) -> str:
        listed = sorted(self.kinds)
        named = ", ".join(quote_cell(kind)[1:-1] for kind in listed[:4]) + (", …" if len(listed) > 4 else "")
        return f"column {self.place + 1} ({named})" if listed else f"column {self.place + 1} (O alone)"


MOST_TYPES = 200
"""A column of types without B and I has at most so many of them."""

_TYPE = re.compile(r"[^\W\d_][\w./&:-]*")


def written_otherwise(place: int, cells: set[str]) -> TagColumn | None:
    """A column of tags in another writing than B-PER, from its different cells; None if it is none."""
    if any(map(MISC.search, cells)):
        tags = set(map(IN_MISC.tag, cells))
        return TagColumn(place, tags, IN_MISC) if all(map(tag_of, tags)) and kinds_of(tags) else None
    types = cells - OUTSIDE
    if any(map(tag_of, types)):
        return None  # what has B-PER among other cells has a wrong tag somewhere
    if place and types != cells and 0 < len(types) <= MOST_TYPES and all(map(_TYPE.fullmatch, types)):
        return TagColumn(place, set(map(TYPES_ALONE.tag, cells)), TYPES_ALONE)
    return None


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
    if not any(column.kinds for column in columns):
        otherwise = _written_otherwise(staging, len(first))
        columns = [*(column for column in columns if column.place not in otherwise), *otherwise.values()]
        columns.sort(key=lambda column: column.place)
    width, tagged = len(first), {column.place for column in columns}
    others = (place for place in range(width) if place not in tagged)
    # The column before the words may number them.
    words = next((place for place in others if not all(cell.isdigit() for cell in first[place])), None)
    return Columns(width, columns, words)


def _written_otherwise(staging: Staging, width: int) -> dict[int, TagColumn]:
    """The columns of tags in another writing than B-PER, by place. A column with many different cells is one of words,
    unless it is MISC.
    """
    cells: list[set[str]] = [set() for _ in range(width)]
    for some in sentences(staging):
        for place, column in enumerate(some.columns):
            if len(cells[place]) <= MOST_TYPES + len(OUTSIDE) or place == width - 1:
                cells[place].update(column)
    found = (written_otherwise(place, of_column) for place, of_column in enumerate(cells))
    return {column.place: column for column in found if column}


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
            said = f"{quote_cell(text)} in column {column.place + 1} is not a tag"
            said += ": O, or one of B, I, E, S with a type, such as B-PER"
            raise staging.refusal(said, line + token)
        column.tags |= new
    return True
