"""Each kind of wrong file is refused with its own sentence, which names the wrong line."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.loading.staging.zstandard import zstd
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import SCORES, THREE, Complaints, Load

NO_COUNT = "not a whole number from 0 to 999999999"
COLUMNS = "the columns are test_set, system, document, possible, actual, correct, partial"
HOW = "--map FIELD=COLUMN takes a field from a column of another name, --set FIELD=VALUE gives it one value"
FIELDS = (
    "evaluation, test_set, system, document, unit, possible, actual, correct, partial, incorrect, spurious, missing, "
    "noncommittal, same_place, overlapping, same_type, unpaired"
)


@pytest.mark.parametrize(
    "cell", ["-1", "1.5", "1.0", "1e3", "1000000000", "0x10", "1_000", "+5", "ten", "NaN", "１", "99999999999999999999"]
)
def test_a_count_is_a_whole_number(complaints: Complaints, cell: str) -> None:
    assert complaints(f"{SCORES}{THREE}T,GE,X,{cell},1,0,0\n") == [f"in.csv:5: possible is '{cell}', {NO_COUNT}"]


def test_a_count_is_not_empty(complaints: Complaints) -> None:
    assert complaints(f"{SCORES}T,GE,X,,1,0,0\n") == ["in.csv:2: possible is empty"]


def test_a_count_has_no_thousands_separator(complaints: Complaints) -> None:
    assert complaints(f'{SCORES}T,GE,X,"1,000",1,0,0\n') == [f"in.csv:2: possible is '1,000', {NO_COUNT}"]


@pytest.mark.parametrize(
    ("row", "sentences"),
    [
        ("5,6,5,1", ["correct + partial is 6, more than possible, which is 5"]),
        ("6,5,5,1", ["correct + partial is 6, more than actual, which is 5"]),
        (
            "0,0,999999999,999999999",
            [
                "correct + partial is 1999999998, more than possible, which is 0",
                "correct + partial is 1999999998, more than actual, which is 0",
            ],
        ),
    ],
)
def test_matched_counts_do_not_exceed_what_they_are_part_of(
    complaints: Complaints, row: str, sentences: list[str]
) -> None:
    assert complaints(f"{SCORES}{THREE}T,GE,X,{row}\n") == [f"in.csv:5: {sentence}" for sentence in sentences]


def test_incorrect_counts_as_matched_where_it_is_known(complaints: Complaints) -> None:
    text = SCORES.strip() + ",incorrect\nT,GE,X,5,9,3,1,2\nT,GE,Y,5,5,3,1,\n"
    assert complaints(text) == ["in.csv:2: correct + partial + incorrect is 6, more than possible, which is 5"]


def test_a_row_has_as_many_cells_as_the_header(complaints: Complaints) -> None:
    text = f"{SCORES}T,GE,D0,10,9\n{THREE}T,GE,D9,10,9,7,1,99\nX\n"
    assert complaints(text) == [
        "in.csv:2: 5 cells in this row, and 7 in the header",
        "in.csv:6: 8 cells in this row, and 7 in the header",
        "in.csv:7: 1 cell in this row, and 7 in the header",
    ]


def test_a_quote_is_closed(complaints: Complaints) -> None:
    assert complaints(f'{SCORES}{THREE}T,GE,"D9,10,9,7,1\n{THREE}') == ["in.csv:5: a quote is opened and never closed"]


def test_a_closed_quote_ends_the_cell(complaints: Complaints) -> None:
    assert complaints(f'{SCORES}{THREE}T,GE,"D"9,10,9,7,1\n') == ["in.csv:5: text follows the quote that closes a cell"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "in.csv: the file is empty"),
        (SCORES, "in.csv: there is a header, but no rows"),
        (SCORES.strip(), "in.csv: there is a header, but no rows"),
        ("\n" + SCORES + THREE, "in.csv:1: the first line is blank; it must name the columns"),
        ((SCORES + THREE).encode("utf-16"), "in.csv: the file is UTF-16; it must be UTF-8"),
        ((SCORES + THREE).encode() + b"T,caf\xe9,D,1,1,1,0\n", "in.csv:5: this line is not UTF-8"),
        (b"caf\xe9," + (SCORES + THREE).encode(), "in.csv:1: this line is not UTF-8"),
        (
            SCORES + THREE + "T,GE,D8,1,1,1,0\r\nT,GE,D9,1,1,1,0\n",
            "in.csv:5: this line ends differently from the first one (CRLF, LF or CR)",
        ),
        (SCORES + "T," + "x" * 3_000_000 + ",D,1,1,1,0\n", "in.csv:2: this line is longer than 2,000,000 bytes"),
        (SCORES + 'T,"' + "x\n" * 1_500_000 + '",D,1,1,1,0\n', "in.csv:2: a cell is longer than 1000000 characters"),
    ],
)
def test_a_file_is_a_table_in_utf_8(complaints: Complaints, text: str | bytes, sentence: str) -> None:
    assert complaints(text) == [sentence]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("G\x07E", "'G\\x07E', which has a control character in it"),
        ("G\x00E", "'G\\x00E', which has a control character in it"),
        ("G\x9bE", "'G\\x9bE', which has a control character in it"),
        ("G\u2028E", "'G\\u2028E', which has a control character in it"),
        ('"G\nE"', "'G\\nE', which has a control character in it"),
        ("G\tE", "'G\\tE', which has a control character in it"),
        ("x" * 201, f"201 characters long, and a name has at most 200: '{'x' * 59}…'"),
        ("", "empty"),
        ("   ", "empty"),
    ],
)
def test_a_name_is_short_and_printable(complaints: Complaints, name: str, sentence: str) -> None:
    assert complaints(f"{SCORES}{THREE}T,{name},D,1,1,1,0\n") == [f"in.csv:5: system is {sentence}"]


@pytest.mark.parametrize(
    ("reader", "header", "row", "sentence"),
    [
        ("labels", "test_set,document,label", "T,D,maybe", "label is 'maybe', not relevant, optional or nonrelevant"),
        (
            "decisions",
            "test_set,system,document,decision",
            "T,S,D,perhaps",
            "decision is 'perhaps', not yes or no, true or false, 1 or 0",
        ),
        (
            "decisions",
            "test_set,system,document,decision,confidence",
            "T,S,D,no,nan",
            "confidence is 'nan', not a finite number",
        ),
        (
            "decisions",
            "test_set,system,document,decision,confidence",
            "T,S,D,no,1e999",
            "confidence is '1e999', not a finite number",
        ),
        (
            "values",
            "test_set,system,document,measure,value",
            "T,S,D,BLEU,inf",
            "value is 'inf', not a number from -1e15 to 1e15",
        ),
        (
            "values",
            "test_set,system,document,measure,value",
            "T,S,D,BLEU,-2e15",
            "value is '-2e15', not a number from -1e15 to 1e15",
        ),
        ("values", "test_set,system,document,measure,value", "T,S,D,BLEU,", "value is empty"),
        (
            "published",
            "test_set,system,task,measure,value,resolution",
            "T,S,filtering,recall,0.1234567891,0.01",
            "value is '0.1234567891', not a decimal number of at most 9 digits on each side of the point",
        ),
        (
            "published",
            "test_set,system,task,measure,value,resolution",
            "T,S,filtering,recall,0.79,0.00",
            "resolution is '0.00', not a decimal number above 0, such as 0.01",
        ),
        (
            "published",
            "test_set,system,task,measure,value,resolution",
            "T,S,parsing,recall,0.79,0.01",
            "task is 'parsing', not extraction, filtering, counts or values",
        ),
        ("systems", "system,site", "S,a\x07b", "site is 'a\\x07b', which has a control character in it"),
    ],
)
def test_a_cell_is_what_its_field_says(
    complaints: Complaints, reader: str, header: str, row: str, sentence: str
) -> None:
    assert complaints(f"{header}\n{row}\n", reader) == [f"in.csv:2: {sentence}"]


def test_lines_are_physical_lines(complaints: Complaints) -> None:
    text = SCORES.strip() + ',note\n\nT,GE,D1,1,1,1,0,"a\nb\r\nc"\n\n\nT,GE,D2,1.5,1,1,0,x\n"T",GE,D3,2.5,1,1,0,"\n"\n'
    assert complaints(text) == [
        f"in.csv:8: possible is '1.5', {NO_COUNT}",
        f"in.csv:9: possible is '2.5', {NO_COUNT}",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_by_any_line_end(complaints: Complaints, end: str) -> None:
    text = (SCORES + THREE + "T,GE,X,-1,1,0,0\n").replace("\n", end)
    assert complaints(text) == [f"in.csv:5: possible is '-1', {NO_COUNT}"]


def test_lines_of_a_file_of_one_column_count_blank_ones(complaints: Complaints) -> None:
    options = {"fields": {"test_set": "T", "label": "relevant"}}
    assert complaints("document\nD1\n\nD\x072\n", "labels", **options) == [
        "in.csv:4: document is 'D\\x072', which has a control character in it"
    ]


def test_twenty_faults_are_told_and_all_are_counted(untouched: Database, tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_text(SCORES + "".join(f"T,GE,D{k},x,y,1,1\n" for k in range(100)))
    with pytest.raises(DataError) as caught:
        load(untouched, file, "scores")
    assert len(caught.value.faults) == 20
    assert caught.value.total == 200
    assert [fault.line for fault in caught.value.faults[:3]] == [2, 2, 3]


def test_a_wrong_column_is_named_with_what_there_is(complaints: Complaints) -> None:
    text = SCORES.replace("system", "site") + THREE
    listed = COLUMNS.replace("system", "site")
    assert complaints(text) == [
        f"in.csv:1: there is no column for system; {listed}; --map system=site says which it is",
    ]
    text = text.replace("document", "passage")
    listed = listed.replace("document", "passage")
    assert complaints(text) == [f"in.csv:1: there is no column for system, document; {listed}; {HOW}"]


@given(
    system=st.sampled_from(["model", "model_name", "system_name", "site"]),
    document=st.sampled_from(["case_id", "uid", "message_id", "qid"]),
)
def test_the_line_to_type_for_missing_fields_loads_the_table(system: str, document: str) -> None:
    text = SCORES.replace("system", system).replace("document", document) + THREE
    with in_memory() as database, TemporaryDirectory() as folder:
        file = Path(folder) / "in.csv"
        file.write_text(text)
        with pytest.raises(DataError) as raised:
            load(database, file, "scores")
        columns = dict(re.findall(r"--map (\w+)=(\w+)", str(raised.value)))
        assert columns == {"system": system, "document": document}
        assert load(database, file, "scores", columns=columns).rows_new == 3


def test_a_column_stands_once(complaints: Complaints) -> None:
    text = SCORES.strip() + ",correct\nT,GE,D,1,1,1,0,1\n"
    assert complaints(text) == ["in.csv:1: the column 'correct' appears more than once in the header"]


def test_options_name_fields_and_columns_that_are_there(complaints: Complaints) -> None:
    text = SCORES + THREE
    assert complaints(text, columns={"system": "site"}) == [
        f"in.csv:1: there is no column 'site' to take system from; {COLUMNS}"
    ]
    assert complaints(text, fields={"sistem": "GE"}) == [
        f"in.csv: there is no field 'sistem' in scores; its fields are {FIELDS}"
    ]
    assert complaints(text, fields={"system": "X"}, columns={"system": "document"}) == [
        "in.csv: system is both set to 'X' and taken from 'document'"
    ]
    assert complaints(text, fields={"possible": "1.5"}) == [f"in.csv: the value set for possible is '1.5', {NO_COUNT}"]
    assert complaints(text, "score") == [f"in.csv: there is no reader 'score'; the readers are {', '.join(READERS)}"]


def test_attributes_have_names_and_there_is_one(complaints: Complaints) -> None:
    assert complaints("system,\nX,1\n", "systems") == ["in.csv:1: column 2 has no name"]
    assert complaints("system\nX\n", "systems") == [
        "in.csv:1: there is no attribute beside system; the columns are system"
    ]
    assert complaints("system,site\nX,\n", "systems") == ["in.csv: no row has a value for an attribute"]
    assert complaints("test_set,document,site\nX,Y,\n", "documents") == ["in.csv: no row has a value for an attribute"]


def test_a_file_is_there_and_is_a_file(untouched: Database, tmp_path: Path) -> None:
    for path, sentence in (
        (tmp_path / "nothing.csv", "there is no such file"),
        (tmp_path, "this is a folder, not a file"),
    ):
        with pytest.raises(DataError, match=sentence):
            load(untouched, path, "scores")


def test_compressed_data_is_whole(complaints: Complaints) -> None:
    whole = gzip.compress((SCORES + "".join(f"T,GE,D{k},10,9,7,1\n" for k in range(3000))).encode())

    def cut_off(ending: str, compression: str, line: int) -> list[str]:
        return [f"in.csv.{ending}:{line}: the {compression} data is cut off or damaged"]

    half = zlib.decompressobj(wbits=31).decompress(whole[: len(whole) // 2]).count(b"\n")
    assert complaints(whole[: len(whole) // 2], file="in.csv.gz") == cut_off("gz", "gzip", half + 1)
    assert complaints(whole[:-4], file="in.csv.gz") == cut_off("gz", "gzip", 3002)
    assert complaints(SCORES + THREE, file="in.csv.gz") == cut_off("gz", "gzip", 1)
    packed = zstd.compress(gzip.decompress(whole))
    assert complaints(packed[: len(packed) // 2], file="in.csv.zst") == cut_off("zst", "zstd", 1)
    assert complaints(SCORES + THREE, file="in.csv.zst") == cut_off("zst", "zstd", 1)


JSON = '{"test_set":"T","system":"GE","document":"D1","possible":10,"actual":9,"correct":1,"partial":0}\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (JSON + "\n" + JSON.replace("10", "1.0"), f"in.jsonl:3: possible is '1.0', {NO_COUNT}"),
        (JSON + JSON.replace("10", "true"), f"in.jsonl:2: possible is 'true', {NO_COUNT}"),
        (JSON + JSON.replace("10", "null"), "in.jsonl:2: possible is empty"),
        (JSON + "3\n", "in.jsonl:2: this line is not an object"),
        (JSON + JSON.replace("partial", "correct"), "in.jsonl:2: this line has 'correct' twice in one object"),
        (JSON + '{"a":\n' + JSON, "in.jsonl:2: this line is not JSON: Expecting value"),
        (
            JSON.encode() + JSON.replace("GE", "é").encode("latin-1"),
            "in.jsonl:2: this line is not JSON: it is not UTF-8",
        ),
        ("\n", "in.jsonl: the file holds no objects with named values"),
    ],
)
def test_json_lines_are_judged_like_cells(complaints: Complaints, text: str | bytes, sentence: str) -> None:
    assert complaints(text, file="in.jsonl") == [sentence]


def test_a_json_array_is_whole(complaints: Complaints) -> None:
    assert complaints("[" + JSON.strip() + ",\n", file="in.json") == ["in.json:2: this is not JSON: Expecting value"]
    assert complaints(f"[{JSON},{JSON.replace('10', '-1')}]", file="in.json") == [
        f"in.json: row 2: possible is '-1', {NO_COUNT}"
    ]


def test_parquet_is_judged_like_cells(untouched: Database, complaints: Complaints) -> None:
    assert complaints("PAR1, but no more", file="in.parquet")[0].startswith(
        "in.parquet: this is not a sound Parquet file: "
    )
    untouched.run(
        Sql(
            "copy (select 'T' as test_set, 'GE' as system, i::varchar as document, 9 as possible, 9 as actual, "
            "case i when 2 then 1.5 else 1.0 end::double as correct, 0 as partial from range(3) t(i)) to 'made.parquet'"
        )
    )
    assert complaints(Path("made.parquet").read_bytes(), file="in.parquet") == [
        f"in.parquet: row 1: correct is '1.0', {NO_COUNT}",
        f"in.parquet: row 2: correct is '1.0', {NO_COUNT}",
        f"in.parquet: row 3: correct is '1.5', {NO_COUNT}",
    ]


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_lines(load_text: Load) -> None:
    load_text(SCORES + "T,SRI,D1,10,9,7,1\n")
    rows = ["GE,D1,10,9,7,1", "GE,D2,5,5,6,0", "GE,D1,10,9,8,1", "GE,D3,x,9,7,1", "SRI,D1,10,9,6,1", "GE,D4,1,1,-1,0"]
    with pytest.raises(DataError) as caught:
        load_text(SCORES + "".join(f"T,{row}\n" for row in rows))
    assert [str(fault) for fault in caught.value.faults] == [
        "in.csv:3: correct + partial is 6, more than possible, which is 5",
        "in.csv:3: correct + partial is 6, more than actual, which is 5",
        "in.csv:4: T, GE, D1 has correct 8, but on line 2 it has correct 7",
        f"in.csv:5: possible is 'x', {NO_COUNT}",
        "in.csv:6: T, SRI, D1 has correct 6, but is stored with correct 7 (import 1)",
        f"in.csv:7: correct is '-1', {NO_COUNT}",
    ]


def test_of_faults_of_several_kinds_the_first_20_lines_are_told(untouched: Database, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    rows = [f"T,GE,D{k},{'x' if k % 2 else 1},9,7,1\n" for k in range(30)]
    path.write_text(SCORES + "".join(rows))
    with pytest.raises(DataError) as caught:
        load(untouched, path, "scores")
    assert [fault.line for fault in caught.value.faults] == list(range(2, 22))
    assert caught.value.total == 30


def test_attributes_with_no_good_row_left_are_refused(complaints: Complaints) -> None:
    rows = "system,kind\nGE,a\x07b\nSRI,\n"
    assert complaints(rows, "systems") == ["in.csv:2: kind is 'a\\x07b', which has a control character in it"]


def test_faults_of_several_kinds_of_facts_are_told_by_line(complaints: Complaints) -> None:
    report = "id,y_true,y_pred,score\nD1,1,1,high\nD\x072,0,1,0.5\nD3,0,0,low\n"
    told = complaints(report, "sklearn", fields={"test_set": "T", "system": "S"})
    assert [sentence.split(":")[1] for sentence in told] == sorted(sentence.split(":")[1] for sentence in told)
    assert len(told) == 4
