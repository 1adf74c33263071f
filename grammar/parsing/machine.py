"""The machine that parses a text with language.tables: an LALR(1) parser whose lexer looks only for terminals that are
possible at the current place.

lark computes the tables from language.lark (see `grammar.tables`), and this machine accepts the same texts as lark.
lark itself is not used, because loading it takes longer than answering most questions. The machine does not know what a
rule means: it calls the builder's method with the name of the rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parent.with_name("language.tables")

END = "$END"
"""The symbol among the accepted terminals that means that the text may end."""

IGNORED = ("COMMENT", "SPACE")
"""The terminals that are allowed anywhere and have no meaning."""


Matcher = Callable[[str, int], re.Match[str] | None]
"""The method of a regular expression that matches a text from a place on."""

_WORD = re.compile(r"\(\?ai:([a-z])[a-z\\-]*\)")
"""The beginning of the pattern of a word, and its first letter."""

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")


class Lexeme(str):
    """A piece of the text: its terminal, and its place."""

    __slots__ = ("end", "start", "type")
    type: str
    start: int
    end: int

    @classmethod
    def at(cls, start: int, end: int, type: str, text: str) -> Lexeme:
        """The token of a terminal at a place."""
        token = cls(text)
        token.type, token.start, token.end = type, start, end
        return token


class RefusedError(Exception):
    """The text at this place is not allowed there."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class ParseTables:
    """The tables of the grammar. Each state is unpacked when a text first reaches it."""

    def __init__(self, text: str) -> None:
        read = json.loads(text)
        [self.end] = read["end"]
        """The state after the whole text."""
        self.rules: list[tuple[str, int, bool]] = read["rules"]
        """For each rule its name, its number of pieces, and whether a single piece replaces the rule."""
        self.terminals: dict[str, str] = dict(read["terminals"])
        """The regular expressions of the terminals. If two match, the first wins."""
        self._sets: list[str] = read["sets"]
        self._states: list[list[Any]] = read["states"]
        self.states = len(self._states)
        self._actions: dict[int, dict[str, int]] = {}
        self._matches: dict[str, Matcher] = {}
        self._possible: dict[tuple[int, str], list[tuple[str, Matcher]]] = {}

    def actions(self, state: int) -> dict[str, int]:
        """For each symbol the state that it leads to, or the complement (~) of the number of the rule that ends before
        it.
        """
        if state not in self._actions:
            shifts, *ended = self._states[state]
            symbols = iter(shifts.split())
            actions = {symbol: int(to) for symbol, to in zip(symbols, symbols, strict=True)}
            for rule, before in zip(ended[::2], ended[1::2], strict=True):
                actions.update(dict.fromkeys(self._sets[before].split(), ~rule))
            self._actions[state] = actions
        return self._actions[state]

    def terminal_at(self, state: int, text: str, at: int) -> tuple[str, int]:
        """The terminal at a place of a text, and where it ends: the first that fits of those that a state allows.

        Raises RefusedError.
        """
        first = text[at].lower()
        key = state, first if first in _LETTERS else ""
        if key not in self._possible:
            self._possible[key] = self._beginning_with(key[1], {*self.actions(state), *IGNORED})
        for name, match in self._possible[key]:
            if found := match(text, at):
                return name, found.end()
        raise RefusedError(at)

    def _beginning_with(self, letter: str, allowed: set[str]) -> list[tuple[str, Matcher]]:
        """The allowed terminals without the words that begin with another letter. Each is compiled when a text first
        needs it: to compile all of them takes longer than most questions.
        """
        possible = []
        for name, pattern in self.terminals.items():
            if name in allowed and ((word := _WORD.match(pattern)) is None or word[1] == letter):
                if name not in self._matches:
                    self._matches[name] = re.compile(pattern).match
                possible.append((name, self._matches[name]))
        return possible


@cache
def tables() -> ParseTables:
    """The shipped tables, read once."""
    return ParseTables(TABLES.read_text(encoding="utf-8"))


class Machine:
    """One parse of a text. `builder` has a method for each rule. When a rule ends, its method gets the pieces of the
    rule: tokens, and the results of other rules. Nothing here recurses.
    """

    def __init__(self, builder: object) -> None:
        self._builder = builder
        self._tables = tables()
        self._states = [0]
        self._pieces: list[Any] = []

    def tokens(self, text: str) -> Iterator[Lexeme]:
        """Parses a text, and yields each token when it is consumed. Raises RefusedError, and the builder's errors."""
        at = 0
        while at < len(text):
            terminal, end = self._tables.terminal_at(self._states[-1], text, at)
            if terminal not in IGNORED:
                token = Lexeme.at(at, end, terminal, text[at:end])
                self._take(token.type, at)
                self._pieces.append(token)
                yield token
            at = end

    def parsed(self, text: str) -> Any:
        """The builder's result for a whole text. Raises RefusedError, and the builder's errors."""
        for _ in self.tokens(text):
            pass
        self._take(END, len(text))
        return self._pieces[0]

    def accepted(self) -> frozenset[str]:
        """The terminals that are possible at the current place."""
        return frozenset(filter(self._could_take, filter(str.isupper, self._tables.actions(self._states[-1]))))

    def _could_take(self, terminal: str) -> bool:
        try:
            for _ in self._ended(list(self._states), terminal, 0):
                pass
        except RefusedError:
            return False
        return True

    def _take(self, terminal: str, at: int) -> None:
        for name, size, transparent in self._ended(self._states, terminal, at):
            taken = self._pieces[len(self._pieces) - size :]
            # A list that a rule goes on with grows in place, or a long one would be copied for each of its items.
            pieces: list[Any] = taken.pop(0) if taken and isinstance(taken[0], list) else []
            for piece in taken:
                if isinstance(piece, list):
                    pieces += piece
                else:
                    pieces.append(piece)
            del self._pieces[len(self._pieces) - size :]
            if name.startswith("_"):
                # The pieces of such a rule become pieces of the rule that contains it.
                self._pieces.append(pieces)
            elif transparent and len(pieces) == 1:
                self._pieces += pieces
            else:
                self._pieces.append(getattr(self._builder, name)(pieces))

    def _ended(self, states: list[int], terminal: str, at: int) -> Iterator[tuple[str, int, bool]]:
        """The rules that end before a terminal; `states` is updated. Raises RefusedError."""
        while terminal != END or states[-1] != self._tables.end:
            action = self._tables.actions(states[-1]).get(terminal)
            if action is None:
                raise RefusedError(at)
            if action >= 0:
                states.append(action)
                return
            rule = self._tables.rules[~action]
            name, size, _ = rule
            del states[len(states) - size :]
            states.append(self._tables.actions(states[-1])[name])
            yield rule
