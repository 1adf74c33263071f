"""Spans of text that are entities or answers: finds them, and matches two sets of them.

This module reads no files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    import numpy


# === tags of tokens ===================================================================================================
# Which texts are tags, and by which scheme the tags of a column mark entities.

OUTSIDE = frozenset({"O", "."})
"""The tags of tokens outside all entities."""

_LETTERS = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S", "W": "S"}
"""The meaning of the letters in all schemes: begin, inside (the middle), end (the last) and single (a unit, a whole).
"""

_MEANT = re.compile(r"[A-Z]-\S*|[OBIES.]")


class Tag(NamedTuple):
    """A letter (B, I, E, S or O, whatever the scheme calls it) and a type; the type is `_` if the tag names none, and
    empty for O.
    """

    letter: str
    kind: str


NO_TAG = Tag("O", "")


@lru_cache(maxsize=100_000)
def tag_of(text: str) -> Tag | None:
    """A text as a tag; None if it is not one."""
    if text in OUTSIDE:
        return NO_TAG
    prefix, hyphen, kind = text.partition("-")
    letter = _LETTERS.get(prefix)
    return Tag(letter, kind or "_") if letter and bool(kind) == bool(hyphen) else None


def is_meant(text: str) -> bool:
    """Whether a text looks like a tag, even an invalid one."""
    return _MEANT.fullmatch(text) is not None


def kinds_of(tags: Iterable[str]) -> set[str]:
    """The entity types that some tags name."""
    return {tag.kind for text in tags if (tag := tag_of(text)) is not None} - {""}


class Scheme(Struct):
    """Finds out which scheme a column of tags follows, from which tag follows which."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, tags: Sequence[str]) -> None:
        """Counts the tags of a sentence."""
        self.pairs.update(zip(("O", *tags), (*tags, "O"), strict=True))

    def named(self) -> tuple[str, int, str]:
        """The scheme, how many tags break it, and what is wrong with those.

        In BIO every entity begins with B. In IOB1 it does only if one of the same type ends right before it. BIOES,
        BILOU and BMES also mark ends. If a column mixes BIO and IOB1, its scheme is the one that more entities follow.
        """
        used = {text.partition("-")[0] for pair in self.pairs for text in pair}
        if marking_ends := used & {"E", "S", "L", "U", "M", "W"}:
            name = "BILOU" if marking_ends & {"L", "U"} else "BMES" if "M" in used else "BIOES"
            return name, self._count(_breaks_off), "where an entity is not begun or ended as it should be"
        inside_first, begun_apart = self._count(_inside_first), self._count(_begin_apart)
        if inside_first > begun_apart:
            return "IOB1", begun_apart, "where B begins an entity that no other of its type is right before"
        return "BIO", inside_first, "where I begins an entity"

    def _count(self, holds: Callable[[Tag, Tag], bool]) -> int:
        # Texts that are not tags were refused before.
        return sum(
            count
            for (before, here), count in self.pairs.items()
            if (last := tag_of(before)) and (tag := tag_of(here)) and holds(last, tag)
        )


def _goes_on(last: Tag, tag: Tag) -> bool:
    return last.letter in "BI" and last.kind == tag.kind


def _inside_first(last: Tag, tag: Tag) -> bool:
    return tag.letter == "I" and not _goes_on(last, tag)


def _begin_apart(last: Tag, tag: Tag) -> bool:
    return tag.letter == "B" and not _goes_on(last, tag)


def _breaks_off(last: Tag, tag: Tag) -> bool:
    return not _goes_on(last, tag) if tag.letter in "IE" else last.letter in "BI"


# === mentions =========================================================================================================
# Typed extractions from a text, and how two sets of them are matched.

SCHEMES = ("conlleval", "iob2", "iobes")


Stretch = tuple[int, int]
"""A stretch of a text, from its start up to but excluding its end."""


