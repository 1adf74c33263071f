"""The measures from loading CoNLL columns once: entities by type, micro and macro, and tokens, as in seqeval."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import seqeval.metrics
import seqeval.scheme

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.empty import create

KINDS = ("PER", "LOC", "X-Y")
SYSTEMS = ("crf", "lstm")
STRICT = {"conlleval": {}, "iob2": {"mode": "strict", "scheme": seqeval.scheme.IOB2},
          "iobes": {"mode": "strict", "scheme": seqeval.scheme.IOBES}}  # fmt: skip

Tagged = list[list[str]]


def generated(scheme: str, prefixes: str) -> tuple[Tagged, dict[str, Tagged]]:
    """Gold tags, and answers that are right two times in three."""
    chance = random.Random(scheme + prefixes)
    tags = ["O", *(f"{prefix}-{kind}" for prefix in prefixes for kind in KINDS)]
    gold = [[chance.choice(tags) for _ in range(chance.randrange(1, 12))] for _ in range(120)]
    answers = {
        system: [[tag if chance.random() < 2 / 3 else chance.choice(tags) for tag in of] for of in gold]
        for system in SYSTEMS
    }
    return gold, answers


def loaded(folder: Path, gold: Tagged, answers: Mapping[str, Tagged], scheme: str) -> Session:
    with create(folder / "w.duckdb") as database:
        for system, found in answers.items():
            sentences = ("\n".join(map(" ".join, zip(*both, strict=True))) for both in zip(gold, found, strict=True))
            (folder / f"{system}.conll").write_text("\n\n".join(sentences) + "\n")
            fields = {"test_set": "news", "system": system}
            load(database, folder / f"{system}.conll", "conll", fields=fields, options={"scheme": scheme})
    return Session.open(folder / "w.duckdb")


@pytest.mark.long
@pytest.mark.parametrize(
    ("scheme", "prefixes"), [("conlleval", "BI"), ("conlleval", "BIES"), ("iob2", "BI"), ("iobes", "BIES")]
)
def test_all_that_seqeval_reports_comes_of_one_load(tmp_path: Path, scheme: str, prefixes: str) -> None:
    gold, answers = generated(scheme, prefixes)
    with loaded(tmp_path, gold, answers, scheme) as session:
        micro = {row["system"]: row for row in session.run("score precision, recall, F for all on news").rows}
        by_type = session.run("score precision, recall, F for all on news by unit")
        macro = {row["system"]: row for row in by_type.summary_table.records()}
        tokens = {row["system"]: row for row in session.run("score token-accuracy for all on news").rows}
    for system, found in answers.items():
        report = reported(gold, found, STRICT[scheme])
        assert_equal(micro[system], report["micro avg"])
        of_type = {row["unit"]: row for row in by_type.rows if row["system"] == system}
        assert set(of_type) == set(KINDS)
        for kind in KINDS:
            assert_equal(of_type[kind], report[kind])
        assert_equal(macro[system], report["macro avg"])
        assert macro[system]["units"] == len(KINDS)
        accuracy = seqeval.metrics.accuracy_score(gold, found)
        assert tokens[system]["token-accuracy"] == pytest.approx(accuracy, abs=1e-15)


def reported(gold: Tagged, found: Tagged, mode: Mapping[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return seqeval.metrics.classification_report(gold, found, output_dict=True, **mode)


def assert_equal(row: Mapping[str, object], report: Mapping[str, float]) -> None:
    for ours, theirs in (("precision", "precision"), ("recall", "recall"), ("F(beta=1)", "f1-score")):
        assert row[ours] == pytest.approx(report[theirs], abs=1e-14)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return loaded(tmp_path_factory.mktemp("tagged"), *generated("conlleval", "BI"), "conlleval")


def test_the_mean_over_sentences_is_asked_for_as_such(session: Session) -> None:
    gold, answers = generated("conlleval", "BI")
    (row,) = session.run("score token-accuracy, mean(token-accuracy) for crf on news").rows
    both = zip(gold, answers["crf"], strict=True)
    right = [[tag == answer for tag, answer in zip(*of, strict=True)] for of in both]
    assert row["token-accuracy"] == pytest.approx(sum(map(sum, right)) / sum(map(len, right)))
    assert row["mean(token-accuracy)"] == pytest.approx(sum(sum(of) / len(of) for of in right) / len(right))


@pytest.mark.parametrize("clauses", ["", "test t", "test studentized shuffles 999", "interval bca", "margin 5%"])
def test_token_accuracy_is_tested_as_a_ratio(session: Session, clauses: str) -> None:
    """Both systems have the same tokens, so that tests of matched pairs take it, too."""
    (row,) = session.run(f"compare token-accuracy for crf, lstm on news {clauses}").rows
    assert 0 < row["p"] <= 1  # type: ignore[operator]
    assert row["ci_low"] < row["difference"] < row["ci_high"]  # type: ignore[operator]


def test_a_definition_can_use_it(session: Session) -> None:
    statements = 'define measure wrong = 1 - "token-accuracy"; score wrong, token-accuracy for crf on news'
    (row,) = session.run(statements).rows
    assert row["wrong"] == pytest.approx(1 - row["token-accuracy"])  # type: ignore[operator]


def test_where_tokens_were_not_counted_there_is_no_accuracy_of_them() -> None:
    with pytest.raises(QueryError, match="TST3 has no counts for token-accuracy"):
        Session.open().run("score token-accuracy for GE on TST3")
