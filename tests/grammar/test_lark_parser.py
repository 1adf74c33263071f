"""The parser that is kept in the cache: it reads texts as a fresh lark does, and it is loaded only from where nobody
but the user can have put it.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from lark import Lark, Token, Tree, UnexpectedInput

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import LANGUAGE
from evalhouse.grammar.parser import parse
from evalhouse.grammar.parsing import lark_parser
from evalhouse.grammar.parsing.building import BUILDER
from evalhouse.grammar.parsing.lark_parser import parser, parser_kept_in
from evalhouse.grammar.parsing.reading import END, read
from tests.grammar.test_errors import ERRORS

TESTS = Path(__file__).resolve().parents[1]
CASES = sorted(TESTS.rglob("*.case"))
STATEMENT = "score F for all on TST3"

only_with_modes = pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing about others there")


@cache
def fresh() -> Lark:
    """Lark on the grammar, without cache and builder. It makes trees."""
    return Lark(LANGUAGE, parser="lalr", lexer="contextual", keep_all_tokens=True, maybe_placeholders=False)


def built(tree: Any) -> Any:
    """What the builder makes of a tree of lark."""
    if isinstance(tree, Token):
        return tree
    return getattr(BUILDER, tree.data)([built(child) for child in tree.children])


def read_by(lark: Lark, text: str) -> object:
    """What is built of a text, or where it is refused."""
    try:
        result = lark.parse(text)
        return built(result) if isinstance(result, Tree) else result
    except UnexpectedInput as error:
        # Where the text ends too early, lark names the place of the last token.
        ended = getattr(getattr(error, "token", None), "type", "") == END
        return "refused", len(text) if ended else error.pos_in_stream
    except QueryError as error:
        return error.message, error.span


def texts() -> list[str]:
    """Statements of all golden cases, and texts that are wrong in many ways."""
    lines = {line for case in CASES for line in case.read_text(encoding="utf-8").splitlines()}
    return sorted({line.removeprefix("> ") for line in lines if len(line) < 400} | {text for text, *_ in ERRORS})


def test_there_are_many_texts_to_compare_of_which_many_are_statements() -> None:
    read_well = [text for text in texts() if "refused" not in str(read_by(parser(), text))]
    assert len(texts()) > 1_000
    assert len(read_well) > 300


@pytest.mark.long
def test_statements_and_mistakes_are_read_as_a_fresh_lark_reads_them() -> None:
    for text in texts():
        assert read_by(parser(), text) == read_by(fresh(), text)


@pytest.mark.long
def test_words_in_any_order_are_read_as_a_fresh_lark_reads_them() -> None:
    words = sorted({word for text, *_ in ERRORS for word in re.findall(r"\w+|\S", text)})
    chance = random.Random(1)
    for _ in range(2_000):
        text = " ".join(chance.choices(words, k=chance.randint(1, 8)))
        assert read_by(parser(), text) == read_by(fresh(), text)


@pytest.mark.long
def test_what_may_follow_is_what_a_fresh_lark_accepts() -> None:
    for text in texts():
        reader = fresh().parse_interactive(text)
        tokens: list[Token] = []
        place = len(text)
        try:
            tokens.extend(reader.iter_parse())
        except UnexpectedInput as error:
            place = error.pos_in_stream or 0
            tokens = [token for token in tokens if (token.start_pos or 0) < place]
        reading = read(text)
        if reading.stopped:  # the builder refuses some texts, of which the fresh lark knows nothing
            assert reading.accepted() == reader.accepts()  # type: ignore[no-untyped-call]
            assert reading.mistake == place
            assert list(reading.tokens) == tokens
            assert [(token.start_pos, token.end_pos) for token in reading.tokens] == [
                (token.start_pos, token.end_pos) for token in tokens
            ]


# --- where it is kept ---


@cache
def saved() -> bytes:
    """The file of a parser that is kept. Working a parser out takes longer than any of these tests."""
    with TemporaryDirectory() as folder:
        parser_kept_in(Path(folder))
        return only_file(Path(folder)).read_bytes()


def loads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the parser in a folder is loaded, not worked out again."""
    worked_out: list[str] = []

    def counting(grammar: str, **options: Any) -> Lark:
        worked_out.append(grammar)
        return Lark.load(BytesIO(saved()[lark_parser._DIGEST_SIZE :]))

    counting.load = Lark.load  # type: ignore[attr-defined]
    monkeypatch.setattr(lark_parser, "Lark", counting)
    assert parser_kept_in(folder).parse(STATEMENT) == parser().parse(STATEMENT)
    return not worked_out


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder in which a parser is kept."""
    (tmp_path / "kept").mkdir(mode=0o700)
    (tmp_path / "kept" / f"{lark_parser._key()}.pickle").write_bytes(saved())
    only_file(tmp_path / "kept").chmod(0o600)
    return tmp_path / "kept"


def test_a_parser_that_is_kept_is_loaded(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loads(kept, monkeypatch)


@only_with_modes
def test_only_the_user_can_read_or_write_what_is_kept(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        parser_kept_in(tmp_path / "kept")
    finally:
        os.umask(before)
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
    assert only_file(tmp_path / "kept").stat().st_mode & 0o777 == 0o600


@only_with_modes
@pytest.mark.parametrize("mode", [0o770, 0o702], ids=["the group", "all"])
def test_nothing_is_loaded_from_a_folder_that_others_can_write(
    kept: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.chmod(mode)
    assert not loads(kept, monkeypatch)


@only_with_modes
@pytest.mark.parametrize("mode", [0o620, 0o602], ids=["the group", "all"])
def test_a_file_that_others_can_write_is_not_loaded_but_replaced(
    kept: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_file(kept).chmod(mode)
    assert not loads(kept, monkeypatch)
    assert loads(kept, monkeypatch)


@only_with_modes
def test_nothing_is_loaded_from_or_written_to_what_belongs_to_someone_else(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: kept.stat().st_uid + 1)
    before = only_file(kept).stat()
    assert not loads(kept, monkeypatch)
    assert only_file(kept).stat() == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_someone_else_in_a_folder_of_the_user_is_not_loaded(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(only_file(kept), 12345, 12345)
    assert not loads(kept, monkeypatch)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: bytes(len(whole)),
        lambda whole: whole[:5_000] + bytes([whole[5_000] ^ 1]) + whole[5_001:],
        lambda whole: whole + b"more",
    ],
    ids=["nothing", "half", "zeros", "a bit", "more"],
)
def test_a_damaged_parser_is_made_again(kept: Path, damage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = only_file(kept)
    file.write_bytes(damage(file.read_bytes()))
    assert not loads(kept, monkeypatch)
    assert loads(kept, monkeypatch)


@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x05}."], ids=["nothing", "no pickle", "no parser"])
def test_a_whole_file_that_holds_no_parser_of_this_lark_is_replaced(
    kept: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_file(kept).write_bytes(sha256(content).digest() + content)
    assert not loads(kept, monkeypatch)
    assert loads(kept, monkeypatch)


@pytest.mark.parametrize("what", ["the version of lark", "the version of Python", "the language"])
def test_another_version_makes_a_parser_of_its_own(kept: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "the version of lark":
        monkeypatch.setattr("lark.__version__", "9.9")
    elif what == "the version of Python":
        monkeypatch.setattr(sys, "version", "9.9")
    else:
        monkeypatch.setattr(lark_parser, "LANGUAGE", LANGUAGE + "\n// another")
    assert not loads(kept, monkeypatch)
    assert len(list(kept.iterdir())) == 2


def test_where_no_folder_can_be_made_statements_are_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path / "file" / "kept", Path("~") / "relative"):
        assert not loads(folder, monkeypatch)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_parser_that_cannot_be_saved_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not loads(tmp_path, monkeypatch)
    assert not list(tmp_path.iterdir())


def test_processes_at_once_keep_one_parser_and_nothing_in_the_folder_of_temporary_files(
    tmp_path: Path,
) -> None:
    temporary, cache_folder = tmp_path / "temporary", tmp_path / "cache"
    temporary.mkdir()
    program = f"from evalhouse.grammar.parser import parse; print(parse({STATEMENT!r}))"
    environment = {**os.environ, "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(cache_folder)}
    environment |= {"LOCALAPPDATA": str(cache_folder), "HOME": str(tmp_path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", program], cwd=TESTS.parent, env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    printed = [process.communicate()[0].decode().strip() for process in processes]
    assert printed == [str(parse(STATEMENT))] * 3
    assert not list(temporary.iterdir())
    kept = list(tmp_path.rglob("*.pickle"))
    assert len(kept) == 1
    assert list(kept[0].parent.iterdir()) == kept


def test_without_a_cache_folder_nothing_is_written_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()
    program = f"from evalhouse.grammar.parser import parse; print(parse({STATEMENT!r}))"
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "HOME": str(tmp_path / "file")}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "file"), "LOCALAPPDATA": str(tmp_path / "file")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(parse(STATEMENT))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "temporary"]
