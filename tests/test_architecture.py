"""The code is structured as ARCHITECTURE.md describes: no import cycles, and every package in the layers that
import-linter checks.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

from evalhouse.grammar.clauses import STATEMENTS
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.process.lazy import lazy
from evalhouse.warehouse.python import generation
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, TESTS

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    ROOT / "cli.py",
    *sorted((ROOT / "evalhouse").glob("*.py")),
    *sorted((ROOT / "grammar").rglob("*.py")),
    *sorted((ROOT / "warehouse").rglob("*.py")),
]

OF_THEIR_OWN = {
    "evalhouse/__init__.py": "it offers functions that are called like statements",
    "warehouse/commands/program.py": "load is a command there",
    "grammar/editing/completion.py": "the words behind show are keywords, and completed together",
    "grammar/editing/mistakes.py": "define alone has arithmetic, expect takes some questions, and power is asked of p",
    "warehouse/loading/readers/lm_eval.py": "none is no filter of answers",
    "warehouse/loading/readers/counts.py": "a run has a column called rank",
    "warehouse/loading/readers/trec.py": "a run has columns called rank and score, and none is no compression",
    "warehouse/loading/readers/classes.py": "none is no separator of classes",
    "warehouse/loading/staging/columns.py": "a column may be called replicate, and a cell none",
    "warehouse/significance/exact/counting.py": "a way of counting is called table",
    "warehouse/plans/groups.py": "only the samples of a harness are values that a group is made of",
    "warehouse/statements/coverage.py": "a column is called documents",
    "warehouse/store/schema.py": "a database has tables",
    "warehouse/statements/rank.py": "ranks over test sets are told apart in two ways of their own",
}
"""Files that compare a word which a table has too, and why."""


@cache
def parsed(source: Path) -> ast.Module:
    """A file of the source, parsed once for all tests."""
    return ast.parse(source.read_text(encoding="utf-8"))


@cache
def nodes(source: Path) -> list[ast.AST]:
    return list(ast.walk(parsed(source)))


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """All imports: those inside of functions, those that only type checkers see, and those of tables, by `lazy`."""
    graph = grimp.build_graph("evalhouse", exclude_type_checking_imports=False, cache_dir=None)
    for source, _, address in lazy_names():
        module = ".".join(("evalhouse", *source.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        graph.add_import(importer=module, imported=address.partition(":")[0])
    return graph


def test_no_circle_of_imports(imports: grimp.ImportGraph) -> None:
    circles = [
        f"{module} imports {imported}, from which a way leads back"
        for module in sorted(imports.modules)
        for imported in sorted(imports.find_modules_directly_imported_by(module))
        if imports.chain_exists(importer=imported, imported=module)
    ]
    assert circles == []


def test_all_imports_go_through_the_one_package() -> None:
    """A checkout has `warehouse` and `grammar` at its top, too; where evalhouse is installed they are not there."""
    others = [
        f"{source.relative_to(ROOT)}:{node.lineno}"
        for source in SOURCES
        for node in nodes(source)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names])
        if module.partition(".")[0] in ("warehouse", "grammar")
    ]
    assert others == []


def test_every_room_is_in_the_layers(imports: grimp.ImportGraph) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    listed = [room.strip() for layer in layers for room in layer.split("|")]
    assert sorted(listed) == sorted(imports.find_children("evalhouse.warehouse"))


def test_every_room_is_described(imports: grimp.ImportGraph) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [room.removeprefix("evalhouse.").replace(".", "/") for room in imports.find_children("evalhouse.warehouse")]
    assert [room for room in sorted(rooms) if f"`{room}/`" not in text and f"`{room}.py`" not in text] == []


def test_names_say_what_they_hold() -> None:
    """None leaves a reader to ask: asked what, told whom, seen where, each of which?"""
    vague = {"arena", "asked", "contenders", "each", "heads", "helpers", "manager", "seen", "told", "utils"}
    named = [
        f"{source.relative_to(ROOT)}: {name}"
        for source in SOURCES
        for node in nodes(source)
        if (name := _name_given(node)).strip("_").casefold() in vague
    ]
    assert [*named, *(str(source) for source in SOURCES if source.stem in vague)] == []


def _name_given(node: ast.AST) -> str:
    """The name that a part of a program gives to something, empty where it gives none."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
    return ""


LAZY = ROOT / "warehouse" / "process" / "lazy.py"