class Mention(NamedTuple):
    """Something that was extracted: its type and its place, from `start` up to but excluding `end`. If it is in several
    pieces, `more` are the pieces after the first.
    """

    kind: str
    start: int
    end: int
    more: tuple[Stretch, ...] = ()

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """All pieces of its place."""
        return ((self.start, self.end), *self.more)


class Tally(NamedTuple):
    """The counts of one type in one document. The last four are of pairs of a key item and an answer, whatever their
    types are; a pair counts for the type of the key item, and an answer in no pair for its own.
    """

    possible: int = 0
    actual: int = 0
    correct: int = 0
    partial: int = 0
    incorrect: int = 0
    same_place: int = 0
    overlapping: int = 0
    same_type: int = 0
    unpaired: int = 0

    @property
    def cells(self) -> tuple[int, ...]:
        """Possible, actual, correct, partial, incorrect, spurious and missing."""
        matched = self.correct + self.partial + self.incorrect
        return (*self[: -len(PAIRED)], self.actual - matched, self.possible - matched)

    @property
    def placed_cells(self) -> tuple[int, ...]:
        """The same, and the counts of pairs, which are known where the places of mentions are."""
        return (*self.cells, *self[-len(PAIRED) :])


COLUMNS = ("possible", "actual", "correct", "partial", "incorrect", "spurious", "missing")
"""The counts in `Tally.cells`, in order."""

PAIRED = ("same_place", "overlapping", "same_type", "unpaired")
"""The counts of pairs: with the same place, with another one that overlaps, those of the two that have the same type,
and answers in no pair.
"""

PLACED_COLUMNS = (*COLUMNS, *PAIRED)
"""The counts in `Tally.placed_cells`, in order."""


def entities(tags: Sequence[str], scheme: str = "conlleval") -> list[Mention]:
    """The entities that the tags of a sentence mark.

    `conlleval` reads IOB1, IOB2 and IOBES alike, and begins an entity wherever one could begin, as the scorer of CoNLL
    2000 does (Tjong Kim Sang and Buchholz 2000). `iob2` and `iobes` are strict: an entity counts only if its beginning
    is marked as the scheme requires, and for IOBES also its end.
    """
    if OUTSIDE.issuperset(tags):
        return []
    if scheme == "iob2":
        return _iob2(tags)
    if scheme == "iobes":
        return _iobes(tags)
    mentions: list[Mention] = []
    begun: int | None = None
    last, last_kind = "O", ""
    for place, tag in enumerate((*tags, "O")):
        if last == "O" and tag in OUTSIDE:
            continue
        prefix, kind = tag_of(tag) or NO_TAG
        changed = kind != last_kind
        if begun is not None and (last in "ES" or prefix in "BSO" or changed):
            mentions.append(Mention(last_kind, begun, place))
            begun = None
        if prefix != "O" and (prefix in "BS" or last in "ESO" or changed):
            begun = place
        last, last_kind = prefix, kind
    return mentions


def _iob2(tags: Sequence[str]) -> list[Mention]:
    mentions: list[Mention] = []
    begun: int | None = None
    begun_kind = ""
    for place, tag in enumerate((*tags, "O")):
        prefix, kind = tag_of(tag) or NO_TAG
        if begun is not None and (prefix != "I" or kind != begun_kind):
            mentions.append(Mention(begun_kind, begun, place))
            begun = None
        if prefix == "B":
            begun, begun_kind = place, kind
    return mentions


def _iobes(tags: Sequence[str]) -> list[Mention]:
    mentions: list[Mention] = []
    begun: int | None = None
    begun_kind = ""
    for place, tag in enumerate(tags):
        prefix, kind = tag_of(tag) or NO_TAG
        if prefix == "S":
            mentions.append(Mention(kind, place, place + 1))
        elif prefix == "E" and begun is not None and kind == begun_kind:
            mentions.append(Mention(kind, begun, place + 1))
        if prefix == "B":
            begun, begun_kind = place, kind
        elif prefix != "I" or kind != begun_kind:
            begun = None
    return mentions


