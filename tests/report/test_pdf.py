"""The same drawing gives the same PDF, to the byte, although vl-convert writes its fonts in an order that changes."""

from __future__ import annotations

import pytest

from evalhouse.warehouse.render.vegalite import _reproducible

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40" font-family="Liberation Sans, sans-serif">
  <text y="9">plain</text><text y="19" font-weight="bold">bold</text><text y="29" font-style="italic">slanted</text>
</svg>"""


def test_drawings_are_the_same_to_the_byte() -> None:
    vl_convert = pytest.importorskip("vl_convert", reason="pictures need the extra plot")
    drawings = {vl_convert.svg_to_pdf(SVG) for _ in range(12)}
    assert len(drawings) > 1, "vl-convert writes in one order by now: pikepdf can go"
    (pdf,) = {_reproducible(drawn) for drawn in drawings}
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/FontDescriptor") >= 3
