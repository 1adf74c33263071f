"""The generality of streams: QuaPy's estimates, laws, and the messages when there is no estimate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from evalhouse.warehouse.filtering.unlabelled import (
    OF_DECISIONS,
    Estimate,
    Estimator,
    KeyedDecisions,
    SystemDecisions,
    Weights,
    bins,
    estimate,
)
from tests.filtering.generated_streams import STREAMS, Streamed


def estimated(by: Estimator, source: KeyedDecisions, stream: SystemDecisions) -> Estimate:
    return estimate(by, source, stream, Weights(1992, "source"), Weights(1992, "stream"), 0.05)


def of_counts(
    recall: tuple[int, int], fallout: tuple[int, int], stream: tuple[int, int]
) -> tuple[KeyedDecisions, SystemDecisions]:
    """So many decided yes, of relevant and other documents with a key, and of those without."""

    def yes(*groups: tuple[int, int]) -> SystemDecisions:
        decided = np.concatenate([np.arange(total) < chosen for chosen, total in groups])
        return SystemDecisions(decided, np.full(len(decided), np.nan), np.arange(len(decided)))

    relevant = np.arange(recall[1] + fallout[1]) < recall[1]
    return KeyedDecisions(yes(recall, fallout), relevant, ~relevant), yes(stream)


@pytest.mark.parametrize("streamed", STREAMS, ids=lambda streamed: streamed.seed)
def test_estimates_are_those_of_quapy(streamed: Streamed) -> None:
    source, stream = streamed.drawn()
    assert estimated("adjusted counts", source, stream).value == pytest.approx(streamed.adjusted_counts, abs=1e-6)
    by_em = estimated("EM", source, stream)
    assert by_em.value == pytest.approx(streamed.em, abs=2e-6)
    # What calibration in bins costs is no more than the interval says.
    assert by_em.limits is not None
    assert by_em.limits[0] < streamed.em_of_true_posteriors < by_em.limits[1]


@pytest.mark.long
def test_quapy_says_the_same_today() -> None:
    pytest.importorskip("quapy")
    from tests.filtering.generated_streams import asked_again

    for streamed in STREAMS:
        own = (streamed.adjusted_counts, streamed.em, streamed.em_of_true_posteriors)
        assert asked_again(streamed) == pytest.approx(own, abs=1e-6)


def test_adjusted_counts_by_hand() -> None:
    # q = 0.35, recall 0.8, fallout 0.2: (0.35 − 0.2) / 0.6
    found = estimated("adjusted counts", *of_counts((80, 100), (20, 100), (35, 100)))
    assert found.value == pytest.approx(0.25)
    assert found.limits is not None
    assert found.limits[0] < 0.25 < found.limits[1]


def test_where_recall_is_fallout_it_cannot_be_had() -> None:
    assert not estimated("adjusted counts", *of_counts((30, 100), (30, 100), (35, 100))).to_be_had
    assert not estimated("EM", *of_counts((30, 100), (32, 100), (35, 100))).to_be_had
    # Fewer of the relevant than of the others decided yes says as much as more.
    assert estimated("adjusted counts", *of_counts((20, 100), (80, 100), (35, 100))).to_be_had


def test_an_estimate_outside_of_0_to_1_is_no_generality() -> None:
    near = estimated("adjusted counts", *of_counts((80, 100), (20, 100), (18, 100)))
    assert (near.value < 0, near.inside, near.to_be_had) == (True, False, True)
    assert near.limits is not None
    assert near.limits[0] == 0 < near.limits[1]
    far = estimated("adjusted counts", *of_counts((800, 1000), (300, 1000), (50, 1000)))
    assert far.limits is None
    end = estimated("EM", *of_counts((80, 100), (20, 100), (18, 100)))
    assert (end.value, end.inside) == (0.0, False)


def test_em_has_no_generality_where_all_draws_are_at_one_end() -> None:
    for stream, end in (((40, 40), 1.0), ((0, 40), 0.0)):
        source, unlabelled = of_counts((80, 100), (20, 100), stream)
        constant = KeyedDecisions(replaced(source.decided), source.relevant, source.other)
        found = estimated("EM", constant, replaced(unlabelled))
        assert (found.value, found.limits) == (end, None)
    # A system without a mistake tells that nothing is relevant.
    source, unlabelled = of_counts((100, 100), (0, 100), (0, 40))
    found = estimated(
        "EM", KeyedDecisions(replaced(source.decided), source.relevant, source.other), replaced(unlabelled)
    )
    assert found.limits is not None
    assert found.limits[0] == 0 < found.limits[1]


def test_what_it_tells_lies_within_its_limits() -> None:
    found = estimated("adjusted counts", *of_counts((4, 4), (0, 3), (5, 9)))
    assert found.tells == 1
    assert found.tells_limits[1] == 1


def test_the_prior_of_clusters_is_half_a_cluster() -> None:
    """Clusters that decide as one weigh as many documents as there are clusters."""
    yes = np.repeat([1, 1, 1, 0, 1, 1], 10).reshape(6, 10).sum(axis=1)
    weights = Weights(1992, "clusters")
    (ten,) = weights.shares(["R"], yes[None], 10 - yes[None])
    (one,) = weights.shares(["R"], yes[None] // 10, 1 - yes[None] // 10)
    assert ten == pytest.approx(one)


def test_em_over_decisions_alone_is_adjusted_counts() -> None:
    source, stream = of_counts((80, 100), (20, 100), (35, 100))
    constant = KeyedDecisions(replaced(source.decided), source.relevant, source.other)
    assert bins(constant.decided, source.relevant, source.other).size == OF_DECISIONS.size
    assert estimated("EM", constant, replaced(stream)).value == pytest.approx(0.25)


def replaced(decided: SystemDecisions, confidence: Sequence[float] = ()) -> SystemDecisions:
    """The same decisions, of one confidence."""
    return SystemDecisions(decided.yes, np.full(len(decided.yes), 0.5), decided.cluster)


def test_bins_divide_yes_from_no_and_keep_equal_confidences_together() -> None:
    chance = np.random.default_rng(5)
    relevant = chance.random(600) < 0.5
    confidence = np.round(chance.normal(relevant, 1.0), 1)
    decided = SystemDecisions(confidence > 0.4, confidence, np.arange(600))
    divided = bins(decided, relevant, ~relevant)
    inside = divided.of(decided)
    assert divided.size == 10
    assert (divided.decided_yes[inside] == decided.yes).all()
    for one in np.unique(confidence):
        assert len(set(inside[(confidence == one) & decided.yes])) <= 1
    assert np.bincount(inside, minlength=divided.size).min() >= 15
    # What is surer, or less sure, than anything with a key is in the bin at that end.
    beyond = SystemDecisions(np.array([False, True]), np.array([-99.0, 99.0]), np.arange(2))
    assert divided.of(beyond).tolist() == [0, 9]


def test_clusters_of_a_stream_make_the_interval_wider() -> None:
    source, stream = of_counts((80, 100), (20, 100), (350, 1000))
    together = SystemDecisions(stream.yes, stream.confidence, np.arange(1000) // 50)
    apart, clustered = (estimated("adjusted counts", source, some).limits for some in (stream, together))
    assert apart is not None
    assert clustered is not None
    assert clustered[1] - clustered[0] > 1.5 * (apart[1] - apart[0])
