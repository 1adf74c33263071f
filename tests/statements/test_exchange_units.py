"""The default unit of exchange: the cluster that was declared, for each test set separately."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from evalhouse.warehouse.charts import Spans
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

TOPICS = [f"{300 + k}" for k in range(12)]
SYSTEMS = ("base", "tuned")


@pytest.fixture(scope="module")
def judged() -> dict[tuple[str, str], tuple[bool, bool, bool]]:
    """For each topic and document whether it is relevant, and whether each system retrieved it. How often a system is
    right differs from topic to topic.
    """
    draws = random.Random(3)
    judged = {}
    for topic in TOPICS:
        right = [draws.choice((0.05, 0.95)) for _ in SYSTEMS]
        for k in range(6):
            relevant = draws.random() < 0.5
            first, second = (relevant == (draws.random() < often) for often in right)
            judged[topic, f"D{k}"] = (relevant, first, second)
    return judged


@pytest.fixture(scope="module")
def session(
    judged: dict[tuple[str, str], tuple[bool, bool, bool]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("units")
    qrels = "".join(f"{topic} 0 {name} {int(relevant)}\n" for (topic, name), (relevant, _, _) in judged.items())
    (folder / "qrels").write_text(qrels)
    for place, system in enumerate(SYSTEMS):
        found = [pair for pair, (_, *retrieved) in judged.items() if retrieved[place]]
        run = "".join(f"{topic} Q0 {name} 1 1.5 {system}\n" for topic, name in found)
        (folder / system).write_text(run)
    halves = [("robust", f"{topic}/{name}", int(topic) // 306) for topic, name in judged]
    draws = random.Random(5)
    mail = [("mail", f"m{k}", draws.choice(("relevant", "nonrelevant"))) for k in range(20)]
    sorted_mail = [("mail", system, f"m{k}", draws.choice(("yes", "no"))) for k in range(20) for system in SYSTEMS]
    with create(folder / "w.duckdb") as database:
        for file in ("qrels", *SYSTEMS):
            for test_set in ("robust", "again"):
                load(database, folder / file, "trec", fields={"test_set": test_set})
        load(database, write_csv(folder / "h.csv", "test_set document half", halves), "documents")
        load(database, write_csv(folder / "l.csv", "test_set document label", mail), "labels")
        load(database, write_csv(folder / "d.csv", "test_set system document decision", sorted_mail), "decisions")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def precision_p(judged: dict[tuple[str, str], tuple[bool, bool, bool]]) -> Fraction:
    """p of precision, every exchange of whole topics counted by the definition."""
    sums = []
    for topic in TOPICS:
        rows = [row for (of, _), row in judged.items() if of == topic]
        sums.append([(sum(r[0] and r[1 + side] for r in rows), sum(r[1 + side] for r in rows)) for side in (0, 1)])

    def difference(exchange: tuple[bool, ...]) -> Fraction:
        of_a, of_b = (
            [both[changed ^ side] for changed, both in zip(exchange, sums, strict=True)] for side in (False, True)
        )
        first, second = (Fraction(sum(over for over, _ in of), sum(under for _, under in of)) for of in (of_a, of_b))
        return abs(first - second)

    observed = difference((False,) * len(TOPICS))
    exchanges = list(product((False, True), repeat=len(TOPICS)))
    return Fraction(sum(difference(exchange) >= observed for exchange in exchanges), len(exchanges))


def test_decisions_of_runs_are_exchanged_by_topic(
    session: Session, judged: dict[tuple[str, str], tuple[bool, bool, bool]]
) -> None:
    result = session.run("compare precision of filtering for base, tuned on robust")
    [row] = result.rows
    assert (row["documents"], row["units"]) == (72, 12)
    assert row["p"] == pytest.approx(float(precision_p(judged)), abs=1e-12)
    assert "exchange by document.topic |" in result.signature
    asked = session.run("compare precision of filtering for base, tuned on robust exchange by document.topic")
    assert asked.rows == result.rows
    assert not any("independent" in note for note in (*result.notes, *asked.notes))


def test_documents_are_exchanged_one_by_one_where_that_is_asked_for_and_a_note_says_what_it_means(
    session: Session,
) -> None:
    result = session.run("compare precision of filtering for base, tuned on robust exchange by document")
    [row] = result.rows
    assert (row["documents"], row["units"]) == (72, 72)
    assert (
        "robust: exchange by document treats topic-document pairs of one topic as independent, which they are not; "
        "without it each topic is exchanged as a whole"
    ) in result.notes
    assert "exchange by document |" in result.signature


@pytest.mark.long
def test_what_is_exchanged_in_larger_parts_is_no_reason_for_a_note(session: Session) -> None:
    split = "robust: exchange by document"
    compared = "compare accuracy of filtering for base, tuned on robust exchange by document"
    assert not any(split in note and "independent" in note for note in session.run(f"{compared}.half").notes)
    assert any(split in note and "independent" in note for note in session.run(f"{compared}.grade").notes)


def test_topics_themselves_are_exchanged_one_by_one(session: Session) -> None:
    for statement in ("compare ap for base, tuned on robust", "compare F of extraction for base, tuned on robust"):
        [row] = session.run(statement).rows
        assert (row["documents"], row["units"]) == (12, 12)


@pytest.mark.long
def test_marked_texts_are_exchanged_with_all_their_sentences_and_replicates_averaged_before(tmp_path: Path) -> None:
    draws = random.Random(8)
    gold = [draws.choice("BO") for _ in range(40)]
    with create(tmp_path / "w.duckdb") as database:
        for system in ("crf.1", "crf.2", "bert.1", "bert.2"):
            lines = []
            for k, tag in enumerate(gold):
                lines += ["-DOCSTART- O O\n"] if k % 5 == 0 else ["\n"]
                found = tag if draws.random() < 0.7 else draws.choice("BO")
                lines.append(f"word {tag.replace('B', 'B-PER')} {found.replace('B', 'B-PER')}\n")
            (tmp_path / system).write_text("".join(lines))
            load(database, tmp_path / system, "conll", fields={"test_set": "news", "system": system})
        models = [(system, system.partition(".")[0]) for system in ("crf.1", "crf.2", "bert.1", "bert.2")]
        load(database, write_csv(tmp_path / "m.csv", "system model", models), "systems")
    with Session.open(tmp_path / "w.duckdb") as session:
        for compared in (
            "compare F for crf.1, bert.1 on news",
            "compare F for crf, bert on news replicates by system.model",
        ):
            result = session.run(compared)
            assert (result.rows[0]["documents"], result.rows[0]["units"]) == (40, 8)
            assert "8 texts exchanged (40 sentences)" in result.caption
            assert result.rows == session.run(f"{compared} exchange by document.text").rows
            assert result.rows[0]["p"] != session.run(f"{compared} exchange by document").rows[0]["p"]
        [across] = session.run("compare F for crf, bert on news replicates by system.model exchange by system").rows
        assert across["units"] == 4


def test_each_test_set_has_its_own_unit(session: Session) -> None:
    result = session.run("compare accuracy of filtering for base, tuned on robust, mail")
    assert [(row["documents"], row["units"]) for row in result.rows] == [(72, 12), (20, 20)]
    assert "exchange by document.topic on robust, document on mail |" in result.signature
    alone = [session.run(f"compare accuracy of filtering for base, tuned on {name}") for name in ("robust", "mail")]
    assert [row["p"] for row in result.rows] == [each.rows[0]["p"] for each in alone]


def test_group_and_replicate_and_intervals_follow(session: Session) -> None:
    group = session.run("group precision of filtering for all on robust")
    assert "exchange by document.topic |" in group.signature
    replicate = session.run("replicate precision of filtering for all from robust to again")
    assert "exchange by document.topic |" in replicate.signature
    [row] = session.run("compare precision of filtering for base, tuned on robust").rows
    assert replicate.rows[0]["p_from"] == row["p"]
    by_topic, alone = (
        session.run(f"compare precision of filtering for base, tuned on robust{clause}").rows[0]
        for clause in ("", " exchange by document")
    )
    assert (by_topic["ci_low"], by_topic["ci_high"]) != (alone["ci_low"], alone["ci_high"])


def test_a_projection_and_a_picture_resample_topics(session: Session) -> None:
    projected = "project precision of filtering for base from robust to generality 0.1"
    [row] = session.run(projected).rows
    assert isinstance(row["ci_low"], float)
    chart = session.run("plot score accuracy of filtering for all on robust").chart
    assert chart is not None
    [(_, low, high)] = [
        (where, low, high)
        for spans in chart.panels[0].marks_of(Spans)
        for low, high, where in spans.spans
        if chart.panels[0].y.names[round(where)] == "base"
    ]
    # By topic it is wider than that of a share of 72 independent documents.
    [value] = [row["accuracy"] for row in session.run("score accuracy of filtering for base on robust").rows]
    assert isinstance(value, float)
    assert high - low > 2 * 1.96 * (value * (1 - value) / 72) ** 0.5
