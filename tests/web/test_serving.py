"""The command `serve`: it prints its address, shuts down properly, and reports errors before it begins."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="pages need the extra web")
pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command, in a folder without a warehouse."""
    begun: list[subprocess.Popen[str]] = []

    def begin(*words: str, **settings: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", "import cli; raise SystemExit(cli.command())", "serve", "--port", "0", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
        )  # fmt: skip
        begun.append(process)
        return process

    yield begin
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()


def asked(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return str(answer.read().decode())


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    line = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", line)
    return line


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_it_says_where_it_is_and_ends_in_order(number: signal.Signals, status: int, start: Start) -> None:
    process = start()
    url = url_of(process)
    assert "TST3" in asked(url)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (out, process.returncode) == ("", status)
    assert "Traceback" not in err
    assert "sample data" in err
    with socket.create_server(("127.0.0.1", int(url.rsplit(":", 1)[1].strip("/")))):
        pass


def test_it_ends_while_it_computes(start: Start) -> None:
    process = start()
    url = url_of(process)
    question = "?q=compare+F+for+all+on+TST3+shuffles+90000000"
    with urllib.request.urlopen(url + question, timeout=60) as answer:
        while b'class="step"' not in answer.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in err


def test_a_question_ends_when_the_window_is_closed() -> None:
    """As a browser closes its connection."""
    from evalhouse.warehouse.session.session import Session
    from evalhouse.warehouse.web.server import Server

    server = Server(Session.open, "", port=0, timeout=600)
    server.start()
    try:
        question = b"GET /?q=compare+F+for+all+on+TST3+shuffles+90000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1].strip("/")))) as browser:
            browser.sendall(question)
            while b'class="step"' not in browser.recv(65536):
                pass
            assert server.running == 1
        while server.running:
            time.sleep(0.05)
        assert "TST3" in asked(server.url)
    finally:
        server.stop()


def test_a_name_that_was_given_is_answered_too(start: Start) -> None:
    process = start("--host-name", "results.example.org", "--host-name", "other.example")
    url = url_of(process)

    def status(host: str) -> int:
        with closing(http.client.HTTPConnection(url.removeprefix("http://").strip("/"), timeout=60)) as connection:
            connection.request("HEAD", "/assets/evalhouse.js", headers={"host": host})
            return connection.getresponse().status

    assert [status(host) for host in ("results.example.org", "OTHER.example:443", "evil.example")] == [200, 200, 421]


def test_a_port_that_is_taken_is_told(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("--port", str(port))
        out, err = process.communicate(timeout=60)
    assert (out, process.returncode) == ("", 3)
    assert f"error: 127.0.0.1, port {port} cannot be used: address already in use\n  --port 0" in err


def test_a_host_and_a_warehouse_that_are_not_there_are_told(start: Start) -> None:
    process = start("--host", "nowhere.invalid")
    assert "error: there is no host nowhere.invalid" in process.communicate(timeout=60)[1]
    assert process.returncode == 3
    process = start("--db", "nothing.duckdb")
    assert "error: " in process.communicate(timeout=60)[1]
    assert process.returncode == 3


def test_it_opens_the_browser(start: Start, tmp_path: Path) -> None:
    """Whatever the system's setting says that it is."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    process = start("--open", BROWSER=f"{browser} %s")
    url = url_of(process)
    asked(url)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert opened.read_text().strip() == url
