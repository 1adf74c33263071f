"""A question multiplies matrices with one thread and leaves the threads of other programs as they were."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from evalhouse.warehouse.process import memory
from evalhouse.warehouse.process.memory import one_for_matrices


class OpenBLAS:
    """What stands for the library: it knows how many threads it has."""

    def __init__(self) -> None:
        self.threads = 8

    def set(self, many: int) -> None:
        self.threads = many


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> OpenBLAS:
    library = OpenBLAS()
    monkeypatch.setattr(memory, "_of_openblas", lambda: (lambda: library.threads, library.set))
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    return library


def test_threads_come_back_after_an_error(library: OpenBLAS) -> None:
    seen = []

    def wrong() -> None:
        with one_for_matrices():
            seen.append(library.threads)
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        wrong()
    assert [*seen, library.threads] == [1, 8]


def test_threads_come_back_when_the_last_of_several_questions_ends(library: OpenBLAS) -> None:
    begun, first_is_done = threading.Event(), threading.Event()

    def second() -> None:
        with one_for_matrices():
            begun.set()
            first_is_done.wait()

    other = threading.Thread(target=second)
    with one_for_matrices():
        other.start()
        begun.wait()
    assert library.threads == 1
    first_is_done.set()
    other.join()
    assert library.threads == 8


def test_the_functions_are_found_in_numpy_as_it_is_installed() -> None:
    """If a new numpy calls them otherwise, a session is slower, and this test says so."""
    if "openblas" not in str(np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]):
        pytest.skip("numpy multiplies with another library")
    code = (
        "import numpy\n"
        "from evalhouse.warehouse.process.memory import _of_openblas, one_for_matrices\n"
        "current, change = _of_openblas()\n"
        "change(2)\n"
        "with one_for_matrices():\n"
        "    assert current() == 1\n"
        "assert current() == 2\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"OPENBLAS_NUM_THREADS": "2"})
