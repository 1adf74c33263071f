"""Zstandard, alone and in zip archives. Python can unpack it from 3.14 on; before that, the package backports.zstd
does, with the same names.

Import this module only for a file that needs it: the import takes longer than reading a small file. Nothing else
belongs here.
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
