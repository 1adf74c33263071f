"""Every word of the language has help, and for any other word help suggests a similar one."""

from __future__ import annotations

import pytest

from evalhouse.warehouse.render import FORMATS
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.shell import help
from evalhouse.warehouse.shell.commands import COMMANDS


def test_everything_is_in_the_overview() -> None:
    text = help.overview((f".{command.name}", command.meaning) for command in COMMANDS)
    for word in ("compare", ".output", "Ctrl-C", "help tukey"):
        assert word in text


def test_every_word_has_help(session: Session) -> None:
    assert [word for word in help.words(session.catalog) if not help.topic(word, session.catalog)] == []


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("compare", "example: compare F(beta=1) for GE, UMASS on TST3 shuffles 9999"),
        ("compare", "exchange by ATTRIBUTE"),
        ("F", "F of extraction:"),
        ("F", "F of filtering:"),
        ("f", "beta"),
        ("tukey", "Carterette 2012"),
        ("test", "wilcoxon"),
        ("test", "of compare, group"),
        ("order by", "order by MEASURE"),
        ("missing", "missing error|drop|zero"),
        ("holm", "adjust holm"),
        ("permutations", "also written permutations or resamples"),
        ("alpha", "level A"),
        ("permutation", "test randomization or permutation:"),
        ("optional", "credit, excluded, relevant, nonrelevant, lowest, highest, all, bounds"),
        ("bounds", "optional=bounds tries every labelling"),
        ("credit", "optional=credit: how optional documents count"),
        ("utility", "value of a true positive, a false positive"),
        ("corrected", "corrected by JUDGE"),
        ("westfall-young", "adjust maxt or westfall-young:"),
        ("P", "precision of extraction:"),
        ("f0.5", "F of filtering:"),
        ("mrr", "RR of rankings:"),
        ("scores", "test_set system document [unit] possible"),
        ("latex", "booktabs"),
        ("published", "figures as printed in papers and reports"),
        ("umass", "UMASS: a system, on"),
        ("mean", "document by document"),
        ("sqrt", "sqrt(X) in `define measure`: the square root"),
        ("max", "max(X, Y, …)"),
    ],
)
def test_a_word_is_explained_in_all_its_roles(word: str, said: str, session: Session) -> None:
    assert said in (help.topic(word, session.catalog) or "")


def test_measures_of_the_warehouse_have_help(worked: Session) -> None:
    assert "imported values" in (help.topic("bleu", worked.catalog) or "")


def test_an_unknown_word_is_answered_with_one_near(session: Session) -> None:
    assert help.topic("tukay", session.catalog) is None
    assert help.unknown("tukay", session.catalog) == "there is no help on tukay; did you mean tukey?"
    assert help.unknown("Bayes", session.catalog).endswith("help anytime")
    assert help.topic("anytime", session.catalog) is not None
    assert help.unknown("qqqqqqq", session.catalog) == "there is no help on qqqqqqq"


def test_formats_are_named_where_they_are_chosen() -> None:
    (format,) = (command for command in COMMANDS if command.name == "format")
    assert all(each.name in format.meaning for each in FORMATS)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("help", ""),
        ("?", ""),
        ("help holm;", "holm"),
        ("? holm", "holm"),
        ("?holm", "holm"),
        (' Help "order by" ', "order by"),
        ("helper", None),
        ("score help", None),
    ],
)
def test_what_help_is_wanted_on(text: str, word: str | None) -> None:
    assert help.help_topic(text) == word


def test_a_word_of_another_tool_is_answered_with_the_one_that_is_meant(session: Session) -> None:
    assert help.unknown("ranking", session.catalog) == "there is no help on ranking; did you mean rank?"
    assert "also written leaderboard" in str(help.topic("leaderboard", session.catalog))
