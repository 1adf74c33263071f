"""Tags of tokens that are not written as B-PER: types alone, brackets of CoNLL-2012, and MISC of CoNLL-U. Their
entities are those that seqeval finds in the same tags as BIO.
"""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest
import seqeval.metrics

from evalhouse.warehouse.loading.readers import READERS, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.spans import entities
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

ON = {"test_set": "news", "system": "crf"}

Tags = list[list[str]]
KINDS = ("PER", "LOC")


def counted(database: Database) -> tuple[int, int, int]:
    [row] = database.rows(Sql("select sum(possible), sum(actual), sum(correct) from scores"))
    return row


def by_seqeval(gold: Tags, found: Tags) -> tuple[int, int, int]:
    """How many entities there are, were found, and are right."""
    wanted, given = (set(seqeval.metrics.sequence_labeling.get_entities(tags)) for tags in (gold, found))
    return len(wanted), len(given), len(wanted & given)


def sentences(chance: random.Random, many: int = 40) -> Tags:
    """Tags as BIO, in which every entity begins with B."""
    made = []
    for _ in range(many):
        tags: list[str] = []
        while len(tags) < 6:
            kind, length = chance.choice(("O", *KINDS)), chance.randrange(1, 4)
            tags += ["O"] if kind == "O" else [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
        made.append(tags)
    return made


def changed(chance: random.Random, gold: Tags) -> Tags:
    """Other tags of the same tokens, half of the sentences with the same."""
    found = [list(tags) for tags in gold]
    for tags in found[::2]:
        for place in range(len(tags)):
            if chance.random() < 0.3:
                tags[place] = "O"
            elif chance.random() < 0.2:
                tags[place] = f"B-{chance.choice(KINDS)}"
    return found


def columns(*sides: Tags) -> str:
    return "\n\n".join(
        "\n".join(" ".join((f"w{number}", *tags)) for number, tags in enumerate(zip(*of_each, strict=True)))
        for of_each in zip(*sides, strict=True)
    )


def without_prefix(tags: Tags) -> Tags:
    return [[tag.partition("-")[2] or tag for tag in of_sentence] for of_sentence in tags]


def test_types_alone_are_entities_of_consecutive_tokens(database: Database, load_text: Load) -> None:
    chance = random.Random(31)
    gold = sentences(chance)
    found = changed(chance, gold)
    alone = without_prefix(gold), without_prefix(found)
    loaded = load_text(columns(*alone), "conll", "in.txt", fields=ON)
    assert loaded.notes[-1].endswith("types without B and I")
    inside = [[[tag if tag == "O" else f"I-{tag}" for tag in tags] for tags in side] for side in alone]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert counted(database) == by_seqeval(inside[0], inside[1])


def in_brackets(tags: list[str]) -> list[str]:
    """Tags as CoNLL-2012 writes them."""
    written = ["*"] * len(tags)
    for mention in entities(tags):
        written[mention.start] = f"({mention.kind}*"
        written[mention.end - 1] = f"({mention.kind})" if mention.end - mention.start == 1 else "*)"
    return written


def conll_2012(tags: Tags, chance: random.Random) -> str:
    """With another number of predicates, and so of columns, in each sentence."""
    lines = ["#begin document (bc/x/00/x_0000); part 000"]
    for number, of_sentence in enumerate(tags):
        predicates = ["*"] * chance.randrange(3)
        for place, bracket in enumerate(in_brackets(of_sentence)):
            word = "#" if place == 0 and number % 3 == 0 else f"w{place}"
            cells = (
                "bc/x/00/x_0000",
                "0",
                str(place),
                word,
                "NN",
                "(TOP*",
                "-",
                "-",
                "-",
                "s1",
                bracket,
                *predicates,
                "(0)",
            )
            lines.append("   ".join(cells))
        lines.append("")
        if number == len(tags) // 2:
            lines += ["#end document", "#begin document (bc/x/01/x_0001); part 000"]
    return "\n".join((*lines, "#end document", ""))


@pytest.mark.parametrize("seed", [1, 2])
def test_brackets_of_conll_2012(database: Database, load_text: Load, seed: int) -> None:
    chance = random.Random(seed)
    gold = sentences(chance)
    found = changed(chance, gold)
    load_text(conll_2012(gold, chance), "conll", "gold.conll")
    load_text(conll_2012(found, chance), "conll", "ours.conll", fields=ON, options={"gold": "gold.conll"})
    assert counted(database) == by_seqeval(gold, found)
    texts = database.rows(Sql("select distinct value from document_attributes where attribute = 'text' order by 1"))
    assert texts == [("1",), ("2",)]


MISC = """\
# sent_id = 1
1-2\tdel\t_\t_\t_\t_\t_\t_\t_\tstart_char=0|ner=O
1\tde\t_\tADP\t_\t_\t2\tcase\t_\t_
2\tel\t_\tDET\t_\t_\t3\tdet\t_\t_
3\tRío\t_\tPROPN\t_\t_\t0\troot\t_\tstart_char=4|end_char=7|ner=B-LOC
3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_
4\tNegro\t_\tPROPN\t_\t_\t3\tflat\t_\tner=E-LOC|SpaceAfter=No
5-6\tal\t_\t_\t_\t_\t_\t_\t_\t_
5\ta\t_\tADP\t_\t_\t3\tcase\t_\tner=O
6\tel\t_\tDET\t_\t_\t3\tdet\t_\tner=O

1\tSí\t_\tINTJ\t_\t_\t0\troot\t_\t_
"""


def test_misc_of_conll_u(database: Database, load_text: Load) -> None:
    load_text(MISC, "conll", "gold.conllu")
    found = MISC.replace("ner=E-LOC", "ner=I-LOC").replace(
        "Sí\t_\tINTJ\t_\t_\t0\troot\t_\t_", "Sí\t_\tINTJ\t_\t_\t0\troot\t_\tner=S-PER"
    )
    load_text(found, "conll", "ours.conllu", fields=ON, options={"gold": "gold.conllu"})
    counts = database.rows(
        Sql("select unit, sum(possible), sum(actual), sum(correct) from scores group by 1 order by 1")
    )
    assert counts == [("LOC", 1, 1, 1), ("PER", 0, 1, 0)]
    tokens = database.rows(Sql("select document, number from counts where count = 'tokens' order by 1"))
    assert tokens == [("1", 5), ("2", 1)]


def test_a_line_of_headings_is_left_out(database: Database, load_text: Load) -> None:
    load_text("Token\tGold_Tag\tPred_Tag\nAda\tB-PER\tB-PER\nsaw\tO\tO\n", "conll", "in.tsv", fields=ON)
    assert counted(database) == (1, 1, 1)
    load_text("token ner\n\nAda B-PER\n", "conll", "gold.txt")
    load_text("Ada B-PER\n", "conll", "a.txt", fields={**ON, "test_set": "t"}, options={"gold": "gold.txt"})
    assert database.rows(Sql("select document from scores where test_set = 't'")) == [("1",)]


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("s.txt", "Iva\tPER\nOro\tPER\nat\tO\nBrno\tLOC\n", Role.FACTS),
        ("gold.txt", "Iva\tPER\nOro\tPER\nat\tO\nBrno\tLOC\n", Role.KEY),
        ("gold.conllu", MISC, Role.KEY),
        ("s.conllu", MISC, Role.FACTS),
        ("s.v4_gold_conll", conll_2012([["B-A", "O"]], random.Random(1)), Role.KEY),
        ("a.tsv", "token\ttag\nAda\tB-PER\n", Role.FACTS),
        ("s.txt", "Iva ran\nOro sat\nat O\n", None),
        ("s.txt", "Iva 1\nOro 2\nat O\n", None),
        ("s.csv", "id,label\n1,O\n2,A\n", None),
        ("s.conllu", MISC.replace("ner=", "n="), None),
    ],
)
def test_each_is_recognized(name: str, text: str, role: Role | None) -> None:
    found = READERS["conll"].recognizes(Start(name, text, path=Path(name)))
    assert (found.role if isinstance(found, Recognition) else None) == role


def test_types_alone_and_prefixes_are_not_mixed(complaints: Complaints) -> None:
    said = complaints("Ada B-PER B-PER\n\nRoma LOC LOC\nis O O\n", "conll", "in.txt", fields=ON)
    assert said[0].startswith("in.txt:3: 'LOC' in column 2 is not a tag")
    said = complaints("Ada B-PER B-PER\nRoma LOC LOC\nis O O\n", "conll", "in.txt", fields=ON)
    assert said == ["in.txt: no column holds entity tags such as B-PER"]
