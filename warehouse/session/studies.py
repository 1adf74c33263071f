"""Runs the parts of a study on a session, in order, and gives each statement its result or its error. Also describes a
report of the study.

It draws nothing, writes nothing and opens no warehouse.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.study import Part, Prose, Written, parts
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.render.diagnostics import query_error
from evalhouse.warehouse.render.report import Passage, Report, ReportedStatement, Section, Source
from evalhouse.warehouse.render.site.contents import pieces_of
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.version import __version__


class Answer(Struct, frozen=True):
    """The outcome of one part of a study. Prose has neither a result nor an error, and neither does a statement that
    only sets a variable.

    The place of an error counts from the start of the study. `closed` means that the warehouse failed, not the
    statement.
    """

    part: Part
    result: Result | None = None
    error: QueryError | None = None
    closed: bool = False


def answers(session: Session, parts: Sequence[Part], keep_going: bool = False) -> Iterator[Answer]:
    """Runs a study. The first error ends it, and errors that parsing can find are reported before anything runs. With
    `keep_going`, the statements after an error run too.
    """
    if not keep_going:
        wrong = next((answer for answer in map(_parse_part, parts) if answer.error), None)
        if wrong is not None:
            yield wrong
            return
    for part in parts:
        answer = _answer_part(session, part)
        yield answer
        if answer.error and not keep_going:
            return


def loads_first(parts: Sequence[Part]) -> bool:
    """Whether the first statement of a study, except `let`, is `load`, so that the study brings its own data."""
    first = next((part for part in parts if isinstance(part, Written) and not _begins(part, "let")), None)
    return first is not None and _begins(first, "load")


def draws(parts: Sequence[Part]) -> bool:
    """Whether a study asks for pictures."""
    return any(isinstance(part, Written) and _begins(part, "plot") for part in parts)


def _begins(part: Written, keyword: str) -> bool:
    return re.match(rf"(?ai:{keyword})\b", part.text) is not None


def _parse_part(part: Part) -> Answer:
    if isinstance(part, Written):
        try:
            parse(part.text)
        except QueryError as error:
            return Answer(part, error=part.placed(error))
    return Answer(part)


def _answer_part(session: Session, part: Part) -> Answer:
    if isinstance(part, Prose):
        return Answer(part)
    try:
        (statement,) = parse(part.text)
        return Answer(part, session.answer(statement))
    except QueryError as error:
        return Answer(part, error=part.placed(error))
    except DataError as error:
        first, *others = map(str, error.faults)
        left = error.total - len(error.faults)
        hints = (*others, *([f"and {left:,} more"] if left > 0 else []), *error.hints)
        return Answer(part, error=QueryError(first, part.span, hints))
    except WarehouseError as error:
        return Answer(part, error=QueryError(error.message, part.span, error.hints), closed=True)


# --- as a report ------------------------------------------------------------------------------------------------------


class Study(Struct, frozen=True):
    """A study that is run: the name of its file, and its text."""

    name: str
    text: str

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its prose and its statements."""
        return parts(self.text)


def report(
    study: Study, answers: Sequence[Answer], session: Session, warehouse: str, given: Mapping[str, str], made: str
) -> Report:
    """The description of a report of a study that was run; `warehouse` describes the data that were used."""
    title, answers = _split_title(study, answers)
    sections: list[Section] = []
    number = 0
    for answer in answers:
        if isinstance(answer.part, Prose):
            sections.append(Passage(answer.part.text))
            continue
        shown = answer.result is not None or answer.error is not None
        number += shown
        error = query_error(answer.error, study.text, study.name) if answer.error else None
        sections.append(ReportedStatement(pieces_of(answer.part.text), number if shown else None, answer.result, error))
    return Report(
        title=title,
        study=study.name,
        sha256=hashlib.sha256(study.text.encode()).hexdigest(),
        given=tuple(sorted(given.items())),
        sections=tuple(sections),
        warehouse=warehouse,
        sources=_sources(session),
        version=__version__,
        made=made,
    )


_TITLE = re.compile(r"\s*#[ \t]+(?P<title>[^\n]*?)[ \t#]*(\n|$)")


def _split_title(study: Study, answers: Sequence[Answer]) -> tuple[str, Sequence[Answer]]:
    """The heading at the start of the study, and the rest. A study without a heading gets the name of its file."""
    if answers and isinstance(answers[0].part, Prose):
        first = answers[0].part
        heading = _TITLE.match(first.text)
        if heading and heading["title"]:
            rest = first.text[heading.end() :].strip("\n")
            kept = [Answer(Prose(rest, first.span))] if rest else []
            return heading["title"], [*kept, *answers[1:]]
    return study.name, answers


def _sources(session: Session) -> tuple[Source, ...]:
    (show,) = parse("show imports")
    imports = session.answer(show)
    return tuple(_source(row) for row in imports.rows) if imports else ()


def _source(row: Mapping[str, Cell]) -> Source:
    name = str(row["source"])
    ways = json.loads(str(row["options"]))
    settings = [f"{field} from {column}" for field, column in ways.get("columns", {}).items()]
    settings += [
        f"{field} is {value}" for given in ("fields", "options") for field, value in ways.get(given, {}).items()
    ]
    return Source(
        number=int(row["import"] or 0),
        # The path of a file on the disk of the person who loaded it means nothing to others.
        name=PurePath(name).name if PurePath(name).is_absolute() else name,
        reader=str(row["reader"]),
        rows=int(row["rows"] or 0),
        simulated=row["simulated"] == "yes",
        sha256=str(row["sha256"]),
        version=str(row["version"]),
        settings=", ".join(settings),
    )
