"""Reads runs of HELM: `per_instance_stats.json`, a list of statistics per instance, perturbation and trial.

A document is an instance, `id1`, and its value is sum / count. The test set is the scenario, which has the instances of
the split test, as they are. Those of another split are a test set of their own (`SCENARIO:valid`), in a run that has no
others, too, and so are those under a perturbation (`SCENARIO:typos(prob=0.1)`). Trials are replicates. The model
and the scenario come from `run_spec.json` beside the file, or else from the name of the folder
(`mmlu:subject=law,model=openai_gpt2`). Scenarios of one group, such as the subjects of mmlu, are a group of test sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import DOCUMENTS, PUBLISHED, VALUES
from evalhouse.warehouse.loading.staging.cells import FIGURES, arguments_text, decimal_text
from evalhouse.warehouse.loading.staging.identity import ANSWER, QUESTION
from evalhouse.warehouse.loading.staging.json_values import ITEM
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets, TextSheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.measures.values import ACCURACY, foremost

# === texts of a run ===================================================================================================
# The text of each instance, the right answers, and the model's answers. All of them are in `scenario_state.json`. If
# that file was not kept, instances are in `instances.json` and answers in `display_predictions.json`.

LARGEST = 256 * 1024 * 1024
"""The largest of these files that is read, in bytes."""


class InstanceTexts(Struct, frozen=True):
    """The texts of an instance in a trial."""

    instance: str
    perturbation: dict[str, Any] | None
    trial: int
    input: str | None
    references: tuple[str, ...]
    outputs: tuple[str, ...]


def texts_of(staging: Staging) -> Iterator[InstanceTexts]:
    """The texts that lie beside a file of values, if there are any. Raises DataError if they cannot be read."""
    state = staging.json_beside("scenario_state.json", LARGEST)
    if isinstance(state, dict):
        for request in _objects(state.get("request_states")):
            yield _of_request(request)
        return
    instances = {_key(instance): instance for instance in _objects(staging.json_beside("instances.json", LARGEST))}
    for answer in _objects(staging.json_beside("display_predictions.json", LARGEST)):
        number, perturbation = str(answer.get("instance_id")), _object(answer, "perturbation")
        instance = instances.get((number, str(perturbation or ""))) or instances.get((number, "")) or {}
        yield _texts(instance, {}, number, perturbation, answer, [answer.get("predicted_text")])


def _of_request(request: dict[str, Any]) -> InstanceTexts:
    instance = _object(request, "instance") or {}
    completions = _objects((_object(request, "result") or {}).get("completions"))
    mapping = _object(request, "output_mapping") or {}
    answers = [completion.get("text") for completion in completions]
    return _texts(instance, mapping, str(instance.get("id")), _object(instance, "perturbation"), request, answers)


def _texts(
    instance: Mapping[str, Any],
    mapping: Mapping[str, Any],
    number: str,
    perturbation: dict[str, Any] | None,
    trial: Mapping[str, Any],
    answers: list[Any],
) -> InstanceTexts:
    question = (_object(instance, "input") or {}).get("text")
    choices = [f"{letter}. {choice}" for letter, choice in mapping.items()]
    letters = {choice: letter for letter, choice in mapping.items() if isinstance(choice, str)}
    right = [f"{letters[text]}. {text}" if text in letters else text for text in _right_answers(instance)]
    index = trial.get("train_trial_index")
    return InstanceTexts(
        instance=number,
        perturbation=perturbation,
        trial=index if isinstance(index, int) else 0,
        input="\n".join((question, *choices)) if isinstance(question, str) else None,
        references=tuple(right),
        outputs=tuple(answer for answer in answers if isinstance(answer, str)),
    )


def _right_answers(instance: Mapping[str, Any]) -> Iterator[str]:
    for reference in _objects(instance.get("references")):
        text, tags = (_object(reference, "output") or {}).get("text"), reference.get("tags")
        if isinstance(text, str) and isinstance(tags, list) and "correct" in tags:
            yield text


def _instances(staging: Staging) -> Iterator[dict[str, Any]]:
    """The instances that lie beside a file of values, if they do. Raises DataError if they cannot be read."""
    listed = _objects(staging.json_beside("instances.json", LARGEST))
    if listed:
        yield from listed
        return
    state = staging.json_beside("scenario_state.json", LARGEST)
    for request in _objects(state.get("request_states")) if isinstance(state, dict) else ():
        yield _object(request, "instance") or {}


def _key(instance: dict[str, Any]) -> tuple[str, str]:
    return str(instance.get("id")), str(_object(instance, "perturbation") or "")


def _objects(said: Any) -> list[dict[str, Any]]:
    return [item for item in said if isinstance(item, dict)] if isinstance(said, list) else []


def _object(said: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    part = said.get(key)
    return part if isinstance(part, dict) else None


# === statistics of a run ==============================================================================================
# The statistic that says whether an answer is right becomes `accuracy`; other statistics keep their names. The split
# and the sub-split of an instance are its attributes. What `stats.json` beside the file states is compared with the
# values. If there is no `per_instance_stats.json`, the figures in `stats.json` become published figures.

EXAMPLE = """\
[{"instance_id": "id1", "train_trial_index": 0,
  "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0}]},
 {"instance_id": "id1", "train_trial_index": 0, "perturbation": {"name": "typos"},
  "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 0.0}]}]
"""

LARGEST_SPEC = 16 * 1024 * 1024
"""The largest description of a run that is read, in bytes."""

_NO_PARAMETERS = ("name", "robustness", "fairness", "computed_on")
"""The keys that HELM writes for every perturbation, whatever it does to the text."""

_RUN = re.compile(r"(?P<before>.*?)[,:]?model=(?P<model>[^,]+)(?P<after>.*)")


STATS = "stats.json"
"""The figures of a run."""

_TEST = "test"
"""The split whose instances are the scenario."""

_TOOK = ("num_prompt_tokens", "num_completion_tokens", "num_output_tokens", "inference_runtime")
"""The statistics of what an answer took, of which less is better."""

PARTS = (
    "run_spec.json",
    "scenario.json",
    "scenario_state.json",
    STATS,
    "instances.json",
    "display_requests.json",
    "display_predictions.json",
)
"""The other files in the folder of a run."""


class _Part(Struct, frozen=True):
    """Which instances of a scenario: those of a split, under a perturbation; None for what is not given."""

    split: str | None
    perturbation: str | None

    @property
    def told_by(self) -> tuple[str, ...]:
        """What is behind the name of the scenario: nothing for the split test, without perturbation."""
        parts = (self.split if self.split != _TEST else None, self.perturbation)
        return tuple(part for part in parts if part)


class _Run(Struct, frozen=True):
    """A run: its scenario, model and suite, and its trials."""

    staging: Staging
    scenario: str
    model: str
    suite: str | None
    trials: tuple[int, ...] = ()

    def test_set(self, part: _Part) -> str:
        """The name of the test set: the scenario for the split test, without perturbation."""
        return self.staging.part(self.scenario, *part.told_by)

    def system(self, test_set: str, trial: int | None = None) -> str:
        """The name under which a trial is stored. The trial is left out of the name if there is only one."""
        numbered = trial if len(self.trials) > 1 else None
        run = "/".join(part for part in (self.suite, str(numbered) if numbered is not None else None) if part)
        return self.staging.replicate(self.model, test_set, run=run or None)


class _Value(Struct, frozen=True):
    """The value of a measure for an instance in a trial. `counted` is the number of observations that it is the mean
    of.
    """

    part: _Part
    sub_split: str | None
    instance: str
    trial: int
    measure: str
    value: float
    counted: int


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the values of the instances, or figures. Raises DataError if the file is not a list of either."""
    read: list[_Value] = []
    figures: list[Any] = []
    for document in documents(staging):
        for place, item in enumerate(document.items(of="instances"), start=1):
            try:
                if "stats" not in item and "count" in item:
                    figures.append(item)
                else:
                    read += _values(item)
            except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
                wanted = "no instance_id, or no stats with name, count and sum"
                raise document.refusal(f"instance {place} has {wanted}") from None
    return _stage_values(staging, read) if read or not figures else _stage_figures(staging, figures)


def _stage_values(staging: Staging, read: list[_Value]) -> tuple[Staged, ...]:
    finite_ones = [value for value in read if math.isfinite(value.value)]
    run = _Run(staging, *_names_of_run(staging), tuple(sorted({value.trial for value in finite_ones})))
    measures = dict.fromkeys(value.measure for value in finite_ones)
    right = staging.accuracy(run.scenario, measures, foremost(measures))
    of_part = {value.part: run.test_set(value.part) for value in finite_ones}
    for part, test_set in of_part.items():
        for group in _groups_of_run(staging, run.scenario):
            staging.in_group(test_set, ":".join((group, *part.told_by)), is_mean=True)
    with Sheets(staging, VALUES, DOCUMENTS) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        attributes = sheets.open(DOCUMENTS, "test_set", "document", "split", "sub_split")
        for value in finite_ones:
            test_set = of_part[value.part]
            measure = ACCURACY if value.measure == right else value.measure
            values.add(None, test_set, run.system(test_set, value.trial), value.instance, measure, value.value)
        known = {(value.part, value.instance): value.sub_split for value in finite_ones}
        for (part, instance), sub_split in known.items():
            if part.split or sub_split:
                attributes.add(None, of_part[part], instance, part.split, sub_split)
        splits = {instance: part.split for part, instance in known}
        for described in _instances(staging):
            _identify(sheets, run, described, splits)
        if sheets.texts.wanted:
            _add_texts(sheets.texts, run, splits)
        _state_figures(run, finite_ones, right)
        notes = _accuracy_note(right)
        others = sorted(
            test_set.removeprefix(run.scenario) for test_set in of_part.values() if test_set != run.scenario
        )
        if others:
            listed = ", ".join(f"SCENARIO{part}" for part in others)
            notes.append(f"other splits and perturbations are test sets of their own: {listed}")
        if len(run.trials) > 1:
            notes.append(f"instances were tried {len(run.trials)} times; each trial is a run")
        if empty := len(read) - len(finite_ones):
            notes.append(f"left out (no instance, or not a finite number): {quantity(empty, 'statistic')}")
        return sheets.staged(notes, {measure: True for measure in _TOOK if measure in measures}, right or "")


def _identify(sheets: Sheets, run: _Run, instance: dict[str, Any], splits: Mapping[str, str | None]) -> None:
    """Adds the question and the right answers of an instance, as the scenario has them."""
    number, perturbation = str(instance.get("id")), _object(instance, "perturbation")
    part = _Part(splits.get(number), _perturbation_name(perturbation) if perturbation else None)
    question = (_object(instance, "input") or {}).get("text")
    said = {
        QUESTION: question if isinstance(question, str) else None,
        ANSWER: "\n".join(sorted(_right_answers(instance))),
    }
    sheets.identify(None, said, test_set=run.test_set(part), document=number)


def _add_texts(sheets: TextSheets, run: _Run, splits: Mapping[str, str | None]) -> None:
    """Adds the texts of instances, whose splits are known from their values."""
    for texts in texts_of(run.staging):
        perturbation = _perturbation_name(texts.perturbation) if texts.perturbation else None
        test_set = run.test_set(_Part(splits.get(texts.instance), perturbation))
        of: dict[str, Any] = {"test_set": test_set, "document": texts.instance}
        sheets.references(None, texts.references, **of)
        sheets.input(None, texts.input, **of, system=run.system(test_set, texts.trial))
        sheets.outputs(None, texts.outputs, **of, system=run.system(test_set, texts.trial))


def _state_figures(run: _Run, read: Iterable[_Value], right: str | None) -> None:
    """Hands over the figures in `stats.json` beside that are means of the values of instances. A mean in which
    instances have different weights cannot be computed from their values.
    """
    weighted = {value.measure for value in read if value.counted != 1}
    instances: dict[tuple[_Part, str | None], set[str]] = {}
    for value in read:
        instances.setdefault((value.part, value.sub_split), set()).add(value.instance)
    for stat in _objects(run.staging.json_beside(STATS, LARGEST)):
        try:
            figure = _figure(stat)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            raise run.staging.refusal(f"a statistic in {STATS} beside it has no name, count and sum") from None
        if figure is None or figure.computed_on or figure.measure in weighted:
            continue
        if of_figure := instances.get((figure.part, figure.sub_split)):
            test_set = run.test_set(figure.part)
            systems = tuple(dict.fromkeys(run.system(test_set, trial) for trial in run.trials))
            measure = ACCURACY if figure.measure == right else figure.measure
            documents = frozenset(of_figure)
            run.staging.state(
                StatedFigure(test_set, systems, measure, figure.called, STATS, figure.value, documents=documents)
            )


def _stage_figures(staging: Staging, listed: list[Any]) -> tuple[Staged, ...]:
    try:
        figures = [figure for stat in listed if (figure := _figure(stat)) is not None]
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise staging.refusal("a statistic has no name, count and sum") from None
    run = _Run(staging, *_names_of_run(staging))
    right = foremost(figure.measure for figure in figures)
    samples = {figure.part: figure.value for figure in figures if figure.measure == "num_instances"}
    with Sheets(staging, PUBLISHED) as sheets:
        published = sheets.open(PUBLISHED, *FIGURES)
        for figure in figures:
            test_set = run.test_set(figure.part)
            counted = samples.get(figure.part, math.nan)
            known = int(counted) if counted.is_integer() and counted > 0 else None
            if digits := decimal_text(figure.value):
                measure = (ACCURACY if figure.measure == right else figure.measure) + figure.suffix
                of = run.system(test_set), "values", measure, *digits, known, None, None, None, None
                published.add(None, test_set, *of)
        return sheets.staged(_accuracy_note(right))


def _accuracy_note(right: str | None) -> list[str]:
    return [f"{ACCURACY} is {right}"] if right not in (None, ACCURACY) else []


def _values(instance: dict[str, Any]) -> Iterator[_Value]:
    """The values of one instance; nan if nothing was counted."""
    number, trial = str(instance["instance_id"]), int(instance.get("train_trial_index") or 0)
    perturbation = instance.get("perturbation")
    called = _perturbation_name(perturbation) if perturbation else None
    names = [stat["name"] for stat in instance["stats"]]
    # Statistics without a split are about an instance that has one all the same.
    split = next((str(name["split"]) for name in names if name.get("split")), None)
    sub_split = next((str(name["sub_split"]) for name in names if name.get("sub_split")), None)
    for stat in instance["stats"]:
        value = _mean(stat)
        yield _Value(_Part(split, called), sub_split, number, trial, str(stat["name"]["name"]), value, stat["count"])


def _mean(stat: dict[str, Any]) -> float:
    """The value of a statistic; nan if nothing was counted."""
    return float(stat["sum"]) / stat["count"] if stat["count"] else math.nan


class _Figure(Struct, frozen=True):
    """A figure of a run: the part of the scenario and the sub-split that it is about, its measure, and its value.
    `computed_on` is `worst` or `original` for figures that HELM computes from several variants of each instance.
    """

    part: _Part
    sub_split: str | None
    measure: str
    value: float
    computed_on: str | None

    @property
    def suffix(self) -> str:
        """What follows the measure in the name of a published figure."""
        return "".join(f"@{part}" for part in (self.sub_split, self.computed_on) if part)

    @property
    def called(self) -> str:
        """The figure as a note names it: exact_match of test, under typos."""
        of = ", ".join(part for part in (self.part.split, self.sub_split) if part)
        under = f" under {self.part.perturbation}" if self.part.perturbation else ""
        return f"{self.measure}{f' of {of}' if of else ''}{under}"


_VARIANTS = ("worst", "original")
"""What figures are computed on, if not on the instances as they were perturbed."""


def _figure(stat: dict[str, Any]) -> _Figure | None:
    """A statistic of a run; None if nothing was counted."""
    name, value = stat["name"], _mean(stat)
    if not math.isfinite(value):
        return None
    perturbation = name.get("perturbation")
    part = _Part(name.get("split"), _perturbation_name(perturbation) if perturbation else None)
    computed_on = perturbation.get("computed_on") if perturbation else None
    variant = computed_on if computed_on in _VARIANTS else None
    return _Figure(part, name.get("sub_split"), str(name["name"]), value, variant)


def _perturbation_name(perturbation: dict[str, Any]) -> str:
    """The name of a perturbation with its parameters in alphabetical order. A scenario may use one perturbation with
    several parameters.
    """
    parameters = arguments_text({key: said for key, said in perturbation.items() if key not in _NO_PARAMETERS})
    return f"{perturbation['name']}({parameters})" if parameters else str(perturbation["name"])


def _names_of_run(staging: Staging) -> tuple[str, str, str | None]:
    """The scenario, the model and the suite, from settings, from the description of the run or from the folder."""
    folder = staging.source.absolute().parent
    spec = staging.json_beside("run_spec.json", LARGEST_SPEC)
    spec = spec if isinstance(spec, dict) else {}
    run = _RUN.fullmatch(str(spec.get("name") or folder.name))
    scenario, model = (f"{run['before']}{run['after']}", run["model"]) if run else (None, None)
    adapter = spec.get("adapter_spec")
    model = str(adapter["model"]) if isinstance(adapter, dict) and adapter.get("model") else model
    test_set = staging.named("test_set", scenario, "the folder does not name the scenario")
    suite = folder.parent.name if folder.parent.parent.name == "runs" else None
    return test_set, staging.named("system", model, "the folder does not name the model"), suite


def _groups_of_run(staging: Staging, scenario: str) -> tuple[str, ...]:
    """The groups that a run is in, of which HELM's tables have the mean over runs: those in the description of the run,
    or else the scenario without its arguments, mmlu of mmlu:subject=law.
    """
    spec = staging.json_beside("run_spec.json", LARGEST_SPEC)
    listed = spec.get("groups") if isinstance(spec, dict) else None
    if isinstance(listed, list):
        return tuple(str(group) for group in listed if group)
    whole, _, given = scenario.partition(":")
    return (whole,) if whole and given else ()


def _recognizes(start: Start) -> Recognition | str | None:
    if start.name in PARTS and "per_instance_stats.json" in start.beside:
        return Recognition("its name, beside per_instance_stats.json", Role.PART)
    if {(ITEM, "instance_id"), (ITEM, "stats")} <= start.keys:
        return "its instance_id and stats"
    return "its statistics" if start.name == STATS and {(ITEM, "name"), (ITEM, "sum_squared")} <= start.keys else None


READER = Reader(
    "helm",
    "runs of HELM: values by instance and perturbation",
    (VALUES, DOCUMENTS, PUBLISHED),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)
