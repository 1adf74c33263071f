"""The answers of a conversation: statements come in, and texts for an assistant go out, each limited in rows,
characters and time.

It does not know the protocol. Errors become texts here, with caret and hints, because an assistant can correct what it
can read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from msgspec import Struct

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.parser import parse
from warehouse.assistants.bounding import bounded
from warehouse.assistants.tally import TallyOfTests
from warehouse.faults import DataError, WarehouseError
from warehouse.interrupting import interruptibly
from warehouse.memory import allowed
from warehouse.render.diagnostics import diagnosis
from warehouse.results import Result
from warehouse.session import Session
from warehouse.statements.only_questions import OnlyQuestions
from warehouse.store.sql import Sql

StillWanted = Callable[[float], None]
"""Is called regularly with the progress of a question. If it raises, the question stops."""

ReadStatements = Callable[[str], tuple[n.AnyStatement, ...]]
"""Parses the statements in a text. Raises QueryError."""


class CallLimits(Struct, frozen=True):
    """The maximum number of rows of an answer, the time limit of a call in seconds, whether `sql` is allowed, and the
    maximum number of characters of an answer.
    """

    rows: int = 100
    seconds: float = 60.0
    sql: bool = False
    characters: int = 60_000


class Reply(Struct, frozen=True):
    """The reply to a call: one text per statement. If something went wrong, the last text is the error."""

    texts: tuple[str, ...]
    wrong: bool = False


class TooLongError(Exception):
    """A call took more time than allowed."""


class Answers:
    """One conversation with a warehouse. Only one thread at a time may use it."""

    def __init__(self, session: Session, limits: CallLimits) -> None:
        self.session = session
        self.limits = limits
        self.tally = TallyOfTests()
        session.follows = True
        session.only = OnlyQuestions(limits.sql, "evalhouse mcp --allow-sql")

    def of(self, text: str, waiting: StillWanted, read: ReadStatements = parse) -> Reply:
        """The answers to the statements that `read` finds in a text. The running statement is stopped when `waiting`
        raises or when the time is up.
        """
        texts: list[str] = []
        # Only the tally is remembered from one call to the next.
        self.session.variables.clear()
        try:
            for result in self._in_time(self._results(text, read), waiting):
                if sum(map(len, texts)) > self.limits.characters:
                    raise QueryError(
                        f"the answers of a call have at most {self.limits.characters:,} characters together",
                        hints=("ask the others in a separate call",),
                    )
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

    def _results(self, text: str, read: ReadStatements) -> Iterator[Result]:
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
            # An interrupted query may leave a transaction open, in which every later query would fail.
            with suppress(WarehouseError):
                self.session.database.run(Sql("rollback"))

    def _as_text(self, result: Result) -> str:
        """An answer as JSON within its limits, with the tally if it tests something."""
        rows, characters = self.limits.rows, self.limits.characters
        if not result.p_values:
            return bounded(result, rows, characters)
        return bounded(result, rows, characters, self.tally.sentence(), {"conversation": self.tally.as_dict()})
