"""Lines of tokens split into cells many at a time, compared with the same lines read one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import SCORES
from evalhouse.warehouse.loading.staging import tokens
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.store.database import Database

PLAIN = ("a B-X O", "# O O", "ü B-X I-X", "", "", "-DOCSTART- -X- O")
ODD = (" a B-X O", "a  B-X O", "a B-X O ", "a O", "# text = a", "# newdoc", "#", " ", "\t", "a\tB-X\tO", "\ta\tO",
       "a\tO\t", "a\t\tO", "a O O\u00a0", "\u3000", "a O O\r", "-DOCSTART-", "a -DOCSTART- O")  # fmt: skip
LINES = st.lists(st.sampled_from(PLAIN) | st.sampled_from(PLAIN + ODD), max_size=12)
TABBED = LINES.map(lambda lines: [line.replace(" ", "\t") for line in lines])

READ = list[tuple[int, int, list[list[str]]]]


def read(file: Path, database: Database) -> tuple[READ, str]:
    """Of each sentence the line, the text and the columns; and what is wrong."""
    found: READ = []
    try:
        for some in tokens.sentences(Staging(database, file, SCORES, {}, {})):
            sentences = zip(some.texts.tolist(), some.one_by_one(), strict=True)
            found += [(line, text, [list(column) for column in columns]) for text, (line, columns) in sentences]
    except DataError as error:
        return found, str(error)
    return found, ""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(LINES | TABBED, st.sampled_from((3, 20, 1000)))
def test_lines_at_once_are_read_as_one_by_one(
    tmp_path: Path, database: Database, written: list[str], chunk: int
) -> None:
    file = tmp_path / "in"
    file.write_bytes("\n".join((*written, "")).encode() or b"\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tokens, "AT_ONCE", chunk)
        at_once = read(file, database)
        patched.setattr(tokens._Reading, "at_once", lambda *of: None)
        assert read(file, database) == at_once


def test_most_lines_are_read_at_once(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of CoNLL-2003, and of CoNLL-U with its comments and with empty cells."""

    def refused(*of: object) -> None:
        raise AssertionError("read line by line")

    monkeypatch.setattr(tokens._Reading, "line_by_line", refused)
    (tmp_path / "in").write_text("-DOCSTART- -X- O O\n\nAda NNP O B-PER\n# saw B-VP O\n\nIt PRP O O\n")
    found, _ = read(tmp_path / "in", database)
    assert [columns[0] for _, _, columns in found] == [["Ada", "#"], ["It"]]
    (tmp_path / "in").write_text("# newdoc\n# text = a\n1\tAda\t\tO\n\n# text = b\n# newdoc\n1\t#\t_\tO\n\n")
    found, _ = read(tmp_path / "in", database)
    assert [text for _, text, _ in found] == [1, 2]
