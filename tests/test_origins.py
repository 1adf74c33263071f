"""What stands above the figures: a caption names every kind of data that was used, test set by test set where they
differ, in every output; and figures as printed share no order, mark or mean with computed values unless that is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalhouse.grammar.clauses import QUESTIONS
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.kinds import FILTERING, KINDS, PUBLISHED
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import settle
from evalhouse.warehouse.measures.values import printed_measure
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import headed, of_one_origin, origins, some, title
from evalhouse.warehouse.render import FORMATS, WORKBOOK, render, render_all
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.session.session import Session
from tests.empty import create

# === captions of any entries ==========================================================================================


def entries() -> st.SearchStrategy[tuple[p.Entry, ...]]:
    """Entries of one or several test sets, of any kinds, perhaps simulated."""
    printed = {task: settle(printed_measure("F", task, "F"), {}) for task in ("extraction", "filtering", "values")}

    def made(number: int, kind: str, task: str, simulated: bool) -> p.Entry:
        name = f"T{number}"
        statistics = (printed[task],) if kind == PUBLISHED.name else ()
        systems = (p.StoredSystem(1, "A"),)
        return p.Entry(p.TestSet(number, name, name), KINDS[kind], statistics, systems, simulated=simulated)

    one = st.builds(made, st.just(1), st.sampled_from(sorted(KINDS)), st.sampled_from(sorted(printed)), st.booleans())
    return st.lists(one, min_size=1, max_size=5).map(
        lambda many: tuple(replace(e, test_set=p.TestSet(n, f"T{n}", f"T{n}")) for n, e in enumerate(many, 1))
    )


@given(entries())
def test_a_caption_tells_of_each_test_set_where_its_numbers_come_from(asked: tuple[p.Entry, ...]) -> None:
    said = origins(asked)
    assert title("F", asked) == (f"F ({said})" if said else "F")
    own = {entry.test_set.name: (entry.origin, entry.simulated) for entry in asked}
    if len(set(own.values())) == 1:
        assert "T1" not in said
        assert ("simulated data" in said) == asked[0].simulated
        return
    told: dict[str, tuple[str, bool]] = {}
    for part in said.split("; "):
        names, _, origin = part.partition(": ")
        told |= dict.fromkeys(names.split(", "), (origin.removesuffix(", simulated data"), "simulated" in origin))
    assert told == own


@given(entries())
def test_columns_of_figures_as_printed_are_headed_so_beside_others(asked: tuple[p.Entry, ...]) -> None:
    for entry in asked:
        heading = headed(entry, asked, "7 topics")
        assert heading.endswith("7 topics)")
        if of_one_origin(asked):
            assert heading == f"{entry.test_set.name} (7 topics)"
        elif any(other.kind.by_document for other in asked):
            assert ("as printed" in heading) == (not entry.kind.by_document)
    alike = {entry.origin for entry in asked if entry.kind.by_document}
    if len(alike) > 1:
        assert {headed(entry, asked) for entry in asked} >= {
            f"{entry.test_set.name} ({entry.kind.name})" for entry in asked if entry.kind.by_document
        }


def test_the_test_sets_of_one_origin_are_named_together_and_many_are_counted() -> None:
    plain = p.Entry(p.TestSet(1, "T", "T"), FILTERING, (), (p.StoredSystem(1, "A"),))
    many = [replace(plain, test_set=p.TestSet(n, f"T{n}", f"T{n}")) for n in range(8)]
    many.append(replace(plain, test_set=p.TestSet(9, "made", "made"), simulated=True))
    assert origins(many) == f"{some([f'T{n}' for n in range(8)])}: filtering; made: filtering, simulated data"


# === every statement, in every output =================================================================================


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Recall on four test sets: as printed, of decisions, of simulated extraction, and as imported values."""
    folder = tmp_path_factory.mktemp("mixed")
    documents = [f"d{number}" for number in range(12)]
    files = {
        "published.csv": "test_set,system,task,measure,value,resolution\n"
        + "".join(
            f"old,{name},filtering,recall,0.{value},0.01\n" for name, value in zip("ABC", (71, 86, 62), strict=True)
        ),
        "labels.csv": "test_set,document,label\n"
        + "".join(f"real,{d},{'relevant' if n % 3 else 'nonrelevant'}\n" for n, d in enumerate(documents)),
        "decisions.csv": "test_set,system,document,decision\n"
        + "".join(
            f"real,{system},{d},{'yes' if (n * step) % 4 else 'no'}\n"
            for system, step in zip("ABC", (1, 2, 3), strict=True)
            for n, d in enumerate(documents)
        ),
        "scores.csv": "test_set,system,document,possible,actual,correct,partial\n"
        + "".join(
            f"made,{system},{d},4,4,{(n + step) % 4},0\n"
            for system, step in zip("ABC", (0, 1, 3), strict=True)
            for n, d in enumerate(documents)
        ),
        "values.csv": "test_set,system,document,measure,value\n"
        + "".join(
            f"judged,{system},{d},recall,0.{(n * step) % 10}\n"
            for system, step in zip("ABC", (3, 7, 9), strict=True)
            for n, d in enumerate(documents)
        ),
    }
    with create(folder / "w.duckdb") as database:
        for name, text in files.items():
            (folder / name).write_text(text)
            load(database, folder / name, Path(name).stem, simulated=name == "scores.csv")
    with Session.open(folder / "w.duckdb") as session:
        yield session


