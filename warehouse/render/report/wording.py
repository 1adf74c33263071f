"""The wording that every format of a report shares, in plain text: the sentences at the top, the notes, and the sources
of the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from warehouse.render.panels import Rectangle
from warehouse.render.report.description import Report, Source

SOURCES = "Where the numbers come from"


def above(report: Report) -> list[str]:
    """What readers should know first, one sentence each."""
    sentences = [f"{report.study}, answered from {report.warehouse}."]
    if report.given:
        sentences.append(f"Set from outside: {', '.join(f'${name} = {value}' for name, value in report.given)}.")
    if any(source.simulated for source in report.sources):
        sentences.append("Some rows of this warehouse are simulated data; the captions of results on them say so.")
    if report.wrong:
        count = "1 statement was" if report.wrong == 1 else f"{report.wrong} statements were"
        places = ", ".join(str(statement.number) for statement in report.statements if statement.error is not None)
        sentences.append(f"{count} not answered: {places}.")
    return sentences


def provenance(report: Report) -> list[str]:
    """The text and the files that determine the numbers."""
    files = "1 file" if len(report.sources) == 1 else f"{len(report.sources)} files"
    rows = sum(source.rows for source in report.sources)
    return [
        f"{report.study} has the SHA-256 digest {report.sha256}. {report.warehouse} holds {rows:,} rows from {files}.",
        "Each signature names everything that decides a result; the same signature means the same numbers.",
    ]


def sources_rectangle(sources: Sequence[Source]) -> Rectangle:
    """The files as a table."""
    columns = (
        ("import", [str(source.number) for source in sources]),
        ("file", [source.name for source in sources]),
        ("read as", [source.reader + (f" ({source.settings})" if source.settings else "") for source in sources]),
        ("rows", [f"{source.rows:,}" for source in sources]),
        ("simulated", ["yes" if source.simulated else "no" for source in sources]),
        ("version", [source.version for source in sources]),
        ("SHA-256", [source.sha256 for source in sources]),
    )
    headings = tuple(heading for heading, _ in columns)
    rows = tuple(zip(*(cells for _, cells in columns), strict=True))
    limits = tuple(max(len(heading), *map(len, cells)) for heading, cells in columns)
    return Rectangle(headings, rows, tuple(heading in ("import", "rows") for heading in headings), limits)


def picture_name(report_name: str, number: int | None, suffix: str) -> str:
    """The name of a picture's file, in letters that every program accepts in a path."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", report_name.rpartition(".")[0]).strip(".-") or "report"
    return f"{stem}-{number}{suffix}"
