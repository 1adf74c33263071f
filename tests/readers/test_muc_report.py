"""Score reports of MUC-4: their sums, in the columns that the scorer printed."""

from __future__ import annotations

import csv
import io
import tarfile
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.loading.readers.muc_report import EXAMPLE
from evalhouse.warehouse.loading.staging.staged import name_it
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Complaints, Load

COUNTS = ("possible", "actual", "correct", "partial", "incorrect", "spurious", "missing", "noncommittal")

OPTIONAL = """\
TST3-MUC4-0003       key: 1  response: <NONE>                      [optional]

SLOT                  POS ACT|COR PAR INC|ICR IPA|SPU MIS NON|REC PRE OVG FAL
-----------------------------+-----------+-------+-----------+---------------
inc-loc                 5   0|  0   0   0|  0   0|  0   5   0|  0   *   *
-----------------------------+-----------+-------+-----------+---------------
TOTAL                   5   0|  0   0   0|  0   0|  0   5   0|  0   *   *

 * * * TOTAL"""


def rows(database: Database) -> list[tuple[object, ...]]:
    query = f"select document, unit, {', '.join(COUNTS)} from scores order by document, unit"
    return database.rows(Sql(query))


def test_slots_are_units_and_messages_without_templates_are_there(database: Database, load_text: Load) -> None:
    assert load_text(EXAMPLE, "muc-report", "ge.txt").rows_new == 8
    assert rows(database) == [
        ("TST3-MUC4-0001", "hum-tgt-name", 1, 2, 1, 0, 0, 1, 0, 0),
        ("TST3-MUC4-0001", "inc-date", 0, 0, 0, 0, 0, 0, 0, 1),
        ("TST3-MUC4-0001", "inc-loc", 1, 1, 0, 0, 1, 0, 0, 0),
        ("TST3-MUC4-0002", "hum-tgt-name", 0, 0, 0, 0, 0, 0, 0, 0),
        ("TST3-MUC4-0002", "inc-date", 0, 0, 0, 0, 0, 0, 0, 0),
        ("TST3-MUC4-0002", "inc-loc", 0, 0, 0, 0, 0, 0, 0, 0),
    ]
    assert database.rows(Sql("select test_set, system, document, decision from decisions order by document")) == [
        ("TST3", "GE", "TST3-MUC4-0001", True),
        ("TST3", "GE", "TST3-MUC4-0002", False),
    ]


def test_optional_templates_that_were_not_matched_are_left_out(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE.replace(" * * * TOTAL", OPTIONAL), "muc-report", "ge.txt")
    assert database.rows(Sql("select sum(possible), count(distinct document) from scores")) == [(2, 3)]


def test_columns_may_abut(database: Database, load_text: Load) -> None:
    wide = EXAMPLE.replace("|  0   0   1|  0   0|  0   0   0|", "|  0   0   1|  0   0|10010001234|")
    wide = wide.replace(
        "ALL TEMPLATES           2   3|  1   0   1|  0   0|  1   0   1|",
        "ALL TEMPLATES           2   3|  1   0   1|  0   0|1011000 235|",
    ).replace("1011000 235", "10110001235")
    load_text(wide, "muc-report", "ge.txt")
    assert ("TST3-MUC4-0001", "inc-loc", 1, 1, 0, 0, 1, 100, 1000, 1234) in rows(database)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "TOTAL SLOT SCORES * * *\n\nSLOT                  POS",
            "TOTAL SLOT SCORES * * *\n\nSLOT                  SOP",
            "ge.txt:23: the columns of this block are not POS ACT|COR PAR INC|ICR IPA|SPU MIS NON",
        ),
        (
            "ALL TEMPLATES           2   3",
            "ALL TEMPLATES           2   4",
            "ge.txt:34: actual of ALL TEMPLATES is 4, but the blocks add up to 3",
        ),
        (
            "ALL TEMPLATES",
            "ALL OF THEM",
            "ge.txt: the report is cut off: it has no row ALL TEMPLATES after TOTAL SLOT SCORES",
        ),
        (
            "hum-tgt-name            1   2|  1",
            "hum-tgt-name            1   x|  1",
            "ge.txt:12: '1   x' should be 2 counts: POS ACT",
        ),
        (
            "hum-tgt-name            1   2|  1",
            "hum-tgt-name            x   2|  1",
            "ge.txt:12: 'x   2' should be 2 counts: POS ACT",
        ),
        (
            "hum-tgt-name            1   2|  1",
            "hum-tgt-name           -1   2|  1",
            "ge.txt:12: '-1   2' should be 2 counts: POS ACT",
        ),
        (
            "Configuration: /muc/GE/config-tst3.el",
            "",
            f"ge.txt: the report does not name the system; {name_it('system')}",
        ),
    ],
)
def test_a_report_that_is_not_sound_is_refused(complaints: Complaints, old: str, new: str, sentence: str) -> None:
    assert complaints(EXAMPLE.replace(old, new, 1), "muc-report", "ge.txt")[0] == sentence


def archive(*members: tuple[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in members:
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def test_many_reports_in_an_archive_are_one_import(database: Database, load_text: Load) -> None:
    both = archive(("./GE/report", EXAMPLE), ("SRI/report", EXAMPLE.replace("/GE/", "/SRI/TST3/")))
    assert load_text(both, "muc-report", "reports.tar.gz").import_id == 1
    assert database.rows(Sql("select distinct system from scores order by 1")) == [("GE",), ("SRI",)]
    assert check(database) == ()
    assert forget(database, 1).rows == 16
    counted = "select (select count(*) from score) + (select count(*) from decision) + (select count(*) from document)"
    assert database.rows(Sql(counted)) == [(0,)]


def test_faults_name_the_member_of_an_archive(complaints: Complaints) -> None:
    bad = archive(("GE/report", EXAMPLE.replace("ALL TEMPLATES           2", "ALL TEMPLATES           3")))
    assert complaints(bad, "muc-report", "r.tar.gz") == [
        "r.tar.gz/GE/report:34: possible of ALL TEMPLATES is 3, but the blocks add up to 2"
    ]
    assert complaints(bad[: len(bad) // 2], "muc-report", "r.tar.gz")[0].startswith("r.tar.gz: the ")


@pytest.mark.long
def test_the_34_reports_give_the_official_counts(database: Database, real_files: Path) -> None:
    folder = real_files / "muc4"
    for test_set in ("tst3", "tst4"):
        assert load(database, folder / f"score-reports.{test_set}.tar.gz", "muc-report").rows_new == 1700 * 24
    sums = ", ".join(f"sum({count})" for count in COUNTS)
    found = {
        tuple(key): tuple(counts)
        for *key, counts in (
            (row[0], row[1], row[2], row[3:])
            for row in database.rows(Sql(f"select test_set, system, document, {sums} from scores group by all"))
        )
    }
    with (folder / "score_tuples.csv").open(encoding="utf-8", newline="") as lines:
        wanted = {
            (row["test_set"], row["site"], row["message_id"]): tuple(int(row[count]) for count in COUNTS)
            for row in csv.DictReader(lines)
        }
    assert found == wanted
    with (folder / "decisions.csv").open(encoding="utf-8", newline="") as lines:
        decided = {(row["site"], row["message_id"], row["decision"] == "1") for row in csv.DictReader(lines)}
    assert set(database.rows(Sql("select system, document, decision from decisions"))) == decided
