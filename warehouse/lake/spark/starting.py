"""Spark sessions: with Java in this process, which talks to a cluster, or over Spark Connect to a server.

A server for Spark Connect must already run. What the two ways do differently is here. This module reads no lake.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from evalhouse.warehouse.faults import WarehouseError

# === errors of Spark ==================================================================================================
# Each becomes an error of one line.

LOST = ("UNAVAILABLE", "failed to connect to all addresses", "RETRIES_EXCEEDED", "Connection refused")
"""What gRPC says of a server that does not answer."""

NO_SESSION = ("session is not running", "SESSION_NOT_FOUND", "SESSION_CLOSED", "SESSION_CHANGED")
"""What a server says of a session that it does not know, because it was started again."""


def spark_error(error: Exception, at: str) -> WarehouseError:
    """The error of a statement that Spark `at` an address could not answer. Raises any error that is not Spark's."""
    if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark", "grpc"):
        raise error
    text = str(error)
    if "cancelled" in text.lower() or "canceled" in text.lower():
        return WarehouseError("interrupted")
    if any(sign in text for sign in (*LOST, *NO_SESSION)) or type(error).__name__ == "RetriesExceeded":
        return WarehouseError(f"Spark at {at} was lost", ("ask again once it runs",))
    if found := re.search(r"No module named '(\w+)", text):
        what = f"the Python of Spark's workers has no module {found[1]}"
        return WarehouseError(what, ("install the same evalhouse for the Python that runs the workers",))
    return WarehouseError(f"Spark cannot answer this: {sentence(text)}")


def sentence(text: str) -> str:
    """The innermost cause of a long Spark message, in one line and without the trace."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r":? ?[\w.]+(Exception|Error): ", line)]
    causes = [line for line in lines if line.startswith("Caused by: ")] or errors
    said = (causes or lines or ["nothing is known"])[-1 if causes else 0]
    said = re.sub(r"^\([\w.$]+\) ", "", said)
    return re.sub(r"^(Caused by: |: )?([\w.$]+(Exception|Error): )*", "", said).rstrip(" .!")[:300]


# === starting a session ===============================================================================================

LOCAL = "local[*]"
"""All processors of this machine."""

CONNECT = "sc://"
"""How the address of a Spark Connect server begins."""

CONNECT_PORT = 15002
"""The port of a Spark Connect server whose address does not name one."""

ADDRESS = re.compile(r"local(\[(\*|[1-9]\d*)(, *\d+)?\])?|spark://\S+:\d+|k8s://\S+|yarn")
"""What --master may be beside a Spark Connect server. Java would start before it refuses another."""

WAIT = 5.0
"""How many seconds a server has to accept a connection."""

PATIENCE: Mapping[str, Any] = {
    "max_retries": 6,
    "initial_backoff": 50,
    "max_backoff": 4000,
    "backoff_multiplier": 4.0,
}
"""How often a lost server is tried again, and how long the waits are, in milliseconds: twelve seconds in all. pyspark
itself tries for ten minutes.
"""

FEWEST_PARTS = 4
"""Work for a Spark Connect server is divided into at least this many parts."""

SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",  # a sum that overflows is an error, and not null
    "spark.sql.session.timeZone": "UTC",
}
"""The settings of every session."""

SETTINGS_OF_PROCESS: Mapping[str, str] = {
    **SETTINGS,
    "spark.app.name": "evalhouse",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
SETTINGS_ON_THIS_MACHINE: Mapping[str, str] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}


class Spark(Protocol):
    """A Spark session, and what depends on where it runs."""

    @property
    def session(self) -> Any: ...

    @property
    def address(self) -> str: ...

    @property
    def same_files(self) -> bool:
        """Whether it surely sees the files of this machine."""

    def parallelism(self) -> int:
        """How many pieces of work it does at once."""

    def collect_rows(self, frame: Callable[[], Any]) -> Any:
        """The rows of a Spark frame as an Arrow table. Raises WarehouseError."""

    def spread(self, tasks: Sequence[bytearray]) -> Any:
        """A Spark frame of the columns `place` and `task`, whose rows are on as many partitions as there can be."""

    def interrupt(self) -> None:
        """Stops what another thread is waiting for."""

    def close(self) -> None:
        """Ends the session."""


class InProcess(Struct, frozen=True):
    """A session whose driver is a Java process of this one."""

    session: Any
    address: str

    @property
    def same_files(self) -> bool:
        """Whether it surely sees the files of this machine. A cluster must see them too, or reading fails."""
        return True

    def parallelism(self) -> int:
        """How many pieces of work it does at once."""
        return int(self.session.sparkContext.defaultParallelism)

    def collect_rows(self, frame: Callable[[], Any]) -> Any:
        """The rows of a Spark frame as an Arrow table. Raises WarehouseError."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        def before_spark_4(made: Any) -> Any:
            return pa.Table.from_batches(made._collect_as_arrow(), schema=to_arrow_schema(made.schema))

        return _collect(frame, before_spark_4, self.address)

    def spread(self, tasks: Sequence[bytearray]) -> Any:
        """A Spark frame of the columns `place` and `task`, whose rows are on as many partitions as there can be."""
        import pyarrow as pa

        if not hasattr(self.session.range(0), "toArrow"):  # before Spark 4, which takes Arrow
            return _sorted_apart(self.session, tasks)
        # Java divides these by itself, large ones by their batches. Rows would first go through Python of the workers.
        kinds = pa.schema({"place": pa.int64(), "task": pa.binary()})
        rows = [pa.record_batch([[place], [bytes(task)]], schema=kinds) for place, task in enumerate(tasks)]
        return self.session.createDataFrame(pa.Table.from_batches(rows))

    def interrupt(self) -> None:
        """Stops what another thread is waiting for."""
        self.session.sparkContext.cancelAllJobs()

    def close(self) -> None:
        """Nothing: all sessions of the process share its Java, which ends with it."""


