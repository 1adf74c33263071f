"""Reading in the shell: the pager names its keys, and n and p turn the leaves."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.results import Column, Result, Table
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.shell.offers import leaves
from evalhouse.warehouse.shell.pager import Leaf, turn

ROOT = Path(__file__).resolve().parent.parent.parent


class Screen:
    """What a terminal of 60 columns and 6 lines is sent."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.sent = ""

    def write(self, text: str) -> int:
        self.sent += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


def read(leaves: list[Leaf], keys: str) -> str:
    """What is drawn until the keys have been pressed; the last of them leaves."""
    screen = Screen()
    with create_pipe_input() as typed:
        typed.send_text(keys)
        output = Vt100_Output(screen, lambda: Size(rows=6, columns=100), term="xterm")  # type: ignore[arg-type]
        with create_app_session(input=typed, output=output):
            turn(leaves)
    return screen.sent


def leaf(name: str, lines: int = 3) -> Leaf:
    return Leaf(name, lambda width: "".join(f"{name} line {k} of {width}\n" for k in range(lines)))


def test_n_and_p_turn_and_q_leaves() -> None:
    read([leaf("first"), leaf("second")], "q")
    drawn = read([leaf("first"), leaf("second")], "nq")
    assert "second" in drawn


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ("", "one"),
        ("n", "two"),
        ("nn", "three"),
        ("nnn", "three"),
        ("nnp", "two"),
        ("p", "one"),
        ("\x1b[C\x1b[C\x1b[D", "two"),
        ("G", "three"),
        ("Gg", "one"),
    ],
)
def test_keys_lead_to_leaves(keys: str, name: str) -> None:
    """What is drawn last is what stays."""
    drawn: list[str] = []

    def telling(name: str) -> Leaf:
        def draw(width: int) -> str:
            drawn.append(name)
            return name

        return Leaf(name, draw)

    read([telling("one"), telling("two"), telling("three")], keys + "q")
    assert drawn[-1] == name


def test_the_last_line_names_the_keys_and_where_one_is() -> None:
    drawn = read([leaf("a document with a name that is far too long for this line of the terminal")], "q")
    assert "…   n: next   p: previous   q: return to evalhouse" in drawn
    assert " 1 of 1: a document with" in drawn


def test_a_long_leaf_is_scrolled() -> None:
    assert "long line 6 of 100" not in read([leaf("long", 12)], "q")
    assert "long line 6 of 100" in read([leaf("long", 12)], " q")
    assert "long line 11 of 100" in read([leaf("long", 12)], "    q")


def begun(folder: Path) -> pexpect.spawn:
    """The shell on a terminal of 100 columns and 20 lines, with the pager of the system."""
    environment = {**os.environ, "TERM": "xterm-256color", "XDG_DATA_HOME": str(folder), "PROMPT_TOOLKIT_NO_CPR": "1"}
    for name in ("NO_COLOR", "PAGER", "LESS"):
        environment.pop(name, None)
    command = [str(ROOT / "cli.py")]
    child = pexpect.spawn(
        sys.executable, command, cwd=folder, env=environment, dimensions=(20, 100), encoding="utf-8", timeout=60
    )
    child.expect("evalhouse>")
    return child


@pytest.mark.terminal
def test_help_that_is_longer_than_the_terminal_names_its_keys(tmp_path: Path) -> None:
    child = begun(tmp_path)
    child.send("help\r")
    child.expect_exact("space: more   b: back   /: search   q: return to evalhouse")
    child.send("q")
    child.expect("evalhouse>")
    child.send("score F for GE on TST3\r")
    child.expect_exact("56.01")
    child.close(force=True)


def test_documents_are_leaves_after_their_table(session: Session) -> None:
    result = session.run("documents F for GE, UMASS on TST3 limit 3")
    table, *documents = leaves(result, Style())
    assert table.draw(100) == render(result, "table", Style(width=100))
    assert [leaf.title for leaf in documents] == ["SIM3-010", "SIM3-086", "SIM3-053"]
    assert documents[0].draw(80).split("\n")[-6:] == [
        "message       SIM3-010",
        "GE            87.88",
        "UMASS         29.73",
        "difference    +58.15",
        "contribution  +1.00",
        "share %       22.66",
    ]


def test_texts_stand_below_their_heading_in_their_own_lines() -> None:
    columns = (Column("document", "name"), Column("reference", "text", on_screen=False), Column("output", "text"))
    table = Table(columns, (("d1", None, f"first line\n\n{'several words ' * 4}\x1b[31m"),))
    leaf = leaves(Result("", "", "", table, one_by_one=True), Style())[1]
    assert leaf.draw(32).split("\n") == [
        "document  d1",
        "",
        "output",
        "  first line",
        "",
        "  several words several words",
        "  several words several words",
        "  \\u001b[31m",
    ]


@pytest.mark.terminal
def test_documents_open_in_the_pager_and_stay_on_the_screen(tmp_path: Path) -> None:
    child = begun(tmp_path)
    child.send("documents F for GE, UMASS on TST3 limit 3\r")
    child.expect_exact("1 of 4: messages behind F")
    child.expect_exact("n: next   p: previous   q: return to evalhouse")
    # Of what is on the screen already only what changes is drawn.
    child.send("n")
    child.expect_exact("contribution  +1.00")
    child.send("p")
    child.expect_exact("behind F(beta=1) of GE")
    child.send("q")
    child.expect_exact("SIM3-053")
    child.expect("evalhouse>")
    # Other formats and files are for programs.
    child.send(".last csv\r")
    child.expect_exact("TST3,F(beta=1),GE,UMASS,SIM3-010")
    child.expect("evalhouse>")
    child.close(force=True)
