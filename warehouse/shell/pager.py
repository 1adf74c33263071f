"""Shows long texts on the terminal, and the last answer in the browser. Other modules draw the text."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import webbrowser
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from evalhouse.warehouse.process.publishing import discard, scratch
from evalhouse.warehouse.render import Style
from evalhouse.warehouse.render.shortening import for_page
from evalhouse.warehouse.render.site import drawing as assets
from evalhouse.warehouse.render.site.contents import Copies, Link, PageHeading, ShownAnswer, Surroundings
from evalhouse.warehouse.render.site.drawing import Drawing
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.version import __version__

# === reading on the terminal ==========================================================================================
# Long texts in the system's pager, with its keys shown; and leaves, such as documents, one at a time, with keys for the
# next and the previous one.

PLAIN = "less"
"""The program that shows long texts, unless $PAGER names another."""

LESS = "FRSX -Psspace\\: more   b\\: back   /\\: search   q\\: return to evalhouse$"
"""The options of less: it exits at once if everything fits, and its last line names the keys instead of a colon."""


def pages() -> list[str]:
    """The command that pages long texts; empty if texts are only printed."""
    command = shlex.split(os.environ.get("PAGER", PLAIN))
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return [] if dumb or not sys.stdout.isatty() or command[:1] == ["cat"] else command


def print_long(text: str) -> None:
    """Prints a text, through a pager if it is longer than the terminal."""
    height = shutil.get_terminal_size((100, 24)).lines
    command = pages()
    if command and text.count("\n") >= height:
        usual = {"LESS": LESS, "LESSCHARSET": "utf-8"}
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            subprocess.run(command, input=text.encode(), env={**usual, **os.environ}, check=False)
            return
        except OSError:
            pass
        finally:
            signal.signal(signal.SIGINT, before)
    sys.stdout.write(text)
    sys.stdout.flush()


class Leaf(Struct, frozen=True):
    """A text that is read as a whole: its title, and its text for a given width in columns."""

    title: str
    draw: Callable[[int], str]


KEYS = "n: next   p: previous   q: return to evalhouse"
MORE = "space: more   "
"""The last line names these keys, in addition to the arrows and paging keys, which do the same."""


def turn(leaves: Sequence[Leaf]) -> None:
    """Shows leaves on the whole terminal, one at a time, until the reader quits."""
    from prompt_toolkit.application import Application
    from prompt_toolkit.formatted_text import ANSI
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.layout import HSplit, Layout, Window
    from prompt_toolkit.layout.controls import FormattedTextControl

    place, top = 0, 0
    keys = KeyBindings()

    def size() -> tuple[int, int]:
        """The number of columns, and the number of lines of a leaf."""
        found = app.output.get_size()
        return found.columns, max(1, found.rows - 1)

    def lines() -> list[str]:
        return leaves[place].draw(size()[0]).rstrip("\n").split("\n")

    def shown() -> ANSI:
        return ANSI("\n".join(lines()[top : top + size()[1]]))

    def named() -> str:
        known = (MORE if top + size()[1] < len(lines()) else "") + KEYS
        title = f"{place + 1:,} of {len(leaves):,}: {leaves[place].title}"
        room = max(size()[0] - len(known) - 5, len(title.partition(":")[0]) + 1)
        return f" {title if len(title) <= room else title[: room - 1] + '…'}   {known}"[: size()[0]]

    def go(to: int) -> None:
        nonlocal place, top
        if 0 <= to < len(leaves):
            place, top = to, 0

    def scroll(by: int) -> None:
        nonlocal top
        top = max(0, min(top + by, len(lines()) - size()[1]))

    def key(*names: str) -> Callable[[Callable[[], None]], None]:
        def bind(do: Callable[[], None]) -> None:
            def pressed(event: KeyPressEvent) -> None:
                do()

            for name in names:
                keys.add(name)(pressed)

        return bind

    key("n", "right")(lambda: go(place + 1))
    key("p", "left")(lambda: go(place - 1))
    key("<", "home", "g")(lambda: go(0))
    key(">", "end", "G")(lambda: go(len(leaves) - 1))
    key("down", "j", "enter")(lambda: scroll(1))
    key("up", "k")(lambda: scroll(-1))
    key(" ", "pagedown", "f")(lambda: scroll(size()[1] - 1))
    key("b", "pageup")(lambda: scroll(1 - size()[1]))
    key("q", "c-c", "c-d")(lambda: app.exit())

    bar = Window(FormattedTextControl(named), height=1, style="reverse")
    window = Window(FormattedTextControl(shown), wrap_lines=False, always_hide_cursor=True)
    app: Application[None] = Application(Layout(HSplit([window, bar])), key_bindings=keys, full_screen=True)
    app.run()


# === the answer in the browser ========================================================================================
# One self-contained file, which is removed when the shell ends.

MOST_ROWS = 1000
"""A page shows at most this many rows of a table."""


class AnswerPages:
    """The pages that were opened, in a folder that only this user can read."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._opened = 0

    def open(self, result: Result, style: Style) -> tuple[Path, bool]:
        """Writes the page of an answer and opens it. Returns its file, and whether there was a browser."""
        if self._folder is None:
            self._folder = scratch()
        self._opened += 1
        file = self._folder / f"answer-{self._opened}.html"
        file.write_text(page(result, style, file.name), encoding="utf-8")
        return file, webbrowser.open(file.as_uri())

    def close(self) -> None:
        """Removes the pages."""
        if self._folder is not None:
            discard(self._folder)
            self._folder = None


LONGEST_TITLE = 80
"""A statement used as a title is cut after this many characters."""


def page(result: Result, style: Style, name: str) -> str:
    """The page of an answer, which links only to itself."""
    surroundings = Surroundings(
        home=Link("evalhouse", name),
        ask="",
        completes="",
        assets={asset: _within(asset) for asset in assets.NAMES},
        foot=(f"evalhouse {__version__}",),
    )
    drawing = Drawing(surroundings, style)
    statement = " ".join(result.statement.split())
    heading = PageHeading(statement if len(statement) <= LONGEST_TITLE else f"{statement[:LONGEST_TITLE]}…")
    shown = for_page(result, MOST_ROWS, ".output FILE.html has them all")
    answer = drawing.block(ShownAnswer(result.caption or heading.title, shown, Copies()))
    return drawing.beginning(heading) + answer + drawing.end()


def _within(asset: str) -> str:
    """A shared file as an address that contains it."""
    kind = assets.MEDIA_TYPES[Path(asset).suffix]
    return f"data:{kind};base64,{b64encode(assets.asset(asset)).decode()}"
