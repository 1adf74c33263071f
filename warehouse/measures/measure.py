"""What a measure is: a name, a task, parameters with their bounds, a formula, and a direction.

This module must not define any particular measure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct, field

from evalhouse.warehouse.measures.averages import OverUnits
from evalhouse.warehouse.measures.forms import Function, OfNumbers, Probabilities, Ranking, Ratio, Summary

# === measures and statistics ==========================================================================================

SHARE = (0.0, 1.0)
"""The range of a share."""

CUTOFF = "k"
"""The parameter that is written after the name: P@10."""

Labels = Literal["", "one", "any"]
"""What the items of documents are: no labels, one label of each document, or any number of them."""

TaskName = Literal["extraction", "filtering", "counts", "rankings", "numbers", "values", "published"]
Setting = Decimal | str


class Parameter(Struct, frozen=True):
    """A parameter of a measure: a number within bounds, or one of some choices. It must be given if it has no default
    and is not optional.
    """

    name: str
    default: Setting | None
    meaning: str
    choices: tuple[str, ...] = ()
    above: Decimal | None = None
    lowest: Decimal | None = None
    highest: Decimal | None = None
    whole: bool = False
    optional: bool = False
    """Whether the parameter may be left out although it has no default."""
    up_to: str = ""
    """The count that the parameter must not exceed."""
    several: Mapping[str, str] = field(default_factory=dict)
    """Words that expand to several values of the parameter, each with a note on what it does and which statements
    accept it.
    """
    defining: str = ""
    """The setting that gives the measure a value where it otherwise has none."""
    also: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Other names of the parameter in other tools, each with what its words mean here: judged_only=True is
    unjudged=removed. A name without words takes the values of the parameter.
    """

    def __hash__(self) -> int:
        return hash((self.name, self.default, self.choices))

    def meant(self, name: str, setting: Setting) -> Setting:
        """The value that is meant by one that was given under another name of the parameter."""
        return self.also.get(name, {}).get(str(setting), setting)

    @property
    def words(self) -> tuple[str, ...]:
        """The words that the parameter accepts; words that expand to several values come last."""
        return (*self.choices, *self.several)

    def fault(self, setting: Setting) -> str | None:
        """What is wrong with a value for this parameter, or None."""
        if self.choices:
            if setting in self.choices:
                return None
            if setting in self.several:
                return f"{self.name}={setting} {self.several[str(setting)]}"
            return f"{self.name} is one of {', '.join(self.words)}, not {setting}"
        if isinstance(setting, str):
            return f"{self.name} is a number, not {setting}"
        if self.whole and self.lowest is not None and self.highest is not None:
            if setting != setting.to_integral_value() or not self.lowest <= setting <= self.highest:
                return f"{self.name} is a whole number from {self.lowest} to {self.highest}, not {plain(setting)}"
            return None
        if self.above is not None and setting <= self.above:
            return f"{self.name} must be above {self.above}, not {setting}"
        if self.lowest is not None and self.highest is not None and not self.lowest <= setting <= self.highest:
            return f"{self.name} is a number from {self.lowest} to {self.highest}, not {setting}"
        if self.lowest is None and self.highest is not None and setting > self.highest:
            return f"{self.name} is a number of at most {self.highest}, not {setting}"
        if -setting.as_tuple().exponent > 4 or abs(setting) > 10_000:  # type: ignore[operator]
            return f"{self.name} is a number of at most four decimals up to 10000, not {setting}"
        return None


class PrintedFigure(Struct, frozen=True):
    """A figure that is known only as printed: the task and the name under which it is stored."""

    kind: str
    name: str


Computation = Ratio | Function | OverUnits | Ranking | Probabilities | OfNumbers | PrintedFigure
"""How the value of a measure is obtained: a ratio of linear forms of sums, another function of sums, one of the sums of
each unit, a measure of an order, of probabilities or of predicted numbers, or a printed figure.
"""


