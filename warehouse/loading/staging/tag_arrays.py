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
    """Sentences with the tags of gold and answers, collected until they are counted."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = {kind: place for place, kind in enumerate(kinds)}
        self._codes = Codes()
        self._pairs: list[dict[tuple[int, int], int]] = [{}, {}]
        self._clear()

    def _clear(self) -> None:
        self._gold, self._answers, self._lengths = ["O"], ["O"], list[int]()

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, gold: Sequence[str], answers: Sequence[str]) -> None:
        """Takes in a sentence."""
        self._gold += gold
        self._answers += answers
        self._gold.append("O")
        self._answers.append("O")
        self._lengths.append(len(gold))

    def counted(self) -> tuple[dict[str, numpy.ndarray], numpy.ndarray]:
        """The counts of the sentences that were added since, a row a sentence and type; and the share of tokens with
        the right tag, sentence by sentence.
        """
        import numpy

        lengths = numpy.array(self._lengths)
        # The tag O behind a sentence counts as one of it, and is never in an entity.
        sentence = numpy.concatenate(([0], numpy.repeat(numpy.arange(len(lengths)), lengths + 1)))
        gold, answers = (self._coded(side, tags) for side, tags in enumerate((self._gold, self._answers)))
        rights = numpy.bincount(sentence[1:][(gold == answers)[1:]], minlength=len(lengths)) - 1
        begun, ends, kind = self._entities(gold)
        begun_by, ends_by, kind_by = self._entities(answers)
        many = len(lengths) * len(self._kinds)
        cells = [sentence * len(self._kinds) + of for of in (kind, kind_by)]
        right = begun & begun_by & (ends == ends_by) & (kind == kind_by)
        possible, actual, correct = (
            numpy.bincount(cells[side][where], minlength=many).astype("int32")
            for side, where in ((0, begun), (1, begun_by), (0, right))
        )
        none = numpy.zeros(many, "int32")
        counts = (possible, actual, correct, none, none, actual - correct, possible - correct)
        self._clear()
        return dict(zip(COLUMNS, counts, strict=True)), rights / lengths

    def _coded(self, side: int, tags: list[str]) -> numpy.ndarray:
        """Tags as numbers; which stands behind which is remembered."""
        import numpy

        codes = numpy.fromiter(map(self._codes.__getitem__, tags), "int64", len(tags))
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
