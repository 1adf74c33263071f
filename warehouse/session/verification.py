"""Checks that saved results still reproduce: a claim is read from a signature, from a statement and the digits that
name its numbers, or from the JSON of a whole result; its statement is run again, and the two are compared.

It never changes a warehouse, and runs questions only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.results import NAMING, SEAL, Cell
from evalhouse.warehouse.session.session import Session

BAR = " | "
"""The separator between the parts of a signature."""

Repetition = Literal["same", "different", "unknown", "not repeatable"]


class Claim(Struct, frozen=True):
    """What a saved result claims: the statement, the other parts of its signature, and its rows and summary if they
    were saved. `source` says where the claim was found.
    """

    source: str
    statement: str
    parts: tuple[str, ...]
    tables: tuple[tuple[Mapping[str, Cell], ...], ...] = ()


class Finding(Struct, frozen=True):
    """The verdict on the numbers of a claim, and the reasons, one sentence each."""

    claim: Claim
    verdict: Repetition
    reasons: tuple[str, ...] = ()


# --- what is claimed --------------------------------------------------------------------------------------------------


def claims(text: str, source: str) -> list[Claim]:
    """The claims in a text: one signature, or results as JSON, in sequence or in a list. Raises DataError."""
    text = text.strip()
    if not text:
        raise _wrong(source, "there is nothing in it")
    if not text.startswith(("{", "[")):
        return [_read_signature(text, source)]
    # A whole number with more digits than Python converts cannot be part of a result.
    decoder = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 4_000 else math.inf)
    claimed: list[Claim] = []
    place = 0
    while place < len(text):
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else place
            raise _wrong(source, "is not JSON from here on", text.count("\n", 0, at) + 1) from None
        for result in value if isinstance(value, list) else [value]:
            claimed.append(_claim(result, f"{source}, result {len(claimed) + 1}"))
        place = end + len(text[end:]) - len(text[end:].lstrip())
    return claimed


def _claim(value: Any, source: str) -> Claim:
    """A whole result, as `--format json` writes it."""
    if not isinstance(value, dict) or not isinstance(value.get("statement"), str):
        raise _wrong(source, "is not a result, which has a statement, signature, rows and summary")
    tables = [value.get("rows"), value.get("summary", [])]
    for rows in tables:
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise _wrong(source, "has no rows that can be compared")
    compared = tuple(tuple(rows) for rows in tables)
    signature = value.get("signature")
    if isinstance(signature, str) and BAR in signature:
        return replace(_read_signature(signature, source), tables=compared)
    return Claim(source, value["statement"], (), compared)


def _read_signature(text: str, source: str) -> Claim:
    """Reads a signature. Names may contain bars, but only inside quotes, so the statement ends at the first bar outside
    quotes.
    """
    for bar in re.finditer(r'"[^"]*"|(?P<bar> \| )', text):
        if bar["bar"]:
            statement, rest = text[: bar.start()], text[bar.end() :]
            with suppress(QueryError):
                parse(statement)
                return Claim(source, statement, tuple(rest.split(BAR)))
            break
    raise _wrong(source, "is neither a signature nor a file of results as JSON")


def _wrong(source: str, message: str, line: int | None = None) -> DataError:
    return DataError((Fault(source, line, message),))


# --- what comes out now -----------------------------------------------------------------------------------------------


def verify(claim: Claim, session: Session) -> Finding:
    """Runs the statement of a claim again. Raises WarehouseError if the warehouse fails."""
    try:
        question = _question(claim.statement)
        with _define_measures(claim.parts, session.catalog.definitions):
            result = session.answer(question)
    except QueryError as error:
        return Finding(claim, "not repeatable", ("; ".join((error.message, *error.hints)),))
    if result is None:
        raise ValueError(f"a question without an answer: {claim.statement}")
    now = tuple(result.signature.removeprefix(result.statement).split(BAR)[1:])
    # The line below a table names the numbers alone.
    changed = () if all(part.startswith(SEAL) for part in claim.parts) else tuple(_changes_of(claim.parts, now))
    if claim.tables:
        verdict, reasons = _compare_tables(claim.tables, (result.rows, result.summary))
        return Finding(claim, verdict, (*reasons, *changed))
    sealed = [part for part in claim.parts if part.startswith(SEAL)]
    if not sealed:
        return Finding(claim, "unknown", ("the signature does not record which numbers came out", *changed))
    if len(sealed[-1]) < len(SEAL) + NAMING:
        few = f"{NAMING} digits or more name numbers, and not {sealed[-1].removeprefix(SEAL)!r}"
        return Finding(claim, "unknown", (few, *changed))
    return Finding(claim, "same" if any(part.startswith(sealed[-1]) for part in now) else "different", changed)


def _question(text: str) -> n.AnyStatement:
    """The statement of a claim. Raises QueryError unless it is a question: nothing else is run."""
    statements = parse(text)
    if len(statements) != 1:
        raise QueryError("a result answers one statement")
    statement = statements[0]
    if isinstance(statement, n.Plot):
        return statement.question
    if not isinstance(statement, (*get_args(n.Question), n.Show, n.SqlQuery)):
        raise QueryError("this is not a question, so it is not run again", statement.span)
    return statement


@contextmanager
def _define_measures(parts: Sequence[str], definitions: dict[str, str]) -> Iterator[None]:
    """Inside the block, measures that a signature defines are known, unless the warehouse has measures with the same
    names.
    """
    before = dict(definitions)
    known = {name.casefold() for name in definitions}
    for part in parts:
        name, equals, meaning = part.partition(" = ")
        if equals and name.casefold() not in known:
            definitions[name] = f"define measure {name} = {meaning}"
    try:
        yield
    finally:
        definitions.clear()
        definitions.update(before)


def _changes_of(then: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """Which inputs of the result have changed: the parts of the signature that differ, apart from the seal."""
    gone = [part for part in then if part not in now and not part.startswith(SEAL)]
    new = {part.split()[0]: part for part in now if part not in then and not part.startswith(SEAL)}
    for part in gone:
        instead = new.pop(part.split()[0], None)
        yield f"{part} then, {instead} now" if instead else f"{part} then, and not now"
    if then:
        yield from (f"{part} now, and not then" for part in new.values())


Rows = Sequence[Mapping[str, Cell]]


def _compare_tables(then: Sequence[Rows], now: Sequence[Rows]) -> tuple[Repetition, tuple[str, ...]]:
    """The verdict on whole tables, with the first cell that differs and the number of other differing cells."""
    for before, after, what in zip(then, now, ("rows", "rows of the summary"), strict=False):
        if len(before) != len(after):
            return "different", (f"{len(before):,} {what} then, {len(after):,} now",)
        names = [tuple(rows[0]) if rows else () for rows in (before, after)]
        if names[0] != names[1]:
            return "different", (f"the columns of the {what} were {', '.join(names[0])}",)
    cells = [
        (f"row {place}, {name}: {_cell_text(old[name])} then, {_cell_text(new[name])} now", old[name], new[name])
        for before, after in zip(then, now, strict=False)
        for place, (old, new) in enumerate(zip(before, after, strict=True), 1)
        for name in new
        if old.get(name) != new[name]
    ]
    if not cells:
        return "same", ()
    more = f", and {len(cells) - 1:,} other cells" if len(cells) > 1 else ""
    if all(_close(old, new) for _, old, new in cells):
        return "same", (f"not quite equal after the tenth digit: {cells[0][0]}{more}",)
    first = next(difference for difference, old, new in cells if not _close(old, new))
    return "different", (f"{first}{more}",)


def _close(a: Cell, b: Cell) -> bool:
    """Whether two numbers agree to ten digits. All machines compute these alike."""
    return isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-10)


def _cell_text(cell: Cell) -> str:
    return "nothing" if cell is None else repr(cell) if isinstance(cell, str) else str(cell)
