"""Which formats can be loaded: one table, in the order in which help lists them.

Importing this module reads no file and imports neither duckdb nor numpy, so that the command line can list the readers
at once.
"""

from __future__ import annotations

from functools import cache

from warehouse.loading.readers import (
    brat,
    classes,
    conll,
    helm,
    inspect_log,
    lm_eval,
    muc_report,
    named_columns,
    segments,
    trec,
    trec_eval,
)
from warehouse.loading.staging.reader import Evidence, Option, Reader, Start

__all__ = ["PLUGINS", "READERS", "Evidence", "Option", "Reader", "Start", "plugins"]

PLUGINS = "evalhouse.readers"
"""The entry points under which other packages offer readers."""

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        *named_columns.TABLES,
        muc_report.READER,
        trec.READER,
        trec_eval.READER,
        conll.READER,
        lm_eval.READER,
        helm.READER,
        inspect_log.READER,
        segments.READER,
        classes.READER,
        brat.READER,
    )
}


@cache
def plugins() -> dict[str, Reader]:
    """The readers that installed packages offer. A name that is in READERS already is not theirs to take."""
    from importlib.metadata import entry_points

    return {entry.name: entry.load() for entry in entry_points(group=PLUGINS) if entry.name not in READERS}
