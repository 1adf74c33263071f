"""Draws charts on a terminal: lines of text with blocks and braille, which can be read without colour.

This module sees only a chart. It returns lines, and rich prints them.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil

from rich.text import Text

from evalhouse.warehouse.charts import (
    Axis,
    Bands,
    Bars,
    Bins,
    Brackets,
    Chart,
    Panel,
    Path,
    Point,
    Points,
    Rule,
    Shades,
    Spans,
    Squares,
    format_value,
    plain,
)
from evalhouse.warehouse.charts.axes import place, spread_out, ticks_of
from evalhouse.warehouse.render.panels import middle
from evalhouse.warehouse.render.style import Style, cell, clean, width

# === a canvas of characters ===========================================================================================
# Lines of braille dots, with texts on top of them.

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
    for value, text in ticks_of(axis, max(2, columns // 10)):
        column = indent + min(int(axis.share(value) * columns), columns - 1)
        start = max(0, min(column - len(text) // 2, indent + columns - len(text)))
        if start >= free:
            line.text(start, 0, text, "dim")
            free = start + len(text) + 1
    drawn = line.line_of(0)
    drawn.rstrip()
    return drawn


# === distributions as columns =========================================================================================

BLOCKS = " ▁▂▃▄▅▆▇█"
BAR_LEGEND = "━ as extreme as observed, or more; ▲ observed"
BAR_ROWS = 12
BAR_SCALE = 8
"""The columns for the counts beside the axis."""


def bars(panel: Panel, style: Style) -> list[Text]:
    """Columns of blocks, and below them a line that shows without colour which of them count as extreme."""
    columns = max(20, min(style.width - BAR_SCALE - 2, 100))
    canvas = Canvas(columns, BAR_ROWS)
    below = Canvas(columns, 1)
    bins = [bar for mark in panel.marks_of(Bins) for bar in mark.bins]
    for column in range(columns):
        at = panel.x.value((column + 0.5) / columns)
        here = next((bar for bar in bins if bar.low <= at < bar.high), None)
        if here is None:
            continue
        look = "bold yellow" if here.counted else "cyan"
        eighths = round(here.count / panel.y.high * BAR_ROWS * 8) if here.count else 0
        eighths = max(eighths, 1) if here.count else 0
        for row in range(BAR_ROWS):
            part = min(max(eighths - 8 * (BAR_ROWS - 1 - row), 0), 8)
            if part:
                canvas.text(column, row, BLOCKS[part], look)
        if here.counted:
            below.text(column, 0, "━", look)
    for rule in panel.marks_of(Rule):
        below.text(min(int(panel.x.share(rule.at) * columns), columns - 1), 0, "▲" if rule.label else "△", "bold")
    counts = {
        min(int((1 - panel.y.share(value)) * BAR_ROWS), BAR_ROWS - 1): text for value, text in ticks_of(panel.y, 4)
    }
    lines = [
        Text(f"{counts.get(row, ''):>{BAR_SCALE}} ", "dim").append_text(line) for row, line in enumerate(canvas.lines())
    ]
    marks = Text(" " * (BAR_SCALE + 1)).append_text(below.line_of(0))
    title = Text(f"{panel.x.label:^{columns + BAR_SCALE}}".rstrip(), "dim")
    return [*lines, marks, tick_line(panel.x, columns, BAR_SCALE + 1), title]


# === all pairs as signs ===============================================================================================

SIGNS = {"significant": ("■", "bold cyan"), "undecided": ("▒", "yellow"), "not significant": ("·", "")}
SQUARE_LEGEND = "■ significant, ▒ undecided, · not significant"


def squares(panel: Panel, style: Style) -> list[Text]:
    """One line per system, in ranking order, with a sign for each better system. Columns are numbered like lines."""
    known = {(square.row, square.column): square for mark in panel.marks_of(Squares) for square in mark.squares}
    count = len(panel.y.names)
    digits = len(str(count))
    longest = max(width(clean(name)) for name in panel.y.names)
    room = digits + 1 if digits + 2 + min(longest, 12) + (digits + 1) * (count - 1) <= style.width else 1
    names = min(longest, max(12, style.width - digits - 2 - room * (count - 1)))
    numbers = (str(column).rjust(room) if room > 1 else str(column % 10) for column in range(1, count))
    lines = [Text(" " * (digits + names + 2) + "".join(numbers), "dim")]
    for row, name in enumerate(panel.y.names):
        text = middle(clean(name), names)
        line = Text(f"{row + 1:>{digits}} {text}{' ' * (names - width(text))} ")
        for column in range(row):
            square = known.get((row, column))
            sign, look = SIGNS[square.verdict] if square else (" ", "")
            line.append(sign.rjust(room), look)
        lines.append(line)
    return lines


# === classes as shaded numbers ========================================================================================

SHADES = " ░▒▓█"
SHADE_LEGEND = "the fuller, the larger the share of the gold class"


def shades(panel: Panel, style: Style) -> list[Text]:
    """One line per class of the key, with the number of documents of each answer behind a sign for its share. Answers
    that do not fit beside one another stand in further blocks.
    """
    known = {(shade.row, shade.column): shade for mark in panel.marks_of(Shades) for shade in mark.shades}
    numbers = {place: plain(shade.count, 1) for place, shade in known.items()}
    names = [clean(name) for name in panel.y.names]
    room = min(max(map(width, [*names, panel.y.title])), max(style.width // 3, SHORTEST_CLASS))
    answers = [middle(clean(name), LONGEST_ANSWER) for name in panel.x.names]
    wide = max(*map(width, answers), *(len(number) + 2 for number in numbers.values()))
    many = max((style.width - room) // (wide + 2), 1)
    lines = []
    for start in range(0, len(answers), many):
        columns = range(start, min(start + many, len(answers)))
        headings = (" " * (wide + 2 - width(answers[column])) + answers[column] for column in columns)
        lines.append(Text(" " * room + "".join(headings), "dim"))
        for row, name in enumerate(names):
            shown = middle(name, room)
            line = Text(shown + " " * (room - width(shown)))
            for column in columns:
                shade = known.get((row, column))
                sign = SHADES[shade.level(len(SHADES) - 1)] if shade else " "
                line.append(f"{sign} {numbers.get((row, column), '')}".rjust(wide + 2), "bold" if row == column else "")
            lines.append(line)
    return lines


SHORTEST_CLASS = 8
LONGEST_ANSWER = 16
"""How long the names of classes are, if there is no room for all of them."""


# === rows of names and dots ===========================================================================================
# Rankings and differences.

NARROWEST = 20
"""The dots have at least this many columns, however long the names are."""
LONGEST_NAME = 24
"""The maximum length of a name, unless there is room for more."""


def ladder(panel: Panel, style: Style) -> list[Text]:
    """One line per name: the name, its value, the dot with its interval, and the letters of its groups."""
    values = {round(point.y): point.x for mark in panel.marks_of(Points) for point in mark.points}
    shown = [_shown(values.get(row), panel.x, style) if values else "" for row in range(len(panel.y.names))]
    letters = _letters(panel)
    longest = max(width(clean(name)) for name in panel.y.names)
    beside = max(map(len, shown)) + max(map(len, letters)) + 4
    room = max(style.width - beside - longest, min(style.width // 2, style.width - beside - LONGEST_NAME), NARROWEST)
    name_room = min(longest, max(style.width - beside - room, 8))
    canvas = Canvas(room, len(panel.y.names))
    _draw(panel, canvas)
    lines = []
    for row, name in enumerate(panel.y.names):
        text = middle(clean(name), name_room)
        line = Text(text + " " * (name_room - width(text)) + " ").append(shown[row].rjust(max(map(len, shown))))
        line.append(" ").append_text(canvas.line_of(row)).append("  ").append(letters[row], "bold")
        lines.append(line)
    indent = name_room + max(map(len, shown)) + 2
    ticks = tick_line(panel.x, room, indent)
    title = panel.x.label
    if width(title) < indent - 1:
        ticks = Text(title.rjust(indent - 1), "dim").append_text(ticks[indent - 1 :])
    return [*lines, ticks]


def _shown(value: float | None, axis: Axis, style: Style) -> str:
    """A value as the table of the same result shows it."""
    whole = axis.unit == "count" and value is not None and value % 1 == 0
    return cell(axis.unit, int(value) if whole and value is not None else value, style.digits)


RULES = {"solid": "│", "dashed": "╎", "dotted": "┆"}


def _draw(panel: Panel, canvas: Canvas) -> None:
    def column(value: float) -> int:
        return min(max(int(panel.x.share(value) * canvas.columns), 0), canvas.columns - 1)

    for value, _ in ticks_of(panel.x, max(2, canvas.columns // 10)):
        for row in range(canvas.rows):
            canvas.text(column(value), row, "┊", "dim")
    for mark in panel.marks:
        if isinstance(mark, Rule):
            for row in range(canvas.rows):
                canvas.text(column(mark.at), row, RULES[mark.dash])
        if isinstance(mark, Spans):
            for low, high, place in mark.spans:
                start, end = column(low), column(high)
                if mark.thick:
                    canvas.text(start, round(place), "█" * (end - start + 1))
                    continue
                canvas.text(start, round(place), "├" + "─" * (end - start - 1) + "┤" if end > start else "│")
    for points in panel.marks_of(Points):
        for point in points.points:
            canvas.point(column(point.x), round(point.y), hollow=points.hollow)


def _letters(panel: Panel) -> list[str]:
    """The letters of each row, aligned by group. A bar marks a row within a group that does not belong to it."""
    groups = [group for mark in panel.marks_of(Brackets) for group in mark.groups]
    lines = []
    for row in range(len(panel.y.names)):
        parts = []
        for group in groups:
            inside = min(group.members) < row < max(group.members)
            sign = group.letter if row in group.members else "│" if inside else ""
            parts.append(sign.ljust(len(group.letter)))
        lines.append(" ".join(parts) if groups and max(len(g.letter) for g in groups) > 1 else "".join(parts))
    return lines


# === points and lines on axes =========================================================================================
# Planes of two measures, slopes and curves.

ROWS = 18
SCALE = 7
"""The columns for the numbers beside the axis."""
MOST = 100
LONGEST = 20
"""The maximum length of names at the ends of lines."""

_DASHES = {"solid": (1, 0), "dashed": (4, 3), "dotted": (1, 3)}


def plot(panel: Panel, style: Style) -> list[Text]:
    """The plane with its ticks. Names that do not fit are listed in a line below, with their values."""
    paths = panel.marks_of(Path)
    starts, ends = (
        [middle(clean(name), LONGEST) for name, _ in named] for named in (panel.named_starts(), panel.named_ends())
    )
    rows = max(ROWS, min(len(ends) + 1, 40))
    before = max(map(width, starts), default=0) + (1 if starts else 0)
    behind = max(map(width, ends), default=0) + (1 if ends else 0)
    columns = max(20, min(style.width, MOST) - SCALE - 1 - before - behind)
    canvas = Canvas(columns, rows)
    for bars in panel.marks_of(Bars):
        _bars(bars, panel, canvas)
    for bands in panel.marks_of(Bands):
        _bands(bands, panel, canvas)
    for path in paths:
        _path(path, panel, canvas)
    for mark in panel.marks_of(Spans):
        for low, high, at in mark.spans:
            _path(Path(((low, at), (high, at)), "interval", "dashed"), panel, canvas)
    left_out = _points(panel, canvas)
    for path in paths:
        column, row = _label_of(path, _share(*path.points[-1], panel), canvas)
        if path.label and canvas.free(column, row, width(path.label)):
            canvas.text(column, row, path.label, "dim")
    lines = _frame_canvas(panel, canvas, before, behind)
    title = f"{panel.y.label} against {panel.x.label}" if not panel.x.nominal else panel.y.label
    below = []
    if left_out:
        x, y = panel.x.unit, panel.y.unit
        named = ", ".join(f"{clean(at.name)} ({format_value(at.x, x)}, {format_value(at.y, y)})" for at in left_out)
        below.append(Text(f"not named above: {named}", "dim"))
    if panel.x.nominal:
        names = Canvas(before + SCALE + 1 + columns, 1)
        for number, name in enumerate(panel.x.names):
            text = clean(name)
            names.text(before + SCALE + 1 + (0 if number == 0 else columns - width(text)), 0, text, "bold")
        return [Text(title, "dim"), *lines, names.line_of(0), *below]
    return [Text(title, "dim"), *lines, tick_line(panel.x, columns, before + SCALE + 1), *below]


def _share(x: float, y: float, panel: Panel) -> tuple[float, float]:
    """A position from the left and from the top, from 0 to 1. Lines between names go from edge to edge."""
    across = x / max(len(panel.x.names) - 1, 1) if panel.x.nominal else panel.x.share(x)
    return across, 1 - panel.y.share(y)


def _bars(bars: Bars, panel: Panel, canvas: Canvas) -> None:
    """Draws each bar as dots from its end to the line of 0."""
    ground = 1 - panel.y.share(0.0)
    for dot in range(canvas.columns * 2):
        at = panel.x.value((dot + 0.5) / (canvas.columns * 2))
        bar = next((bar for bar in bars.bars if bar.low <= at < bar.high), None)
        end = ground if bar is None else 1 - panel.y.share(bar.length)
        steps = max(1, ceil(abs(end - ground) * canvas.rows * 8))
        for step in range(steps):
            canvas.dot((dot + 0.5) / (canvas.columns * 2), ground + (end - ground) * step / steps, "cyan")


def _bands(bands: Bands, panel: Panel, canvas: Canvas) -> None:
    """Draws the edges of shaded areas as faint, widely spaced dots."""
    for ribbon in bands.ribbons:
        for edge in (1, 2):
            points = tuple((part[0], part[edge]) for part in ribbon.around)
            _path(Path(points, ribbon.name, "dotted", faint=True), panel, canvas)


def _path(path: Path, panel: Panel, canvas: Canvas) -> None:
    on, off = _DASHES[path.dash]
    look = "dim" if path.faint else ""
    inside = [_share(x, y, panel) for x, y in path.points]
    # One line from end to end, so that the dashes do not restart at each point.
    done = 0
    for start, end in pairwise(inside):
        steps = int(max(abs(end[0] - start[0]) * canvas.columns * 2, abs(end[1] - start[1]) * canvas.rows * 4)) + 1
        for step in range(steps):
            if (done + step) % (on + off) < on:
                share = step / steps
                canvas.dot(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share, look)
        done += steps


def _label_of(path: Path, end: tuple[float, float], canvas: Canvas) -> tuple[int, int]:
    """The start of a line's label, placed so that the label ends with the line."""
    column = int(end[0] * canvas.columns) - width(path.label) - 1
    return max(column, 0), min(int(end[1] * canvas.rows), canvas.rows - 1)


