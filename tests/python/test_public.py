"""The public interface is documented in numpydoc style, its examples run, and type checkers can read it."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalhouse as eh

ROOT = Path(__file__).resolve().parents[2]

EXAMPLE = re.compile(r"^Examples\n-+\n>>> ", re.MULTILINE)

EXCEPTIONS = [name for name in eh.__all__ if name.endswith("Error")]


def public() -> Iterator[tuple[str, Any]]:
    """Functions and methods that programs may call, by the names by which they are known."""
    for name in eh.__all__:
        thing = getattr(eh, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            yield name, thing
            if name in EXCEPTIONS:
                continue
            for method, of_class in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_"):
                    yield f"{name}.{method}", of_class


PUBLIC = dict(public())


def test_all_is_what_there_is() -> None:
    names: dict[str, Any] = {}
    exec("from evalhouse import *", names)
    assert set(eh.__all__) == names.keys() - {"__builtins__"}
    assert eh.__all__ == sorted(eh.__all__, key=lambda name: (name.islower() or "_" in name, name))
    assert all(inspect.getdoc(getattr(eh, name)) for name in eh.__all__ if name != "__version__")


@pytest.mark.parametrize("name", [name for name in EXCEPTIONS if name != "Error"])
def test_errors_have_one_base(name: str) -> None:
    assert issubclass(getattr(eh, name), eh.Error)


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if inspect.isfunction(thing)])
def test_every_parameter_is_described(name: str) -> None:
    function = PUBLIC[name]
    doc = inspect.getdoc(function) or ""
    summary = doc.split("\n\n")[0]
    assert summary[:1].isupper()
    assert summary.endswith(".")
    sections = dict(re.findall(r"^(\w+)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL))
    described = [
        word.strip()
        for line in re.findall(r"^(\S.*?) : ", sections.get("Parameters", ""), re.MULTILINE)
        for word in line.split(",")
    ]
    parameters = inspect.signature(function).parameters.values()
    assert described == [str(one).partition(":")[0] for one in parameters if one.name != "self"]
    returned = inspect.signature(function).return_annotation
    if returned not in ("None", inspect.Signature.empty):
        assert "Returns" in sections or "Yields" in sections


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_has_an_example(name: str) -> None:
    assert EXAMPLE.search(inspect.getdoc(PUBLIC[name]) or "")


@pytest.mark.docs
@pytest.mark.parametrize("name", PUBLIC)
def test_examples_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thing = PUBLIC[name]
    if inspect.isclass(thing) and thing.__doc__ is None:
        pytest.fail(f"{name} is not described")
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    failed = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert failed.failed == 0


PROGRAM = """
from pathlib import Path

import evalhouse as eh

w: eh.Warehouse = eh.open(Path("evals.duckdb"), read_only=True)
result: eh.Result = w.compare("F1", "GE", "UMASS", on="TST3", shuffles=9999, one_sided=True, missing="drop")
for row in w.rank(["F1", "recall"], "all", on=["TST3", "TST4"], over_test_sets=True):
    print(row["system"])
w.change("recall", from_="TST3", to="TST4", trim=1)
try:
    eh.compare([{"model": "a"}], "accuracy", "new", "base", cluster="passage", level=0.1).plot().save("x.svg")
except (eh.QueryError, eh.LoadError) as error:
    print(error.hints)
"""

WRONG = {
    'w.compare("F1", "GE", "UMASS", shufles=9)': 'Unexpected keyword argument "shufles" for "compare"',
    'w.score("F1", shuffles=9)': 'Unexpected keyword argument "shuffles" for "score"',
    'w.score("F1", missing="keep")': 'Argument "missing" to "score"',
    'w.change("F1", from_="TST3")': 'Missing named argument "to"',
    "w.score(3)": 'Argument 1 to "score"',
    'eh.compare([], "F1", clustr="passage")': 'Unexpected keyword argument "clustr" for "compare"',
}


def test_what_the_package_offers_is_what_its_interface_defines() -> None:
    """Both are written out: the package for those who type, the interface for type checkers."""
    from evalhouse.warehouse.python import interface

    assert eh.__all__ == interface.__all__
    assert all(getattr(eh, name) is getattr(interface, name) for name in eh.__all__)


@pytest.mark.long
def test_type_checkers_know_the_clauses(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "right.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "wrong.py").write_text("\n".join(["import evalhouse as eh", "w = eh.open()", *WRONG, ""]))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent"]
    command += ["--cache-dir", str(tmp_path / "cache"), "right.py", "wrong.py"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}
    )
    of_programs = [line for line in done.stdout.splitlines() if line.startswith(("right.py", "wrong.py"))]
    errors = [line for line in of_programs if ": error:" in line]
    assert len(errors) == len(WRONG), done.stdout
    for place, (error, wanted) in enumerate(zip(errors, WRONG.values(), strict=True), start=3):
        assert error.startswith(f"wrong.py:{place}: error: ")
        assert wanted in error
