"""Outputs of promptfoo: `promptfoo eval -o output.json`, or the same results as JSON lines.

A document is a test, named by its number; the system is the provider, with its prompt if a provider was asked with
several. `accuracy` is 1 for tests that passed and 0 for those that failed or ended with an error, as promptfoo counts
its pass rate. Scores keep their names. The same test asked again is another run. What the head of the file counts is
compared with the tests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from evalhouse.warehouse.kinds.records import FAILURES, VALUES
from evalhouse.warehouse.loading.staging.cells import LONGEST_ARGUMENT, finite
from evalhouse.warehouse.loading.staging.decoding import decode_lines, decode_whole, text_of
from evalhouse.warehouse.loading.staging.identity import QUESTION
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.resources import Resources, directions
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.measures.values import ACCURACY

EXAMPLE = """\
{"evalId": "eval-k4T", "results": {"version": 3, "timestamp": "2026-03-02T10:00:00Z",
  "prompts": [{"label": "Name {{what}}", "provider": "acme:m1", "metrics": {"testPassCount": 1, "score": 1.25}}],
  "results": [
   {"testIdx": 0, "promptIdx": 0, "provider": {"id": "acme:m1"}, "prompt": {"raw": "Name a bird", "label": "Name"},
    "vars": {"what": "a bird"}, "response": {"output": "A wren"}, "success": true, "score": 1.0, "latencyMs": 310,
    "namedScores": {"tone": 0.5}},
   {"testIdx": 1, "promptIdx": 0, "provider": {"id": "acme:m1"}, "prompt": {"raw": "Name a town", "label": "Name"},
    "vars": {"what": "a town"}, "response": {"output": "A wren"}, "success": false, "score": 0.25, "latencyMs": 290,
    "namedScores": {"tone": 0.75}}]},
 "config": {"description": "names"}}
"""

SCORE = "score"
"""The measure of the weighted mean of a test's assertions."""

_ERROR = 2
"""The failureReason of a test that ended with an error."""

_EXPECTING = frozenset(("equals", "contains", "icontains", "similar", "factuality"))
"""The assertions whose value is a right answer."""


# === contents of an output ============================================================================================


class _Provider(Struct, frozen=True):
    id: str = ""
    label: str | None = None

    @property
    def name(self) -> str:
        return self.label or self.id


class _Prompt(Struct, frozen=True):
    raw: str = ""
    label: str = ""


class _Usage(Struct, frozen=True):
    total: float | None = None
    prompt: float | None = None
    completion: float | None = None


class _Response(Struct, frozen=True, rename="camel"):
    output: Any = None
    cached: bool | None = False
    token_usage: _Usage | None = None


class _TestCase(Struct, frozen=True):
    asserted: list[Any] | None = field(default=None, name="assert")

    def expected(self) -> Iterator[str]:
        """The right answers that the assertions name."""
        for assertion in self.asserted or ():
            said = assertion if isinstance(assertion, dict) else {}
            if said.get("type") in _EXPECTING and isinstance(said.get("value"), str):
                yield said["value"]


class _Result(Struct, frozen=True, rename="camel"):
    """One test, asked of one provider with one prompt."""

    provider: _Provider | str
    success: bool
    score: float | None = None
    test_idx: int | None = None
    prompt_idx: int = 0
    prompt: _Prompt = _Prompt()
    vars: Any = None
    test_case: _TestCase | None = None
    response: _Response | None = None
    named_scores: dict[str, Any] | None = None
    failure_reason: int | None = None
    error: str | None = None
    latency_ms: float | None = None
    cost: float | None = None

    @property
    def provider_name(self) -> str:
        """The name of the provider that was asked."""
        return self.provider if isinstance(self.provider, str) else self.provider.name

    def resources(self) -> Resources:
        """What the answer took; of one from promptfoo's cache only the tokens."""
        response = self.response or _Response()
        usage = response.token_usage or _Usage()
        seconds = None if response.cached or self.latency_ms is None else self.latency_ms / 1000
        return Resources(usage.total, usage.prompt, usage.completion, seconds, self.cost)


class _Metrics(Struct, frozen=True, rename="camel"):
    test_pass_count: int | None = None
    score: float | None = None


class _Head(Struct, frozen=True):
    """A column of promptfoo's table: a prompt and a provider."""

    metrics: _Metrics | None = None


class _Summary(Struct, frozen=True):
    results: list[_Result]
    prompts: list[_Head] = []
    timestamp: str | None = None


class _Config(Struct, frozen=True):
    description: str | None = None


class _Output(Struct, frozen=True, rename="camel"):
    results: _Summary
    eval_id: str | None = None
    config: _Config | None = None


# === reading it =======================================================================================================