def _points(panel: Panel, canvas: Canvas) -> list[Point]:
    """Draws points and their names, and returns the measured points whose names did not fit."""
    named: list[tuple[Point, Points, tuple[int, int]]] = []
    for mark in panel.marks_of(Points):
        for point in mark.points:
            if not (panel.x.holds(point.x) and panel.y.holds(point.y)):
                continue
            x, y = _share(point.x, point.y, panel)
            at = min(int(x * canvas.columns), canvas.columns - 1), min(int(y * canvas.rows), canvas.rows - 1)
            canvas.point(*at, hollow=mark.hollow)
            if mark.labelled:
                named.append((point, mark, at))
    texts = [middle(clean(point.name), LONGEST) for point, _, _ in named]
    centres = [(column + 0.5, row + 0.5) for _, _, (column, row) in named]
    area = (float(canvas.columns) + 0.5, float(canvas.rows))
    taken = []
    for path in (path for path in panel.marks_of(Path) if path.label):
        column, row = _label_of(path, _share(*path.points[-1], panel), canvas)
        taken.append((column + 0.5, float(row), column + width(path.label) + 0.5, row + 1.0))
    sizes = [(float(width(text)), 1.0) for text in texts]
    placed = place(centres, sizes, area, 1.0, taken, reach=(1.0, 2.0))
    left_out = []
    for (point, mark, _), text, label in zip(named, texts, placed, strict=True):
        if label is not None:
            canvas.text(int(label.x - 0.5), int(label.y), text, "dim" if mark.hollow else "")
        elif not mark.hollow:
            left_out.append(point)
    return left_out


