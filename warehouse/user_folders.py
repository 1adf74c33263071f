"""The folders of a user in which the program keeps its settings, its cache and its data."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_ON_LINUX = {
    "config": ("XDG_CONFIG_HOME", "~/.config"),
    "cache": ("XDG_CACHE_HOME", "~/.cache"),
    "data": ("XDG_DATA_HOME", "~/.local/share"),
}
"""For each kind of folder, the variable that names it, and where it is if the variable is not set."""


def user_folder(kind: str) -> Path:
    """The folder for one kind of files: config, cache or data. It need not exist.

    platformdirs knows where it is. On Linux it is found without platformdirs, whose import takes as long as twenty
    queries.
    """
    if sys.platform == "linux" and "ANDROID_ROOT" not in os.environ:
        variable, default = _ON_LINUX[kind]
        folder = os.environ.get(variable, "").strip() or os.path.expanduser(default)
        if os.path.isabs(folder):
            return Path(folder, "evalhouse")
    import platformdirs

    paths = {
        "config": platformdirs.user_config_path,
        "cache": platformdirs.user_cache_path,
        "data": platformdirs.user_data_path,
    }
    return paths[kind]("evalhouse")
