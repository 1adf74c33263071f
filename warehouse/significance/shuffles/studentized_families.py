"""The statistics of the studentized exchange for many pairs over common shuffles, as step-down maxima need them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from warehouse.significance.draws import Draws
from warehouse.significance.multiple import TIE, Family, SpreadFamily
from warehouse.significance.outcome import Sides
from warehouse.significance.paired import Floats, Places
from warehouse.significance.shuffles import coins
from warehouse.significance.shuffles.signed_sums import Slice
from warehouse.significance.shuffles.studentized import Moments, null_statistics, steady
from warehouse.significance.standardized import RatioPairs
from warehouse.significance.standardized_functions import TIE as FUNCTION_TIE
from warehouse.significance.standardized_functions import FunctionPair
from warehouse.significance.sums import Sums


def studentized_family(many: Sums, pairs: Sequence[tuple[int, int]], sides: Sides) -> Family:
    """The family of t statistics of some pairs of systems. If all denominators are equal, `SpreadFamily` has the same
    order.
    """
    if many.is_function:
        return _Functions(many, pairs, sides)
    return SpreadFamily(many, pairs, sides) if steady(many) else _Ratios(many, pairs, sides)


class _Ratios:
    """The family for ratios: all pairs from one matrix product over systems."""

    def __init__(self, many: Sums, pairs: Sequence[tuple[int, int]], sides: Sides) -> None:
        self._two_sided = sides == "two-sided"
        self._moments = Moments([many])
        self._pairs = RatioPairs.of(many, pairs, self._moments.rounding)
        self._first, self._second = np.array(pairs, dtype=np.intp).T
        self.observed = np.abs(self._pairs.observed) if self._two_sided else self._pairs.observed
        self.bounds = self.observed - TIE * np.maximum(np.abs(self.observed), 1.0)

    def blocks(self, draws: Draws, order: Places) -> Iterator[Iterable[Floats]]:
        """The statistics of all pairs at once, for a slice of the shuffles."""
        for part in self._moments.shuffler.slices(draws):
            yield (self._statistics(part)[order],)

    def _statistics(self, part: Slice) -> Floats:
        u, v, w, spare = np.empty((4, len(self._first), part.shuffles))
        sums, slopes = self._moments.of(0, part), self._pairs.slope[:, None]
        sums.differences(self._first, self._second, slopes, u, v, w, spare)
        return self._pairs.statistics(u, v, w, self._two_sided)


class _Functions:
    """The family for functions of sums."""

    def __init__(self, many: Sums, pairs: Sequence[tuple[int, int]], sides: Sides) -> None:
        self._two_sided = sides == "two-sided"
        self._pairs = [many.pair(a, b) for a, b in pairs]
        observed = np.array([FunctionPair.of(pair).observed for pair in self._pairs])
        self.observed = np.abs(observed) if self._two_sided else observed
        self.bounds = self.observed - FUNCTION_TIE * np.maximum(np.abs(self.observed), 1.0)

    def blocks(self, draws: Draws, order: Places) -> Iterator[Iterable[Floats]]:
        """The statistics of one pair after another, for a chunk of shuffles."""
        for chunk, used in draws.chunks(coins.CHUNK):
            part = replace(draws, shuffles=used, before=chunk * coins.CHUNK)
            yield (self._of_pair(place, part) for place in order)

    def _of_pair(self, place: int, draws: Draws) -> Floats:
        statistics = null_statistics(self._pairs[place], draws)[None]
        return np.abs(statistics) if self._two_sided else statistics
