"""What pages refuse: requests from other sites, other methods, and anything that is not only a question. What takes too
long is stopped.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import MutableMapping
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import cli
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.web.conftest import Visit

LONG = "compare F for all on TST3 shuffles 90000000"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8992", "localhost", "LOCALHOST:1", "[::1]:80", "10.0.0.7"])
def test_addresses_and_names_of_ours_are_answered(host: str, visit: Visit) -> None:
    assert visit().get("/assets/evalhouse.js", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8992", "", "[::1"])
def test_a_name_that_is_not_ours_is_refused(host: str, visit: Visit) -> None:
    """As a site has it that makes its own name mean this machine."""
    response = visit().get("/", headers={"host": host})
    assert response.status_code == 421
    assert "TST3" not in response.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_get_and_head_is_answered(method: str, visit: Visit) -> None:
    response = visit().request(method, "/")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")


def test_head_computes_nothing(visit: Visit) -> None:
    response = visit().head("/?" + urlencode({"q": LONG}))
    assert (response.status_code, response.text) == (200, "")
    assert response.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/?q=show+systems", 200), ("/nowhere", 404), ("/system/%ff", 404), ("/system/NOBODY", 404),
     ("/?q=%ff", 400),
     ("/test-set/TST9", 404), ("/test-set/TST3/pair/GE/NOBODY", 404), ("/assets/x", 404), ("/assets/evalhouse.js", 200),
     ("/answer?q=show+systems&format=csv", 200), ("/answer?q=show+systems&format=x", 404), ("/answer?q=shwo", 400),
     ("/answer?q=show+systems;+show+imports", 400), ("/answer?q=forget+import+1", 400), ("/complete?text=", 200)],
)  # fmt: skip
def test_head_says_what_get_says(path: str, status: int, visit: Visit) -> None:
    said, whole = visit().head(path), visit().get(path)
    assert said.status_code == whole.status_code == status
    for name in ("content-type", "content-disposition", "cache-control"):
        assert said.headers.get(name) == whole.headers.get(name)


def asked_by(site: str, mode: str, destination: str) -> dict[str, str]:
    """What a browser says of a request."""
    return {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("mode", "destination"),
    [("no-cors", "image"), ("no-cors", "script"), ("no-cors", "empty"), ("cors", "empty"),
     ("navigate", "iframe"), ("navigate", "embed"), ("navigate", "object"), ("navigate", "empty")],
)  # fmt: skip
def test_other_sites_have_nothing_computed(site: str, mode: str, destination: str, visit: Visit) -> None:
    for path in ("/", "/?" + urlencode({"q": LONG}), "/answer?q=x", "/complete?text=", "/assets/evalhouse.js"):
        assert visit().get(path, headers=asked_by(site, mode, destination)).status_code == 403


def test_other_sites_may_lead_to_pages(visit: Visit) -> None:
    followed = asked_by("cross-site", "navigate", "document")
    assert visit().get("/nowhere", headers=followed).status_code == 404
    assert visit().get("/answer?q=show+systems", headers=followed).status_code == 403
    assert visit().get("/complete?text=", headers=followed).status_code == 403


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_what_pages_of_ours_ask_for_is_answered(site: str, visit: Visit) -> None:
    assert visit().get("/answer?q=show+systems", headers=asked_by(site, "navigate", "document")).status_code == 200
    assert visit().get("/complete?text=", headers=asked_by(site, "cors", "empty")).status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/nowhere", "/assets/evalhouse.css", "/assets/x", "/answer?q=x", "/complete?text="]
)
def test_everything_is_sent_with_its_policy_and_without_cookies(path: str, visit: Visit) -> None:
    headers = visit().get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "set-cookie" not in headers


REFUSED = {
    'load "x.csv" as scores': "load is not a question",
    "load x.csv": "load is not a question",
    "forget import 1": "forget import is not a question",
    "define measure twice = correct * 2": "define measure is not a question",
    'export score F for all on TST3 to "x.csv"': "export is not a question",
    'plot score F for all on TST3 to "x.svg"': "plot … to writes a file",
    'sql "select 1"': "sql is not allowed here",
    "show systems; forget import 1": "forget import is not a question",
    "let $x = GE; forget import 1": "forget import is not a question",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_pages_only_ask(statement: str, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    client = visit()
    page = client.get("/?" + urlencode({"q": statement}))
    assert REFUSED[statement] in unescape(page.text)
    assert "<table>" not in page.text
    file = client.get("/answer?" + urlencode({"q": statement, "format": "csv"}))
    assert file.status_code == 400
    assert list(tmp_path.iterdir()) == []


def test_a_subset_of_a_form_cannot_bring_another_statement_along(visit: Visit) -> None:
    where = 'document like "%" interval; forget import 1; score F for all on TST3'
    page = visit().get("/test-set/TST3?" + urlencode({"where": where, "measure": "F"}))
    assert "forget import is not a question" in unescape(page.text)
    two = visit().get("/answer?" + urlencode({"q": "show systems; show imports"}))
    assert (two.status_code, "expected one question, but there are 2" in two.text) == (400, True)


def test_a_variable_is_of_one_page_alone(visit: Visit) -> None:
    client = visit()
    first = client.get("/?" + urlencode({"q": "let $x = GE; score F for $x on TST3"}))
    assert 'href="/system/GE"' in first.text
    other = client.get("/?" + urlencode({"q": "let $x = SRI; score F for $x on TST3"}))
    assert 'href="/system/SRI"' in other.text
    assert "unknown variable" in client.get("/?" + urlencode({"q": "score F for $x on TST3"})).text


def test_sql_is_answered_where_it_is_allowed_and_opens_nothing(visit: Visit, warehouses: dict[str, Path]) -> None:
    client = visit(warehouses["sample"], sql=True)
    query = {"q": 'sql "select count(*) as systems from system"', "format": "csv"}
    assert client.get("/answer?" + urlencode(query)).text == "systems\n22\n"
    query["q"] = "sql \"select * from read_text('/etc/passwd')\""
    refused = client.get("/answer?" + urlencode(query))
    assert (refused.status_code, "root:" in refused.text) == (400, False)
    query["q"] = 'sql "create table x as select 1"'
    assert client.get("/answer?" + urlencode(query)).status_code == 400


def test_a_warehouse_that_was_loaded_into_is_seen_by_the_next_page(
    visit: Visit, warehouses: dict[str, Path], tmp_path: Path
) -> None:
    path = Path(shutil.copy(warehouses["empty"], tmp_path / "w.duckdb"))
    client = visit(path)
    assert "no test sets yet" in client.get("/").text
    header = "test_set system document measure value"
    rows = write_csv(tmp_path / "a.csv", header, [("T", system, f"d{k}", "m", k) for system in "AB" for k in range(4)])
    assert cli.main(["load", str(rows), "--as", "values", "--db", str(path)]) == 0
    assert 'href="/test-set/T"' in client.get("/").text
    assert client.get("/system/A").status_code == 200


def test_what_is_said_of_a_moment_is_not_kept(visit: Visit, warehouses: dict[str, Path], tmp_path: Path) -> None:
    path = Path(shutil.copy(warehouses["empty"], tmp_path / "gone.duckdb"))
    client, page, file = visit(path), "/?q=show+systems", "/answer?q=show+systems&format=markdown"
    before = [client.get("/").text]
    aside = path.rename(tmp_path / "aside.duckdb")
    gone = [client.get(address).text for address in ("/", page, file)]
    aside.rename(path)
    after = [client.get(address).text for address in ("/", page, file)]
    assert [text.count("gone.duckdb is not there any more") for text in (*gone, *after)] == [1, 1, 1, 0, 0, 0]
    assert after[:1] == before


@pytest.mark.long
def test_what_takes_too_long_is_stopped_and_the_next_question_is_answered(visit: Visit) -> None:
    client = visit(None, 1.0)
    page = client.get("/?" + urlencode({"q": LONG}))
    assert "stopped after 1 seconds" in page.text
    assert page.text.rstrip().endswith("</html>")
    assert 'class="step"' in page.text
    file = client.get("/answer?" + urlencode({"q": LONG}))
    assert (file.status_code, "stopped after 1 seconds" in file.text) == (504, True)
    assert client.get("/").status_code == 200


class Reader:
    """Who asks for a page and leaves after a while."""

    def __init__(self, after: float) -> None:
        self.after = after
        self.sent: list[MutableMapping[str, Any]] = []
        self._asked = False

    async def receive(self) -> MutableMapping[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.sleep(self.after)
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.sent.append(message)


def scope(path: str, query: str) -> MutableMapping[str, Any]:
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", b"127.0.0.1")], "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 9),
    }  # fmt: skip


@pytest.mark.long
def test_a_question_ends_when_its_reader_leaves() -> None:
    from evalhouse.warehouse.web.server import Pages, application

    pages = Pages(Session.open, "", 600)
    app = application(pages, ())
    reader = Reader(1.5)

    async def visited() -> int:
        asking: asyncio.Task[None] = asyncio.create_task(
            app(scope("/", urlencode({"q": LONG})), reader.receive, reader.send)  # type: ignore[arg-type]
        )
        while not reader.sent:
            await asyncio.sleep(0.01)
        running = pages.desk.running
        await asking
        return running

    assert asyncio.run(visited()) == 1
    assert pages.desk.running == 0
    assert reader.sent[0]["status"] == 200
    assert any(b'class="step"' in message.get("body", b"") for message in reader.sent)
    assert not any(b"</html>" in message.get("body", b"") for message in reader.sent)
    pages.close()


@pytest.mark.long
def test_no_more_questions_wait_than_may() -> None:
    from evalhouse.warehouse.web import inquiry
    from evalhouse.warehouse.web.server import Pages, application

    pages = Pages(Session.open, "", 60)
    app = application(pages, ())
    many = inquiry.AT_ONCE + inquiry.MOST_WAITING + 3

    async def all_ask() -> list[Reader]:
        readers = [Reader(2.0) for _ in range(many)]
        await asyncio.gather(
            *(app(scope("/", urlencode({"q": LONG})), reader.receive, reader.send) for reader in readers)
        )
        return readers

    readers = asyncio.run(all_ask())
    refused = [reader for reader in readers if reader.sent and reader.sent[0].get("status") == 503]
    assert len(refused) == 3
    assert all(b"too many questions" in reader.sent[-1]["body"] for reader in refused)
    pages.close()


def test_what_may_be_typed_next_and_what_is_wrong_are_said(visit: Visit) -> None:
    offered = visit().get("/complete?" + urlencode({"text": "compare F for GE, UM"})).json()
    assert offered["start"] == len("compare F for GE, ")
    assert [text for text, _ in offered["offers"]] == ["UMASS", "UMICH"]
    wrong = visit().get("/complete?" + urlencode({"text": "compare F for GE, UMAS on TST3 "})).json()
    assert "did you mean UMASS?" in wrong["wrong"]
