"""Reports to draw: one of a small study on the sample data, and one in which every text is hostile."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.warehouse.render.report import Passage, Piece, Report, ReportedStatement, Section, Source
from evalhouse.warehouse.results import Column, Result, Table
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.studies import Study, answers, report

STUDY = """\
--| # Two systems of 1992
--|
--| What follows from the *counts*, and what does not:
--|
--| - the difference of two systems
--| - 50% of `x_1` & <b>nothing</b>

--| ## One pair
let $two = GE, UMASS;
score F, recall
  for $two  -- both
  on TST3;
--| The difference may be chance: α ≤ 0.1.
compare F for $two on TST3 exact;

-- not for the reader
score F for UMAS on TST3;

--| #### Several
--|
--| 1. all pairs
--| 2. groups
compare F for GE, UMASS, SRI on TST3 exact;
group F for GE, UMASS, SRI on TST3 exact;
score F, recall for GE, UMASS on TST3, TST4
"""

HOSTILE = (
    "<script>alert(1)</script>",
    "</script></style></title><img src=x onerror=alert(1)>",
    "<!-- --> ]]> &amp; &lt; \" '",
    "bidi\u202emark\u2066",
    "=cmd|' /C calc'!A0",
    r"\input{/etc/passwd} \end{document} $x^2_1$ % & # ~ {} \\",
    "**bold** _it_ `code` [a](javascript:alert(1)) ![b](http://evil.example/b.png)",
    "| --- | \\| <http://evil.example>",
    "# 1. - + > ~~~ ```",
    "${7*7} {{7*7}} {% x %} #{7}",
    "javascript:alert(1)",
    "日本語 مערכת 🦉 ħ ≤ α",
)


@pytest.fixture(scope="session")
def study(warehouses: dict[str, Path]) -> Report:
    """A report of the small study, in which one statement is wrong."""
    with Session.open(warehouses["sample"]) as session:
        session.set("unused", "7")
        two = Study("two.study", STUDY)
        done = list(answers(session, two.parts, keep_going=True))
        return report(two, done, session, "sample.duckdb", {"unused": "7"}, "1992-06-01 12:00 UTC")


@pytest.fixture(scope="session")
def hostile() -> Report:
    """A report in which every name and every text is hostile, outside of prose and in it."""
    everything = " ".join(HOSTILE)
    columns = (Column("system", "name"), Column("<b>value</b>", "proportion"), Column("remark", "text"))
    rows = tuple((name, place / 100, name[::-1]) for place, name in enumerate(HOSTILE))
    results = [Result(name, name, name, Table(columns, rows), notes=HOSTILE) for name in HOSTILE[:2]]
    sections: list[Section] = [Passage(f"# {name}\n\n{name}\n\n- {name}\n\n> {name}") for name in HOSTILE]
    pieces = tuple(Piece(kind, name) for kind in ("keyword", "text", "blank") for name in HOSTILE)
    sections += [ReportedStatement(pieces, place, result) for place, result in enumerate(results, 1)]
    sections.append(ReportedStatement(pieces, 3, error="\n".join(HOSTILE)))
    source = Source(1, HOSTILE[0], HOSTILE[1], 7, True, "0" * 64, HOSTILE[2], HOSTILE[3])
    return Report(everything, everything, "0" * 64, ((everything, everything),), tuple(sections), everything, (source,),
                  everything, "1992-06-01 12:00 UTC")  # fmt: skip
