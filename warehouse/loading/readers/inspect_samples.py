"""Interprets the contents of an Inspect log: its task, model and run, its samples, and its summary figures.

Other modules open the log. Nothing here stores anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from string import ascii_uppercase
from typing import Any

from msgspec import Struct

from warehouse.loading.staging.cells import finite
from warehouse.measures.correctness import ACCURACY, foremost

LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""The numbers for correct, partial, incorrect and no answer in the accuracy that Inspect prints."""

_ATTACHED = "attachment://"
"""The prefix of a reference to an attachment of a sample."""

_ENDED = {"error": "error", "cancelled": "cancelled", "started": "not finished"}
"""For each status of a log, why samples are missing from it."""


class Header(Struct, frozen=True):
    """The header of a log. `lacking` says why samples are missing; it is empty if all are there. `planned` are the
    samples that were to be answered; it is empty if the log does not list them.
    """

    task: str | None
    model: str | None
    run: str | None
    created: str | None
    lacking: str
    planned: tuple[str, ...]
    epochs: int


class ScorerFigure(Struct, frozen=True):
    """A metric of a scorer over all samples: its value, its standard error, and the number of samples."""

    scorer: str
    metric: str
    value: float
    standard_error: float | None
    samples: int | None


def header_of(log: Mapping[str, Any]) -> Header:
    """Reads the header of a log."""
    said = _object(log, "eval")
    dataset, config = _object(said, "dataset"), _object(said, "config")
    planned = dataset.get("sample_ids")
    epochs = config.get("epochs")
    return Header(
        task=_text(said, "task"),
        model=_text(said, "model"),
        # A retry of a task keeps its id and takes over the samples that were answered before.
        run=_text(said, "task_id") or _text(said, "eval_id") or _text(said, "run_id"),
        created=_text(said, "created"),
        lacking=_ENDED.get(str(log.get("status")), ""),
        planned=tuple(map(str, planned)) if isinstance(planned, list) else (),
        epochs=epochs if isinstance(epochs, int) and epochs > 0 else 1,
    )


def scores_of(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a sample by scorer; if a scorer gives several values, by `scorer.key`."""
    scores = sample.get("scores") or sample.get("score") or {}
    if not isinstance(scores, dict):
        return
    if "value" in scores and not isinstance(scores["value"], dict):
        scores = {"score": scores}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        if isinstance(value, dict):
            for key, part in value.items():
                yield f"{scorer}.{key}", part
        elif value is not None:
            yield scorer, value


def value_of(answer: Any) -> float | None:
    """The value of an answer: a letter as Inspect counts it, a number unchanged; None for anything else."""
    return LETTERS.get(answer) if isinstance(answer, str) else finite(answer)


def failure_of(sample: Mapping[str, Any]) -> str:
    """Why a sample has no score."""
    if sample.get("error"):
        return "error"
    output = _object(sample, "output")
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    if "content_filter" in (output.get("stop_reason"), first.get("stop_reason")):
        return "refused"
    return "not scored" if choices or output.get("completion") else "no answer"


def input_of(sample: Mapping[str, Any]) -> str | None:
    """The input of a sample: a text, or messages, each under its role; then the choices, if any, one per line."""
    attachments, said = _object(sample, "attachments"), sample.get("input")
    if isinstance(said, list):
        messages = [message for message in said if isinstance(message, dict)]
        texts = [(str(message.get("role")), _content(message.get("content"), attachments)) for message in messages]
        question = texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)
    elif isinstance(said, str):
        question = _content(said, attachments)
    else:
        return None
    choices = sample.get("choices")
    listed = zip(ascii_uppercase, choices, strict=False) if isinstance(choices, list) else ()
    return "\n".join((question, *(f"{letter}) {_content(choice, attachments)}" for letter, choice in listed)))


def references_of(sample: Mapping[str, Any]) -> list[str]:
    """The right answers: the target or targets of a sample."""
    target, attachments = sample.get("target"), _object(sample, "attachments")
    targets = target if isinstance(target, list) else [target]
    return [_content(text, attachments) for text in targets if isinstance(text, str)]


def outputs_of(sample: Mapping[str, Any]) -> list[str]:
    """The answers of the model: its choices, usually one, or else its completion."""
    output, attachments = _object(sample, "output"), _object(sample, "attachments")
    choices = output.get("choices")
    messages = [_object(choice, "message") for choice in choices or () if isinstance(choice, dict)]
    if messages:
        return [_content(message.get("content"), attachments) for message in messages]
    completion = output.get("completion")
    return [_content(completion, attachments)] if isinstance(completion, str) else []


def _content(said: Any, attachments: Mapping[str, Any]) -> str:
    """The text of a message: only its parts that are text. Long texts may be stored among the attachments."""
    if isinstance(said, list):
        parts = (part.get("text") for part in said if isinstance(part, dict))
        return "\n".join(_content(part, attachments) for part in parts if isinstance(part, str))
    text = said if isinstance(said, str) else "" if said is None else str(said)
    return str(attachments.get(text.removeprefix(_ATTACHED), text)) if text.startswith(_ATTACHED) else text


def right_of(scorers: Iterable[str], lettered: frozenset[str], figures: Iterable[ScorerFigure]) -> str | None:
    """The scorer that says whether an answer is right: the first that gives letters, or else one whose metric is
    accuracy, or else one with accuracy as its name.
    """
    scorers = list(scorers)
    by_metric = {figure.scorer for figure in figures if figure.metric == ACCURACY}
    for deciding in (lettered, by_metric):
        if first := next((scorer for scorer in scorers if scorer in deciding), None):
            return first
    return foremost(scorers)


def figures_of(log: Mapping[str, Any]) -> Iterator[ScorerFigure]:
    """The summary metrics of every scorer in a log. Standard errors are not metrics of their own: they are attached to
    the others.
    """
    results = _object(log, "results")
    listed = results.get("scores")
    for score in listed if isinstance(listed, list) else ():
        metrics = _object(score, "metrics") if isinstance(score, dict) else {}
        numbers = {str(name): finite(_object(metrics, name).get("value")) for name in metrics}
        counted = score.get("scored_samples", results.get("completed_samples")) if metrics else None
        for metric, value in numbers.items():
            if value is not None and metric not in ("stderr", "std", "var", "bootstrap_stderr"):
                error = numbers.get("stderr", numbers.get("bootstrap_stderr"))
                samples = counted if isinstance(counted, int) and counted > 0 else None
                yield ScorerFigure(str(score.get("name") or score.get("scorer")), metric, value, error, samples)


def measure_of(figure: ScorerFigure) -> str:
    """The measure of a figure: accuracy; for a mean, the scorer; otherwise the scorer and its metric."""
    if figure.metric == ACCURACY:
        return ACCURACY
    return figure.scorer if figure.metric == "mean" else f"{figure.scorer}.{figure.metric}"


def _object(said: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = said.get(key)
    return part if isinstance(part, dict) else {}


def _text(said: Mapping[str, Any], key: str) -> str | None:
    text = said.get(key)
    return str(text) if text else None