def tally_mentions(gold: Iterable[Mention], predicted: Iterable[Mention], *, overlap: bool) -> dict[str, Tally]:
    """The counts of each type. The same place and type is correct. With `overlap`, an overlapping mention of the same
    type is partial. Each mention is matched at most once, from left to right. A mention of the wrong type is missing
    for the type of the key and spurious for that of the answer, as in seqeval; how mentions are paired whatever their
    types are is counted beside that, once with any types and once with the same.
    """
    gold, predicted = list(gold), list(predicted)
    counts = {mention.kind: [0] * len(Tally._fields) for mention in (*gold, *predicted)}

    def count(column: str, mentions: Iterable[Mention]) -> None:
        for mention in mentions:
            counts[mention.kind][Tally._fields.index(column)] += 1

    same = Counter(gold) & Counter(predicted)
    missed, others = (sorted((Counter(side) - same).elements(), key=_place) for side in (gold, predicted))
    if overlap:
        count("partial", (key for key, _ in _pair_off(missed[:], others[:], _is_part)))
    matched = list(same.elements())
    in_place = _pair_off(missed, others, _is_in_place)
    typed = _pair_off(of_type := missed[:], beside := others[:], _is_part)
    apart = _pair_off(missed, others, _overlaps)
    if len(apart) < len(typed):
        # Only where mentions of one side overlap each other.
        apart, missed, others = typed, of_type, beside
    count("possible", gold)
    count("actual", predicted)
    count("correct", matched)
    count("same_place", (*matched, *(key for key, _ in in_place)))
    count("overlapping", (key for key, _ in apart))
    count("same_type", (*matched, *(key for key, _ in typed)))
    count("unpaired", others)
    return {kind: Tally(*counted) for kind, counted in sorted(counts.items())}


Pair = tuple[Mention, Mention]


def _pair_off(missed: list[Mention], others: list[Mention], fit: Callable[[Mention, Mention], bool]) -> list[Pair]:
    """The pairs of a key item and an answer that fit, from left to right, each in one pair; those that are paired are
    taken out of the two lists.
    """
    pairs: list[Pair] = []
    for answer in others[:] if missed else ():
        key = next((mention for mention in missed if fit(mention, answer)), None)
        if key is not None:
            missed.remove(key)
            others.remove(answer)
            pairs.append((key, answer))
    return pairs


def _place(mention: Mention) -> tuple[Stretch, ...]:
    return mention.stretches


def _is_in_place(one: Mention, other: Mention) -> bool:
    return one.stretches == other.stretches


def _overlaps(one: Mention, other: Mention) -> bool:
    pairs = ((here, there) for here in one.stretches for there in other.stretches)
    return any(here[0] < there[1] and there[0] < here[1] for here, there in pairs)


def _is_part(one: Mention, other: Mention) -> bool:
    return one.kind == other.kind and _overlaps(one, other)


# === entities of many sentences =======================================================================================
# As arrays. They are the same entities as `entities` finds by the rules of conlleval, and the counts are those of
# `tally_mentions` if only the same place and type is correct. Sentences follow one another, with a tag O before,
# between and after them.

_LETTER_CODES = "OBIES"


class Codes(dict[str, int]):
    """A number for each text that is a tag, in order of first occurrence; O is 0."""

    def __init__(self) -> None:
        super().__init__(O=0)

    def __missing__(self, tag: str) -> int:
        self[tag] = len(self)
        return self[tag]


