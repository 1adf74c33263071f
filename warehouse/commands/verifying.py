"""The command `verify`: checks whether saved results still reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE, WRONG
from warehouse.commands.answering import next_of, show
from warehouse.commands.opened import open_session
from warehouse.commands.streams import LARGEST_TEXT, text_of, typed
from warehouse.faults import DataError, Fault
from warehouse.results import Column, Result, Table

if TYPE_CHECKING:
    import argparse

    from warehouse.verification import Finding


def verify(args: argparse.Namespace) -> int:
    """Prints for each result whether it still reproduces. The status is 1 unless all of them do."""
    from warehouse.verification import claims
    from warehouse.verification import verify as verified

    claimed = [claim for named in args.results for claim in claims(*_read(named))]
    with open_session(args) as session:
        coming = (verified(claim, session) for claim in claimed)
        findings: list[Finding] = []
        while (finding := next_of(args, session, coming)) is not None:
            findings.append(finding)
    show(args, _result(findings))
    return DONE if all(finding.verdict == "same" for finding in findings) else WRONG


def _read(named: str) -> tuple[str, str]:
    """The text that an argument gives or names, and its name in messages. Raises DataError."""
    if named == "-":
        return typed(), "standard input"
    path = Path(named)
    try:
        if not path.is_file() and " | " in named:
            return named, "signature"
        with path.open("rb") as file:
            return text_of(file.read(LARGEST_TEXT + 1), named), named
    except OSError as error:
        if " | " in named:  # a signature may be longer than a file name can be
            return named, "signature"
        reason = (error.strerror or "for an unknown reason").lower()
        raise DataError((Fault(named, None, f"cannot be read: {reason}"),)) from None


def _result(findings: list[Finding]) -> Result:
    columns = (Column("result", "text"), Column("statement", "text"), Column("numbers", "text"))
    rows = tuple((finding.claim.source, finding.claim.statement, finding.verdict) for finding in findings)
    notes = tuple(
        f"{finding.claim.source}: {reason}" if len(findings) > 1 else reason
        for finding in findings
        for reason in finding.reasons
    )
    return Result("verify", "", "verify", Table(columns, rows), notes=notes)
