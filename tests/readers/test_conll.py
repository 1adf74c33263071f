"""Tagged tokens: entities as seqeval and conlleval find them, and their sums."""

from __future__ import annotations

import random
import warnings

import pytest
import seqeval.metrics
import seqeval.scheme

from tests.store.texts import Complaints, Load
from warehouse.loading.readers.conll import EXAMPLE
from warehouse.loading.staging.mentions import Mention, entities
from warehouse.store.database import Database
from warehouse.store.sql import Sql

ON = {"test_set": "news", "system": "crf"}


def test_a_sentence_has_every_type_of_the_file(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "conll", "in.txt", fields=ON)
    counts = "select document, unit, possible, actual, correct, spurious, missing from scores order by 1, 2"
    assert database.rows(Sql(counts)) == [
        ("1", "LOC", 1, 0, 0, 0, 1),
        ("1", "ORG", 0, 1, 0, 1, 0),
        ("1", "PER", 1, 1, 1, 0, 0),
        ("2", "LOC", 0, 0, 0, 0, 0),
        ("2", "ORG", 0, 0, 0, 0, 0),
        ("2", "PER", 0, 0, 0, 0, 0),
    ]


def test_texts_are_attributes_of_their_sentences(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE + "\n" + EXAMPLE.strip(), "conll", "in.txt", fields=ON)
    query = "select document, attribute, value from document_attributes order by document"
    assert database.rows(Sql(query)) == [(str(k + 1), "text", str(k // 2 + 1)) for k in range(4)]


def tagged(gold: list[list[str]], found: list[list[str]]) -> str:
    return "\n\n".join(
        "\n".join(f"word {g} {f}" for g, f in zip(*both, strict=True)) for both in zip(gold, found, strict=True)
    )


@pytest.mark.parametrize(
    ("scheme", "prefixes"), [("conlleval", "BI"), ("conlleval", "BIES"), ("iob2", "BI"), ("iobes", "BIES")]
)
def test_sums_are_those_of_seqeval(database: Database, load_text: Load, scheme: str, prefixes: str) -> None:
    chance = random.Random(scheme + prefixes)
    tags = ["O", *(f"{prefix}-{kind}" for prefix in prefixes for kind in ("PER", "LOC", "X-Y"))]

    def sentences() -> list[list[str]]:
        return [[chance.choice(tags) for _ in range(length)] for length in lengths]

    lengths = [chance.randrange(1, 9) for _ in range(150)]
    gold, found = sentences(), sentences()
    # Half of the sentences are predicted as they are, so that there is something correct.
    found[::2] = gold[::2]
    load_text(tagged(gold, found), "conll", "in.txt", fields=ON, options={"scheme": scheme})
    strict = {"iob2": seqeval.scheme.IOB2, "iobes": seqeval.scheme.IOBES}.get(scheme)
    mode = {"mode": "strict", "scheme": strict} if strict else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = (seqeval.metrics.precision_score, seqeval.metrics.recall_score, seqeval.metrics.f1_score)
        wanted = [score(gold, found, average="micro", **mode) for score in scores]
        report = seqeval.metrics.classification_report(gold, found, output_dict=True, **mode)
    [(total, given, correct)] = database.rows(Sql("select sum(possible), sum(actual), sum(correct) from scores"))
    assert [correct / given, correct / total] == wanted[:2]
    # seqeval goes through precision and recall, whose rounding shows in the last digit.
    assert 2 * correct / (total + given) == pytest.approx(wanted[2], abs=1e-15)
    possible = dict(database.rows(Sql("select unit, sum(possible) from scores group by all")))
    assert possible == {kind: row["support"] for kind, row in report.items() if not kind.endswith("avg")}


def test_overlap_is_partial_where_it_is_asked_for(database: Database, load_text: Load) -> None:
    text = "a B-PER B-PER\nb I-PER O\nc O O\nd B-LOC B-PER\n"
    load_text(text, "conll", "in.txt", fields=ON, options={"overlap": "partial"})
    counts = "select unit, possible, actual, correct, partial from scores order by unit"
    assert database.rows(Sql(counts)) == [("LOC", 1, 0, 0, 0), ("PER", 1, 2, 0, 1)]


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("I-A I-A O I-B", [Mention("A", 0, 2), Mention("B", 3, 4)]),
        ("I-A B-A I-A", [Mention("A", 0, 1), Mention("A", 1, 3)]),
        ("S-A B-A E-A", [Mention("A", 0, 1), Mention("A", 1, 3)]),
        ("B-A I-B", [Mention("A", 0, 1), Mention("B", 1, 2)]),
        (". O .", []),
    ],
)
def test_entities_of_any_scheme(tags: str, found: list[Mention]) -> None:
    assert entities(tags.split()) == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a B-A O\nb O\n", "in:2: 2 columns in this line; a token, its gold and its predicted tag are wanted"),
        ("a B-A X-A\n", "in:1: 'X-A' is no tag: O, or one of B, I, E, S with a type, such as B-PER"),
        ("a B-A\tO\nb\n", "in:2: 1 column in this line; a token, its gold and its predicted tag are wanted"),
        ("a B- O\n", "in:1: 'B-' is no tag: O, or one of B, I, E, S with a type, such as B-PER"),
        ("a O O\n", "in: no token has a tag other than O in the last two columns"),
        ("a B-A O\n\xff".encode("latin-1"), "in:2: this line is not UTF-8"),
    ],
)
def test_what_is_not_tagged_is_refused(complaints: Complaints, text: str | bytes, sentence: str) -> None:
    assert complaints(text, "conll", "in", fields=ON) == [sentence]


def test_the_system_must_be_said(complaints: Complaints) -> None:
    assert complaints(EXAMPLE, "conll", "in", fields={"test_set": "T"}) == [
        "in: the file does not say the system; --set system=NAME does"
    ]
    assert complaints(EXAMPLE, "conll", "in", fields=ON, options={"scheme": "bilou"}) == [
        "in: --scheme is 'bilou', not conlleval or iob2 or iobes"
    ]
