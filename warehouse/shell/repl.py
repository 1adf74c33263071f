"""The shell: it reads a statement, runs it and shows the result, until the input ends. This module holds the state
between two statements. `prompt` handles typing, and `commands` has the dot commands.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

from evalhouse.grammar.editing.mistakes import as_sql
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.process.stopping import interruptibly
from evalhouse.warehouse.render import FOR_SCREENS, Style, files, find_format, render
from evalhouse.warehouse.render.diagnostics import diagnosis, query_error
from evalhouse.warehouse.render.progress import clock
from evalhouse.warehouse.render.style import clean, clean_lines, folded
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import warehouse_name
from evalhouse.warehouse.shell import commands, help
from evalhouse.warehouse.shell.offers import Candidate, candidates, leaves
from evalhouse.warehouse.shell.pager import AnswerPages, pages, print_long, turn
from evalhouse.warehouse.shell.prompt import Prompt, lines, mistake, typed_lines
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.version import __version__

MOST_NAMED = 5
"""The banner names at most this many test sets."""


class Shell:
    """A conversation with a warehouse, on a terminal or over a pipe.

    `format`, `digits` and `timer` are set by the commands of these names. `output` is the file that results are written
    to, with its format. `last` is the last result, and `last_text` is its statement. `waiting` is a text that the next
    prompt will contain.
    """

    def __init__(self, session: Session, *, format: str, digits: int | None, colour: bool, quiet: bool) -> None:
        self.session = session
        session.follows = True
        self.format = format
        self.digits = digits
        self.colour = colour
        self.quiet = quiet
        self.timer = False
        self.output: tuple[Path, str] | None = None
        self.gathered: list[Result] = []
        self.last: Result | None = None
        self.last_text = ""
        self.waiting = ""
        self.pages: AnswerPages | None = None
        self.typed = sys.stdin.isatty()
        self.wrong = False

    def converse(self) -> bool:
        """Runs what is typed or piped in until the input ends. Returns False if something that was piped in failed."""
        dumb = os.environ.get("TERM", "dumb") in ("dumb", "unknown") or not sys.stdout.isatty()
        texts = lines(iter(sys.stdin)) if not self.typed else typed_lines(input) if dumb else self._prompt_lines()
        if self.typed and not self.quiet:
            self._talk("\n".join(banner(self.session)))
        with contextlib.suppress(EOFError):
            for text in texts:
                self.do(text)
        return self.typed or not self.wrong

    def _prompt_lines(self) -> Iterator[str]:
        warming = Thread(target=self._warm_up, daemon=True)

        def complete(text: str) -> list[Candidate]:
            warming.join()
            return self._complete(text)

        def wrong(text: str) -> QueryError | None:
            warming.join()
            return mistake(text, self.session)

        prompt = Prompt(complete, wrong, self.session.theme if self.colour else None)
        warming.start()
        while True:
            text, self.waiting = self.waiting, ""
            try:
                typed = prompt.read(text)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            finally:
                # Two threads must not use the warehouse at once, and it must not be closed in the meantime.
                warming.join()
            yield typed

    def _warm_up(self) -> None:
        """Loads the parser's tables and the catalog while the user reads the banner, so that the first key responds as
        quickly as the others.
        """
        with contextlib.suppress(WarehouseError):
            begun = ("", "score ", "score F for ", "compare F for all on ", "compare F(", "score F where document.")
            for text in begun:
                candidates(text, self.session)
            mistake("score F for all", self.session)

    # --- what is typed ------------------------------------------------------------------------------------------------

    def do(self, text: str) -> None:
        """Runs statements, a command or a request for help. Errors are shown, and nothing else changes.

        Raises EOFError if the text asks to leave.
        """
        typed = text.strip()
        word = typed.rstrip(";").strip().casefold()
        try:
            if not typed:
                return
            if word in ("quit", "exit"):
                raise EOFError
            if (wanted := help.help_topic(typed)) is not None:
                self.help(wanted)
            elif typed.startswith("."):
                commands.run(self, typed)
            else:
                self.statements(as_sql(text) or text)
        except KeyboardInterrupt:
            if not self.typed:
                raise
            self._err("interrupted")
        except (EOFError, OSError):
            raise
        except Exception as error:
            foreseen = isinstance(error, QueryError | DataError | WarehouseError)
            if os.environ.get("EVALHOUSE_TRACEBACK") and not foreseen:
                raise
            self._err(diagnosis(error, "" if typed.startswith(".") else text))

    def statements(self, text: str, source: str | None = None, keep: bool = True) -> None:
        """Runs statements and shows each result as it is ready. With `keep`, they become the last ones."""
        session, results = self.session, self.session.results(text)
        try:
            while True:
                began = time.perf_counter()
                result = self._run(lambda: next(results, None))
                if result is None:
                    break
                if keep:
                    self.last, self.last_text = result, text.strip()
                self._deliver(result)
                if self.timer:
                    self.say(f"{time.perf_counter() - began:.3f} s")
        except QueryError as error:
            if source is None and keep:
                raise
            self._err(query_error(error, text, source))
        finally:
            if session is self.session:
                self._settle()

    def _run(self, work: Callable[[], Result | None]) -> Result | None:
        shown = self.typed and not self.quiet and sys.stderr.isatty()
        with clock(shown) as waiting, self.session.watched(waiting.progress):
            return interruptibly(work, self.session.interrupt, waiting.tick)

    def _settle(self) -> None:
        """Ends the transaction that an interrupted query may leave open, because every later query would fail in it."""
        with contextlib.suppress(WarehouseError):
            self.session.database.run(Sql("rollback"))

    def open(self, path: Path) -> None:
        """Switches to another warehouse. If that raises WarehouseError, nothing has changed."""
        session = Session.open(path)
        session.variables, session.fixed = self.session.variables, self.session.fixed
        self.session.close()
        self.session = session
        self.say(banner(session)[0])

    def browse(self, result: Result) -> None:
        """Shows a result as a page in the browser."""
        if self.pages is None:
            from evalhouse.warehouse.shell.pager import AnswerPages

            self.pages = AnswerPages()
        file, opened = self.pages.open(result, Style(self.digits, theme=self.session.theme))
        self.say(f"{file}" if opened else f"no browser could be opened; the page is {file} until you leave")

    def close(self) -> None:
        """Removes the temporary files of the shell, and closes the warehouse."""
        if self.pages is not None:
            self.pages.close()
        self.session.close()

    def help(self, words: str) -> None:
        """Shows the help on a word, or on everything."""
        if not words:
            self._page(help.overview((command.usage, command.meaning) for command in commands.COMMANDS) + "\n")
            return
        for command in commands.COMMANDS:
            if words == f".{command.name}":
                self._page(f"{command.usage}\n  {command.meaning}\n")
                return
        text = help.topic(words, self.session.catalog)
        if text is None:
            self._err(f"error: {clean(help.unknown(words, self.session.catalog))}")
        else:
            self._page(clean_lines(text) + "\n")

    # --- what is shown ------------------------------------------------------------------------------------------------

    def _deliver(self, result: Result) -> None:
        if self.output is None:
            self.show(result, self.format)
            return
        path, format = self.output
        self.gathered.append(result)
        files.write(self.gathered, path, format, Style(self.digits, theme=self.session.theme))
        self.say(f"{path}: {len(self.gathered)} result{'s' if len(self.gathered) > 1 else ''}")

    def show(self, result: Result, format: str) -> None:
        """Shows a result in a format, and the notes that the format does not include."""
        width = shutil.get_terminal_size((100, 24)).columns
        style = Style(self.digits, width, self.colour and sys.stdout.isatty(), self.session.theme)
        drawn = render(result, format, style)
        if self.typed and result.one_by_one and format == FOR_SCREENS.name and result.table.rows and pages():
            # Output that was read stays on the screen.
            turn(leaves(result, style))
            sys.stdout.write(drawn)
        else:
            self._page(drawn)
        if not find_format(format).has_notes:
            for note in result.folded_notes:
                self.say(f"note: {note}")

    def _page(self, text: str) -> None:
        """Prints a text, through a pager if it is longer than the terminal and the user typed for it."""
        if self.typed:
            print_long(text)
        else:
            sys.stdout.write(text)
            sys.stdout.flush()

    def say(self, text: str) -> None:
        """Prints a message on standard error."""
        if not self.quiet:
            self._talk(clean_lines(text))

    def _err(self, text: str) -> None:
        self.wrong = True
        self._talk(text)

    def _talk(self, text: str) -> None:
        if sys.stderr.isatty():
            text = folded(text, shutil.get_terminal_size((100, 24)).columns)
        sys.stdout.flush()
        print(text, file=sys.stderr, flush=True)

    # --- completion ---------------------------------------------------------------------------------------------------

    def _complete(self, text: str) -> list[Candidate]:
        """Completions of statements, of commands, and of words after `help`."""
        if text.lstrip().startswith("."):
            return _of_commands(text)
        if text.startswith(("help ", "?")):
            start = len(text) - len(text.split(" ")[-1].removeprefix("?"))
            known = dict.fromkeys(help.words(self.session.catalog))
            return [Candidate(word, "", start) for word in known if word.casefold().startswith(text[start:].casefold())]
        try:
            return candidates(text, self.session)
        except WarehouseError:
            return []


def _of_commands(text: str) -> list[Candidate]:
    name, blank, rest = text.lstrip().removeprefix(".").partition(" ")
    start = len(text) - len(rest if blank else name) - (not blank)
    if not blank:
        named = (command for command in commands.COMMANDS if command.name.startswith(name))
        return [Candidate(f".{command.name}", command.meaning, start) for command in named]
    choices = next((command.choices for command in commands.COMMANDS if command.name == name), ())
    return [Candidate(choice, "", start) for choice in choices if choice.startswith(rest)]


def banner(session: Session) -> tuple[str, str]:
    """Two lines: which warehouse is open and whether its data are simulated, and how to continue."""
    catalog = session.catalog
    what = f"{len(catalog.names_of(catalog.system_names))} systems, {len(catalog.test_sets)} test sets"
    where = clean(warehouse_name(session.path)) if session.path else "the sample data"
    return (
        f"evalhouse {__version__} on {where}: {what}{_simulation_note(catalog)}",
        "Type help, or Ctrl-D to quit",
    )


def _simulation_note(catalog: Catalog) -> str:
    on = [
        catalog.short_name(test_set)
        for test_set in catalog.test_sets
        if any(catalog.simulated(task, test_set.id) for task in KINDS)
    ]
    if not on:
        return ""
    named = on if len(on) <= MOST_NAMED else [*on[:MOST_NAMED], f"{len(on) - MOST_NAMED} more"]
    return f"; simulated: {clean(', '.join(named))}"
