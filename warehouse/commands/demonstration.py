"""The command `demo`: shows the main use on the sample data, from start to finish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.commands import DONE
from warehouse.commands.answering import answer
from warehouse.commands.load_reports import say_stored

if TYPE_CHECKING:
    import argparse

QUESTIONS = (
    ("What each system scored on the official test set of MUC-4", "score F, recall, precision for all on TST3"),
    (
        "Is the difference between the first and the third more than chance",
        "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999",
    ),
    (
        "Which systems cannot be told apart: those that share a letter",
        "group F(beta=1) for all on TST3 shuffles 9999 level 0.10 confidence 0.99",
    ),
    (
        "How well the systems told relevant messages from others",
        "score F, recall, precision, fallout of filtering for all, allrel on TST3",
    ),
    (
        "What became of precision and fallout on another test set, as printed in 1992",
        "change precision, fallout of published for all except allrel from TST3 to TST4 trim 1",
    ),
)
"""Each question of the demonstration as (purpose, statement)."""


def demo(args: argparse.Namespace) -> int:
    """Loads the sample data and runs each question below its purpose."""
    args.format = args.format or "table"
    from warehouse.loading.sample import fill
    from warehouse.session import Session
    from warehouse.store.connecting import in_memory

    with in_memory() as database:
        for loaded in fill(database):
            say_stored(args, loaded)
        session = Session(database)
        for why, text in QUESTIONS:
            print(f"\n-- {why}\nevalhouse> {text}\n", flush=True)
            status = answer(args, session, text)
            if status != DONE:
                return status
    return DONE
