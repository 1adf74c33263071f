"""The generator of the Python interface needs no more than the build has, and takes a statement as its entry says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from msgspec.structs import replace

import evalhouse as eh
from evalhouse.grammar.clauses import QUESTIONS
from evalhouse.warehouse.python import generation
from evalhouse.warehouse.statements import statement_of

ROOT = Path(__file__).resolve().parents[2]

GENERATING = """
import sys
before = set(sys.modules)
from evalhouse.warehouse.python import generation as generating
list(generating.parts())
print(*(sys.modules.keys() - before))
"""


def test_the_build_asks_for_what_the_generator_imports() -> None:
    done = subprocess.run([sys.executable, "-c", GENERATING], capture_output=True, text=True, cwd=ROOT, check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    modules, distributions = done.stdout.split(), packages_distributions()
    packages = {module.partition(".")[0].lstrip("_") for module in modules}
    imported = {name for package in packages for name in distributions.get(package, ())} - {"evalhouse"}
    imported -= {"regex", "typing_extensions"}  # lark imports them where they are, and does without
    _, *required = project["build-system"]["requires"]
    assert {re.split(r"[^\w.-]", requirement)[0] for requirement in required} == imported
    assert set(required) <= set(project["project"]["dependencies"])
    # It makes these two, so it cannot import them.
    assert {"evalhouse.warehouse.python.methods", "evalhouse.warehouse.python.functions"}.isdisjoint(modules)


def test_a_statement_needs_no_example_about_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    compare = statement_of(QUESTIONS["compare"])
    bare = replace(compare, usage=replace(compare.usage, of_rows=""))
    monkeypatch.setattr(generation, "statement_of", lambda node: bare if node is bare.node else statement_of(node))
    functions = {
        function.name: ast.get_docstring(function) or ""
        for function in ast.parse(generation.functions()).body
        if isinstance(function, ast.FunctionDef)
    }
    call = """eh.compare("results.csv", 'F(beta=1)', 'GE', 'UMASS', on='TST3', shuffles=9999)"""
    assert f">>> {call}  # doctest: +SKIP" in functions["compare"]
    assert ">>> rows = [" in functions["score"]


def test_every_question_that_one_table_can_answer_is_a_function() -> None:
    assert set(generation.of_data()) <= set(eh.__all__), "evalhouse.py offers what warehouse/python/functions.py has"