class Connected(Struct, frozen=True):
    """A session on a Spark Connect server, which may be on another machine."""

    session: Any
    address: str

    @property
    def same_files(self) -> bool:
        """Whether it surely sees the files of this machine."""
        return False

    def parallelism(self) -> int:
        """About how many pieces of work it does at once: the number of parts into which it divides a range. A server
        tells no more than that, and Sail does not even divide.
        """
        parts = "select count(distinct part) as parts from (select spark_partition_id() as part from range(100000))"
        return max(FEWEST_PARTS, int(self.collect_rows(lambda: self.session.sql(parts)).column(0)[0].as_py()))

    def collect_rows(self, frame: Callable[[], Any]) -> Any:
        """The rows of a Spark frame as an Arrow table. Raises WarehouseError."""
        client = self.session.client
        return _collect(frame, lambda made: client.to_table(made._plan.to_proto(client))[0], self.address)

    def spread(self, tasks: Sequence[bytearray]) -> Any:
        """A Spark frame of the columns `place` and `task`, whose rows are on as many partitions as there can be."""
        return _sorted_apart(self.session, tasks)

    def interrupt(self) -> None:
        """Stops what another thread is waiting for."""
        with suppress(Exception):
            self.session.interruptAll()

    def close(self) -> None:
        """Ends the session, so that the server forgets its views."""
        with suppress(Exception):
            self.session.stop()


def _sorted_apart(session: Any, tasks: Sequence[bytearray]) -> Any:
    """A Spark frame of the columns `place` and `task` with a partition for each row."""
    frame = session.createDataFrame(list(enumerate(tasks)), "place long, task binary")
    return frame.repartitionByRange(len(tasks), "place")


def _collect(frame: Callable[[], Any], before_spark_4: Callable[[Any], Any], at: str) -> Any:
    """The rows of a Spark frame as an Arrow table. Raises WarehouseError."""
    try:
        with _without_warnings():
            made = frame()
            return made.toArrow() if hasattr(made, "toArrow") else before_spark_4(made)
    except Exception as error:
        raise spark_error(error, at) from None


