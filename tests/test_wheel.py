"""The wheel carries everything: installed on its own it answers from another folder as the checkout does."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEEDED = [
    "cli.py",
    "grammar/language.lark",
    "grammar/language.tables",
    "warehouse/store/schema.sql",
    "warehouse/py.typed",
    "sample_data/README.md",
    "sample_data/contents.csv",
    "sample_data/published/lewis_tong_1992_table2.csv",
    "sample_data/simulated/scores.csv",
    "sample_data/simulated/simulate.py",
]


@pytest.mark.long
def test_the_wheel_works_on_its_own(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("evalhouse-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert set(NEEDED) <= names
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"cli.py", "grammar", "warehouse", "sample_data"}

    place, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    subprocess.run([*pip, "install", "--no-deps", "--target", str(place), str(wheel)], check=True)
    settings = {**os.environ, "PYTHONPATH": str(place), "HOME": str(elsewhere), "XDG_CACHE_HOME": str(elsewhere)}
    where = [
        sys.executable,
        "-c",
        "import warehouse, grammar, cli; print(warehouse.__file__, grammar.__file__, cli.__file__)",
    ]
    found = subprocess.run(
        where, capture_output=True, text=True, check=True, cwd=elsewhere, env=settings
    ).stdout.split()
    assert all(file.startswith(str(place)) for file in found)
    script = [sys.executable, str(place / "bin" / "evalhouse"), "query", "score F for GE on TST3", "--quiet"]
    asked = subprocess.run(script, capture_output=True, text=True, cwd=elsewhere, env=settings)
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout.splitlines()[1].startswith("TST3\textraction\tGE\t100\t0.56005")
