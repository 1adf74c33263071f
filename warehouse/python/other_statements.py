"""The statements that are not questions: those written before a question, and those that list what there is."""

from __future__ import annotations

import os
from typing import Literal

from grammar.lexicon import quoted
from grammar.nodes import Expectation
from warehouse.python import written
from warehouse.python.methods import StatementMethods
from warehouse.python.printed_result import PrintedResult
from warehouse.python.statement_text import plot_text, preceded

Shown = Literal[
    "systems", "test sets", "evaluations", "measures", "tests", "imports", "variables", "attributes", "texts"
]


class OtherStatements(StatementMethods):
    """Methods for `expect`, `plot`, `explain`, `export`, `show` and `sql`."""

    def _one(self, text: str) -> PrintedResult:
        raise NotImplementedError

    def expect(
        self,
        expected: Expectation | None,
        question: str,
        *,
        at_least: written.Numeric | None = None,
        at_most: written.Numeric | None = None,
    ) -> PrintedResult:
        """Whether a comparison or a score meets an expectation.

        Parameters
        ----------
        expected : {"better", "worse", "not worse", "equivalent", "different"} or None
            What is expected of the first system of a comparison against the second; None for a score.
        question : str
            A statement that begins with `compare` or `score`.
        at_least, at_most : number, optional
            What a score is expected to reach, or not to exceed.

        Returns
        -------
        Result
            `outcome` says whether it holds; `raise_for()` raises an error if it does not hold.

        Raises
        ------
        QueryError
            If the statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().expect("better", "compare F1 for GE against MDC on TST3").outcome
        'met'
        """
        clauses = {
            words: written.number(words, number)
            for words, number in (("at least", at_least), ("at most", at_most))
            if number is not None
        }
        return self._one(preceded(f"expect {expected}" if expected else "expect", question, **clauses))

    def plot(
        self,
        question: str,
        *,
        to: str | os.PathLike[str] | None = None,
        title: str | None = None,
        width: str | None = None,
        font: str | None = None,
    ) -> PrintedResult:
        """A question as a picture. For a result that exists already, use `Result.plot`.

        Parameters
        ----------
        question : str
            A statement such as `rank F1 for all on TST3`.
        to : str or path, optional
            The file that the picture is written to: .svg, .png, .pdf, .html or .json.
        title, width, font : str, optional
            Its title, its width (`80mm`), and its font.

        Returns
        -------
        Result
            With the picture as data in `chart`.

        Raises
        ------
        QueryError
            If there is no picture for this kind of question, or the file exists already.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().plot("score F1 for GE, UMASS on TST3").chart.title
        'F1 on TST3'
        """
        named = None if to is None else os.fspath(to)
        return self._one(plot_text(question, title=title, width=width, font=font, to=named))

    def explain(self, question: str) -> PrintedResult:
        """The SQL that would run, and the test that would be chosen and why. Nothing runs.

        Parameters
        ----------
        question : str
            A statement such as `compare F1 for GE, UMASS on TST3`.

        Returns
        -------
        Result

        Raises
        ------
        QueryError
            If the statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().explain("score F1 for GE on TST3")
        >>> r[0]["stage"], r[0]["what"]
        ('statement', 'score F1 for GE on TST3')
        """
        return self._one(preceded("explain", question))

    def export(self, question: str, to: str | os.PathLike[str]) -> PrintedResult:
        """Write the rows of a question to a file in the format of its extension.

        Parameters
        ----------
        question : str
            A statement such as `score F1 for all on TST3`.
        to : str or path
            A file that does not exist yet.

        Returns
        -------
        Result
            What was written.

        Raises
        ------
        QueryError
            If the statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().export("score F1 for GE, UMASS on TST3", "scores.csv").rows
        [{'file': 'scores.csv', 'rows': 2}]
        """
        return self._one(preceded("export", question, to=quoted(os.fspath(to))))

    def show(self, what: Shown, *, as_of: written.ImportOrDate | None = None) -> PrintedResult:
        """A list of what is in the warehouse.

        Parameters
        ----------
        what : str
            "systems", "test sets", "evaluations", "measures", "tests", "imports", "variables", "attributes" or "texts".
        as_of : int, str, date or datetime, optional
            What there was after an import, or at a date or time. Only a lake keeps its past.

        Returns
        -------
        Result

        Raises
        ------
        QueryError
            If `what` is anything else.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().show("imports").rows[0]["source"]
        'sample_data/published/systems.csv'
        """
        return self._one(_as_of(f"show {what}", as_of))

    def sql(self, select: str, *, as_of: written.ImportOrDate | None = None) -> PrintedResult:
        """One SELECT on the views of the warehouse.

        Parameters
        ----------
        select : str
            A query in DuckDB's SQL. It cannot change anything, and cannot read files.
        as_of : int, str, date or datetime, optional
            Ask the warehouse as it was after an import, or at a date or time. Only a lake keeps its past.

        Returns
        -------
        Result

        Raises
        ------
        QueryError
            If DuckDB rejects the query.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().sql("select count(distinct system) as systems from scores").rows
        [{'systems': 17}]
        """
        return self._one(_as_of(f"sql {quoted(select)}", as_of))


def _as_of(text: str, as_of: written.ImportOrDate | None) -> str:
    """A statement with the clause `as of`, if a state is given."""
    return text if as_of is None else f"{text} as of {written.import_or_date('as_of', as_of)}"