def start_session(master: str) -> Spark:
    """A session of its own at an address. Raises WarehouseError if there is no Spark, no Java, or no such address."""
    try:
        import pyarrow  # noqa: F401
        import sqlglot  # noqa: F401

        with suppress(ImportError):  # since Spark 4, which writes each error on the screen, with its trace
            from pyspark.logger import PySparkLogger

            PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
        with _without_warnings():
            if master.startswith(CONNECT):
                return _connect(master)
            return _in_process(master)
    except ImportError as error:
        missing = error.name or sentence(str(error))
        what = f"--engine spark needs {missing}, which is not installed"
        raise WarehouseError(what, ("pip install 'evalhouse[spark]'",)) from None


def _connect(address: str) -> Connected:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # the error says what it would print
    # Its own work in a fork aborts some programs that are started later, such as the Java of a Spark in this process.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    from pyspark.sql.connect.session import SparkSession

    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port or CONNECT_PORT
    except ValueError:
        host, port = "", 0
    if not host:
        raise WarehouseError(
            f"{address} is not the address of a Spark Connect server", ("write sc://HOST or sc://HOST:PORT",)
        )
    # pyspark tries for a long time and does not say what is wrong, so this connection is tried first.
    try:
        socket.create_connection((host, port), WAIT).close()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        hint = "`sail spark server` starts one, or sbin/start-connect-server.sh of Spark"
        raise WarehouseError(f"no Spark Connect server answers at {address}: {why}", (hint,)) from None
    try:
        session = SparkSession.builder.remote(address).create()
        _be_patient(session.client)
        for name, setting in SETTINGS.items():
            session.conf.set(name, setting)
    except Exception as error:
        raise WarehouseError(f"{address} does not answer as Spark Connect: {sentence(str(error))}") from None
    return Connected(session, address)


def _be_patient(client: Any) -> None:
    """Sets how long a lost server is waited for."""
    if hasattr(client, "set_retry_policies"):  # since Spark 4
        from pyspark.sql.connect.client.retries import DefaultPolicy

        client.set_retry_policies([DefaultPolicy(**PATIENCE)])
    else:
        client._retry_policy.update(PATIENCE)


def _in_process(master: str) -> InProcess:
    from pyspark.sql import SparkSession

    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        hint = f"install it, set JAVA_HOME, or name a Spark Connect server: --master {CONNECT}HOST"
        raise WarehouseError(f"--engine spark needs Java 17 for --master {master}, which is not installed", (hint,))
    if not ADDRESS.fullmatch(master):
        addresses = f"--master {CONNECT}HOST, local[4], spark://HOST:7077, yarn or k8s://HOST are addresses"
        raise WarehouseError(f"{master} is not the address of a Spark", (addresses,))
    settings = {**SETTINGS_OF_PROCESS, **(SETTINGS_ON_THIS_MACHINE if master.startswith("local") else {})}
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder
    with _quiet() as written:
        try:
            spark = builder.master(master).config(map=settings).getOrCreate()
        except Exception as error:
            why = sentence(str(error))
            hints: tuple[str, ...] = ("--master URL names another",)
            if "gateway" in why.lower():
                why = "Java did not start; Spark 4 runs on Java 17 and 21, Spark 3.5 on 8, 11 and 17"
                hints = (*(f"Java says: {line}" for line in written()[:1]), *hints)
            raise WarehouseError(f"Spark does not start on {master}: {why}", hints) from None
        spark.sparkContext.setLogLevel("OFF")
    return InProcess(spark.newSession(), master)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Within this context, pyspark does not warn of pandas and distutils, which are not used here, or of lost servers,
    which are errors anyway.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _quiet() -> Iterator[Callable[[], list[str]]]:
    """Within this context, what Java writes to standard error goes to a file that has no name, and not to the screen.
    The value gives the lines of it.
    """
    sys.stderr.flush()
    with TemporaryFile() as file:

        def written() -> list[str]:
            file.seek(0)
            return file.read(10_000).decode(errors="replace").splitlines()

        kept = os.dup(2)
        try:
            os.dup2(file.fileno(), 2)
            yield written
        finally:
            os.dup2(kept, 2)
            os.close(kept)
