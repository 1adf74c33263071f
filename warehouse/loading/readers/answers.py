"""Answers to questions, and the questions with their right answers in another file: SQuAD and KILT.

Each question has the values `exact_match` and `f1`, as the scripts of SQuAD 1.1 and 2.0 define them: answers are
compared in lower case, without punctuation and articles, with the right answer that they are most like. Questions of
KILT have `Rprec` too, of the pages on which the answers are. A question without an answer counts as wrong, and as
failed.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.kinds.records import FAILURES, VALUES
from evalhouse.warehouse.loading.staging.identity import ANSWER, QUESTION
from evalhouse.warehouse.loading.staging.json_values import parse_json
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging

EXAMPLE = (
    '{"id": "q1", "input": "Who wrote Faust?", "output": [{"answer": "Goethe"}], "predicted": [{"answer": "I"}]}\n'
)

LARGEST = 256 * 1024 * 1024
"""The largest file that is read, in bytes."""

EXACT, F1, PRECISION = "exact_match", "f1", "Rprec"


class Question(Struct, frozen=True):
    """A question: its text, its right answers, and the pages of each of these. Without an answer in the text, as in
    SQuAD 2.0, the right answer is none: `may_be_none` says that the file has such questions.
    """

    text: str | None
    answers: tuple[str, ...]
    pages: tuple[frozenset[str], ...] = ()
    line: int | None = None
    may_be_none: bool = False


class Answer(Struct, frozen=True):
    """What a system answered, and the pages that it names, the best one first."""

    text: str
    pages: tuple[str, ...] = ()
    line: int | None = None


# === how answers are compared =========================================================================================

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalized(text: str) -> str:
    """An answer in lower case, without punctuation, articles and more than one blank."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, right: Sequence[str]) -> float:
    """1 if an answer is one of the right ones, else 0."""
    return float(any(normalized(answer) == normalized(one) for one in right))


def f1(answer: str, right: Sequence[str], *, may_be_none: bool = False) -> float:
    """The F1 of the words of an answer and those of the right answer that it is most like."""
    return max((_f1(normalized(answer).split(), normalized(one).split(), may_be_none) for one in right), default=0.0)


def _f1(given: list[str], right: list[str], may_be_none: bool) -> float:
    if may_be_none and not (given and right):
        return float(given == right)
    common = (Counter(given) & Counter(right)).total()
    return 2 * common / (len(given) + len(right)) if common else 0.0


def r_precision(pages: Sequence[str], right: Sequence[frozenset[str]]) -> float:
    """Of the first R pages, where R is how many pages one answer needs, the share of these; the best of the answers."""
    ranked = list(dict.fromkeys(pages))
    return max((len(one.intersection(ranked[: len(one)])) / len(one) for one in right if one), default=0.0)


