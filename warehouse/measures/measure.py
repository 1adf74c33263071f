"""What a measure is: a name, a task, parameters with their bounds, and a formula. No measure in particular is
defined here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from warehouse.measures.expression import Expression, as_ratio, columns
from warehouse.measures.formula import Ratio

Task = Literal["extraction", "filtering", "values", "published"]
Setting = Decimal | str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a measure: a number within bounds, or one of some choices."""

    name: str
    default: Setting | None
    meaning: str
    choices: tuple[str, ...] = ()
    above: Decimal | None = None
    lowest: Decimal | None = None
    highest: Decimal | None = None

    def fault(self, setting: Setting) -> str | None:
        """What is wrong with a value for this parameter, or None."""
        if self.choices:
            if setting in self.choices:
                return None
            return f"{self.name} is one of {', '.join(self.choices)}, not {setting}"
        if isinstance(setting, str):
            return f"{self.name} is a number, not {setting}"
        if self.above is not None and setting <= self.above:
            return f"{self.name} is a number above {self.above}, not {setting}"
        if self.lowest is not None and self.highest is not None and not self.lowest <= setting <= self.highest:
            return f"{self.name} is a number from {self.lowest} to {self.highest}, not {setting}"
        if -setting.as_tuple().exponent > 4 or setting > 10_000:  # type: ignore[operator]
            return f"{self.name} is a number of at most four decimals up to 10000, not {setting}"
        return None


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of one task.

    `formula` takes the parameters by name and gives the ratio; it is None for a measure that is no ratio of sums (auc),
    and for one that a user defined, which has an `expression` that takes them instead. `steady` says that the
    denominator is the same for both systems in every unit, as matched-pair tests need (Yeh 2000, section 3.2);
    `proportion` that it is a share of counted items. `shown` are the parameters that always stand in the canonical
    name, as beta does in F(beta=1).
    """

    name: str
    task: Task
    meaning: str
    source: str
    formula: Callable[..., Ratio] | None
    parameters: tuple[Parameter, ...] = ()
    steady: bool = False
    shown: tuple[str, ...] = ()
    expression: Callable[..., Expression] | None = None
    lower_is_better: bool = False
    proportion: bool = False
    printed_as: tuple[str, str] | None = None
    """Task and name under which a published figure is stored."""

    def label(self, settings: Mapping[str, Setting]) -> str:
        """The canonical name: F(beta=1), recall, recall(partial=0)."""
        written = [
            f"{parameter.name}={plain(settings[parameter.name])}"
            for parameter in self.parameters
            if parameter.name in settings
            and (parameter.name in self.shown or settings[parameter.name] != parameter.default)
        ]
        return f"{self.name}({', '.join(written)})" if written else self.name


@dataclass(frozen=True, slots=True)
class Statistic:
    """A measure with its parameters settled: what a query computes.

    `ratio` is None for a ranking measure (auc), and for a defined one that is no ratio, which has an `expression`
    instead. `averaged` means document by document first, then the mean over documents.
    """

    label: str
    measure: Measure
    settings: Mapping[str, Setting] = field(hash=False)
    ratio: Ratio | None
    averaged: bool = False
    expression: Expression | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is computed from; none where it is no arithmetic of sums."""
        if self.ratio is not None:
            return self.ratio.columns
        return () if self.expression is None else columns(self.expression)

    @property
    def steady(self) -> bool:
        return self.averaged or self.measure.steady


def settle(measure: Measure, settings: Mapping[str, Setting], averaged: bool = False) -> Statistic:
    """The statistic of a measure for settings that were found in order; what is not set has its default."""
    full = {
        parameter.name: settings.get(parameter.name, parameter.default)
        for parameter in measure.parameters
        if parameter.name in settings or parameter.default is not None
    }
    label = measure.label({name: setting for name, setting in full.items() if setting is not None})
    expression = measure.expression(**full) if measure.expression else None
    ratio = measure.formula(**full) if measure.formula else None
    if expression is not None:
        ratio = as_ratio(expression)
    return Statistic(
        label=f"mean({label})" if averaged else label,
        measure=measure,
        settings={name: setting for name, setting in full.items() if setting is not None},
        ratio=ratio,
        averaged=averaged,
        expression=expression if ratio is None else None,
    )


def plain(setting: Setting) -> str:
    """A setting as it is written in a name: 1, 0.5, excluded."""
    if isinstance(setting, str):
        return setting
    text = format(setting, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
