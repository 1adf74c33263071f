"""SHA-256 of short texts. `hashlib` loads OpenSSL, which is quicker for files, but takes longer to load than a query
takes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:  # a Python that is built without its own implementation
        from hashlib import sha256

__all__ = ["sha256"]
