"""Reads runs of HELM: `per_instance_stats.json`, a list of statistics per instance, perturbation and trial.

A document is an instance, `id1`, or `id1:typos(prob=0.1)` for a perturbation, and its value is sum / count. If a file
has perturbations, the instance is an attribute that all variants of the same text share. Trials are replicates. The
model and the test set come from `run_spec.json` beside the file, or else from the name of the folder
(`mmlu:subject=law,model=openai_gpt2`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import DOCUMENTS, PUBLISHED, VALUES
from evalhouse.warehouse.loading.staging.cells import FIGURES, decimal_text
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
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
    right = []
    for reference in _objects(instance.get("references")):
        text = (_object(reference, "output") or {}).get("text")
        tags = reference.get("tags")
        if isinstance(text, str) and isinstance(tags, list) and "correct" in tags:
            right.append(f"{letters[text]}. {text}" if text in letters else text)
    index = trial.get("train_trial_index")
    return InstanceTexts(
        instance=number,
        perturbation=perturbation,
        trial=index if isinstance(index, int) else 0,
        input="\n".join((question, *choices)) if isinstance(question, str) else None,
        references=tuple(right),
        outputs=tuple(answer for answer in answers if isinstance(answer, str)),
    )


def _key(instance: dict[str, Any]) -> tuple[str, str]:
    return str(instance.get("id")), str(_object(instance, "perturbation") or "")


def _objects(said: Any) -> list[dict[str, Any]]:
    return [item for item in said if isinstance(item, dict)] if isinstance(said, list) else []


def _object(said: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    part = said.get(key)
    return part if isinstance(part, dict) else None


# === statistics of a run ==============================================================================================
# The statistic that says whether an answer is right becomes `accuracy`. Other statistics keep their names, followed by
# `@` and the split if they have a split of their own. If there is no `per_instance_stats.json`, the figures in
# `stats.json` become published figures.

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


PARTS = (
    "run_spec.json",
    "scenario.json",
    "scenario_state.json",
    "stats.json",
    "instances.json",
    "display_requests.json",
    "display_predictions.json",
)
"""The other files in the folder of a run."""


class _Value(Struct, frozen=True):
    """The value of a measure for an instance in a trial, and the document it belongs to."""

    document: str
    instance: str
    trial: int
    measure: str
    value: float


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
    test_set, model, suite = _names_of_run(staging)
    finite_ones = [value for value in read if math.isfinite(value.value)]
    right = foremost(value.measure for value in finite_ones)
    trials = {value.trial for value in finite_ones}
    with Sheets(staging, VALUES, DOCUMENTS) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        attributes = sheets.open(DOCUMENTS, "test_set", "document", "instance")
        for value in finite_ones:
            system = _system(staging, model, test_set, suite, value.trial if len(trials) > 1 else None)
            measure = ACCURACY if value.measure == right else value.measure
            values.add(None, test_set, system, value.document, measure, value.value)
        instance_of = {value.document: value.instance for value in finite_ones}
        if any(instance != name for name, instance in instance_of.items()):
            for name, instance in instance_of.items():
                attributes.add(None, test_set, name, instance)
        for texts in texts_of(staging) if sheets.texts.wanted else ():
            name = (
                f"{texts.instance}:{_perturbation_name(texts.perturbation)}" if texts.perturbation else texts.instance
            )
            of: dict[str, Any] = {"test_set": test_set, "document": name}
            system = _system(staging, model, test_set, suite, texts.trial if len(trials) > 1 else None)
            sheets.texts.references(None, texts.references, **of)
            sheets.texts.input(None, texts.input, **of, system=system)
            sheets.texts.outputs(None, texts.outputs, **of, system=system)
        notes = _accuracy_note(right)
        if len(trials) > 1:
            notes.append(f"instances were tried {len(trials)} times; each trial is a run")
        if empty := len(read) - len(finite_ones):
            notes.append(f"left out (no instance, or not a finite number): {quantity(empty, 'statistic')}")
        return sheets.staged(notes)


def _stage_figures(staging: Staging, listed: list[Any]) -> tuple[Staged, ...]:
    test_set, model, suite = _names_of_run(staging)
    try:
        figures = _figures(listed)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise staging.refusal("a statistic has no name, count and sum") from None
    right, samples = foremost(figures), figures.get("num_instances", math.nan)
    with Sheets(staging, PUBLISHED) as sheets:
        published = sheets.open(PUBLISHED, *FIGURES)
        system = _system(staging, model, test_set, suite, None)
        known = int(samples) if samples.is_integer() else None
        for name, value in figures.items():
            if digits := decimal_text(value):
                measure = ACCURACY if name == right else name
                published.add(None, test_set, system, "values", measure, *digits, known, None, None, None, None)
        return sheets.staged(_accuracy_note(right))


def _accuracy_note(right: str | None) -> list[str]:
    return [f"{ACCURACY} is {right}"] if right not in (None, ACCURACY) else []


def _values(instance: dict[str, Any]) -> Iterator[_Value]:
    """The values of one instance; nan if nothing was counted."""
    number, trial = str(instance["instance_id"]), int(instance.get("train_trial_index") or 0)
    perturbation = instance.get("perturbation")
    document = f"{number}:{_perturbation_name(perturbation)}" if perturbation else number
    for stat in instance["stats"]:
        measure, value = _measure_of(stat)
        yield _Value(document, number, trial, measure, value)


def _measure_of(stat: dict[str, Any]) -> tuple[str, float]:
    """The measure and the value of a statistic."""
    said = stat["name"]
    measure = str(said["name"]) + (f"@{said['sub_split']}" if said.get("sub_split") else "")
    return measure, float(stat["sum"]) / stat["count"] if stat["count"] else math.nan


def _figures(listed: list[Any]) -> dict[str, float]:
    """The figures of a run by measure, without perturbations. If there are several splits, those of its test split."""
    plain = [stat for stat in listed if not stat["name"].get("perturbation")]
    plain.sort(key=lambda stat: stat["name"].get("split") == "test")
    return dict(map(_measure_of, plain))


def _perturbation_name(perturbation: dict[str, Any]) -> str:
    """The name of a perturbation with its parameters in alphabetical order. A scenario may use one perturbation with
    several parameters.
    """
    parameters = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in sorted(perturbation.items())
        if key not in _NO_PARAMETERS and value is not None
    ]
    return f"{perturbation['name']}({','.join(parameters)})" if parameters else str(perturbation["name"])


def _names_of_run(staging: Staging) -> tuple[str, str, str | None]:
    """The test set, the model and the suite, from settings, from the description of the run or from the folder."""
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


def _system(staging: Staging, model: str, test_set: str, suite: str | None, trial: int | None) -> str:
    """The name under which a trial of a run is stored. The trial is left out of the name if there is only one."""
    run = "/".join(part for part in (suite, str(trial) if trial is not None else None) if part)
    return staging.replicate(model, test_set, run=run or None)


def _recognizes(start: Start) -> Recognition | str | None:
    if start.name in PARTS and "per_instance_stats.json" in start.beside:
        return Recognition("its name, beside per_instance_stats.json", Role.PART)
    if not start.text.lstrip().startswith("["):
        return None
    if '"instance_id"' in start.text and '"stats"' in start.text:
        return "its instance_id and stats"
    return "its statistics" if start.name == "stats.json" and '"sum_squared"' in start.text else None


READER = Reader(
    "helm",
    "runs of HELM: values by instance and perturbation",
    (VALUES, DOCUMENTS, PUBLISHED),
    EXAMPLE,
    stage,
    noun="sample",
    cluster="instance",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)
