"""Markdown tables, as benchmarks print them and pages show them."""

from __future__ import annotations

__all__ = ["heads", "row"]


def heads(*cells: object) -> None:
    """Prints the headings of a table."""
    row(*cells)
    row(*["---"] * len(cells))


def row(*cells: object) -> None:
    """Prints a row of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
