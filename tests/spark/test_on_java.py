"""What Spark with Java is asked of all that Sail is asked: whether anything of Spark's SQL is left out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.lake.spark.views import translate
from evalhouse.warehouse.plans.path import DuckDBEngine
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements.questions import questions
from evalhouse.warehouse.store.sql import Sql
from tests.spark.conftest import fill_values
from tests.spark.statements import ON_JAVA, STATEMENTS, answer

Part = tuple[str, str]
"""A part of a query and the part around it."""


def parts_of(query: Sql) -> Iterator[Part]:
    """The parts of a query in Spark's SQL; types, tables and the kinds of joins are told apart."""
    import sqlglot
    from sqlglot import exp

    translated = translate(query)
    for node in sqlglot.parse_one(translated.text, read="spark").walk() if translated else ():
        called = type(node).__name__
        if isinstance(node, exp.Cast):
            called += f" {node.to.sql()}"
        elif isinstance(node, exp.Join):
            called += f" {node.side} {node.kind}"
        elif isinstance(node, exp.Table | exp.Anonymous):
            called += f" {node.name}"
        yield called, type(node.parent).__name__


@pytest.mark.long
def test_java_is_asked_all_kinds_of_statements_and_of_sql(
    warehouses: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlglot")
    asked: set[Part] = set()
    for name in ("rows", "columns"):
        own = getattr(DuckDBEngine, name)

        def noting(engine: DuckDBEngine, query: Sql, own: Any = own) -> Any:
            asked.update(parts_of(query))
            return own(engine, query)

        monkeypatch.setattr(DuckDBEngine, name, noting)
    fill_values(tmp_path)
    # Copies, since some statements define.
    paths = {name: Path(shutil.copy(path, tmp_path)) for name, path in warehouses.items()}
    paths["values"] = tmp_path / "values.duckdb"
    found: dict[tuple[str, str], set[Part]] = {}
    for data, statement in STATEMENTS:
        asked.clear()
        with Session.open(paths[data]) as session:
            answer(session, statement)
        found[data, statement] = set(asked)
    on_java = set().union(*(found[each] for each in ON_JAVA))
    left_out = {each: parts - on_java for each, parts in found.items() if parts - on_java}
    assert not left_out, "put + before one of these in tests/spark/statements.py"
    assert {data for data, _ in ON_JAVA} == {data for data, _ in STATEMENTS}
    assert {question.word for question in questions()} <= {statement.split()[0] for _, statement in ON_JAVA}
