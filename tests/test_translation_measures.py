"""BLEU, chrF and TER from stored counts: equal to sacreBLEU's, for corpora and for segments, with the same tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER  # type: ignore[attr-defined]
from sacrebleu.significance import PairedTest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.empty import create

REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "mt"
METRICS = {"BLEU": BLEU(force=True), "chrF": CHRF(), '"chrF2++"': CHRF(word_order=2), "TER": TER()}
WORDS = ("the", "cat", "sat", "on", "a", "mat,", "and", "dogs", "barked;", "(then)", "it", "rained", ".", "knew", "?")


Close = tuple[Session, dict[str, list[str]], list[str]]


def rows(session: Session, statement: str) -> list[dict[str, Any]]:
    return [dict(row) for row in session.run(statement).rows]


def texts(chance: Random, segments: int) -> list[str]:
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(segments)]


def garbled(chance: Random, lines: list[str], share: float) -> list[str]:
    """The lines with some words replaced, left out or moved."""
    changed = []
    for line in lines:
        words = [chance.choice(WORDS) if chance.random() < share else word for word in line.split()]
        if chance.random() < share and len(words) > 1:
            words.insert(chance.randrange(len(words)), words.pop())
        changed.append(" ".join(words))
    return changed


def stored(folder: Path, systems: dict[str, list[str]], references: list[list[str]], **options: str) -> Path:
    """A warehouse of systems on the test set `t`."""
    files = []
    for number, lines in enumerate(references):
        files.append(folder / f"gold{number}.txt")
        files[-1].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with create(folder / "w.duckdb") as database:
        for system, lines in systems.items():
            (folder / f"{system}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            fields = {"system": system, "test_set": "t"}
            named = {"reference": ",".join(map(str, files)), **options}
            load(database, folder / f"{system}.txt", "segments", fields=fields, options=named)
    return folder / "w.duckdb"


@pytest.mark.long
@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("segments", [1, 2, 40])
def test_values_are_those_of_sacrebleu(tmp_path: Path, segments: int, references: int) -> None:
    chance = Random(segments * 10 + references)
    golds = [texts(chance, segments) for _ in range(references)]
    systems = {"same": golds[0], "near": garbled(chance, golds[0], 0.3), "far": texts(chance, segments)}
    with Session.open(stored(tmp_path, systems, golds)) as session:
        for name, metric in METRICS.items():
            found = {row["system"]: row[name.strip('"')] for row in rows(session, f"score {name} for all on t")}
            wanted = {system: metric.corpus_score(lines, golds).score / 100 for system, lines in systems.items()}
            assert found == pytest.approx(wanted, abs=1e-9), name


@pytest.mark.long
@pytest.mark.parametrize(
    ("hypotheses", "reference"),
    [
        (["a b c"], ["a b c"]),  # too short for n-grams of four words
        (["x y z w v"], ["a b c d e"]),  # nothing matches
        (["a x b y c z d"], ["a b c d e f g"]),  # only words match
        (["a b x c d y a b"], ["a b z c d w a b"]),
        (["", "a b c d"], ["a b", "a b c d e f g h"]),
        (["", ""], ["a", "b c"]),
    ],
)
def test_smoothing_and_brevity_are_those_of_sacrebleu(
    tmp_path: Path, hypotheses: list[str], reference: list[str]
) -> None:
    with Session.open(stored(tmp_path, {"one": hypotheses}, [reference])) as session:
        for name, metric in METRICS.items():
            [row] = rows(session, f"score {name} for one on t")
            assert row[name.strip('"')] == pytest.approx(
                metric.corpus_score(hypotheses, [reference]).score / 100, abs=1e-9
            )
        [row] = rows(session, "score mean(BLEU), mean(chrF) for one on t")
        alone = {"mean(BLEU)": BLEU(effective_order=True), "mean(chrF)": CHRF()}
        for name, metric in alone.items():
            scores = [metric.sentence_score(h, [r]).score / 100 for h, r in zip(hypotheses, reference, strict=True)]
            assert row[name] == pytest.approx(np.mean(scores), abs=1e-9), name


@pytest.fixture(scope="module")
def close(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Close]:
    """Two systems of which none is much better, on 60 segments."""
    chance = Random(3)
    gold = texts(chance, 60)
    systems = {"one": garbled(chance, gold, 0.28), "two": garbled(chance, gold, 0.32)}
    with Session.open(stored(tmp_path_factory.mktemp("close"), systems, [gold])) as session:
        yield session, systems, gold


@pytest.mark.long
def test_p_is_that_of_sacrebleu_within_sampling_error(close: Close, monkeypatch: pytest.MonkeyPatch) -> None:
    session, systems, gold = close
    monkeypatch.setenv("SACREBLEU_SEED", "1992")
    metrics = {"BLEU": BLEU(force=True), "chrF": CHRF(), "TER": TER()}
    _, theirs = PairedTest(list(systems.items()), metrics, [gold], test_type="ar", n_samples=4000)()
    compared = rows(session, "compare BLEU, chrF, TER for one, two on t shuffles 20000")
    results: list[Any] = [of_metric[1] for name, of_metric in theirs.items() if name != "System"]
    for row, result in zip(compared, results, strict=True):
        wanted = result.p_value
        sampling = 4 * np.sqrt(wanted * (1 - wanted) * (1 / 4000 + 1 / 20000)) + 1e-3
        # Shuffles that give just the observed difference, as those of few edits do, are extreme here and not there.
        assert wanted - sampling < row["p"], row["measure"]
        assert row["p"] < wanted + sampling or row["measure"] == "TER", row["measure"]
        assert row["p"] > 0.001, "a pair that tells nothing apart tests nothing"


def test_counts_are_exchanged_and_not_the_scores_of_segments(
    close: Close,
) -> None:
    """By brute force: a shuffle has the BLEU of the exchanged texts."""
    session, systems, gold = close
    few = slice(0, 8)
    documents = ", ".join(f'"{number}"' for number in range(1, 9))
    [row] = rows(session, f"compare BLEU for one, two on t where document in ({documents}) exact")
    one, two = (systems[name][few] for name in systems)
    metric = BLEU(force=True)
    observed = abs(metric.corpus_score(one, [gold[few]]).score - metric.corpus_score(two, [gold[few]]).score)
    extreme = 0
    for coins in range(2**8):
        sides = [(a, b) if coins >> place & 1 else (b, a) for place, (a, b) in enumerate(zip(one, two, strict=True))]
        first, second = (metric.corpus_score(list(side), [gold[few]]).score for side in zip(*sides, strict=True))
        extreme += abs(first - second) >= observed - 1e-9
    assert row["p"] == pytest.approx(extreme / 2**8)


@pytest.mark.long
def test_the_signature_says_how_texts_were_cut(tmp_path: Path) -> None:
    gold = ["It's a 5.5% rise, isn't it?", "No: well-known facts."]
    given = ["It's a 5.4% rise, is it?", "No, well known facts."]
    for tokenize in ("13a", "intl"):
        folder = tmp_path / tokenize
        folder.mkdir()
        with Session.open(stored(folder, {"one": given}, [gold], tokenize=tokenize)) as session:
            result = session.run("score BLEU for one on t")
            assert f"BLEU nrefs:1|case:mixed|tok:{tokenize}" in result.signature
            wanted = BLEU(tokenize=tokenize).corpus_score(given, [gold]).score / 100
            assert result.rows[0]["BLEU"] == pytest.approx(wanted, abs=1e-9)


def test_of_two_ways_of_cutting_one_is_said(tmp_path: Path) -> None:
    path = stored(tmp_path, {"one": ["a b c d e"]}, [["a b c d f"]])
    with create(tmp_path / "two.duckdb") as database:
        for tokenize in ("13a", "char"):
            options = {"reference": str(tmp_path / "gold0.txt"), "tokenize": tokenize, "metrics": "BLEU"}
            load(database, tmp_path / "one.txt", "segments", fields={"system": "one", "test_set": "t"}, options=options)
    assert path.exists()
    with Session.open(tmp_path / "two.duckdb") as session:
        with pytest.raises(QueryError, match="t has 2 kinds of counts of BLEU") as caught:
            session.run("score BLEU for one on t")
        assert caught.value.hints == ("counted: nrefs:1|case:mixed|tok:13a, nrefs:1|case:mixed|tok:char",)
        [row] = rows(session, "score BLEU(tokenize=char) for one on t")
        wanted = BLEU(tokenize="char").corpus_score(["a b c d e"], [["a b c d f"]]).score / 100
        assert row["BLEU(tokenize=char)"] == pytest.approx(wanted, abs=1e-9)
        with pytest.raises(QueryError, match="t has no counts for TER"):
            session.run("score TER for one on t")


def test_definitions_build_on_them(close: Close) -> None:
    session, _, _ = close
    [row] = rows(session, "define measure both = BLEU + chrF; score both, BLEU, chrF for one on t")
    assert row["both"] == pytest.approx(row["BLEU"] + row["chrF"], abs=1e-12)
    first, second = rows(session, "score TER for all on t")
    assert first["TER"] <= second["TER"], "lower is better"


def test_what_single_segments_have_is_noted(close: Close) -> None:
    session, _, _ = close
    for statement in ("score mean(BLEU) for all on t", "compare mean(BLEU) for all on t shuffles 99"):
        assert any("averages the values of single segments" in note for note in session.run(statement).notes)


@pytest.mark.skipif(not REAL.is_dir(), reason="the real texts are not beside the checkout (../shared/data)")
@pytest.mark.long
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_real_texts_have_the_values_of_sacrebleu(tmp_path: Path, every: int) -> None:
    gold, *given = (
        (REAL / f"ted.{name}.detok.eng").read_text(encoding="utf-8").splitlines()[::every]
        for name in ("ref", "sys1", "sys2")
    )
    systems = dict(zip(("sys1", "sys2"), given, strict=True))
    with Session.open(stored(tmp_path, systems, [gold])) as session:
        for name, metric in METRICS.items():
            found = {row["system"]: row[name.strip('"')] for row in rows(session, f"score {name} for all on t")}
            wanted = {system: metric.corpus_score(lines, [gold]).score / 100 for system, lines in systems.items()}
            assert found == pytest.approx(wanted, abs=1e-9)
