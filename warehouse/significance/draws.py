"""Where chance comes from: how many shuffles or resamples are drawn, and the generators that draw them.

They come in chunks of a fixed size, each with a generator of its own, so that neither threads nor the amount of memory
at hand change a result. Nothing here knows what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grammar.value import value
from warehouse.significance.outcome import check_shuffles

Stream = int | tuple[int, ...]
"""What the caller sets apart beside the seed, such as a number for the test set: integers, none negative."""

COINS, GROUPED, LABELS, RESAMPLES, POWER, SLICES, PERMUTED, CURVES = range(8)
"""What a stream is used for, so that different kinds of draws never share their chance."""


@value
class Draws:
    """So many shuffles, or for the bootstrap so many resamples, of a seed and a stream, after the first `before`.

    The first draws of a longer run are those of a shorter one, so that a run can be gone on with. Raises ValueError for
    fewer than one shuffle and where the seed, the stream or `before` is negative.
    """

    shuffles: int
    seed: int = 1992
    stream: Stream = 0
    before: int = 0

    def __post_init__(self) -> None:
        check_shuffles(self.shuffles)
        if self.before < 0:
            raise ValueError(f"a run cannot go on after {self.before} shuffles")
        if min(self._words()) < 0:
            raise ValueError(f"the seed and the stream are {self._words()}, and none can be negative")

    def generator(self, chunk: int, purpose: int) -> np.random.Generator:
        """The source of chance for one chunk; `purpose` is one of those above."""
        spawn = (chunk,) if purpose == COINS else (chunk, purpose)
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self._words(), spawn_key=spawn)))

    def chunks(self, size: int) -> Iterator[tuple[int, int]]:
        """The number of each chunk and how many of its draws are used: all, but for the last.

        Raises ValueError for a run that would go on within a chunk.
        """
        if self.before % size:
            raise ValueError(f"a run goes on after whole chunks of {size}, and not after {self.before} shuffles")
        for chunk, first in enumerate(range(0, self.shuffles, size), self.before // size):
            yield chunk, min(size, self.shuffles - first)

    def _words(self) -> list[int]:
        return [self.seed, *(self.stream if isinstance(self.stream, tuple) else (self.stream,))]