# === reading ==========================================================================================================


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the values of each question. Raises DataError if the questions are not known."""
    read = list(_records(staging))
    named = staging.options.get("gold")
    is_judged = bool(named or staging.keys) and not any(PREDICTED in record for _, record in read)
    own = {} if is_judged else _questions(read)
    ours = _answers(read, is_judged=is_judged)
    if not own and not ours:
        raise staging.refusal("it has neither questions with right answers nor answers by the ids of questions")
    if ours is None:
        return ()
    if not own and not (named or staging.keys):
        raise staging.refusal("the right answers are not in this file; --gold FILE names the file with them")
    questions = own or _questions(list(_records(replace(staging, source=Path(named or staging.keys[0]), called=""))))
    if not questions:
        raise staging.refusal(f"{named or staging.keys[0]} has no questions with right answers")
    with Sheets(staging, VALUES, FAILURES) as sheets:
        values = sheets.open(VALUES, "document", "measure", "value")
        failures = sheets.open(FAILURES, "item", "reason")
        for name, question in questions.items():
            answer = ours.get(name)
            if answer is None:
                failures.add(None, name, "no answer")
            given, line = (answer.text, answer.line) if answer else ("", None)
            right, pages = question.answers, question.pages
            is_none = question.may_be_none
            figures = {EXACT: exact_match(given, right), F1: f1(given, right, may_be_none=is_none)}
            if answer is None:
                figures = dict.fromkeys(figures, 0.0)
            if any(pages):
                figures[PRECISION] = r_precision(answer.pages if answer else (), pages)
            for measure, value in figures.items():
                values.add(line, name, measure, repr(value))
            sheets.identify(None, {QUESTION: question.text, ANSWER: "\n".join(right)}, document=name)
            sheets.texts.input(None, question.text, document=name)
            sheets.texts.references(None, right, document=name)
            sheets.texts.outputs(None, [answer.text] if answer else [], document=name)
        unknown = [name for name in ours if name not in questions]
        more = f" and {len(unknown) - _FEW:,} more" if len(unknown) > _FEW else ""
        return sheets.staged([f"left out (no such question): {', '.join(unknown[:_FEW])}{more}"] if unknown else ())


_FEW = 5
"""Up to this many questions are named."""

Record = tuple[int | None, dict[str, Any]]


def _records(staging: Staging) -> Iterator[Record]:
    """The objects of a file: of SQuAD there is one, of KILT one a line. Raises DataError if it is not JSON."""
    for document in documents(staging):
        raw = document.whole(LARGEST).removeprefix(b"\xef\xbb\xbf")
        first = raw.lstrip().partition(b"\n")[0]
        records: list[tuple[int | None, Any]]
        try:
            parse_json(first)
        except ValueError:
            whole = staging.json(raw, "this", member=document.member)
            records = [(None, record) for record in (whole if isinstance(whole, list) else [whole])]
        else:
            lines = enumerate(raw.decode(errors="replace").split("\n"), start=1)
            records = [(number, document.json_line(number, line)) for number, line in lines if line.strip()]
            if len(records) == 1 and isinstance(records[0][1], list):
                records = [(None, record) for record in records[0][1]]
        for number, record in records:
            if not isinstance(record, dict):
                raise document.refusal("this is not an object", number)
            yield number, record


def _questions(records: Sequence[Record]) -> dict[str, Question]:
    """The questions with their right answers; none if the file has answers alone."""
    found: dict[str, Question] = {}
    for line, record in records:
        if isinstance(record.get("data"), list):
            found.update(_of_squad(record["data"]))
        elif isinstance(record.get("output"), list) and isinstance(record.get("input"), str) and "id" in record:
            outputs = [output for output in record["output"] if isinstance(output, dict)]
            answers = tuple(output["answer"] for output in outputs if isinstance(output.get("answer"), str))
            pages = tuple(frozenset(_pages(output)) for output in outputs)
            found[str(record["id"])] = Question(record["input"], answers, pages, line)
    return found


def _of_squad(data: Sequence[Any]) -> Iterator[tuple[str, Question]]:
    articles = [article for article in data if isinstance(article, dict)]
    paragraphs = [paragraph for article in articles for paragraph in article.get("paragraphs", [])]
    questions = [question for paragraph in paragraphs for question in paragraph.get("qas", [])]
    may_be_none = any(question.get("is_impossible") for question in questions)
    for question in questions:
        right = [answer["text"] for answer in question.get("answers", []) if isinstance(answer.get("text"), str)]
        if may_be_none:
            right = [text for text in right if normalized(text)] or [""]
        yield str(question["id"]), Question(question.get("question"), tuple(right), may_be_none=may_be_none)


def _answers(records: Sequence[Record], *, is_judged: bool) -> dict[str, Answer] | None:
    """The answers of a system by question; None if the file has questions alone. Answers and right answers of KILT are
    written alike, so another file with the right ones makes these the answers.
    """
    found: dict[str, Answer] = {}
    for line, record in records:
        output = record.get(PREDICTED, record.get("output") if is_judged or "input" not in record else None)
        if "id" in record and isinstance(record.get("prediction_text"), str):
            found[str(record["id"])] = Answer(record["prediction_text"], line=line)
        elif "id" in record and isinstance(output, list):
            first = next((one for one in output if isinstance(one, dict)), {})
            pages = tuple(page for one in output if isinstance(one, dict) for page in _pages(one))
            found[str(record["id"])] = Answer(str(first.get("answer") or ""), pages, line)
        elif "data" not in record and all(isinstance(text, str) for text in record.values()):
            found |= {name: Answer(text) for name, text in record.items()}
    return found or None


PREDICTED = "predicted"
"""The field with the answers, where a record has the right ones too."""


def _pages(output: dict[str, Any]) -> list[str]:
    provenance = output.get("provenance")
    places = provenance if isinstance(provenance, list) else []
    return [str(place["wikipedia_id"]) for place in places if isinstance(place, dict) and place.get("wikipedia_id")]


# === what is recognized ===============================================================================================

_GOLD = re.compile(r"gold|key|truth|dev|test|squad|train|kilt", re.IGNORECASE)
_ANSWERS = re.compile(r"pred|answer|squad|nbest", re.IGNORECASE)
"""Words in the names of files that have right answers, and of those that have a system's."""


def _recognizes(start: Start) -> Recognition | None:
    if not start.is_json:
        return None
    keys = start.keys
    if ("data", "[]", "paragraphs") in keys:
        return Recognition("its data with paragraphs, as SQuAD has them", Role.KEY)
    if {("id",), ("output", "[]", "answer")} <= keys:
        has_key, has_answers = ("input",) in keys, (PREDICTED,) in keys or ("input",) not in keys
        role = Role.FACTS if has_answers else Role.KEY
        called = start.path.name or start.name
        if has_key and not has_answers and not _is_gold(called) and (_ANSWERS.search(called) or _has_key(start)):
            role = Role.FACTS
        return Recognition("its id and output with answers, as KILT has them", role)
    if {("[]", "id"), ("[]", "prediction_text")} <= keys:
        return Recognition("its id and prediction_text")
    named = _ANSWERS.search(start.name) or _has_key(start) or "gold" in start.options
    if named and _is_flat(start):
        return Recognition("texts by id, beside right answers", evidence=Evidence.SHAPE)
    return None


def _is_gold(name: str) -> bool:
    return bool(_GOLD.search(name)) and not _ANSWERS.search(name)


def _has_key(start: Start) -> bool:
    """Whether a JSON file beside has a name of right answers."""
    others = start.beside - {start.path.name}
    return any(_GOLD.search(name) for name in others if re.search(r"\.jsonl?(\.gz)?$", name))


def _is_flat(start: Start) -> bool:
    """Whether this is an object of texts by id."""
    text = start.text.strip()
    for cut in [text] if start.whole else [f"{text.rpartition(',')[0]}}}"]:
        try:
            return len(msgspec.json.decode(cut, type=dict[str, str])) > 1
        except msgspec.MsgspecError:
            continue
    return False


READER = Reader(
    "answers",
    "answers to questions whose right answers are in another file: SQuAD and KILT",
    (VALUES, FAILURES),
    EXAMPLE,
    stage,
    options=(Option("gold", "the file with the right answers", is_file=True),),
    noun="question",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
