"""The objects of a PDF are written in a fixed order, and the PDF stays the same."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from warehouse.render.pdf import in_order

OBJECTS = {
    1: b"<<\n  /Type /Font\n  /FontFile2 6 0 R\n>>",
    2: b"<<\n  /Type /Font\n  /FontFile2 7 0 R\n>>",
    3: b"<<\n  /Type /Catalog\n  /Pages 4 0 R\n>>",
    4: b"<<\n  /Kids [5 0 R]\n>>",
    5: b"<<\n  /Parent 4 0 R\n  /Resources <<\n    /Font <<\n      /fo0 1 0 R\n      /fo1 2 0 R\n    >>\n  >>\n>>",
    6: b"<<\n  /Length 30\n>>\nstream\n3 0 R 1 0 obj endobj\x00\xff\r\nxref 0 9\nendstream",
    7: b"<<\n  /Length 5\n>>\nstream\n\x00\x01\x02\x03\x04\nendstream",
}


def written(objects: dict[int, bytes]) -> bytes:
    """The objects as svg2pdf writes them, in that order."""
    pdf = b"%PDF-1.7\n%\x80\x80\x80\x80\n\n"
    offsets = {}
    for number, content in objects.items():
        offsets[number] = len(pdf)
        pdf += b"%d 0 obj\n%s\nendobj\n\n" % (number, content)
    entries = b"".join(b"%010d 00000 n\r\n" % offsets[number] for number in sorted(offsets))
    start = len(pdf)
    pdf += b"xref\n0 %d\n0000000000 65535 f\r\n%s" % (len(objects) + 1, entries)
    return pdf + b"trailer\n<<\n  /Size %d\n  /Root 3 0 R\n>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)


def test_the_order_in_which_objects_are_written_makes_no_difference() -> None:
    swapped = OBJECTS | {5: OBJECTS[5].replace(b"/fo0 1 0 R\n      /fo1 2 0 R", b"/fo1 2 0 R\n      /fo0 1 0 R")}
    orders = [(3, 4, *order) for order in permutations([5, 1, 6, 2, 7])]
    found = {
        in_order(written({number: which[number] for number in order}))
        for which in (OBJECTS, swapped)
        for order in orders
    }
    assert len(found) == 1
    (pdf,) = found
    assert in_order(pdf) == pdf
    _is_whole(pdf, {1: b"/Catalog", 4: b"/FontFile2 5 0 R", 6: b"/FontFile2 7 0 R"})
    for stream in (OBJECTS[6], OBJECTS[7]):
        assert stream.partition(b"stream\n")[2] in pdf


def test_drawings_are_the_same_to_the_byte() -> None:
    vl_convert = pytest.importorskip("vl_convert", reason="pictures need the extra plot")
    svg = """<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40" font-family="Liberation Sans, sans-serif">
      <text y="9">plain</text><text y="19" font-weight="bold">bold</text><text y="29" font-style="italic">slanted</text>
    </svg>"""
    found = {in_order(vl_convert.svg_to_pdf(svg)) for _ in range(12)}
    assert len(found) == 1
    _is_whole(found.pop(), {1: b"/Catalog"})


def _is_whole(pdf: bytes, holding: dict[int, bytes]) -> None:
    """Every entry of the table leads to its object, and every reference to an entry."""
    start = int(pdf.rsplit(b"startxref\n", 1)[1].split()[0])
    entries = re.findall(rb"(\d{10}) \d{5} n\r\n", pdf[start:])
    for number, offset in enumerate(entries, 1):
        assert pdf[int(offset) :].startswith(b"%d 0 obj\n" % number)
        assert holding.get(number, b"") in pdf[int(offset) :].partition(b"endobj")[0]
    dictionaries = re.sub(rb"stream\n.*?\nendstream", b"", pdf[:start], flags=re.DOTALL)
    assert {int(number) for number in re.findall(rb"(\d+) 0 R", dictionaries)} <= set(range(1, len(entries) + 1))


def test_what_is_laid_out_in_another_way_is_left_as_it_is() -> None:
    other = written(OBJECTS).replace(b"trailer", b"% trailer")
    assert in_order(other) == other
