"""The tests and adjustments name the papers that they are from."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from evalhouse.warehouse.significance.bootstrap.shifted import bootstrap_test
from evalhouse.warehouse.significance.exact.counting import exact_test
from evalhouse.warehouse.significance.groups import letters
from evalhouse.warehouse.significance.independent import chi_square, two_sample_t
from evalhouse.warehouse.significance.matched import mcnemar, sign, t, wilcoxon
from evalhouse.warehouse.significance.multiple import benjamini_hochberg, bonferroni, holm, tukey, westfall_young
from evalhouse.warehouse.significance.replicates import replicate_test
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.shuffles.studentized import studentized_test

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
def test_a_test_names_the_paper_that_it_is_from(function: Callable[..., Any]) -> None:
    assert re.search(r"\b(19|20)\d\d\b", inspect.getdoc(function) or "")
