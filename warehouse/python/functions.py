"""Questions about a table in memory, without a warehouse: one function for each.

Written by `python -m warehouse.python.generating`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from warehouse.python.one_question import asked_of
from warehouse.python.printed_result import PrintedResult
from warehouse.python.written import NameOrNames, Numeric


def score(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """Values of measures, one row per system.

    The statement `score MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> [(row["system"], row["accuracy"]) for row in eh.score(rows, "accuracy")]  # doctest: +ELLIPSIS
    [('new', 0.75), ('base', 0.666...)]
    """
    return asked_of("score", locals())


def compare(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """Test the difference of two systems, or of every pair of several.

    The statement `compare MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> r = eh.compare(rows, "accuracy", "new", "base")
    >>> round(r[0]["difference"], 4), round(r[0]["p"], 4), r[0]["verdict"]
    (0.0833, 0.4244, 'not significant')
    """
    return asked_of("compare", locals())


def group(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """Significance groups: systems that share a letter do not differ significantly.

    The statement `group MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> [(row["system"], row["letters"]) for row in eh.group(rows, "accuracy", "all")]
    [('new', 'a'), ('base', 'a')]
    """
    return asked_of("group", locals())


def rank(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """Each system's rank, the set of ranks that it may have, and clusters; over test sets, mean ranks.

    The statement `rank MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> [(row["system"], row["rank_low"], row["rank_high"]) for row in eh.rank(rows, "accuracy", "all")]
    [('new', 1, 2), ('base', 1, 2)]
    """
    return asked_of("rank", locals())


def table(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """Values as a paper prints them: the best in bold, with significance marks, intervals, ranks and a caption.

    The statement `table MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> r = eh.table(rows, "accuracy", "all", against="base")
    >>> [(row["system"], round(row["value"], 4), row["verdict"]) for row in r]
    [('new', 0.75, 'not significant'), ('base', 0.6667, None)]
    """
    return asked_of("table", locals())


def power(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """How often a difference would be found with a number of documents, and how many documents are needed.

    The statement `power MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> r = eh.power(rows, "accuracy", "new", "base", detect=0.2, documents=120)
    >>> r[0]["documents"], r[0]["power"]
    (120, 0.936)
    """
    return asked_of("power", locals())


def spread(
    data: Any,
    measures: NameOrNames,
    *systems: str | Sequence[str],
    except_: NameOrNames | None = None,
    of: str | None = None,
    on: NameOrNames | None = None,
    replicates_by: Literal[True] | str | None = None,
    where: str | None = None,
    exchange_by: str | None = None,
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """How much documents and replicates vary, and what one more of each would gain.

    The statement `spread MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> runs = [{**row, "seed": seed} for row in rows for seed in (1, 2, 3)]
    >>> [(row["system"], row["replicates"], row["sd_replicate"]) for row in eh.spread(runs, "accuracy")]
    [('base', 3, 0.0), ('new', 3, 0.0)]
    """
    return asked_of("spread", locals())


def documents(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """The documents behind a difference, largest contributions first.

    The statement `documents MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> r = eh.documents(rows, "accuracy", "new", "base", limit=3)
    >>> [(row["document"], row["value_a"], row["value_b"]) for row in r]
    [('Q15', 1.0, 0.0), ('Q18', 1.0, 0.0), ('Q21', 1.0, 0.0)]
    """
    return asked_of("documents", locals())


def differ(
    data: Any,
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
    cluster: str | None = None,
    set: Mapping[str, str] | None = None,
    map: Mapping[str, str] | None = None,
    lower_is_better: NameOrNames | None = None,
) -> PrintedResult:
    """Where a difference comes from: slices by attributes of documents, and whether it varies between them.

    The statement `differ MEASURE, …` of the language.

    Parameters
    ----------
    data : DataFrame, Arrow table, DuckDB relation, list of dict, or path
        One row per sample, with its system, its document and its measures; anything that `Warehouse.load`
        accepts.
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
    cluster : str, optional
        A column whose value related rows share, such as the questions about one passage. Such rows move
        together.
    set : mapping of str to str, optional
        Fields with the same value in every row.
    map : mapping of str to str, optional
        The columns for fields such as `system`, if they have other names.
    lower_is_better : str or sequence of str, optional
        Measures whose lower values are better.

    Returns
    -------
    Result
        The answer, which prints as a table.

    Raises
    ------
    QueryError
        If the data do not contain something that was asked for.
    LoadError
        If rows cannot be read.

    Examples
    --------
    >>> import evalhouse as eh
    >>> rows = [
    ...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
    ...     for model, k in (("base", 3), ("new", 4))
    ...     for n in range(60)
    ... ]
    >>> r = eh.differ(rows, "accuracy", "new", "base", by="document.subject")
    >>> r[0]["slice"], r[0]["documents"], round(r[0]["difference"], 4)
    ('document.subject = "law"', 30, 0.3333)
    """
    return asked_of("differ", locals())
