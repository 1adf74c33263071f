"""Queries that choose documents of a test set for a reader: by their texts, by an attribute, or beside one."""

from __future__ import annotations

from collections.abc import Collection

from evalhouse.warehouse.plans.path import Query
from evalhouse.warehouse.store.sql import value, values


def holding(test_set: int, systems: Collection[int], words: str) -> Query:
    """The query of the names of documents with a text that holds some words, in whatever case: an input, a reference,
    or what one of the systems answered.
    """
    here = " where test_set_id = " + value(test_set)
    return Query(
        "documents by their texts",
        "with pieces as (select document_id, null as system_id, kind, number, piece, text from document_text"
        + here
        + " union all select document_id, system_id, kind, number, piece, text from system_text"
        + here
        + " and system_id in "
        + values(sorted(systems))
        + "), whole as (select document_id, string_agg(text, '' order by piece) as text from pieces "
        "group by document_id, system_id, kind, number) select distinct d.name from whole join document d "
        "on d.id = document_id where contains(lower(text), lower(" + value(words) + "))",
    )


def with_attribute(test_set: int, attribute: str, wanted: str) -> Query:
    """The query of the names of documents with a value of an attribute."""
    return Query(
        "documents by an attribute",
        "select d.name from document_attribute a join document d on d.id = a.document_id where d.test_set_id = "
        + value(test_set)
        + " and a.name = "
        + value(attribute)
        + " and a.value = "
        + value(wanted),
    )


def attribute_values(test_set: int, most: int) -> Query:
    """The query of the attributes of documents with more than one and at most `most` values, one row a value."""
    return Query(
        "values of attributes",
        "with known as (select distinct a.name, a.value from document_attribute a join document d "
        "on d.id = a.document_id where d.test_set_id = "
        + value(test_set)
        + "), few as (select name from known group by name having count(*) between 2 and "
        + value(most)
        + ") select name, value from known where name in (select name from few) "
        "order by name, try_cast(value as double), value",
    )


def beside(test_set: int, document: str) -> Query:
    """The query of the documents before and after one, in the order in which they were loaded: its only row has their
    names, null where there is none.
    """
    of_test_set = "select name, id from document where test_set_id = " + value(test_set)
    return Query(
        "documents beside one",
        "with known as (" + of_test_set + "), it as (select id from known where name = " + value(document) + ") "
        "select (select arg_max(name, id) from known where id < (select id from it)), "
        "(select arg_min(name, id) from known where id > (select id from it))",
    )
