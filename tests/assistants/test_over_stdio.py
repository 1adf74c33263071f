"""`evalhouse mcp` as assistants start it: a separate process that is asked over its standard input and output."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

import cli
from tests.assistants.conftest import Called
from tests.conftest import write_csv

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")


@pytest.fixture
def warehouse_file(tmp_path: Path) -> Path:
    """A warehouse of two systems on twelve questions."""
    rows = [
        ("qa", system, f"q{k}", "accuracy", int((k * place) % 3 < 2))
        for place, system in ((1, "a"), (2, "b"))
        for k in range(12)
    ]
    write_csv(tmp_path / "qa.csv", "test_set system document measure value", rows)
    assert cli.main(["init", str(tmp_path / "w.duckdb")]) == 0
    assert cli.main(["load", str(tmp_path / "qa.csv"), "--as", "values", "--db", str(tmp_path / "w.duckdb")]) == 0
    return tmp_path / "w.duckdb"


def converse(words: list[str], talk: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """What comes of a conversation with a process."""
    started = StdioServerParameters(command=sys.executable, args=[str(ROOT / "cli.py"), "mcp", *words])

    async def connected() -> T:
        async with Client(stdio_client(started), mode=mode) as client:
            return await talk(client)

    return anyio.run(connected)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_conversation(warehouse_file: Path, mode: str) -> None:
    async def talk(client: Client) -> list[Called]:
        calls = [
            ("show", {}),
            ("query", {"statement": "compare accuracy for a, b on qa"}),
            ("query", {"statement": "score for"}),
        ]
        return [Called(await client.call_tool(name, arguments)) for name, arguments in calls]

    shown, compared, wrong = converse(["--db", str(warehouse_file)], talk, mode)
    assert [row["test_set"] for row in shown.answer["rows"]] == ["qa"]
    assert compared.answer["conversation"]["p_values"] == 1
    assert wrong.error.startswith("error: ")


def test_what_is_loaded_meanwhile_is_there_for_the_next_question(warehouse_file: Path, tmp_path: Path) -> None:
    rows = [("qa", "c", f"q{k}", "accuracy", 1) for k in range(12)]
    third = write_csv(tmp_path / "c.csv", "test_set system document measure value", rows)
    question = {"statement": "score accuracy for all on qa"}

    async def talk(client: Client) -> list[Called]:
        before = Called(await client.call_tool("query", question))
        loading = ["load", str(third), "--as", "values", "--db", str(warehouse_file)]
        await anyio.run_process([sys.executable, str(ROOT / "cli.py"), *loading])
        return [before, Called(await client.call_tool("query", question))]

    before, after = converse(["--db", str(warehouse_file)], talk)
    assert [len(called.answer["rows"]) for called in (before, after)] == [2, 3]
    assert any("was changed by another program meanwhile" in note for note in after.answer["notes"])


def test_a_question_that_is_cancelled_leaves_the_process_answering(warehouse_file: Path) -> None:
    endless = {"statement": 'sql "select sum(hash(a) % 7) from range(100000000000) t(a)"'}

    async def talk(client: Client) -> Called:
        with anyio.move_on_after(1):
            await client.call_tool("query", endless)
        with anyio.fail_after(60):
            return Called(await client.call_tool("query", {"statement": "score accuracy for a on qa"}))

    assert not converse(["--db", str(warehouse_file), "--allow-sql"], talk).wrong


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), "mcp", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_standard_output_is_the_protocols_alone(warehouse_file: Path) -> None:
    """Notes go to standard error, and lines that are no JSON are answered or passed over."""
    asked_for = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    lines = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, asked_for]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    with started() as process:
        printed, said = process.communicate("not json\n" + text, timeout=60)
    answers = [json.loads(line) for line in printed.splitlines()]
    assert process.returncode == 0, said
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert 1 in [answer.get("id") for answer in answers]
    assert "note: these are the sample data" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_ends_in_order(warehouse_file: Path, number: signal.Signals, status: int) -> None:
    with started("--db", str(warehouse_file)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(number)
        process.wait(timeout=60)
        assert process.returncode == status
        assert "Traceback" not in (process.stderr.read() if process.stderr else "")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_ends_quietly_while_it_answers(warehouse_file: Path, number: signal.Signals, status: int) -> None:
    """An exception in one of the tasks of the event loop would be printed with its traceback."""
    asked = [{"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {}} for number in range(2, 302)]
    lines = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *asked]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    for _ in range(2):
        with started("--db", str(warehouse_file)) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(text)
            process.stdin.flush()
            assert [json.loads(process.stdout.readline())["id"] for _ in range(20)]
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (status, "")


def test_a_warehouse_that_is_not_there_ends_it(tmp_path: Path) -> None:
    with started("--db", str(tmp_path / "none.duckdb")) as process:
        printed, said = process.communicate("", timeout=60)
    assert (process.returncode, printed) == (3, "")
    assert said.startswith("error: ")


def test_without_the_package_it_says_what_brings_it(warehouse_file: Path) -> None:
    code = f"import sys, cli\nsys.modules['mcp'] = None\nsys.exit(cli.main(['mcp', '--db', {str(warehouse_file)!r}]))\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == 'error: evalhouse mcp needs the package mcp\n  pip install "evalhouse[mcp]"\n'
