"""A warehouse as the files of a site: every link leads to one of them, none leads elsewhere, the same warehouse gives
the same files, and files of others in the folder stay.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

import cli
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Column, Result, Table, TableSection
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.web.addresses import LONGEST, FileNames
from evalhouse.warehouse.web.inquiry import AnswerCache, Inquiry
from evalhouse.warehouse.web.publication import MANIFEST, Publication, SiteOptions, site_folder
from tests.conftest import write_csv
from tests.empty import create
from tests.test_hostile_names import LOADED

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def warehouse_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems, two of them called alike but for a capital, on four questions."""
    folder = tmp_path_factory.mktemp("small")
    rows = [
        ("qa", system, f"q {k}", measure, int((k * place) % 3 < 2))
        for place, system in enumerate(("base", "Base", "new"))
        for k in range(4)
        for measure in ("accuracy", "recall@5")
    ]
    write_csv(folder / "qa.csv", "test_set system document measure value", rows)
    assert cli.main(["init", str(folder / "small.duckdb")]) == 0
    assert cli.main(["load", str(folder / "qa.csv"), "--as", "values", "--db", str(folder / "small.duckdb")]) == 0
    return folder / "small.duckdb"


def publish(site: Path, warehouse_file: Path, *words: str) -> int:
    return cli.main(["publish", str(site), "--db", str(warehouse_file), *words])


@pytest.fixture(scope="module")
def site(warehouse_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("published") / "site"
    assert publish(site, warehouse_file) == 0
    return site


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def links(page: Path) -> Iterator[str]:
    for href in re.findall(r'(?:href|src)="([^"]*)"', page.read_text(encoding="utf-8")):
        yield html.unescape(href)


def lost(site: Path) -> list[tuple[str, str]]:
    """The links of a site that lead to no file of it."""
    root = site.resolve()
    return [
        (page.relative_to(site).as_posix(), href)
        for page in site.rglob("*.html")
        for href in links(page)
        if not href.startswith("#")
        and not (
            (target := (page.parent / unquote(href.partition("#")[0])).resolve()).is_file()
            and target.is_relative_to(root)
        )
    ]


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_there_is_a_page_of_everything(site: Path) -> None:
    pages = sorted(file.relative_to(site).as_posix() for file in site.rglob("*.html"))
    assert [page for page in pages if "/documents/" not in page] == [
        "imports.html",
        "index.html",
        "systems/Base-7b47361a.html",
        "systems/base.html",
        "systems/new.html",
        "test-sets/qa/index.html",
        "test-sets/qa/pairs/Base/base.html",
        "test-sets/qa/pairs/new/base.html",
    ]
    assert sum("/documents/" in page for page in pages) == 4
    assert {"assets/evalhouse.css", "assets/evalhouse.js", ".nojekyll", MANIFEST} <= contents(site).keys()


@pytest.mark.long
def test_every_link_leads_to_a_file_of_the_site(site: Path) -> None:
    assert lost(site) == []


def test_nothing_leads_elsewhere_and_nothing_is_asked(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'(src|href|action)="(https?:)?//', text)
        assert "<form" not in text
        assert "Content-Security-Policy" in text


def test_answers_are_there_as_files(site: Path) -> None:
    (leaderboard,) = site.glob("test-sets/qa/index.html")
    files = [(leaderboard.parent / href).resolve() for href in links(leaderboard) if "/answers/" in href]
    assert {file.suffix for file in files} == {".csv", ".tex"}
    values = next(file.read_text() for file in files if file.suffix == ".csv" and "ci_low" in file.read_text())
    assert values.startswith("test_set,task,system,documents,accuracy")


def test_the_same_warehouse_gives_the_same_files(site: Path, warehouse_file: Path, tmp_path: Path) -> None:
    assert publish(tmp_path / "again", warehouse_file) == 0
    assert contents(tmp_path / "again") == contents(site)


def test_the_manifest_names_the_files(site: Path) -> None:
    assert (site / MANIFEST).read_text(encoding="utf-8").splitlines() == sorted(contents(site))


def test_the_share_that_is_made_grows_from_nothing_to_all(warehouse_file: Path) -> None:
    with Session.open(warehouse_file) as session:
        publication = Publication(session, SiteOptions())
        shares = [publication.share for _ in publication.files()]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert publication.share == 1


def test_measures_are_those_that_were_named(warehouse_file: Path, tmp_path: Path) -> None:
    assert publish(tmp_path / "site", warehouse_file, "--measures", "recall@5") == 0
    for page in (tmp_path / "site").rglob("*.html"):
        assert "accuracy" not in page.read_text(encoding="utf-8")
    assert "recall@5" in (tmp_path / "site" / "test-sets" / "qa" / "index.html").read_text(encoding="utf-8")


def test_measures_are_written_as_in_statements(warehouses: dict[str, Path], tmp_path: Path) -> None:
    """Synonyms, words around a measure, and parameters with commas between them."""
    named = "macro(F1), F(beta=2, partial=0),P"
    assert publish(tmp_path / "site", warehouses["classes"], "--measures", named) == 0
    page = (tmp_path / "site" / "test-sets" / "mood" / "index.html").read_text(encoding="utf-8")
    assert all(label in page for label in ("macro(F1)", "F(beta=2, partial=0)", ">P<", "86.77"))


SAMPLE = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "target": "the secret key"}


