"""All measures of trec_eval and of ir_measures that are functions of a run and its qrels, as both spell them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import exp, isclose, isnan, log, log2
from pathlib import Path
from random import Random

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from ir_measures.measures import registry

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from tests.store.test_rankings import ON, Grades, Scores, collection, lines, values

TEXTS = {"runid", "relstring"}
"""What trec_eval prints of a run and is no number."""

ROUNDED = ("iprec_at_recall", "11pt_avg")
"""What pytrec_eval computes as trec_eval 9 does, and trec_eval 10 another way."""

PAGE = Path("docs/language/rankings.md")


@pytest.fixture(scope="module", params=["with ties", "without ties"])
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Session, Grades, Scores]]:
    """A run, and qrels of which some items are in the pool and were not judged."""
    folder, chance = tmp_path_factory.mktemp("judged"), Random(3)
    grades, scores = collection(5, request.param == "with ties")
    grades = {
        topic: {item: -2 if chance.random() < 0.1 else grade for item, grade in of.items()}
        for topic, of in grades.items()
    }
    with in_memory() as database:
        for name, text in zip(("qrels", "run"), lines(grades, scores), strict=True):
            (folder / name).write_text(text)
            load(database, folder / name, "trec", fields=ON)
        yield Session(database), grades, scores


def evaluated(grades: Grades, scores: Scores) -> dict[str, dict[str, float]]:
    """What pytrec_eval computes: the values of topics, by measure."""
    of_topics = pytrec_eval.RelevanceEvaluator(grades, pytrec_eval.supported_measures).evaluate(scores)
    names = [name for name in next(iter(of_topics.values())) if name not in TEXTS]
    return {name: {topic: of[name] for topic, of in of_topics.items()} for name in names}


def as_printed(name: str) -> str:
    """A measure of pytrec_eval as it is asked for here."""
    return f"{name}(rounding=up)" if name.startswith(ROUNDED) else "utility(c=0)" if name == "utility" else name


def test_every_number_that_trec_eval_prints_of_a_topic_is_computed(judged: tuple[Session, Grades, Scores]) -> None:
    session, grades, scores = judged
    counted = 0
    for name, wanted in evaluated(grades, scores).items():
        if name == "utility":
            found = {
                str(row["document"]): row["utility"]
                for row in session.run("score utility of rankings for all by document").rows
            }
        else:
            found = dict(values(session, as_printed(name))[as_printed(name)])
        own = {topic: exp(value) if name.startswith("gm_") else value for topic, value in wanted.items()}
        assert found == pytest.approx(own, abs=1e-9), name
        counted += 1
    assert f"{counted} measures that trec_eval prints as numbers" in " ".join(PAGE.read_text().split())


def test_what_is_printed_of_all_topics_is_a_mean_a_sum_or_a_geometric_mean(
    judged: tuple[Session, Grades, Scores],
) -> None:
    session, grades, scores = judged
    of_topics = evaluated(grades, scores)
    asked = ["num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "gm_map", "gm_bpref", "map", "num_q"]
    for name in asked:
        [row] = session.run(f"score {name} for all").rows
        [found] = [value for key, value in row.items() if key.casefold() in (name, "map")]
        wanted = pytrec_eval.compute_aggregated_measure(name, list(of_topics[name].values()))
        assert found == pytest.approx(wanted, rel=1e-9), name


def test_the_geometric_mean_counts_topics_that_a_run_leaves_out(judged: tuple[Session, Grades, Scores]) -> None:
    """With their lowest value, as with `trec_eval -c`; a sum of nothing adds nothing."""
    session, grades, scores = judged
    logarithms = evaluated(grades, scores)["gm_map"].values()
    [row] = session.run("score GMAP, NumRet for all missing zero").rows
    without = len(grades) - len(logarithms)
    assert row["GMAP"] == pytest.approx(exp((sum(logarithms) + without * -11.512925464970229) / len(grades)), rel=1e-9)
    assert row["NumRet"] == sum(map(len, scores.values()))


NAMES = [
    *("AP", "AP(judged_only=True)", "AP(rel=2)@5", "MAP@10", "AP(cutoff=5)", "AP(rel=2,judged_only=True)@10"),
    *("nDCG", "NDCG@5", "nDCG(dcg='log2')@20", "nDCG(judged_only=True)@10"),
    *("P(rel=2)@5", "Precision@10", "P(judged_only=True,rel=3)@5", "R(rel=2)@5", "Recall@10", "R(judged_only=True)@5"),
    *("RR", "MRR", "RR(rel=2)@5", "RR(judged_only=True)", "Rprec", "RPrec(rel=2)", "Rprec(judged_only=True)"),
    *("Bpref", "BPref(rel=2)", "Success@5", "Success(rel=2)@10", "Success(judged_only=True)@3"),
    *("Judged@5", "Judged", "infAP", "infAP(rel=2)", "NumRel", "NumRet", "NumRet(rel=2)", "NumRelRet"),
    *("SetP", "SetP(rel=2)", "SetP(judged_only=True)", "SetP(relative=True)", "SetRelP", "SetR", "SetR(rel=2)"),
    *("SetF", "SetF(beta=0.5)", "SetF(beta=2.0,rel=2)", "SetF(judged_only=True)", "SetAP", "SetAP(rel=2)"),
    *("IPrec@0.5", "IPrec(rel=2)@0.1", "IPrec(judged_only=True)@0.0", "IPrec(recall=0.25)", "NumQ"),
]
"""Measures as ir_measures writes them, with all their parameters."""


@pytest.mark.parametrize("name", NAMES)
def test_names_of_ir_measures_are_taken_as_they_are(name: str, without_ties: tuple[Session, Grades, Scores]) -> None:
    session, grades, scores = without_ties
    measure = ir_measures.parse_measure(name)
    found = session.run(f"score {name} for all on T by document").rows
    column = [*found[0]][5]
    known = ir_measures.iter_calc([measure], grades, scores)
    # trec_eval divides 0 by 0 where nothing judged was retrieved.
    wanted = {one.query_id: 0.0 if isnan(one.value) else one.value for one in known if one.query_id in scores}
    assert {str(row["document"]): row[column] for row in found} == pytest.approx(wanted, abs=1e-9)


@pytest.fixture(scope="module")
def without_ties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Grades, Scores]]:
    folder = tmp_path_factory.mktemp("untied")
    grades, scores = collection(11, ties=False)
    with in_memory() as database:
        for name, text in zip(("qrels", "run"), lines(grades, scores), strict=True):
            (folder / name).write_text(text)
            load(database, folder / name, "trec", fields=ON)
        yield Session(database), grades, scores


NOT_THERE = {
    *("ERR_IA", "nERR_IA", "alpha_DCG", "α_DCG", "alpha_nDCG", "α_nDCG", "NRBP", "nNRBP", "AP_IA", "MAP_IA", "P_IA"),
    *("StRecall", "Accuracy", "Compat"),
}
"""Names of ir_measures that are not known here: those that need subtopics, and two more."""


def test_the_names_of_ir_measures_are_known(without_ties: tuple[Session, Grades, Scores]) -> None:
    session = without_ties[0]
    needed = {"P": "@5", "Precision": "@5", "R": "@5", "Recall": "@5", "Success": "@5", "IPrec": "@0.5", "Judged": "@5"}
    names = [name for name in registry if name not in NOT_THERE]
    for name in names:
        cut = needed.get(name, "@5" if name in ("BPM", "SDCG", "NERR8", "NERR9") else "")
        assert session.run(f"score {name}{cut} for all on T").rows, name
    unknown = [name for name in registry if name not in names]
    said = " ".join(PAGE.read_text().split())
    assert f"{len(names)} of the {len(registry)} names of ir_measures" in said
    for name in unknown:
        with pytest.raises(QueryError):
            session.run(f"score {name}@5 for all on T")


def read(gains: list[float], goes_on: str, k: int = 0, wanted: float = 1.0, p: float = 0.9) -> float:
    """The mean gain of a reader, by the definition of C/W/L: the chance to come to a place is the product of the
    chances to go on before it.
    """
    comes, found, places = 1.0, 0.0, 0.0
    gained = 0.0
    for rank in range(1, 1001):
        gain = gains[rank - 1] if rank <= len(gains) else 0.0
        gained += gain
        found, places = found + comes * gain, places + comes
        waiting = ((rank + 2 * wanted - 1) / (rank + 2 * wanted)) ** 2
        left = rank + 2 * wanted - gained
        comes *= {
            "INST": ((left - 1) / left) ** 2,
            "INSQ": waiting,
            "NERR8": (rank < k) * (1 - gain),
            "NERR9": (rank < k) * (1 - gain) * rank / (rank + 1),
            "NERR10": p * (1 - gain),
            "NERR11": waiting * (1 - gain),
            "BPM": float(rank < k and gained < wanted and not isclose(gained, wanted)),
            "SDCG": (rank < k) * log2(rank + 1) / log2(rank + 2),
        }[goes_on]
    return found / places


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("INST", {}),
        ("INST(T=2.5)", {"wanted": 2.5}),
        ("INSQ(T=0.5)", {"wanted": 0.5}),
        ("NERR8(max_rel=3)@5", {"k": 5}),
        ("NERR9(max_rel=3)@10", {"k": 10}),
        ("NERR10(p=0.5)", {"p": 0.5}),
        ("NERR11(T=2)", {"wanted": 2.0}),
        ("BPM(T=2)@10", {"k": 10, "wanted": 2.0}),
        ("SDCG@10", {"k": 10}),
    ],
)
def test_readers_gain_what_their_papers_say(
    name: str, settings: Mapping[str, float], without_ties: tuple[Session, Grades, Scores]
) -> None:
    session, grades, scores = without_ties
    bare = re.match(r"\w+", name)
    assert bare is not None
    wanted = {}
    for topic, of in scores.items():
        order = sorted(of, key=lambda item: of[item], reverse=True)
        gains = [max(grades[topic].get(item, 0), 0) / 3 for item in order]
        wanted[topic] = read(gains, bare[0], **settings)  # type: ignore[arg-type]
    found = session.run(f"score {name} for all on T by document").rows
    column = next(key for key in found[0] if key.startswith(bare[0]))
    assert {str(row["document"]): row[column] for row in found} == pytest.approx(wanted, abs=1e-9)


def test_what_trec_eval_printed_is_checked_with_all_its_measures(tmp_path: Path) -> None:
    grades, scores = collection(2, ties=True)
    of_topics = evaluated(grades, scores)
    printed = "".join(
        f"{name}\t{topic}\t{value:.4f}\n"
        for name, of in of_topics.items()
        if not name.startswith("gm_") and name != "num_q"
        for topic, value in of.items()
    )
    summed = "".join(
        f"{name}\tall\t{pytrec_eval.compute_aggregated_measure(name, [*of_topics[name].values()]):.4f}\n"
        for name in ("map", "gm_map", "gm_bpref", "num_ret", "infAP", "iprec_at_recall_0.10")
    )
    with in_memory() as database:
        for name, text in zip(("qrels", "run"), lines(grades, scores), strict=True):
            (tmp_path / name).write_text(text)
            load(database, tmp_path / name, "trec", fields=ON)
        (tmp_path / "out").write_text(printed + summed + "runid\tall\tbase\n")
        loaded = load(database, tmp_path / "out", "trec-eval", fields=ON, strict=True)
        assert loaded.disagreeing == ()
        assert loaded.import_id is None  # each value is that of the stored run, so nothing is left to store
        (tmp_path / "out").write_text(printed + "gm_map\tall\t0.9999\nrunid\tall\tbase\n")
        assert load(database, tmp_path / "out", "trec-eval", fields=ON).disagreeing


def test_utility_may_be_that_of_filtering_or_that_of_trec_eval(without_ties: tuple[Session, Grades, Scores]) -> None:
    session = without_ties[0]
    with pytest.raises(QueryError, match="utility on T could be that of filtering or that of rankings") as caught:
        session.run("score utility for all on T")
    [hint] = caught.value.hints
    for asked in hint.removeprefix("write ").split(" or "):
        assert session.run(f"score {asked.partition(' of ')[0]} of {asked.partition(' of ')[2]} for all on T").rows


def test_sums_and_geometric_means_are_tested_as_means_are(tmp_path: Path) -> None:
    """A sum, and e to the power of a mean, grow with the mean, so that exchanges put them in the same order."""
    chance = Random(8)
    (tmp_path / "qrels").write_text("".join(f"t{t} 0 d{d} {chance.randrange(2)}\n" for t in range(8) for d in range(9)))
    runs = "".join(
        f"t{t} Q0 d{d} 1 {chance.random()} {system}\n"
        for system in ("new", "old")
        for t in range(8)
        for d in chance.sample(range(9), chance.randrange(2, 9))
    )
    (tmp_path / "run").write_text(runs)
    with in_memory() as database:
        load(database, tmp_path / "qrels", "trec", fields=ON)
        load(database, tmp_path / "run", "trec", fields=ON)
        session = Session(database)
        rows = {
            name: session.run(f"compare {name} for new, old on T test randomization").rows[0]
            for name in ("NumRelRet", "mean(NumRelRet)", "GMAP")
        }
        alone = {row["system"]: row for row in session.run("score GMAP, NumRelRet for all on T").rows}
        topics = session.run("score GMAP for all on T by document").rows
    for name in ("NumRelRet", "GMAP"):
        assert [rows[name][side] for side in ("value_a", "value_b")] == pytest.approx(
            [alone[system][name] for system in ("new", "old")], rel=1e-9
        )
    assert float(rows["NumRelRet"]["value_a"]).is_integer()  # type: ignore[arg-type]
    values_of = {(row["system"], row["document"]): row["GMAP"] for row in topics}
    pairs = [(values_of["new", f"t{t}"], values_of["old", f"t{t}"]) for t in range(8)]

    def difference(swapped: int) -> float:
        both = [(b, a) if swapped >> t & 1 else (a, b) for t, (a, b) in enumerate(pairs)]
        mine, theirs = zip(*both, strict=True)
        return abs(geometric(mine) - geometric(theirs))

    def geometric(of: tuple[float, ...]) -> float:
        return exp(sum(map(log, of)) / len(of))

    beyond = sum(difference(swapped) >= difference(0) - 1e-12 for swapped in range(256))
    assert rows["GMAP"]["p"] == pytest.approx(beyond / 256)


# === spelling =========================================================================================================


@given(st.integers(1, 999), st.integers(1, 9))
def test_a_cutoff_may_stand_behind_the_parameters(k: int, rel: int) -> None:
    behind, before = (parse(f"score {text} for all") for text in (f"P(rel={rel})@{k}", f"P@{k}(rel={rel})"))
    assert to_text(behind) == to_text(before)
    assert parse(to_text(behind)) == parse(to_text(before))


def test_words_may_have_apostrophes() -> None:
    assert to_text(parse("score nDCG(dcg='exp-log2')@20 for all")) == "score nDCG@20(dcg=exp-log2) for all"


@pytest.mark.parametrize("text", ["P(rel=2)@", "P(rel=2)@x", "P(rel=2)5", "P(rel='2)@5", "P@5(rel=2)@5"])
def test_what_is_no_cutoff_is_refused(text: str, without_ties: tuple[Session, Grades, Scores]) -> None:
    with pytest.raises(QueryError):
        without_ties[0].run(f"score {text} for all on T")


def test_synonyms_of_the_field(without_ties: tuple[Session, Grades, Scores]) -> None:
    session = without_ties[0]
    for synonym, own in {
        "hit_rate@5": "Success@5", "Hits@5": "Success@5", "HR@5": "Success@5", "MRR@10": "RR@10", "Recall@5": "R@5",
        "ndcg_cut_10": "nDCG@10", "recip_rank": "RR", "map": "AP", "P_5": "P@5", "success_1": "Success@1",
        "recall_100": "R@100", "iprec_at_recall_0.10": "IPrec@0.1(rounding=nearest)",
    }.items():  # fmt: skip
        (row,), (other,) = (session.run(f"score {name} for all on T").rows for name in (synonym, own))
        assert [*row.values()] == [*other.values()], synonym
