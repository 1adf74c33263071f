"""What the tests of tables in LaTeX need: pdfLaTeX and the package adjustbox."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest


@cache
def has_latex() -> bool:
    """Whether pdfLaTeX is installed with adjustbox, which Debian has in texlive-latex-extra."""
    if not shutil.which("pdflatex") or not shutil.which("kpsewhich"):
        return False
    return subprocess.run(["kpsewhich", "adjustbox.sty"], capture_output=True, check=False).returncode == 0


needs_latex = pytest.mark.skipif(not has_latex(), reason="pdflatex is not installed, or lacks adjustbox")
