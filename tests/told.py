"""What loads say, without the question that they offer at the end, which `test_looking_at_files.py` tests."""

from __future__ import annotations

import re

_OFFERED = re.compile(r"; ask now: .*|note: ask now: .*\n")


def without_question(said: str) -> str:
    """What was said of the files alone."""
    return _OFFERED.sub("", said)
