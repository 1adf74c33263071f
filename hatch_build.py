"""What hatchling runs before it builds a wheel or a source distribution, or installs a checkout: it makes the modules
that are built and not kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedModules(BuildHookInterface[Any]):
    """Makes the methods and functions of the Python interface, in a process of its own."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files. Raises CalledProcessError if the program cannot be imported."""
        found = os.pathsep.join(filter(None, (self.root, os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-m", "evalhouse.warehouse.python.generation"]
        subprocess.run(command, cwd=self.root, env={**os.environ, "PYTHONPATH": found}, check=True)
