"""What loads declare about documents: their noun and their clusters, which of several declarations applies, and that it
comes and goes with its import, also through a lake.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.warehouse.kinds.kind import Observed, plural, quantity
from evalhouse.warehouse.loading.ingest import forget
from evalhouse.warehouse.session.storage import open_warehouse
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.lakes import lake_of
from tests.store.texts import Complaints, Load

VALUES = "test_set,system,document,measure,value\nfaq,base,q1,acc,1\nfaq,base,q2,acc,0\n"
PASSAGES = "test_set,document,passage\nfaq,q1,whales\nfaq,q2,whales\n"
QRELS = "301 0 FBIS3-10 1\n301 0 FBIS3-11 0\n302 0 FBIS3-12 2\n"
RUN = "301 Q0 FBIS3-11 1 2.5 base\n301 Q0 FBIS3-10 2 1.5 base\n"
ROBUST = {"test_set": "robust"}
TAGGED = "-DOCSTART- O O\nAda B-PER B-PER\n\nsaw O O\n-DOCSTART- O O\nTurin B-LOC B-LOC\n"


def observed(database: Database, task: str = "values", test_set: int = 1) -> Observed:
    return Catalog(database).observed(task, test_set)


def test_what_is_set_holds_for_the_kind_of_rows_of_the_file(database: Database, load_text: Load) -> None:
    load_text(VALUES, "values", fields={"noun": " question "})
    assert observed(database) == Observed("question")
    assert observed(database, "extraction") == Observed()
    assert check(database) == ()


def test_attributes_alone_are_of_all_kinds_of_rows(database: Database, load_text: Load) -> None:
    load_text(VALUES, "values")
    assert observed(database) == Observed()
    load_text(PASSAGES, "documents", fields={"cluster": "document.passage", "noun": "question"})
    for task in ("values", "extraction", "filtering"):
        assert observed(database, task) == Observed("question", "passage")


def test_a_cluster_holds_once_a_document_has_the_attribute(database: Database, load_text: Load) -> None:
    loaded = load_text(VALUES, "values", fields={"cluster": "passage"})
    assert loaded.notes == ("no document of faq has the attribute passage; until some do, each is exchanged by itself",)
    assert observed(database) == Observed()
    load_text(PASSAGES, "documents")
    assert observed(database) == Observed("", "passage")
    load_text(VALUES, "values", fields={"cluster": "document"})
    assert observed(database) == Observed()


def test_readers_say_it_of_their_formats(database: Database, load_text: Load) -> None:
    load_text(TAGGED, "conll", "in.txt", fields={"test_set": "news", "system": "crf"})
    assert observed(database, "extraction") == Observed("sentence", "text")
    load_text("Ada B-PER B-PER\n", "conll", "in.txt", fields={"test_set": "plain", "system": "crf"})
    assert observed(database, "extraction", 2) == Observed("sentence")


def test_topics_and_pairs_of_topic_and_document_are_told_apart(database: Database, load_text: Load) -> None:
    load_text(QRELS, "trec", "qrels", fields=ROBUST)
    load_text(RUN, "trec", "run", fields={**ROBUST, "noun": "query"})
    assert observed(database, "filtering") == Observed("topic-document pair", "topic")
    assert observed(database, "extraction") == observed(database, "rankings") == Observed("query")
    known = Catalog(database)
    assert [known.documents(task, 1) for task in ("filtering", "extraction", "rankings")] == [3, 2, 2]


@pytest.mark.long
def test_a_setting_goes_before_a_reader_and_a_later_load_before_an_earlier_one(
    database: Database, load_text: Load
) -> None:
    lines = "segment\tbase\n1\t31.4\n2\t12.9\n"
    on = {"test_set": "faq"}
    load_text(lines, "sacrebleu", "a.tsv", fields=on, options={"measure": "BLEU"})
    assert observed(database).noun == "segment"
    load_text(
        lines.replace("base", "tuned"), "sacrebleu", "b.tsv", fields={**on, "noun": "line"}, options={"measure": "BLEU"}
    )
    load_text(lines.replace("base", "new"), "sacrebleu", "c.tsv", fields=on, options={"measure": "BLEU"})
    assert observed(database).noun == "line"
    load_text(
        lines.replace("base", "old"), "sacrebleu", "d.tsv", fields={**on, "noun": "verse"}, options={"measure": "BLEU"}
    )
    assert observed(database).noun == "verse"
    assert forget(database, 4).rows == 2
    assert observed(database).noun == "line"
    forget(database, 2)
    assert observed(database).noun == "segment"
    forget(database, 1)
    forget(database, 3)
    assert database.rows(Sql("select count(*) from observed")) == [(0,)]
    assert check(database) == ()


@pytest.mark.long
def test_a_file_loaded_again_says_only_what_is_new(database: Database, load_text: Load) -> None:
    assert load_text(VALUES, "values").import_id == 1
    assert load_text(VALUES, "values").import_id is None
    again = load_text(VALUES, "values", fields={"noun": "question"})
    assert (again.import_id, again.rows_new) == (2, 0)
    assert load_text(VALUES, "values", fields={"noun": "question"}).import_id is None
    assert check(database) == ()
    assert forget(database, 2).rows == 0
    assert observed(database) == Observed()
    assert load_text(VALUES, "values", fields={"noun": "item"}, dry_run=True).import_id is None
    assert observed(database) == Observed()


def test_what_was_said_of_a_test_set_goes_with_it(database: Database, load_text: Load) -> None:
    load_text(VALUES, "values", fields={"noun": "question"})
    load_text(VALUES, "values", fields={"noun": "item"})
    forget(database, 1)
    assert database.rows(Sql("select count(*) from observed")) == [(0,)]
    assert check(database) == ()


@pytest.mark.parametrize(
    ("reader", "text", "fields", "complaint"),
    [
        ("values", VALUES, {"noun": ""}, "in.csv: the value set for noun is empty"),
        (
            "values",
            VALUES,
            {"cluster": "a\x07b"},
            "in.csv: the value set for cluster is 'a\\x07b', which has a control",
        ),
        ("systems", "system,kind\nbase,x\n", {"noun": "question"}, "in.csv: there is no field 'noun' in systems"),
    ],
)
def test_a_setting_is_a_name_and_of_documents(
    complaints: Complaints, reader: str, text: str, fields: dict[str, str], complaint: str
) -> None:
    assert complaints(text, reader, fields=fields)[0].startswith(complaint)


@pytest.mark.long
def test_a_lake_keeps_it(database: Database, load_text: Load, tmp_path: Path) -> None:
    load_text(QRELS, "trec", "qrels", fields=ROBUST)
    load_text(RUN, "trec", "run", fields=ROBUST)
    lake = tmp_path / "lake"
    lake_of(database, lake)
    with open_warehouse(lake) as names:
        assert observed(names, "filtering") == Observed("topic-document pair", "topic")
        assert Catalog(names).documents("filtering", 1) == 3
        assert observed(names, "rankings") == Observed("topic")


def test_nouns_have_plurals() -> None:
    nouns = ("topic", "query", "key", "analysis", "box", "branch", "topic-document pair", "unit of document.source")
    assert [plural(noun) for noun in nouns] == [
        "topics", "queries", "keys", "analyses", "boxes", "branches", "topic-document pairs",
        "units of document.source",
    ]  # fmt: skip
    assert [quantity(1, "topic"), quantity(80_914, "topic-document pair")] == ["1 topic", "80,914 topic-document pairs"]
