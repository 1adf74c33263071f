"""One method for each question of the language, with the clauses of its statement as arguments.

Written by `python -m warehouse.python.generating`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from warehouse.python.printed_result import PrintedResult
from warehouse.python.written import ImportOrDate, NameOrNames, Numeric


class StatementMethods:
    """The questions of the language as methods. A subclass defines how they are asked."""

    def _ask(self, word: str, given: Mapping[str, Any]) -> PrintedResult:
        raise NotImplementedError

    def score(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        replicates_by: Literal[True] | str | None = None,
        by: NameOrNames | None = None,
        where: str | None = None,
        order_by: str | None = None,
        limit: Numeric | None = None,
        standardized: bool = False,
        corrected_by: str | None = None,
        exchange_by: str | None = None,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        interval: Literal[True] | Literal["studentized", "percentile", "bca"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Values of measures, one row per system.

        The statement `score MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        by : str or sequence of str, optional
            One row for each value: document, unit, label or an attribute. In the language: `by unit`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        order_by : str, optional
            The measure to order rows by; `desc` or `asc`. In the language: `order by recall desc`.
        limit : int, float, Decimal or str, optional
            At most this many rows. In the language: `limit 5`.
        standardized : bool, default False
            Values in standard deviations from the mean of all systems on the test set.
        corrected_by : str, optional
            The judge's values, corrected by human labels of some documents. In the language: `corrected by llm`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        interval : {"studentized", "percentile", "bca"} or True, optional
            The kind of bootstrap interval; studentized by default. In the language: `interval bca`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.score(['recall', 'precision', 'F'], 'all', on='TST3').statement
        'score recall, precision, F for all on TST3'
        """
        return self._ask("score", locals())

    def compare(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        against: str | None = None,
        on: NameOrNames | None = None,
        over_test_sets: bool = False,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        exchange_by: str | None = None,
        one_sided: bool = False,
        two_sided: bool = False,
        test: str | None = None,
        shuffles: Numeric | None = None,
        exact: bool = False,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        margin: Numeric | None = None,
        confidence: Numeric | None = None,
        adjust: str | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        interval: Literal[True] | Literal["studentized", "percentile", "bca"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Test the difference of two systems, or of every pair of several.

        The statement `compare MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        against : str, optional
            Each system against this one. In the language: `against GE`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        over_test_sets : bool, default False
            Compare averages over the test sets; exchanges stay within each.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        one_sided : bool, default False
            Test only whether the first system is better.
        two_sided : bool, default False
            Test whether the systems differ; the default.
        test : str, optional
            The significance test; randomization by default. In the language: `test wilcoxon`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        exact : bool, default False
            Count every possible exchange.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        margin : int, float, Decimal or str, optional
            The largest difference that does not matter, for verdicts such as equivalent and not worse. In the
            language: `margin 1%`.
        confidence : int, float, Decimal or str, optional
            How sure a verdict must be on which side of `level` the exact p lies; 0.99 by default. In the
            language: `confidence 0.99`.
        adjust : str, optional
            Adjust p-values for multiple comparisons. In the language: `adjust holm`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        interval : {"studentized", "percentile", "bca"} or True, optional
            The kind of bootstrap interval; studentized by default. In the language: `interval bca`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.compare('F(beta=1)', 'GE', 'UMASS', on='TST3', shuffles=9999).statement
        'compare F(beta=1) for GE, UMASS on TST3 shuffles 9999'
        """
        return self._ask("compare", locals())

    def group(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        exchange_by: str | None = None,
        one_sided: bool = False,
        two_sided: bool = False,
        test: str | None = None,
        shuffles: Numeric | None = None,
        exact: bool = False,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        confidence: Numeric | None = None,
        adjust: str | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Significance groups: systems that share a letter do not differ significantly.

        The statement `group MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        one_sided : bool, default False
            Test only whether the first system is better.
        two_sided : bool, default False
            Test whether the systems differ; the default.
        test : str, optional
            The significance test; randomization by default. In the language: `test wilcoxon`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        exact : bool, default False
            Count every possible exchange.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        confidence : int, float, Decimal or str, optional
            How sure a verdict must be on which side of `level` the exact p lies; 0.99 by default. In the
            language: `confidence 0.99`.
        adjust : str, optional
            Adjust p-values for multiple comparisons. In the language: `adjust holm`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.group('F', 'all', on='TST3', shuffles=999, level=0.1, confidence=0.99).statement
        'group F for all on TST3 shuffles 999 level 0.1 confidence 0.99'
        """
        return self._ask("group", locals())

    def rank(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        over_test_sets: bool = False,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        exchange_by: str | None = None,
        one_sided: bool = False,
        two_sided: bool = False,
        test: str | None = None,
        shuffles: Numeric | None = None,
        exact: bool = False,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        confidence: Numeric | None = None,
        adjust: str | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Each system's rank, the set of ranks that it may have, and clusters; over test sets, mean ranks.

        The statement `rank MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        over_test_sets : bool, default False
            Compare averages over the test sets; exchanges stay within each.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        one_sided : bool, default False
            Test only whether the first system is better.
        two_sided : bool, default False
            Test whether the systems differ; the default.
        test : str, optional
            The significance test; randomization by default. In the language: `test wilcoxon`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        exact : bool, default False
            Count every possible exchange.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        confidence : int, float, Decimal or str, optional
            How sure a verdict must be on which side of `level` the exact p lies; 0.99 by default. In the
            language: `confidence 0.99`.
        adjust : str, optional
            Adjust p-values for multiple comparisons. In the language: `adjust holm`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.rank('F', 'all', on='TST3', shuffles=999).statement
        'rank F for all on TST3 shuffles 999'
        """
        return self._ask("rank", locals())

    def table(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        against: str | None = None,
        on: NameOrNames | None = None,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        order_by: str | None = None,
        order_as_named: bool = False,
        exchange_by: str | None = None,
        one_sided: bool = False,
        two_sided: bool = False,
        test: str | None = None,
        shuffles: Numeric | None = None,
        exact: bool = False,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        confidence: Numeric | None = None,
        adjust: str | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        interval: Literal[True] | Literal["studentized", "percentile", "bca"] | None = None,
        letters: bool = False,
        rank: bool = False,
        digits: Numeric | None = None,
        columns: Mapping[str, str] | None = None,
        caption: str | None = None,
        label: str | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Values as a paper prints them: the best in bold, with significance marks, intervals, ranks and a caption.

        The statement `table MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        against : str, optional
            Each system against this one. In the language: `against GE`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        order_by : str, optional
            The measure to order rows by; `desc` or `asc`. In the language: `order by recall desc`.
        order_as_named : bool, default False
            Systems in the order in which they are named.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        one_sided : bool, default False
            Test only whether the first system is better.
        two_sided : bool, default False
            Test whether the systems differ; the default.
        test : str, optional
            The significance test; randomization by default. In the language: `test wilcoxon`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        exact : bool, default False
            Count every possible exchange.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        confidence : int, float, Decimal or str, optional
            How sure a verdict must be on which side of `level` the exact p lies; 0.99 by default. In the
            language: `confidence 0.99`.
        adjust : str, optional
            Adjust p-values for multiple comparisons. In the language: `adjust holm`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        interval : {"studentized", "percentile", "bca"} or True, optional
            The kind of bootstrap interval; studentized by default. In the language: `interval bca`.
        letters : bool, default False
            Beside each value, the letters of the systems that it beats.
        rank : bool, default False
            Beside each value, the ranks that the system may have.
        digits : int, float, Decimal or str, optional
            Decimal places of the values. In the language: `digits 1`.
        columns : mapping of str to str, optional
            Names for measures, test sets and the column of systems. In the language: `columns F as "F₁"`.
        caption : str, optional
            The text above the table. In the language: `caption "Results on MUC-4"`.
        label : str, optional
            The name by which a paper refers to the table. In the language: `label "tab:muc4"`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.table(['recall', 'precision', 'F'], 'all', against='GE', on=['TST3', 'TST4'], shuffles=999, adjust='holm').statement
        'table recall, precision, F for all against GE on TST3, TST4 shuffles 999 adjust holm'
        """
        return self._ask("table", locals())

    def power(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        exchange_by: str | None = None,
        one_sided: bool = False,
        two_sided: bool = False,
        test: str | None = None,
        shuffles: Numeric | None = None,
        exact: bool = False,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        detect: Numeric | Sequence[Numeric] | None = None,
        documents: Numeric | Sequence[Numeric] | None = None,
        power: Numeric | None = None,
        confidence: Numeric | None = None,
        adjust: str | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """How often a difference would be found with a number of documents, and how many documents are needed.

        The statement `power MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        one_sided : bool, default False
            Test only whether the first system is better.
        two_sided : bool, default False
            Test whether the systems differ; the default.
        test : str, optional
            The significance test; randomization by default. In the language: `test wilcoxon`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        exact : bool, default False
            Count every possible exchange.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        detect : number or sequence of numbers, optional
            The differences that would matter; by default round ones near the smallest that can be found. In the
            language: `detect 1%, 2%`.
        documents : number or sequence of numbers, optional
            How many documents there would be; by default some fewer and some more than there are. In the
            language: `documents 100, 400`.
        power : int, float, Decimal or str, optional
            How often a difference should be found; 0.8 by default. In the language: `power 0.9`.
        confidence : int, float, Decimal or str, optional
            How sure a verdict must be on which side of `level` the exact p lies; 0.99 by default. In the
            language: `confidence 0.99`.
        adjust : str, optional
            Adjust p-values for multiple comparisons. In the language: `adjust holm`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.power('F', 'GE', 'UMASS', on='TST3', detect=[0.02, 0.05], documents=[100, 400]).statement
        'power F for GE, UMASS on TST3 detect 0.02, 0.05 documents 100, 400'
        """
        return self._ask("power", locals())

    def generality(
        self,
        *,
        on: NameOrNames | None = None,
        by: NameOrNames | None = None,
        where: str | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """How many documents are relevant, and their share.

        The statement `generality` of the language.

        Parameters
        ----------
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        by : str or sequence of str, optional
            One row for each value: document, unit, label or an attribute. In the language: `by unit`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.generality(on=['TST2', 'TST3', 'TST4']).statement
        'generality on TST2, TST3, TST4'
        """
        return self._ask("generality", locals())

    def change(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        from_: str,
        to: str,
        where: str | None = None,
        trim: Numeric | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """How values change from one test set to another, for each system and on average.

        The statement `change MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        from_ : str
            The first test set; `to` names the second. In the language: `from TST3 to TST4`.
        to : str
            The other test set.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        trim : int, float, Decimal or str, optional
            Leave the K highest and the K lowest out of the mean. In the language: `trim 1`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.change(['precision', 'fallout'], 'all', of='published', from_='TST3', to='TST4', trim=1).statement
        'change precision, fallout of published for all from TST3 to TST4 trim 1'
        """
        return self._ask("change", locals())

    def replicate(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        from_: str,
        to: str,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        exchange_by: str | None = None,
        one_sided: bool = False,
        two_sided: bool = False,
        test: str | None = None,
        shuffles: Numeric | None = None,
        exact: bool = False,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        confidence: Numeric | None = None,
        adjust: str | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Check which differences on one test set hold on another.

        The statement `replicate MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        from_ : str
            The first test set; `to` names the second. In the language: `from TST3 to TST4`.
        to : str
            The other test set.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        one_sided : bool, default False
            Test only whether the first system is better.
        two_sided : bool, default False
            Test whether the systems differ; the default.
        test : str, optional
            The significance test; randomization by default. In the language: `test wilcoxon`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        exact : bool, default False
            Count every possible exchange.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        confidence : int, float, Decimal or str, optional
            How sure a verdict must be on which side of `level` the exact p lies; 0.99 by default. In the
            language: `confidence 0.99`.
        adjust : str, optional
            Adjust p-values for multiple comparisons. In the language: `adjust holm`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.replicate('F', 'GE', 'UMASS', 'SRI', from_='TST3', to='TST4').statement
        'replicate F for GE, UMASS, SRI from TST3 to TST4'
        """
        return self._ask("replicate", locals())

    def project(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        from_: str,
        to_generality: Numeric | Sequence[Numeric] | None = None,
        to_stream: str | None = None,
        assuming_fallout_exponent: Numeric | None = None,
        where: str | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Project measures to another generality, assuming that recall and fallout stay as measured.

        The statement `project MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        from_ : str
            The first test set; `to` names the second. In the language: `from TST3 to TST4`.
        to_generality : number or sequence of numbers, optional
            The generalities to project to. In the language: `to generality 0.01, 0.05`.
        to_stream : str, optional
            A test set without a key, whose generality is estimated. In the language: `to stream NEWS`.
        assuming_fallout_exponent : int, float, Decimal or str, optional
            Fallout changes as this power of generality. In the language: `assuming fallout exponent 0.45`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.project('precision', 'all', of='published', from_='TST3', to_generality=[0.01, 0.05]).statement
        'project precision of published for all from TST3 to generality 0.01, 0.05'
        """
        return self._ask("project", locals())

    def audit(
        self,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        on: NameOrNames | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Check whether printed figures can come from whole numbers of documents.

        The statement `audit published` of the language.

        Parameters
        ----------
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.audit('all', on='TST3').statement
        'audit published for all on TST3'
        """
        return self._ask("audit", locals())

    def agree(
        self,
        *,
        on: NameOrNames | None = None,
        by: NameOrNames | None = None,
        where: str | None = None,
        with_key: bool = False,
        exchange_by: str | None = None,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        interval: Literal[True] | Literal["studentized", "percentile", "bca"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Agreement between annotators of key labels.

        The statement `agree` of the language.

        Parameters
        ----------
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        by : str or sequence of str, optional
            One row for each value: document, unit, label or an attribute. In the language: `by unit`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        with_key : bool, default False
            Count the key as one more annotator.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        interval : {"studentized", "percentile", "bca"} or True, optional
            The kind of bootstrap interval; studentized by default. In the language: `interval bca`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.agree(on='TST3').statement
        'agree on TST3'
        """
        return self._ask("agree", locals())

    def coverage(
        self,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Which documents were scored for each system, which are absent, and which failed.

        The statement `coverage` of the language.

        Parameters
        ----------
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.coverage('all', on='TST3').statement
        'coverage for all on TST3'
        """
        return self._ask("coverage", locals())

    def spread(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        exchange_by: str | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """How much documents and replicates vary, and what one more of each would gain.

        The statement `spread MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.spread('accuracy', 'all', on='qa').statement  # doctest: +SKIP
        'spread accuracy for all on qa'
        """
        return self._ask("spread", locals())

    def documents(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        replicates_by: Literal[True] | str | None = None,
        where: str | None = None,
        only: str | None = None,
        limit: Numeric | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """The documents behind a difference, largest contributions first.

        The statement `documents MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        only : str, optional
            Only the documents that favour this system. In the language: `only GE`.
        limit : int, float, Decimal or str, optional
            At most this many rows. In the language: `limit 5`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.documents('F', 'GE', 'UMASS', on='TST3').statement
        'documents F for GE, UMASS on TST3'
        """
        return self._ask("documents", locals())

    def differ(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        replicates_by: Literal[True] | str | None = None,
        by: NameOrNames,
        depth: Numeric | None = None,
        where: str | None = None,
        limit: Numeric | None = None,
        exchange_by: str | None = None,
        shuffles: Numeric | None = None,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        missing: Literal["error", "drop", "zero", "bounds"] | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Where a difference comes from: slices by attributes of documents, and whether it varies between them.

        The statement `differ MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        replicates_by : str or True, optional
            Systems with the same value of the attribute are runs of one system and are averaged; `replicates`
            alone goes by system.replicate, or else by system.model. In the language: `replicates by
            system.model`.
        by : str or sequence of str
            One row for each value: document, unit, label or an attribute. In the language: `by unit`.
        depth : int, float, Decimal or str, optional
            2 adds the slices by every pair of attributes. In the language: `depth 2`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        limit : int, float, Decimal or str, optional
            At most this many rows. In the language: `limit 5`.
        exchange_by : str, optional
            What is exchanged as a whole: document, unit or an attribute. In the language: `exchange by unit`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        missing : {"error", "drop", "zero", "bounds"}, optional
            What to do with documents that not every system has, or topics that a run leaves out. In the language:
            `missing drop`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.differ('F', 'GE', 'UMASS', on='TST3', by='document.source').statement  # doctest: +SKIP
        'differ F for GE, UMASS on TST3 by document.source'
        """
        return self._ask("differ", locals())

    def curve(
        self,
        measures: NameOrNames,
        *systems: str | Sequence[str],
        except_: NameOrNames | None = None,
        of: str | None = None,
        on: NameOrNames | None = None,
        utility: Numeric | Sequence[Numeric] | None = None,
        where: str | None = None,
        limit: Numeric | None = None,
        shuffles: Numeric | None = None,
        seed: Numeric | None = None,
        level: Numeric | None = None,
        as_of: ImportOrDate | None = None,
    ) -> PrintedResult:
        """Measures at every confidence threshold with bands, the best threshold, and areas.

        The statement `curve MEASURE, …` of the language.

        Parameters
        ----------
        measures : str or sequence of str
            Measures as in the language, such as `F1`.
        *systems : str
            The systems; `all` for every system, `GE*` for those whose names begin with GE.
        except_ : str or sequence of str, optional
            The systems to leave out.
        of : str, optional
            The kind of data: extraction, filtering, counts, rankings, values or published. In the language: `of
            filtering`.
        on : str or sequence of str, optional
            The test sets, each evaluated separately. In the language: `on TST3, TST4`.
        utility : number or sequence of numbers, optional
            Value of a true positive, a false positive, a miss and a correct rejection; 0 if left out. In the
            language: `utility 2, -1`.
        where : str, optional
            Only the rows that meet the condition. In the language: `where document like "TST3-MUC4-00%"`.
        limit : int, float, Decimal or str, optional
            At most this many rows. In the language: `limit 5`.
        shuffles : int, float, Decimal or str, optional
            Approximate, with this many shuffles, or resamples of a bootstrap. In the language: `shuffles 9999`.
        seed : int, float, Decimal or str, optional
            The seed of the random numbers; the same seed gives the same results; 1992 by default. In the
            language: `seed 1992`.
        level : int, float, Decimal or str, optional
            The significance level; 0.05 by default. In the language: `level 0.10`.
        as_of : int, str, date or datetime, optional
            The warehouse as it was after import N, or at a date or time; only a lake keeps its past. In the
            language: `as of "2026-11-01"`.

        Returns
        -------
        Result
            The answer, which prints as a table.

        Raises
        ------
        QueryError
            If a system, test set or measure does not exist; the message suggests similar names.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.curve(['precision', 'recall'], 'GE', 'UMASS', of='filtering', on='TST3', utility=[2, -1]).statement
        'curve precision, recall of filtering for GE, UMASS on TST3 utility 2, -1'
        """
        return self._ask("curve", locals())
