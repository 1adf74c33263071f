"""What a measure is called elsewhere: `acc` and `accuracy`, `P` and `precision`, `F1` and `F(beta=1)`,
`exact_match,strict-match` and `exact_match:strict-match`, `mean_acc`. It compares names and knows no warehouse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from warehouse.measures.correctness import ACCURACY, says_right

_MEANS = re.compile(r"^(mean|avg|average)[_ -]")
_NO_FILTER = re.compile(r":none$")
_SAME = {"acc": ACCURACY, "p": "precision", "r": "recall", "map": "ap", "mrr": "rr"}
_BETA = re.compile(r"^f(?:_?([0-9.]+)|\(beta=([0-9.]+)\))$")


def with_filter(name: str) -> bool:
    """Whether a name says a filter, too: exact_match:strict-match."""
    return ":" in _plain(name)


def of_metric(name: str, names: Sequence[str]) -> list[str]:
    """Those of some names that are of the same metric as one, after whichever filter."""
    metric = _plain(name).partition(":")[0]
    return [other for other in names if _plain(other).partition(":")[0] == metric]


def spelt_otherwise(name: str, stored: Sequence[str], accuracies: Sequence[str] = ()) -> list[str]:
    """Those of the stored names that are another spelling of the one that is asked for, else the accuracy if it is one,
    else those that add a filter to it. `accuracies` are what the accuracy is called in logs with filters: it is no
    other than these.
    """
    wanted = _plain(name)
    same = [name for name in stored if _plain(name) == wanted]
    right = [name for name in stored if name.casefold() == ACCURACY and says_right(wanted.partition(":")[0])]
    if ":" in wanted and accuracies and wanted not in map(_plain, accuracies):
        right = []
    return same or right or [name for name in stored if _plain(name).partition(":")[0] == wanted]


def _plain(name: str) -> str:
    """A name without what is only its spelling."""
    plain = _NO_FILTER.sub("", re.sub(r"\s*,\s*", ":", name.casefold()))
    plain, colon, filtered = _MEANS.sub("", plain).replace("-", "_").replace(" ", "_").partition(":")
    weighed = _BETA.match(plain)
    plain = f"f{weighed[1] or weighed[2]}" if weighed else _SAME.get(plain, plain)
    return plain + colon + filtered
