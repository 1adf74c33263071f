"""The table of formats that can be loaded, in the order in which help lists them.

Importing this module reads no file and imports neither duckdb nor numpy, so that the command line can list the readers
at once.
"""

from __future__ import annotations

from functools import cache

from evalhouse.warehouse.loading.readers import (
    alpaca_eval,
    answers,
    brat,
    classes,
    comet,
    conll,
    counts,
    deepeval,
    every_eval_ever,
    helm,
    human_eval,
    inspect_log,
    lighteval,
    llm_judge,
    lm_eval,
    mqm,
    mteb,
    muc_report,
    numbers,
    openai_evals,
    opencompass,
    pairs,
    promptfoo,
    segments,
    spans,
    swe_bench,
    table,
    tau_bench,
    translations,
    trec,
    trec_eval,
)
from evalhouse.warehouse.loading.staging.reader import Evidence, Nearly, Option, Reader, Recognition, Role, Start

__all__ = [
    "PLUGINS",
    "READERS",
    "Evidence",
    "Nearly",
    "Option",
    "Reader",
    "Recognition",
    "Role",
    "Start",
    "plugins",
    "reader_name",
]

PLUGINS = "evalhouse.readers"
"""The entry points under which other packages offer readers."""

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        *counts.TABLES,
        counts.READER,
        table.READER,
        muc_report.READER,
        trec.READER,
        trec_eval.READER,
        conll.READER,
        spans.READER,
        lm_eval.READER,
        helm.READER,
        inspect_log.READER,
        every_eval_ever.READER,
        alpaca_eval.READER,
        mteb.READER,
        mqm.READER,
        swe_bench.READER,
        promptfoo.READER,
        deepeval.READER,
        human_eval.READER,
        tau_bench.READER,
        openai_evals.READER,
        lighteval.READER,
        opencompass.READER,
        llm_judge.READER,
        segments.READER,
        comet.READER,
        translations.READER,
        numbers.READER,
        classes.READER,
        pairs.READER,
        answers.READER,
        brat.READER,
    )
}


def reader_name(called: str) -> str:
    """The name of the reader that is, or was, called so."""
    return next((reader.name for reader in READERS.values() if called in reader.formerly), called)


@cache
def plugins() -> dict[str, Reader]:
    """The readers that installed packages offer. They cannot replace a reader in READERS."""
    from importlib.metadata import entry_points

    return {entry.name: entry.load() for entry in entry_points(group=PLUGINS) if entry.name not in READERS}
