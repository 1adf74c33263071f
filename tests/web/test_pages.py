"""The content of the pages: the answers to their statements, with working links."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create
from tests.web.conftest import Visit


class Page(HTMLParser):
    """A page as it is read: texts, links, tables, statements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.links: dict[str, str] = {}
        self.rows: list[list[str]] = []
        self.fields: dict[str, list[str]] = {}
        self._href: str | None = None
        self._cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        if tag == "a":
            self._href = found.get("href")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True
        if tag in ("input", "select", "textarea"):
            self.fields.setdefault(found.get("name") or "", []).append(found.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._href = None
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._href is not None:
            self.links[data] = self._href
        if self._cell:
            self.rows[-1][-1] += data

    @property
    def statements(self) -> list[str]:
        found = re.findall(r'<summary><code class="query">(.*?)</code></summary>', self.html, re.DOTALL)
        return [unescape(re.sub("<[^>]*>", "", statement)) for statement in found]


def read(visit: Visit, path: str, warehouse: Path | None = None) -> Page:
    response = visit(warehouse).get(path)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return Page(response.text)


def test_the_warehouse_lists_test_sets_systems_and_imports(visit: Visit) -> None:
    page = read(visit, "/")
    averages = "table F of extraction for all on TST3, TST4 over test sets"
    assert page.statements[0] == averages
    assert page.statements[-2:] == ["show test sets", "show systems"]
    assert page.links["TST3"] == "/test-set/TST3"
    assert page.links["GE-CMU"] == "/system/GE-CMU"
    assert ["MUC-4", "TST3", "100 messages", "18"] in page.rows
    assert "simulated" in page.html
    imports = read(visit, page.links["Where the numbers come from"])
    assert imports.statements == ["show imports"]
    assert any(row[1:4] == ["sample_data/simulated/scores.csv", "scores", "3,400"] for row in imports.rows)


def test_the_results_lead_to_leaderboards_systems_and_pairs(visit: Visit) -> None:
    page = read(visit, "/")
    assert page.links["TST3 (100 messages)"] == "/test-set/TST3?of=extraction"
    found = dict(re.findall(r'<tr><th scope="row"><a href="/system/(\w+)">.*?</th>.*?<a href="([^"]*)">', page.html))
    assert found["UMASS"] == "/test-set/TST3/pair/UMASS/GE?of=extraction"
    # The best system is held against the second.
    assert found["GE"] == "/test-set/TST3/pair/GE-CMU/GE?of=extraction"
    for path in found.values():
        assert "verdict" in read(visit, path).html


def test_questions_to_begin_with_are_answered(visit: Visit) -> None:
    page = read(visit, "/")
    questions = [label for label, href in page.links.items() if href.startswith("/?q=") and label[:5] != "Ask i"]
    assert len(questions) == 3
    for question in questions:
        answered = read(visit, page.links[question])
        assert answered.statements == [question]
        assert "Not answered" not in answered.html


@pytest.mark.parametrize(
    ("asked", "said"),
    [("help", "documents"), ("help compare", "difference"), ("? holm", "Holm"), ("help nothing", "no help on nothing")],
)
def test_help_is_answered_in_the_box(visit: Visit, asked: str, said: str) -> None:
    assert said in read(visit, f"/?{urlencode({'q': asked})}").html


@pytest.mark.long
def test_a_leaderboard_is_made_of_its_statements(visit: Visit) -> None:
    page = read(visit, "/test-set/TST3")
    assert page.statements == [
        "score F of extraction for all on TST3 interval studentized",
        "score recall, precision of extraction for all on TST3",
        "rank F of extraction for all on TST3 shuffles 4999",
        "group F of extraction for all on TST3 shuffles 4999 adjust maxt",
        "score F of extraction for all on TST3, TST4 over test sets",
    ]
    with Session.open() as session:
        values, others, ranks, groups, averages = (session.run(statement).rows for statement in page.statements)
    of = {row["system"]: row for row in values}
    of_others = {row["system"]: row for row in others}
    letters = {row["system"]: str(row["letters"]) for row in groups}
    of_all = {row["system"]: row["F(beta=1)"] for row in averages}
    head, *rows = page.rows
    measured = ["F(beta=1)", "95% CI", "groups", "recall", "precision", "average"]
    assert head == ["ranks", "system", *measured, "against GE", "compare"]
    assert [row[1] for row in rows] == [row["system"] for row in ranks]
    for row, ranked in zip(rows, ranks, strict=True):
        value = of[row[1]]
        limits = [f"{100 * float(str(value[f'ci_{end}(F(beta=1))'])):.2f}" for end in ("low", "high")]
        assert row[0] == f"{ranked['rank_low']}–{ranked['rank_high']}"
        assert row[2] == f"{100 * float(str(value['F(beta=1)'])):.2f}"
        assert row[3].strip() == " – ".join(limits)
        assert row[4].split() == letters[row[1]].split()
        assert row[5] == f"{100 * float(str(of_others[row[1]]['recall'])):.2f}"
        assert row[7] == f"{100 * float(str(of_all[row[1]])):.2f}"
    assert page.links["compare"].startswith("/test-set/TST3/pair/SYNCH/GE")


@pytest.mark.long
def test_a_leaderboard_says_what_its_shuffles_leave_open(visit: Visit) -> None:
    page = read(visit, "/test-set/TST4")
    with Session.open() as session:
        notes = [note for statement in page.statements for note in session.run(statement).folded_notes]
    assert any("undecided" in note for note in notes)
    assert [note for note in notes if note not in unescape(page.html)] == []


def test_the_form_of_a_leaderboard_writes_the_statements(visit: Visit) -> None:
    chosen = [("of", "extraction"), ("measure", "recall"), ("measure", "F(beta=2)"), ("against", "UMASS"),
              ("adjust", "holm"), ("shuffles", "999"), ("where", 'document like "SIM3-0%"')]  # fmt: skip
    page = read(visit, f"/test-set/TST3?{urlencode(chosen)}")
    subset = 'where document like "SIM3-0%"'
    assert page.statements == [
        f"score recall of extraction for all on TST3 {subset} interval studentized",
        f"score F(beta=2) of extraction for all on TST3 {subset}",
        f"rank recall of extraction for all on TST3 {subset} shuffles 999 adjust holm",
        f"group recall of extraction for all on TST3 {subset} shuffles 999 adjust holm",
        f"compare recall of extraction for all against UMASS on TST3 {subset} shuffles 999 adjust holm",
    ]
    assert page.fields["where"] == ['document like "SIM3-0%"']
    assert "recall" in page.rows[0]


def test_a_subset_that_is_wrong_is_told_with_its_place(visit: Visit) -> None:
    page = read(visit, f"/test-set/TST3?{urlencode({'where': 'document.sauce = radio'})}")
    assert "unknown attribute" in page.html
    assert "^^^^" in page.html


@pytest.mark.parametrize("of", ["filtering", "published"])
def test_other_kinds_of_rows_have_leaderboards_too(of: str, visit: Visit) -> None:
    page = read(visit, f"/test-set/TST3?of={of}")
    assert all(f" of {of} " in statement for statement in page.statements)
    assert len(page.rows) > 10


def test_a_pair_says_what_the_test_found(visit: Visit) -> None:
    page = read(visit, "/test-set/TST3/pair/GE/UMASS")
    assert (
        "F(beta=1) of GE on TST3 is 56.01, of UMASS 51.61: a difference of +4.39 points, 95% interval -0.73 to +9.51. "
        "It is not significant at 0.05 (p = 0.0996)." in page.html
    )
    assert page.statements[0] == "plot compare F of extraction for GE, UMASS on TST3"
    documents = _documents(page)
    assert len(documents) == 25
    with Session.open() as session:
        behind = session.run("documents F for GE, UMASS on TST3").rows
    assert [row[0] for row in documents] == [row["document"] for row in behind[:25]]
    assert [row[4] for row in documents] == [f"{100 * float(str(row['share'])):.2f}" for row in behind[:25]]
    for_one = read(visit, page.links["for UMASS"])
    assert for_one.statements[-1] == "documents F of extraction for GE, UMASS on TST3 only UMASS"
    assert len({row[0] for row in _documents(for_one)} & {row[0] for row in documents if float(row[4]) > 0}) == 0
    following = read(visit, page.links["Next →"])
    assert (
        len({row[0] for row in following.rows if row and row[0].startswith("SIM3-")} - {row[0] for row in documents})
        == 25
    )
    assert page.links[documents[0][0]] == f"/test-set/TST3/document/{documents[0][0]}?beside=GE&beside=UMASS"


def test_every_number_of_a_pair_says_how_it_was_tested_and_on_what_data(visit: Visit) -> None:
    page = read(visit, "/test-set/TST3/pair/GE/UMASS")
    assert '<p class="verdict plain">On simulated data F(beta=1) of GE on TST3 is' in page.html
    captions = re.findall(r'<p class="caption".*?>(.*?)</p>', page.html)
    assert len(captions) == len(page.statements) == 3
    assert all(caption.endswith("simulated data)") for caption in captions)
    assert "randomization test, exact, 100 messages exchanged" in captions[0]
    assert "3 comparisons, not adjusted" in captions[1]


def test_real_data_are_not_called_simulated(visit: Visit, warehouses: dict[str, Path]) -> None:
    page = read(visit, "/test-set/faq/pair/base/tuned?measure=helpful&missing=drop", warehouses["imported"])
    assert '<p class="verdict' in page.html
    assert "simulated" not in page.html


def test_a_difference_is_split_by_the_attributes_of_documents(visit: Visit, warehouses: dict[str, Path]) -> None:
    path, imported = "/test-set/faq/pair/base/tuned?measure=helpful", warehouses["imported"]
    assert "missing drop" in unescape(read(visit, path, imported).html)
    page = read(visit, f"{path}&missing=drop", imported)
    (statement,) = (one for one in page.statements if "differ" in one)
    assert statement == "plot differ helpful for base, tuned on faq by document.day missing drop"
    with Session.open(imported) as session:
        slices = session.run(statement.removeprefix("plot ")).rows
    shown = {row[0]: row for row in page.rows}
    assert len(slices) == 2
    for row in slices:
        name = str(row["slice"]).removeprefix("document.").replace(" = ", " ").replace('"', "")
        assert shown[name][1] == str(row["documents"])
    assert page.fields["by"] == ["document.day"]


def test_a_leaderboard_of_values_over_different_documents_has_no_best(
    visit: Visit, warehouses: dict[str, Path]
) -> None:
    path, imported = "/test-set/faq?measure=helpful", warehouses["imported"]
    page = read(visit, path, imported)
    head, *rows = page.rows[: 1 + len(SCORED_ON_FAQ)]
    assert head[:3] == ["system", "documents", "helpful"]
    assert {row[0]: row[1] for row in rows} == SCORED_ON_FAQ
    assert all(row[2].endswith("≠") for row in rows)
    page = read(visit, f"{path}&missing=zero", imported)
    head, *rows = page.rows[: 1 + len(SCORED_ON_FAQ)]
    assert head[:3] == ["ranks", "system", "helpful"]
    assert "≠" not in page.html
    (ranked,) = (one for one in page.statements if one.startswith("rank"))
    with Session.open(imported) as session:
        values = {row["system"]: f"{row['value']:.4f}" for row in session.run(ranked).rows}
    assert {row[1]: row[2] for row in rows} == values


SCORED_ON_FAQ = {"base": "12", "late": "11", "short": "8", "tuned": "11"}
"""On how many documents each system was scored."""


def _documents(page: Page) -> list[list[str]]:
    return [row for row in page.rows if row and row[0].startswith("SIM3-")]


def test_a_document_shows_what_all_systems_made_of_it(visit: Visit) -> None:
    page = read(visit, "/test-set/TST3/document/SIM3-050")
    assert page.statements[0] == (
        'score F, recall, precision of extraction for all on TST3 where document = "SIM3-050"'
    )
    assert any(row[:2] == ["GE", "93.88"] for row in page.rows)


ANSWER = "<script>alert(1)</script>\n\tfour\u202e\r\n" + "x" * 30_000


@pytest.fixture
def with_texts(tmp_path: Path) -> Path:
    """A warehouse of one sample that two systems answered, with its texts."""
    path = tmp_path / "texts.duckdb"
    with create(path) as database:
        for system, answer, right in (("new", ANSWER, 1.0), ("base", "five", 0.0)):
            prompt = {"gen_args_0": {"arg_0": "2 + 2 = ?", "arg_1": {}}}
            sample = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": right, "target": "4"}
            log = tmp_path / f"{system}.jsonl"
            log.write_text(json.dumps({**sample, "arguments": prompt, "resps": [[answer]]}))
            load(database, log, "lm-eval", fields={"test_set": "qa", "system": system}, texts=True)
    return path


def test_a_document_shows_its_texts_beside_what_they_were_worth(visit: Visit, with_texts: Path) -> None:
    page = read(visit, "/test-set/qa/document/0", with_texts)
    order = ["What was asked", "2 + 2 = ?", "What is right", "Right", "Wrong", "five"]
    assert [page.html.index(f">{text}<") for text in order] == sorted(page.html.index(f">{text}<") for text in order)
    assert re.search(r'/system/new">new</a></h3><p class="worth">✓ right, accuracy 1\.0000</p>', page.html)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\n    four\\u202e\n" in page.html
    assert f"\n… {len(ANSWER) - 20_000:,} more characters</pre>" in page.html


def test_a_system_has_all_its_test_sets(visit: Visit) -> None:
    page = read(visit, "/system/UMASS")
    assert page.statements[:2] == [
        "score F of extraction for UMASS on TST3, TST4 interval studentized",
        "score recall, precision of extraction for UMASS on TST3, TST4",
    ]
    assert ["TST3", "100", "51.61", "45.74 – 57.44", "46.91", "57.37"] in [
        [text.strip() for text in row] for row in page.rows
    ]
    assert page.links["TST2"] == "/test-set/TST2?of=published"
    one_by_one = read(visit, page.links["100"])
    assert one_by_one.statements == ["score F of filtering for UMASS on TST4 by document"]
    assert one_by_one.links["SIM4-001"] == "/test-set/TST4/document/SIM4-001"


def test_a_system_that_lacks_the_first_measure_has_a_page_with_the_others(visit: Visit, tmp_path: Path) -> None:
    rows = [("t", "lark", f"q{k}", measure, k % 2) for k in range(8) for measure in ("accuracy", "grader")]
    rows += [("t", "wren", f"q{k}", "grader", 1) for k in range(6)]
    path = write_csv(tmp_path / "v.csv", "test_set system document measure value", rows)
    with create(tmp_path / "w.duckdb") as database:
        load(database, path, "values")
    page = read(visit, "/system/wren", tmp_path / "w.duckdb")
    assert ["t", "6", "–", "", "1.0000"] in [[text.strip() for text in row] for row in page.rows]
    assert "t: no accuracy for wren" in page.html


def test_any_statement_has_a_page(visit: Visit) -> None:
    page = read(visit, "/?" + urlencode({"q": "score F for GE, UMASS on TST3; show evaluations"}))
    assert page.statements == ["score F for GE, UMASS on TST3", "show evaluations"]
    assert page.links["UMASS"] == "/system/UMASS"
    assert ["GE", "56.01"] in page.rows
    assert "score F for GE, UMASS on TST3; show evaluations</textarea>" in page.html


def test_a_mistake_is_shown_with_its_caret(visit: Visit) -> None:
    page = read(visit, "/?" + urlencode({"q": "compare F for GE, UMAS on TST3"}))
    assert unescape(page.html).count("did you mean UMASS?") == 1
    assert "                    ^^^^" in page.html


def test_answers_are_taken_along_as_files(visit: Visit) -> None:
    client = visit()
    statement = "compare F for GE, UMASS on TST3"
    page = Page(client.get("/?" + urlencode({"q": statement})).text)
    with Session.open() as session:
        result = session.run(statement)
    for called, format, media_type in (
        ("CSV", "csv", "text/csv; charset=utf-8"),
        ("LaTeX", "latex", "application/x-tex"),
        ("JSON", "json", "application/json"),
        ("Markdown", "markdown", "text/markdown; charset=utf-8"),
    ):
        response = client.get(page.links[called])
        assert response.status_code == 200
        assert response.headers["content-type"] == media_type
        assert response.text == render(result, format, Style())
        assert response.headers["content-disposition"].startswith("attachment")
    assert "evalhouse query &#x27;compare F for GE, UMASS on TST3&#x27;" in page.html
    assert "evalhouse.open().run(&#x27;compare F for GE, UMASS on TST3&#x27;)" in page.html


def test_a_statement_is_copied_as_it_is_and_shown_as_what_can_be_seen(visit: Visit) -> None:
    statement = 'score F for GE on TST3 where document != "a\u202e<b>"'
    page = read(visit, "/?" + urlencode({"q": statement}))
    (shown, *others) = re.findall(r'<pre id="result-1-\d"(.*?)><code>(.*?)</code></pre>', page.html)
    exact = re.fullmatch(r' data-exact="(.*)"', shown[0])
    assert exact
    assert json.loads(unescape(exact[1])) == statement
    assert unescape(shown[1]) == statement.replace("\u202e", "\\u202e")
    assert [attributes for attributes, _ in others] == ["", ""]


@pytest.mark.parametrize(
    "path",
    ["/test-set/TST9", "/system/NOBODY", "/test-set/TST3/pair/GE/NOBODY", "/test-set/TST3/document/none", "/nowhere"],
)
def test_what_is_not_there_is_not_found(path: str, visit: Visit) -> None:
    response = visit().get(path)
    assert response.status_code == 404
    assert "error: there is no" in unescape(response.text)


def test_pages_of_an_empty_warehouse_say_so(visit: Visit, warehouses: dict[str, Path]) -> None:
    page = read(visit, "/", warehouses["empty"])
    assert "no test sets yet" in page.html


@pytest.mark.long
@pytest.mark.parametrize("kind", ["worked", "clustered", "imported", "replicated", "sample"])
def test_every_link_of_every_page_leads_to_a_page(kind: str, visit: Visit, warehouses: dict[str, Path]) -> None:
    assert crawled(visit, warehouses[kind]) > 5


@pytest.mark.long
def test_pages_of_systems_that_each_lack_something_are_all_there(visit: Visit, tmp_path: Path) -> None:
    """Each system has other measures, on other documents and test sets, and one has nothing but printed figures."""
    lacking = {"lark": ("a", "t"), "wren": ("b", "u"), "finch": ("c", "")}
    rows = [
        (test_set, system, f"q{k}", measure, (k + place) % 2)
        for place, (system, (without, not_on)) in enumerate(lacking.items())
        for test_set in "tu"
        for measure in "abc"
        for k in range(place, 8)
        if measure != without and test_set != not_on
    ]
    printed = [(test_set, "robin", "values", measure, 0.5, 0.01) for test_set in "tu" for measure in "ab"]
    header = "test_set system task measure value resolution"
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(tmp_path / "p.csv", header, printed), "published")
    assert crawled(visit, tmp_path / "w.duckdb") > 5


