"""`per_instance_stats.json` of HELM: for each instance, perturbation and trial a list of statistics.

A document is an instance, `id1`, or `id1:typos(prob=0.1)` under a perturbation; its value is sum / count. Where a file
has perturbations, the instance is an attribute, which all that was made of one text shares. Trials are replicates, and
are averaged. The system is the model in the name of the folder (`mmlu:subject=law,model=openai_gpt2`),
and the test set what stands before it. A statistic goes by its name; `@` and a split of its own follow where there is
one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from warehouse.loading.staging.lines import documents
from warehouse.loading.staging.reader import Evidence, Reader, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.records import DOCUMENTS, VALUES

EXAMPLE = """\
[{"instance_id": "id1", "train_trial_index": 0,
  "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0}]},
 {"instance_id": "id1", "train_trial_index": 0, "perturbation": {"name": "typos"},
  "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 0.0}]}]
"""

LARGEST = 256 * 1024 * 1024
"""The largest file that is read, in bytes."""

_NO_PARAMETERS = ("name", "robustness", "fairness", "computed_on")
"""What HELM says of every perturbation, whatever it does to the text."""

_RUN = re.compile(r"(?P<before>.*?)[,:]?model=(?P<model>[^,]+)(?P<after>.*)")


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the values of the instances. Raises DataError where the file is no list of them."""
    test_set, system = _named(staging)
    trials_of: dict[tuple[str, str], list[float]] = {}
    instance_of: dict[str, str] = {}
    empty = 0
    for document in documents(staging):
        instances = document.json(LARGEST)
        if not isinstance(instances, list):
            raise document.refusal("this is no list of instances")
        for place, instance in enumerate(instances, start=1):
            try:
                for name, measure, value in _values(instance):
                    instance_of[name] = str(instance["instance_id"])
                    if math.isfinite(value):
                        trials_of.setdefault((name, measure), []).append(value)
                    else:
                        empty += 1
            except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
                wanted = "no instance_id, or no stats with name, count and sum"
                raise document.refusal(f"instance {place} has {wanted}") from None
    with Sheets(staging, VALUES, DOCUMENTS) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        attributes = sheets.open(DOCUMENTS, "test_set", "document", "instance")
        for (name, measure), listed in trials_of.items():
            values.add(None, test_set, system, name, measure, math.fsum(listed) / len(listed))
        names = dict.fromkeys(name for name, _ in trials_of)
        if any(instance_of[name] != name for name in names):
            for name in names:
                attributes.add(None, test_set, name, instance_of[name])
        trials = max(map(len, trials_of.values()), default=0)
        notes = [f"instances were tried up to {trials} times; values are means over the trials"] if trials > 1 else []
        if empty:
            notes.append(f"left out, being of no instance or no finite number: {empty} statistics")
        return sheets.staged(notes)


def _values(instance: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """The (document, measure, value) of one instance; nan where nothing was counted."""
    name = str(instance["instance_id"])
    if perturbation := instance.get("perturbation"):
        name += f":{_called(perturbation)}"
    for stat in instance["stats"]:
        said = stat["name"]
        measure = str(said["name"]) + (f"@{said['sub_split']}" if said.get("sub_split") else "")
        yield name, measure, float(stat["sum"]) / stat["count"] if stat["count"] else math.nan


def _called(perturbation: dict[str, Any]) -> str:
    """The name of a perturbation and its parameters, in alphabetical order: a scenario may use one in several ways."""
    parameters = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in sorted(perturbation.items())
        if key not in _NO_PARAMETERS and value is not None
    ]
    return f"{perturbation['name']}({','.join(parameters)})" if parameters else str(perturbation["name"])


def _named(staging: Staging) -> tuple[str, str]:
    """The test set and the system, by settings or by the name of the folder."""
    run = _RUN.fullmatch(staging.source.absolute().parent.name)
    scenario, model = (f"{run['before']}{run['after']}", run["model"]) if run else (None, None)
    test_set = staging.named("test_set", scenario, "the folder does not say the scenario")
    return test_set, staging.named("system", model, "the folder does not say the model")


def _recognizes(start: Start) -> str | None:
    listed = start.text.lstrip().startswith("[") and '"instance_id"' in start.text and '"stats"' in start.text
    return "its instance_id and stats" if listed else None


READER = Reader(
    "helm",
    "per_instance_stats.json of HELM: values by instance and perturbation",
    (VALUES, DOCUMENTS),
    EXAMPLE,
    stage,
    noun="sample",
    cluster="instance",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
)
