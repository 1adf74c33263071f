"""Results files of lm-evaluation-harness, `results_<date>.json`: the model, its tasks and groups, and their figures.

Its contents say how the samples beside the file are to be read. Nothing here stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

LARGEST = 16 * 1024 * 1024
"""The largest results file that is read, in bytes."""

_STDERR = "_stderr"


class TaskFigure(Struct, frozen=True):
    """A figure of a task or group: its metric and filter, the value, and, if the file gives them, its standard error
    and number of samples.
    """

    task: str
    metric: str
    filtered: str
    value: float
    standard_error: float | None
    samples: int | None


class Results(Struct, frozen=True):
    """The contents of a results file: the figures of tasks; for each task, the metrics that compare labelled spans and
    its groups, the outermost first; and for each metric, whether lower is better.
    """

    model: str | None = None
    figures: tuple[TaskFigure, ...] = ()
    spans: Mapping[str, frozenset[str]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lower_is_better: Mapping[str, bool] = field(default_factory=dict)

    def of(self, task: str) -> tuple[TaskFigure, ...]:
        """The figures of one task."""
        return tuple(figure for figure in self.figures if figure.task == task)


def parsed(said: Any) -> Results:
    """Parses the JSON of a results file. Raises ValueError if it is not one."""
    if not isinstance(said, dict) or not isinstance(said.get("results"), dict):
        raise ValueError("it has no results")
    configs = _objects(said, "configs")
    return Results(
        model=str(said["model_name"]) if said.get("model_name") else None,
        figures=tuple(_figures(said)),
        spans={task: _spans(config) for task, config in configs.items()},
        groups=_groups(said),
        lower_is_better=_directions(said),
    )


def _objects(said: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    """The objects under a key, by name. Anything else under the key is ignored."""
    there = said.get(key)
    return (
        {str(name): item for name, item in there.items() if isinstance(item, dict)} if isinstance(there, dict) else {}
    )


def _figures(said: Mapping[str, Any]) -> Iterator[TaskFigure]:
    """The figures of tasks and groups. Newer files list groups separately."""
    counts = _objects(said, "n-samples")
    for task, of_task in (_objects(said, "results") | _objects(said, "groups")).items():
        samples = counts.get(task, {}).get("effective")
        for key, value in of_task.items():
            metric, comma, filtered = key.partition(",")
            if not comma or metric.endswith(_STDERR) or not isinstance(value, int | float):
                continue
            error = of_task.get(f"{metric}{_STDERR},{filtered}")
            yield TaskFigure(
                task,
                metric,
                filtered,
                float(value),
                float(error) if isinstance(error, int | float) else None,
                samples if isinstance(samples, int) and samples > 0 else None,
            )


def _spans(config: Mapping[str, Any]) -> frozenset[str]:
    listed = config.get("metric_list")
    metrics = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return frozenset(str(item.get("metric")) for item in metrics if "span_f1" in str(item.get("aggregation")))


def _groups(said: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each task, the groups around it. If a task is in several groups that are not nested, the first one counts."""
    listed = said.get("group_subtasks")
    parts = {str(group): tasks for group, tasks in listed.items()} if isinstance(listed, dict) else {}
    around: dict[str, str] = {}
    for group, tasks in parts.items():
        for task in tasks if isinstance(tasks, list) else ():
            around.setdefault(str(task), group)
    groups: dict[str, tuple[str, ...]] = {}
    for task in around:
        path: list[str] = []
        inner: str | None = around[task]
        while inner is not None and inner not in path:
            path.insert(0, inner)
            inner = around.get(inner)
        groups[task] = tuple(path)
    return groups


def _directions(said: Mapping[str, Any]) -> dict[str, bool]:
    """For each metric, whether lower is better, if all tasks agree."""
    directions: dict[str, set[bool]] = {}
    for of_task in _objects(said, "higher_is_better").values():
        for metric, higher in of_task.items():
            if isinstance(higher, bool):
                directions.setdefault(metric, set()).add(not higher)
    return {metric: lower.pop() for metric, lower in directions.items() if len(lower) == 1}
