"""Entities in JSON and PubTator: those that seqeval finds in the same tags, and the same in every format."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import seqeval.metrics
from seqeval.metrics.sequence_labeling import get_entities

from evalhouse.warehouse.loading.readers import READERS, Recognition, Role, Start
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Complaints, Load

ON = {"test_set": "news", "system": "crf"}
KINDS = ("PER", "LOC")

Span = tuple[int, int, str]
Documents = list[tuple[list[str], list[str]]]
"""Tokens and tags."""


def some(chance: random.Random) -> Documents:
    made = []
    for _ in range(30):
        tokens, tags = [], list[str]()
        while len(tags) < 5:
            kind, length = chance.choice(("O", *KINDS)), chance.randrange(1, 3)
            tags += ["O"] if kind == "O" else [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
        tokens = ["".join(chance.choices("abü", k=chance.randrange(1, 4))) for _ in tags]
        made.append((tokens, tags))
    return made


def changed(chance: random.Random, gold: Documents) -> Documents:
    """Each second document with other tags, every one of them B or O."""
    return [
        (tokens, tags if place % 2 else [chance.choice(("O", "B-PER", "B-LOC", tag)) for tag in tags])
        for place, (tokens, tags) in enumerate(gold)
    ]


def spans(tokens: list[str], tags: list[str]) -> list[Span]:
    """The entities by their characters, of tokens between blanks."""
    begins = [sum(map(len, tokens[:place])) + place for place in range(len(tokens))]
    return [(begins[first], begins[last] + len(tokens[last]), kind) for kind, first, last in get_entities(tags)]


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def doccano(documents: Documents) -> str:
    return lines(
        [{"id": n, "text": " ".join(words), "label": spans(words, tags)} for n, (words, tags) in enumerate(documents)]
    )


def doccano_2(documents: Documents) -> str:
    return lines(
        [
            {
                "id": number,
                "text": " ".join(words),
                "Comments": [],
                "entities": [
                    {"id": 1, "label": kind, "start_offset": s, "end_offset": e} for s, e, kind in spans(words, tags)
                ],
                "relations": [],
            }
            for number, (words, tags) in enumerate(documents)
        ]
    )


def spacy(documents: Documents) -> str:
    return json.dumps([(" ".join(words), {"entities": spans(words, tags)}) for words, tags in documents], indent=1)


def prodigy(documents: Documents) -> str:
    records = [
        {
            "text": " ".join(words),
            "tokens": [{"text": word, "id": place} for place, word in enumerate(words)],
            "spans": [{"start": s, "end": e, "label": kind} for s, e, kind in spans(words, tags)],
            "answer": "accept",
        }
        for words, tags in documents
    ]
    return lines([*records, {"text": "no", "spans": [], "answer": "reject"}])


def hugging_face(documents: Documents) -> str:
    return lines([{"id": str(n), "tokens": words, "ner_tags": tags} for n, (words, tags) in enumerate(documents)])


def pubtator(documents: Documents) -> str:
    blocks = []
    for number, (words, tags) in enumerate(documents):
        title, abstract = " ".join(words[:2]), " ".join(words[2:])
        marked = [f"{number}\t{s}\t{e}\tx\t{kind}\tD1\n" for s, e, kind in spans(words, tags)]
        blocks.append(f"{number}|t|{title}\n{number}|a|{abstract}\n{''.join(marked)}{number}\tCID\tD1\tD2\n\n")
    return "".join(blocks)


FORMATS: list[Callable[[Documents], str]] = [doccano, doccano_2, spacy, prodigy, hugging_face, pubtator]


@pytest.mark.parametrize("written", FORMATS)
def test_the_sums_are_those_of_seqeval(
    database: Database, load_text: Load, written: Callable[[Documents], str]
) -> None:
    chance = random.Random(1995)
    gold = some(chance)
    found = changed(chance, gold)
    file = "json" if written is spacy else "txt" if written is pubtator else "jsonl"
    load_text(written(gold), "spans", f"gold.{file}")
    load_text(written(found), "spans", f"in.{file}", fields=ON, options={"gold": f"gold.{file}"}, texts=True)
    report = seqeval.metrics.classification_report(
        [tags for _, tags in gold], [tags for _, tags in found], output_dict=True
    )
    counts = database.rows(
        Sql("select unit, sum(possible), sum(actual), sum(correct) from scores group by 1 order by 1")
    )
    assert {unit: possible for unit, possible, _, _ in counts} == {
        kind: report[kind]["support"] for kind in sorted(KINDS)
    }
    for unit, possible, actual, correct in counts:
        assert correct / possible == report[unit]["recall"]
        assert correct / actual == report[unit]["precision"]
    assert database.rows(Sql("select count(distinct document) from scores")) == [(30,)]
    assert check(database) == ()


def test_both_sides_may_be_in_one_file(database: Database, load_text: Load) -> None:
    load_text(READERS["spans"].example, "spans", "in.jsonl", fields=ON)
    counts = database.rows(Sql("select document, unit, possible, actual, correct from scores order by all"))
    assert counts == [
        ("n1", "LOC", 1, 0, 0),
        ("n1", "ORG", 0, 1, 0),
        ("n1", "PER", 1, 0, 0),
        ("n2", "LOC", 0, 0, 0),
        ("n2", "ORG", 0, 0, 0),
        ("n2", "PER", 0, 0, 0),
    ]


def test_tags_that_are_numbers_are_named(database: Database, load_text: Load, complaints: Complaints) -> None:
    text = lines([{"tokens": ["Ada", "L.", "ran"], "ner_tags": [1, 2, 0], "predictions": [1, 0, 0]}])
    said = "in.jsonl:1: ner_tags has numbers; --tags O,B-PER,I-PER, for example, names the tags in their order"
    assert complaints(text, "spans", "in.jsonl", fields=ON) == [said]
    load_text(text, "spans", "in.jsonl", fields=ON, options={"tags": "O, B-PER, I-PER"})
    assert database.rows(Sql("select possible, actual, correct from scores")) == [(1, 1, 0)]
    assert database.rows(Sql("select number from counts where count = 'right'")) == [(2,)]


def test_fields_of_other_names_are_named(database: Database, load_text: Load) -> None:
    text = lines([{"text": "Ada ran", "by_anna": [[0, 3, "PER"]], "by_ben": [[4, 7, "PER"]]}])
    load_text(text, "spans", "in.jsonl", fields=ON, columns={"gold": "by_anna", "answers": "by_ben"})
    assert database.rows(Sql("select possible, actual, correct from scores")) == [(1, 1, 0)]


def test_a_document_that_is_left_out_has_no_answers(database: Database, load_text: Load) -> None:
    load_text(doccano([(["Ada"], ["B-PER"]), (["Bo"], ["B-PER"])]), "spans", "gold.jsonl")
    ours = lines([{"id": 0, "text": "Ada", "label": [[0, 3, "PER"]]}, {"id": 7, "text": "Cy", "label": []}])
    loaded = load_text(ours, "spans", "in.jsonl", fields=ON, options={"gold": "gold.jsonl"})
    assert loaded.notes[-2:] == (
        "documents of the key without answers: 1; nothing was found in them",
        "left out (no key): 7",
    )
    assert database.rows(Sql("select document, possible, actual from scores order by 1")) == [("0", 1, 1), ("1", 1, 0)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"text": "Ada", "label": [[0, 3, "PER"]]}\n{"text": "Ada", "label": [[0, 9, "PER"]]}\n',
         'in:2: \'[0,9,"PER"]\' in label is not a span of this text: its start, its end and its label'),
        ('{"id": 1, "text": "Ada", "label": []}\n{"id": 1, "text": "Bo", "label": []}\n',
         "in:2: there is a document '1' already, on line 1"),
        ('{"tokens": ["Ada"], "ner_tags": ["O"]}\n{"tokens": ["Bo"], "ner_tags": ["O", "O"]}\n',
         "in:2: 2 tags in ner_tags, and 1 tokens"),
        ('{"text": "Ada", "label": []}\n', "in: one field has entities, so gold or answers are not in this file; "
         "--gold FILE names the file with the gold entities, or --map gold=FIELD --map answers=FIELD the fields with "
         "both"),
        ('{"text": "Ada"}\n', "in: no field has entities as entities, ents, spans, label, labels would: "
         '[[0, 3, "PER"]], objects with start, end and label, or the tags of tokens'),
        ("1|t|Ada\n1|a|ran\n1\t3\t0\tAda\tPER\n", "in:3: this is not an annotation: PMID, start, end, text and type"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "spans", "in", fields=ON) == [sentence]


def test_a_document_with_another_text_is_refused(load_text: Load, complaints: Complaints) -> None:
    load_text(doccano([(["Ada"], ["B-PER"])]), "spans", "gold.jsonl")
    said = complaints(doccano([(["Bo"], ["O"])]), "spans", "in.jsonl", fields=ON, options={"gold": "gold.jsonl"})
    assert said == ["in.jsonl:1: the text of '0' is 'Bo', and 'Ada' in the key"]


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize(("name", "role"), [("gold", Role.KEY), ("ours", Role.FACTS)])
def test_each_is_recognized(written: Callable[[Documents], str], name: str, role: Role) -> None:
    found = READERS["spans"].recognizes(Start(name, written(some(random.Random(3))), path=Path(name)))
    assert isinstance(found, Recognition)
    assert found.role is role


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "Ada", "label": "joy"}\n',
        '{"text": "Ada", "labels": ["joy", "fear"]}\n',
        '{"id": 1, "question": "Who?", "spans": [[0, 3, "PER"]]}\n',
        '{"tokens": ["Ada"], "logprobs": [0.5]}\n',
        '{"prompt": "Ada", "tokens": [1, 2], "label": 1}\n',
        "a|b|c\n",
    ],
)
def test_what_has_no_entities_is_not_claimed(text: str) -> None:
    assert READERS["spans"].recognizes(Start("in", text)) is None
