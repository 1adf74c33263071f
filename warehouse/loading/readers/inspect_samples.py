"""What a log of Inspect says: of its task, model and run, of each sample, and the figures that it was summed up in.

Logs are opened elsewhere, and nothing here stores anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from warehouse.loading.staging.cells import finite
from warehouse.measures.correctness import ACCURACY, foremost

LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What the answers correct, partial, incorrect and none count in the accuracy that Inspect prints."""

_ATTACHED = "attachment://"
"""How what stands for an attachment of a sample begins."""

_ENDED = {"error": "error", "cancelled": "cancelled", "started": "not finished"}
"""By the status of a log, why samples are not in it."""


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the samples of a log. `lacking` says why samples are not in it, empty where all are; `planned`
    are the samples that were to be answered, empty where the log does not say.
    """

    task: str | None
    model: str | None
    run: str | None
    created: str | None
    lacking: str
    planned: tuple[str, ...]
    epochs: int


@dataclass(frozen=True, slots=True)
class ScorerFigure:
    """A metric of a scorer over all samples: its value, its standard error, and over how many samples it was taken."""

    scorer: str
    metric: str
    value: float
    standard_error: float | None
    samples: int | None


def header_of(log: Mapping[str, Any]) -> Header:
    """What the header of a log says."""
    said = _object(log, "eval")
    dataset, config = _object(said, "dataset"), _object(said, "config")
    planned = dataset.get("sample_ids")
    epochs = config.get("epochs")
    return Header(
        task=_text(said, "task"),
        model=_text(said, "model"),
        # Retries of a task keep its id, and take over what was answered before.
        run=_text(said, "task_id") or _text(said, "eval_id") or _text(said, "run_id"),
        created=_text(said, "created"),
        lacking=_ENDED.get(str(log.get("status")), ""),
        planned=tuple(map(str, planned)) if isinstance(planned, list) else (),
        epochs=epochs if isinstance(epochs, int) and epochs > 0 else 1,
    )


def scores_of(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The scorers and values of a sample; where a scorer gives several values, `scorer.key`."""
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
    """What an answer counts: a letter as Inspect counts it, a number as it is; None where it is neither."""
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
    """What a sample asks: a text, or messages each under its role; with its choices, a line each, where it has some."""
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
    """What is right: the target of a sample, or its targets."""
    target, attachments = sample.get("target"), _object(sample, "attachments")
    targets = target if isinstance(target, list) else [target]
    return [_content(text, attachments) for text in targets if isinstance(text, str)]


def outputs_of(sample: Mapping[str, Any]) -> list[str]:
    """What the model answered: its choices, of which there is one as a rule, else its completion."""
    output, attachments = _object(sample, "output"), _object(sample, "attachments")
    choices = output.get("choices")
    messages = [_object(choice, "message") for choice in choices or () if isinstance(choice, dict)]
    if messages:
        return [_content(message.get("content"), attachments) for message in messages]
    completion = output.get("completion")
    return [_content(completion, attachments)] if isinstance(completion, str) else []


def _content(said: Any, attachments: Mapping[str, Any]) -> str:
    """The text of a message: of its parts those that are text. What is long may stand among the attachments."""
    if isinstance(said, list):
        parts = (part.get("text") for part in said if isinstance(part, dict))
        return "\n".join(_content(part, attachments) for part in parts if isinstance(part, str))
    text = said if isinstance(said, str) else "" if said is None else str(said)
    return str(attachments.get(text.removeprefix(_ATTACHED), text)) if text.startswith(_ATTACHED) else text


def right_of(scorers: Iterable[str], lettered: frozenset[str], figures: Iterable[ScorerFigure]) -> str | None:
    """The scorer that says whether an answer is right: the first that gives letters, else one whose metric is accuracy,
    else one that is called so.
    """
    scorers = list(scorers)
    by_metric = {figure.scorer for figure in figures if figure.metric == ACCURACY}
    for deciding in (lettered, by_metric):
        if first := next((scorer for scorer in scorers if scorer in deciding), None):
            return first
    return foremost(scorers)


def figures_of(log: Mapping[str, Any]) -> Iterator[ScorerFigure]:
    """The metrics that a log was summed up in, of every scorer; standard errors belong to the others."""
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
    """What a figure is called: accuracy, the scorer of a mean, else the scorer and its metric."""
    if figure.metric == ACCURACY:
        return ACCURACY
    return figure.scorer if figure.metric == "mean" else f"{figure.scorer}.{figure.metric}"


def _object(said: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = said.get(key)
    return part if isinstance(part, dict) else {}


def _text(said: Mapping[str, Any], key: str) -> str | None:
    text = said.get(key)
    return str(text) if text else None