@pytest.mark.long
def test_texts_are_left_out_where_that_is_wanted(tmp_path: Path) -> None:
    path, site = tmp_path / "w.duckdb", tmp_path / "site"
    assert cli.main(["init", str(path)]) == 0
    for system, right in (("new", 1.0), ("old", 0.0)):
        said = {
            "arguments": {"gen_args_0": {"arg_0": f"a secret question\n{'long ' * 99}", "arg_1": {}}},
            "resps": [["a secret answer"]],
        }
        lines = [json.dumps({**SAMPLE, **said, "doc_id": number, "acc": right}) for number in range(3)]
        (tmp_path / f"{system}.jsonl").write_text("\n".join(lines))
        words = ["--as", "lm-eval", "--texts", "--set", "test_set=qa", "--set", f"system={system}", "--db", str(path)]
        assert cli.main(["load", str(tmp_path / f"{system}.jsonl"), *words]) == 0
    assert publish(site, path) == 0
    document = site / "test-sets" / "qa" / "documents" / "0.html"
    shown = document.read_text(encoding="utf-8")
    assert all(f"secret {word}" in shown for word in ("question", "answer", "key"))
    assert "long " * 90 in shown
    (pair,) = site.glob("test-sets/qa/pairs/*/*.html")
    assert "a secret question long long long long l…" in pair.read_text(encoding="utf-8")
    assert "long " * 90 not in pair.read_text(encoding="utf-8")
    assert publish(site, path, "--without-texts") == 0
    assert document.is_file()
    assert [name for name, content in contents(site).items() if b"secret" in content] == []


def test_no_answer_has_texts_where_they_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (Column("document", "name"), Column("input", "passage"), Column("share", "proportion"))
    rows = (("d1", "secret", 0.5), ("d2", None, 0.5))
    result = Result("s", "c", "", Table(columns, rows), sections=(TableSection("", rows[:1]),))
    with Session.open() as session:
        monkeypatch.setattr(session, "answer", lambda statement: result)
        without = Inquiry(session, AnswerCache(), with_texts=False).one("score F for GE on TST3")
        assert Inquiry(session, AnswerCache()).one("score F for GE on TST3") is result
    assert without.rows == [{"document": "d1", "share": 0.5}, {"document": "d2", "share": 0.5}]
    assert without.sections[0].rows == (("d1", 0.5),)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--measures", "acuracy"), "error: no test set has the measure acuracy\n  did you mean accuracy?\n"),
        (("--measures", "F("), "error: "),
        (("--measures", "accuracy for all; forget import 1"), "error: "),
        (("--base-url", "me.github.io"), "error: me.github.io is not an address of a site\n"),
        (("--base-url", "javascript:alert(1)"), "error: javascript:alert(1) is not an address of a site\n"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    words: tuple[str, ...], said: str, warehouse_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(tmp_path / "site", warehouse_file, *words) == 1
    assert capsys.readouterr().err.startswith(said)
    assert list(tmp_path.iterdir()) == []


def test_pages_know_the_address_that_they_will_have(warehouse_file: Path, tmp_path: Path) -> None:
    assert publish(tmp_path / "site", warehouse_file, "--base-url", "https://me.example/muc") == 0
    site = tmp_path / "site"
    page = (site / "test-sets" / "qa" / "index.html").read_text(encoding="utf-8")
    assert '<link rel="canonical" href="https://me.example/muc/test-sets/qa/">' in page
    mapped = re.findall("<loc>(.*)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert mapped[0] == "https://me.example/muc/"
    assert "https://me.example/muc/systems/new.html" in mapped
    assert len(mapped) == len(list(site.rglob("*.html")))


# --- where it is put --------------------------------------------------------------------------------------------------


def put(path: Path, *, force: bool = False, **files: str) -> None:
    """Writes a site of some files."""
    with site_folder(path, force=force) as folder:
        for name, text in files.items():
            folder.write(name.replace("__", "/"), text.encode())


def texts(path: Path) -> dict[str, str]:
    return {name: content.decode() for name, content in contents(path).items() if name != MANIFEST}


def test_a_site_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    put(tmp_path / "site", a="1", b__c="1")
    put(tmp_path / "site", a="2", d="2")
    assert texts(tmp_path / "site") == {"a": "2", "d": "2"}
    assert [file.name for file in tmp_path.iterdir()] == ["site"]


def test_what_others_have_put_there_stays(tmp_path: Path) -> None:
    put(tmp_path / "site", a="1")
    (tmp_path / "site" / "CNAME").write_text("me.example")
    (tmp_path / "site" / ".git").mkdir()
    (tmp_path / "site" / ".git" / "HEAD").write_text("ref")
    (tmp_path / "site" / "elsewhere").symlink_to("/nowhere")
    put(tmp_path / "site", b="2")
    assert texts(tmp_path / "site") == {"b": "2", "CNAME": "me.example", ".git/HEAD": "ref"}
    assert os.readlink(tmp_path / "site" / "elsewhere") == "/nowhere"


def test_a_file_of_others_is_written_over_only_with_force(tmp_path: Path) -> None:
    put(tmp_path / "site", a="1")
    (tmp_path / "site" / "b").write_text("mine")
    with pytest.raises(DataError, match="b: does not belong to this site, and would be overwritten"):
        put(tmp_path / "site", a="2", b="2")
    assert texts(tmp_path / "site") == {"a": "1", "b": "mine"}
    put(tmp_path / "site", a="2", b="2", force=True)
    assert texts(tmp_path / "site") == {"a": "2", "b": "2"}


def test_a_folder_that_is_not_a_site_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "thesis.tex").write_text("mine")
    with pytest.raises(DataError, match="holds files that do not belong to a site"):
        put(tmp_path / "site", a="1")
    assert texts(tmp_path / "site") == {"thesis.tex": "mine"}
    put(tmp_path / "site", a="1", force=True)
    assert texts(tmp_path / "site") == {"thesis.tex": "mine", "a": "1"}


def test_an_empty_folder_and_a_link_to_one_are_taken(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    put(tmp_path / "link", a="1")
    assert (tmp_path / "link").is_symlink()
    assert texts(tmp_path / "real") == {"a": "1"}


def test_a_file_and_the_folder_one_is_in_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="is a file, but a site is a folder"):
        put(tmp_path / "file", a="1", force=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="is the current folder"):
        put(Path("."), a="1", force=True)
    with pytest.raises(DataError, match="is the current folder"):
        put(tmp_path.parent, a="1", force=True)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_is_not_finished_is_not_there(
    error: type[BaseException], warehouse_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "site", a="1")
    drawn = Publication._page

    def failing(self: Publication, file: str, address: object) -> str:
        if file.startswith("systems/"):
            raise error
        return drawn(self, file, address)  # type: ignore[arg-type]

    monkeypatch.setattr(Publication, "_page", failing)
    publish(tmp_path / "site", warehouse_file)
    assert texts(tmp_path / "site") == {"a": "1"}
    assert [file.name for file in tmp_path.iterdir()] == ["site"]


@pytest.mark.crash
@pytest.mark.parametrize("after", [0.4, 0.8, 1.6])
def test_ctrl_c_leaves_nothing_half_done(after: float, tmp_path: Path) -> None:
    """The sample data take some seconds to publish."""
    import signal
    import time

    with subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), "publish", "site"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


