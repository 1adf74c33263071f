"""Notes of one kind are read as one, which says how many they are and between which numbers; data have each of them."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.notes import NAMED, Figure, Names, Note, Part, Subject, count, fold
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.session.session import Session

NAMES = st.sampled_from(["lark", "wren", "owl", "crow", "kite", "rook", "finch", "robin", "swift", "crane"])
MEASURES = st.sampled_from(["recall", "F1"])
SUBJECTS = st.builds(
    lambda a, b, measure, test_set: Subject(test_set, measure, f"{a} and {b}"),
    NAMES,
    NAMES,
    MEASURES,
    st.sampled_from(["sea", "hill"]),
)


def undecided(subject: Subject, shuffles: int) -> Note:
    return Note(subject, "undecided; about ", count(shuffles, "shuffle", "shuffles"), " would be enough")


@given(st.dictionaries(SUBJECTS, st.integers(1, 10**6), min_size=1, max_size=40))
def test_a_folded_note_has_the_count_and_the_range_of_its_rows(needed: dict[Subject, int]) -> None:
    (folded,) = fold([undecided(subject, shuffles) for subject, shuffles in needed.items()])
    head, _, said = folded.partition(": ")
    numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", said)]
    assert {min(numbers), max(numbers)} == {min(needed.values()), max(needed.values())}
    assert said.endswith(("1 shuffle would be enough", "shuffles would be enough"))
    pairs = {subject.pair for subject in needed}
    elsewhere = {(subject.measure, subject.test_set) for subject in needed}
    if len(needed) > NAMED:
        counted = int(re.match(r"[\d,]+", head)[0]) if head[0].isdigit() else 1  # type: ignore[index]
        # Pairs that are all there for each measure and test set, or else comparisons.
        assert counted in (len(needed), len(pairs))
        assert counted == len(needed) or len(pairs) * len(elsewhere) == len(needed)
        assert len(pairs) <= NAMED or not any(pair in head for pair in pairs)
    else:
        assert all(pair in head for pair in pairs)
    for name in {name for place in elsewhere for name in place}:
        assert name in head


@given(st.lists(st.tuples(SUBJECTS, st.integers(1, 99)), max_size=30))
def test_no_note_is_lost_and_other_notes_keep_their_place(rows: list[tuple[Subject, int]]) -> None:
    notes = [undecided(subject, shuffles) for subject, shuffles in rows]
    folded = fold(["first", *notes, "last", "first"])
    assert folded[0] == "first"
    assert folded[-1] == "last"
    assert len(folded) == 2 + bool(notes)


LISTS = st.dictionaries(NAMES, st.integers(0, 500), min_size=1)


@given(st.dictionaries(st.sampled_from("abcdefgh"), LISTS, min_size=1))
def test_names_are_read_as_far_as_they_are_few(lacking: dict[str, dict[str, int]]) -> None:
    notes = [Note(Subject(name), "lacks ", Names((*of,), (*of.values(),))) for name, of in lacking.items()]
    folded = fold(notes)
    numbers = [number for of in lacking.values() for number in of.values()]
    read = [int(number) for note in folded for number in re.findall(r"\d+(?= to| for)|(?<=to )\d+", note)]
    assert min(numbers) in read
    assert max(numbers) in read
    assert len(folded) <= NAMED
    for name, of in lacking.items():
        (note,) = (note for note in notes if note.subject.test_set == name)
        assert all(f"{number:,} for {system}" in note for system, number in of.items())
        if len({tuple(of.items()) for of in lacking.values()}) <= NAMED:
            assert any(name in one for one in folded) or len(folded) < len(lacking)


PARTS = st.lists(
    st.one_of(st.text(), st.builds(Figure, st.floats(allow_nan=False), st.text()), st.builds(Names, st.tuples(NAMES)))
)


@given(SUBJECTS, PARTS)
def test_a_note_is_its_text(subject: Subject, said: list[Part]) -> None:
    note = Note(subject, *said)
    again = pickle.loads(pickle.dumps(note))
    assert (again, again.subject, again.said) == (note, subject, tuple(said))
    assert f"{note}" == f"{subject}: {''.join(part if isinstance(part, str) else part.text for part in said)}"


# === results ==========================================================================================================


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open() as opened:
        yield opened


@pytest.mark.parametrize("question", ["compare", "group", "rank"])
def test_undecided_pairs_are_one_line_and_each_is_in_the_data(session: Session, question: str) -> None:
    result = session.run(f"{question} F for all on TST3 shuffles 99 confidence 0.9")
    if question == "compare":
        pairs = {f"{row['system_a']} and {row['system_b']}" for row in result.rows if row["verdict"] == "undecided"}
    else:
        pairs = {
            " and ".join(sorted([str(row["system"]), other]))
            for row in result.rows
            if row["undecided"]
            for other in str(row["undecided"]).split(", ")
        }
    notes = [note for note in result.notes if isinstance(note, Note) and "undecided, as" in note]
    assert {" and ".join(sorted(note.subject.pair.split(" and "))) for note in notes} == {
        " and ".join(sorted(pair.split(" and "))) for pair in pairs
    }
    assert len(pairs) > NAMED
    read = [note for note in result.folded_notes if "undecided, as" in note]
    enough = [part.value for note in notes for part in note.said if isinstance(part, Figure)]
    with_number = [note for note in read if "about" in note]
    assert len(with_number) == 1
    assert f"about {min(enough):,.0f} to {max(enough):,.0f} shuffles" in with_number[0]
    assert sum(int(note.split(" ")[0]) if note[0].isdigit() else 1 for note in read) == len(pairs)
    drawn = render(result, "markdown", Style())
    assert drawn.count("undecided, as") == len(read)
    assert result.to_json().count("undecided, as") == len(pairs)


def test_tests_that_assume_independence_say_so_once(session: Session) -> None:
    result = session.run("compare recall for GE, UMASS, SRI on TST3 test two-sample-t")
    notes = [note for note in result.notes if "independent" in note]
    assert len(notes) == 3
    (read,) = (note for note in result.folded_notes if "independent" in note)
    inflations = [float(row["inflation"] or 0) for row in result.rows]
    assert f"{min(inflations):.2f} to {max(inflations):.2f} times what it is" in read
