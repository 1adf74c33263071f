"""The wording of how much was observed, exchanged and compared: for one test set, for several, and for many."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from evalhouse.warehouse.comparing import notes
from evalhouse.warehouse.comparing.notes import ComparedPairs
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import Size, known_size, noun_of, sizes, title
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.bootstrap.interval_kinds import find_interval
from evalhouse.warehouse.significance.tests import find_adjustment, find_test

MESSAGES = Size(100, "message", 100, "message")
TOPICS = Size(80_914, "topic-document pair", 50, "topic")


def entry(test_set: str = "T", task: str = "extraction", **others: object) -> p.Entry:
    return replace(p.Entry(p.TestSet(1, test_set, test_set), KINDS[task], (), ()), **others)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ([("A", MESSAGES)], "100 messages exchanged"),
        ([("A", MESSAGES), ("A", MESSAGES)], "100 messages exchanged"),
        ([("A", MESSAGES), ("B", MESSAGES)], "100 messages exchanged on each"),
        ([("A", TOPICS)], "50 topics exchanged (80,914 topic-document pairs)"),
        (
            [("A", MESSAGES), ("B", TOPICS)],
            "100 messages exchanged on A, 50 topics exchanged (80,914 topic-document pairs) on B",
        ),
        # Of one measure there are fewer documents than of another.
        ([("A", MESSAGES), ("A", Size(98, "message", 98, "message"))], "98 to 100 messages exchanged"),
        ([(name, Size(n, "sample", n, "sample")) for n, name in enumerate("ABCD", 7)], "7 to 10 samples exchanged"),
        (
            [("E", TOPICS), *((name, Size(n, "sample", n, "sample")) for n, name in enumerate("ABC", 7))],
            "50 topics and 7 to 9 samples exchanged",
        ),
    ],
)
def test_sizes_are_said_once_where_they_are_alike_and_as_a_range_where_there_are_many(
    known: list[tuple[str, Size]], said: str
) -> None:
    assert sizes(known, " exchanged") == said


def test_units_are_called_by_what_they_are() -> None:
    plain = entry(units=p.Units(noun="sentence"))
    exchanged = {
        p.Dimension("document"): "sentence",
        p.Dimension("unit"): "unit",
        p.Dimension("document", "text_no"): "text no",
        p.Dimension("document", "source"): "unit of document.source",
    }
    for exchange, called in exchanged.items():
        assert p.Units(noun="sentence", cluster="text_no", exchange=exchange).exchange_noun == called
    assert noun_of([plain, plain]) == "sentence"
    assert noun_of([plain, entry(units=p.Units(noun="topic"))]) == "document"


def family(pairs: int = 3, methods: str = "approximate", *shuffles: int) -> ComparedPairs:
    return ComparedPairs("A", MESSAGES, pairs, frozenset(methods.split()), frozenset(shuffles))


@pytest.mark.parametrize(
    ("how", "families", "said"),
    [
        (
            {},
            [family(1, "exact")],
            "randomization test, exact, 100 messages exchanged, two-sided, level 0.05",
        ),
        (
            {"adjustment": find_adjustment("holm")},
            [family(66, "exact"), family(66, "exact")],
            "randomization test, exact, 100 messages exchanged, two-sided, level 0.05; "
            "Holm-adjusted within families of 66 comparisons",
        ),
        (
            {"adjustment": find_adjustment("bonferroni")},
            [family(3, "approximate", 999), family(10, "approximate", 999)],
            "randomization test, 999 shuffles, 100 messages exchanged, two-sided, level 0.05; "
            "Bonferroni-adjusted within families of 3 and 10 comparisons; seed 1992",
        ),
        (
            {},
            [family(2, "exact approximate", 100, 20_000, 3_000)],
            "randomization test, exact and 100 to 20,000 shuffles, 100 messages exchanged, two-sided, level 0.05; "
            "2 comparisons, not adjusted; seed 1992",
        ),
        (
            {"test": find_test("tukey")},
            [family(3, "approximate", 999)],
            "tukey test, 999 shuffles, 100 messages exchanged, two-sided, level 0.05; "
            "adjusted by the test itself over 3 comparisons; seed 1992",
        ),
    ],
)
def test_a_test_is_said_with_what_was_exchanged_and_how_many_comparisons_were_made(
    how: dict[str, object], families: list[ComparedPairs], said: str
) -> None:
    testing = replace(p.Testing.plain(None), **how)
    assert notes.testing_caption(testing, [entry()], families, None) == said


def test_a_test_and_an_adjustment_are_called_by_the_synonyms_that_were_typed() -> None:
    testing = replace(p.Testing.plain(None), adjustment=find_adjustment("bh"))
    assert (testing.test_name, testing.adjustment_name) == ("randomization", "bh")
    typed = replace(testing, spoken=("alpha", "permutation", "fdr"))
    assert (typed.test_name, typed.adjustment_name) == ("permutation", "fdr")


def test_the_seed_and_the_kind_of_intervals_stand_where_they_are_drawn() -> None:
    testing = replace(p.Testing.plain(None), interval=find_interval("bca"), seed=7)
    caption = notes.testing_caption(testing, [entry()], [family(1, "exact")], 2_000)
    assert caption.endswith("level 0.05; 95% CI bca, 2,000 resamples, seed 7")


def test_the_kind_of_rows_stands_in_a_caption_where_several_could_be_meant() -> None:
    assert title("F on T", [entry()], "3 documents") == "F on T: 3 documents"
    both = entry(several_kinds=True, simulated=True)
    assert title("F on T", [both]) == "F on T (extraction, simulated data)"
    printed = entry(task="published", several_kinds=True)
    assert known_size([printed], None) == p.AS_PRINTED
    assert title("F on T", [printed], p.AS_PRINTED) == "F on T: figures as printed"
    assert known_size([entry(units=p.Units(3))], p.Missing(p.Dimension("label"))) == ""


def test_what_stands_below_the_title_of_a_picture_is_what_the_caption_says() -> None:
    with Session.open() as sample:
        chart = sample.run("plot score F for all on TST3 replicates by system.muc3").chart
        assert chart is not None
        assert chart.subtitle == "extraction; 100 messages; averages of the replicates by system.muc3"
        by_label = sample.run("plot score error for GE on TST3 by label").chart
        assert by_label is not None
        assert by_label.subtitle == ""
