"""Draws the tables of a warehouse and their references, from the schema itself.

    python docs/pictures/schema.py

writes schema.svg and schema-dark.svg beside this file. The tables that others refer to are in a row at the top, each
with a vertical line below it. The other tables are at the left, with a dot on the line of each table that they refer
to.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import duckdb

SCHEMA = Path(__file__).resolve().parents[2] / "warehouse" / "store" / "schema.sql"

HEADS = ("evaluation", "test_set", "document", "unit", "item", "system", "annotator", "import")
"""In this order, no two lines cross."""

Tables = dict[str, list[str]]
"""The columns of each table."""

LEFT, WIDTH, STEP, LINE = 16, 292, 86, 15
PAPER, BOX, INK, PALE, EDGE, POINT = "#ffffff", "#f6f8fa", "#1f2328", "#59636e", "#8c959f", "#0b62b8"
DARK = {PAPER: "#14181d", BOX: "#1d232a", INK: "#e6e9ed", PALE: "#a3acb6", EDGE: "#69727d", POINT: "#56b4e9"}
"""For each colour the one that replaces it on a dark page."""

LETTERS = "Liberation Sans, Arial, Helvetica, sans-serif"


def tables() -> Tables:
    """All tables of the schema with their columns, in the order of the schema."""
    found: Tables = {}
    with duckdb.connect(":memory:") as database:
        database.execute(SCHEMA.read_text(encoding="utf-8"))
        columns = "select table_name, column_name from duckdb_columns() where not internal and table_oid in "
        columns += "(select table_oid from duckdb_tables()) order by table_oid, column_index"
        for table, column in database.execute(columns).fetchall():
            found.setdefault(table, []).append(column)
    return found


def pointed(columns: list[str]) -> list[str]:
    """The tables that a table with these columns refers to."""
    return [column.removesuffix("_id") for column in columns if column.endswith("_id")]


def drawing(known: Tables) -> str:
    """The picture, as SVG."""
    lanes = {head: LEFT + WIDTH + 56 + STEP * at for at, head in enumerate(HEADS)}
    top = 44
    own = {table: [column for column in columns if not column.endswith("_id")] for table, columns in known.items()}
    parts: list[str] = []
    for head, x in lanes.items():
        parts += _box(head, x - STEP // 2 + 4, top, STEP - 8, own[head])
        for target in pointed(known[head]):
            to = lanes[target]
            parts.append(_line(f"M{x - 14} {top}V{top - 16}H{to + 14}V{top}"))
            parts.append(_dot(to + 14, top, head, target))
    y = top + max(_height(own[head]) for head in HEADS) + 18
    lowest: dict[str, float] = {}
    rows: list[str] = []
    for table, columns in known.items():
        targets = pointed(columns)
        if table in HEADS or not targets:
            continue
        lines = textwrap.wrap(", ".join(own[table]), 46)
        centre = y + _height(lines) / 2
        rows += _box(table, LEFT, y, WIDTH, lines)
        rows.append(_line(f"M{LEFT + WIDTH} {centre}H{max(lanes[target] for target in targets)}"))
        for target in targets:
            rows.append(_dot(lanes[target], centre, table, target))
            lowest[target] = centre
        y += _height(lines) + 8
    parts += [_line(f"M{lanes[head]} {top + _height(own[head])}V{end}") for head, end in lowest.items()]
    parts += rows
    x, y = LEFT, y + 12
    for table in (table for table, columns in known.items() if table not in HEADS and not pointed(columns)):
        parts += _box(table, x, y, WIDTH, [", ".join(own[table])])
        x += WIDTH + 24
    y += 70
    parts.append(f'<circle cx="{LEFT + 5}" cy="{y - 4}" r="4.5" fill="{POINT}"/>')
    parts.append(_text("Each row points to one row of the table on whose line, or at which, the dot is.", LEFT + 14, y))
    wide, high = max(lanes["import"] + STEP // 2 + 12, x), y + 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'font-family="{LETTERS}" role="img" aria-label="The tables of a warehouse and what points to what">\n'
        f'<rect width="{wide}" height="{high}" fill="{PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _height(lines: list[str]) -> int:
    return 10 + LINE * (1 + len(lines))


def _box(name: str, x: float, y: float, width: float, lines: list[str]) -> Iterator[str]:
    """A table: its name and its columns."""
    yield (f'<rect x="{x}" y="{y}" width="{width}" height="{_height(lines)}" rx="4" fill="{BOX}" stroke="{EDGE}"/>')
    yield f'<text x="{x + 7}" y="{y + LINE + 1}" fill="{INK}" font-weight="bold" font-size="13">{name}</text>'
    for at, line in enumerate(lines, start=2):
        yield _text(line, x + 7, y + LINE * at)


def _text(words: str, x: float, y: float) -> str:
    return f'<text x="{x}" y="{y}" fill="{PALE}" font-size="12">{words}</text>'


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{EDGE}"/>'


def _dot(x: float, y: float, table: str, target: str) -> str:
    title = f"{table}.{target}_id points to {target}.id"
    return f'<circle cx="{x}" cy="{y}" r="4.5" fill="{POINT}"><title>{title}</title></circle>'


if __name__ == "__main__":
    light = dark = drawing(tables())
    for colour, replacement in DARK.items():
        dark = dark.replace(f'"{colour}"', f'"{replacement}"')
    Path(__file__).with_name("schema.svg").write_text(light, encoding="utf-8")
    Path(__file__).with_name("schema-dark.svg").write_text(dark, encoding="utf-8")
