"""The commands `run`, which runs a study, and `verify`, which checks that saved results still reproduce."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evalhouse.warehouse.commands import CLOSED, DONE, MISUSED, WRONG
from evalhouse.warehouse.commands.answering import (
    next_of,
    open_on_engine,
    open_session,
    pairs,
    set_params,
    show,
    status_of,
    target,
    write,
)
from evalhouse.warehouse.commands.streams import LARGEST_TEXT, note, read_input, say, text_of
from evalhouse.warehouse.commands.talking import script
from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.results import Column, Result, Table

if TYPE_CHECKING:
    from evalhouse.warehouse.session.session import Session
    from evalhouse.warehouse.session.studies import Answer, Study
    from evalhouse.warehouse.session.verification import Finding


# === the command run ==================================================================================================
# Writes the results of a study to standard output, to a file, or as a report.


def run(args: argparse.Namespace) -> int:
    """Runs a study."""
    from evalhouse.warehouse.session.studies import Study, answers, draws, loads_first

    piped = args.study == "-"
    text = read_input() if piped else script(Path(args.study))
    study = Study("standard input" if piped else Path(args.study).name, text)
    output, to = (Path(named) if named else None for named in (args.output, args.report))
    if to is not None:
        from evalhouse.warehouse.render.report import check

        check(to, args.force)
        if draws(study.parts):
            from evalhouse.warehouse.render.vegalite import available

            available()
    format, document = target(args, output)
    made = _now()
    own = loads_first(study.parts) and args.db is None and args.engine != "spark"
    with _session(args, own) as session:
        session.folder = Path() if piped else Path(args.study).parent
        session.confined = not args.allow_files
        if not set_params(args, session, text):
            return MISUSED
        done: list[Answer] = []
        status = DONE
        coming = answers(session, study.parts, args.keep_going)
        while (answer := next_of(args, session, coming)) is not None:
            done.append(answer)
            if answer.error is not None:
                from evalhouse.warehouse.render.diagnostics import query_error

                say(query_error(answer.error, text, None if piped else args.study))
                status = CLOSED if answer.closed and not args.keep_going else WRONG
            elif answer.result is not None and not document and to is None:
                show(args, answer.result)
        if status != DONE and not args.keep_going:
            return status
        if output is not None or (document and to is None):
            write(args, [answer.result for answer in done if answer.result is not None], output, format)
        if to is not None:
            _report(args, study, done, session, to, own, made)
    return status or status_of(answer.result.outcome for answer in done if answer.result is not None)


@contextmanager
def _session(args: argparse.Namespace, own: bool) -> Iterator[Session]:
    """A session on the warehouse that the line names, or on an empty one that lasts as long as the study runs."""
    if not own:
        with open_on_engine(args) as session:
            yield session
        return
    from evalhouse.warehouse.session.session import Session
    from evalhouse.warehouse.store.replacement import create

    with temporary() as folder:
        path = folder / "study.duckdb"
        create(path).close()
        with Session.open(path) as session:
            yield session


def _report(
    args: argparse.Namespace,
    study: Study,
    done: Sequence[Answer],
    session: Session,
    to: Path,
    own: bool,
    made: datetime,
) -> None:
    from evalhouse.warehouse.render.report import write
    from evalhouse.warehouse.session.studies import report

    stored = session.path.name if session.path else Path(session.lake).name
    asked_of = "what it loads" if own else stored or "the sample data"
    described = report(
        study, done, session, asked_of, pairs(args.param, "--param NAME=VALUE"), f"{made:%Y-%m-%d %H:%M} UTC"
    )
    written = write(described, to, Style(digits=args.digits), args.force)
    results = sum(answer.result is not None for answer in done)
    pictures = len(written) - 1
    beside = f" and {pictures} picture{'' if pictures == 1 else 's'} beside it" if pictures else ""
    note(args, f"{to}: {results} result{'' if results == 1 else 's'}{beside}")


def _now() -> datetime:
    """The time printed in a report: SOURCE_DATE_EPOCH if it is set, else now."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if not seconds:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        say(f"error: SOURCE_DATE_EPOCH is '{seconds}', which is not a number of seconds since 1970")
        raise SystemExit(MISUSED) from None


# === the command verify ===============================================================================================


def verify(args: argparse.Namespace) -> int:
    """Prints for each result whether it still reproduces. The status is 1 unless all of them do."""
    from evalhouse.warehouse.session.verification import claims
    from evalhouse.warehouse.session.verification import verify as verified

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
        return read_input(), "standard input"
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
