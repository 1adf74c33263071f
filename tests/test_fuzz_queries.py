"""Whole queries with mistakes in them: whatever is typed, the outcome is a result or an error with its place, and both
can be drawn.

Correct queries are mutated (words and signs are deleted, doubled, exchanged, inserted; names are misspelt; odd letters
and numbers are used) and asked of a small warehouse that has rows of every task. EVALHOUSE_EXAMPLES=20000 asks more of
them.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import FORMATS, Style, render
from evalhouse.warehouse.render.diagnostics import data_error, query_error, warehouse_error
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from tests.conftest import write_csv
from tests.empty import create

EXAMPLES = int(os.environ.get("EVALHOUSE_EXAMPLES", "750"))

SYSTEMS = ("GE", "NMSU/Brandeis", "gpt-4.1-mini")
DOCUMENTS = tuple(f"D{place}" for place in range(8))
TEST_SETS = ("TST3", "TST4")

RIGHT = (
    "score recall, precision, F for all on TST3",
    "score recall(partial=0), mean(F(beta=2)), error, substitution for GE, gpt* on TST3, TST4 by unit, label",
    "score recall, precision, fallout of filtering for all, allrel, random(s=0.7) on TST3, TST4",
    "score accuracy(optional=excluded), auc of filtering for all on TST3 where confidence >= 0.5 order by auc asc",
    'score F for GE on TST3 by document.source where document like "D%" and not (label = optional or unit is missing)',
    'score F for all except GE on all where document.length in (1, 2, 30) or system.kind != "rule" limit 2',
    "score BLEU of values for all on TST3 by document order by system desc",
    "score recall, F(beta=1) of published for all on all",
    "compare F(beta=1) for GE, NMSU/Brandeis on TST3 shuffles 99",
    "compare recall, precision, F for all on TST3, TST4 shuffles 99 level 0.10 confidence 0.99 seed 7 missing drop",
    "compare F for all against GE on TST3 exact adjust holm",
    "compare recall for GE, gpt-4.1-mini on TST3 exchange by unit one-sided exact missing drop",
    "compare F for all on TST4 exchange by document.source adjust maxt shuffles 99 missing zero",
    "compare accuracy of filtering for all on TST4 test wilcoxon missing zero",
    "compare accuracy of filtering for GE, allrel on TST3 test mcnemar two-sided",
    "compare mean(recall) for GE, gpt-4.1-mini on TST3 test sign adjust bh",
    "compare BLEU for all on TST3 test t missing drop",
    "compare F for all on TST3 test tukey shuffles 99 level 5%",
    "compare recall(partial=0) for GE, gpt-4.1-mini on TST3 test chi-square adjust bonferroni",
    "compare recall(partial=1) for GE, gpt-4.1-mini on TST3 test z",
    "compare precision for GE, NMSU/Brandeis on TST4 test studentized shuffles 99",
    "compare BLEU of values for GE, gpt-4.1-mini on TST4 missing drop test two-sample-t; compare F for all on TST4",
    "group F(beta=1) for all on TST3 level 0.10 confidence 0.99 shuffles 999",
    "group recall, precision for all on TST3, TST4 test tukey shuffles 99 missing drop",
    "generality on TST3, TST4 by document.source where label in (relevant, optional)",
    "change precision, fallout of filtering for all from TST3 to TST4 trim 1",
    "project precision, F of filtering for all from TST3 to generality 0.01, 5%, 0.10 assuming fallout exponent 0.45",
    "audit published for all on TST3",
    "agree on TST3, TST4",
    "plot score recall, precision of filtering for all on TST3",
    "explain compare F for GE, gpt-4.1-mini on TST3",
    'export score recall, precision for all on TST3 to "scores.csv"',
    "let $two = GE, gpt*; let $n = 2^6; compare F for $two on TST3 shuffles $n",
    "define measure SER = (missing + spurious + incorrect) / possible; score SER, mean(SER) for all on TST3",
    "define measure G(w=0.5) = w*recall + (1-w)*precision; score G(w=0.25), G for all on TST3 order by G",
    "define measure half = a / (a + c) - -0.5*fallout; score half of filtering for all, allrel on TST3",
    "show systems; show test sets; show measures; show tests; show imports; show variables",
    "show evaluations; show attributes; show texts",
    'load "scores.csv" as scores; forget import 3',
    'sql "select system, sum(correct) from scores group by all"',
    "score recall for all on MUC-4.TST3, MUC*.TST4 -- the same test sets",
)

WORDS = tuple(dict.fromkeys(word for query in RIGHT for word in re.findall(r'"[^"]*"|\$?[\w./*-]+|\S', query)))

ODD = (
    *(
        "",
        " ",
        "\n",
        "\t",
        "\0",
        "\x1b[31m",
        "\u202e",
        "\ufeff",
        "\u2028",
        "é",
        "e\u0301",
        "İ",
        "ß",
        "½",
        "２",
        "日本",
        "🙂",
    ),
    *("\ud800", "--", ";;", '"', '""', '"""', "'", "`", "\\", "%", "_", "$", "$$", "[", "]", "{", "[red]", "<b>", "&"),
    *("0", "-1", "1e5", "0x10", "1.5", "00", "0.0000001", "9" * 28, "9" * 29, "2^63", "9^29", "2^-1", "1_000", "101%"),
    *(
        "9223372036854775807",
        "-9223372036854775808",
        "99999999999999999999",
        "0.1^2",
        "1.2.3",
        ".5",
        "5.",
        "NaN",
        "inf",
    ),
    *("UMAS", "ge", "TST", "tst3", "*", "**", "*-*", "a.b.c", "@", "x" * 300, "()", "(((", ")))", "not not", "null"),
    *(
        '"D1"',
        '"José"',
        '"a""b"',
        '"%"',
        '"*"',
        '"\0"',
        "random(s=2)",
        "random(s=0)",
        "random",
        "allrel()",
        "mean(mean(F))",
    ),
    *(
        "document.nothing",
        "unit",
        "label",
        "system",
        "confidence",
        "beta=0",
        "beta=1e9",
        "partial=2",
        "optional=credit",
    ),
)

KINDS = (
    ("1", "2", "7", "99", "0.05", "0.10", "0.45", "0.99", "5%", "2^6", "0", "0.5", "100"),
    ("GE", "NMSU/Brandeis", "gpt-4.1-mini", "gpt*", "all", "*", "allrel", "random(s=0.7)", "random(s=0)", "$two"),
    ("TST3", "TST4", "MUC-4.TST3", "MUC*.TST4", "all", "TST*"),
    (
        "recall",
        "precision",
        "F",
        "F(beta=2)",
        "mean(F)",
        "mean(precision)",
        "recall(partial=1)",
        "substitution(partial=0)",
    ),
    ("error", "overgeneration", "fallout", "accuracy", "auc", "BLEU", "recall(optional=excluded)", "SER", "G"),
    ("extraction", "filtering", "values", "published"),
    ("randomization", "studentized", "sign", "wilcoxon", "t", "mcnemar", "bootstrap", "tukey", "two-sample-t", "z"),
    ("none", "bonferroni", "holm", "bh", "maxt"),
    ("document", "unit", "label", "system", "confidence", "document.source", "document.length", "system.kind"),
    ("relevant", "optional", "nonrelevant", '"radio"', '"slot"', '"D1"', "2", '""'),
    ("score", "compare", "group"),
    ("error", "drop", "zero", "bounds"),
)
"""Words of which each can stand where another of its line does."""

CLAUSES = (
    *("on TST3", "on all", "for all", "for GE", "for all except GE", "of filtering", "of extraction", "against GE"),
    *("where label = relevant", 'where document = "D1"', "where document.length > 10", 'where unit = "slot"'),
    *("where confidence < 0.5", 'where document.source = "nowhere"', "where system.kind is missing"),
    *("exact", "shuffles 9", "shuffles 99", "one-sided", "adjust maxt", "adjust holm", "missing drop", "missing zero"),
    *(
        "exchange by unit",
        "exchange by document.source",
        "exchange by document.length",
        "seed 0",
        "level 0.5",
        "level 0.9",
    ),
    *(
        "confidence 0.5",
        "by document",
        "by unit",
        "by label",
        "by system",
        "by system.kind",
        "limit 1",
        "order by system",
    ),
    *("test sign", "test t", "test mcnemar", "test bootstrap", "test tukey", "test z", "test two-sample-t", "trim 1"),
    *(
        "test studentized",
        "test studentized adjust maxt",
        "test studentized adjust holm one-sided",
        "test studentized exact",
    ),
    *("as of 3", 'as of "2026-11-01"'),
)


# --- the warehouse ----------------------------------------------------------------------------------------------------


def fill(database: Database, folder: Path) -> None:
    """Three systems on eight documents of two test sets, in all tasks, with labels, attributes and printed figures."""
    chance = random.Random(1992)

    def tuple_of(*key: str) -> tuple[object, ...]:
        correct, partial, incorrect, spurious, missing = (chance.randrange(4) for _ in range(5))
        matched = correct + partial + incorrect
        return (*key, matched + missing, matched + spurious, correct, partial, incorrect, spurious, missing, "MUC-4")

    # One system lacks a document of TST4, one has no counts that were not asked for, one has no confidences.
    pairs = [(test_set, system, document) for test_set in TEST_SETS for system in SYSTEMS for document in DOCUMENTS]
    present = [pair for pair in pairs if pair != ("TST4", "gpt-4.1-mini", "D7")]
    files: dict[str, tuple[str, list[tuple[object, ...]]]] = {
        "scores": (
            "test_set system document unit possible actual correct partial incorrect spurious missing evaluation",
            [tuple_of(*pair, unit) for pair in present for unit in ("slot", "filler")],
        ),
        "decisions": (
            "test_set system document decision confidence evaluation",
            [
                (*pair, chance.choice(("yes", "no")), "" if pair[1] == "GE" else round(chance.random(), 3), "MUC-4")
                for pair in present
            ],
        ),
        "labels": (
            "test_set document label evaluation",
            [
                (test_set, document, ("relevant", "optional", "nonrelevant")[place % 3], "MUC-4")
                for test_set in TEST_SETS
                for place, document in enumerate(DOCUMENTS)
            ],
        ),
        "values": (
            "test_set system document measure value evaluation",
            [(*pair, "BLEU", round(100 * chance.random(), 2), "MUC-4") for pair in present],
        ),
        "published": (
            "test_set system task measure value resolution evaluation",
            [
                ("TST3", system, "filtering", measure, chance.choice(("0.79", "0.5", "1")), "0.01", "MUC-4")
                for system in SYSTEMS
                for measure in ("recall", "F(beta=1)")
            ],
        ),
        "systems": ("system kind evaluation", [("GE", "rule", "MUC-4"), ("gpt-4.1-mini", "model", "MUC-4")]),
        "documents": (
            "test_set document source length evaluation",
            [("TST3", document, chance.choice(("radio", "press")), 10 * place, "MUC-4")
             for place, document in enumerate(DOCUMENTS[:6])],
        ),
    }  # fmt: skip
    for reader, (header, rows) in files.items():
        load(database, write_csv(folder / f"{reader}.csv", header, rows), reader)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with in_memory() as database:
        fill(database, tmp_path_factory.mktemp("small"))
        yield database


# --- mutation ---------------------------------------------------------------------------------------------------------


def mutated(chance: random.Random) -> str:
    """A query with one to five mistakes in it."""
    text = chance.choice(RIGHT)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        text = chance.choice(MISTAKES)(text, chance)
    return text


def _in_words(change: Callable[[list[str], random.Random], None]) -> Callable[[str, random.Random], str]:
    def mistake(text: str, chance: random.Random) -> str:
        words = re.findall(r'"[^"]*"|\s+|\w+|.', text, flags=re.DOTALL)
        change(words, chance)
        return "".join(words)

    return mistake


def _delete(words: list[str], chance: random.Random) -> None:
    if words:
        place = chance.randrange(len(words))
        del words[place : place + chance.choice((1, 1, 1, 2, 4))]


def _double(words: list[str], chance: random.Random) -> None:
    if words:
        place, length = chance.randrange(len(words)), chance.choice((1, 1, 2, 6))
        words[place:place] = [*words[place : place + length], chance.choice(("", " "))]


def _exchange(words: list[str], chance: random.Random) -> None:
    if words:
        one, other = chance.randrange(len(words)), chance.randrange(len(words))
        words[one], words[other] = words[other], words[one]


def _insert(words: list[str], chance: random.Random) -> None:
    room = chance.choice(("", " "))
    words.insert(chance.randrange(len(words) + 1), f"{room}{_word(chance)}{room}")


def _replace(words: list[str], chance: random.Random) -> None:
    places = [place for place, word in enumerate(words) if not word.isspace()]
    if places:
        words[chance.choice(places)] = _word(chance)


def _word(chance: random.Random) -> str:
    words: tuple[str, ...] = WORDS if chance.random() < 0.6 else ODD
    return chance.choice(words)


def _letter(text: str, chance: random.Random) -> str:
    """One character deleted, doubled, put in or replaced."""
    place, length = chance.randrange(len(text) + 1), chance.randrange(2)
    new = chance.choice(("", text[place : place + 1] * 2, chance.choice("aZ09_ .,;:()=<>!*+-/^%$\"'\n"), _word(chance)))
    return text[:place] + new + text[place + length :]


def _case(text: str, chance: random.Random) -> str:
    return chance.choice((text.upper(), text.swapcase(), text.title()))


def _kind(text: str, chance: random.Random) -> str:
    """One name or number replaced by another that could stand there: such a query is often right, and odd."""
    kind = chance.choice(KINDS)
    places = [found for one in kind for found in re.finditer(rf"(?<![\w(-]){re.escape(one)}(?![\w-])", text)]
    if not places:
        return text
    found = chance.choice(places)
    return text[: found.start()] + chance.choice(kind) + text[found.end() :]


def _clause(text: str, chance: random.Random) -> str:
    """A clause put behind the query, or behind one statement of it."""
    statements = text.split(";")
    place = chance.randrange(len(statements))
    statements[place] += f" {chance.choice(CLAUSES)}"
    return ";".join(statements)


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _graft(text: str, chance: random.Random) -> str:
    """The beginning of one query and the end of another."""
    other = chance.choice(RIGHT)
    return (
        text[: chance.randrange(len(text) + 1)] + chance.choice(("", " ", ";")) + other[chance.randrange(len(other)) :]
    )


MISTAKES: tuple[Callable[[str, random.Random], str], ...] = (
    *(_in_words(change) for change in (_delete, _double, _exchange, _insert, _replace, _replace)),
    *(_kind, _kind, _kind, _kind, _clause, _clause, _clause),
    _letter,
    _case,
    _cut,
    _graft,
)


# --- what comes back --------------------------------------------------------------------------------------------------


def answer(session: Session, text: str) -> str:
    """Asks, and draws what comes back: `results`, or `error`. Any exception but those of errors goes through."""
    caught: QueryError | None = None
    try:
        for result in session.results(text):
            for format in FORMATS:
                assert render(result, format.name, Style(width=80)).endswith("\n") or not result.rows
        return "results"
    except QueryError as error:
        caught, drawn = error, query_error(error, text)
    except DataError as error:
        drawn = data_error(error)
    except WarehouseError as error:
        drawn = warehouse_error(error)
    if caught is not None:
        assert caught.message
        assert not caught.message.endswith(".")
        assert 0 <= caught.span.start <= caught.span.end <= len(text)
    assert drawn.startswith("error: ")
    assert all(line.isprintable() for line in drawn.split("\n"))
    return "error"


@pytest.mark.parametrize("text", RIGHT)
def test_the_queries_that_are_mutated_are_understood(
    small: Database, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refusal = ""
    try:
        assert list(Session(small).results(text))
    except QueryError as error:
        refusal = error.message
    known = ("", "cannot be changed", "cannot draw yet", "missing for some systems")
    assert any(reason in refusal if reason else not refusal for reason in known), refusal


@pytest.mark.fuzz
def test_a_mutated_query_gives_results_or_an_error_with_its_place(
    small: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = set()
    for seed in range(EXAMPLES):
        text = mutated(random.Random(seed))
        try:
            told.add(answer(Session(small), text))
        except Exception as error:
            pytest.fail(f"mutation {seed} {text!r} gave {type(error).__name__}: {error}")
    assert told == {"results", "error"}


@pytest.mark.fuzz
def test_mutated_queries_leave_a_warehouse_on_disk_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Definitions, loads and removals among them change a copy, which takes the warehouse's place only when whole."""
    monkeypatch.chdir(tmp_path)
    with create(tmp_path / "small.duckdb") as database:
        fill(database, tmp_path)
    changing = [text for text in RIGHT if text.startswith(("define", "load"))]
    with Session.open(tmp_path / "small.duckdb") as session:
        for seed in range(max(20, EXAMPLES // 50)):
            chance = random.Random(f"disk {seed}")
            text = chance.choice(MISTAKES)(chance.choice(changing), chance)
            try:
                answer(session, text)
            except Exception as error:
                pytest.fail(f"mutation {seed} {text!r} gave {type(error).__name__}: {error}")
        assert answer(session, "show measures; show test sets") == "results"


# --- hostile queries --------------------------------------------------------------------------------------------------

MANY = 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "score F for all on TST3 where " + "(" * MANY + "label = relevant" + ")" * MANY,
            "the text is larger than 64 KB",
        ),
        (
            "score F for all on TST3 where " + "(" * 30_000 + "label = relevant",
            "nested more than 100 levels deep",
        ),
        ("score F for all on TST3 where " + "not " * MANY + "label = relevant", "the text is larger than 64 KB"),
        (
            "score F for all on TST3 where " + "not " * 16_000 + "label = relevant",
            "nested more than 100 levels deep",
        ),
        ("score F for all on TST3" + " " * 1_000_000, "the text is larger than 64 KB"),
        ("score F for " + ", ".join(["GE"] * 250_000) + " on TST3", "the text is larger than 64 KB"),
        ("define measure big = " + "1+" * 30_000 + "1", "nested or in a row"),
    ],
    ids=["parentheses", "parentheses in 64 KB", "nots", "nots in 64 KB", "spaces", "systems", "a sum"],
)
def test_a_query_too_large_or_too_deep_gets_a_clear_error(small: Database, text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        list(Session(small).results(text))
    assert message in caught.value.message
    assert len(query_error(caught.value, text)) < 2_000


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "score F for " + ", ".join(["GE"] * 10_000) + " on TST3",
        "score " + ", ".join(["F"] * 10_000) + " for GE on TST3",
        "score F for GE on TST3 where " + "(" * 100 + "label = relevant" + ")" * 100,
        "score F for GE on TST3 where " + "not " * 100 + "label = relevant",
        "score F for GE on TST3 where document in (" + ", ".join(['"D1"'] * 8_000) + ")",
        "score F for GE on TST3 where " + " or ".join(["label = relevant"] * 2_000),
        "score F for GE on TST3;" * 50,
    ],
    ids=["systems", "measures", "parentheses", "nots", "listed values", "alternatives", "statements"],
)
def test_a_query_large_within_bounds_is_answered(small: Database, text: str) -> None:
    assert answer(Session(small), text) == "results"
