"""The one door through which readers open files: anywhere, or only in the folder that a script is held to; and how much
a packed file may become behind it.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

from warehouse.faults import DataError, Fault
from warehouse.loading.staging.unpacking import Bound

LIFTS = "--allow-files lets its statements read and write files anywhere"


@dataclass(frozen=True, slots=True)
class Door:
    """Where files may be opened: in a folder and below, wherever links lead, or everywhere."""

    inside: Path | None = None
    unpacked: Bound = field(default_factory=Bound)

    def open(self, file: Path) -> BufferedReader:
        """The bytes of a file. Raises OSError where it cannot be opened, and DataError where it may not be."""
        try:
            str(file.absolute()).encode()
        except UnicodeEncodeError:
            raise DataError((Fault(str(file), None, "the path is not UTF-8, and DuckDB can open no other"),)) from None
        opened = open(file, "rb", opener=_at_once)  # noqa: SIM115
        try:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                # It may have no end, and what is read of it once is gone.
                no_file = "is a pipe or a device, not a file; save its output to a file and load that"
                raise DataError((Fault(str(file), None, no_file),))
            if self.inside is not None:
                # Looked at when it is open: what is read then is what was looked at.
                real = os.path.realpath(file)
                is_inside = Path(real).is_relative_to(os.path.realpath(self.inside))
                if not is_inside or not os.path.samestat(os.stat(real), os.fstat(opened.fileno())):
                    raise DataError((Fault(str(file), None, f"is outside the script's folder; {LIFTS}"),))
        except BaseException:
            opened.close()
            raise
        return opened

    def names(self, folder: Path) -> list[str]:
        """The names of what is in a folder, in their order; none of a folder where files may not be opened."""
        if self.inside is not None and not folder.resolve().is_relative_to(self.inside.resolve()):
            return []
        return sorted(os.listdir(folder))


def _at_once(path: str, flags: int) -> int:
    """Opens without waiting for a program at the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


EVERYWHERE = Door()
"""For files that a person names."""
