"""The answers of a conversation: statements come in, texts for an assistant go out, each of them limited.

Answers are limited in rows, characters and time. This module must not know the protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.process.memory import memory_allowed
from evalhouse.warehouse.process.stopping import interruptibly
from evalhouse.warehouse.render.diagnostics import diagnosis
from evalhouse.warehouse.results import Cell, Result, Table, as_json
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements.questions import OnlyQuestions
from evalhouse.warehouse.store.sql import Sql

# === the tally of tests ===============================================================================================
# The number of tests in a conversation, and how small a p-value has to be after that many tests. If one asks often
# enough, pure chance produces a small p-value; the tally shows this in numbers.

LEVEL = 0.05
"""The significance level for the tally, which is also the default level of statements."""


class TallyOfTests:
    """The tests so far. The same question about the same data counts once, because its answer is the same."""

    def __init__(self) -> None:
        self.questions = 0
        self._p_values: dict[str, tuple[float, ...]] = {}

    def add(self, result: Result) -> None:
        """Counts an answer. Statements that only list something are not counted."""
        self.questions += result.signed
        if result.p_values:
            self._p_values[result.signature] = result.p_values

    def as_dict(self) -> dict[str, Any]:
        """The numbers. `bonferroni` gives the level divided by the number of p-values, and how many p-values are at
        most that.
        """
        known = [p for p_values in self._p_values.values() for p in p_values]
        corrected = LEVEL / max(1, len(known))
        return {
            "questions": self.questions,
            "tested": len(self._p_values),
            "p_values": len(known),
            "level": LEVEL,
            "at_most_level": sum(p <= LEVEL for p in known),
            "bonferroni": {"level": corrected, "at_most_level": sum(p <= corrected for p in known)},
        }

    def sentence(self) -> str:
        """The tally in words."""
        numbers = self.as_dict()
        tested, count, small = numbers["tested"], numbers["p_values"], numbers["at_most_level"]
        bonferroni = numbers["bonferroni"]
        if count == 1:
            return "this is the first p-value of this conversation; each further one makes a small p by chance likelier"
        questions = "1 question" if tested == 1 else f"{tested:,} different questions"
        return (
            f"so far {questions} of this conversation tested something and gave {count:,} p-values: {small:,} at most "
            f"{LEVEL}, of which about {LEVEL * count:.3g} would be expected by chance if nothing differed. "
            f"Bonferroni over all {count:,} asks for p of at most {bonferroni['level']:.2g}, which "
            f"{_are(bonferroni['at_most_level'])}. Report how many were tested, not only the small ones"
        )


def _are(count: int) -> str:
    return "none is" if count == 0 else "1 is" if count == 1 else f"{count:,} are"


# === limits of an answer ==============================================================================================
# An assistant has to read all of an answer in JSON, so its rows and its characters are limited. Long texts are cut
# before rows are left out, and notes report both. What a row means is not known here.

SHORT = 200
"""A text of up to this many characters is shown in full."""

FOR_NOTES = 1_000
"""The number of characters that are reserved for notes about the limits."""


def limit_answer(
    result: Result, rows: int, characters: int, note: str = "", more: Mapping[str, Any] | None = None
) -> str:
    """An answer with limited rows in each of its tables and limited characters in total. At its end are a note and the
    entries of `more`. Raises QueryError if it is too large even without rows.
    """
    tables = tuple(replace(table, rows=table.rows[:rows]) for table in (result.table, result.summary_table))
    empty = replace(result, table=replace(result.table, rows=()), summary_table=replace(result.summary_table, rows=()))
    around = empty.as_dict() | {"notes": [*result.folded_notes, note]} | dict(more or {})
    room = characters - len(as_json(around)) - FOR_NOTES
    if room < 0:
        raise QueryError(f"this answer has more than {characters:,} characters without its rows")
    tables, longest = _with_short_texts(tables, room, characters * 2 // 3)
    tables = _fitting(tables, room)
    notes = list(result.folded_notes)
    for shown, whole, of in zip(tables, (result.table, result.summary_table), ("", " of the summary"), strict=True):
        notes += _left_out(shown, whole, of, rows, characters)
    if longest is not None:
        notes.append(f"texts are cut after {longest:,} characters: ask about fewer documents to read more of each")
    notes += [note] if note else []
    shown_of_it = replace(result, table=tables[0], summary_table=tables[1])
    return as_json(shown_of_it.as_dict() | {"notes": notes} | dict(more or {}))


def _left_out(shown: Table, whole: Table, of: str, rows: int, characters: int) -> Iterator[str]:
    """The number of rows that are not shown, and the reason."""
    left = len(whole.rows) - len(shown.rows)
    if not left:
        return
    too_long = len(shown.rows) < min(rows, len(whole.rows))
    why = f", as an answer has at most {characters:,} characters" if too_long else ""
    option = "--characters allows more" if too_long else f"--limit {len(whole.rows)} would show all"
    yield (
        f"{left:,} more {'row' if left == 1 else 'rows'}{of} left out{why}: ask about fewer systems, measures or "
        f"documents (evalhouse mcp {option})"
    )


# --- texts ------------------------------------------------------------------------------------------------------------


def _with_short_texts(tables: Sequence[Table], room: int, for_texts: int) -> tuple[tuple[Table, ...], int | None]:
    """Tables with their long texts cut so that all characters together stay within a limit, as far as cutting texts can
    achieve that; and the length at which texts are cut, None if none is.
    """
    while True:
        longest = _longest(tables, for_texts)
        cut = tuple(tables) if longest is None else tuple(_shorten_table(table, longest) for table in tables)
        if for_texts < SHORT or sum(map(sum, map(_sizes, cut))) <= room:
            return cut, longest
        for_texts //= 2


def _longest(tables: Sequence[Table], room: int) -> int | None:
    """The number of characters of a text that are shown so that the total stays within the limit; None if all can be
    shown.
    """
    cells = (cell for table in tables for row in table.rows for cell in row)
    lengths = sorted(len(cell) for cell in cells if isinstance(cell, str) and len(cell) > SHORT)
    for place, length in enumerate(lengths):
        if length * (len(lengths) - place) > room:
            return max(SHORT, room // (len(lengths) - place))
        room -= length
    return None


def _shorten_table(table: Table, longest: int) -> Table:
    def short(cell: Cell) -> Cell:
        return f"{cell[:longest]}…" if isinstance(cell, str) and len(cell) > longest else cell

    return replace(table, rows=tuple(tuple(map(short, row)) for row in table.rows))


# --- rows -------------------------------------------------------------------------------------------------------------


def _sizes(table: Table) -> list[int]:
    """The number of characters of each row, including the separators between rows."""
    return [len(as_json(record)) + 2 for record in table.records()]


def _fitting(tables: Sequence[Table], room: int) -> tuple[Table, ...]:
    """The first rows of a table and of its summary that fit within a number of characters. The summary gets half of
    them, or what the table does not use.
    """
    table, summary = tables
    short_summary = _first(summary, max(room // 2, room - sum(_sizes(table))))
    return _first(table, room - sum(_sizes(short_summary))), short_summary


def _first(table: Table, room: int) -> Table:
    """The first rows, as many as fit."""
    for place, size in enumerate(_sizes(table)):
        room -= size
        if room < 0:
            return replace(table, rows=table.rows[:place])
    return table


# === answers ==========================================================================================================
# Errors become texts here, with caret and hints, because an assistant can correct what it can read.

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
            return Reply((*texts, f"error: this needs more than {memory_allowed() / 10**9:g} GB of memory"), wrong=True)
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
            return limit_answer(result, rows, characters)
        return limit_answer(result, rows, characters, self.tally.sentence(), {"conversation": self.tally.as_dict()})
