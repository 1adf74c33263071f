"""Zstandard, alone and in zip archives: Python unpacks it from 3.14 on, and backports.zstd does under the same names
before.

Imported where a file needs it: it takes longer to import than a small file to read. Nothing else belongs here.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    import zipfile

    from compression import zstd
else:
    from backports import zstd
    from backports.zstd import zipfile

__all__ = ["zipfile", "zstd"]
