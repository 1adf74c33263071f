"""Templates of names: what `{stem}`, `{name}`, `{parent}` and `{parent2}` mean for a file. Opens nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

PARTS = ("stem", "name", "parent", "parent2")

_PART = re.compile(r"\{([^{}]*)\}")
_PACKED = re.compile(r"\.(gz|tgz|zst|zip|tar)$", re.IGNORECASE)


def filled(templates: Mapping[str, str], file: Path, folder: Path | None = None) -> dict[str, str]:
    """The templates, filled with the parts of a file's path. If `folder` is given, it replaces the folder of the file.
    Raises ValueError for an unknown part.
    """
    folder = folder or file.absolute().parent
    unpacked = file.name
    while _PACKED.search(unpacked):
        unpacked = _PACKED.sub("", unpacked)
    parts = {
        "stem": Path(unpacked).stem,
        "name": file.name,
        "parent": folder.name,
        "parent2": folder.parent.name,
    }

    def part(found: re.Match[str]) -> str:
        if found[1] not in parts:
            raise ValueError(f"{found[0]} is not known; the parts are {', '.join(f'{{{name}}}' for name in PARTS)}")
        return parts[found[1]]

    return {field: _PART.sub(part, template) for field, template in templates.items()}
