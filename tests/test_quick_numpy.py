"""Commands import numpy without its docstrings, its types, OpenSSL, and modules of Python that it seldom uses. It
computes the same, and who needs them later gets them.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from warehouse.quick_numpy import DOCSTRINGS, LATER, TYPES, _Later

IMPORTED = "from warehouse.quick_numpy import import_numpy_quickly; import_numpy_quickly(); import sys, numpy; "
COMMAND = "import sys; from warehouse.commands.program import command; sys.exit(command())"
COMPARE = "compare F for GE, UMASS on TST3 shuffles 999"


def printed(code: str) -> str:
    """What a new Python prints last."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("name", [*DOCSTRINGS, TYPES])
def test_numpy_has_the_modules_that_are_left_out(name: str) -> None:
    assert find_spec(name) is not None, f"numpy no longer has {name}: leave out what it has now"


def test_they_are_left_out() -> None:
    assert printed(IMPORTED + "print(bool(numpy.array.__doc__))") == "False"


def test_seeds_that_are_not_given_come_from_the_system() -> None:
    drawn = "print(numpy.random.default_rng().integers(2**60), '_hashlib' in sys.modules)"
    first, second = printed(IMPORTED + drawn), printed(IMPORTED + drawn)
    assert first != second
    assert first.endswith(" False")


def test_secrets_can_be_imported_later() -> None:
    assert len(printed(IMPORTED + "import secrets; print(secrets.token_hex(8))")) == 16


def test_the_types_can_be_imported_later() -> None:
    shown = printed(IMPORTED + "from numpy.typing import NDArray; print(NDArray[numpy.int64])")
    assert shown == printed("import numpy; from numpy.typing import NDArray; print(NDArray[numpy.int64])")


@pytest.mark.parametrize(
    "code",
    [
        "numpy.array([1, 2]).dumps()",
        "numpy.array([1, 2]).ctypes.data_as(numpy.ctypeslib.ctypes.POINTER(numpy.ctypeslib.c_intp))[1]",
        "numpy.matrix('1 2; 3 4').tolist()",
        "__import__('inspect').signature(numpy.mean)",
        "getattr(numpy._core.overrides, 'inspect', __import__('inspect')).cleandoc('  a\\n    b')",
        "getattr(numpy._core.overrides, 'inspect', __import__('inspect')).signature(numpy.mean)",
        "numpy.ma.masked_array([1, 2], [0, 1]).sum(), numpy.ctypeslib.c_intp",
        "numpy.lib.introspect.opt_func_info(func_name='add', signature='float64')",
    ],
)
def test_what_is_imported_later_does_the_same(code: str) -> None:
    assert printed(IMPORTED + f"print({code})") == printed(f"import numpy; print({code})")


@pytest.mark.parametrize("name", LATER)
def test_each_of_them_can_be_imported_later(name: str) -> None:
    assert printed(f"from warehouse.quick_numpy import _Later; print(_Later('{name}').__file__)").endswith(".py")


def test_what_stands_for_a_module_has_what_the_module_has() -> None:
    assert _Later("inspect").cleandoc is inspect.cleandoc
    assert _Later("ctypes").__path__ == ctypes.__path__
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        _ = _Later("ast").absent


def test_numpy_that_is_there_stays_as_it_is() -> None:
    assert printed("import numpy; " + IMPORTED + "print(bool(numpy.array.__doc__))") == "True"


def test_eigenvalues_and_random_numbers_are_there() -> None:
    computed = "print(numpy.linalg.eigh(numpy.eye(2)), numpy.random.Generator(numpy.random.SFC64(1)).random())"
    assert printed(IMPORTED + computed) == printed("import numpy; " + computed)


def test_numpy_is_loaded_as_python_loads_it() -> None:
    loaded = "print(type(numpy.__loader__).__name__, numpy.__loader__ is numpy.__spec__.loader)"
    assert printed(IMPORTED + loaded) == printed("import numpy; " + loaded) == "SourceFileLoader True"


def test_a_comparison_imports_it_so_and_needs_nothing_that_is_left_out(tmp_path: Path) -> None:
    asked = [sys.executable, "-X", "importtime", "-c", COMMAND, "query", "--sample", COMPARE]
    # A cache of its own, which tests of another version do not change. The first time makes the sample data there.
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    _, done = (subprocess.run(asked, capture_output=True, text=True, check=True, env=env) for _ in range(2))
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "numpy.random" in imported
    # Statements are parsed by lark, which imports some of them itself.
    by_lark = set(printed("import sys, lark; print(*sys.modules)").split())
    assert (imported - by_lark).isdisjoint({*DOCSTRINGS, *LATER, TYPES, "_hashlib"})
