"""The rooms of evalhouse; ARCHITECTURE.md says what is in each. Programs use `import evalhouse`.

This module imports nothing heavy, because every command imports it.
"""

from __future__ import annotations

from evalhouse.warehouse.version import __version__

__all__ = ["__version__"]
