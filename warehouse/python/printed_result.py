"""The result that Python programs get: the Result of `evalhouse.warehouse.results`, with all the formats that it can be
drawn in.

It holds no data of its own. To draw its picture it asks its warehouse, because a result holds only its table.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from math import isclose, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import WarehouseError, file_error
from evalhouse.warehouse.python.other_words import RESULT, no_attribute
from evalhouse.warehouse.python.text import in_full, plot_text
from evalhouse.warehouse.render import Style, format_for, render
from evalhouse.warehouse.render.style import Theme
from evalhouse.warehouse.results import TEXTS, Cell, Column, Result

if TYPE_CHECKING:
    from evalhouse.warehouse.charts import Chart

WIDE = 100
"""The width of a table in columns if the width of the screen is unknown."""

Ask = Callable[[str], "PrintedResult"]
"""Returns the answer to a statement."""


def _type_in_database(column: Column, cells: Sequence[Cell]) -> str:
    if column.kind not in TEXTS:
        return "bigint" if column.kind in ("count", "whole") else "double"
    known = [cell for cell in cells if cell is not None]
    return "boolean" if known and all(isinstance(cell, bool) for cell in known) else "varchar"


class ConfidenceInterval(NamedTuple):
    """The limits of an interval."""

    low: float
    high: float


def _contents(result: Result) -> tuple[Any, ...]:
    """What a result says; who answers other statements is not part of it, and is not pickled."""
    return tuple(getattr(result, field) for field in Result.__struct_fields__)


class PrintedResult(Result, frozen=True):
    """The answer to a statement.

    It prints as its table, appears as a table in notebooks, and converts to tables of other packages. Two results are
    equal if everything in them is equal. It can be pickled.

    Attributes
    ----------
    statement : str
        The statement that it answers, in canonical spelling.
    caption, signature : str
        What was done, in words; and one line with everything that determines the numbers, and a seal of them.
    rows, summary : list of dict
        The rows as dictionaries by column name, and the rows of the summary, if there is one. Proportions are from 0
        to 1; undefined values are None.
    notes : tuple of str
        What else readers need to know.
    outcome : {"met", "not met", "undecided"} or None
        Whether the expectation of an `expect` statement is met.

    Examples
    --------
    >>> import evalhouse as eh
    >>> r = eh.open().score("F1", "GE", "UMASS", on="TST3")
    >>> [row["system"] for row in r]
    ['GE', 'UMASS']
    >>> print(r.to_csv(), end="")  # doctest: +ELLIPSIS
    test_set,task,system,documents,F1,source
    TST3,extraction,GE,100,0.5600...
    TST3,extraction,UMASS,100,0.516...
    """

    _asks: Ask | None = None

    @classmethod
    def of(cls, result: Result, asks: Ask) -> PrintedResult:
        """The same result; `asks` answers other statements on the same warehouse."""
        return cls(**{field: getattr(result, field) for field in Result.__struct_fields__}, _asks=asks)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _contents(self) == _contents(other)

    def __hash__(self) -> int:
        return hash(_contents(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return PrintedResult, _contents(self)

    if not TYPE_CHECKING:  # a checker would take every attribute for one that is there

        def __getattr__(self, word: str) -> NoReturn:
            columns = {name: f"r[0][{name!r}]" for name in self.columns}
            raise no_attribute("a result", word, {**columns, **RESULT}, dir(type(self)))

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.table.rows)

    def __bool__(self) -> bool:
        """Always true: a result without rows is a result, too."""
        return True

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """The rows as dictionaries by column name."""
        return iter(self.rows)

    def __getitem__(self, place: int) -> dict[str, Cell]:
        """A row by its index, which counts from 0."""
        if isinstance(place, str):
            raise TypeError(f"rows are counted from 0: the column is [row[{place!r}] for row in result]")
        return self.rows[place]

    def __str__(self) -> str:
        """The table as on a screen, as wide as the terminal, without colour."""
        return render(self, "table", Style(width=_columns())).rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from evalhouse.warehouse.render.html import fragment

        return fragment(self, Style())

    # --- what was tested ----------------------------------------------------------------------------------------------

    @property
    def pvalue(self) -> Any:
        """The p of the comparison, adjusted where p-values are; an array of several rows.

        Raises
        ------
        TypeError
            If nothing was compared.

        Examples
        --------
        >>> import evalhouse as eh
        >>> round(eh.open().compare("F1", "GE", "UMASS", on="TST3").pvalue, 4)
        0.0996
        """
        return self._tested("p_adjusted", "p")

    @property
    def statistic(self) -> Any:
        """The statistic of the test if it has one, and the difference of the values if not; an array of several rows.

        Raises
        ------
        TypeError
            If nothing was compared.

        Examples
        --------
        >>> import evalhouse as eh
        >>> round(eh.open().compare("F1", "GE", "UMASS", on="TST3").statistic, 4)
        0.0439
        """
        return self._tested("statistic", "difference")

    def confidence_interval(self, confidence_level: float | None = None) -> ConfidenceInterval:
        """The interval of the difference of one pair.

        Parameters
        ----------
        confidence_level : float, optional
            The confidence that the interval is expected to have. It was chosen by the question, as `level`.

        Returns
        -------
        ConfidenceInterval
            With the fields `low` and `high`.

        Raises
        ------
        TypeError
            If there is not one row with an interval.
        ValueError
            If its confidence is not the expected one.

        Examples
        --------
        >>> import evalhouse as eh
        >>> interval = eh.open().compare("F1", "GE", "UMASS", on="TST3").confidence_interval()
        >>> round(interval.low, 4), round(interval.high, 4)
        (-0.0073, 0.0951)
        """
        if "ci_low" not in self.columns or len(self) != 1:
            raise TypeError(f"{len(self):,} rows, and not one with an interval")
        level, margin = float(str(self[0]["level"])), self[0].get("margin")
        confidence = 1 - level if margin is None else 1 - 2 * level
        if confidence_level is not None and not isclose(confidence_level, confidence):
            needed = round((1 - confidence_level) / (1 if margin is None else 2), 12)
            raise ValueError(f"the interval has the confidence {confidence:g}: ask the question with level={needed:g}")
        limits: list[Any] = [self[0]["ci_low"], self[0]["ci_high"]]
        return ConfidenceInterval(*(nan if limit is None else float(limit) for limit in limits))

    def _tested(self, first: str, otherwise: str) -> Any:
        """What was tested of each row: the column that has it, or else the other one; nan where there is neither."""
        if otherwise not in self.columns:
            raise TypeError("nothing was compared: only comparisons have p-values")
        cells: list[Any] = [row[otherwise] if row.get(first) is None else row[first] for row in self]
        found = [nan if cell is None else float(cell) for cell in cells]
        if len(found) == 1:
            return found[0]
        import numpy as np

        return np.array(found)

    # --- texts --------------------------------------------------------------------------------------------------------

    def to_csv(self, digits: int | None = None) -> str:
        """The rows as comma-separated text with a header line.

        Parameters
        ----------
        digits : int, optional
            Decimals of numbers.

        Returns
        -------
        str

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().score("F1", "GE", on="TST3")
        >>> r.to_csv().splitlines()[0]
        'test_set,task,system,documents,F1,source'
        """
        return self._drawn("csv", digits)

    def to_markdown(self, digits: int | None = None) -> str:
        """The sentence and the table with its notes in Markdown.

        Parameters
        ----------
        digits : int, optional
            Decimals of numbers.

        Returns
        -------
        str

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().score("F1", "GE", on="TST3")
        >>> print(r.to_markdown(digits=1).partition("*100")[0].rstrip())
        **The F1 of GE on TST3 is 56.0.**
        <BLANKLINE>
        | system |   F1 |
        | ------ | ---: |
        | GE     | 56.0 |
        """
        return self._drawn("markdown", digits)

    def to_latex(self, digits: int | None = None) -> str:
        """The table for a paper, in LaTeX with the package booktabs, and the signature as a comment.

        Parameters
        ----------
        digits : int, optional
            Decimals of numbers.

        Returns
        -------
        str

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().score("F1", "GE", on="TST3")
        >>> "toprule" in r.to_latex()
        True
        """
        return self._drawn("latex", digits)

    def to_typst(self, digits: int | None = None) -> str:
        """The table as a figure in Typst.

        Parameters
        ----------
        digits : int, optional
            Decimals of numbers.

        Returns
        -------
        str

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().score("F1", "GE", on="TST3")
        >>> "table(" in r.to_typst()
        True
        """
        return self._drawn("typst", digits)

    def to_html(self, digits: int | None = None) -> str:
        """A self-contained page; a click on a heading sorts the table.

        Parameters
        ----------
        digits : int, optional
            Decimals of numbers.

        Returns
        -------
        str

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().score("F1", "GE", on="TST3")
        >>> r.to_html()[:15]
        '<!doctype html>'
        """
        return self._drawn("html", digits)

    def _drawn(self, form: str, digits: int | None) -> str:
        if isinstance(digits, str | os.PathLike):
            raise TypeError(f"this returns text: r.save({str(digits)!r}) writes a file")
        return render(self, form, Style(digits))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the result to a file in the format of its extension. The file is written completely or not at all.

        Parameters
        ----------
        path : str or path
            Ends in .csv, .tsv, .json, .ndjson, .md, .tex, .typ, .html, .txt or .xlsx.
        force : bool, default False
            Overwrite an existing file.

        Raises
        ------
        LoadError
            If the file exists already, cannot be written, or has an extension without a format.

        Examples
        --------
        >>> from pathlib import Path
        >>> import evalhouse as eh
        >>> eh.open().score("F1", "GE", on="TST3").save("scores.csv")
        >>> len(Path("scores.csv").read_text().splitlines())
        2
        """
        from evalhouse.warehouse.render.files import check, write

        to = Path(path)
        in_full(lambda: write([self], to, check(to, format_for(to.suffix), force), Style()))

    # --- tables of other packages -------------------------------------------------------------------------------------

    def to_polars(self) -> Any:
        """The rows as a polars.DataFrame; undefined values are null.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        ImportError
            If polars is not installed.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().score("F1", "GE", on="TST3").to_polars().columns
        ['test_set', 'task', 'system', 'documents', 'F1', 'source']
        """
        import polars

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream, by which other packages take them: `polars.DataFrame(r)`, `pyarrow.table(r)`,
        and in DuckDB `from r`. Undefined values are null.
        """
        from evalhouse.warehouse.store.connecting import arrow_stream

        columns = []
        for column, cells in zip(self.table.columns, self.table.cells(), strict=True):
            kind = _type_in_database(column, cells)
            texts = kind == "varchar"
            columns.append((column.name, kind, [str(cell) if texts and cell is not None else cell for cell in cells]))
        return arrow_stream(columns, requested_schema)

    # --- its picture --------------------------------------------------------------------------------------------------

    def plot(self, *, title: str | None = None, width: str | None = None, font: str | None = None) -> ResultPicture:
        """The picture of the result, which its warehouse draws.

        Parameters
        ----------
        title : str, optional
            Its title.
        width : str, optional
            Its width in a file: `80mm`, `8cm`, `3.3in`, `240pt` or `600px`.
        font : str, optional
            Its font in a file.

        Returns
        -------
        ResultPicture
            Shows itself in a notebook; `save` writes it to a file.

        Raises
        ------
        QueryError
            If there is no picture for this kind of result.
        WarehouseError
            If the warehouse was closed or changed in the meantime, or the result was pickled.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().score("F1", "GE", "UMASS", on="TST3").plot().chart.title
        'F1 on TST3'
        """
        if self.chart is not None and title is width is font is None:
            return ResultPicture(self)
        if self._asks is None:
            raise WarehouseError("a result that was pickled has no warehouse to ask for its picture")
        drawn = self._asks(plot_text(self.statement.removeprefix("plot "), title=title, width=width, font=font))
        if (drawn.table, drawn.signature) != (self.table, self.signature):
            raise WarehouseError("the warehouse was changed since this was asked", ("ask again, and plot that",))
        return ResultPicture(drawn)


class ResultPicture:
    """The picture of a result.

    Attributes
    ----------
    chart : evalhouse.warehouse.charts.Chart
        The picture as data: panels, axes, marks, and a sentence for those who cannot see it.

    Examples
    --------
    >>> import evalhouse as eh
    >>> eh.open().score("F1", "GE", "UMASS", on="TST3").plot()
    Ranked dots. F1: 2 rows, from GE to UMASS.
    """

    def __init__(self, result: Result) -> None:
        if result.chart is None:
            raise QueryError("there is nothing to draw")
        self._result = result
        self.chart: Chart = result.chart

    def save(self, path: str | os.PathLike[str], *, theme: Theme = "auto", force: bool = False) -> None:
        """Writes the picture to a file, completely or not at all.

        Parameters
        ----------
        path : str or path
            Ends in .svg, .png, .pdf, .html, or .json for the picture in Vega-Lite.
        theme : {"auto", "light", "dark"}, default "auto"
            The background, light or dark. By default, a page follows its reader's system, and other files are light.
        force : bool, default False
            Overwrite an existing file.

        Raises
        ------
        WarehouseError
            If the extra `plot` is not installed.
        LoadError
            If the file exists already, cannot be written, or has another extension.

        Examples
        --------
        >>> import json
        >>> from pathlib import Path
        >>> import evalhouse as eh
        >>> eh.open().score("F1", "GE", "UMASS", on="TST3").plot().save("scores.json")
        >>> json.loads(Path("scores.json").read_text())["$schema"]
        'https://vega.github.io/schema/vega-lite/v5.json'
        """
        from evalhouse.warehouse.render.files import check_free, write_all
        from evalhouse.warehouse.render.vegalite import FILES

        to = Path(path)

        def written() -> None:
            draw = FILES.get(to.suffix.casefold())
            if draw is None:
                raise file_error(to, f"has no ending that names a kind of picture; there are {', '.join(FILES)}")
            check_free(to, force)
            drawn = draw(self.chart, theme)
            write_all({to: drawn if isinstance(drawn, bytes) else drawn.encode()})

        in_full(written)

    def __repr__(self) -> str:
        return self.chart.alternative

    def _repr_html_(self) -> str:
        """The HTML for notebooks: the picture, with its data folded."""
        from evalhouse.warehouse.render.html import fragment

        return fragment(self._result, Style())


def _columns() -> int:
    """The maximum width of a table: the width of the terminal, if there is one."""
    if (sys.stdout is not None and sys.stdout.isatty()) or os.environ.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size((WIDE, 24)).columns
    return WIDE
