"""What the files of a lake are: a fingerprint of each, kept in its manifest, so that a lake that is no longer what was
written is refused.

A partition of facts is a file, or a few in a folder of their own. Fingerprints find accidents, not deceit: whoever can
write to the folder can write new ones. What the files mean is not known here.
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
    """How many bytes a file has, and their SHA-256."""

    bytes: int
    sha256: str


Fingerprints = Mapping[str, Fingerprint]
"""By the path of each file inside of the lake, with slashes."""


def fingerprints(folder: Path, parts: Collection[str]) -> dict[str, Fingerprint]:
    """Those of all files in some folders of a lake."""
    return {path: fingerprint(folder / path) for path in sorted(_files(folder, parts))}


def fingerprint(file: Path) -> Fingerprint:
    """That of one file. Raises OSError."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return Fingerprint(opened.tell(), digest)


def differences(folder: Path, sealed: Fingerprints, parts: Collection[str]) -> Iterator[str]:
    """What is not as it was written in some folders of a lake, a sentence each."""
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
    """The fingerprint of what a manifest says, but for the seal itself."""
    said = {key: value for key, value in about.items() if key != "seal"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
