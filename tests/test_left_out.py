"""What a question leaves out is filled in: it is the question that names its measure, and its systems after `for`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cli
from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.plans.left_out import completed
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements.questions import QUESTIONS

WORDS = [kind.words for kind in QUESTIONS if issubclass(kind, n.Measured)]
NEEDED = {
    "change": "from TST3 to TST4",
    "replicate": "from TST3 to TST4",
    "project": "from TST3 to generality 0.1",
    "differ": "on TST3 by document",
}
"""What a statement needs where the others ask on TST3."""

systems = st.lists(st.sampled_from(("GE", "UMASS", "SRI", "NYU")), min_size=1, max_size=4, unique=True)


@pytest.fixture(scope="module")
def sample() -> Session:
    return Session.open()


def meant(text: str, session: Session) -> object:
    """The node of a statement with all that it leaves out."""
    (statement,) = parse(text)
    return completed(statement, Scope(session.catalog))


@given(st.sampled_from(WORDS), systems, st.sampled_from((", ", " and ")))
def test_systems_in_first_place_are_those_after_for(sample: Session, word: str, named: list[str], sign: str) -> None:
    behind = NEEDED.get(word, "on TST3")
    in_full = meant(f"{word} F for {', '.join(named)} {behind}", sample)
    assert meant(f"{word} for {', '.join(named)} {behind}", sample) == in_full
    assert meant(f"{word} {sign.join(named)} {behind}", sample) == in_full
    if len(named) > 1:
        assert meant(f"{word} {named[0]} for {', '.join(named[1:])} {behind}", sample) == in_full


@given(st.sampled_from(WORDS), systems)
def test_a_question_with_all_its_parts_stays_as_it_is(sample: Session, word: str, named: list[str]) -> None:
    text = f"{word} F, recall for {', '.join(named)} {NEEDED.get(word, 'on TST3')}"
    (statement,) = parse(text)
    assert completed(statement, Scope(sample.catalog)) is statement


@pytest.mark.parametrize("around", ["plot", "explain", "export"])
def test_so_it_is_behind_words_that_stand_before_a_question(sample: Session, around: str) -> None:
    to = ' to "a.csv"' if around == "export" else ""
    assert meant(f"{around} score GE, UMASS on TST3{to}", sample) == meant(
        f"{around} score F for GE, UMASS on TST3{to}", sample
    )


def test_an_attribute_is_that_of_documents_or_of_systems_where_it_can_only_be_one(sample: Session) -> None:
    assert meant("score F on TST3 by message", sample) == meant("score F on TST3 by document", sample)
    assert meant("score F on TST3 where pre_parse = yes", sample) == meant(
        "score F on TST3 where system.pre_parse = yes", sample
    )
    assert meant("score F on TST3 by slot", sample) == meant("score F on TST3 by unit", sample)


VALUES = "system,question,fluent,helpful\n" + "".join(f"{s},q{k},{k % 3},{k % 2}\n" for s in "ab" for k in range(6))


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("helpful", ""),
        ("Helpful", ""),
        ("mean(helpful)", ""),
        ("helpfull", "did you mean helpful?"),
        (")(", "measures:"),
    ],
)
def test_a_main_measure_that_is_declared_can_be_asked_for_or_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], declared: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chat.csv").write_text(VALUES, encoding="utf-8")
    status = cli.main(["load", "chat.csv", "--set", f"main={declared}"])
    error = capsys.readouterr().err
    assert (status, said in error) == (1 if said else 0, True)
    if said:
        assert "nothing was stored" in error
        assert not Path("evalhouse.duckdb").exists()
        return
    with Session.open("evalhouse.duckdb") as session:
        [row] = session.run("compare a, b on chat").rows
        assert "elpful" in str(row["measure"])


def test_without_a_main_measure_the_error_has_a_line_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chat.csv").write_text(VALUES, encoding="utf-8")
    assert cli.main(["load", "chat.csv", "--quiet"]) == 0
    with Session.open("evalhouse.duckdb") as session:
        with pytest.raises(QueryError) as refused:
            session.run("compare a, b on chat")
        (line,) = (hint.removeprefix("write ") for hint in refused.value.hints if hint.startswith("write "))
        assert session.run(line).rows
