"""The texts of a sample of lm-evaluation-harness: the prompt, the right answers, and the answers of the model.

If the model did not generate text but chose among continuations, the right answer and its choice are continuations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from warehouse.loading.staging.cells import finite


class SampleTexts(Struct, frozen=True):
    """The texts of a sample; the input is None if the log has none."""

    input: str | None
    references: tuple[str, ...]
    outputs: tuple[str, ...]


def texts_of(sample: Mapping[str, Any]) -> SampleTexts:
    """The texts of a sample."""
    requests = _requests(sample.get("arguments"))
    prompt = requests[0][0] if requests and requests[0] and isinstance(requests[0][0], str) else None
    choices = tuple(request[1] for request in requests if len(request) > 1 and isinstance(request[1], str))
    chosen = _likeliest(sample.get("resps")) if choices and len(choices) == len(requests) else None
    target: Any = sample.get("target")
    if chosen is None or chosen >= len(choices):
        return SampleTexts(prompt, _references(target), _answers(sample.get("resps")))
    place = int(target) if str(target).isdecimal() and len(str(target)) < 9 else len(choices)
    references = (choices[place],) if len(choices) > 1 and place < len(choices) else _references(target)
    return SampleTexts(prompt, references, (choices[chosen],))


def _requests(said: Any) -> list[list[Any]]:
    """The requests, one list of arguments per request, from either form that logs have had."""
    listed = list(said.values()) if isinstance(said, dict) else said if isinstance(said, list) else []
    requests = (list(request.values()) if isinstance(request, dict) else request for request in listed)
    return [request for request in requests if isinstance(request, list)]


def _likeliest(said: Any) -> int | None:
    """The index of the answer with the highest log likelihood, if the answers are log likelihoods."""
    likelihoods: list[float] = []
    for answers in said if isinstance(said, list) else ():
        first = answers[0] if isinstance(answers, list) and answers else None
        try:
            number = finite(float(first[0])) if isinstance(first, list) and first else None
        except (TypeError, ValueError):
            number = None
        if number is None:
            return None
        likelihoods.append(number)
    return likelihoods.index(max(likelihoods)) if likelihoods else None


def _references(target: Any) -> tuple[str, ...]:
    """The target, or the targets if it is a list of texts. A target that is not a text is written as JSON."""
    if target is None:
        return ()
    if isinstance(target, list) and all(isinstance(text, str) for text in target):
        return tuple(target)
    return (target if isinstance(target, str) else json.dumps(target, ensure_ascii=False),)


def _answers(said: Any) -> tuple[str, ...]:
    """What the model wrote for each request."""
    listed = said if isinstance(said, list) else []
    times = (answer for answers in listed for answer in (answers if isinstance(answers, list) else [answers]))
    return tuple(answer for answer in times if isinstance(answer, str))
