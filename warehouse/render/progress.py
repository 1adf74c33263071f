"""After one second, shows a progress bar, or a clock if the progress is unknown. It is drawn on standard error or on
another line that can be redrawn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

PATIENCE = 1.0
WIDTH = 30


@contextmanager
def bar(what: str) -> Iterator[Callable[[float, str], None]]:
    """Provides a function that draws the progress, from 0 to 1, and a text. The bar is erased at the end."""
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


class RedrawnLine(Protocol):
    """A line of text that is redrawn again and again."""

    stops: str
    """What the reader does to stop the work."""

    def draw(self, text: str) -> None:
        """Replaces the text."""

    def wipe(self) -> None:
        """Erases what was drawn, if anything."""


class TerminalLine:
    """The last line on standard error."""

    stops = "Ctrl-C stops it"

    def __init__(self) -> None:
        self._drawn = ""

    def draw(self, text: str) -> None:
        """Replaces the text."""
        sys.stderr.write(f"\r\x1b[K{text}" if len(text) < len(self._drawn) else f"\r{text}")
        sys.stderr.flush()
        self._drawn = text

    def wipe(self) -> None:
        """Erases what was drawn."""
        if self._drawn:
            _wipe()
        self._drawn = ""


class Waiting:
    """What is shown while something runs: the seconds, and a bar as soon as the progress is known.

    `progress` may be called from another thread; only `tick` draws, unless there is no `line`.
    """

    def __init__(self, line: RedrawnLine | None) -> None:
        self._line = line
        self._share: float | None = None
        self._drawn = ""

    def progress(self, share: float) -> None:
        """The progress, from 0 to 1."""
        self._share = share

    def tick(self, seconds: float) -> None:
        """Draws, given the seconds since the work began. The seconds restart from 0 with the next work."""
        if seconds < PATIENCE or self._line is None:
            self.wipe()
            return
        bar = "" if self._share is None else _bar(self._share) + " "
        text = f"{bar}{seconds:.0f} s, {self._line.stops}"
        if text != self._drawn:
            self._line.draw(text)
            self._drawn = text

    def wipe(self) -> None:
        """Erases everything that was drawn."""
        if self._drawn and self._line is not None:
            self._line.wipe()
        self._drawn = ""
        self._share = None


@contextmanager
def clock(shown: bool = True, line: RedrawnLine | None = None) -> Iterator[Waiting]:
    """What to show while something runs, on standard error unless another line is given. It is erased at the end."""
    waiting = Waiting((line or TerminalLine()) if shown else None)
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