def crawled(visit: Visit, warehouse: Path) -> int:
    """How many pages there are from the first page on, without those of too many pairs and documents; all of them must
    be there.
    """
    client = visit(warehouse)
    known, waiting, visited = {"/"}, ["/"], 0
    of_a_kind: dict[str, int] = {}
    while waiting:
        path = waiting.pop()
        response = client.get(path)
        assert response.status_code == 200, path
        visited += 1
        for href in Page(response.text).links.values():
            kind_of_page = re.sub(r"/(pair|document)/.*", r"/\1", href)
            of_a_kind[kind_of_page] = of_a_kind.get(kind_of_page, 0) + 1
            limit = 3 if "/pair" in href or "/document" in href or "answer" in href or "?" in href else 100
            if href.startswith("/") and href not in known and of_a_kind[kind_of_page] <= limit:
                known.add(href.partition("#")[0])
                waiting.append(href.partition("#")[0])
    return visited


# === two systems of a leaderboard =====================================================================================


def test_two_systems_that_are_ticked_lead_to_their_page(visit: Visit) -> None:
    page = read(visit, "/test-set/TST3?measure=recall&measure=F")
    assert sorted(page.fields["pair"]) == sorted(set(page.fields["pair"]))
    assert {"GE", "UMASS", "SRI"} < set(page.fields["pair"])
    chosen = {"pair": ["SRI", "GE"], "measure": ["recall", "F"], "of": page.fields["of"][:1]}
    response = visit().get(f"/test-set/TST3?{urlencode(chosen, doseq=True)}", follow_redirects=False)
    assert response.status_code == 303
    there = response.headers["location"]
    assert there.startswith("/test-set/TST3/pair/SRI/GE?")
    assert "recall of SRI on TST3 is" in read(visit, there).html


@pytest.mark.parametrize("ticked", [["SRI"], ["SRI", "SRI"], ["SRI", "GE", "UMASS"]])
def test_other_than_two_systems_are_not_compared(visit: Visit, ticked: list[str]) -> None:
    page = read(visit, f"/test-set/TST3?{urlencode({'pair': ticked}, doseq=True)}")
    assert "Tick two systems to compare them." in page.html


def test_a_leaderboard_says_by_which_column_it_is_sorted(visit: Visit) -> None:
    def order(path: str) -> list[tuple[str, str]]:
        heads = re.findall(
            r'<th scope="col"[^>]* aria-sort="(\w+)"><button[^>]*>(.*?)</button>', visit().get(path).text
        )
        return [(measure, way) for way, measure in heads]

    assert order("/test-set/TST3") == [("F(beta=1)", "descending")]
    assert order("/test-set/TST3?of=filtering&measure=fallout") == [("fallout", "ascending")]
