"""`expect`: what is met, not met or undecided, the corresponding exit status, and what cannot be expected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import cli
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import NotMetError, UndecidedError
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

ANSWERS = {
    "new": [1] * 90 + [0] * 10,
    "base": [0] * 2 + [1] * 88 + [0] * 10,
    "old": [1] * 45 + [0] * 55,
    "odd": [1, 0] * 50,
}
"""Right and wrong answers to a hundred questions."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate")
    rows = [("nightly", s, f"q{k:03}", "accuracy", right) for s, of in ANSWERS.items() for k, right in enumerate(of)]
    rows += [
        ("nightly", s, f"q{k:03}", "latency", 100 + 10 * k % 7 + late)
        for s, late in (("new", 0), ("old", 50))
        for k in range(20)
    ]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "v.csv", "test_set system document measure value", rows), "values")
    return folder / "w.duckdb"


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("expectation", "outcome", "why"),
    [
        ("better compare accuracy for new against old on nightly", "met", "p <.0001 ≤ 0.05, and the first is better"),
        (
            "better compare accuracy for old against new on nightly",
            "not met",
            "p <.0001 ≤ 0.05, and the second is better",
        ),
        ("better compare accuracy for new against base on nightly", "not met", "p 0.5000 > 0.05"),
        (
            "better compare accuracy for new against old on nightly one-sided",
            "met",
            "p <.0001 ≤ 0.05, and the first is better",
        ),
        ("worse compare accuracy for old against new on nightly", "met", "p <.0001 ≤ 0.05, and the second is better"),
        (
            "worse compare accuracy for new against old on nightly",
            "not met",
            "p <.0001 ≤ 0.05, and the first is better",
        ),
        ("different compare accuracy for new, old on nightly", "met", "p <.0001 ≤ 0.05"),
        ("different compare accuracy for new, base on nightly", "not met", "p 0.5000 > 0.05"),
        ("not worse compare accuracy for base against new on nightly margin 10%", "met", "p not worse <.0001 ≤ 0.05"),
        ("not worse compare accuracy for base against new on nightly margin 5%", "undecided", None),
        ("not worse compare accuracy for old against new on nightly margin 5%", "not met", "p not worse 1.0000 > 0.05"),
        (
            "not worse compare accuracy for old against odd on nightly margin 5%",
            "undecided",
            "p not worse 0.5013 > 0.05",
        ),
        ("equivalent compare accuracy for base, new on nightly margin 10%", "met", None),
        ("equivalent compare accuracy for odd, new on nightly margin 5%", "not met", None),
        ("equivalent compare accuracy for new, base on nightly margin 1%", "undecided", None),
        ("better compare latency for new against old on nightly", "met", "p <.0001 ≤ 0.05, and the first is better"),
        (
            "better compare accuracy for new against old on nightly adjust holm",
            "met",
            "adjusted p <.0001 ≤ 0.05, and the first is better",
        ),
        ("better compare accuracy for new against base on nightly shuffles 19", "not met", None),
        ("different compare accuracy for new, old on nightly shuffles 19", "undecided", None),
    ],
)
def test_what_a_comparison_shows(session: Session, expectation: str, outcome: str, why: str | None) -> None:
    result = session.run(f"expect {expectation}")
    (row,) = result.rows
    assert result.outcome == outcome
    assert row["met"] is {"met": True, "not met": False, "undecided": None}[outcome]
    if why is not None:
        assert row["why"] == why


@pytest.mark.parametrize(
    ("expectation", "outcome", "why"),
    [
        ("accuracy for new on nightly at least 90%", "met", "at least 0.9"),
        ("accuracy for new on nightly at least 90.1%", "not met", "below 0.901"),
        ("accuracy for new on nightly at least 80% interval", "met", "the whole interval is at least 0.8"),
        ("accuracy for new on nightly at least 89% interval", "undecided", "the interval contains 0.89"),
        ("accuracy for new on nightly at least 98% interval", "not met", "the whole interval is below 0.98"),
        ("latency for new on nightly at most 110", "met", "at most 110"),
        ("latency for new on nightly at least 90 at most 110", "met", "at least 90 and at most 110"),
        ("latency for old on nightly at most 110", "not met", "above 110"),
    ],
)
def test_what_a_value_shows(session: Session, expectation: str, outcome: str, why: str) -> None:
    result = session.run(f"expect score {expectation}")
    (row,) = result.rows
    assert result.outcome == outcome
    assert row["why"] == why


