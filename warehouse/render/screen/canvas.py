"""A rectangle of characters: lines of braille dots, with texts on top of them."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from warehouse.charts import Axis
from warehouse.charts.axes import ticks
from warehouse.render.style import width

BRAILLE = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The braille dot for each position in a character, four down and two across (Unicode 15.0, section 21.1)."""


class Canvas:
    """A rectangle of characters. Nothing is drawn outside it, and existing text is never overwritten; dots are."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._dots: dict[tuple[int, int], tuple[int, str]] = {}
        self._texts: dict[tuple[int, int], tuple[str, str]] = {}

    def dot(self, x: float, y: float, look: str = "") -> None:
        """Draws a dot. Its distances from the left and from the top are shares from 0 to 1."""
        across, down = int(x * self.columns * 2), int(y * self.rows * 4)
        across, down = across - (across == self.columns * 2), down - (down == self.rows * 4)
        if 0 <= across < self.columns * 2 and 0 <= down < self.rows * 4:
            place = (across // 2, down // 4)
            bits, _ = self._dots.get(place, (0, ""))
            self._dots[place] = (bits | _BITS[down % 4][across % 2], look)

    def text(self, column: int, row: int, text: str, look: str = "") -> None:
        """Writes a text that begins at a column. A wide character takes two columns."""
        for character in text:
            if 0 <= row < self.rows and 0 <= column < self.columns:
                self._texts[column, row] = (character, look)
            wide = width(character)
            if wide == 2:
                self._texts[column + 1, row] = ("", look)
            column += max(wide, 1)

    def point(self, column: int, row: int, *, hollow: bool) -> None:
        """Draws a measured point, or a computed one, which is hollow."""
        self.text(column, row, "○" if hollow else "●", "" if hollow else "bold cyan")

    def free(self, column: int, row: int, size: int) -> bool:
        """Whether some characters of a row are free of text."""
        return not any((place, row) in self._texts for place in range(column, column + size))

    def line_of(self, row: int) -> Text:
        """One line of the rectangle."""
        drawn = Text()
        for column in range(self.columns):
            if (column, row) in self._texts:
                drawn.append(*self._texts[column, row])
            elif (column, row) in self._dots:
                bits, look = self._dots[column, row]
                drawn.append(chr(BRAILLE + bits), look)
            else:
                drawn.append(" ")
        return drawn

    def lines(self) -> list[Text]:
        return [self.line_of(row) for row in range(self.rows)]


def tick_line(axis: Axis, columns: int, indent: int) -> Text:
    """The numbers below an axis, each at its place. A number that would touch another is left out."""
    line = Canvas(indent + columns, 1)
    free = 0
    for value, text in marked(axis, max(2, columns // 10)):
        column = indent + min(int(axis.share(value) * columns), columns - 1)
        start = max(0, min(column - len(text) // 2, indent + columns - len(text)))
        if start >= free:
            line.text(start, 0, text, "dim")
            free = start + len(text) + 1
    drawn = line.line_of(0)
    drawn.rstrip()
    return drawn


def marked(axis: Axis, most: int) -> Iterable[tuple[float, str]]:
    """The ticks of an axis of numbers, with their labels."""
    for value in ticks(axis.low, axis.high, most, axis.log):
        yield value, f"{100 * value if axis.in_percent else value:,.6g}"
