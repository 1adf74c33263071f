"""The input line: completion, colours, history and keys, with prompt_toolkit. Other modules run what is typed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, completion_is_selected, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.mistakes import as_sql
from evalhouse.grammar.errors import NOWHERE, QueryError, UnfinishedError
from evalhouse.grammar.parser import is_complete, parse, tokens
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.substitution import substitute
from evalhouse.warehouse.process.folders import user_folder
from evalhouse.warehouse.render.style import Theme, clean
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.shell.offers import Candidate
from evalhouse.warehouse.statements import resolve

# === colours of typed text ============================================================================================
# By theme. If the terminal's background is unknown, the colours are readable on black and on white.

COLOURS: Mapping[Theme, Mapping[str, str]] = {
    "auto": {
        "blue": "#0c72e6",
        "cyan": "#048290",
        "green": "#0f872d",
        "magenta": "#c431c4",
        "red": "#e62020",
        "grey": "#757575",
    },
    "light": {
        "blue": "#084994",
        "cyan": "#02535c",
        "green": "#0a571d",
        "magenta": "#7e207e",
        "red": "#971111",
        "grey": "#4b4b4b",
    },
    "dark": {
        "blue": "#7fb7f8",
        "cyan": "#06c5db",
        "green": "#17cf45",
        "magenta": "#e699e6",
        "red": "#f49a9a",
        "grey": "#b2b2b2",
    },
}

PLAIN = {"mistake": "underline", "bottom-toolbar": "noreverse"}
"""The styles used without colours."""


def looks(theme: Theme) -> dict[str, str]:
    """The style of each kind of token, in the terms of prompt_toolkit."""
    colours = COLOURS[theme]
    return {
        "keyword": f"bold {colours['blue']}",
        "function": colours["blue"],
        "number": colours["cyan"],
        "text": colours["green"],
        "variable": colours["magenta"],
        "comment": f"italic {colours['grey']}",
        "error": colours["red"],
        "mistake": f"underline {colours['red']}",
        "bottom-toolbar": f"noreverse {colours['red']}",
        "prompt": colours["grey"],
    }


# === mistakes while typing ============================================================================================
# In the grammar of a text, or in the names of a statement that is complete so far. Nothing is run, and the word being
# typed is never marked.


def mistake(text: str, session: Session) -> QueryError | None:
    """The first mistake before the last word of a text."""
    if as_sql(text):
        return None
    try:
        statements = parse(text)
        if not any(isinstance(statement, n.Let | n.Define) for statement in statements):
            for statement in statements:
                _look_up(statement, session)
    except (UnfinishedError, WarehouseError):
        return None
    except QueryError as error:
        typing = error.span.end >= len(text)
        return None if typing or error.span == NOWHERE else error
    return None


def _look_up(statement: n.AnyStatement, session: Session) -> None:
    """Raises QueryError for a name that does not exist."""
    if isinstance(statement, n.Question):
        resolve(substitute(statement, session.variables), Scope(session.catalog))
    elif isinstance(statement, n.Plot | n.Explain | n.Export):
        _look_up(statement.question, session)


# === input lines ======================================================================================================
# `Prompt` is for terminals. `lines` is for pipes and `typed_lines` for terminals that can only print.

Complete = Callable[[str], Iterable[Candidate]]
Mistake = Callable[[str], QueryError | None]

PROMPT, MORE = "evalhouse> ", "      ...> "


def is_command(text: str) -> bool:
    """Whether a text is for the shell itself: a dot command, or a request for help."""
    return bool(re.match(r"\s*(\.\w|\?|(help|quit|exit)\b)", text, re.IGNORECASE))


def may_run(text: str) -> bool:
    """Whether Enter runs a text: it is empty, it is for the shell itself, or it is a complete statement."""
    return not text.strip() or is_command(text) or is_complete(text)


class Prompt:
    """Reads one statement after another from a terminal. Raises EOFError on Ctrl-D, KeyboardInterrupt on Ctrl-C."""

    def __init__(self, complete: Complete, mistake: Mistake, theme: Theme | None) -> None:
        """Creates a prompt with the colours of a theme, or without colours."""
        self._find = mistake
        self._found: tuple[str, QueryError | None] = ("", None)
        self._session: PromptSession[str] = PromptSession(
            history=_history(),
            completer=_Completer(complete),
            complete_while_typing=True,
            lexer=_Lexer(self._mistaken),
            style=Style.from_dict(PLAIN if theme is None else looks(theme)),
            color_depth=None if theme else ColorDepth.DEPTH_1_BIT,
            key_bindings=_keys(),
            multiline=True,
            prompt_continuation=lambda width, line, wrapped: MORE[:width],
            bottom_toolbar=self._toolbar,
            reserve_space_for_menu=6,
        )

    def read(self, text: str = "") -> str:
        """Returns the typed text. The line initially contains `text`."""
        return self._session.prompt([("class:prompt", PROMPT)], default=text)

    def _mistaken(self, text: str) -> QueryError | None:
        if self._found[0] != text:
            self._found = (text, self._find(text) if text.strip() and not is_command(text) else None)
        return self._found[1]

    def _toolbar(self) -> str | None:
        error = self._mistaken(get_app().current_buffer.text)
        return clean(f"{error.message}{'; ' + error.hints[0] if error.hints else ''}") if error else None


def lines(source: Iterator[str]) -> Iterator[str]:
    """Statements and commands from the lines of a pipe. The last one needs no semicolon.

    A statement runs only at its semicolon, because the next line may belong to it.
    """
    gathered = ""
    for line in source:
        if not gathered.strip() and is_command(line):
            yield line
            continue
        gathered += line if line.endswith("\n") else line + "\n"
        if is_complete(gathered) and _ends_in_semicolon(gathered):
            yield gathered
            gathered = ""
    if gathered.strip():
        yield gathered


def typed_lines(ask: Callable[[str], str]) -> Iterator[str]:
    """Statements and commands typed at a terminal that can only print, without completion and colours.

    `ask` shows a prompt and returns a line. A line runs when it completes a statement. Ctrl-C discards the typed text.
    """
    gathered = ""
    while True:
        try:
            gathered += ask(MORE if gathered.strip() else PROMPT) + "\n"
        except KeyboardInterrupt:
            print()
            gathered = ""
        except EOFError:
            break
        if is_command(gathered) or is_complete(gathered):
            yield gathered
            gathered = ""
    if gathered.strip():
        yield gathered


def _ends_in_semicolon(text: str) -> bool:
    meant = [token for token in tokens(text) if token.kind != "comment"]
    return bool(meant) and text[meant[-1].span.start : meant[-1].span.end] == ";"


def _history() -> History:
    """The history in the user's data folder, readable only by the user. If it cannot be saved, it lasts only for the
    session.
    """
    file = user_folder("data") / "history"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def _keys() -> KeyBindings:
    keys = KeyBindings()
    typing = has_focus("DEFAULT_BUFFER")

    @Condition
    def at_the_end() -> bool:
        return not get_app().current_buffer.document.text_after_cursor.strip()

    @keys.add("enter", filter=typing & completion_is_selected)
    def take(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("enter", filter=typing & ~completion_is_selected)
    def run_or_continue(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        # In the middle of several lines, Enter inserts a new line, as in any editor.
        if may_run(buffer.text) and (at_the_end() or "\n" not in buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline(copy_margin=False)

    @keys.add("escape", "enter", filter=typing)
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    return keys


class _Completer(Completer):
    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        # If a menu opened by itself on an empty line, it would take the arrow keys from the history.
        if not before.strip() and not complete_event.completion_requested:
            return
        for candidate in self._complete(before):
            yield Completion(candidate.text, candidate.start - len(before), display_meta=clean(candidate.meaning))


class _Lexer(Lexer):
    def __init__(self, mistaken: Callable[[str], QueryError | None]) -> None:
        self._mistaken = mistaken

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines = _colour_lines(document.text, self._mistaken(document.text))
        return lambda number: lines[number] if number < len(lines) else []


def _colour_lines(text: str, error: QueryError | None) -> list[StyleAndTextTuples]:
    """The lines of a text, with the class of each character's token, and the place of an error."""
    classes = [""] * len(text)
    for token in () if is_command(text) else tokens(text):
        classes[token.span.start : token.span.end] = [f"class:{token.kind}"] * (token.span.end - token.span.start)
    if error is not None:
        for place in range(error.span.start, min(max(error.span.end, error.span.start + 1), len(text))):
            classes[place] = "class:mistake"
    rows: list[StyleAndTextTuples] = [[]]
    for sign, kind in zip(text, classes, strict=True):
        if sign == "\n":
            rows.append([])
        else:
            rows[-1].append((kind, sign))
    return rows
