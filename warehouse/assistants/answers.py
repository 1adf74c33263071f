"""The answers of a conversation: statements in, texts for an assistant out, each bounded in rows and in time.

It knows no protocol. Errors become texts here, with caret and hints, for an assistant mends what it can read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.parser import parse
from grammar.value import value
from warehouse.assistants.tally import TallyOfTests
from warehouse.faults import DataError, WarehouseError
from warehouse.interrupting import interruptibly
from warehouse.memory import allowed
from warehouse.render.diagnostics import diagnosis
from warehouse.results import Cell, Result, Table, as_json
from warehouse.session import Session
from warehouse.statements.only_questions import OnlyQuestions
from warehouse.store.sql import Sql

StillWanted = Callable[[float], None]
"""Hears now and then what share of a question is done; what it raises stops the question."""

Reading = Callable[[str], tuple[n.AnyStatement, ...]]
"""Finds the statements in a text. Raises QueryError."""

MOST_CHARACTERS = 40_000
"""So many characters the long texts of an answer have at most, all together: an assistant has to read them."""

SHORT = 200
"""A text of so many characters is shown as it is."""


@value
class CallLimits:
    """How many rows an answer has at most, how many seconds a call may take, and whether `sql` is allowed."""

    rows: int = 100
    seconds: float = 60.0
    sql: bool = False


@value
class Reply:
    """What a call is answered with: a text a statement, the last one an error where something was wrong."""

    texts: tuple[str, ...]
    wrong: bool = False


class TooLongError(Exception):
    """A call took more time than it may."""


class Answers:
    """One conversation with a warehouse. It is asked by one at a time."""

    def __init__(self, session: Session, limits: CallLimits) -> None:
        self.session = session
        self.limits = limits
        self.tally = TallyOfTests()
        session.follows = True
        session.only = OnlyQuestions(limits.sql, "evalhouse mcp --allow-sql")

    def of(self, text: str, waiting: StillWanted, read: Reading = parse) -> Reply:
        """The answers to the statements that `read` finds in a text. What runs when `waiting` raises, or when the time
        is up, is stopped.
        """
        texts: list[str] = []
        # Nothing but the tally is remembered from one call to the next.
        self.session.variables.clear()
        try:
            for result in self._in_time(self._results(text, read), waiting):
                self.tally.add(result)
                texts.append(self._as_text(result))
        except TooLongError:
            texts.append(
                f"error: this took more than {self.limits.seconds:g} s, and was stopped\n"
                "  ask about fewer systems or measures, or say shuffles 999; evalhouse mcp --timeout allows more"
            )
            return Reply(tuple(texts), wrong=True)
        except (QueryError, DataError, WarehouseError) as error:
            return Reply((*texts, diagnosis(error, text)), wrong=True)
        except MemoryError:
            return Reply((*texts, f"error: this needs more than {allowed() / 10**9:g} GB of memory"), wrong=True)
        except Exception as error:
            return Reply((*texts, diagnosis(error)), wrong=True)
        if not texts:
            return Reply(("error: there is nothing to answer",), wrong=True)
        return Reply(tuple(texts))

    def _results(self, text: str, read: Reading) -> Iterator[Result]:
        for statement in read(text):
            result = self.session.answer(statement)
            if result is not None:
                yield result

    def _in_time(self, results: Iterator[Result], waiting: StillWanted) -> Iterator[Result]:
        """The results of statements, one at a time."""
        done, end = 0.0, time.monotonic() + self.limits.seconds

        def progress(share: float) -> None:
            nonlocal done
            done = share

        def wait(seconds: float) -> None:
            if time.monotonic() > end:
                raise TooLongError
            waiting(done)

        try:
            with self.session.watched(progress):
                while True:
                    result = interruptibly(lambda: next(results, None), self.session.interrupt, wait)
                    if result is None:
                        return
                    yield result
        finally:
            # What is interrupted may leave a transaction open, in which every later query would fail.
            with suppress(WarehouseError):
                self.session.database.run(Sql("rollback"))

    def _as_text(self, result: Result) -> str:
        """An answer as JSON, with as many rows as may be, and with the tally where it tests something."""
        most = self.limits.rows
        table, summary = _cut(result.table, most), _cut(result.summary_table, most)
        notes = [
            *result.notes,
            *_left_out(result.table, "", most),
            *_left_out(result.summary_table, " of the summary", most),
        ]
        longest = _longest(table)
        if longest is not None:
            table = _shortened(table, longest)
            notes.append(f"texts are cut behind {longest:,} characters: ask about fewer documents to read more of each")
        shown = replace(result, table=table, summary_table=summary)
        if not result.p_values:
            return as_json(shown.as_dict() | {"notes": notes})
        notes.append(self.tally.sentence())
        return as_json(shown.as_dict() | {"notes": notes, "conversation": self.tally.as_dict()})


def _cut(table: Table, most: int) -> Table:
    return replace(table, rows=table.rows[:most])


def _left_out(table: Table, of: str, most: int) -> Iterator[str]:
    """How many rows are not shown."""
    left = len(table.rows) - most
    if left > 0:
        yield (
            f"{left:,} more {'row' if left == 1 else 'rows'}{of} left out: ask about fewer systems, measures or "
            f"documents (evalhouse mcp --limit {len(table.rows)} would show all)"
        )


def _longest(table: Table) -> int | None:
    """How many characters of a text are shown, so that all together are not too many; None where all can be."""
    lengths = sorted(len(cell) for row in table.rows for cell in row if isinstance(cell, str) and len(cell) > SHORT)
    room = MOST_CHARACTERS
    for place, length in enumerate(lengths):
        if length * (len(lengths) - place) > room:
            return max(SHORT, room // (len(lengths) - place))
        room -= length
    return None


def _shortened(table: Table, longest: int) -> Table:
    def short(cell: Cell) -> Cell:
        return f"{cell[:longest]}…" if isinstance(cell, str) and len(cell) > longest else cell

    return replace(table, rows=tuple(tuple(map(short, row)) for row in table.rows))