def test_what_tables_import_when_it_is_used_is_there() -> None:
    """Every name that is given to `lazy` is one of a module of ours, and stands in a table at the top of its module."""
    inside = {id(node) for source in SOURCES for function in functions(source) for node in ast.walk(function)}
    for source, node, address in lazy_names():
        assert lazy(address).load() is not None
        assert id(node) not in inside, f"{source}: only tables are imported when they are used"


def lazy_names() -> list[tuple[Path, ast.Call, str]]:
    """Where a table names what is imported when it is used, and the name."""
    return [
        (source, node, str(argument.value))
        for source in SOURCES
        for node in nodes(source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lazy"
        for argument in node.args
        if isinstance(argument, ast.Constant)
    ]


def functions(source: Path) -> Iterator[ast.AST]:
    """The functions of a module."""
    return (node for node in nodes(source) if isinstance(node, ast.FunctionDef))


def test_imports_are_statements_and_not_strings() -> None:
    """Readers of other packages are the exception: they are found by their entry points. So are tables, by `lazy`."""
    dynamic = [
        f"{source.relative_to(ROOT)}:{node.lineno}"
        for source in SOURCES
        if source != LAZY
        for node in nodes(source)
        if isinstance(node, ast.Name | ast.Attribute)
        and (node.id if isinstance(node, ast.Name) else node.attr) in ("import_module", "__import__")
    ]
    assert dynamic == []


def test_nobody_asks_for_a_name_that_a_table_knows() -> None:
    """What a task, test, adjustment or statement is, its member says; nothing compares its name with a text."""
    names = {*KINDS, *STATEMENTS, *(test.name for test in TESTS), *(adjustment.name for adjustment in ADJUSTMENTS)}
    compared = {str(source.relative_to(ROOT)): sorted(names & set(_compared(parsed(source)))) for source in SOURCES}
    compared = {source: texts for source, texts in compared.items() if texts}
    assert {source: texts for source, texts in compared.items() if source not in OF_THEIR_OWN} == {}
    assert sorted(OF_THEIR_OWN.keys() - compared.keys()) == []


def test_the_methods_of_python_are_built_from_the_tables_as_they_are() -> None:
    for path, text in generation.parts():
        assert path.read_text(encoding="utf-8") == text, "make built"


def _compared(module: ast.Module) -> Iterator[object]:
    """The texts that a module compares with or matches: written there, in a constant of its own such as NAMES, or as
    the name of a member of a table, as in FILTERING.name.
    """
    constants = {
        target.id: [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant | ast.Tuple | ast.List | ast.Set)
    }
    for node in ast.walk(module):
        sides = (node.left, *node.comparators) if isinstance(node, ast.Compare) else ()
        sides = (node.value,) if isinstance(node, ast.MatchValue) else sides
        for part in (part for side in sides for part in ast.walk(side)):
            match part:
                case ast.Constant(value=text):
                    yield text
                case ast.Attribute(value=ast.Name(id=member), attr="name") if member.isupper():
                    yield member.casefold()
                case ast.Name(id=name):
                    yield from constants.get(name, ())


def test_readers_open_files_through_the_door_alone() -> None:
    """A script is held to its folder there. Sheets and archives are opened, too, which are not files of the script."""
    files = {"open", "read_bytes", "read_text", "iterdir", "glob", "rglob", "is_file", "exists", "stat", "ZipFile"}
    opened_otherwise = {"sheets", "archive", "tarfile", "gzip", "door"}
    room = ROOT / "warehouse" / "loading"
    ours = {room / "staging" / "door.py", room / "staging" / "sheets.py", room / "readers" / "recognition.py"}
    found = []
    for source in sorted({*(room / "readers").glob("*.py"), *(room / "staging").glob("*.py")} - ours):
        for node in nodes(source):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in files:
                of = node.func.value
                if getattr(of, "attr", getattr(of, "id", "")) not in opened_otherwise:
                    found.append(f"{source.name}: {ast.unparse(node)}")
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                found.append(f"{source.name}: {ast.unparse(node)}")
    opened_before, made_here = (
        "inspect_log.py: zipfile.ZipFile(file)",
        ("tabular.py: made.open(", "workbooks.py: made.open("),
    )
    assert [call for call in found if call != opened_before and not call.startswith(made_here)] == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_that_are_named_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]*/[\w./-]*|[\w-]+\.(?:py|md|toml|lark|sql|tables))`", text))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
