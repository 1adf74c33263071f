"""Puts the objects of a PDF in a fixed order. svg2pdf, which vl-convert uses, writes fonts in an order that changes
from one drawing to the next, but the same chart must give the same bytes.

Only the output of svg2pdf is understood: one table of references, no compressed objects. Nothing is drawn here.
"""

from __future__ import annotations

import re

_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_NAMED = re.compile(rb"(?:^[ ]*/[a-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
_TABLE = re.compile(
    rb"xref\n0 \d+\n(?P<entries>(?:\d{10} \d{5} [nf]\r\n)+)trailer\n(?P<trailer>.*?)\nstartxref\n\d+\n%%EOF\s*\Z",
    re.DOTALL,
)


def in_order(pdf: bytes) -> bytes:
    """The PDF with its objects numbered and written in the order in which they are reached from its root.

    If its structure is not that of svg2pdf, it is returned unchanged.
    """
    table = _TABLE.search(pdf, max(0, pdf.rfind(b"\nxref\n")))
    if table is None:
        return pdf
    # The starts of the objects by number; the first has the number 1.
    starts = [int(entry[:10]) for entry in table["entries"].split(b"\r\n")[1:-1]]
    ends = dict(zip(sorted(starts), [*sorted(starts)[1:], table.start()], strict=True))
    objects = {number: _parts(pdf[start : ends[start]]) for number, start in enumerate(starts, 1)}
    trailer = table["trailer"]
    order: dict[int, int] = {}
    left = _referred(trailer)
    while left:
        number = left.pop(0)
        if number not in order:
            order[number] = len(order) + 1
            left = _referred(objects[number][0]) + left

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda reference: b"%d 0 R" % order[int(reference[1])], text)

    written = pdf[: min(starts)]
    entries = b"0000000000 65535 f\r\n"
    for number, new in order.items():
        entries += b"%010d 00000 n\r\n" % len(written)
        dictionary, stream = objects[number]
        written += b"%d 0 obj\n%s%s\n\n" % (new, renumbered(dictionary), stream)
    size = len(order) + 1
    trailer = re.sub(rb"/Size \d+", b"/Size %d" % size, renumbered(trailer))
    start = len(written)
    return written + b"xref\n0 %d\n%strailer\n%s\nstartxref\n%d\n%%%%EOF" % (size, entries, trailer, start)


def _parts(written: bytes) -> tuple[bytes, bytes]:
    """The content between `obj` and `endobj`: a dictionary, its resources in order, and a stream, if there is one."""
    dictionary, stream, data = written.rstrip().partition(b" 0 obj\n")[2].partition(b"\nstream\n")
    return _NAMED.sub(_sorted, dictionary), stream + data


def _sorted(lines: re.Match[bytes]) -> bytes:
    """The entries of a dictionary of resources by name, with fo2 before fo10."""
    entries = sorted(lines[0].splitlines(keepends=True), key=lambda line: (len(line.split()[0]), line))
    return b"".join(entries)


def _referred(text: bytes) -> list[int]:
    return [int(number) for number in _REFERENCE.findall(text)]