# --- names ------------------------------------------------------------------------------------------------------------


def test_names_of_files_are_plain_and_apart_where_capitals_are_not() -> None:
    names = FileNames()
    given = {name: names.of("systems", name) for name in dict.fromkeys((*LOADED, "x" * 200, "X" * 200, "", "con.txt"))}
    assert len({written.casefold() for written in given.values()}) == len(given)
    for name, written in given.items():
        assert re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", written), name
        assert len(written) <= LONGEST
        assert not re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", written)
    assert {name: given[name] for name in ("GE", "fi", "a.b", "true")} == {
        "GE": "GE",
        "fi": "fi",
        "a.b": "a.b",
        "true": "true",
    }
    assert given["ge"].startswith("ge-")


def test_a_name_has_the_same_file_whoever_else_there_is() -> None:
    """But for names that differ in capitals alone, of which the first keeps its own."""
    alone = {name: FileNames().of("systems", name) for name in LOADED}
    names = FileNames()
    together = {name: names.of("systems", name) for name in LOADED}
    changed = {name for name in LOADED if alone[name] != together[name]}
    assert {name.casefold() for name in changed} <= {name.casefold() for name in LOADED if name not in changed}


@pytest.mark.long
def test_hostile_names_become_pages_with_links_that_lead_to_them(tmp_path: Path) -> None:
    # An apostrophe before a formula is no part of a name in a table of text.
    names = [name for name in dict.fromkeys(LOADED) if name == unicodedata.normalize("NFC", name.strip("' "))]
    names = list(dict.fromkeys((*names[::4], "ge", "GE")))
    rows = [("of documents", system, name, 4, 4, k, 0) for name in names for k, system in enumerate(names[:2])]
    # Few on each test set, since each pair of its systems has a page.
    rows += [(f"of systems {k // 4}", name, "d", 4, 4, k % 5, 0) for k, name in enumerate(names)]
    rows += [(name, system, "d", 4, 4, k, 0) for name in names[:5] for k, system in enumerate(names[:2])]
    header = "test_set system document possible actual correct partial"
    path = tmp_path / "<img src=x onerror=alert(1)>.duckdb"
    with create(path) as database:
        load(database, write_csv(tmp_path / "h.csv", header, rows), "scores")
    site = tmp_path / "site"
    assert publish(site, path) == 0
    assert lost(site) == []
    assert len(list((site / "systems").iterdir())) == len(names)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script>" not in text
        assert "<img" not in text
    assert not (tmp_path / "x").exists()
