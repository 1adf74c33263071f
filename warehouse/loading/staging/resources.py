"""What an answer took: tokens, seconds and cost, under the same names whichever tool logged them. Less is better.

What a tool's own words for them are is known to its reader.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from evalhouse.warehouse.loading.staging.cells import finite


class Resources(Struct, frozen=True):
    """What one answer took. `cost` is in the currency of the log. What the log does not say is None."""

    tokens: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    seconds: float | None = None
    cost: float | None = None

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """The measures and values that are known. Nothing takes nothing, so that a 0 is what a log does not know."""
        for measure in self.__struct_fields__:
            value = finite(getattr(self, measure))
            if value is not None and value > 0:
                yield measure, value


def directions(measures: Collection[str]) -> dict[str, bool]:
    """That less is better, for those of the measures that say what an answer took."""
    return {measure: True for measure in Resources.__struct_fields__ if measure in measures}
