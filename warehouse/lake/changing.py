"""Changes a lake that others may be changing at the same time: a change happens as a whole or not at all, and none is
lost.

A change is prepared on a working copy, while others may do the same. Then its files are written and it is added to the
table of changes. If another writer was first, the change is moved behind that one's; if both are about the same systems
or documents, it is prepared again. Within a folder, writers take turns, but only for the last step, which is short: the
files of a large change are written before its turn. A writer that others overtook twice keeps its turn until the end.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from warehouse import ending
from warehouse.faults import DiskFullError, WarehouseError
from warehouse.lake.data_files import paths
from warehouse.lake.delta import Conflict
from warehouse.lake.log import LOAD, LakeChange, LakeLog, add, read_log
from warehouse.lake.place import LakePlace, writing
from warehouse.lake.rebasing import rebase
from warehouse.lake.settling import settle
from warehouse.lake.working import Working, change_of, working_copy
from warehouse.publishing import temporary
from warehouse.store.database import Database
from warehouse.store.lock import WAIT, nobody

_Outcome = TypeVar("_Outcome")

TRIES = 100
"""How often a change is tried where writers cannot take turns."""

OVERTAKEN = 2
"""A writer that others overtook this many times keeps its turn, so that its next try succeeds."""

LARGE = 100_000
"""A change with more new rows than this is written before its turn, because others would have to wait for it."""


def change_lake(
    place: LakePlace,
    kind: str,
    work: Callable[[Database], _Outcome],
    files: Iterable[Path] = (),
    *,
    keep: bool = True,
    wait: float = WAIT,
    tell: Callable[[str], None] = nobody,
) -> tuple[_Outcome, int]:
    """Does some work on a lake as on a warehouse. `work` gets a database and may be called again, on a later state;
    `files` are the files that it reads. If `keep` is false, nothing is stored.

    Returns what the last call of `work` returned, and how far the numbers of its imports have moved since then. Raises
    WarehouseError if the lake cannot be changed, and what `work` raises.
    """
    files = list(files)
    with temporary() as scratch, _Turn(place, wait, tell) as turn:
        log = read_log(place)
        for _ in range(TRIES):
            try:
                with working_copy(place, log.last, scratch, files, keep=keep) as working:
                    done = work(working.database)
                    if not keep:
                        return done, 0
                    moved = _published(place, working, kind, turn, tell)
                if moved is not None:
                    return done, moved
            except WarehouseError:
                # Its files may have been removed meanwhile, if the state was forgotten or the lake overwritten.
                if read_log(place).has(log.last):
                    raise
            log = read_log(place)
    raise WarehouseError(f"{place.called}: others changed it {TRIES} times meanwhile, and nothing was stored")


class _Turn:
    """The turn of a writer to change a lake. It is overtaken if others change the lake in their turns."""

    def __init__(self, place: LakePlace, wait: float, tell: Callable[[str], None]) -> None:
        self._alone = partial(place.alone, wait, tell)
        self._held = ExitStack()
        self._taken = False
        self._overtaken = 0

    @property
    def is_kept(self) -> bool:
        """Whether the writer was overtaken too often to let others go first again."""
        return self._overtaken >= OVERTAKEN

    def take(self) -> None:
        """Waits for the turn, unless the writer has it. Raises WarehouseError."""
        if not self._taken:
            self._held.enter_context(self._alone())
            self._taken = True

    def overtaken(self) -> None:
        """Gives the turn to others while the change is moved or prepared again, unless that happened too often."""
        self._overtaken += 1
        if not self.is_kept:
            self._held.close()
            self._taken = False

    def __enter__(self) -> _Turn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()


def _published(place: LakePlace, working: Working, kind: str, turn: _Turn, tell: Callable[[str], None]) -> int | None:
    """Publishes a change. Returns how far its imports have moved; None if it has to be prepared again."""
    moved = 0
    beside = working.new_facts() > LARGE
    while True:
        if turn.is_kept or not beside:
            turn.take()
        log = read_log(place)
        if log.last != working.base:
            place.fetched(paths(log.last.files))
            movable = kind == LOAD and log.has(working.base)
            further = rebase(working, log.last, log.since(working.base.number)) if movable else None
            if further is None:
                turn.overtaken()
                return None
            moved += further
        with writing(place.called):
            change = change_of(working, kind)
            try:
                turn.take()
                if not beside or read_log(place).last == working.base:
                    _publish(place, log, working, change, tell)
                    return moved
                turn.overtaken()
            except Conflict:
                time.sleep(random.uniform(0, 0.2))  # so that those who meet do not meet again
            for path in paths(change.added):
                (working.drafts / path).unlink(missing_ok=True)


def _publish(place: LakePlace, log: LakeLog, working: Working, change: LakeChange, tell: Callable[[str], None]) -> None:
    """Brings the files of a change to their places and adds it. Raises Conflict, and then its files are not there."""
    if not (change.added or change.removed or change.fingerprints):
        return
    new = paths(change.added)
    place.put(working.drafts, new)
    try:
        with ending.PATIENCE:
            longer = add(place, log, change)
    except BaseException as error:
        there = _is_there(place, new)
        if there is False:
            place.remove(new)
        if not there or not isinstance(error, WarehouseError):
            raise
        # The change is there, although what came after it failed.
        longer = read_log(place)
    # It has happened. What the Delta tables lack now, the next change gives them, or `check` says why it cannot.
    try:
        settle(place, longer)
    except (WarehouseError, DiskFullError, Conflict, OSError) as error:
        tell(f"{place.called} is changed, but its Delta tables lack the change for other programs: {error}")


def _is_there(place: LakePlace, files: Iterable[str]) -> bool | None:
    """Whether the lake has these files; None if that cannot be found out."""
    try:
        known = {*paths(read_log(place).last.files)}
    except WarehouseError:
        return None
    return not known.isdisjoint(files)
