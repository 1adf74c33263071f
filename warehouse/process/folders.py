"""The folders of a user in which the program keeps its settings, its cache and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def user_folder(kind: Literal["config", "cache", "data"]) -> Path:
    """The folder for one kind of files, where platformdirs says that it is. It need not exist."""
    # `--help` asks for no folder.
    import platformdirs

    match kind:
        case "config":
            return platformdirs.user_config_path("evalhouse")
        case "cache":
            return platformdirs.user_cache_path("evalhouse")
        case "data":
            return platformdirs.user_data_path("evalhouse")