class _Outcome(Struct, frozen=True):
    """A result with the test that it is of, and which run of the test."""

    result: _Result
    document: str
    run: int
    line: int | None
    member: str | None


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the outcome and the scores of each test. Raises DataError if the file is not an output of promptfoo."""
    output, rows = _read(staging)
    description = output.config.description if output.config else None
    test_set = staging.named("test_set", description, "neither a description nor the file names the tests")
    outcomes = list(_tests(rows))
    names = _names_of_systems(staging, [one.result for one in outcomes])
    systems: dict[int, dict[str, None]] = defaultdict(dict)
    measures: dict[str, None] = {}
    with Sheets(staging, VALUES, FAILURES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        for one in outcomes:
            result = one.result
            eval_id = f"{output.eval_id or ''}/{one.run}" if one.run > 1 else output.eval_id
            system = staging.replicate(
                names[result.provider_name, result.prompt_idx], test_set, run=eval_id, date=output.results.timestamp
            )
            systems[result.prompt_idx][system] = None
            for measure, value in _values(result):
                values.add(one.line, test_set, system, one.document, measure, value, member=one.member)
                measures[measure] = None
            if result.failure_reason == _ERROR:
                failures.add(one.line, test_set, system, one.document, "error", member=one.member)
            of: dict[str, object] = {"test_set": test_set, "document": one.document}
            sheets.identify(one.line, {QUESTION: text_of(result.vars)}, member=one.member, **of)
            if sheets.texts.wanted:
                expected = result.test_case.expected() if result.test_case else ()
                output_text = text_of(result.response.output) if result.response else None
                sheets.texts.references(one.line, expected, member=one.member, **of)
                sheets.texts.input(one.line, result.prompt.raw or None, member=one.member, system=system, **of)
                sheets.texts.outputs(one.line, [output_text], member=one.member, system=system, **of)
        for number, head in enumerate(output.results.prompts):
            _state(staging, head, test_set, tuple(systems.get(number, ())))
        return sheets.staged(staging.notes_on_settings(), directions(measures))


def _read(staging: Staging) -> tuple[_Output, list[tuple[_Result, int | None, str | None]]]:
    """The output, and its results with their places. JSON lines are results alone."""
    if staging.source.name.casefold().removesuffix(".gz").removesuffix(".zst").endswith(".jsonl"):
        lines = decode_lines(staging, _Result, "a result of promptfoo")
        return _Output(_Summary([])), [(result, number, document.member) for document, number, result in lines]
    output = _Output(_Summary([]))
    rows: list[tuple[_Result, int | None, str | None]] = []
    for document in documents(staging):
        output = _decode(document)
        rows += [(result, None, document.member) for result in output.results.results]
    return output, rows


def _decode(document: Document) -> _Output:
    return decode_whole(document, _Output, "an output of promptfoo")


def _tests(rows: list[tuple[_Result, int | None, str | None]]) -> Iterator[_Outcome]:
    """The tests of the results. With `--repeat`, promptfoo numbers a test anew each time that it asks it: if all sets
    of variables occur equally often, more than once, what has the same variables is the same test. Older outputs have
    no numbers.
    """
    times = Counter((result.provider_name, result.prompt_idx, text_of(result.vars)) for result, *_ in rows)
    repeated = set(times.values()) != {1} and len(set(times.values())) == 1
    first: dict[str | None, str] = {}
    runs: Counter[tuple[str, int, str]] = Counter()
    for result, line, member in rows:
        variables = text_of(result.vars)
        number = str(len(first) if result.test_idx is None else result.test_idx)
        named_anew = first.setdefault(variables, number)
        document = named_anew if repeated or result.test_idx is None else number
        runs[result.provider_name, result.prompt_idx, document] += 1
        yield _Outcome(result, document, runs[result.provider_name, result.prompt_idx, document], line, member)


def _names_of_systems(staging: Staging, results: list[_Result]) -> dict[tuple[str, int], str]:
    """The name of the system for each provider and number of a prompt: the provider, and the prompt if there are
    several.
    """
    prompts: dict[str, dict[int, _Prompt]] = defaultdict(dict)
    for result in results:
        prompts[result.provider_name].setdefault(result.prompt_idx, result.prompt)
    names = {}
    for provider, of_provider in prompts.items():
        model = staging.named("system", provider, "a result does not name its provider")
        labels = [prompt.label or prompt.raw for prompt in of_provider.values()]
        short = len(set(labels)) == len(labels) and all(
            0 < len(label) <= LONGEST_ARGUMENT and label.isprintable() for label in labels
        )
        for place, number in enumerate(sorted(of_provider), start=1):
            prompt = of_provider[number].label or of_provider[number].raw if short else str(place)
            names[provider, number] = f"{model}(prompt={prompt})" if len(of_provider) > 1 else model
    return names


def _values(result: _Result) -> Iterator[tuple[str, float]]:
    """The measures of a result, each once."""
    said: dict[str, object] = {**(result.named_scores or {}), ACCURACY: int(result.success), SCORE: result.score}
    for measure, item in {**dict(result.resources()), **said}.items():
        if (value := finite(item)) is not None:
            yield measure, value


def _state(staging: Staging, head: _Head, test_set: str, systems: tuple[str, ...]) -> None:
    """Hands over what the head of the file counts for a prompt and a provider."""
    if not systems or not head.metrics:
        return
    counted = {
        (ACCURACY, "testPassCount", "the number of tests that passed here"): head.metrics.test_pass_count,
        (SCORE, "score", "the sum of the scores here"): head.metrics.score,
    }
    for (measure, called, computed), number in counted.items():
        if number is not None:
            figure = StatedFigure(
                *(test_set, systems, measure, f"{called} of {systems[0]}", "the output", number),
                over_runs=sum,
                over_documents=sum,
                computed_as=computed,
            )
            staging.state(figure)


def _recognizes(start: Start) -> str | None:
    keys = start.keys
    if ("evalId",) in keys and (("results", "version") in keys or ("results", "results") in keys):
        return "its evalId and results"
    # JSON lines are objects one after another, of which the keys stand at the top.
    if {("testIdx",), ("promptIdx",), ("provider",), ("success",)} <= keys:
        return "its testIdx and promptIdx"
    return None


READER = Reader(
    "promptfoo",
    "outputs of promptfoo: which tests each provider passed, and scores",
    (VALUES, FAILURES),
    EXAMPLE,
    stage,
    noun="test",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
)
