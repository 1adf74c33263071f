"""How spans are matched: strict, exact, partial and type of SemEval-2013 task 9, in every format that keeps places."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.staging.spans import Mention, Tally, tally_mentions
from evalhouse.warehouse.measures import find_measure, settle
from evalhouse.warehouse.measures.extraction import COLUMNS, MATCH
from evalhouse.warehouse.measures.forms import Ratio
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from tests.store.texts import SCORES, THREE, Load

WAYS = MATCH.choices


def value(tallies: dict[str, Tally], name: str, **settings: str) -> Fraction | None:
    """A measure of all types together."""
    measure = find_measure(name, "extraction")
    assert measure is not None
    computation = settle(measure, settings).computation
    assert isinstance(computation, Ratio)
    cells = zip(*(tally.placed_cells for tally in tallies.values()), strict=True)
    named = [column for column in COLUMNS if column != "noncommittal"]
    counts = dict(zip(named, map(sum, cells), strict=True))
    sums = [sum(counts[column] * by for column, by in form) for form in computation.forms]
    return computation.exact(sums)


# --- the examples of SemEval-2013 task 9, as its evaluation page and nervaluate print them --------------------------

DRUGS = {
    "a key item without an answer": (("BRAND", 0, 7), None),
    "an answer without a key item": (None, ("BRAND", 10, 17)),
    "another place, same type": (("DRUG", 20, 28), ("DRUG", 17, 28)),
    "same place, another type": (("DRUG", 30, 41), ("BRAND", 30, 41)),
    "right": (("DRUG", 50, 59), ("DRUG", 50, 59)),
    "right again": (("DRUG", 60, 72), ("DRUG", 60, 72)),
    "another place, another type": (("GROUP", 80, 94), ("DRUG", 75, 94)),
}
CREDITS = {"strict": Fraction(2), "exact": Fraction(3), "partial": Fraction(4), "type": Fraction(3)}
"""Correct items, and half of the partially correct ones; 6 are possible, and 6 actual."""


@pytest.mark.parametrize("way", WAYS)
def test_the_schemes_are_those_of_semeval(way: str) -> None:
    gold = [Mention(*key) for key, _ in DRUGS.values() if key]
    found = [Mention(*answer) for _, answer in DRUGS.values() if answer]
    tallies = tally_mentions(gold, found, overlap=False)
    credit = CREDITS[way]
    for name in ("precision", "recall", "F"):
        assert value(tallies, name, match=way) == credit / 6
    assert value(tallies, "overgeneration", match=way) == Fraction(1, 6)
    assert value(tallies, "undergeneration", match=way) == Fraction(1, 6)
    assert value(tallies, "substitution", match=way) == 1 - credit / 5
    assert value(tallies, "error", match=way) == (5 - credit + 2) / 7
    assert value(tallies, "F") == value(tallies, "F", match="strict")


def test_an_item_is_in_one_pair_and_those_in_the_same_place_come_first() -> None:
    gold = [Mention("PER", 0, 4)]
    found = [Mention("PER", 0, 2), Mention("PER", 2, 4), Mention("LOC", 0, 4)]
    (per, loc) = (tally_mentions(gold, found, overlap=False)[kind] for kind in ("PER", "LOC"))
    assert (per.same_place, per.overlapping, per.same_type, per.unpaired) == (1, 0, 0, 2)
    assert loc == Tally(actual=1)
    # The first answer is the pair, and one of the same type is found beside it.
    (loc, per) = tally_mentions([Mention("PER", 0, 4)], [Mention("LOC", 0, 2), *found[1:2]], overlap=False).values()
    assert (per.overlapping, per.same_type, per.unpaired, loc.unpaired) == (1, 1, 1, 0)


# --- laws -----------------------------------------------------------------------------------------------------------


MENTIONS = st.builds(
    lambda kind, start, length: Mention(kind, start, start + length),
    st.sampled_from("XY"),
    st.integers(0, 4),
    st.integers(1, 4),
)


@st.composite
def flat(draw: st.DrawFn) -> list[Mention]:
    """Mentions that do not overlap each other."""
    edges = sorted(draw(st.sets(st.integers(0, 12), max_size=8)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return [Mention(draw(st.sampled_from("XY")), start, end) for start, end in pairs]


def most_pairs(gold: list[Mention], found: list[Mention]) -> int:
    """The largest number of overlapping pairs in which each mention is once, by trying all."""
    if not gold:
        return 0
    first, rest = gold[0], gold[1:]
    fit = [answer for answer in found if answer.start < first.end and first.start < answer.end]
    others = ([one for one in found if one is not answer] for answer in fit)
    return max([most_pairs(rest, found), *(1 + most_pairs(rest, left) for left in others)])


@given(flat(), flat())
def test_the_schemes_bound_each_other(gold: list[Mention], found: list[Mention]) -> None:
    tallies = tally_mentions(gold, found, overlap=False)
    whole = [sum(column) for column in zip(*tallies.values(), strict=True)] or [0] * len(Tally._fields)
    of = dict(zip(Tally._fields, whole, strict=True))
    places = {mention[1:] for mention in gold} & {mention[1:] for mention in found}
    assert of["same_place"] == len(places)
    assert of["correct"] <= min(of["same_place"], of["same_type"])
    assert of["same_type"] <= of["same_place"] + of["overlapping"] == most_pairs(gold, found)
    assert of["same_place"] + of["overlapping"] + of["unpaired"] == len(found) == of["actual"]


@given(st.lists(MENTIONS, max_size=5), st.lists(MENTIONS, max_size=5))
def test_no_more_are_of_the_same_type_than_are_paired(gold: list[Mention], found: list[Mention]) -> None:
    """Also of mentions that overlap each other."""
    tallies = tally_mentions(gold, found, overlap=False).values()
    for side, column in ((gold, "possible"), (found, "actual")):
        assert sum(getattr(tally, column) for tally in tallies) == len(side)
    pairs = sum(tally.same_place + tally.overlapping for tally in tallies)
    assert sum(tally.same_type for tally in tallies) <= pairs <= min(len(gold), len(found))
    assert pairs + sum(tally.unpaired for tally in tallies) == len(found)


@given(flat(), flat())
def test_partial_matches_of_one_type_are_those_of_overlap(gold: list[Mention], found: list[Mention]) -> None:
    gold, found = ([Mention("X", *mention[1:]) for mention in side] for side in (gold, found))
    tally = tally_mentions(gold, found, overlap=True).get("X", Tally())
    assert (tally.correct, tally.partial) == (tally.same_place, tally.overlapping)


# --- from files -----------------------------------------------------------------------------------------------------

CONLL = """\
Mira B-PER B-ORG
Lund I-PER I-ORG
in O O
Oslo B-LOC B-LOC
Fjord I-LOC O
"""
JSON = {
    "text": "Mira Lund in Oslo Fjord",
    "entities": [[0, 9, "PER"], [13, 23, "LOC"]],
    "predicted": [[0, 9, "ORG"], [13, 17, "LOC"]],
}
ASKED = "score F1, F1(match=strict), F1(match=exact), F1(match=partial), F1(match=type) for all on T"


@pytest.mark.parametrize(("reader", "text"), [("conll", CONLL), ("spans", json.dumps(JSON) + "\n")])
def test_every_format_with_places_has_the_schemes(database: Database, load_text: Load, reader: str, text: str) -> None:
    load_text(text, reader, "in.jsonl", fields={"test_set": "T", "system": "crf"})
    table = Session(database).run(ASKED).table
    (row,) = table.rows
    asked = [cell for column, cell in zip(table.columns, row, strict=True) if column.name.startswith("F1")]
    assert asked == [0.0, 0.0, 0.5, 0.75, 0.5]


def test_definitions_take_measures_with_and_without_a_way_of_matching(database: Database, load_text: Load) -> None:
    load_text(CONLL, "conll", "in.txt", fields={"test_set": "T", "system": "crf"})
    defined = (
        "define measure plain(w=0.5) = w*recall + (1-w)*precision; "
        "define measure partly(w=0.5) = w*recall(match=partial) + (1-w)*precision(match=partial); "
    )
    (row,) = Session(database).run(defined + "score plain, partly, recall, recall(match=partial) for all on T").rows
    assert (row["plain(w=0.5)"], row["partly(w=0.5)"]) == (row["recall"], row["recall(match=partial)"]) == (0.0, 0.75)


def test_rows_without_places_say_so(database: Database, load_text: Load) -> None:
    load_text(SCORES + THREE, "scores")
    with pytest.raises(QueryError, match="does not say where its items are in the text, so match=exact is not known"):
        Session(database).run("score F1(match=exact) for all on T")
