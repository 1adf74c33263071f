"""A standalone cluster of three hosts, one of which is lost in the middle of a comparison. Each host is a network
namespace with an address of its own, so nothing reaches another host but over the network; only the files are shared.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from evalhouse.warehouse.session.session import Session
from tests.spark.conftest import LIGHT, QUICK
from tests.spark.statements import answer

pytestmark = pytest.mark.spark

MASTER, ONE, TWO = "10.86.7.1", "10.86.7.2", "10.86.7.3"
"""The hosts: the master, from which evalhouse asks, and two workers."""

SETTINGS = {
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    "spark.shuffle.io.retryWait": "1s",
    "spark.locality.wait": "0s",
    **LIGHT,
}
"""Work begins when both workers take part. What is lost is not waited for as long as in a network with failures that
pass.
"""

ASKING = """
import sys
from pathlib import Path
from tests.spark.conftest import QUICK
from tests.spark.statements import answer
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.session.session import Session

with Session.on_lake(sys.argv[1], sys.argv[2]) as session:
    for statement in sys.stdin.read().splitlines():
        try:
            print(answer(session, statement), flush=True)
        except WarehouseError as error:
            print("error:", error.message, flush=True)
"""


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def _name(address: str) -> str:
    return f"evalhouse-{os.getpid()}-{address.rpartition('.')[2]}"


@pytest.fixture(scope="module")
def hosts() -> Iterator[None]:
    """Three network namespaces joined by a bridge in a fourth."""
    if not shutil.which("ip"):
        pytest.skip("there is no ip (iproute2)")
    switch = _name("0")
    with ExitStack() as stack:
        try:
            for name in (switch, *map(_name, (MASTER, ONE, TWO))):
                _ip("netns", "add", name)
                stack.callback(_ip, "netns", "delete", name)
            _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
            _ip("-n", switch, "link", "set", "bridge", "up")
            for address in (MASTER, ONE, TWO):
                host, port = _name(address), f"port{address.rpartition('.')[2]}"
                _ip("-n", host, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", switch)
                _ip("-n", switch, "link", "set", port, "master", "bridge", "up")
                _ip("-n", host, "address", "add", f"{address}/24", "dev", "eth0")
                _ip("-n", host, "link", "set", "eth0", "up")
                _ip("-n", host, "link", "set", "lo", "up")
        except (OSError, subprocess.CalledProcessError) as error:
            why = getattr(error, "stderr", "") or str(error)
            pytest.skip(f"network namespaces are not permitted here: {why.strip()}")
        yield


def _processes(address: str) -> list[int]:
    return [int(word) for word in _ip("netns", "pids", _name(address)).split()]


def _lose(address: str) -> None:
    """Kills everything that runs on a host."""
    for process in _processes(address):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _on(address: str, folder: Path, *command: str, **others: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "SPARK_LOCAL_IP": address, "PYSPARK_PYTHON": sys.executable, "JDK_JAVA_OPTIONS": QUICK}
    environment |= {"SPARK_WORKER_DIR": str(folder / "work"), "SPARK_DAEMON_MEMORY": "256m"}
    environment["SPARK_CONF_DIR"] = str(folder)
    process: subprocess.Popen[str] = subprocess.Popen(
        ["ip", "netns", "exec", _name(address), *command],
        env=environment,
        cwd=Path(__file__).parents[2],
        text=True,
        stderr=subprocess.DEVNULL,
        **others,  # type: ignore[call-overload]
    )
    return process


@pytest.fixture(scope="module")
def cluster(hosts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a master with a worker on each of two other hosts, and the folder of its settings."""
    pyspark = pytest.importorskip("pyspark", reason="the extra spark is not installed")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("there is no Java")
    folder = tmp_path_factory.mktemp("cluster")
    settings = "".join(f"{name} {setting}\n" for name, setting in SETTINGS.items())
    (folder / "spark-defaults.conf").write_text(settings)
    start, deploy = str(Path(pyspark.__file__).parent / "bin" / "spark-class"), "org.apache.spark.deploy"
    address = f"spark://{MASTER}:7077"
    with ExitStack() as running:
        running.enter_context(_on(MASTER, folder, start, f"{deploy}.master.Master", "--host", MASTER, "--port", "7077"))
        for host in (ONE, TWO):
            running.enter_context(
                _on(host, folder, start, f"{deploy}.worker.Worker", address, "--host", host, "--cores", "1")
            )
        yield address, folder
        for host in (MASTER, ONE, TWO):
            _lose(host)


def _until(condition: Callable[[], bool], seconds: float = 280) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the cluster does not work"
        time.sleep(0.2)  # a look starts a process


def _computes(address: str) -> bool:
    """Whether Python of Spark's workers runs on a host."""
    for process in _processes(address):
        try:
            if b"pyspark.daemon" in Path(f"/proc/{process}/cmdline").read_bytes():
                return True
        except OSError:
            pass
    return False


LONG = "compare F for all on TST3 shuffles 30000 adjust maxt"


def test_a_host_that_is_lost_changes_no_number(cluster: tuple[str, Path], lakes: dict[str, Path]) -> None:
    address, folder = cluster
    asked = [LONG, "score F for all on TST3"]
    command = [sys.executable, "-c", ASKING, str(lakes["sample"]), address]
    with _on(MASTER, folder, *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asking:
        assert asking.stdin is not None
        assert asking.stdout is not None
        asking.stdin.write("\n".join(asked))
        asking.stdin.close()
        _until(lambda: _computes(TWO) or asking.poll() is not None)  # in the middle of the first statement
        assert asking.poll() is None
        _lose(TWO)
        found = asking.stdout.read().splitlines()
    with Session.open(lakes["sample"].with_suffix(".duckdb")) as session:
        wanted = [line for statement in asked for line in answer(session, statement).splitlines()]
    assert found == wanted
