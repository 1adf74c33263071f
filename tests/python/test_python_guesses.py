"""Fifty lines as people would type them who know SciPy, pandas or a database, and have read nothing here: each gives
what is meant or an error with the line to type, and none something else.

All but two were written down before any of them was tried. At first 14 gave what was meant, one gave something else
(two Series of which one is in another order), and of the errors two said what to type.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import evalhouse as eh

GUESSES = """
eh.compare(a, b)
    eh.compare(a, b)
eh.compare(tuple(a), tuple(b))
    eh.compare(a, b)
eh.compare(np.array(a), np.array(b))
    eh.compare(a, b)
eh.compare(pd.Series(a, index=ids), pd.Series(b, index=ids)[::-1])
    eh.compare(a, b)
eh.compare(pl.Series(a), pl.Series(b))
    eh.compare(a, b)
eh.compare(dict(zip(ids, a)), dict(zip(ids, b)))
    eh.compare(a, b)
eh.compare({"wren": a, "finch": b})
    eh.compare({"wren": a, "finch": b}, "score", "wren", "finch")
eh.compare(pivot)
    eh.compare(pivot, "score", "wren", "finch")
eh.compare(pivot["wren"], pivot["finch"])
    eh.compare(a, b)
eh.compare(df, "wren", "finch")
    eh.compare(df, "accuracy", "wren", "finch")
eh.compare(rows, "wren", "finch")
    eh.compare(df, "accuracy", "wren", "finch")
eh.compare(pl.DataFrame(rows), "accuracy", "wren", "finch")
    eh.compare(df, "accuracy", "wren", "finch")
eh.compare(df, metric="accuracy")
    eh.compare(df, "accuracy")
eh.compare(df, "accuracy", systems=["wren", "finch"])
    eh.compare(df, "accuracy", "wren", "finch")
eh.compare("qa.csv", "accuracy", "wren", "finch")
    eh.compare(df, "accuracy", "wren", "finch")
eh.compare(a, b, alternative="greater")
    eh.compare(a, b, one_sided=True)
eh.compare(a, b, n_resamples=9999)
    eh.compare(a, b, shuffles=9999)
eh.compare(a, b, random_state=1)
    eh.compare(a, b, seed=1)
eh.compare(a, b, confidence_level=0.95)
    eh.compare(a, b, level=0.05)
eh.compare(a, b, alpha=0.05)
    eh.compare(a, b, level=0.05)
eh.compare(a, b, paired=True)
    eh.compare(a, b)
eh.compare(a, b, test="t-test")
    eh.compare(a, b, test="t")
eh.compare(a, b, test="paired bootstrap")
    eh.compare(a, b, test="bootstrap")
eh.compare(a, b, test="wilcoxon")
    eh.compare(a, b, test="wilcoxon")
eh.compare(a, b, method="randomization")
    eh.compare(a, b, test="randomization")
eh.compare(a, b, correction="holm")
    eh.compare(a, b, adjust="holm")
eh.compare(a, b, margins=0.05)
    eh.compare(a, b, margin=0.05)
r.pvalue
    r.pvalue
r.p_value
    r.pvalue
r.p
    r.pvalue
r.statistic
    r.statistic
r.confidence_interval(0.95)
    r.confidence_interval()
r.confidence_interval(0.9)
    eh.compare(a, b, level=0.1).confidence_interval()
r.ci
    r.confidence_interval()
r.significant
    r[0]["verdict"]
r.difference
    r[0]["difference"]
r.effect_size
    r[0]["difference"]
r.df()
    r.to_pandas()
r.to_dict()
    r.rows
r.to_csv("x.csv")
    r.save("x.csv")
r["p"]
    [row["p"] for row in r]
r.summary()
    str(r)
str(r)
    str(r)
eh.load("qa.csv")
    w.load("qa.csv")
eh.open("qa.csv")
    w.load("qa.csv")
eh.connect("w.duckdb")
    eh.open("w.duckdb")
eh.permutation_test(a, b)
    eh.compare(a, b)
eh.leaderboard(df)
    eh.rank(df, "accuracy")
w.query("compare accuracy for wren, finch on qa")
    w.run("compare accuracy for wren, finch on qa")
w.leaderboard("accuracy")
    w.rank("accuracy")
w.systems
    w.show("systems")
w.show("models")
    w.show("systems")
w.compare("wren", "finch", on="qa")
    w.compare("accuracy", "wren", "finch", on="qa")
w.compare("accuracy", "wren", "finch", dataset="qa")
    w.compare("accuracy", "wren", "finch", on="qa")
w.score("accuracy", on="qa", ci=True)
    w.score("accuracy", on="qa", interval=True)
"""
"""What is typed, and below it what is meant."""

PAIRS = re.findall(r"^(\S.*)\n    (.+)$", GUESSES, re.MULTILINE)

STUCK = {"r.summary()"}
"""Those that are neither answered nor helped: the summary of a result is a list."""

SAID = {
    'eh.compare(df, metric="accuracy")': 'the measure comes without a name, before the systems: "accuracy"',
    'eh.compare(df, "accuracy", systems=["wren", "finch"])': 'after the measure: "accuracy", "new", "base"',
    "eh.compare(a, b, paired=True)": "leave it out",
    'eh.compare(a, b, test="t-test")': "did you mean t?",
    'eh.compare(a, b, test="paired bootstrap")': "did you mean bootstrap?",
    "r.confidence_interval(0.9)": "level=0.1",
}
"""What an error says that has no word of the meant line which was not typed."""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the lines are about: answers of two models to 40 questions."""
    drawn, folder = random.Random(3), tmp_path_factory.mktemp("guesses")
    ids = [f"q{place}" for place in range(40)]
    a, b = ([int(drawn.random() < share) for _ in ids] for share in (0.8, 0.5))
    rows = [
        {"system": system, "document": name, "accuracy": mark}
        for system, marks in (("wren", a), ("finch", b))
        for name, mark in zip(ids, marks, strict=True)
    ]
    df = pd.DataFrame(rows)
    df.to_csv(folder / "qa.csv", index=False)
    w = eh.create(folder / "w.duckdb")
    w.load(folder / "qa.csv", set={"test_set": "qa"})
    pivot = df.pivot(index="document", columns="system", values="accuracy")
    here = {"eh": eh, "np": np, "pd": pd, "pl": pl, "folder": folder, "r": eh.compare(a, b)}
    return {**here, "ids": ids, "a": a, "b": b, "rows": rows, "df": df, "pivot": pivot, "w": w}


def contents(value: Any) -> Any:
    """What a line gives, however it was asked for."""
    return [{**row, "test_set": ""} for row in value] if isinstance(value, eh.Result) else str(value)


@pytest.mark.parametrize(("typed", "meant"), PAIRS)
def test_a_line_gives_what_is_meant_or_says_what_to_type(
    typed: str, meant: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(names["folder"])
    try:
        found = eval(typed, names)
    except (eh.Error, TypeError, ValueError, AttributeError) as error:
        message = str(error)
    else:
        assert contents(found) == contents(eval(meant, names))
        return
    words = set(re.findall(r"\w+", meant)) - set(re.findall(r"\w+", typed))
    wanted = [re.escape(SAID[typed])] if typed in SAID else [rf"\b{word}\b" for word in words]
    helped = bool(wanted) and all(re.search(word, message) for word in wanted)
    assert helped == (typed not in STUCK), message


def test_they_are_fifty() -> None:
    assert len(PAIRS) >= 50
    assert len(STUCK) <= len(PAIRS) // 10
