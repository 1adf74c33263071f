"""What tests share: warehouses to query, and `--accept`, which rewrites goldens to the current output."""

from __future__ import annotations

import csv
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from evalhouse.warehouse.commands.settings import SETTINGS
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.sample import fill
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from tests.browsing import chromium
from tests.counting import Count, Figures, put_into_page
from tests.empty import create

# The duration of a case depends on how busy the machine is, and says nothing about the program.
settings.register_profile("evalhouse", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=25)
settings.load_profile("evalhouse")

# Processes that a script runs in the background ignore Ctrl-C, those under nohup the end of the terminal, and so would
# every process that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# pytest sets these to the size of its own terminal, and the terminals that tests open would use that size.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# Rewriting the asserts of all tests costs as much as collecting them, and the tests start hundreds of processes, which
# would compile every module again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Settings that a developer made for all commands do not apply to the tests.
for setting in SETTINGS:
    os.environ.pop(setting.variable, None)
os.environ["EVALHOUSE_CONFIG"] = os.devnull

# The tests query the sample data through pipes, where it must otherwise be requested explicitly.
os.environ["EVALHOUSE_SAMPLE"] = "yes"

REAL = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


TOGETHER = ("spark", "browser", "terminal")
"""Slow tests with one of these marks run one after the other in one process, because they share what takes long to
start, or wait for seconds that other tests should not use up. The others run file by file, as long as what a file
makes for all its tests is made once.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite goldens to what is printed now")
    parser.addoption("--soak", action="store_true", help="run all tests that count, and print what they counted")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Several processes would rewrite one golden at the same time. Counts are added up before they are written."""
    if config.option.soak:
        config.option.markexpr = ""
    elif config.option.accept and getattr(config.option, "numprocesses", None):
        config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.soak:
        others = [item for item in items if not item.get_closest_marker("soak") and not _counts(item)]
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=others)
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            group = next((mark for mark in TOGETHER if item.get_closest_marker(mark)), _file(item))
            item.add_marker(pytest.mark.xdist_group(group))


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Archives contain the time at which they were made, but workers must agree on the names of tests."""
    if isinstance(val, bytes) and val.startswith((b"PK", b"\x1f\x8b")):
        return f"{argname}: an archive"
    return None


@pytest.fixture(scope="session")
def accept(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--accept"))


FIGURES = Figures()
"""The figures that tests counted."""

BEGAN = time.monotonic()


def _counts(item: pytest.Item) -> bool:
    parametrized = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return "count" in getattr(item, "fixturenames", ()) and "count" not in parametrized


def _file(item: pytest.Item) -> str:
    return item.path.relative_to(item.config.rootpath).as_posix()


@pytest.fixture
def count(request: pytest.FixtureRequest) -> Count:
    """Adds to a figure of the table that `make soak` prints."""

    def counting(what: str, times: int, failed: int = 0) -> None:
        FIGURES.add(_file(request.node), what, times, failed)

    return counting


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails before it has counted is also in the table."""
    report = yield
    if report.failed and _counts(item):
        FIGURES.add(_file(item), f"{item.name} as a whole", 1, 1)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Counts from one of several processes are sent to the process that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = FIGURES.as_rows()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for row in getattr(node, "workeroutput", {}).get("figures", ()):
        FIGURES.add(*row)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if FIGURES.as_rows():
        table = FIGURES.table(time.monotonic() - BEGAN)
        terminalreporter.section("counted")
        terminalreporter.write(table)
        if config.option.soak and config.option.accept:
            put_into_page(table)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real evaluations, which are not part of the project."""
    if not REAL.is_dir():
        pytest.skip("the real evaluations are not beside the checkout (../shared/data)")
    return REAL


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One window for all tests in a browser, which choose what they depend on: how wide a page is, and what the reader
    prefers.
    """
    with chromium() as driver:
        yield driver


WithValues = Callable[[Iterable[tuple[str, str, str, str, float]]], Session]


@pytest.fixture
def with_values(tmp_path: Path) -> WithValues:
    """A warehouse of values, each with its test set, system, document and measure."""

    def opened(values: Iterable[tuple[str, str, str, str, float]]) -> Session:
        path = write_csv(tmp_path / "v.csv", "test_set system document measure value", values)
        with create(tmp_path / "w.duckdb") as database:
            load(database, path, "values")
        return Session.open(tmp_path / "w.duckdb")

    return opened


