"""The exact significance level by the characteristic function of the sums and a fast Fourier transform.

For signs ε = ±1 the characteristic function of (X, Y) = Σ ε·(x, y) is a product of cosines, one for each unit (Pagano &
Tritchler 1983). Its transform is the null distribution in a window that leaves out less than 1e-16 of the probability,
so the absolute error is less than 1e-14. If there are few exchanges, this error is small enough to recover their exact
number. For small p-values the signs are tilted exponentially so that the observed difference becomes the expected one
(Robinson 1982). The transform is then accurate where it matters, and p has a relative error of about 1e-10, however
small it is.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, log, sqrt
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Floats, Integers
from evalhouse.warehouse.significance.exact.lattice import Lattice
from evalhouse.warehouse.significance.extreme import Extreme

TILTED_FROM = 4.0
"""From this many standard errors on the signs are tilted; p is below about 1e-4 there."""

NEGLIGIBLE = 1e-18
"""A product of cosines below this counts as 0."""

OUTSIDE = 39.0
"""−ln of the probability left out on each side of the window."""

TILE = (64, 256)
"""The rows and columns of the characteristic function that are computed at once."""

LEAST_TILE = 512
"""A tile that is mostly negligible is divided into smaller ones, but not below this number of points."""

ROWS = 256
"""Rows of the null distribution held at once."""

BATCH = 8
"""The number of distinct steps that are multiplied in before a tile is checked again."""

WHOLE_UNITS = 44
"""Up to this many differing units, the error is less than half of the probability of one exchange."""

Plane: TypeAlias = NDArray[Any]
"""Real or complex."""

Circle = tuple[Floats, Floats]
"""cos and sin for a full turn."""


class Window(Struct, frozen=True):
    """`size` consecutive places on one axis of the lattice: place i holds top − 2·(first + i)."""

    top: int
    first: int
    size: int


def operations(lattice: Lattice, standard_errors: float) -> tuple[float, int]:
    """The approximate number of steps in all (a cosine at a point, or its share of the transform), and the bytes held
    at once.
    """
    rows, columns = (_rough(steps, lattice.count) for steps in (lattice.y, lattice.x))
    counts = np.sort(lattice.count)[::-1]
    # Far from the origin a cosine is ½ in the geometric mean, so that about 64 of them make the product negligible.
    factors = min(int(np.searchsorted(np.cumsum(counts), 64)) + 1 + BATCH, counts.size)
    complex_times = 3 if standard_errors > TILTED_FROM else 1
    points = float(rows) * float(columns)
    return points / 2 * (factors * complex_times + 30), int(min(12 * points, 2**62))


def tail(lattice: Lattice, extreme: Extreme, strict: bool) -> Fraction | float:
    """The probability of an exchange whose signed difference is at least the observed one, or more than it if `strict`;
    a fraction for up to WHOLE_UNITS units.

    The observed difference must be at least 0.
    """
    score = _scores(lattice, extreme)
    tilt = _tilt(lattice, extreme, score)
    bias = np.tanh(tilt * score)
    rows = _window(lattice.y, lattice.count, tilt * score)
    columns = _window(lattice.x, lattice.count, tilt * score)
    transformed = _characteristic(lattice, bias if tilt else None, rows, columns)
    np.fft.ifft(transformed, axis=0, out=transformed)
    log_scale = float(lattice.count @ _log_cosh(tilt * score))
    slope = extreme.numerators / extreme.denominators
    total = 0.0
    for start in range(0, rows.size, ROWS):
        # The second half of the transform is done a few rows at a time, because the whole plane would double the
        # memory.
        null = np.fft.irfft(transformed[start : start + ROWS], n=columns.size, axis=1)
        for row, probabilities in enumerate(null, start):
            y = rows.top - 2 * (rows.first + row)
            least = lattice.least_x(y, extreme, strict)
            if least is None:
                continue
            stop = min((columns.top - least) // 2 - columns.first + 1, columns.size)
            if stop <= 0:
                continue
            if not tilt:
                total += float(probabilities[:stop].sum())
                continue
            x = columns.top - 2.0 * (columns.first + np.arange(stop))
            reached = lattice.across * x + (lattice.slant - lattice.down * slope) * y
            total += float(probabilities[:stop] @ np.exp(log_scale - tilt * reached))
    if lattice.units <= WHOLE_UNITS:
        exchanges = 1 << lattice.units
        return Fraction(max(0, round(total * exchanges)), exchanges)
    return total


def standard_errors(lattice: Lattice, extreme: Extreme) -> float:
    """The distance of the observed difference from 0, in standard errors of its null distribution."""
    score = _scores(lattice, extreme)
    return abs(_boundary(extreme)) / sqrt(float(lattice.count @ (score * score)))


def _scores(lattice: Lattice, extreme: Extreme) -> Floats:
    """What each unit adds to u·S_D − v·S_N, divided by S_D."""
    u = (lattice.across * lattice.x + lattice.slant * lattice.y).astype(np.float64)
    v = (lattice.down * lattice.y).astype(np.float64)
    return u - v * (extreme.numerators / extreme.denominators)


def _boundary(extreme: Extreme) -> float:
    """The sum that these scores must reach, if v is 0, to be as extreme as the observed difference."""
    if extreme.flat:
        return float(extreme.u - extreme.slack)
    cross = extreme.u * extreme.denominators - extreme.v * extreme.numerators
    return cross * extreme.denominators / (extreme.denominators**2 - extreme.v**2)


def _tilt(lattice: Lattice, extreme: Extreme, score: Floats) -> float:
    """The λ for which the expected difference, Σ score·tanh(λ·score), equals the observed one; 0 if no tilt is
    needed.
    """
    variance = float(lattice.count @ (score * score))
    target = _boundary(extreme)
    if target <= TILTED_FROM * sqrt(variance):
        return 0.0
    # The target stays below the largest possible sum, which no finite tilt reaches.
    target = min(target, (1 - 1 / lattice.units) * float(lattice.count @ np.abs(score)))
    low, high = 0.0, target / variance
    while float(lattice.count @ (score * np.tanh(high * score))) < target:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if float(lattice.count @ (score * np.tanh(middle * score))) < target:
            low = middle
        else:
            high = middle
    return high


def _rough(steps: Integers, count: Integers) -> int:
    """The approximate size of the window without tilt: nine standard deviations, or the whole range if that is
    smaller.
    """
    squares = float(count @ steps.astype(np.float64) ** 2)
    return int(min(float(count @ np.abs(steps)), ceil(8.9 * sqrt(squares)))) + 1


def _window(steps: Integers, count: Integers, tilts: Floats) -> Window:
    """The places of Σ ε·step that leave out at most e^-OUTSIDE of the probability on either side, by Chernoff's
    bound.
    """
    top = int(count @ steps)
    if not steps.any():
        return Window(top, 0, 1)
    size = steps.astype(np.float64)
    largest = int(count @ np.abs(steps))
    highest = min(ceil(_chernoff(size, count, tilts)), largest)
    lowest = max(-ceil(_chernoff(-size, count, tilts)), -largest)
    first = (top - highest) // 2
    last = -((lowest - top) // 2)
    return Window(top, first, _smooth(last - first + 1))


def _chernoff(size: Floats, count: Integers, tilts: Floats) -> float:
    """A bound that Σ ε·size exceeds with probability at most e^-OUTSIDE, where ε is 1 with odds e^(2·tilt)."""
    whole = float(count @ _log_cosh(tilts))

    def exponent(s: float) -> tuple[float, float]:
        shifted = tilts + s * size
        mean = float(count @ (size * np.tanh(shifted)))
        return s * mean - float(count @ _log_cosh(shifted)) + whole, mean

    low, high = 0.0, 1.0 / float(np.abs(size).max())
    for _ in range(60):
        reached, mean = exponent(high)
        if reached >= OUTSIDE:
            break
        low, high = high, 2 * high
    else:
        return mean
    for _ in range(20):
        middle = (low + high) / 2
        reached, mean_there = exponent(middle)
        if reached >= OUTSIDE:
            high, mean = middle, mean_there
        else:
            low = middle
    return mean


def _characteristic(lattice: Lattice, bias: Floats | None, rows: Window, columns: Window) -> NDArray[np.complex128]:
    """Half of the transform of the null distribution in the window, of shape (rows, columns // 2 + 1).

    With α = π·(row·y / rows + column·x / columns) the factor of a unit is cos α, or cos α + i·bias·sin α if its sign is
    biased. The plane is divided into tiles, and a tile in which the product has become negligible is dropped.
    """
    half = columns.size // 2 + 1
    product: Plane = np.ones((rows.size, half), dtype=np.float64 if bias is None else np.complex128)
    live = [
        (slice(row, row + TILE[0]), slice(column, column + TILE[1]))
        for row in range(0, rows.size, TILE[0])
        for column in range(0, half, TILE[1])
    ]
    order = np.argsort(-lattice.count, kind="stable")
    circles = _circle(rows.size), _circle(columns.size)
    for start in range(0, order.size, BATCH):
        batch = order[start : start + BATCH]
        # The columns of the remaining tiles. A block is as wide as a tile, so its edges never divide a tile.
        blocks = sorted({wide.start // TILE[1] for _, wide in live})
        begins = {block: place * TILE[1] for place, block in enumerate(blocks)}
        left_columns = (np.array(blocks, dtype=np.int64)[:, None] * TILE[1] + np.arange(TILE[1])).reshape(-1)
        left, right = _angles(lattice, batch, None if bias is None else bias[batch], circles, left_columns)
        alike = _equal_counts(lattice.count[batch])
        still = []
        for tall, wide in live:
            tile = product[tall, wide]
            begin = begins[wide.start // TILE[1]] + wide.start % TILE[1]
            _multiply(tile, left[:, tall], right[:, :, begin : begin + tile.shape[1]], alike)
            # Multiplying zeros is fast; multiplying subnormal numbers is not.
            tile[np.abs(tile) < NEGLIGIBLE] = 0.0
            filled = np.count_nonzero(tile)
            if filled and (2 * filled > tile.size or tile.size <= LEAST_TILE):
                still.append((tall, wide))
            elif filled:
                still.extend(part for part in _quarters(tall, wide) if product[part].any())
        live = still
    transformed: NDArray[np.complex128] = product.astype(np.complex128, copy=False)
    transformed *= _phase(rows, rows.size)[:, None]
    np.multiply(transformed, _phase(columns, half), out=transformed)
    return transformed


def _quarters(tall: slice, wide: slice) -> list[tuple[slice, slice]]:
    """The four parts of a tile."""
    row, column = (tall.start + tall.stop + 1) // 2, (wide.start + wide.stop + 1) // 2
    return [
        (some_rows, some_columns)
        for some_rows in (slice(tall.start, row), slice(row, tall.stop))
        for some_columns in (slice(wide.start, column), slice(column, wide.stop))
    ]


def _angles(
    lattice: Lattice, batch: Integers, bias: Floats | None, circles: tuple[Circle, Circle], places: Integers
) -> tuple[Plane, Plane]:
    """For each unit two matrices, of shapes (rows, 2) and (2, places), whose product is its factor at these places of
    columns.

    With α = ρ + κ the factor cos α + i·bias·sin α is (cos ρ + i·bias·sin ρ)·cos κ + (i·bias·cos ρ − sin ρ)·sin κ.
    """
    of_rows, of_columns = circles
    cos_row, sin_row = _turns(lattice.y[batch], np.arange(len(of_rows[0]) // 2), of_rows)
    right: Plane = np.stack(_turns(lattice.x[batch], places, of_columns), axis=1)
    if bias is None:
        return np.stack((cos_row, -sin_row), axis=2), right
    turn = 1j * bias[:, None]
    return np.stack((cos_row + turn * sin_row, turn * cos_row - sin_row), axis=2), right.astype(np.complex128)


def _equal_counts(counts: Integers) -> list[tuple[slice, int]]:
    """The runs of equal neighbouring counts, each with its count."""
    edges = [0, *(np.flatnonzero(np.diff(counts)) + 1).tolist(), counts.size]
    return [(slice(start, stop), int(counts[start])) for start, stop in pairwise(edges)]


def _multiply(tile: Plane, left: Plane, right: Plane, alike: list[tuple[slice, int]]) -> None:
    """Multiplies the factors of some distinct steps into a tile, each to the power of the number of units that have
    it.
    """
    factors = np.matmul(left, right)
    for units, power in alike:
        tile *= _power(np.multiply.reduce(factors[units], axis=0), power)


def _power(base: Plane, exponent: int) -> Plane:
    """base to an integer power by squaring, which is many times faster than numpy's general power."""
    result = base if exponent % 2 else None
    while exponent > 1:
        exponent //= 2
        base = base * base
        if exponent % 2:
            result = base if result is None else result * base
    return base if result is None else result


def _circle(size: int) -> Circle:
    """cos and sin of π·place / size for the places of a full turn, each of shape (2 · size,)."""
    turn = np.arange(2 * size) * (np.pi / size)
    return np.cos(turn), np.sin(turn)


def _turns(steps: Integers, places: Integers, circle: Circle) -> tuple[Floats, Floats]:
    """cos and sin of π·step·place / size, of shape (steps, places). The angle is reduced in integers, so that no digits
    are lost.
    """
    whole = len(circle[0])
    places_on_it = (steps[:, None] % whole) * places % whole
    return circle[0][places_on_it], circle[1][places_on_it]


def _phase(window: Window, places: int) -> NDArray[np.complex128]:
    """The phase that moves the first place of the window to index 0."""
    angles = np.arange(places) * ((window.top - 2 * window.first) % (2 * window.size)) % (2 * window.size)
    phase: NDArray[np.complex128] = np.exp(-1j * np.pi / window.size * angles)
    return phase


def _log_cosh(values: Floats) -> Floats:
    """ln cosh without overflow."""
    size = np.abs(values)
    logs: Floats = size + np.log1p(np.exp(-2 * size)) - log(2)
    return logs


def _smooth(size: int) -> int:
    """The smallest number of at least `size` without prime factors above 7; the transform is fast for such sizes."""
    while True:
        rest = size
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 1
