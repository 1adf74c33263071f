"""The entities of many sentences at once, as arrays: what `mentions.entities` finds by the rules of conlleval, and what
`mentions.tallies` counts where only the same place and type is correct.

Sentences stand behind one another with a tag O before, between and behind them. Reads no files.
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
    """A number for each text that is a tag, in the order in which they were met; O is 0."""

    def __init__(self) -> None:
        super().__init__(O=0)

    def __missing__(self, tag: str) -> int:
        self[tag] = len(self)
        return self[tag]


class TagArrays:
    """The tags of gold and of answers, and what was met of them."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = {kind: place for place, kind in enumerate(kinds)}
        self._codes = Codes()
        self._pairs: list[dict[tuple[int, int], int]] = [{}, {}]

    def counted(
        self, gold: Sequence[str], answers: Sequence[str], lengths: numpy.ndarray
    ) -> tuple[dict[str, numpy.ndarray], numpy.ndarray]:
        """The counts of some sentences, whose tags stand behind one another, a row a sentence and type; and how many
        tokens have the right tag, sentence by sentence.
        """
        import numpy

        # The tag O behind a sentence counts as one of it, and is never in an entity.
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
        """Tags as numbers, each at its place; which stands behind which is remembered."""
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
        """Where entities begin; where one ends that begins at a place; and the type at each place, -1 outside."""
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
        """What the tags of gold and of answers tell of their schemes."""
        texts = list(self._codes)
        gold, answers = Scheme(), Scheme()
        for scheme, pairs in zip((gold, answers), self._pairs, strict=True):
            scheme.pairs.update({(texts[before], texts[here]): count for (before, here), count in pairs.items()})
        return gold, answers
