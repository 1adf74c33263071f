"""On standard error: a progress bar, or a clock where the share done is not known, after a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0
WIDTH = 30


@contextmanager
def bar(what: str) -> Iterator[Callable[[float, str], None]]:
    """Gives a function that draws the share done, from 0 to 1, and words; the bar is wiped away at the end."""
    began = time.monotonic()
    drawn = False

    def draw(share: float, words: str) -> None:
        nonlocal drawn
        if time.monotonic() - began < PATIENCE:
            return
        drawn = True
        sys.stderr.write(f"\r\x1b[K{what} {_bar(share)} {words}".rstrip())
        sys.stderr.flush()

    try:
        yield draw
    finally:
        if drawn:
            _wipe()


class Waiting:
    """What is shown while something runs: the seconds, and a bar as soon as it is known what share is done.

    `progress` may be called from another thread; only `tick` draws, unless nothing is to be `shown`.
    """

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._share: float | None = None
        self._drawn = ""

    def progress(self, share: float) -> None:
        """The share done, from 0 to 1."""
        self._share = share

    def tick(self, seconds: float) -> None:
        """Draws, given the seconds since the work began; they start again from 0 with the next work."""
        if seconds < PATIENCE or not self._shown:
            self.wipe()
            return
        bar = "" if self._share is None else _bar(self._share) + " "
        text = f"{bar}{seconds:.0f} s, Ctrl-C stops it"
        if text != self._drawn:
            sys.stderr.write(f"\r\x1b[K{text}" if len(text) < len(self._drawn) else f"\r{text}")
            sys.stderr.flush()
            self._drawn = text

    def wipe(self) -> None:
        """Leaves nothing behind."""
        if self._drawn:
            _wipe()
        self._drawn = ""
        self._share = None


@contextmanager
def clock(shown: bool = True) -> Iterator[Waiting]:
    """What to show while something runs; wiped away at the end."""
    waiting = Waiting(shown)
    try:
        yield waiting
    finally:
        waiting.wipe()


def _bar(share: float) -> str:
    full = round(WIDTH * min(max(share, 0.0), 1.0))
    return f"{'█' * full}{'░' * (WIDTH - full)} {100 * share:3.0f}%"


def _wipe() -> None:
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
