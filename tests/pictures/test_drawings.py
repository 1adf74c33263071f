"""Charts as files and on the terminal are complete and have the right size, and no part of a name is executed."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.drawings import DOCS, PICTURES, Picture
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Chart
from evalhouse.warehouse.charts.intervals import ranking
from evalhouse.warehouse.render import Style, vegalite
from evalhouse.warehouse.render.screen import picture
from evalhouse.warehouse.render.vegalite import spec
from evalhouse.warehouse.session.session import Session
from tests.pictures.asked import chart_of

pytest.importorskip("vl_convert", reason="pictures as files need the extra plot")

ROOT = Path(__file__).resolve().parents[2]
QUERIES = {
    "groups": "plot group F for all on TST3",
    "planes": "plot score recall, precision of published for all on TST2, TST3, TST4",
    "null": "plot compare F for GE, UMASS on TST3 shuffles 9999",
    "matrix": "plot compare F for all on TST3 shuffles 999",
    "classes": "plot show confusion of filtering for GE, UMASS on TST3",
    "against": "plot compare F for all against GE on TST3 shuffles 999",
    "slopes": "plot change precision, fallout of published for all from TST3 to TST4",
    "projection": "plot project precision of published for GE, LSI from TST3 to generality 0.01, 0.10",
}
HOSTILE = (
    "[bold red]x[/]",
    "<script>alert(1)</script>",
    "{{ datum }} ${x} \\u003cb",
    "'] + evil() + ['",
    "\u202eright\u202c\u0007\x1b[31m",
    "n" * 200,
    "名前🙂",
)


def hostile() -> Chart:
    panel = ranking("", "recall", "proportion", [(name, 0.5) for name in HOSTILE], {}, groups=[("a", HOSTILE)])
    return Chart(f"about {HOSTILE[1]}", HOSTILE[0], (panel,), legend=HOSTILE, alternative=HOSTILE[1])


def texts(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.long
@pytest.mark.parametrize("name", QUERIES)
def test_a_picture_is_whole_and_the_same_again(session: Session, name: str) -> None:
    chart = chart_of(session, QUERIES[name])
    drawn = vegalite.svg(chart)
    root = ElementTree.fromstring(drawn)
    wide, high = (float(root.attrib[side]) for side in ("width", "height"))
    assert 300 < wide < 1600
    assert 200 < high < 1600
    said = texts(drawn)
    assert chart.title in " ".join(said)
    assert any("SIMULATED DATA" in each for each in said) == chart.simulated
    for panel in chart.panels:
        assert set(panel.y.names) <= set(said)
    assert drawn == vegalite.svg(chart)


@pytest.mark.long
def test_every_name_of_a_plane_is_drawn(session: Session) -> None:
    chart = chart_of(session, QUERIES["planes"])
    said = texts(vegalite.svg(chart))
    for name in ("GE", "UMASS", "allrel", "SYNCH", "HUGHES"):
        assert said.count(name) >= 2


@pytest.mark.long
def test_png_and_pdf_are_of_the_size_of_the_svg(session: Session) -> None:
    chart = chart_of(session, QUERIES["null"])
    root = ElementTree.fromstring(vegalite.svg(chart))
    wide, high = (float(root.attrib[side]) for side in ("width", "height"))
    png = vegalite.png(chart)
    assert png.startswith(b"\x89PNG")
    found = struct.unpack(">II", png[16:24])
    assert found == pytest.approx((vegalite.RESOLUTION * wide, vegalite.RESOLUTION * high), abs=2)
    pdf = vegalite.pdf(chart)
    assert pdf.startswith(b"%PDF")
    box = re.search(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    assert box is not None
    assert float(box[1]) / float(box[2]) == pytest.approx(wide / high, rel=0.01)


@pytest.mark.long
def test_a_page_needs_nothing_from_elsewhere(session: Session) -> None:
    page = vegalite.page(chart_of(session, QUERIES["groups"]))
    assert "SIMULATED DATA" in page
    assert not re.findall(r"<(?:script|link|iframe)[^>]+(?:src|href)\s*=", page)


@pytest.mark.long
def test_nothing_in_a_name_is_an_instruction() -> None:
    drawn = vegalite.svg(hostile())
    said = texts(drawn)
    assert "<script>alert(1)</script>" in said
    assert "<script" not in drawn
    assert "\u202e" not in drawn
    assert "'] + evil() + ['" in said
    plain = str(spec(hostile()))
    assert not re.search(r"'(?:expr|signal|labelExpr)': [^,}]*evil", plain)
    assert "</script><script>" not in vegalite.page(hostile())


def test_hostile_names_on_a_terminal_are_shown_and_not_obeyed() -> None:
    lines = "\n".join(line.plain for line in picture(hostile(), Style(width=80)))
    assert "[bold red]x[/]" in lines
    assert "\x1b" not in lines
    assert "\u202e" not in lines
    assert "\\u202e" in lines


@pytest.mark.parametrize("wide", [60, 80, 200])
@pytest.mark.parametrize("name", QUERIES)
def test_a_drawing_is_no_wider_than_the_terminal(session: Session, name: str, wide: int) -> None:
    chart = chart_of(session, QUERIES[name])
    drawn = [line for line in picture(chart, Style(width=wide)) if line.no_wrap]
    assert max(line.cell_len for line in drawn) <= wide


def test_all_systems_and_their_groups_are_seen_in_80_by_24(session: Session) -> None:
    chart = chart_of(session, QUERIES["groups"])
    lines = [line.plain for line in picture(chart, Style(width=80))]
    wrapped = sum(-(-len(line) // 80) for line in lines)
    assert wrapped <= 23
    assert all(any(line.startswith(name) for line in lines) for name in chart.panels[0].y.names)


def test_without_the_extra_a_file_is_refused_with_its_name(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalhouse.warehouse.faults import WarehouseError

    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(WarehouseError, match="needs the package vl-convert-python") as caught:
        session.run(f'plot score F for GE on TST3 to "{tmp_path}/a.svg"')
    assert any("evalhouse[plot]" in hint for hint in caught.value.hints)
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_a_file_that_is_there_is_kept_unless_forced(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    query = f'plot score F for GE, UMASS on TST3 to "{path}"'
    session.run(query)
    before = path.read_text(encoding="utf-8")
    with pytest.raises(QueryError, match="already exists"):
        session.run(query.replace("UMASS", "SRI"))
    assert path.read_text(encoding="utf-8") == before
    session.force = True
    session.run(query.replace("UMASS", "SRI"))
    assert "SRI" in path.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["a.svg"]


@pytest.mark.long
@pytest.mark.parametrize("drawn", PICTURES, ids=lambda drawn: drawn.name)
def test_the_pictures_of_the_documentation_say_what_the_program_draws(drawn: Picture, tmp_path: Path) -> None:
    """`make pictures` makes them; what they say is compared, as other versions of vl-convert may place it otherwise."""
    drawn.draw(tmp_path)
    light, dark = sorted(tmp_path.iterdir(), reverse=True)
    assert (light.name, dark.name) == (f"{drawn.name}.svg", f"{drawn.name}-dark.svg")
    for file in (light, dark):
        kept = DOCS / "pictures" / file.name
        assert texts(file.read_text(encoding="utf-8")) == texts(kept.read_text(encoding="utf-8"))
    assert 'fill="white"' not in dark.read_text(encoding="utf-8")


POINTS = 96 / 25.4
"""Points of 1/96 inch in a millimetre."""


@pytest.mark.long
@pytest.mark.parametrize("name", ["groups", "planes", "null", "matrix"])
@pytest.mark.parametrize("millimetres", [84, 174])
def test_a_picture_is_as_wide_as_it_is_asked_to_be(session: Session, name: str, millimetres: int) -> None:
    chart = chart_of(session, f'{QUERIES[name]} title "Mine" width {millimetres}mm font "Some Letters"')
    drawn = vegalite.svg(chart)
    root = ElementTree.fromstring(drawn)
    assert float(root.attrib["width"]) == pytest.approx(millimetres * POINTS, abs=0.01)
    assert "Mine" in texts(drawn)
    assert 'font-family="Some Letters, ' in drawn
    (wide,) = struct.unpack(">I", vegalite.png(chart)[16:20])
    assert wide == pytest.approx(vegalite.RESOLUTION * millimetres * POINTS, abs=2)


@pytest.mark.long
def test_letters_keep_their_size_where_axes_give_way(session: Session) -> None:
    drawn = vegalite.svg(chart_of(session, f"{QUERIES['null']} width 84mm"))
    root = ElementTree.fromstring(drawn)
    assert float(root.attrib["viewBox"].split()[2]) == pytest.approx(84 * POINTS, rel=0.02)
