"""Folders of BRAT annotations, compared by place and type."""

from __future__ import annotations

import pytest

from evalhouse.warehouse.loading.ingest import forget
from evalhouse.warehouse.loading.readers.brat import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.readers.test_muc_report import archive
from tests.store.texts import Complaints, Load

ON = {"test_set": "news"}


def counts(database: Database) -> list[tuple[object, ...]]:
    columns = "system, document, unit, possible, actual, correct, partial, incorrect, spurious, missing"
    return database.rows(Sql(f"select {columns} from scores order by all"))


def test_folders_are_systems_and_types_are_units(database: Database, load_text: Load) -> None:
    packed = archive(
        ("./gold/a.ann", EXAMPLE), ("gold/a.txt", "text"), ("gold/b.ann", ""), ("crf/a.ann", EXAMPLE), ("nil/b.ann", "")
    )
    load_text(packed, "brat", "in.tar.gz", fields=ON)
    assert counts(database) == [
        ("crf", "a", "Person", 1, 1, 1, 0, 0, 0, 0),
        ("crf", "a", "Place", 1, 1, 1, 0, 0, 0, 0),
        ("crf", "b", "Person", 0, 0, 0, 0, 0, 0, 0),
        ("crf", "b", "Place", 0, 0, 0, 0, 0, 0, 0),
        ("nil", "a", "Person", 1, 0, 0, 0, 0, 0, 1),
        ("nil", "a", "Place", 1, 0, 0, 0, 0, 0, 1),
        ("nil", "b", "Person", 0, 0, 0, 0, 0, 0, 0),
        ("nil", "b", "Place", 0, 0, 0, 0, 0, 0, 0),
    ]
    assert check(database) == ()
    assert forget(database, 1).rows == 8


@pytest.mark.parametrize(
    ("found", "options", "wanted"),
    [
        ("T1\tPlace 0 12\n", {}, [(1, 0, 0, 0, 0), (1, 1, 0, 0, 0)]),
        ("T1\tPerson 4 12\n", {}, [(1, 1, 0, 0, 0), (1, 0, 0, 0, 0)]),
        ("T1\tPerson 4 12\n", {"overlap": "partial"}, [(1, 1, 0, 1, 0), (1, 0, 0, 0, 0)]),
        ("T1\tPerson 4 12\nT2\tPerson 0 3\n", {"overlap": "partial"}, [(1, 2, 0, 1, 0), (1, 0, 0, 0, 0)]),
        ("T1\tPlace 30 40;17 18\tx\n", {"overlap": "partial"}, [(1, 0, 0, 0, 0), (1, 1, 0, 1, 0)]),
        ("T1\tPlace 22 23\tx\n", {"overlap": "partial"}, [(1, 0, 0, 0, 0), (1, 1, 0, 0, 0)]),
    ],
)
def test_annotations_are_matched_once(
    database: Database, load_text: Load, found: str, options: dict[str, str], wanted: list[tuple[int, ...]]
) -> None:
    packed = archive(("gold/a.ann", EXAMPLE), ("x/a.ann", found))
    load_text(packed, "brat", "in.tar.gz", fields=ON, options=options)
    assert [row[3:8] for row in counts(database)] == wanted


def test_files_that_are_left_out_are_named(load_text: Load) -> None:
    packed = archive(("gold/a.ann", EXAMPLE), ("x/a.ann", EXAMPLE), ("x/b.ann", EXAMPLE), ("x/README", "what is here"))
    notes = load_text(packed, "brat", "in.tar.gz", fields=ON).notes
    assert notes == ("left out (no key): x/b.ann", "left out (no annotations): x/README")


def test_what_is_no_archive_of_annotations_is_refused(complaints: Complaints) -> None:
    assert complaints(EXAMPLE, "brat", "in.ann", fields=ON) == [
        "in.ann: expected an archive (.tar or .tar.gz) of folders of .ann files"
    ]
    assert complaints(archive(("a/x.ann", EXAMPLE)), "brat", "in.tgz", fields=ON) == [
        "in.tgz: expected folders of .ann files, 'gold' and one per system; the folders are 'a'"
    ]
    bad = archive(("gold/x.ann", EXAMPLE), ("a/x.ann", EXAMPLE + "T3\tPlace seven\n"))
    assert complaints(bad, "brat", "in.tgz", fields=ON) == [
        "in.tgz/a/x.ann:4: this is not a text-bound annotation: T1, a tab, a type and its offsets"
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("T3\tPlace 9 3\tx", "x.ann:4: '9 3' ends before it begins"),
        ("Place 3 9", "x.ann:4: this is not an annotation: lines of BRAT begin with T, R, E, A, M, N, * or #"),
    ],
)
def test_lines_that_brat_does_not_write_are_refused(complaints: Complaints, line: str, sentence: str) -> None:
    bad = archive(("gold/x.ann", EXAMPLE), ("a/x.ann", EXAMPLE + line + "\n"))
    assert complaints(bad, "brat", "in.tgz", fields=ON) == [f"in.tgz/a/{sentence}"]


def test_two_files_of_one_name_are_refused(complaints: Complaints) -> None:
    bad = archive(("1/gold/x.ann", EXAMPLE), ("1/a/x.ann", EXAMPLE), ("2/gold/x.ann", EXAMPLE))
    assert complaints(bad, "brat", "in.tgz", fields=ON) == [
        "in.tgz/2/gold/x.ann: there is another gold/x.ann in the archive"
    ]