def _frame_canvas(panel: Panel, canvas: Canvas, before: int, behind: int) -> list[Text]:
    """The rows of a canvas with the numbers of the vertical axis, and the names at both ends of its lines."""
    numbers = {
        min(int((1 - panel.y.share(value)) * canvas.rows), canvas.rows - 1): text
        for value, text in ticks_of(panel.y, canvas.rows // 3)
    }
    sides = []
    for named in (panel.named_starts(), panel.named_ends()):
        names: dict[int, str] = {}
        wanted = [_share(*point, panel)[1] * canvas.rows for _, point in named]
        # Sorted by row, a whole number: rounding must not put two names into the same row.
        for (name, _), place_of_name in zip(named, spread_out(wanted, 1.0, 0.0, canvas.rows - 1.0), strict=True):
            at = int(place_of_name + 1e-9)
            while at in names and at < canvas.rows - 1:
                at += 1
            names[at] = middle(clean(name), LONGEST)
        sides.append(names)
    lines = []
    for row, line in enumerate(canvas.lines()):
        start, end = (side.get(row, "") for side in sides)
        text = Text(f"{numbers.get(row, ''):>{SCALE}}", "dim")
        if before:
            text.append(" " * (before - width(start)) + start, "")
        text.append("│" if not before else " ", "dim").append_text(line)
        lines.append(text.append(f" {end}" if behind else ""))
    return lines


# === pictures =========================================================================================================

SIMULATED = "SIMULATED DATA"

MEANINGS = {Bins: BAR_LEGEND, Squares: SQUARE_LEGEND, Shades: SHADE_LEGEND}
"""The meanings of the signs, by kind of mark."""


def picture(chart: Chart, style: Style) -> list[Text]:
    """The lines of a chart. They are at most as wide as the terminal, if the names are short enough."""
    title = Text(clean(chart.title), style="bold")
    if chart.simulated:
        title.append("   ").append(SIMULATED, style="bold yellow")
    lines = [title, *([Text(clean(chart.subtitle))] if chart.subtitle else [])]
    for panel in chart.panels:
        if panel.title:
            lines.append(Text(clean(panel.title), style="italic"))
        for line in _panel(panel, style):
            line.no_wrap, line.overflow = True, "ignore"
            lines.append(line)
    kinds = {type(mark) for panel in chart.panels for mark in panel.marks}
    legend = [*(meaning for kind, meaning in MEANINGS.items() if kind in kinds), *chart.legend]
    return [*lines, Text(clean("; ".join(legend)), style="dim")] if legend else lines


def _panel(panel: Panel, style: Style) -> list[Text]:
    kinds = {type(mark) for mark in panel.marks}
    if Squares in kinds:
        return squares(panel, style)
    if Shades in kinds:
        return shades(panel, style)
    if Bins in kinds:
        return bars(panel, style)
    return ladder(panel, style) if panel.y.nominal else plot(panel, style)
