"""Commands as a person gives them, each in a process of its own, without waiting for Python: one process has imported
the program, and forks a child for each command.

Tests of how the program starts and ends, and of what it imports, start `cli.py` itself.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent

LONGEST = 2**20
"""How many bytes the words and the environment of a command may take."""


class Commands:
    """The process that forks the commands, and the socket by which it is told of them."""

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked

    def start(self, words: list[str], folder: Path, environment: Mapping[str, str], output: int) -> None:
        """Begins a command without input, whose two streams are the file `output`. One runs at a time."""
        asked = {"words": words, "folder": str(folder), "environment": dict(environment)}
        socket.send_fds(self._asked, [json.dumps(asked).encode()], [output])

    def ended(self) -> int:
        """The exit status of the command that was begun last, when it has ended."""
        return int(self._asked.recv(LONGEST))


@contextmanager
def forked_commands() -> Iterator[Commands]:
    """Commands that are forked, until the end of the block."""
    asked, told = socket.socketpair()
    # numpy would start threads when it is imported, and threads are not forked.
    settings = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.commands", str(told.fileno())]
    with asked, subprocess.Popen(command, pass_fds=[told.fileno()], cwd=ROOT, env=settings):
        told.close()
        yield Commands(asked)
        # Then there is nothing more to read, and the process ends.
        asked.shutdown(socket.SHUT_WR)


# --- the process ------------------------------------------------------------------------------------------------------


def _import_everything() -> None:
    """What needs an extra that is not installed is imported when a command uses it, or not at all."""
    import evalhouse.warehouse

    for module in walk_packages(evalhouse.warehouse.__path__, "evalhouse.warehouse."):
        with suppress(ImportError):
            import_module(module.name)


def _run(asked: dict[str, Any], output: int) -> NoReturn:
    """Becomes a command."""
    from evalhouse.warehouse.commands.program import command

    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    for file, stream in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(file, stream)
    os.closerange(3, max(nothing, output) + 1)
    # As Python makes them when it starts.
    for name, stream, by_lines in (("stdout", 1, os.isatty(1)), ("stderr", 2, True)):
        made = open(stream, "w", 1 if by_lines else -1, encoding=sys.stdout.encoding)  # noqa: SIM115
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)
    sys.argv = [str(ROOT / "cli.py"), *asked["words"]]
    os._exit(command())


def _serve(told: socket.socket) -> None:
    """Forks a child for each command that is asked for, and answers with its exit status."""
    _import_everything()
    while True:
        asked, [*files], _, _ = socket.recv_fds(told, LONGEST, 1)
        if not asked:
            return
        child = os.fork()
        if child == 0:
            _run(json.loads(asked), files[0])
        os.close(files[0])
        told.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as told:
        _serve(told)
