"""A load into a lake is told to end while it waits for its turn or has it: it says nothing odd, leaves nothing half
done, and the next load goes on.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

import pytest

from evalhouse.warehouse.lake.maintenance import check
from evalhouse.warehouse.lake.place import Folder
from evalhouse.warehouse.store.replacement import nobody
from tests.counting import Count
from tests.lake.test_killed import in_order
from tests.lakes import answer, empty_lake, loaded, scores
from tests.test_ending import ROOT, STATUS

pytestmark = pytest.mark.crash

NUMBERS = pytest.mark.parametrize("number", STATUS, ids=lambda number: number.name)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A lake with one load, and a folder for what commands spill."""
    folder = tmp_path_factory.mktemp("ending")
    (folder / "spilled").mkdir()
    lake = empty_lake(folder / "lake")
    loaded(lake, scores(folder, "first"))
    return lake


def loading(lake: Folder, system: str) -> subprocess.Popen[str]:
    folder = lake.path.parent
    return subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), "load", str(scores(folder, system)), "--db", str(lake.path)],
        env={**os.environ, "TMPDIR": str(folder / "spilled")},
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(lake: Folder, process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Tells a load to end. Whether it ended before it was done; in any case it must have left nothing."""
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said, said
    assert process.returncode in (0, STATUS[number]), said
    assert list((lake.path.parent / "spilled").iterdir()) == []
    return process.returncode != 0


def has_its_turn(lake: Folder, process: subprocess.Popen[str]) -> bool:
    with suppress(FileNotFoundError):
        return f'"pid": {process.pid},' in (lake.path / "change.lock").read_text()
    return False


def systems(lake: Folder) -> set[object]:
    return {row[2] for row in answer(lake, "score F for all on T")}


@NUMBERS
def test_while_it_waits(shared: Folder, number: signal.Signals, count: Count) -> None:
    before = systems(shared)
    with shared.alone(0, nobody):
        process = loading(shared, f"waits-{number}")
        assert process.stderr is not None
        while "waiting for process" not in process.stderr.readline():
            assert process.poll() is None
        assert ended(shared, process, number)
        assert systems(shared) == before
    loaded(shared, scores(shared.path.parent, f"after-{number}"))
    assert systems(shared) == before | {f"after-{number}"}
    in_order(shared)
    count("loads into a lake that were told to end while they waited", 1)


@NUMBERS
@pytest.mark.parametrize("turns", [(0, 2), pytest.param(range(4), marks=pytest.mark.soak)], ids=["twice", "often"])
def test_while_it_has_its_turn(shared: Folder, number: signal.Signals, turns: Iterable[int], count: Count) -> None:
    """In each turn the signal comes a little later."""
    chance, unfinished = random.Random(number), 0
    for turn in turns:
        before, system = systems(shared), f"turn-{number}-{turn}"
        process = loading(shared, system)
        while not has_its_turn(shared, process):
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.1) * turn)
        stopped = ended(shared, process, number)
        assert systems(shared) in ((before, before | {system}) if stopped else (before | {system},))
        assert check(shared)[0] == ()
        unfinished += stopped
    loaded(shared, scores(shared.path.parent, f"last-{number}"))
    in_order(shared)
    count("loads into a lake that were told to end while they had their turn", unfinished)
