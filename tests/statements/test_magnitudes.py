"""Values at the ends of the range that can be loaded, from the smallest number above 0 to 1e15: every statement answers
without warnings of Python, no number of an answer is infinite or undefined, and the unit of values does not matter.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from random import Random

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import render
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

DOCUMENTS = 14
SMALLEST = 5e-324

Value = Callable[[float, int, int], float]
"""The value of a document, from a random number around 1, the place of the document and that of the system."""

VALUES: dict[str, Value] = {
    "1e15": lambda about, document, system: max(-1e15, min(1e15, about * 4e14)),
    "1e-162": lambda about, document, system: about * 1e-162,
    "1e-300": lambda about, document, system: about * 1e-300,
    "1e-308": lambda about, document, system: about * 1e-308,
    "1e-315": lambda about, document, system: about * 1e-315,
    "the smallest": lambda about, document, system: round(abs(about) * 20) * SMALLEST,
    "one large beside small ones": lambda about, document, system: (
        1e15 if (document, system) == (3, 0) else about * 1e-300
    ),
    "large ones beside small ones": lambda about, document, system: 1e15 if document % 2 else about * 1e-150,
    "a small system beside a large one": lambda about, document, system: about * (1e14 if system else 1e-310),
    "nothing beside the smallest": lambda about, document, system: about * 1e-310 if system else 0.0,
    "sums that cancel": lambda about, document, system: 1.0 if system else (-1) ** document * 1e15,
    "opposites": lambda about, document, system: 1e15 if system else -1e15,
}

STATEMENTS = """
score M for all on t
score M for all on t interval
score M for all on t interval bca
compare M for A, B on t
compare M for all on t adjust maxt shuffles 99
compare M for A, B on t test studentized
compare M for A, B on t test t
compare M for A, B on t test wilcoxon
compare M for A, B on t interval bca
compare M for A, B on t margin 0.05
compare M for A, B on t margin 5% of B
compare M for A, B on t anytime
compare M for A, B on t planned 14
compare M for A, B on t, u over test sets
rank M for all on t
group M for all on t
differ M for A, B on t by document.kind
differ M for A, B on t by document.kind test randomization
power M for A, B on t
power M for A, B on t detect 0.1
power M for A, B on t detect 5% of B
table M for all on t, u
replicate M for A, B from t to u
change M for A from t to u
documents M for A, B on t
expect not worse compare M for A against B on t margin 0.05
expect score M for A on t at least 0.5 interval
score M for all on runs interval
compare M for D, E on runs
compare M for D, E on runs exchange by system
spread M for all on runs
plot score M for all on t
plot compare M for A, B on t
plot differ M for A, B on t by document.kind
plot power M for A, B on t detect 0.1
plot documents M for A, B on t
""".strip().splitlines()


@pytest.fixture(scope="module", params=VALUES)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("ends")
    of, random = VALUES[request.param], Random(1)
    rows = [
        (test_set, system, f"d{document}", "seconds", repr(of(random.gauss(1 + 0.2 * place, 0.5), document, place)))
        for test_set in "tu"
        for place, system in enumerate("ABC")
        for document in range(DOCUMENTS)
    ]
    rows += [
        ("runs", f"{model}.{run}", f"d{document}", "seconds", repr(of(random.gauss(1, 0.5), document, place)))
        for place, model in enumerate("DE")
        for run in range(3)
        for document in range(DOCUMENTS)
    ]
    models = [(f"{model}.{run}", model) for model in "DE" for run in range(3)]
    kinds = [(test_set, f"d{document}", "xy"[document % 2]) for test_set in "tu" for document in range(DOCUMENTS)]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(folder / "d.csv", "test_set document kind", kinds), "documents")
        load(database, write_csv(folder / "s.csv", "system replicate", models), "systems")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def not_finite(result: Result) -> list[tuple[str, object]]:
    cells = [cell for row in (*result.rows, *result.summary) for cell in row.items()]
    return [(name, cell) for name, cell in cells if isinstance(cell, float) and not isfinite(cell)]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_answers_in_finite_numbers(session: Session, statement: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = session.run(statement.replace("M", "seconds", 1))
        except QueryError:
            return  # such as of systems that never differ
        assert not_finite(result) == []
        for form in ("table", "csv", "markdown"):
            drawn = render(result, form, Style(width=120))
            assert not re.search(r"(?<!\w)[-+−]?(nan|inf)(?!\w)", drawn, re.IGNORECASE), drawn


@pytest.mark.parametrize("power", [-1000, -1030, -1060])
@pytest.mark.parametrize(
    ("statement", "in_units"),
    [
        ("compare M for A, B on t", ("value_a", "difference", "ci_low", "ci_high")),
        ("differ M for A, B on t by document.kind", ("difference", "shrunken", "se")),
    ],
)
def test_the_unit_of_the_smallest_values_does_not_matter(
    tmp_path: Path, statement: str, in_units: tuple[str, ...], power: int
) -> None:
    """Numbers below 2^-1022 have fewer digits, but no fewer than these need."""
    random = Random(3)
    values = {(system, place): 1000 * random.randrange(1, 9) for system in "AB" for place in range(DOCUMENTS)}
    rows = [
        ("t", system, f"d{place}", measure, repr(value * unit))
        for measure, unit in (("plain", 1.0), ("scaled", 2.0**power))
        for (system, place), value in values.items()
    ]
    kinds = [("t", f"d{place}", "xy"[place % 2]) for place in range(DOCUMENTS)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(tmp_path / "d.csv", "test_set document kind", kinds), "documents")
    with Session.open(tmp_path / "w.duckdb") as opened:
        plain, scaled = (opened.run(statement.replace("M", measure, 1)).rows for measure in ("plain", "scaled"))
    for one, other in zip(plain, scaled, strict=True):
        assert one["p"] == other["p"]
        for name in set(in_units) & set(one):
            assert float(str(other[name])) / 2.0**power == pytest.approx(float(str(one[name])), rel=1e-3), name
