"""The source of randomness: how many shuffles or resamples are drawn, and the generators that draw them.

Draws come in chunks of a fixed size, each with a generator of its own, so that neither the number of threads nor the
available memory changes a result. This module must not know what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warehouse.significance.outcome import check_shuffles

Stream = int | tuple[int, ...]
"""What distinguishes streams of one seed, such as a number for the test set: integers that are not negative."""

COINS, GROUPED, LABELS, RESAMPLES, POWER, SLICES, PERMUTED, CURVES, OWN_COINS = range(9)
"""The purposes of draws, so that different kinds of draws never share random numbers."""


class Draws(Struct, frozen=True):
    """A number of shuffles, or of resamples for the bootstrap, from a seed and a stream, after the first `before`
    draws.

    A longer run begins with the draws of a shorter one, so that a run can be continued. Raises ValueError for fewer
    than one shuffle, and if the seed, the stream or `before` is negative.
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
        """The random generator for one chunk; `purpose` is one of the constants above."""
        spawn = (chunk,) if purpose == COINS else (chunk, purpose)
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self._words(), spawn_key=spawn)))

    def chunks(self, size: int) -> Iterator[tuple[int, int]]:
        """The number of each chunk, and how many of its draws are used. Only the last chunk may be used in part.

        Raises ValueError for a run that would continue in the middle of a chunk.
        """
        if self.before % size:
            raise ValueError(f"a run goes on after whole chunks of {size}, and not after {self.before} shuffles")
        for chunk, first in enumerate(range(0, self.shuffles, size), self.before // size):
            yield chunk, min(size, self.shuffles - first)

    def parted(self, total: int) -> tuple[Draws | None, Draws | None]:
        """The draws among the first `total` of the whole run, and those after them. Either is None if it is empty."""
        first = min(max(total - self.before, 0), self.shuffles)
        rest = self.shuffles - first
        return (
            replace(self, shuffles=first) if first else None,
            replace(self, shuffles=rest, before=self.before + first) if rest else None,
        )

    def _words(self) -> list[int]:
        return [self.seed, *(self.stream if isinstance(self.stream, tuple) else (self.stream,))]
