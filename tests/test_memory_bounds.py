"""The bound that `explain` states is kept: statements are answered in processes that the system allows no more.

The system limits the addresses of a process (`ulimit -v`). Many of them are never memory: those of libraries, and those
reserved for threads. How many a process has beyond its memory is measured first, for a statement that asks for little.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammar.errors import QueryError
from tests.conftest import write_csv
from warehouse import memory
from warehouse.loading.ingest import load
from warehouse.query import plan as p
from warehouse.query.comparison.memory_bounds import Comparing, at_most
from warehouse.session import Session
from warehouse.store.replacement import making

ROOT = Path(__file__).resolve().parents[1]

STATEMENTS = (
    "compare m for S1, S2 on T",
    "compare m for all on T",
    "compare m for all on T shuffles 20000 adjust holm",
    "compare m for all on T test studentized shuffles 9999",
    "compare m for all on T interval percentile shuffles 999",
    "compare m for all on T adjust maxt shuffles 999",
    "compare m for all on T margin 1% shuffles 999",
    "compare m for all against S1 on T shuffles 100000",
    "compare m for S1, S2 on T exact",
    "group m for all on T shuffles 999",
    "rank m for all on T shuffles 999",
    "table m for all on T against S1 shuffles 999",
    "power m for S1, S2 on T",
    "score m for all on T",
    "documents m for S1, S2 on T",
)

PEAKS = (
    "import sys\n"
    "from warehouse.commands.program import main\n"
    "status = main(sys.argv[1:])\n"
    "sys.stdout.flush()\n"
    "for line in open('/proc/self/status'):\n"
    "    if line.startswith(('VmPeak', 'VmHWM')):\n"
    "        print(line.split()[1], file=sys.stderr)\n"
    "sys.exit(status)\n"
)
"""Answers, and says at last how many addresses and how much memory the process had, in kilobytes."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of forty systems that answered two thousand questions, and more or less of each."""
    folder = tmp_path_factory.mktemp("many")
    rows = (
        ("T", f"S{system}", f"D{document}", "m", (system * document + document // 7) % 101 / 100)
        for system in range(1, 41)
        for document in range(2_000)
    )
    file = write_csv(folder / "rows.csv", "test_set system document measure value", rows)
    with making(folder / "w.duckdb") as database:
        load(database, file, "values")
    return folder


def answered(statement: str, folder: Path, addresses: int | None = None) -> subprocess.CompletedProcess[str]:
    """A process that answers with two threads, and has at most so many bytes of addresses."""
    command = [sys.executable, "-c", PEAKS, "query", statement, "--db", "w.duckdb", "--format", "csv", "--threads", "2"]
    limit = None if addresses is None else partial(resource.setrlimit, resource.RLIMIT_AS, (addresses, addresses))
    # The C library reserves addresses for each thread that allocates, and which ones do depends on the moment.
    alone = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    variables = {"PYTHONPATH": str(ROOT), "PATH": "", "COLUMNS": "200", **alone}
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, preexec_fn=limit, check=False
    )


@pytest.fixture(scope="module")
def unused(warehouse: Path) -> int:
    """How many bytes of addresses a process has beyond its memory."""
    done = answered("compare m for S1, S2 on T", warehouse)
    peak, resident = (int(line) * 1024 for line in done.stderr.split()[-2:])
    return peak - resident


def bound(statement: str, folder: Path) -> int:
    """What `explain` says, in bytes."""
    explained = answered(f"explain {statement}", folder).stdout
    found = re.findall(r"takes at most ([\d,]+) MB", explained)
    assert found, explained
    return sum(int(most.replace(",", "")) * 10**6 for most in found)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of a process")
@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_bound_is_kept(statement: str, warehouse: Path, unused: int) -> None:
    most = bound(statement, warehouse)
    done = answered(statement, warehouse, most + unused)
    assert done.returncode == 0, done.stderr
    assert done.stdout == answered(statement, warehouse).stdout


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of a process")
def test_the_limit_is_felt(warehouse: Path, unused: int) -> None:
    """With half the addresses of a small process it fails, so that the test above can fail, too."""
    assert answered("compare m for all on T shuffles 999", warehouse, unused // 2).returncode != 0


@given(
    st.builds(
        Comparing,
        systems=st.integers(2, 2_000),
        documents=st.integers(1, 10**6),
        columns=st.integers(1, 6),
        statistics=st.integers(1, 5),
        forms=st.integers(2, 5),
        pairs=st.integers(1, 10**6),
        by_name=st.booleans(),
        values=st.booleans(),
        together=st.booleans(),
    ),
    st.sampled_from(["systems", "documents", "columns", "statistics", "pairs"]),
    st.integers(1, 50),
)
def test_more_of_anything_never_has_a_lower_bound(one: Comparing, field: str, more: int) -> None:
    how = p.Testing.plain(None)
    larger = replace(one, **{field: getattr(one, field) + more})
    assert at_most([one], how) <= at_most([larger], how) <= at_most([larger, one], how)
    assert at_most([one, larger], how) <= at_most([one, larger], how, over=True)
    assert at_most([one], how) >= memory.OWN + one.cells * 8


def test_what_could_take_too_much_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with Session.open() as session:
        monkeypatch.setattr(memory, "most", lambda: 200 * 10**6)
        monkeypatch.setattr(session.database, "columns", None)
        with pytest.raises(QueryError) as refused:
            session.run("compare F for all on TST3")
    assert str(refused.value).startswith(
        "136 pairs of 17 systems with 100 messages on TST3 could take 250 MB, and 200 MB are allowed"
    )
    assert refused.value.hints == (
        "name fewer systems, or compare them against one",
        "EVALHOUSE_MEMORY=1GB allows more",
    )


def test_a_program_that_manages_its_own_memory_may_take_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_of_machine", lambda: 64 * 10**9)
    monkeypatch.setattr(memory, "_bounded", [])
    assert memory.most() == 64 * 10**9
    monkeypatch.setattr(memory, "_bounded", [True])
    assert memory.most() == memory.allowed()
