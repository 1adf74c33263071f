"""Documents on pages: those behind a difference, chosen by who is right, by their texts, by an attribute and by their
share; and the page of each, from one to the next.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render.site.contents import Marked
from evalhouse.warehouse.render.site.differing import differing
from tests.empty import create
from tests.web.conftest import Visit

# Right or wrong for wren, then for lark.
OUTCOMES = {"q1": (1, 1), "q2": (1, 0), "q3": (0, 1), "q4": (0, 0), "q5": (1, 0), "q6": (1, 0)}
LEVEL = {"q1": "easy", "q2": "easy", "q3": "hard", "q4": "hard", "q5": "hard", "q6": "easy"}

THINGS = {"q2": "Lighthouse", "q4": "Lighthouse"}


def _warehouse(folder: Path, measure: str = "accuracy") -> Path:
    rows = [
        {
            "model": system,
            "id": question,
            "question": f"{question}: how old is the {THINGS.get(question, 'bridge')} <b>now</b>?",
            "answer": "as old as the town",
            "response": f"it is as {word} as the town",
            "level": LEVEL[question],
            measure: outcomes[place],
        }
        for question, outcomes in OUTCOMES.items()
        for place, (system, word) in enumerate((("wren", "old"), ("lark", "young")))
    ]
    file = folder / "quiz.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with create(folder / "w.duckdb") as database:
        load(database, file, "table", texts=True)
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def quiz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _warehouse(tmp_path_factory.mktemp("quiz"))


PAIR = "/test-set/quiz/pair/wren/lark"


def _shown(visit: Visit, warehouse: Path, **chosen: str) -> list[str]:
    """The documents that the page of the pair lists."""
    html = _html(visit, warehouse, f"{PAIR}?{urlencode(chosen)}")
    listed = html[html.index('id="documents"') :]
    return re.findall(r'<th scope="row"><a href="[^"]*">(q\d)</a></th>', listed)


def _html(visit: Visit, warehouse: Path, path: str) -> str:
    response = visit(warehouse).get(path)
    assert response.status_code == 200, response.text
    return response.text


@pytest.mark.parametrize(
    ("chosen", "documents"),
    [
        ({}, {*OUTCOMES}),
        ({"only": "wren"}, {"q2", "q5", "q6"}),
        ({"only": "lark"}, {"q3"}),
        ({"alike": "both"}, {"q1"}),
        ({"alike": "neither"}, {"q4"}),
        ({"text": "lighthouse"}, {"q2", "q4"}),
        ({"text": "YOUNG"}, {*OUTCOMES}),
        ({"text": "of another harbour"}, set()),
        ({"attribute": "level=hard"}, {"q3", "q4", "q5"}),
        ({"attribute": "level=hard", "only": "wren"}, {"q5"}),
        ({"attribute": "level=of another"}, set()),
        ({"share": "1"}, {"q2", "q3", "q5", "q6"}),
        ({"share": "50%", "text": "bridge"}, {"q3", "q5", "q6"}),
        ({"share": "51"}, set()),
    ],
)
def test_the_documents_of_a_pair_are_those_that_were_chosen(
    visit: Visit, quiz: Path, chosen: dict[str, str], documents: set[str]
) -> None:
    assert {*_shown(visit, quiz, **chosen)} == documents


def test_choices_that_are_made_stay_in_the_links_and_the_form(visit: Visit, quiz: Path) -> None:
    html = _html(visit, quiz, f"{PAIR}?attribute=level%3Dhard&alike=both&missing=zero")
    assert '<option value="level=hard" selected>level: hard</option>' in html
    assert '<input type="hidden" name="alike" value="both">' in html
    assert f'href="{PAIR}?attribute=level%3Dhard&amp;missing=zero&amp;only=wren#documents"' in html
    assert '<span aria-current="page">both are right</span>' in html


def test_a_share_that_is_no_number_is_an_error_that_says_what_would_be_right(visit: Visit, quiz: Path) -> None:
    assert "many is not a share in per cent, such as 5 or 2.5" in _html(visit, quiz, f"{PAIR}?share=many")


def test_right_and_wrong_have_a_sign_each(visit: Visit, quiz: Path) -> None:
    html = _html(visit, quiz, f"{PAIR}?only=lark")
    right, wrong = (
        f'<span class="{word}" role="img" aria-label="{word}" title="{word}">' for word in ("right", "wrong")
    )
    assert (html.count(right), html.count(wrong)) == (1, 1)
    assert html.index(wrong) < html.index(right)


def test_of_errors_the_answer_without_one_is_right(visit: Visit, tmp_path: Path) -> None:
    warehouse = _warehouse(tmp_path, "error_rate")
    assert _shown(visit, warehouse, alike="both") == ["q4"]
    assert {*_shown(visit, warehouse, only="wren")} == {"q3"}


def test_what_outputs_differ_in_is_marked(visit: Visit, quiz: Path) -> None:
    html = _html(visit, quiz, f"{PAIR}?only=lark")
    assert re.findall("<mark>(.*?)</mark>", html) == ["old", "young"]


# === the page of a document ===========================================================================================


def test_from_one_document_to_the_next_and_back(visit: Visit, quiz: Path) -> None:
    way = re.compile(r'<a rel="(prev|next)" href="([^"]*)">')
    pages = [dict(way.findall(_html(visit, quiz, f"/test-set/quiz/document/{document}"))) for document in OUTCOMES]
    for (one, there), (other, back) in pairwise(zip(OUTCOMES, pages, strict=True)):
        assert there["next"] == f"/test-set/quiz/document/{other}"
        assert back["prev"] == f"/test-set/quiz/document/{one}"
    assert "prev" not in pages[0]
    assert "next" not in pages[-1]


def test_the_two_systems_of_a_pair_stand_side_by_side(visit: Visit, quiz: Path) -> None:
    html = _html(visit, quiz, PAIR)
    there = "/test-set/quiz/document/q2?beside=wren&amp;beside=lark"
    assert f'href="{there}"' in html
    html = _html(visit, quiz, there.replace("&amp;", "&"))
    assert "<h2>wren and lark</h2>" in html
    assert re.findall("<mark>(.*?)</mark>", html) == ["old", "young"]
    assert 'href="/test-set/quiz/document/q3?beside=wren&amp;beside=lark"' in html


def test_answers_are_grouped_by_right_and_wrong_and_differ_from_the_reference_where_marked(
    visit: Visit, quiz: Path
) -> None:
    html = _html(visit, quiz, "/test-set/quiz/document/q3")
    groups = {title: html.index(f"<h2>{title}</h2>") for title in ("Right", "Wrong")}
    assert groups["Right"] < html.index(">lark</a></h3>") < groups["Wrong"] < html.index(">wren</a></h3>")
    assert re.findall("<mark>(.*?)</mark>", html) == ["it", "is", "young", "it", "is"]
    assert "&lt;b&gt;now&lt;/b&gt;" in html


def test_names_of_documents_are_whatever_they_are(visit: Visit, tmp_path: Path) -> None:
    names = ["a/b", "ä & ü", "..", "it's"]
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps({"model": "wren", "id": name, "accuracy": 1}) + "\n" for name in names))
    with create(tmp_path / "w.duckdb") as database:
        load(database, file, "table")
    for one, other in pairwise(sorted(names)):
        written = quote(f"~{one}" if one[0] == "." else one, safe="~")
        html = _html(visit, tmp_path / "w.duckdb", f"/test-set/odd/document/{written}")
        following = quote(f"~{other}" if other[0] == "." else other, safe="~")
        assert f'rel="next" href="/test-set/odd/document/{following}"' in html


# === what two texts differ in =========================================================================================

TEXTS = st.text(alphabet="ab <&\n", max_size=30)


@given(TEXTS, TEXTS)
@settings(max_examples=200)
def test_pieces_are_the_text_and_without_the_marked_ones_both_are_the_same(first: str, second: str) -> None:
    def words(marked: Marked) -> list[str]:
        return " ".join("" if other else piece for piece, other in marked.pieces).split()

    one, other = differing(first, second)
    assert ["".join(piece for piece, _ in marked.pieces) for marked in (one, other)] == [first, second]
    if any(marks for _, marks in (*one.pieces, *other.pieces)):
        assert words(one) == words(other)
    assert not any(piece.isspace() for piece, marks in (*one.pieces, *other.pieces) if marks)


def test_texts_that_share_little_or_are_very_long_are_not_marked() -> None:
    long = " ".join(f"w{place}" for place in range(1_500))
    for first, second in (("all of it", "something else here"), (long, long.replace("w7", "v7"))):
        assert not any(marks for marked in differing(first, second) for _, marks in marked.pieces)
