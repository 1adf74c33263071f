"""Fingerprints of the files of a lake, kept in its manifest, so that a lake whose files have changed is refused.

A partition of facts is one file, or a few in a folder of their own. Fingerprints detect accidents, not fraud: anyone
who can write to the folder can write new fingerprints. This module does not know what the files mean.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The size of a file in bytes, and its SHA-256."""

    bytes: int
    sha256: str


Fingerprints = Mapping[str, Fingerprint]
"""Fingerprints by the path of each file inside the lake, with slashes."""


def fingerprints(folder: Path, parts: Collection[str]) -> dict[str, Fingerprint]:
    """The fingerprints of all files in some folders of a lake."""
    return {path: fingerprint(folder / path) for path in sorted(_files(folder, parts))}


def fingerprint(file: Path) -> Fingerprint:
    """The fingerprint of one file. Raises OSError."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return Fingerprint(opened.tell(), digest)


def differences(folder: Path, sealed: Fingerprints, parts: Collection[str]) -> Iterator[str]:
    """The changes in some folders of a lake since it was written, one sentence each."""
    there = _files(folder, parts)
    wanted = {path for path in sealed if path.partition("/")[0] in parts}
    for path in sorted(there | wanted):
        if path not in wanted:
            yield f"{path} is not a file of this lake"
        elif path not in there:
            yield f"{path} is missing"
        else:
            try:
                size = (folder / path).stat().st_size
                if size != sealed[path].bytes:
                    yield f"{path} has {size:,} bytes instead of {sealed[path].bytes:,}"
                elif fingerprint(folder / path) != sealed[path]:
                    yield f"{path} is not what was written"
            except OSError as error:
                yield f"{path} cannot be read: {(error.strerror or 'why is not known').lower()}"


def _files(folder: Path, parts: Collection[str]) -> set[str]:
    found = (path for part in parts for path in (folder / part).rglob("*") if not path.is_dir() or path.is_symlink())
    return {path.relative_to(folder).as_posix() for path in found}


def seal(about: Mapping[str, Any]) -> str:
    """The fingerprint of a manifest's content, without the seal itself."""
    said = {key: value for key, value in about.items() if key != "seal"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