def write_csv(path: Path, header: str, rows: Iterable[Iterable[object]]) -> Path:
    """A CSV file with a header of words."""
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header.split(), *rows])
    return path


def chinchor() -> list[tuple[object, ...]]:
    """Chinchor's systems A, B and C (1992, Examples): 50 relevant messages with 20 fills; B differs from A in one."""
    counts = {"A": (20, 20, 15), "B": (20, 20, 15), "C": (20, 20, 18)}
    return [
        (
            "abc",
            system,
            f"M{k:03}",
            "",
            *((0, 0, 0) if k >= 50 else (20, 20, 0) if (system, k) == ("B", 17) else counts[system]),
            0,
        )
        for k in range(100)
        for system in "ABC"
    ]


def yeh() -> list[tuple[object, ...]]:
    """Yeh's methods I and II (2000, section 3.3): 103 modifiers to find, and what else each method found."""
    kinds = [
        ("both", 19, 1, 1, 1),
        ("one", 28, 1, 1, 0),
        ("two", 6, 1, 0, 1),
        ("neither", 50, 1, 0, 0),
        ("spurious-both", 5, 0, 1, 1),
        ("spurious-one", 43, 0, 1, 0),
        ("spurious-two", 9, 0, 0, 1),
    ]
    return [
        ("modifiers", system, "text", f"{kind}-{k}", wanted, found, wanted * found, 0)
        for kind, count, wanted, first, second in kinds
        for k in range(count)
        for system, found in (("I", first), ("II", second))
    ]


def odd_names() -> list[tuple[object, ...]]:
    """A small test set whose systems have unusual names, and one system that found nothing."""
    systems = ["gpt-4.1-mini", "NMSU/Brandeis", "7B-chat", "for", "José", "[red]plain[/red]", "nothing"]
    return [
        (
            "odd/names",
            system,
            f"d{k}",
            "",
            4,
            0 if system == "nothing" else 4,
            0 if system == "nothing" else (k + place) % 5,
            0,
        )
        for place, system in enumerate(systems)
        for k in range(6)
    ]


