"""Work for Spark's workers: each task goes to one of them as bytes, and its result comes back as bytes.

The workers have evalhouse installed. A worker with another version is refused, because its digits could differ.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from warehouse.faults import WarehouseError
from warehouse.lake.spark.starting import Spark
from warehouse.query.engine import Done, Portion
from warehouse.version import __version__

OTHER_VERSION = b"other version "
"""How the answer of a worker with another evalhouse begins. A pickle begins otherwise."""


def share_out(spark: Spark, work: Callable[[Portion], Done], tasks: Sequence[Portion]) -> list[Done]:
    """The result of the work for each task, in the order of the tasks. Up to as many tasks as Spark does at once are
    each a partition of its own.

    Raises WarehouseError.
    """
    if not tasks:
        return []
    from pyspark import cloudpickle  # measures hold functions without a name, which pickle refuses

    dumps: Callable[[Any], bytes] = cloudpickle.dumps
    made = partial(_worked, __version__, dumps(work))
    pickles = [bytearray(dumps(task)) for task in tasks]

    def frame() -> Any:
        return spark.spread(pickles).mapInArrow(made, "place long, done binary")

    table = spark.collected(frame)
    by_place = dict(zip(table.column("place").to_pylist(), table.column("done").to_pylist(), strict=True))
    if other := next((done for done in by_place.values() if done.startswith(OTHER_VERSION)), None):
        theirs = other.removeprefix(OTHER_VERSION).decode()
        what = f"Spark's workers have evalhouse {theirs}, and this is {__version__}"
        raise WarehouseError(what, ("install the same evalhouse for the Python that runs the workers",))
    return [pickle.loads(by_place[place]) for place in range(len(tasks))]


def _worked(version: str, pickled: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """What a worker does with its tasks."""
    import pyarrow as pa

    if version != __version__:
        done = OTHER_VERSION + __version__.encode()
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"place": batch.column(0), "done": [done] * batch.num_rows})
        return
    work = pickle.loads(pickled)
    for batch in batches:
        for place, task in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            done = pickle.dumps(work(pickle.loads(task)))
            yield pa.RecordBatch.from_pydict({"place": pa.array([place], pa.int64()), "done": [done]})