class TagArrays:
    """Counts the tags of gold and of answers, sentences at a time, and remembers which tags occurred."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = {kind: place for place, kind in enumerate(kinds)}
        self._codes = Codes()
        self._pairs: list[dict[tuple[int, int], int]] = [{}, {}]

    def counted(
        self, gold: Sequence[str], answers: Sequence[str], lengths: numpy.ndarray
    ) -> tuple[dict[str, numpy.ndarray], numpy.ndarray]:
        """The counts of some sentences, whose tags follow one another: one row per sentence and type. Also how many
        tokens of each sentence have the right tag.
        """
        import numpy

        # The tag O after a sentence counts as part of it, and is never in an entity.
        sentence = numpy.concatenate(([0], numpy.repeat(numpy.arange(len(lengths)), lengths + 1)))
        places = numpy.arange(1, len(gold) + 1) + numpy.repeat(numpy.arange(len(lengths)), lengths)
        wanted, given = (
            self._number_tags(side, tags, places, len(sentence)) for side, tags in enumerate((gold, answers))
        )
        rights = numpy.bincount(sentence[1:][(wanted == given)[1:]], minlength=len(lengths)) - 1
        begun, ends, kind = self._entities(wanted)
        begun_by, ends_by, kind_by = self._entities(given)
        many = len(lengths) * len(self._kinds)
        cells = [sentence * len(self._kinds) + of for of in (kind, kind_by)]
        right = begun & begun_by & (ends == ends_by) & (kind == kind_by)
        possible, actual, correct = (
            numpy.bincount(cells[side][where], minlength=many).astype("int32")
            for side, where in ((0, begun), (1, begun_by), (0, right))
        )
        none = numpy.zeros(many, "int32")
        counts = (possible, actual, correct, none, none, actual - correct, possible - correct)
        placed = begun & begun_by & (ends == ends_by)
        same_place = numpy.bincount(cells[0][placed], minlength=many).astype("int32")
        unpaired = actual - numpy.bincount(cells[1][placed], minlength=many).astype("int32")
        overlapping, same_type = none.copy(), correct.copy()
        left = [numpy.flatnonzero(begins & ~placed) for begins in (begun, begun_by)]
        touching = _overlaps_of((left[0], ends[left[0]]), (left[1], ends_by[left[1]]))
        for key, answer in _one_to_one(touching):
            overlapping[cells[0][key]] += 1
            unpaired[cells[1][answer]] -= 1
        for key, _ in _one_to_one(pair for pair in touching if kind[pair[0]] == kind_by[pair[1]]):
            same_type[cells[0][key]] += 1
        paired = (same_place, overlapping, same_type, unpaired)
        return dict(zip(PLACED_COLUMNS, (*counts, *paired), strict=True)), rights

    def _number_tags(self, side: int, tags: Sequence[str], places: numpy.ndarray, size: int) -> numpy.ndarray:
        """Tags as numbers, each at its place. Also counts which tag follows which."""
        import numpy

        codes = numpy.zeros(size, "int64")
        codes[places] = numpy.fromiter(map(self._codes.__getitem__, tags), "int64", len(tags))
        many = len(self._codes)
        pairs, times = numpy.unique(codes[:-1] * many + codes[1:], return_counts=True)
        of = self._pairs[side]
        for pair, count in zip(pairs.tolist(), times.tolist(), strict=True):
            both = divmod(pair, many)
            of[both] = of.get(both, 0) + count
        return codes

    def _entities(self, codes: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Where entities begin; for each place where an entity begins, where it ends; and the type at each place, -1
        outside entities.
        """
        import numpy

        tags = [tag_of(text) or NO_TAG for text in self._codes]
        letter = numpy.array([_LETTER_CODES.index(tag.letter) for tag in tags], "int8")[codes]
        kind = numpy.array([self._kinds.get(tag.kind, -1) for tag in tags])[codes]
        outside, begin, _, end, single = range(len(_LETTER_CODES))
        last = numpy.concatenate(([outside], letter[:-1]))
        changed = kind != numpy.concatenate(([-1], kind[:-1]))
        begins = (letter == begin) | (letter == single) | numpy.isin(last, (outside, end, single)) | changed
        begins &= letter != outside
        stops = numpy.flatnonzero(begins | (letter == outside))
        begun = numpy.flatnonzero(begins)
        ends = numpy.zeros(len(codes), "int64")
        ends[begun] = stops[numpy.searchsorted(stops, begun, side="right")]
        return begins, ends, kind

    def schemes(self) -> tuple[Scheme, Scheme]:
        """The tagging schemes of gold and of answers, from the tags so far."""
        texts = list(self._codes)
        gold, answers = Scheme(), Scheme()
        for scheme, pairs in zip((gold, answers), self._pairs, strict=True):
            scheme.pairs.update({(texts[before], texts[here]): count for (before, here), count in pairs.items()})
        return gold, answers


