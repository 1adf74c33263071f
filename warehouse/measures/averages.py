"""Averages of a measure over units: over classes, entity types or slots, each with equal weight (macro) or weighted by
its number of key items (weighted), as scikit-learn and seqeval average; and how well answers agree with a key where
each document has one class.

Each is a function of the sums of each unit, evaluated exactly and in floating point like any other. In an average a
unit counts if it is in the key or among the system's own answers; where M is undefined it counts 0. This module must
not know which measures and which units there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.measures.forms import (
    Exact,
    Expression,
    Form,
    Function,
    LinearForm,
    Ratio,
    combine_exactly,
    evaluate,
    exact,
    integers,
    round_exact,
    to_float,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MACRO: Literal["macro"] = "macro"
WEIGHTED: Literal["weighted"] = "weighted"
"""The words around a measure."""


def of_unit(count: str, unit: int) -> str:
    """What a count of one stored unit is called beside those of others."""
    return f"{count} of unit {unit}"


class UnitMeasure(Struct, frozen=True):
    """A measure of one unit: how it is computed from the counts of the unit, and the forms that count its key items and
    all that is in the key or among the answers.
    """

    computation: Ratio | Function
    support: Form
    there: Form

    def renamed(self, names: Mapping[str, str]) -> UnitMeasure:
        """The same over renamed counts."""
        support, there = (tuple((names[column], by) for column, by in form) for form in (self.support, self.there))
        return UnitMeasure(self.computation.renamed(names), support, there)


def unit_measure(computation: Ratio | Function, support: LinearForm, answers: LinearForm) -> UnitMeasure:
    """The measure of a unit with these key items and answers."""
    return UnitMeasure(computation, integers(support)[0], integers(support + answers)[0])


class OverUnits(Struct, frozen=True, dict=True, kw_only=True):
    """A value that is computed from the sums of each unit.

    `stored` are the ids of the units, where rows are stored unit by unit, and `counts` what is read of each row; where
    the units are the two classes of decisions both are empty, and the columns are those of the rows. `without` says
    whether there are rows beside these that are about whole documents.
    """

    stored: tuple[int, ...] = ()
    counts: tuple[str, ...] = ()
    without: bool = False

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms whose sums `value` takes, each once."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the forms need, each once."""
        return tuple(dict.fromkeys(column for form in self.forms for column, _ in form))

    def over(self, scale: int) -> Self:
        """The same for sums that were multiplied by `scale`."""
        raise NotImplementedError

    def exact(self, sums: Sequence[int | Fraction]) -> Exact | None:
        """The value for the sums of the forms; None where it is undefined."""
        raise NotImplementedError

    def value(self, sums: Sequence[int | Fraction]) -> float | None:
        """The value for the sums of the forms, rounded once; None where it is undefined."""
        return to_float(self.exact(sums))

    def over_units(self, units: Sequence[int]) -> Self:
        """The same over other stored units."""
        return replace(self, stored=tuple(units))

    def undefined(self, sums: Sequence[int]) -> int:
        """How many units count 0 because the measure is undefined there."""
        return 0

    def values(self, sums: Floats) -> Floats:
        """The values for sums of the forms of shape (forms, any); NaN where undefined."""
        raise NotImplementedError

    def gradients(self, sums: Floats) -> Floats:
        """The gradients of the values, of the shape of the sums; NaN where undefined."""
        raise NotImplementedError


