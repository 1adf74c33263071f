"""On standard error: a progress bar, or a clock where the share done is not known, after a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0
WIDTH = 30


@contextmanager
def bar(what: str) -> Iterator[Callable[[float], None]]:
    """Gives a function that is told the share done, from 0 to 1; the bar is wiped away at the end."""
    began = time.monotonic()
    drawn = False

    def told(share: float) -> None:
        nonlocal drawn
        if time.monotonic() - began < PATIENCE:
            return
        drawn = True
        full = round(WIDTH * min(max(share, 0.0), 1.0))
        sys.stderr.write(f"\r{what} {'█' * full}{'░' * (WIDTH - full)} {100 * share:3.0f}%")
        sys.stderr.flush()

    try:
        yield told
    finally:
        if drawn:
            _wipe()


@contextmanager
def clock() -> Iterator[Callable[[float], None]]:
    """Gives a function that is told for how many seconds something has been going on; wiped away at the end."""
    drawn = False

    def told(seconds: float) -> None:
        nonlocal drawn
        if seconds < PATIENCE:
            if drawn:
                _wipe()
            drawn = False
            return
        drawn = True
        sys.stderr.write(f"\r{seconds:.0f} s, Ctrl-C stops it")
        sys.stderr.flush()

    try:
        yield told
    finally:
        if drawn:
            _wipe()


def _wipe() -> None:
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
