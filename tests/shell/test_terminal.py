"""The shell on a terminal, driven by keys."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

pytestmark = pytest.mark.terminal

ROOT = Path(__file__).resolve().parent.parent.parent
CODES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])")
PATIENCE = 60

Start = Callable[..., pexpect.spawn]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the shell on a terminal of 100 columns and waits for its first prompt."""
    begun: list[pexpect.spawn] = []

    def begin(*words: str, **settings: str) -> pexpect.spawn:
        environment = {**os.environ, "TERM": "xterm-256color", "XDG_DATA_HOME": str(tmp_path / "data"), "PAGER": "cat"}
        # Nobody here answers where the cursor is.
        environment["PROMPT_TOOLKIT_NO_CPR"] = "1"
        environment.pop("NO_COLOR", None)
        command = [str(ROOT / "cli.py"), *words]
        child = pexpect.spawn(
            sys.executable,
            command,
            cwd=tmp_path,
            env={**environment, **settings},
            dimensions=(40, 100),
            encoding="utf-8",
            timeout=PATIENCE,
        )
        begun.append(child)
        child.expect("evalhouse>")
        return child

    yield begin
    for child in begun:
        child.close(force=True)


def leave(child: pexpect.spawn) -> str:
    """Ctrl-D, and what was printed until the end, without the codes of the terminal."""
    for _ in range(PATIENCE):
        # A key between two prompts is lost, as in every shell.
        child.send("\x04")
        if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=1) == 0:
            break
    child.close()
    assert child.exitstatus == 0
    return CODES.sub("", child.before)


def test_the_banner_says_what_is_open_and_whether_it_is_simulated(start: Start, warehouses: dict[str, Path]) -> None:
    child = start("--db", str(warehouses["worked"]))
    # Lines end between words.
    greeting = " ".join(child.before.split())
    assert re.search(rf"on {warehouses['worked']}: \d+ systems, \d+ test sets ", greeting)
    assert "simulated" not in greeting
    assert "Ctrl-D to quit" in greeting
    leave(child)
    child = start()
    greeting = " ".join(child.before.split())
    assert "on the sample data: " in greeting
    assert "; simulated: TST2, TST3, TST4" in greeting
    leave(child)


def test_enter_continues_until_the_statement_is_whole(start: Start) -> None:
    child = start()
    child.send("score F for GE,\r")
    child.expect_exact("...>")
    child.send("UMASS on TST3\r")
    child.expect_exact("51.61")
    child.expect("evalhouse>")
    child.send(".last markdown\r")
    child.expect(r"\| UMASS  \| 51\.61 \|")
    leave(child)


def test_completion_shows_names_with_their_help(start: Start) -> None:
    child = start()
    child.send("score F for GE, UM")
    child.expect_exact("UMASS")
    child.expect_exact("system on")
    child.send("\t on TST3\r")
    child.expect_exact("51.61")
    leave(child)


def test_a_wrong_name_is_marked_while_typing_and_refused_on_enter(start: Start) -> None:
    child = start()
    # Ctrl-L draws the whole screen, of which otherwise only what changes is drawn.
    child.send("score F for GE, UMAS on TST3 \x0c")
    child.expect(r"\x1b\[0;38;5;\d+;4mUMAS\x1b")
    child.send("\r")
    child.expect_exact("^^^^")
    child.expect_exact("did you mean UMASS?")
    leave(child)


def test_ctrl_c_stops_a_long_comparison_and_keeps_the_session(start: Start) -> None:
    child = start()
    child.send("let $x = GE\r")
    child.expect("evalhouse>")
    child.send("compare F for all on TST3 shuffles 900000000\r")
    child.expect_exact("Ctrl-C stops it")
    child.sendintr()
    child.expect_exact("interrupted")
    child.expect("evalhouse>")
    child.send("score F for $x on TST3\r")
    child.expect_exact("56.01")
    assert "Traceback" not in leave(child)


def test_ctrl_c_drops_what_is_typed(start: Start) -> None:
    child = start()
    child.send("score nonsense")
    child.sendintr()
    child.expect("evalhouse>")
    child.send("score F for GE on TST3\r")
    child.expect_exact("56.01")
    leave(child)


def test_statements_are_remembered_from_one_day_to_the_next(start: Start, tmp_path: Path) -> None:
    child = start()
    child.send("score F for UMASS on TST3\r")
    child.expect_exact("51.61")
    leave(child)
    history = tmp_path / "data" / "evalhouse" / "history"
    assert history.stat().st_mode & 0o077 == 0
    child = start()
    child.send("\x1b[A")
    child.expect_exact("UMASS")
    child.send("\r")
    child.expect_exact("51.61")
    leave(child)


def test_what_was_edited_waits_for_enter(start: Start, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "score F for UMASS on TST3" > "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    child = start(EDITOR=str(editor), VISUAL="")
    child.send("score F for GE on TST3\r")
    child.expect_exact("56.01")
    child.expect("evalhouse>")
    child.send(".edit\r")
    child.expect_exact("UMASS")
    child.expect_exact("TST3")
    assert "51.61" not in child.before
    child.send("\r")
    child.expect_exact("51.61")
    leave(child)


def test_long_results_go_through_the_pager(start: Start, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED; cat\n", encoding="utf-8")
    pager.chmod(0o755)
    child = start(PAGER=str(pager))
    child.send("show tests\r")
    child.expect_exact("chi-square")
    assert "PAGED" not in child.before
    child.expect("evalhouse>")
    assert "PAGED" not in child.before
    child.send("score F for all on TST3 by document\r")
    child.expect_exact("PAGED")
    leave(child)


def test_a_terminal_that_can_only_print_is_served(start: Start) -> None:
    child = start(TERM="dumb")
    child.sendline("score F for GE,")
    child.sendline("UMASS on TST3")
    child.expect_exact("51.61")
    child.expect("evalhouse>")
    child.sendeof()
    child.expect(pexpect.EOF)
    assert "\x1b" not in child.before


def test_without_colour_nothing_is_coloured(start: Start) -> None:
    child = start(NO_COLOR="1")
    child.send("score F for GE on TST3\r")
    child.expect_exact("56.01")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", child.before)
    leave(child)