class UnitAverage(OverUnits, frozen=True, dict=True):
    """The mean of a measure over units, or its mean weighted by support."""

    units: tuple[UnitMeasure, ...]
    weighted: bool

    @classmethod
    def over_stored(
        cls, measure: UnitMeasure, weighted: bool, units: Sequence[int], without: bool = False
    ) -> UnitAverage:
        """The average of a measure over stored units."""
        forms = (*measure.computation.forms, *((measure.support,) if weighted else ()), measure.there)
        counts = tuple(dict.fromkeys(column for form in forms for column, _ in form))
        of_units = (measure.renamed({column: of_unit(column, unit) for column in counts}) for unit in units)
        return cls(tuple(of_units), weighted, stored=tuple(units), counts=counts, without=without)

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The forms whose sums `value` takes, each once."""
        return tuple(dict.fromkeys(form for measure in self.units for form in self._forms(measure)))

    def over_units(self, units: Sequence[int]) -> Self:
        """The same over other stored units."""
        one, measure = self.stored[0], self.units[0]
        renamed = (
            measure.renamed({of_unit(count, one): of_unit(count, unit) for count in self.counts}) for unit in units
        )
        return replace(self, units=tuple(renamed), stored=tuple(units))

    def over(self, scale: int) -> Self:
        """The same for sums that were multiplied by `scale`, which ratios do not see."""
        units = (
            replace(measure, computation=measure.computation.over(scale))
            if isinstance(measure.computation, Function)
            else measure
            for measure in self.units
        )
        return replace(self, units=tuple(units))

    # --- exactly

    def exact(self, sums: Sequence[int | Fraction]) -> Exact | None:
        """The value for the sums of the forms; None where no unit counts."""
        total: Exact | None = Fraction(0)
        weight = Fraction(0)
        for own, value in self._exact_values(sums):
            weight += own
            total = combine_exactly(total, "+", combine_exactly(Fraction(own), "*", value or Fraction(0)))
        return round_exact(combine_exactly(total, "/", weight))

    def undefined(self, sums: Sequence[int]) -> int:
        """How many units count 0 because the measure is undefined there."""
        return sum(value is None for _, value in self._exact_values(sums))

    def _exact_values(self, sums: Sequence[int | Fraction]) -> Iterator[tuple[int | Fraction, Exact | None]]:
        """The weight of each unit that counts, and its value, None where that is undefined."""
        for measure, (weighing, *computing) in zip(self.units, self._places, strict=True):
            weight = sums[weighing] if self.weighted else int(sums[weighing] > 0)
            if weight:
                yield weight, measure.computation.exact([sums[place] for place in computing])

    # --- in floating point

    def values(self, sums: Floats) -> Floats:
        """The values for sums of the forms of shape (forms, any); NaN where no unit counts."""
        import numpy as np

        total, weights = np.zeros(sums.shape[1:]), np.zeros(sums.shape[1:])
        for measure, (weighing, *computing) in zip(self.units, self._places, strict=True):
            weight = self._weight(sums[weighing])
            weights += weight
            total += weight * np.nan_to_num(_values(measure.computation, sums[computing]))
        means: Floats = np.divide(total, weights, out=np.full(total.shape, np.nan), where=weights > 0)
        return means

    def gradients(self, sums: Floats) -> Floats:
        """The gradients of the values, of the shape of the sums: how they change while the units that count stay the
        same; NaN where no unit counts.
        """
        import numpy as np

        gradients, weights = np.zeros(sums.shape), np.zeros(sums.shape[1:])
        mean = self.values(sums)
        for measure, (weighing, *computing) in zip(self.units, self._places, strict=True):
            weight = self._weight(sums[weighing])
            weights += weight
            value, slopes = _with_slopes(measure.computation, sums[computing])
            for place, slope in zip(computing, slopes, strict=True):
                gradients[place] += weight * slope
            if self.weighted:
                gradients[weighing] += value - mean
        np.divide(gradients, weights, out=gradients, where=weights > 0)
        gradients[:, weights == 0] = np.nan
        return gradients

    def _weight(self, weighing: Floats) -> Floats:
        import numpy as np

        # Counts are whole, so half of one is none: a sum that was divided and put together again may be off.
        return weighing if self.weighted else np.asarray(weighing >= 0.5, dtype=np.float64)

    # --- where the sums of a unit stand

    def _forms(self, measure: UnitMeasure) -> tuple[Form, ...]:
        """The forms of a unit, what it weighs first."""
        return (measure.support if self.weighted else measure.there, *measure.computation.forms)

    @cached_property
    def _places(self) -> tuple[tuple[int, ...], ...]:
        """The places of the forms of each unit among all forms."""
        place = {form: number for number, form in enumerate(self.forms)}
        return tuple(tuple(place[form] for form in self._forms(measure)) for measure in self.units)


def _values(computation: Ratio | Function, sums: Floats) -> Floats:
    """The values of a measure for the sums of its forms, of shape (forms, any); NaN where undefined."""
    import numpy as np

    if isinstance(computation, Function):
        return computation.values(dict(zip(computation.columns, sums, strict=True)))
    over, under = sums
    quotients = np.divide(over, under, out=np.full(over.shape, np.nan), where=under != 0)
    return np.asarray(float(computation.factor) * quotients, dtype=np.float64)


STEP = 1e-5
"""The step of a numerical slope, as a share of the sum."""


def _with_slopes(computation: Ratio | Function, sums: Floats) -> tuple[Floats, Floats]:
    """The values and their derivatives by each form, of shape (any,) and (forms, any); 0 where undefined."""
    import numpy as np

    values = _values(computation, sums)
    slopes = np.zeros(sums.shape)
    if isinstance(computation, Ratio):
        under = sums[1]
        np.divide(float(computation.factor), under, out=slopes[0], where=under != 0)
        np.divide(-values, under, out=slopes[1], where=under != 0)
        return np.nan_to_num(values), slopes
    for place, own in enumerate(sums):
        step = STEP * np.maximum(np.abs(own), 1.0)
        ahead, behind = sums.copy(), sums.copy()
        ahead[place] += step
        behind[place] = np.maximum(own - step, np.minimum(own, 0.0))
        slopes[place] = (_values(computation, ahead) - _values(computation, behind)) / (ahead[place] - behind[place])
    return np.nan_to_num(values), np.nan_to_num(slopes)


# === agreement of one class a document ================================================================================

DOCUMENTS, RIGHT, BY_CHANCE = "documents", "right", "by chance"
KEY_SQUARED, ANSWERS_SQUARED = "key squared", "answers squared"
"""What agreement is computed from: how many documents there are and how many of them are right; for the numbers of
documents that the key and the answers give each class, the sum of their products, and the sums of their squares."""

_QUANTITIES = (DOCUMENTS, RIGHT, BY_CHANCE, KEY_SQUARED, ANSWERS_SQUARED)


class ClassAgreement(OverUnits, frozen=True, dict=True):
    """How well answers agree with a key where each document has one class: an expression over the quantities above.

    A document without an answer counts as one with a class that is never right. `otherwise` is the value where the
    expression has none.
    """

    expression: Expression
    otherwise: Fraction | None = None

    @classmethod
    def over_stored(
        cls, expression: Expression, otherwise: Fraction | None, counts: tuple[str, str, str], units: Sequence[int]
    ) -> ClassAgreement:
        """The agreement over stored units, by the counts of key items, of answers and of right ones."""
        return cls(expression, otherwise, stored=tuple(units), counts=counts)

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The right answers of all units, then the key items of each, then the answers of each."""
        if not self.stored:
            return ()
        key, answers, right = self.counts
        of_each = (((of_unit(count, unit), 1),) for count in (key, answers) for unit in self.stored)
        return (tuple((of_unit(right, unit), 1) for unit in self.stored), *of_each)

    def over(self, scale: int) -> Self:
        """The same: agreement does not see a scale."""
        return self

    def exact(self, sums: Sequence[int | Fraction]) -> Exact | None:
        """The value for the sums of the forms; None where it is undefined."""
        right, *numbers = sums
        key, answers = numbers[: len(self.stored)], numbers[len(self.stored) :]
        documents = sum(key)
        if not documents:
            return None
        unanswered = documents - sum(answers)
        squared = sum(number * number for number in answers) + unanswered * unanswered
        by_chance = sum(a * b for a, b in zip(key, answers, strict=True))
        quantities = (documents, right, by_chance, sum(number * number for number in key), squared)
        value = exact(self.expression, dict(zip(_QUANTITIES, quantities, strict=True)))
        return self.otherwise if value is None else value

    def values(self, sums: Floats) -> Floats:
        """The values for sums of the forms of shape (forms, any); NaN where undefined."""
        return self._value_of(self._quantities(sums))

    def gradients(self, sums: Floats) -> Floats:
        """The gradients of the values, of the shape of the sums; 0 where the expression has no value."""
        import numpy as np

        quantities = self._quantities(sums)
        slope = {name: self._slope(name, quantities) for name in _QUANTITIES}
        key, answers = self._key_and_answers(sums)
        unanswered = 2 * slope[ANSWERS_SQUARED] * (quantities[DOCUMENTS] - answers.sum(axis=0))
        by_key = slope[DOCUMENTS] + slope[BY_CHANCE] * answers + 2 * slope[KEY_SQUARED] * key + unanswered
        by_answers = slope[BY_CHANCE] * key + 2 * slope[ANSWERS_SQUARED] * answers - unanswered
        return np.concatenate([slope[RIGHT][None], by_key, by_answers])

    def _key_and_answers(self, sums: Floats) -> tuple[Floats, Floats]:
        return sums[1 : 1 + len(self.stored)], sums[1 + len(self.stored) :]

    def _quantities(self, sums: Floats) -> dict[str, Floats]:
        key, answers = self._key_and_answers(sums)
        documents = key.sum(axis=0)
        unanswered = documents - answers.sum(axis=0)
        squared = (answers * answers).sum(axis=0) + unanswered * unanswered
        of_key = (key * key).sum(axis=0)
        return dict(zip(_QUANTITIES, (documents, sums[0], (key * answers).sum(axis=0), of_key, squared), strict=True))

    def _value_of(self, quantities: Mapping[str, Floats]) -> Floats:
        import numpy as np

        values = evaluate(self.expression, quantities)
        if self.otherwise is not None:
            values = np.where(np.isnan(values) & (quantities[DOCUMENTS] > 0), float(self.otherwise), values)
        return values

    def _slope(self, name: str, quantities: Mapping[str, Floats]) -> Floats:
        """The derivative by one quantity; 0 where the expression has no value."""
        import numpy as np

        own = quantities[name]
        step = STEP * np.maximum(np.abs(own), 1.0)
        ahead, behind = ({**quantities, name: own + by * step} for by in (1, -1))
        slopes = (evaluate(self.expression, ahead) - evaluate(self.expression, behind)) / (2 * step)
        return np.nan_to_num(slopes)
