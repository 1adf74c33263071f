"""What `compare … against` shows: a table for each measure and test set, the systems in the order of their values, the
one that all are compared with at its place among them. Data keep one row per pair.
"""

from __future__ import annotations

from collections.abc import Collection

from warehouse.results import Cell, Table, TableSection

SAID_OF_IT = "compared against"
"""The verdict on the system itself."""

IN_TITLES = frozenset({"test_set", "measure", "system_b", "value_b"})
"""The columns that say the same in every row of a section."""

HEADINGS = {"system_a": "system", "value_a": "value"}


def sections(table: Table, lowest_first: Collection[tuple[Cell, Cell]]) -> tuple[TableSection, ...]:
    """The rows by measure and test set, best first; where lower values are better of those `lowest_first`."""
    names = [column.name for column in table.columns]
    place = {name: names.index(name) for name in ("test_set", "measure", "system_a", "system_b", "value_a", "value_b")}
    together: dict[tuple[Cell, Cell], list[tuple[Cell, ...]]] = {}
    for row in table.rows:
        together.setdefault((row[place["test_set"]], row[place["measure"]]), []).append(row)

    def order(row: tuple[Cell, ...]) -> tuple[bool, float, str]:
        key, value = (row[place["test_set"]], row[place["measure"]]), row[place["value_a"]]
        sign = 1 if key in lowest_first else -1
        return value is None, sign * float(value or 0), str(row[place["system_a"]])

    found = []
    for (test_set, measure), rows in together.items():
        it = dict.fromkeys(names) | {
            "test_set": test_set,
            "measure": measure,
            "system_a": rows[0][place["system_b"]],
            "value_a": rows[0][place["value_b"]],
            "verdict": SAID_OF_IT,
        }
        ordered = sorted([*rows, tuple(it[name] for name in names)], key=order)
        title = f"{measure} on {test_set}" if len(together) > 1 else ""
        found.append(TableSection(title, tuple(ordered)))
    return tuple(found)