Stretches = tuple["numpy.ndarray", "numpy.ndarray"]
"""Where entities begin and end that do not overlap, in order."""


def _overlaps_of(gold: Stretches, answers: Stretches) -> list[tuple[int, int]]:
    """Where the two of each pair of overlapping entities begin, in order of the answers."""
    import numpy

    first = numpy.searchsorted(gold[1], answers[0], side="right")
    many = numpy.maximum(numpy.searchsorted(gold[0], answers[1], side="left") - first, 0)
    steps = numpy.arange(many.sum()) - numpy.repeat(many.cumsum() - many, many)
    keys = gold[0][numpy.repeat(first, many) + steps]
    return list(zip(keys.tolist(), numpy.repeat(answers[0], many).tolist(), strict=True))


def _one_to_one(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs of which neither was in one before."""
    kept: list[tuple[int, int]] = []
    keys, taken = set[int](), set[int]()
    for key, answer in pairs:
        if key not in keys and answer not in taken:
            keys.add(key)
            taken.add(answer)
            kept.append((key, answer))
    return kept


# === labelled spans ===================================================================================================
# Answers that list spans, `PER: Ada $$ LOC: Turin`: extracts the spans, and matches those of two answers. Answers are
# parsed as in the span F1 of multilingual T5 and of later tasks based on it.

OTHER = "other"
"""The unit for spans with a label that no gold span of the log has."""

SpanCounts = dict[str, tuple[int, int, int]]
"""The span counts of a sample: possible, actual and correct by label."""

_PUNCTUATION = re.compile(r"""[!"#$%&'()*+,\-./:;<=>?\[\]^_`{|}~•@]+""")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WIDE = re.compile(r"\s{3,}|\t")


def span_counts(gold: Any, predicted: Any) -> SpanCounts:
    """The counts of an answer by label. Each span is matched with an equal span of the key."""
    wanted, found = Counter(labelled_spans(gold)), Counter(labelled_spans(predicted))
    possible, actual, correct = (
        Counter(label for label, _ in pairs.elements()) for pairs in (wanted, found, wanted & found)
    )
    return {label: (possible[label], actual[label], correct[label]) for label in possible | actual}


def tally_labelled_spans(counts: SpanCounts, labels: list[str]) -> dict[str, Tally]:
    """The counts of a sample by label of the key. Spans with any other label count under `other`."""
    by_label = {label: Tally(*counts.get(label, (0, 0, 0))) for label in labels}
    others = sum(actual for label, (_, actual, _) in counts.items() if label not in by_label)
    by_label[OTHER] = by_label[OTHER]._replace(actual=by_label[OTHER].actual + others)
    return by_label


def labelled_spans(text: Any) -> list[tuple[str, str]]:
    """The (label, text) pairs in an answer, without case, punctuation and articles.

    A pair ends at `$`, at `. ` or at `, `. Anything that is not a label and a text separated by `: ` is ignored.
    """
    whole = " ".join(str(part).strip() for part in text) if isinstance(text, list) else str(text)
    pieces = (
        piece.strip()
        for part in whole.strip().split("$")
        if part
        for sentence in part.strip().split(". ")
        for piece in sentence.split(", ")
    )
    pairs = (piece.split(": ") for piece in pieces)
    return [(_plain(pair[0]), _plain(pair[1])) for pair in pairs if len(pair) == 2]


def _plain(text: str) -> str:
    text = _ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.strip()))
    return re.sub(r"\s+", " ", _WIDE.sub("", text)).lower()
