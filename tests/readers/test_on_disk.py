"""Every example of docs/readers.md, in every encoding and compression, loads into a warehouse on disk. There DuckDB has
less memory than in memory, where most tests load.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.loading.staging.zstandard import zstd
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.sql import Sql
from tests.empty import create
from tests.test_docs import CONSOLE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "readers.md"

ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "lines of DOS": lambda text: text.replace("\n", "\r\n").encode(),
    "no end of the last line": lambda text: text.rstrip("\n").encode(),
}
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".zst": zstd.compress,
}


def examples() -> Iterator[tuple[dict[str, str], list[str]]]:
    """The files that each load of the page names, and the words of its command. Loads of folders are not among them."""
    files: dict[str, str] = {}
    for block in CONSOLE.findall(PAGE.read_text(encoding="utf-8")):
        for command, shown in re.findall(r"^\$ (.*)\n((?:[^$].*\n|\n)*)", block, flags=re.MULTILINE):
            words = shlex.split(command)
            if words[0] == "cat":
                files.setdefault(words[1], shown)
            elif words[:2] != ["evalhouse", "load"] or "auto" in words or "\nerror: " in f"\n{shown}":
                continue
            elif named := {word: files[word] for word in words if word in files}:
                yield named, words[1:-2]


EXAMPLES = list(examples())


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty warehouse, for loads that are only tried."""
    path = tmp_path_factory.mktemp("warehouse") / "w.duckdb"
    create(path).close()
    return path


@pytest.fixture
def tried(
    on_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, bytes], list[str]], str]:
    """What is said of files that are loaded, with their first rows, without the endings of their names."""
    monkeypatch.chdir(tmp_path)

    def trying(files: dict[str, bytes], words: list[str]) -> str:
        for name, content in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content)
        assert cli.main([*words, "--dry-run", "--db", str(on_disk)]) == 0, capsys.readouterr().err
        return re.sub(r"\.(gz|zst)\b", "", "".join(capsys.readouterr()))

    return trying


def test_the_page_has_an_example_of_each_reader() -> None:
    named = {words[words.index("--as") + 1] for _, words in EXAMPLES if "--as" in words}
    assert named >= {
        *("scores", "muc-report", "trec", "trec-eval", "conll", "lm-eval"),
        *("inspect", "helm", "every-eval-ever", "alpaca-eval", "mteb", "swe-bench", "segments", "sacrebleu", "sklearn"),
    }


WAYS = [("UTF-8", ending) for ending in COMPRESSIONS if ending]
WAYS += [(encoding, "") for encoding in ENCODINGS if encoding != "UTF-8"]
"""How else an example may be stored."""

BY_NAME = [pytest.param(number, *example, id=next(iter(example[0]))) for number, example in enumerate(EXAMPLES)]


def loads_as_it_is(
    files: dict[str, str],
    words: list[str],
    ways: Iterable[tuple[str, str]],
    tried: Callable[[dict[str, bytes], list[str]], str],
) -> None:
    expected = tried({name: text.encode() for name, text in files.items()}, words)
    assert re.search(r" rows( and \d+ texts)? would be stored", expected)
    for encoding, ending in ways:
        stored = {name + ending: COMPRESSIONS[ending](ENCODINGS[encoding](text)) for name, text in files.items()}
        named = [word + ending if word in files else word for word in words]
        assert tried(stored, named) == expected, (encoding, ending)


@pytest.mark.long
@pytest.mark.parametrize(("number", "files", "words"), BY_NAME)
def test_an_example_loads_however_it_is_stored(
    number: int, files: dict[str, str], words: list[str], tried: Callable[[dict[str, bytes], list[str]], str]
) -> None:
    """In two ways, not the same ones as the examples beside it."""
    ways = [WAYS[(2 * number + turn) % len(WAYS)] for turn in range(2)]
    loads_as_it_is(files, words, ways, tried)


@pytest.mark.soak
@pytest.mark.parametrize(("number", "files", "words"), BY_NAME)
def test_an_example_loads_in_every_way(
    number: int, files: dict[str, str], words: list[str], tried: Callable[[dict[str, bytes], list[str]], str]
) -> None:
    loads_as_it_is(files, words, WAYS, tried)


def tables(text: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """A CSV table as a file of every kind of table, compressed in every way."""
    header, *rows = csv.reader(io.StringIO(text))
    objects = [dict(zip(header, row, strict=True)) for row in rows]
    kinds = {
        ".csv": text,
        ".tsv": text.replace(",", "\t"),
        ".jsonl": "".join(json.dumps(row) + "\n" for row in objects),
        ".ndjson": "".join(json.dumps(row) + "\n" for row in objects),
        ".json": json.dumps(objects, indent=1),
    }
    for ending, content in kinds.items():
        for packed, compressed in COMPRESSIONS.items():
            yield ending + packed, compressed(content.encode())
    (folder / "rows.csv").write_text(text)
    with in_memory() as database:
        database.run(Sql("copy (from read_csv(?, all_varchar=true)) to 'rows.parquet'", (str(folder / "rows.csv"),)))
    yield ".parquet", (folder / "rows.parquet").read_bytes()


@pytest.mark.long
def test_a_table_loads_in_every_format(tmp_path: Path, tried: Callable[[dict[str, bytes], list[str]], str]) -> None:
    [(files, words)] = [(files, words) for files, words in EXAMPLES if "scores" in words]
    [(name, text)] = files.items()
    said = {}
    for ending, content in tables(text, tmp_path):
        file = f"table{ending}"
        named = [file if word == name else word for word in words]
        said[file] = re.sub(r"table[.\w]+", "table", tried({file: content}, named))
    assert len(said) == 16
    assert len(set(said.values())) == 1, said


@pytest.mark.long
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_one_row_of_json_is_stored(
    ending: str, on_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(on_disk, "w.duckdb")
    row = b'[{"test_set":"T","system":"S","document":"D","measure":"m","value":1}]'
    Path(f"t.json{ending}").write_bytes(COMPRESSIONS[ending](row))
    assert cli.main(["load", f"t.json{ending}", "--as", "values", "--db", "w.duckdb"]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"note: t.json{ending}: 1 row stored as import 1\nnote: ask now: ")
