"""Who does a long computation and who watches it: the number of threads, and what hears how much is done.

Neither changes a number. Nothing here computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[float], None]
"""Hears what share of a computation is done, from 0 to 1; whatever it raises ends the computation."""


def silent(share: float) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Work:
    """How a computation is done: by so many threads, while `progress` hears the share done."""

    threads: int = 1
    progress: Progress = silent

    def part(self, place: int, parts: int, size: int = 1) -> Work:
        """The work for one of several equal parts, the first having place 0; or for `size` of them, from `place` on."""
        return Work(self.threads, lambda share: self.progress((place + share * size) / parts))


ALONE = Work()
"""One thread, and nobody listens."""
