"""The wheel is complete: when installed alone, it answers from another folder as the checkout does."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEEDED = [
    "evalhouse/__init__.py",
    "evalhouse/__main__.py",
    "evalhouse/grammar/language.lark",
    "evalhouse/py.typed",
    "evalhouse/warehouse/python/functions.py",
    "evalhouse/warehouse/python/methods.py",
    "evalhouse/warehouse/store/schema.sql",
    "evalhouse/warehouse/sample_data/README.md",
    "evalhouse/warehouse/sample_data/contents.csv",
    "evalhouse/warehouse/sample_data/published/lewis_tong_1992_table2.csv",
    "evalhouse/warehouse/sample_data/simulated/scores.csv",
    "evalhouse/warehouse/sample_data/simulated/simulate.py",
]

ASKING = """
import evalhouse
print(evalhouse.__file__)
print(evalhouse.open(sample=True).score("F1", "GE", on="TST3").rows[0]["F1"])
"""


@pytest.mark.long
def test_the_wheel_works_in_an_empty_environment_beside_modules_of_the_same_names(tmp_path: Path) -> None:
    """A project of one's own may have a cli.py, a grammar.py, and folders called warehouse, sample_data and tests."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("evalhouse-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert set(NEEDED) <= names
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"evalhouse"}

    place, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    subprocess.run([*pip, f"--python={place / 'bin' / 'python'}", "install", "--no-deps", str(wheel)], check=True)
    # What it depends on is there already. A folder behind site-packages, from which no .pth leads to the checkout.
    (site / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")) + "\n")
    elsewhere.mkdir()
    for other in ("cli", "grammar"):
        (elsewhere / f"{other}.py").write_text(f"raise SystemExit('this is another {other}')\n")
    (elsewhere / "warehouse").mkdir()
    (elsewhere / "warehouse" / "__init__.py").write_text("raise SystemExit('this is another warehouse')\n")
    for folder in ("sample_data", "tests"):
        (elsewhere / folder).mkdir()
        (elsewhere / folder / "__init__.py").write_text(f"raise SystemExit('this is another {folder}')\n")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("EVALHOUSE", "PYTHON"))}
    settings |= {"PYTHONPATH": str(elsewhere), "HOME": str(elsewhere), "XDG_CACHE_HOME": str(elsewhere)}

    def printed(*command: str) -> list[str]:
        done = subprocess.run(command, capture_output=True, text=True, cwd=elsewhere, env=settings)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    python = str(place / "bin" / "python")
    found, value = printed(python, "-c", ASKING)
    assert all(file.startswith(str(place)) for file in found.split())
    assert value.startswith("0.56005")
    question = ["query", "score F for GE on TST3", "--quiet", "--sample"]
    for command in ([str(place / "bin" / "evalhouse")], [python, "-m", "evalhouse"]):
        assert printed(*command, *question)[1].startswith("TST3\textraction\tGE\t100\t0.56005")
    checked = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--python-executable={python}", "-c"]
    revealed = printed(*checked, "import evalhouse as eh\nreveal_type(eh.open(sample=True).rank('F1'))")
    assert any("PrintedResult" in line for line in revealed)
    assert any("F(beta=1)" in line for line in printed(str(place / "bin" / "evalhouse"), "demo"))
