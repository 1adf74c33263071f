"""The tests and adjustments are documented in numpydoc style: shapes, errors, papers, and examples that run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from warehouse.significance.analytic.independent import chi_square, two_sample_t
from warehouse.significance.analytic.matched import mcnemar, sign, t, wilcoxon
from warehouse.significance.bootstrap.shifted import bootstrap_test
from warehouse.significance.exact.counting import exact_test
from warehouse.significance.groups import letters
from warehouse.significance.multiple import benjamini_hochberg, bonferroni, holm, tukey, westfall_young
from warehouse.significance.replicates import replicate_test
from warehouse.significance.shuffles.randomization import randomization_test
from warehouse.significance.shuffles.studentized import studentized_test

DESCRIBED = (
    exact_test,
    randomization_test,
    studentized_test,
    bootstrap_test,
    wilcoxon,
    t,
    sign,
    mcnemar,
    two_sample_t,
    chi_square,
    bonferroni,
    holm,
    benjamini_hochberg,
    westfall_young,
    tukey,
    letters,
    replicate_test,
)


@pytest.mark.parametrize("function", DESCRIBED, ids=lambda function: str(function.__name__))
def test_a_test_is_described_with_papers_and_an_example_that_runs(function: Callable[..., Any]) -> None:
    doc = inspect.getdoc(function) or ""
    sections = dict(re.findall(r"^(\w+)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL))
    described = re.findall(r"^(\S.*?) : ", sections["Parameters"], re.MULTILINE)
    assert [name for names in described for name in names.split(", ")] == list(inspect.signature(function).parameters)
    assert {"Returns", "References", "Examples"} <= sections.keys()
    (example,) = doctest.DocTestFinder(recurse=False).find(function, function.__name__, globs={})
    assert doctest.DocTestRunner().run(example).failed == 0
