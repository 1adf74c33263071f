"""Saved results are asked again: which are the same, which differ, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Column, Result, Table, seal, seal_result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.verification import claims, verify
from tests.empty import create

QUESTIONS = (
    "score F, recall for GE, UMASS on TST3, TST4",
    "compare F for GE, UMASS, SRI on TST3 shuffles 99 seed 7 adjust holm",
    "plot group F for GE, UMASS, SRI on TST3 level 0.1 shuffles 99",
    "generality on TST3",
    "power recall for GE, UMASS on TST3 detect 10% documents 50",
    "change F for all from TST3 to TST4",
    "project F of filtering for GE, UMASS from TST3 to generality 5%",
    "audit published for LSI, PRC on TST3",
    "agree on TST3",
    "show systems",
    'sql "select count(*) from score"',
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open() as opened:
        yield opened


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_result_comes_out_again_from_its_json(session: Session, question: str) -> None:
    (claim,) = claims(session.run(question).to_json(), "a.json")
    finding = verify(claim, session)
    assert (finding.verdict, finding.reasons) == ("same", ())


@pytest.mark.parametrize("question", QUESTIONS[:8])
def test_and_from_its_signature_alone(session: Session, question: str) -> None:
    (claim,) = claims(session.run(question).signature, "signature")
    finding = verify(claim, session)
    assert (finding.verdict, finding.reasons) == ("same", ())


def test_one_cell_that_differs_is_named(session: Session) -> None:
    said = session.run("score F for GE, UMASS on TST3").as_dict()
    said["rows"][1]["F(beta=1)"] = 0.5
    (claim,) = claims(json.dumps(said), "a.json")
    finding = verify(claim, session)
    assert finding.verdict == "different"
    assert finding.reasons == ("row 2, F(beta=1): 0.5 then, 0.5161401098901099 now",)


def test_a_last_digit_is_told_and_forgiven(session: Session) -> None:
    said = session.run("score F for GE, UMASS on TST3").as_dict()
    said["rows"][1]["F(beta=1)"] = math.nextafter(said["rows"][1]["F(beta=1)"], 1)
    (claim,) = claims(json.dumps(said), "a.json")
    finding = verify(claim, session)
    assert finding.verdict == "same"
    assert "after the tenth digit" in finding.reasons[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda said: said["rows"].pop(), "1 rows then, 2 now"),
        (lambda said: said["rows"][0].pop("system"), "the columns of the rows were test_set, task, documents"),
        (lambda said: said["rows"][0].update(system=None), "row 1, system: nothing then, 'GE' now"),
        (lambda said: said["rows"][0].update(documents=[1]), "row 1, documents: [1] then, 100 now"),
        (lambda said: said.update(summary=[{}]), "1 rows of the summary then, 0 now"),
    ],
)
def test_tables_of_another_shape_differ(session: Session, change: object, reason: str) -> None:
    said = session.run("score F for GE, UMASS on TST3").as_dict()
    change(said)  # type: ignore[operator]
    (claim,) = claims(json.dumps(said), "a.json")
    finding = verify(claim, session)
    assert finding.verdict == "different"
    assert finding.reasons[0].startswith(reason)


def test_a_seal_of_other_numbers_differs(session: Session) -> None:
    signature = session.run("score F for GE on TST3").signature
    forged = signature[:-1] + ("0" if signature[-1] != "0" else "1")
    (claim,) = claims(forged, "signature")
    assert verify(claim, session).verdict == "different"


def test_other_data_and_versions_are_named(session: Session) -> None:
    signature = session.run("score F for GE on TST3").signature
    said = next(part for part in signature.split(" | ") if part.startswith("data "))
    (claim,) = claims(signature.replace(said, "data 0").replace("evalhouse ", "evalhouse 0."), "signature")
    finding = verify(claim, session)
    assert finding.verdict == "same"
    assert finding.reasons[0] == f"data 0 then, {said} now"
    assert finding.reasons[1].startswith("evalhouse 0.0.1.0 then, evalhouse 0.1.0 now")


def test_a_signature_without_its_numbers_is_unknown(session: Session) -> None:
    (claim,) = claims(session.run("score F for GE on TST3").signature.rpartition(" | ")[0], "signature")
    assert verify(claim, session).verdict == "unknown"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("score F for GEX on TST3", "unknown system 'GEX' on TST3; did you mean GE?"),
        ("forget import 1", "this is not a question, so it is not run again"),
        ('load "a.csv" as scores', "this is not a question, so it is not run again"),
        ('export score F for all on TST3 to "a.csv"', "this is not a question, so it is not run again"),
        ("score F for all on TST3; score F for all on TST4", "a result answers one statement"),
        ("scoer F", "unknown statement 'scoer'"),
    ],
)
def test_what_cannot_or_must_not_be_asked_again(session: Session, statement: str, reason: str) -> None:
    (claim,) = claims(json.dumps({"statement": statement, "rows": []}), "a.json")
    finding = verify(claim, session)
    assert finding.verdict == "not repeatable"
    assert finding.reasons[0].startswith(reason)


def test_a_plot_into_a_file_writes_none(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    (claim,) = claims(
        json.dumps({"statement": f'plot score F for GE on TST3 to "{file.as_posix()}"', "rows": []}), "a.json"
    )
    assert verify(claim, session).verdict == "different"
    assert not file.exists()


def test_a_defined_measure_is_taken_from_the_signature(session: Session) -> None:
    with Session.open() as other:
        signature = other.run("define measure miss = 1 - recall; score miss for GE on TST3").signature
    (claim,) = claims(signature, "signature")
    assert verify(claim, session).verdict == "same"
    assert "miss" not in session.catalog.definitions


@pytest.mark.long
def test_a_name_may_have_bars_in_it(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text(
        'test_set,system,document,possible,actual,correct,partial\nT,"A | score F",d1,4,4,2,0\n', encoding="utf-8"
    )
    create(tmp_path / "w.duckdb").close()
    with Session.open(tmp_path / "w.duckdb") as opened:
        opened.run(f'load "{scores.as_posix()}" as scores')
        signature = opened.run('score F for "A | score F" on T').signature
        (claim,) = claims(signature, "signature")
        assert claim.statement == 'score F for "A | score F" on T'
        assert verify(claim, opened).verdict == "same"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "a: is neither a signature nor a file of results as JSON"),
        ("", "a: there is nothing in it"),
        ("{", "a:1: is not JSON from here on"),
        ('{"statement": "score F for GE on TST3", "rows": []}\n\n{', "a:3: is not JSON from here on"),
        ("[" * 100_000, "a:1: is not JSON from here on"),
        ("[3]", "a, result 1: is not a result, which has a statement, signature, rows and summary"),
        ('{"statement": "score F for GE on TST3"}', "a, result 1: has no rows that can be compared"),
        ('{"statement": "x", "rows": [3]}', "a, result 1: has no rows that can be compared"),
    ],
)
def test_what_is_no_result(text: str, said: str) -> None:
    with pytest.raises(DataError) as raised:
        claims(text, "a")
    assert str(raised.value.faults[0]) == said


# --- the seal ---------------------------------------------------------------------------------------------------------


def one(*cells: str | float | None, kind: str = "number") -> Result:
    table = Table((Column("x", kind),), tuple((cell,) for cell in cells))  # type: ignore[arg-type]
    return Result("q", "", "q | data 1", table)


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=5), st.integers(0, 4))
def test_a_seal_sees_a_change_in_the_tenth_digit(cells: list[float | None], place: int) -> None:
    if place < len(cells):
        changed = list(cells)
        value = changed[place]
        changed[place] = None if value == 0 else 1.0 if value is None else value * (1 + 1e-9)
        if changed[place] not in (value, math.inf, -math.inf) and (value is None or abs(value) > 1e-290):
            assert seal(one(*cells)) != seal(one(*changed))
    assert seal(one(*cells)) == seal(one(*cells))


def test_a_seal_does_not_see_the_last_digit() -> None:
    for value in {a / b for b in range(1, 41) for a in range(1, b + 1)} | {100.0, -1.0, 0.001}:
        up, down = math.nextafter(value, math.inf), math.nextafter(value, -math.inf)
        assert seal(one(value)) == seal(one(up)) == seal(one(down)), value


def test_a_seal_sees_names_rows_and_summary() -> None:
    plain = one("a", "b", kind="name")
    others = (
        one("a", "c", kind="name"),
        one("a", kind="name"),
        one("a", None, kind="name"),
        replace(plain, summary_table=plain.table),
        replace(plain, table=Table((Column("y", "name"),), plain.table.rows)),
    )
    assert len({seal(each) for each in (plain, *others)}) == 6


def test_only_what_has_a_signature_is_sealed() -> None:
    plain = one(1.0)
    assert seal_result(plain).signature == f"q | data 1 | numbers {seal(plain)}"
    assert seal_result(replace(plain, signature="q")).signature == "q"


@pytest.mark.long
def test_numbers_are_the_same_whatever_the_order_of_loading(tmp_path: Path) -> None:
    """Sums of values that floating point would round one way or another, by the order in which they are added."""
    values = [place**0.5 % 1 * 10 ** (place % 7 - 3) for place in range(2000)]
    rows = [f"T,{system},d{place},m,{value!r}" for system in "AB" for place, value in enumerate(values)]
    found = set()
    for number, order in enumerate((rows, rows[::-1], Random(1992).sample(rows, len(rows)))):
        file = tmp_path / f"{number}.csv"
        file.write_text("test_set,system,document,measure,value\n" + "\n".join(order) + "\n", encoding="utf-8")
        with create(tmp_path / f"{number}.duckdb") as database:
            load(database, file, "values")
        with Session.open(tmp_path / f"{number}.duckdb") as opened:
            found.add(opened.run("score m for A, B on T").rows[0]["m"])
    assert len(found) == 1