def test_all_rows_must_hold_and_what_is_not_met_outweighs_what_is_undecided(session: Session) -> None:
    result = session.run("expect score accuracy for all on nightly at least 89% interval")
    assert [row["met"] for row in result.rows] == [None, None, False, False]
    assert result.outcome == "not met"
    assert result.caption.startswith("2 not met and 2 undecided: accuracy on nightly")


def test_python_can_ask_for_an_exception(session: Session) -> None:
    met = session.run("expect score accuracy for new on nightly at least 50%")
    assert met.raise_for() is met
    assert session.run("score accuracy for new on nightly").raise_for().outcome is None
    with pytest.raises(NotMetError, match=r"0\.95: not met"):
        session.run("expect score accuracy for new on nightly at least 95%").raise_for()
    with pytest.raises(UndecidedError) as raised:
        session.run("expect not worse compare accuracy for old against odd on nightly margin 5%").raise_for()
    assert raised.value.result.rows[0]["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("statements", "status"),
    [
        ("expect score accuracy for new on nightly at least 50%", 0),
        ("expect score accuracy for new on nightly at least 95%", 4),
        ("expect score accuracy for new on nightly at least 89% interval", 5),
        (
            "expect score accuracy for new on nightly at least 89% interval; "
            "expect score accuracy for new on nightly at least 95%",
            4,
        ),
        ("expect score accuracy for new on nightly at least 95%; score accuracy for new on nightly", 4),
        ("expect score accuracy for nobody on nightly at least 95%", 1),
        ("expect score accuracy for new on nightly at least 50% where document = nothing", 1),
        ("expect score accuracy for new on nightly at least 95%; score nothing", 1),
    ],
)
def test_the_exit_status_says_it(path: Path, statements: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["query", statements, "--db", str(path)]) == status
    capsys.readouterr()
    assert cli.main(["query", statements, "--db", str(path), "--quiet"]) == status
    said = capsys.readouterr()
    if "; score" not in statements:
        assert said.out == ""
        assert bool(said.err) == (status == 1)


def test_a_study_goes_on_and_ends_with_the_status(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "gate.study"
    study.write_text(
        "expect score accuracy for new on nightly at least 95%;\nscore accuracy for old on nightly;\n", encoding="utf-8"
    )
    assert cli.main(["run", str(study), "--db", str(path), "--format", "csv"]) == 4
    assert "old" in capsys.readouterr().out


@pytest.mark.long
def test_markdown_begins_with_a_sign(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bound, sign in ((50, "✅ **Met:"), (98, "❌ **Not met:"), (89, "❔ **Undecided:")):
        asked = f"expect score accuracy for new on nightly at least {bound}% interval"
        cli.main(["query", asked, "--db", str(path), "--format", "markdown"])
        assert capsys.readouterr().out.startswith(sign)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("expect not worse compare accuracy for new, old on nightly", "expect not worse needs a margin"),
        ("expect worse compare accuracy for new, old on nightly one-sided", "one-sided tests only whether the first"),
        ("expect score accuracy for new on nightly", "expect score needs at least N, or at most N"),
        ("expect score accuracy for all on nightly at least 5% standardized", "expect compares values as they are"),
        ("expect score accuracy for all on nightly at least 5% limit 1", "expect checks every system"),
        (
            "expect group accuracy",
            "expect takes score, or compare after better, worse, not worse, equivalent or different",
        ),
        ("score accuracy at least 5%", "clause 'at least' does not apply to score"),
    ],
)
def test_what_cannot_be_expected(session: Session, text: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        session.run(text)
    assert raised.value.message.startswith(message)