class Measure(Struct, frozen=True):
    """A measure of one task.

    `formula` takes the parameters by name and returns the computation. `steady` says that the denominator is the same
    for both systems in every unit, as matched-pair tests need (Yeh 2000, section 3.2); `proportion` says that the
    measure is a share of counted items. `within` has the lowest and the highest possible value, where they are known.
    `shown` names the parameters that always appear in the canonical name, like beta in F(beta=1). `defined` marks a
    measure that a user defined; its meaning is part of every signature. `also` has its synonyms; a measure that was
    asked for by a synonym is shown under it. `behind` is the parameter that may be written directly after the name,
    like beta in F2 or F_0.5.
    """

    name: str
    kind: TaskName
    meaning: str
    source: str
    formula: Callable[..., Computation]
    parameters: tuple[Parameter, ...] = ()
    steady: bool = False
    shown: tuple[str, ...] = ()
    lower_is_better: bool = False
    proportion: bool = False
    within: tuple[float, float] | None = None
    defined: bool = False
    also: tuple[str, ...] = ()
    behind: str = ""
    spelt: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    """Spellings that stand for settings, by the tool that prints them: rbp of trec_eval has p = 0.9."""
    not_of_classes: str = ""
    """Why the measure is refused where each document has one class and one answer, and its name means another there."""
    not_without_wrong_matches: str = ""
    """Why the measure is refused where no item is matched with a wrong one, but what is wrong is spurious and missing.
    """
    needs: tuple[str, ...] = ()
    """The counts that the measure is computed from, if their names come from the data."""
    family: str = ""
    """The prefix of the names of these counts in the data. The way of counting is written between prefix and count:
    BLEU|nrefs:1|tok:13a|sys.
    """
    alone: Callable[..., Computation] | None = None
    """The formula for a single document, if it differs from that of a test set."""
    of_labels: Labels = ""
    """The measures of classes alone: where each document has one, or where it has any number of them."""
    over_classes: Callable[[Sequence[int]], OverUnits] | None = None
    """The formula over the classes of a test set, given as the ids of units, if it needs all of them."""
    of_several: Callable[..., Computation] | None = None
    """The formula where documents may have several classes, if it is another there: that of each document, over which
    the mean is taken.
    """
    by_document: bool = False
    """Whether each document has a value of its own and a system has the mean of these values."""
    named_share: bool = False
    """Whether imported values have the name of a share: between 0 and 1, unless they are percentages."""
    named_rate: bool = False
    """Whether imported values have the name of a rate of errors, which may be above 1."""

    @property
    def is_share(self) -> bool:
        """Whether its values are shares by what it is or is called."""
        return self.named_share or self.within == SHARE

    @property
    def in_percent(self) -> bool:
        """Whether 5% of it is 0.05."""
        return self.is_share or self.named_rate

    @property
    def called(self) -> str:
        """How the measure is written without parameter values: recall, P@k."""
        needed = {
            parameter.name for parameter in self.parameters if parameter.default is None and not parameter.optional
        }
        return f"{self.name}@{CUTOFF}" if CUTOFF in needed else self.name

    def __hash__(self) -> int:
        return hash((self.name, self.kind, self.meaning))

    def spelling(self, name: str) -> str:
        """The spelling that stands for settings, if a name is one, without a cutoff behind it: rbp of rbp@10."""
        bare = re.sub(r"[@_][0-9]+(\.[0-9]+)?$", "", name)
        return bare if bare in self.spelt else ""

    def in_name(self, name: str) -> dict[str, Setting]:
        """The parameters that a spelling of the measure stands for, if any: beta in F2."""
        if spelling := self.spelling(name):
            return dict(self.spelt[spelling])
        said = re.fullmatch(rf"{self.name}_?([0-9]+(?:\.[0-9]+)?)", name, re.IGNORECASE) if self.behind else None
        return {self.behind: Decimal(said[1])} if said else {}

    def label(self, settings: Mapping[str, Setting], name: str = "") -> str:
        """The canonical name of the measure, or the same with the synonym `name`: F(beta=1), recall(partial=0), P@10,
        F2.
        """
        said = self.in_name(name)
        cutoff = None if CUTOFF in self.shown else settings.get(CUTOFF)
        written = [
            f"{parameter.name}={plain(settings[parameter.name])}"
            for parameter in self.parameters
            if parameter.name in settings
            and parameter.name not in said
            and (parameter.name != CUTOFF or cutoff is None)
            and (parameter.name in self.shown or settings[parameter.name] != parameter.default)
        ]
        called = name or self.name
        if cutoff is not None:
            called += f"@{plain(cutoff)}"
        return f"{called}({', '.join(written)})" if written else called