def fill_clustered(database: Database, folder: Path) -> None:
    """Test sets with clusters and with nouns for their documents: `robust`, pairs of 6 topics and 5 documents each that
    were judged, and `reading`, questions on passages.
    """
    for place, name in enumerate(("qrels", "base", "new", "old")):
        lines = []
        for topic in range(301, 307):
            for k in range(5):
                relevant, retrieved = (topic + k) % 3 == 0, (topic * k + place * (topic + k)) % (place + 2) == 0
                if not place:
                    lines.append(f"{topic} 0 D{k} {int(relevant)}\n")
                elif retrieved:
                    lines.append(f"{topic} Q0 D{k} 1 {k + 1}.5 {name}\n")
        (folder / name).write_text("".join(lines), encoding="utf-8")
        load(database, folder / name, "trec", fields={"test_set": "robust"})
    right = [
        ("reading", system, f"q{k}", "accuracy", int((k * 7 + place * (k // 3)) % 5 < 3))
        for place, system in enumerate(("base", "new", "old"))
        for k in range(24)
    ]
    passages = [("reading", f"q{k}", f"P{k // 3}") for k in range(24)]
    values = write_csv(folder / "reading.csv", "test_set system document measure value", right)
    load(database, values, "values", fields={"noun": "question"})
    attributes = write_csv(folder / "passages.csv", "test_set document passage", passages)
    load(database, attributes, "documents", fields={"cluster": "passage"})


def of_farm() -> list[tuple[object, ...]]:
    """Right and wrong answers on three test sets: all of `ada` and `bob`, and of `cat` on two of them."""
    rows: list[tuple[object, ...]] = []
    for test_set, size in (("cows", 6), ("hens", 14), ("pigs", 10)):
        for system, wrong in (("ada", 5), ("bob", 2), ("cat", 3)):
            if (test_set, system) != ("pigs", "cat"):
                rows += [(test_set, system, f"{test_set}{k}", "accuracy", int(k % wrong > 0)) for k in range(size)]
    return rows


def judged() -> list[tuple[object, ...]]:
    """Values of 120 documents by a judge, and of every third by people: `grade` is even, `cost` has a long tail, and
    `rough` sees it; `plain` sees grades but for a few documents, and `far` says very large values of documents that
    people did not label. `accuracy` is seldom wrong, which `glance` always sees, and `half` seldom; of `often`, `half`
    misses one.
    """
    rows: list[tuple[object, ...]] = []
    for k in range(120):
        even = (37 * k % 120) / 12
        other = (53 * k % 120) / 12
        cost = round(1.06 ** (71 * k % 120), 3)
        right = int(k % 13 > 0)
        says = {
            "even": even + other / 3,
            "rough": cost * (1 + other / 20),
            "plain": even if k not in (33, 60) else 70.0,
        }
        says |= {"far": even + (400.0 if k in (40, 77) else other / 3), "glance": right, "half": int(k % 5 > 0)}
        if k % 3 == 0:
            grade = round(even + other / 9, 3)
            says |= {"grade": grade, "cost": cost, "accuracy": right, "often": int(k % 5 > 0 and k != 3)}
        rows += [("qa", "new", f"d{k:03}", measure, value) for measure, value in says.items()]
    return rows


def imported() -> list[tuple[object, ...]]:
    """Values of several kinds: `seven`, with twelve questions answered right or wrong, of which the new system has
    seven right that the old one has wrong, and both have three right; `speech`, error rates and efforts of three
    systems; `faq`, where some systems lack some questions and some judges lack some judgments, and `faq2`, where
    everything is complete.
    """
    new, old = [1] * 10 + [0] * 2, [0] * 7 + [1] * 3 + [0] * 2
    answers = [
        ("seven", system, f"q{k:02}", "accuracy", right[k])
        for k in range(12)
        for system, right in (("new", new), ("old", old))
    ]
    rates: dict[str, tuple[int, ...]] = {
        "conformer": (8, 11, 5, 9, 12, 7, 10, 6),
        "hybrid": (15, 16, 9, 20, 14, 12, 17, 13),
    }
    rates["kaldi"] = tuple(rate + (3, -2, 1, -1)[k % 4] for k, rate in enumerate(rates["hybrid"]))
    return [
        *answers,
        *(
            ("speech", system, f"u{k}", measure, rate / scale)
            for system, of_system in rates.items()
            for k, rate in enumerate(of_system)
            for measure, scale in (("WER", 100), ("effort", 10))
        ),
        *(
            ("faq", system, f"q{k}", measure, (k * 7 + len(system)) % 5)
            for system, first, last in (("base", 0, 12), ("tuned", 0, 11), ("late", 1, 12), ("short", 0, 8))
            for measure in ("helpful", "correct")
            for k in range(first, last if measure == "helpful" or system != "base" else 10)
        ),
        *(("faq2", system, f"q{k}", "helpful", k % 3) for system in ("base", "tuned") for k in range(5)),
    ]


def filtered() -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Decisions with confidences of four systems on two test sets, each with 60 documents of 20 days, and their keys.
    `margin` has another scale than `bayes` and `tree`, and `mute` has no confidence on one document.
    """
    labels = [("relevant", "nonrelevant", "nonrelevant", "optional")[(k * k + k // 3) % 4] for k in range(60)]
    decisions: list[tuple[object, ...]] = []
    for test_set, factor in (("mail", 37), ("lists", 41)):
        for k, label in enumerate(labels):
            up = label == "relevant"
            sure = {
                "bayes": round((factor * k % 60) / 80 + 0.2 * up, 3),
                "tree": round((13 * k % 10) / 10, 1),
                "margin": (7 * k % 30) - 20 + 12 * up,
                "mute": "" if k == 4 else 0.5,
            }
            decisions += [(test_set, system, f"m{k:02}", "yes" if up else "no", sure[system]) for system in sure]
    return decisions, [
        (test_set, f"m{k:02}", label) for test_set in ("mail", "lists") for k, label in enumerate(labels)
    ]


def fill_replicated(database: Database, folder: Path) -> None:
    """Twelve questions that `base` and `tuned` answered with four seeds and `solo` once: accuracy, and seconds. The
    last seed of `tuned` did not answer two of them. On `folds`, each question was answered by one seed; on `greedy`,
    all seeds give the same answers; on `graded`, answers are right, wrong or half right.
    """
    rows: list[tuple[object, ...]] = []
    systems: list[tuple[str, str]] = []
    for system, seeds, ease in (("base", 4, 5), ("tuned", 4, 7), ("solo", 1, 6)):
        for seed in range(1, seeds + 1):
            name = f"{system}#{seed}"
            systems.append((name, system))
            for k in range(12):
                draw = (k * 7 + seed * (3 if system == "base" else 5) + k * seed) % 11
                right, document = int(draw < ease + (k % 5 - 2) * 3), f"q{k:02}"
                if (name, k) not in (("tuned#4", 3), ("tuned#4", 8)):
                    rows.append(("qa", name, document, "accuracy", right))
                    rows.append(("qa", name, document, "seconds", round(1 + draw / 8 + k / 4 + seed / 5, 3)))
                if k % seeds == seed - 1:
                    rows.append(("folds", name, document, "accuracy", right))
                rows.append(("greedy", name, document, "accuracy", int(k % 3 == 0)))
                rows.append(("graded", name, document, "accuracy", right - 0.5 * (draw == 0)))
    header = "test_set system document measure value"
    load(database, write_csv(folder / "replicated.csv", header, rows), "values")
    load(database, write_csv(folder / "models.csv", "system model", systems), "systems")
    passages = [("qa", f"q{k:02}", f"P{k // 3}") for k in range(12)]
    load(database, write_csv(folder / "passages of qa.csv", "test_set document passage", passages), "documents")


def fill_classes(database: Database, folder: Path) -> None:
    """Predicted classes: `mood`, 24 texts of three sources that are calm, sad or angry, where `always` says one class
    and `stray` also one that no text has; `spam`, 20 letters that are spam or not.
    """
    truth = ["calm" if k % 2 else "sad" if k % 6 else "angry" for k in range(24)]
    answers = {
        "careful": [name if k % 5 else "calm" for k, name in enumerate(truth)],
        "always": ["calm"] * 24,
        "stray": ["glad" if k in (3, 8) else name if k % 4 else "sad" for k, name in enumerate(truth)],
    }
    spam = [int(k % 3 == 0) for k in range(20)]
    guesses = {"keen": [int(k % 3 == 0 or k % 7 == 0) for k in range(20)], "meek": [int(k % 6 == 0) for k in range(20)]}
    keys: list[tuple[str, list[Any], Mapping[str, list[Any]]]] = [("mood", truth, answers), ("spam", spam, guesses)]
    for test_set, key, of_systems in keys:
        for system, given in of_systems.items():
            rows = [(f"{test_set[0]}{k:02}", *pair) for k, pair in enumerate(zip(key, given, strict=True))]
            path = write_csv(folder / f"{test_set} {system}.csv", "id y_true y_pred", rows)
            load(database, path, "sklearn", fields={"test_set": test_set, "system": system})
    sources = [("mood", f"m{k:02}", ("mail", "chat", "diary")[k % 3]) for k in range(24)]
    load(database, write_csv(folder / "sources of mood.csv", "test_set document source", sources), "documents")


def fill_predicted(database: Database, folder: Path) -> None:
    """Numbers and spans beside the true ones: `pairs` and `titles`, how alike two sentences are from 0 to 5, where
    `far` says it in percent; `drugs`, names of drugs in four sentences, of which `loose` has the edges wrong more often
    and `strict` the types.
    """
    for test_set, factor in (("pairs", 7), ("titles", 11)):
        rows: list[tuple[object, ...]] = []
        for k in range(24):
            gold = factor * k % 26 / 5
            near, rough = gold + (k % 5 - 2) / 4, gold / 2 + (k * k % 9) / 3
            rows.append((f"{test_set[0]}{k:02}", gold, near, round(rough, 2), round(18 * gold + 5 * (k % 4), 1)))
        path = write_csv(folder / f"{test_set}.csv", "id gold near rough far", rows)
        load(database, path, "numbers", fields={"test_set": test_set})
    attributes = [("pairs", f"p{k:02}", ("news", "forum")[k % 2]) for k in range(24)]
    load(database, write_csv(folder / "of pairs.csv", "test_set document genre", attributes), "documents")
    # The tags of the key, of `loose` and of `strict`.
    letters = [
        ("B-DRUG O B-GROUP I-GROUP O", "B-DRUG O B-GROUP O O", "B-DRUG O B-DRUG I-DRUG O"),
        ("O B-DRUG I-DRUG O B-BRAND", "O B-DRUG I-DRUG I-DRUG O", "O B-DRUG I-DRUG O B-DRUG"),
        ("B-BRAND I-BRAND O O B-DRUG", "O B-BRAND O B-DRUG B-DRUG", "B-BRAND I-BRAND O O O"),
        ("B-GROUP O O B-DRUG I-DRUG", "B-GROUP O O B-GROUP O", "B-DRUG O O B-DRUG I-DRUG"),
    ]
    for place, system in enumerate(("loose", "strict"), 1):
        blocks = [
            "\n".join(map(" ".join, zip("abcde", tags[0].split(), tags[place].split(), strict=True)))
            for tags in letters
        ]
        path = folder / f"{system}.conll"
        path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
        load(database, path, "conll", fields={"test_set": "drugs", "system": system})


KINDS = ("sample", "worked", "clustered", "imported", "replicated", "classes", "predicted", "judged", "farm", "empty")


@pytest.fixture(scope="session")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Warehouses on disk by name: `sample`, the sample data; `worked`, worked examples of papers, and odd names;
    `clustered`, dependent documents; `imported`, values and confidences; `replicated`, seeds and folds; `classes`,
    predicted classes; `predicted`, numbers and spans; `farm`, a group of test sets; `empty`. All tests of a process
    share them, in any order, so a test that changes one takes a copy.
    """
    folder = tmp_path_factory.mktemp("warehouses")
    paths = {name: folder / f"{name}.duckdb" for name in KINDS}
    with create(paths["sample"]) as database:
        fill(database)
    header = "test_set system document unit possible actual correct partial"
    rows = write_csv(folder / "worked.csv", header, [*chinchor(), *yeh(), *odd_names()])
    sources = [("abc", f"M{k:03}", "radio" if k % 2 else "press", 100 + k) for k in range(100) if k != 7]
    attributes = write_csv(folder / "documents.csv", "test_set document source words", sources)
    values = [
        ("news", system, f"d{k}", "BLEU", v) for k in range(6) for system, v in (("base", 20 + k), ("tuned", 21.5 + k))
    ]
    decided = [("yes", 0.9), ("yes", 0.6), ("no", 0.2), ("yes", 0.8), ("no", 0.1)]
    decisions = [("alerts", "filter", f"d{k}", yes, sure) for k, (yes, sure) in enumerate(decided)]
    key = ["relevant", "relevant", "relevant", "nonrelevant", "optional"]
    second = ["relevant", "optional", "relevant", "nonrelevant", "nonrelevant"]
    labels = [
        ("alerts", f"d{k}", label, who) for who, given in (("", key), ("eve", second)) for k, label in enumerate(given)
    ]
    with create(paths["worked"]) as database:
        load(
            database,
            write_csv(folder / "d.csv", "test_set system document decision confidence", decisions),
            "decisions",
        )
        load(database, write_csv(folder / "l.csv", "test_set document label annotator", labels), "labels")
        load(database, rows, "scores")
        load(database, attributes, "documents")
        load(database, write_csv(folder / "values.csv", "test_set system document measure value", values), "values")
    with create(paths["clustered"]) as database:
        fill_clustered(database, folder)
    with create(paths["imported"]) as database:
        rows = write_csv(folder / "imported.csv", "test_set system document measure value", imported())
        load(database, rows, "values", lower_is_better={"effort": True})
        confident, key_of_mail = filtered()
        header = "test_set system document decision confidence"
        load(database, write_csv(folder / "mail.csv", header, confident), "decisions")
        load(database, write_csv(folder / "key.csv", "test_set document label", key_of_mail), "labels")
        days = [("mail", f"m{k:02}", f"day{k // 3}") for k in range(60)]
        days += [("faq", f"q{k}", f"day{k // 6}") for k in range(12)]
        load(database, write_csv(folder / "days.csv", "test_set document day", days), "documents")
    with create(paths["replicated"]) as database:
        fill_replicated(database, folder)
    with create(paths["classes"]) as database:
        fill_classes(database, folder)
    with create(paths["predicted"]) as database:
        fill_predicted(database, folder)
    with create(paths["judged"]) as database:
        rows = write_csv(folder / "judged.csv", "test_set system document measure value", judged())
        load(database, rows, "values")
    with create(paths["farm"]) as database:
        rows = write_csv(folder / "farm.csv", "test_set system document measure value", of_farm())
        load(database, rows, "values", fields={"group": "farm"})
    create(paths["empty"]).close()
    untouched = {name: path.read_bytes() for name, path in paths.items()}
    yield paths
    changed = [name for name, path in paths.items() if path.read_bytes() != untouched[name]]
    assert not changed, f"a test changed what all tests share: {', '.join(changed)}"