ORIGINS = {
    "old": "filtering figures as printed",
    "real": "filtering",
    "made": "extraction, simulated data",
    "judged": "values",
}

ALL = ", ".join(ORIGINS)

ASKED = {
    "score": f"score recall for all on {ALL}",
    "score of two": f"score recall for A, B on {ALL} order by recall asc",
    "score with intervals": f"score recall for all on {ALL} interval",
    "score standardized": f"score recall for all on {ALL} standardized",
    "table": f"table recall for all on {ALL}",
    "table with its own caption": f'table recall for all on {ALL} caption "Results"',
    "expect": f"expect score recall for all on {ALL} at least 1%",
    "plot": f"plot score recall for all on {ALL}",
    "compare": "compare recall for A, B on real, made, judged",
    "compare all": "compare recall for all on real, made, judged",
    "compare against one": "compare recall for all against A on real, made, judged",
    "group": "group recall for all on real, made, judged",
    "rank": "rank recall for all on real, made, judged",
    "power": "power recall for A, B on real, made, judged detect 10% documents 20 shuffles 99",
    "documents": "documents recall for A, B on real, made, judged",
    "plot group": "plot group recall for all on real, made, judged",
    "plot rank": "plot rank recall for all on real, made, judged",
    "plot compare": "plot compare recall for A, B on real, made, judged",
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_caption_of_every_statement_names_every_kind_in_every_output(mixed: Session, asked: str) -> None:
    result = mixed.run(asked)
    used = {name: origin for name, origin in ORIGINS.items() if name in asked}
    remarks = [f"{name}: {origin}" for name, origin in used.items()]
    assert result.caption.endswith(f" ({'; '.join(remarks)})")
    if result.chart is not None:
        assert result.chart.simulated
        assert result.chart.subtitle.split("; ")[: len(used)] == remarks
        return
    for format in FORMATS:
        drawn = " ".join(render(result, format.name, Style(width=100)).split())
        if format.name in ("csv", "tsv", "ndjson"):
            # Rows alone: each says itself what it is of.
            assert all(name in drawn for name in used)
        else:
            assert "; ".join(remarks) in drawn, format.name
    assert isinstance(render_all([result], WORKBOOK, Style()), bytes)


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_rows_alone_tell_the_kind_where_they_are_of_values(mixed: Session, asked: str) -> None:
    kinds = {"old": "published", "real": "filtering", "made": "extraction", "judged": "values"}
    result = mixed.run(asked)
    if "task" in result.columns:
        assert all(row["task"] == kinds[str(row["test_set"])] for row in result.rows)


def test_what_is_printed_is_marked_where_it_stands_beside_what_is_computed(mixed: Session) -> None:
    def drawn(asked: str, format: str = "table") -> str:
        return render(mixed.run(asked), format, Style(width=200))

    for asked in (f"score recall for all on {ALL}", f"table recall for all on {ALL}"):
        for format in ("table", "markdown", "latex", "typst", "html"):
            assert drawn(asked, format).count("old (as printed") == 1
    one_below_another = drawn(f"score recall for A on {ALL} interval")
    assert re.search(r"^old .*published$", one_below_another, re.MULTILINE)
    assert re.search(r"^real .*documents$", one_below_another, re.MULTILINE)
    chart = mixed.run(f"plot score recall for all on {ALL}").chart
    assert chart is not None
    assert [panel.title for panel in chart.panels] == [
        "old (as printed)", "real (filtering)", "made (extraction)", "judged (values)"
    ]  # fmt: skip


def test_a_note_says_that_they_are_not_compared_and_whose_order_rows_have(mixed: Session) -> None:
    notes = mixed.run(f"score recall for all on {ALL}").notes
    assert "values of different origin cannot be compared with each other; side by side, systems are in the order of " \
        "old" in notes  # fmt: skip
    assert not any("order" in note for note in mixed.run(f"score recall for all on {ALL} order by system").notes)
    assert not any("origin" in note for note in mixed.run("score recall for all on old").notes)


def test_no_mean_is_taken_over_values_of_several_origins(mixed: Session) -> None:
    result = mixed.run(f"score recall for all on {ALL} standardized")
    assert all(row["test_sets"] == 1 for row in result.summary)
    assert [row["origin"] for row in result.summary][::3] == [
        "filtering figures as printed", "filtering", "extraction", "values"
    ]  # fmt: skip


def test_the_best_is_marked_among_values_of_one_test_set_alone(mixed: Session) -> None:
    result = mixed.run(f"table recall for all on {ALL}")
    values: dict[object, list[float]] = {}
    for row in result.rows:
        values.setdefault(row["test_set"], []).append(float(row["value"] or 0))
    lines = render(result, "markdown", Style(width=200)).splitlines()
    bold = [cell for line in lines if line.startswith("|") for cell in re.findall(r"\*\*([\d.]+)\*\*", line)]
    assert set(bold) == {f"{max(of):.4f}" for of in values.values()}


# === what else decides the numbers ====================================================================================


def test_the_key_behind_printed_figures_is_named_where_it_is_counted(sample: Session) -> None:
    for asked in ("project F of published for GE from TST3 to generality 0.1", "audit published for GE on TST2"):
        result = sample.run(asked)
        assert result.caption.endswith("(filtering figures as printed and the key of simulated data)")
        assert re.search(r"\| data [0-9a-f]{12}\+[0-9a-f]{12} \|", result.signature)
    chart = sample.run("plot project F of published for GE from TST3 to generality 0.1, 0.2").chart
    assert chart is not None
    assert chart.simulated
    (note,) = (n for n in sample.run("plot score recall, fallout of published for all on TST3").notes if "key" in n)
    assert note == "the guessing line comes from the key labels, which are simulated data; the figures are as printed"


def test_a_figure_printed_of_two_tasks_does_not_change_from_one_to_the_other(tmp_path: Path) -> None:
    file = tmp_path / "published.csv"
    file.write_text(
        "test_set,system,task,measure,value,resolution\nT,A,filtering,recall,0.5,0.01\nU,A,extraction,recall,0.6,0.01\n"
    )
    with create(tmp_path / "w.duckdb") as database:
        load(database, file, "published")
    with Session.open(tmp_path / "w.duckdb") as session:
        with pytest.raises(QueryError, match="recall was printed of filtering on T, of extraction on U"):
            session.run("change recall of published for all from T to U")
        assert session.run("score recall for A on T, U").caption.endswith(
            "figures as printed (T: filtering figures as printed; U: extraction figures as printed)"
        )


def test_a_condition_is_checked_against_the_rows_of_every_test_set(mixed: Session) -> None:
    for first, second in (("made", "judged"), ("judged", "made")):
        with pytest.raises(QueryError, match="values has no unit"):
            mixed.run(f'compare recall for A, B on {first}, {second} where unit = "all"')


def test_json_has_the_caption_as_it_is(mixed: Session) -> None:
    result = mixed.run(f"score recall for all on {ALL}")
    assert json.loads(render(result, "json", Style()))["caption"] == result.caption


@pytest.fixture(scope="module")
def sample() -> Iterator[Session]:
    with Session.open() as session:
        yield session


def test_every_question_about_values_is_tried() -> None:
    of_one_test_set_or_kind = {"generality", "change", "replicate", "project", "audit", "agree", "curve", "coverage"}
    of_one_test_set_or_kind |= {"confusion"}
    of_replicates_or_attributes = {"spread", "differ"}
    assert {asked.split()[0] for asked in ASKED.values()} - {"plot", "expect"} == (
        set(QUESTIONS) - of_one_test_set_or_kind - of_replicates_or_attributes
    )
