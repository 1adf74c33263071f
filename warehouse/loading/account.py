"""Accounts for every file of a load: loaded, read together with others, left out as bad, or passed over.

The four numbers add up to all files that there were. Hidden files are not among them. Nothing is loaded here.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.loading.finding import PassedOver
from evalhouse.warehouse.loading.ingest import CarriedOut
from evalhouse.warehouse.loading.planning import LoadPlan, listing, some
from evalhouse.warehouse.loading.runs_brought import models_of

LOADED, READ_WITH, LEFT_OUT, PASSED_OVER = "loaded", "read with other files", "left out", "passed over"
"""What can become of a file."""


class Outcome(Struct, frozen=True):
    """What became of one file that is not loaded by itself, and why."""

    file: str
    became: str
    why: str


class Account(Struct, frozen=True):
    """How many files were loaded, what became of the others, and the systems and test sets that there are now."""

    loaded: int
    others: tuple[Outcome, ...]
    passed_over: tuple[PassedOver, ...]
    systems: int
    test_sets: tuple[str, ...]

    @property
    def files(self) -> int:
        """How many files there were."""
        counted = (READ_WITH, LEFT_OUT, PASSED_OVER)
        return self.loaded + sum(other.became in counted for other in self.others)

    @property
    def became(self) -> str:
        """How many files became how many systems: 2 of 3 files: 2 systems on news."""
        used = self.loaded + sum(other.became == READ_WITH for other in self.others)
        of = f"{used:,} of " if used < self.files else ""
        return f"{of}{quantity(self.files, 'file')}: {quantity(self.systems, 'system')} on {some(self.test_sets)}"

    @property
    def rest(self) -> str:
        """What became of the other files; empty if all were loaded."""
        names = {became: [one.file for one in self.others if one.became == became] for became in (READ_WITH, LEFT_OUT)}
        parts = [f"{len(files):,} {became}: {some(files)}" for became, files in names.items() if files]
        if self.passed_over:
            parts.append(f"{len(self.passed_over):,} {PASSED_OVER}: {listing(self.passed_over)}")
        return "; ".join(parts)


def account_of(plan: LoadPlan, done: CarriedOut) -> Account:
    """The account of a load that was carried out."""
    loaded = [one for _, one in done.loaded]
    return Account(
        loaded=sum(file.files for file, _ in done.loaded),
        others=tuple(_others(plan, done)),
        passed_over=plan.passed_over,
        systems=len(models_of({system for one in loaded for system in one.systems}, done.runs)),
        test_sets=tuple(sorted({test_set for one in loaded for test_set in one.test_sets})),
    )


def _others(plan: LoadPlan, done: CarriedOut) -> Iterator[Outcome]:
    for file, _ in done.loaded:
        yield from (Outcome(member, LOADED, f"as a part of {file.found.called}") for member in file.made_of)
    for file in plan.parts:
        yield Outcome(file.found.called, READ_WITH, file.why)
    for error in done.bad:
        yield Outcome(error.faults[0].source, LEFT_OUT, str(error))
    for over in plan.passed_over:
        yield Outcome(over.called, PASSED_OVER, over.said or over.why)
