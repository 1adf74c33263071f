"""The texts in the folder of a HELM run: the text of each instance, the right answers, and the model's answers.

All of them are in `scenario_state.json`. If that file was not kept, instances are in `instances.json` and answers in
`display_predictions.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from warehouse.loading.staging.staged import Staging

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
