"""The parts of the variance of a system's value that are due to documents, replicates and chance, and how much more
documents or replicates would reduce it.

The value of a document in a replicate is the sum of a mean, a document effect, a replicate effect and a residual, all
independent: the two-way layout with crossed random effects and one value a cell (Searle, Casella and McCulloch 1992,
chapter 4; for repeatedly sampled answers Miller 2024, section 3). Variances are estimated by REML, as lme4 does for `y
~ 1 + (1 | document) + (1 | replicate)`, so no estimate is negative. If each document is in each replicate, the
estimates follow from the mean squares; otherwise the criterion is minimized. The module works on numbers only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, log, sqrt

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance.arrays import Booleans, Floats

NOTHING = 1e-12
"""Sums of squares below this share of the whole are rounding errors."""

LARGEST_SHARE = 1 - 1e-4
"""The upper end of the search for the square root x of a ratio of variances, as x / (1 + x)."""

GRID = np.concatenate((np.linspace(0, 0.9, 10), (0.95, 0.98, 0.99, 0.999, LARGEST_SHARE)))
"""The grid on which a minimum is located before it is refined."""

MOST_ROUNDS = 200
"""The largest number of rounds in which the two ratios of variances are minimized in turn."""

SETTLED = 1e-12
"""The search ends when a round changes the ratios by less than this."""

DIGITS = 9
"""The number of digits of the results that are the same on every processor."""


class Components(Struct, frozen=True):
    """The variances between documents, between replicates and of the residual, and three standard errors of the mean
    over documents: for the data as they are, with one more document in each replicate, and with one more replicate of
    each document.
    """

    document: float
    replicate: float
    residual: float
    error: float
    error_with_document: float
    error_with_replicate: float


def components(values: Floats, present: Booleans) -> Components | None:
    """The components of values of shape (replicates, documents); those that are not `present` do not count.

    Returns None if the three components cannot be separated, for example if each document has one replicate. Every
    replicate must have a document, and every document a replicate.
    """
    design = _Design.of(present)
    if design.spare < 1:
        return None
    centred = np.where(present, values - values[present].mean(), 0.0)
    size = float(np.abs(centred).max())
    if not size > NOTHING * float(np.abs(values[present]).max()):
        return design.standard_errors(0.0, 0.0, 0.0)
    scaled = centred / size
    estimated = _balanced_variances(scaled) if present.all() else _unbalanced_variances(scaled, present)
    return design.standard_errors(*(variance * size**2 for variance in estimated))


# --- which replicate has which documents ------------------------------------------------------------------------------


class _Design(Struct, frozen=True):
    """The numbers that standard errors need, from the cells that are present.

    `spare` is the degrees of freedom of the residual. `shares` has the weights of the replicates in the mean, and
    `squares` is the sum of the squared weights of the cells; both are also given for one more replicate of each
    document.
    """

    replicates: int
    documents: int
    spare: int
    shares: Floats
    squares: float
    shares_with_replicate: Floats
    squares_with_replicate: float

    @classmethod
    def of(cls, present: Booleans) -> _Design:
        replicates, documents = present.shape
        counts = present.sum(axis=0)
        shares, more = ((present / of).sum(axis=1) / documents for of in (counts, counts + 1))
        added = float((1 / (counts + 1)).sum()) / documents
        return cls(
            replicates=replicates,
            documents=documents,
            spare=int(counts.sum()) - documents - replicates + _count_connected(present),
            shares=shares,
            squares=float((1 / counts).sum()) / documents**2,
            shares_with_replicate=np.append(more, added),
            squares_with_replicate=added / documents,
        )

    def standard_errors(self, document: float, replicate: float, residual: float) -> Components:
        """The components for these variances, with the standard errors that follow."""
        size, more = self.documents, self.documents + 1
        shares = (size * self.shares + 1 / self.replicates) / more
        squares = (size**2 * self.squares + 1 / self.replicates) / more**2

        def error(documents: int, of_replicates: Floats, of_cells: float) -> float:
            spread = replicate * float((of_replicates**2).sum())
            return sqrt(document / documents + spread + residual * of_cells)

        numbers = (
            document,
            replicate,
            residual,
            error(size, self.shares, self.squares),
            error(more, shares, squares),
            error(size, self.shares_with_replicate, self.squares_with_replicate),
        )
        return Components(*(float(f"{number:.{DIGITS}g}") for number in numbers))


def _count_connected(present: Booleans) -> int:
    """The number of connected parts of the replicates, where replicates with a common document are connected."""
    number = present.astype(np.float64)
    reached = (number @ number.T) > 0
    for _ in range(len(present).bit_length()):
        reached = (reached.astype(np.float64) @ reached) > 0
    return len(np.unique(reached, axis=0))


# --- each document in each replicate ----------------------------------------------------------------------------------


def _balanced_variances(values: Floats) -> tuple[float, float, float]:
    """The variances from the mean squares of documents, replicates and residual.

    The expected mean square of an effect is never below that of the residual. If the observed one is, it is pooled with
    that of the residual, the smaller one first, and the variance of the effect is 0. This maximizes the restricted
    likelihood, because the sums of squares are independent.
    """
    replicates, documents = values.shape
    by_document, by_replicate = values.mean(axis=0), values.mean(axis=1)
    rest = values - by_document - by_replicate[:, None] + values.mean()
    whole = float((values**2).sum())
    sums = {
        "document": replicates * float((by_document - values.mean()).var() * documents),
        "replicate": documents * float((by_replicate - values.mean()).var() * replicates),
    }
    degrees = {"document": documents - 1, "replicate": replicates - 1}
    left, spare = float((rest**2).sum()), (documents - 1) * (replicates - 1)
    left = left if left > NOTHING * whole else 0.0
    for effect in sorted(sums, key=lambda effect: sums[effect] / degrees[effect]):
        if sums[effect] / degrees[effect] <= max(left / spare, NOTHING * whole):
            left, spare = left + sums.pop(effect), spare + degrees[effect]
    residual = left / spare
    between = {effect: sums[effect] / degrees[effect] - residual if effect in sums else 0.0 for effect in degrees}
    return between["document"] / replicates, between["replicate"] / documents, residual


# --- where some documents are not in some replicates ------------------------------------------------------------------


class _Fitted(Struct, frozen=True):
    """The criterion, which is minus twice the log restricted likelihood up to a constant; the variance of the residual;
    and the slopes of the criterion with respect to the two ratios of variances, for documents and for replicates.
    """

    criterion: float
    residual: float
    by_document: float
    by_replicate: float


class _Restricted(Struct, frozen=True):
    """The restricted likelihood for any ratios of the variances to that of the residual, from sums over documents with
    the same number of replicates.

    `sizes` has these numbers of replicates, and `many` the number of documents with each. `both`, of shape (sizes,
    replicates, replicates), counts the documents that two replicates share. `totals` and `squares` are the sums of the
    documents' sums and of their squares, and `of_replicates` has the sums of the documents' sums by replicate. `own`
    has the sum of the values of each replicate.
    """

    sizes: Floats
    many: Floats
    both: Floats
    totals: Floats
    squares: Floats
    of_replicates: Floats
    own: Floats
    whole: float

    @classmethod
    def of(cls, values: Floats, present: Booleans) -> _Restricted:
        counts, sums, number = present.sum(axis=0), values.sum(axis=0), present.astype(np.float64)
        sizes = np.unique(counts)
        alike = [counts == size for size in sizes]
        return cls(
            sizes=sizes.astype(np.float64),
            many=np.array([some.sum() for some in alike], dtype=np.float64),
            both=np.stack([number[:, some] @ number[:, some].T for some in alike]),
            totals=np.array([sums[some].sum() for some in alike]),
            squares=np.array([(sums[some] ** 2).sum() for some in alike]),
            of_replicates=np.stack([number[:, some] @ sums[some] for some in alike]),
            own=values.sum(axis=1),
            whole=float((values**2).sum()),
        )

    def fit_ratios(self, document: float, replicate: float) -> _Fitted:
        """The fit for given ratios of the variances between documents and between replicates to the variance of the
        residual.

        Documents are integrated out one by one, replicates all together (Searle, Casella and McCulloch 1992, chapter
        6).
        """
        shrunk = 1 / (1 + document * self.sizes)
        weights = document * shrunk
        having = np.einsum("kii->ki", self.both)
        between = np.diag(having.sum(axis=0)) - np.tensordot(weights, self.both, 1)
        of_values = self.own - weights @ self.of_replicates
        of_ones = having.sum(axis=0) - (weights * self.sizes) @ having
        inverse = np.linalg.inv(np.eye(len(self.own)) + replicate * between)
        by_values, by_ones = inverse @ of_values, inverse @ of_ones
        size = float(self.sizes @ self.many)
        ones = size - float(weights * self.sizes**2 @ self.many) - replicate * float(of_ones @ by_ones)
        cross = -float(weights * self.sizes @ self.totals) - replicate * float(of_ones @ by_values)
        squares = self.whole - float(weights @ self.squares) - replicate * float(of_values @ by_values)
        left = squares - cross**2 / ones if ones > 0 else 0.0
        if not left > 0:
            return _Fitted(inf, 0.0, 0.0, 0.0)
        determinant = float(self.many @ np.log1p(document * self.sizes)) - float(np.linalg.slogdet(inverse)[1])
        mean, spare = cross / ones, size - 1
        by_rest = by_values - mean * by_ones
        of_rest = self._squares_by_document(shrunk, replicate * by_rest, mean)
        of_units = self._squares_of_ones(shrunk, replicate * by_ones)
        shared = np.tensordot(shrunk**2, self.both, 1)
        traced = float(self.many * self.sizes @ shrunk) - replicate * float((inverse * shared).sum())
        return _Fitted(
            criterion=determinant + log(ones) + spare * log(left / spare),
            residual=left / spare,
            by_document=traced - of_units / ones - spare * of_rest / left,
            by_replicate=float((inverse * between).sum())
            - float(by_ones @ by_ones) / ones
            - spare * float(by_rest @ by_rest) / left,
        )

    def _squares_by_document(self, shrunk: Floats, effects: Floats, mean: float) -> float:
        """The sum over documents of the squared, shrunken sums of the values minus the mean and the replicate
        effects.
        """
        having = np.einsum("kii->ki", self.both)
        squares = self.squares - 2 * mean * self.sizes * self.totals + mean**2 * self.sizes**2 * self.many
        crossed = self.of_replicates @ effects - mean * self.sizes * (having @ effects)
        return float(shrunk**2 @ (squares - 2 * crossed + (self.both @ effects) @ effects))

    def _squares_of_ones(self, shrunk: Floats, effects: Floats) -> float:
        """The same for values of one in place of the data, without subtracting the mean."""
        having = np.einsum("kii->ki", self.both)
        squares = self.sizes**2 * self.many - 2 * self.sizes * (having @ effects)
        return float(shrunk**2 @ (squares + (self.both @ effects) @ effects))


def _unbalanced_variances(values: Floats, present: Booleans) -> tuple[float, float, float]:
    """The variances that minimize the criterion, one ratio after the other until neither moves.

    The search is over x / (1 + x), which lies between 0 and 1, where x is the square root of the ratio. If documents
    and replicates leave no residual, for example if all replicates are equal, the ratios do not exist.
    """
    restricted = _Restricted.of(values, present)
    of_documents, of_replicates = _additive_effects(values, present, restricted)
    left = np.where(present, values - of_documents - of_replicates[:, None], 0.0)
    if float((left**2).sum()) <= NOTHING * restricted.whole:
        return float(of_documents.var(ddof=1)), float(of_replicates.var(ddof=1)), 0.0

    def of_document(share: float, other: float) -> tuple[float, float]:
        fitted = restricted.fit_ratios(_ratio(share), _ratio(other))
        return fitted.criterion, fitted.by_document

    def of_replicate(share: float, other: float) -> tuple[float, float]:
        fitted = restricted.fit_ratios(_ratio(other), _ratio(share))
        return fitted.criterion, fitted.by_replicate

    document = replicate = 0.5
    for _ in range(MOST_ROUNDS):
        before = document, replicate
        document = _least(partial(of_document, other=replicate))
        replicate = _least(partial(of_replicate, other=document))
        if max(abs(document - before[0]), abs(replicate - before[1])) < SETTLED:
            break
    residual = restricted.fit_ratios(_ratio(document), _ratio(replicate)).residual
    return _ratio(document) * residual, _ratio(replicate) * residual, residual


def _additive_effects(values: Floats, present: Booleans, restricted: _Restricted) -> tuple[Floats, Floats]:
    """The effect of each document and of each replicate, by least squares."""
    having = np.einsum("krs,k->rs", restricted.both, 1 / restricted.sizes)
    own = restricted.own - (1 / restricted.sizes) @ restricted.of_replicates
    of_replicates = np.linalg.pinv(np.diag(present.sum(axis=1)) - having) @ own
    rest = np.where(present, values - of_replicates[:, None], 0.0)
    return rest.sum(axis=0) / present.sum(axis=0), of_replicates


def _ratio(share: float) -> float:
    return (share / (1 - share)) ** 2


def _least(criterion: Callable[[float], tuple[float, float]]) -> float:
    """The minimum of a criterion between 0 and the largest share. The criterion is given with its slope; the result is
    the root of the slope next to the smallest grid value, by the method of Ridders (1979).
    """
    found = [criterion(float(share)) for share in GRID]
    at = min(range(len(GRID)), key=lambda place: found[place][0])
    falls = found[at][1] < 0
    other = at + 1 if falls else at - 1
    if not 0 <= other < len(GRID):
        return float(GRID[at])
    low, high = sorted((float(GRID[at]), float(GRID[other])))
    of_low, of_high = (found[place][1] for place in sorted((at, other)))
    if of_low > 0 or of_high < 0:
        return float(GRID[at])
    while high - low > SETTLED / 10:
        middle = (low + high) / 2
        of_middle = criterion(middle)[1]
        turned = sqrt(of_middle**2 - of_low * of_high)
        root = middle if not turned else middle - (middle - low) * of_middle / turned
        ends = [(low, of_low), (high, of_high), (middle, of_middle), (root, criterion(root)[1])]
        low, of_low = max(end for end in ends if end[1] <= 0)
        high, of_high = min(end for end in ends if end[1] >= 0)
    return (low + high) / 2
