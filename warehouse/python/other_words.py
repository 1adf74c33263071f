"""What people who know SciPy, pandas or a database type here, and the line to type instead: one table for each place.

Python's own errors for unknown arguments and attributes then end with that line. Nothing is answered that was not
asked for: a word is never taken for another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from evalhouse.grammar.editing.hints import near


def _table(lines: Mapping[str, str]) -> dict[str, str]:
    """The line to type by each of the words before it, which are separated by blanks."""
    return {word: line for words, line in lines.items() for word in words.split()}


ARGUMENTS = _table(
    {
        "alternative tail sides": "one_sided=True asks whether the first system is better; without it both sides count",
        "n_resamples n_permutations n_shuffles n_boot n_bootstrap n_iter iterations permutations resamples trials":
        "shuffles=9999",
        "random_state random_seed rng": "seed=1",
        "confidence_level confidence conf": "level=0.05 is for intervals of 95%",
        "alpha significance": "level=0.05",
        "paired related": 'leave it out, as tests are paired; test="two-sample-t" is not',
        "metric metrics measure score": 'the measure comes without a name, before the systems: "accuracy"',
        "system systems model models a b": 'systems come without a name, after the measure: "accuracy", "new", "base"',
        "baseline reference control": 'against="base"',
        "test_set test_sets dataset datasets benchmark split": 'on="NAME"',
        "method statistic test_name": 'test="randomization"',
        "correction adjustment multitest p_adjust": 'adjust="holm"',
        "ci confidence_interval conf_int error_bars": "interval=True",
        "measures": 'the measure comes without a name, before the systems: "accuracy"',
        "names labels": 'eh.compare({"new": a, "old": b}, "score", "new", "old") names two arrays',
        "equivalence rope tolerance": "margin=0.05",
        "clusters groups": 'cluster="passage"',
        "group_by groupby per": 'by="document.subject"',
        "sort sort_by sort_values": 'order_by="accuracy desc"',
        "top n head": "limit=5",
        "query filter": "where='document.subject = law'",
    }
)  # fmt: skip
"""Keyword arguments of questions."""

RESULT = _table(
    {
        "p p_value p_values pvalues pval p_val": "r.pvalue",
        "ci conf_int confint interval": "r.confidence_interval()",
        "df to_df to_frame dataframe to_dataframe": "r.to_pandas()",
        "to_dict to_dicts to_list dict records": "r.rows",
        "significant is_significant reject": 'r[0]["verdict"]',
        "effect_size effect diff delta mean_difference": 'r[0]["difference"]',
        "text to_string report": "str(r)",
        "show display print": "print(r)",
        "shape": "len(r), and len(r.columns)",
        "head tail iloc loc values": "r.rows[:5]",
        "to_excel": 'r.save("results.xlsx")',
        "to_parquet": "r.to_polars().write_parquet",
        "write export to_file": 'r.save("results.csv")',
        "hist figure plot_": "r.plot()",
    }
)
"""Attributes of results."""

WAREHOUSE = _table(
    {
        "query ask execute answer eval": 'w.run("compare accuracy for new, base on dev")',
        "systems models": 'w.show("systems")',
        "test_sets datasets tables list": 'w.show("test sets")',
        "measures metrics": 'w.show("measures")',
        "leaderboard ranking": 'w.rank("accuracy", on="dev")',
        "examples errors diff": 'w.documents("accuracy", "new", "base", on="dev")',
        "add insert append read_csv load_csv from_csv from_pandas": 'w.load("results.csv")',
        "ttest t_test": 'w.compare("accuracy", "new", "base", test="t")',
        "permutation_test bootstrap test": 'w.compare("accuracy", "new", "base")',
        "to_pandas df": 'w.run("score accuracy on dev").to_pandas()',
        "save commit": 'a warehouse is saved by each load: eh.create("evals.duckdb") makes one in a file',
        "results_of scores": 'w.score("accuracy", on="dev")',
    }
)
"""Attributes of warehouses."""

MODULE = _table(
    {
        "load read read_csv from_csv load_csv read_json from_pandas":
        'w = eh.create(); w.load("results.csv")',
        "connect open_warehouse Session Database": 'eh.open("evals.duckdb")',
        "init new": 'eh.create("evals.duckdb")',
        "query run sql ask": 'w = eh.open("evals.duckdb"); w.run("compare accuracy for new, base on dev")',
        "ttest ttest_rel t_test": 'eh.compare(a, b, test="t")',
        "wilcoxon": 'eh.compare(a, b, test="wilcoxon")',
        "bootstrap paired_bootstrap": 'eh.compare(a, b, test="bootstrap")',
        "mcnemar": 'eh.compare(a, b, test="mcnemar")',
        "permutation_test randomization_test significance test compare_all diff": "eh.compare(a, b)",
        "leaderboard ranking": 'eh.rank(data, "accuracy")',
        "examples errors": 'eh.documents(data, "accuracy", "new", "base")',
        "confidence_interval ci": 'eh.score(data, "accuracy", interval=True)',
        "show systems": 'w = eh.open("evals.duckdb"); w.show("systems")',
    }
)  # fmt: skip
"""What `evalhouse` has under another name."""


def line_for(word: str, table: Mapping[str, str], known: Iterable[str]) -> str:
    """What is to be typed for a word: that of the table, else the names that are similar; empty without any."""
    if word in table:
        return table[word]
    similar = near(word, [name for name in known if not name.startswith("_")])
    return f"did you mean {' or '.join(similar)}?" if similar else ""


def no_attribute(what: str, word: str, table: Mapping[str, str], known: Iterable[str]) -> AttributeError:
    """The error for an attribute that is not there."""
    line = line_for(word, table, known)
    return AttributeError(f"{what} has no attribute {word!r}" + (f": {line}" if line else ""), name=word)


F = TypeVar("F", bound=Callable[..., Any])


def with_known_arguments(function: F) -> F:
    """The same function, whose error for an unknown keyword argument says what to type."""
    known = [name for name, one in signature(function).parameters.items() if one.kind != one.VAR_POSITIONAL]

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        unknown = next((name for name in named if name not in known), "")
        if unknown:
            line = line_for(unknown, ARGUMENTS, known)
            raise TypeError(
                f"{call.__qualname__}() got an unexpected keyword argument {unknown!r}" + (f": {line}" if line else "")
            )
        return function(*given, **named)

    return cast(F, call)
