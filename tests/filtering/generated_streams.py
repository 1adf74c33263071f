"""Generated test sets with and without a key, and what QuaPy 0.2.3 estimates for them. `python -m
tests.filtering.generated_streams` computes the estimates again if QuaPy is installed (it also needs pandas, tqdm and
joblib).

Confidences of relevant documents are normal around 1.5, those of others around 0.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.filtering.unlabelled import KeyedDecisions, SystemDecisions, bins
from evalhouse.warehouse.significance.arrays import Floats


class Streamed(Struct, frozen=True):
    """A test set of so many documents with a generality, and the stream; and what QuaPy estimates: adjusted counts, EM
    over posteriors that are calibrated in our bins, and EM over the true posteriors of the test set with a key.
    """

    seed: int
    documents: int
    generality: float
    stream: int
    to: float
    adjusted_counts: float
    em: float
    em_of_true_posteriors: float

    def drawn(self) -> tuple[KeyedDecisions, SystemDecisions]:
        chance = np.random.default_rng(self.seed)
        relevant = chance.random(self.documents) < self.generality
        source = KeyedDecisions(_decided(relevant, chance), relevant, ~relevant)
        return source, _decided(chance.random(self.stream) < self.to, chance)


def _decided(relevant: np.ndarray, chance: np.random.Generator) -> SystemDecisions:
    confidence = chance.normal(np.where(relevant, 1.5, 0.0), 1.0)
    return SystemDecisions(confidence > 0.75, confidence, np.arange(len(relevant)))


STREAMS = (
    Streamed(1, 200, 0.5, 400, 0.3, 0.326923, 0.333318, 0.252938),
    Streamed(2, 200, 0.5, 400, 0.1, 0.045859, 0.102004, 0.079368),
    Streamed(3, 400, 0.2, 1000, 0.5, 0.435728, 0.455111, 0.485837),
    Streamed(4, 1000, 0.1, 2000, 0.05, 0.061407, 0.064523, 0.058850),
    Streamed(5, 1000, 0.1, 2000, 0.3, 0.297020, 0.302354, 0.320050),
    Streamed(6, 3000, 0.4, 5000, 0.2, 0.174378, 0.192149, 0.211732),
)


def asked_again(streamed: Streamed) -> tuple[float, float, float]:
    """The three estimates by QuaPy."""
    solve_adjustment_binary = import_module("quapy.functional").solve_adjustment_binary
    em_quantifier = import_module("quapy.method.aggregative").EMQ
    em_quantifier.MAX_ITER = 1_000_000
    source, stream = streamed.drawn()
    recall, fallout = (float(source.decided.yes[kind].mean()) for kind in (source.relevant, source.other))
    counts = float(solve_adjustment_binary(float(stream.yes.mean()), recall, fallout, clip=False))
    divided = bins(source.decided, source.relevant, source.other)
    calibrated = np.array([source.relevant[divided.of(source.decided) == one].mean() for one in range(divided.size)])
    own = float(source.relevant.mean())
    odds = np.exp(1.5 * stream.confidence - 1.5**2 / 2) * own / (1 - own)

    def em(posteriors: Floats) -> float:
        both = np.stack((1 - posteriors, posteriors), axis=1)
        return float(em_quantifier.EM(np.array([1 - own, own]), both, epsilon=1e-13)[0][1])

    return counts, em(calibrated[divided.of(stream)]), em(odds / (1 + odds))


if __name__ == "__main__":
    for streamed in STREAMS:
        print(streamed.seed, *(f"{estimate:.6f}" for estimate in asked_again(streamed)))