class Statistic(Struct, frozen=True):
    """A measure with values for all parameters: this is what a query computes.

    `averaged` means that each document has a value and the result is the mean over documents.
    """

    label: str
    measure: Measure
    settings: Mapping[str, Setting]
    computation: Computation
    averaged: bool = False
    counted: str = ""
    """How the underlying counts were made, where the data say so: nrefs:1|tok:13a."""
    around: str = ""
    """The word around the measure, where it was asked for with one: macro in macro(F1)."""
    of_one: Computation | None = None
    """The computation from the counts of a single run, where that from averaged runs is another."""

    def __hash__(self) -> int:
        return hash((self.label, self.measure, self.computation, self.averaged))

    @property
    def sums(self) -> Ratio | Function | OverUnits | None:
        """The computation from sums of counts; None for measures of confidences and for a printed figure."""
        return self.computation if isinstance(self.computation, Ratio | Function | OverUnits) else None

    @property
    def over_units(self) -> OverUnits | None:
        """Its computation from the sums of each unit, if it has one: that of an average over units."""
        return self.computation if isinstance(self.computation, OverUnits) else None

    @property
    def all_or_nothing(self) -> bool:
        """Whether it says of each document that all is right, or not, so that it does not follow from averages."""
        return self.measure.of_several is not None and isinstance(self.computation, Function)

    @property
    def by_unit(self) -> bool:
        """Whether its rows are read unit by unit."""
        return self.over_units is not None and bool(self.over_units.stored)

    @property
    def defined_as(self) -> str:
        """The same with a setting that gives it a value where it has none; empty where there is none."""
        more = {of.name: of.defining for of in self.measure.parameters if of.defining}
        settings = {**self.settings, **more}
        return self.measure.label(settings) if settings != self.settings else ""

    @property
    def ordered(self) -> bool:
        """Whether the measure is computed from an order of documents."""
        return isinstance(self.computation, Ranking)

    @property
    def of_confidences(self) -> bool:
        """Whether the measure is computed from confidences, as an order or as probabilities."""
        return isinstance(self.computation, Ranking | Probabilities)

    @property
    def of_numbers(self) -> bool:
        """Whether the measure is of predicted numbers beside the true ones."""
        return isinstance(self.computation, OfNumbers)

    @property
    def resampled(self) -> bool:
        """Whether resamples of documents have values: it comes from sums, probabilities or predicted numbers."""
        return self.sums is not None or isinstance(self.computation, Probabilities | OfNumbers)

    @property
    def one_by_one(self) -> bool:
        """Whether it is made of values of single documents in one run, which averages over runs do not have."""
        return self.averaged or self.of_confidences

    @property
    def printed_of(self) -> str:
        """The task of which it was printed; empty if it is computed."""
        return self.computation.kind if isinstance(self.computation, PrintedFigure) else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the measure is computed from; empty if it is not a function of sums."""
        return self.sums.columns if self.sums else ()

    @property
    def counts(self) -> tuple[str, ...]:
        """What is read of each row: the columns, or where rows are read unit by unit the counts of a unit."""
        return self.over_units.counts if self.over_units is not None and self.by_unit else self.columns

    @property
    def steady(self) -> bool:
        """Whether the denominator is the same for both systems in every unit."""
        is_total = isinstance(self.computation, Function) and self.computation.total is not None
        return self.averaged or (self.measure.steady and self.over_units is None) or is_total

    @property
    def proportion(self) -> bool:
        """Whether it is a share of counted items."""
        return self.measure.proportion and self.over_units is None

    @property
    def in_counts(self) -> bool:
        """Whether its values are counts, weighted counts or unbounded losses, and not shares."""
        if self.measure.within is not None:
            return False
        is_loss = isinstance(self.computation, Probabilities)
        return is_loss or (isinstance(self.computation, Function | Summary) and self.computation.in_counts)


def settle(
    measure: Measure, settings: Mapping[str, Setting], averaged: bool = False, name: str = "", around: str = ""
) -> Statistic:
    """The statistic of a measure for settings that were already checked; a parameter that is not set has its default.
    If `name` is given, the label uses this synonym; `around` is the word around it: macro in macro(F1).
    """
    full = {
        parameter.name: setting
        for parameter in measure.parameters
        if (setting := settings.get(parameter.name, parameter.default)) is not None
    }
    label = measure.label(full, name)
    formula = measure.alone if averaged and measure.alone is not None else measure.formula
    return Statistic(
        label=f"{around}({label})" if around else label,
        measure=measure,
        settings=full,
        computation=formula(**full),
        averaged=averaged or measure.by_document,
        around=around,
    )


def plain(setting: Setting) -> str:
    """A setting in the form used in names: 1, 0.5, excluded."""
    if isinstance(setting, str):
        return setting
    text = format(setting, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


# === the direction of a name ==========================================================================================
# Infers from the name of a measure whether lower values are better: WER, val_loss, median latency. An imported measure
# has a name but no formula, so the name is the only evidence if the load does not declare a direction. The name is read
# word by word, and the last word with a known direction decides: `error_detection_f1` is an F, `f1_loss` is a loss.
# Words after `at`, `per` and the like only qualify the measure: `tpr_at_fpr` is a rate of true positives.


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


LOWER = _words(
    "bpb bpc brier cer cost costs crossentropy divergence ece eer error errors fallout fdr fnr fpr hter latencies",
    "latency logloss loss losses mae mape mase mse msle nll perplexities perplexity ppl regret rmse rmsle runtime",
    "smape ter wer wil",
)
"""Words for quantities where lower is better. `err` is left out because it may be the expected reciprocal rank, `per`
and `der` because they are also ordinary words of some languages.
"""

LOWER_TOGETHER = (
    ("bits", "per"),
    ("cross", "entropy"),
    ("edit", "distance"),
    ("false", "alarm"),
    ("false", "alarms"),
    ("miss", "rate"),
)
"""Pairs of words for which lower is better if one directly follows the other."""

HIGHER = _words(
    "acc accuracy auc auroc avoidance bleu chrf correct correction correlation detected detection effective",
    "effectiveness efficiency f free gain gains improvement kappa mcc ndcg precision recall recovery reduction",
    "resistance robustness saved saving savings success tolerance",
)
"""Words for which higher is better. They override an earlier word: error_reduction."""

TURNED = _words("inverse inverted minus neg negated negative no non tokens win wins without")
"""Words that reverse or cancel the meaning of the name, so that lower is not assumed to be better: neg_log_loss,
win_loss, num_perplexity_tokens.
"""

OF_WHAT = _words("@ at by for from on over per under versus vs when with")
"""Words after which a name only says where or of what the measure is taken."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|@")
"""One word of a name, also in names such as valLoss and cpWER."""

_COMPLEMENT = re.compile(r"\s*(1|one|100)\s*[-−–]\s*\D", re.IGNORECASE)
"""A complement such as 1 − WER."""


def lower_by_name(name: str) -> bool:
    """Whether the name of a measure, in any letter case, says that lower values are better."""
    words = [word.casefold() for word in _WORD.findall(name)]
    if _COMPLEMENT.match(name) or TURNED.intersection(words):
        return False
    if "of" in words:
        # "rate of errors" means the same as "error rate".
        place = words.index("of")
        words = words[place + 1 :] + words[:place]
    lower = False
    for place, word in enumerate(words):
        if word in OF_WHAT:
            break
        if word in LOWER or tuple(words[place : place + 2]) in LOWER_TOGETHER:
            lower = True
        elif word in HIGHER:
            lower = False
    return lower
