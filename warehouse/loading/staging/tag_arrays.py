"""The entities of many sentences at once, as arrays. Finds the same entities as `mentions.entities` by the rules of
conlleval, and the same counts as `mentions.tallies` if only the same place and type is correct.

Sentences follow one another, with a tag O before, between and after them. Reads no files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.loading.staging.mentions import COLUMNS
from warehouse.loading.staging.tagging import NO_TAG, Scheme, tag_of

if TYPE_CHECKING:
    import numpy

_LETTERS = "OBIES"


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
        wanted, given = (self._coded(side, tags, places, len(sentence)) for side, tags in enumerate((gold, answers)))
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
        return dict(zip(COLUMNS, counts, strict=True)), rights

    def _coded(self, side: int, tags: Sequence[str], places: numpy.ndarray, size: int) -> numpy.ndarray:
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
        letter = numpy.array([_LETTERS.index(tag.letter) for tag in tags], "int8")[codes]
        kind = numpy.array([self._kinds.get(tag.kind, -1) for tag in tags])[codes]
        outside, begin, _, end, single = range(len(_LETTERS))
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
