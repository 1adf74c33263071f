"""What a load says of its rows: each is stored, was stored before, or repeats another row of the load. Progress counts
the rows of the files so far.
"""

from __future__ import annotations

import re
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cli
from evalhouse.warehouse.loading.ingest import carry_out
from evalhouse.warehouse.loading.planning import LoadRequest, plan
from evalhouse.warehouse.store.connecting import in_memory
from tests.empty import create

Row = tuple[str, int]

ROWS = st.tuples(st.sampled_from(["wren", "lark", "finch"]), st.integers(0, 4))
FILES = st.lists(st.lists(ROWS, min_size=1, max_size=9), min_size=1, max_size=4)


def write(folder: Path, files: list[list[Row]]) -> None:
    """A table of values for each file; the same system and document have the same value everywhere."""
    folder.mkdir()
    for place, rows in enumerate(files):
        lines = [f"T,{system},D{document},accuracy,{document % 2}" for system, document in rows]
        (folder / f"f{place}.csv").write_text("\n".join(["test_set,system,document,measure,value", *lines, ""]))


def said_of(*words: str) -> str:
    """The last line of a load, which speaks of all its files."""
    with redirect_stderr(StringIO()) as told:
        assert cli.main(["load", *words]) == 0
    return [line for line in told.getvalue().splitlines() if re.search("stored as import|there already", line)][-1]


def counted(said: str) -> tuple[int, int, int]:
    """How many rows are stored, were stored before, and repeat others, in the words of a load."""
    ways = (
        r"(\d+) rows? (?:would be )?stored",
        r"(\d+) more (?:is|are) already stored|all (\d+) rows? (?:is|are) there already",
        r"(\d+) more repeats? others of this load",
    )
    found = (re.search(way, said) for way in ways)
    return tuple(int(next(filter(None, one.groups()))) if one else 0 for one in found)  # type: ignore[return-value]


@pytest.mark.long
@settings(max_examples=8)
@given(FILES, FILES)
def test_a_load_tells_what_was_stored_before_from_what_repeats(first: list[list[Row]], then: list[list[Row]]) -> None:
    with TemporaryDirectory() as made:
        folder = Path(made)
        create(folder / "w.duckdb").close()
        stored: set[Row] = set()
        for name, files in (("first", first), ("then", then), ("again", first)):
            write(folder / name, files)
            rows = [row for file in files for row in file]
            # Of several copies within a file, one was stored before and the others repeat it.
            known = sum(len(stored.intersection(file)) for file in files)
            new = set(rows) - stored
            said = said_of(str(folder / name), "--db", str(folder / "w.duckdb"))
            expected = (len(new), known, len(rows) - known - len(new))
            if not new:
                # Nothing is stored, so that it does not matter which of the rows repeat others.
                expected = (0, len(rows), 0)
            assert counted(said) == expected, said
            assert ("already" in said) == (known > 0), said
            stored |= new


@pytest.mark.long
@settings(max_examples=6)
@given(FILES)
def test_progress_counts_the_rows_of_the_files_so_far(files: list[list[Row]]) -> None:
    told: list[tuple[float, str]] = []
    with TemporaryDirectory() as made, in_memory() as store, create(Path(made, "w.duckdb")) as database:
        write(Path(made, "t"), files)
        request = LoadRequest([str(Path(made, "t"))])
        planned = plan(request, store, Path(made))
        carry_out(database, request, planned, advance=lambda share, words: told.append((share, words)))
    shares = [share for share, _ in told]
    assert (shares, shares[0], shares[-1]) == (sorted(shares), 0, 1)
    for share, words in told:
        found = re.fullmatch(r"file (\d+) of (\d+), ([\d,]+) rows?", words)
        assert found is not None, words
        place, many, rows = (int(number.replace(",", "")) for number in found.groups())
        assert many == len(files)
        before, with_it = (sum(map(len, files[:upto])) for upto in (place - 1, place))
        assert rows in (before, with_it)
        if share * many - (place - 1) >= 0.5:
            assert rows == with_it
