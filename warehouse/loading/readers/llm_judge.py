"""Judgments of MT-Bench (FastChat's llm_judge) and of Arena-Hard, as JSON lines.

A document is a question. MT-Bench grades single answers: `score` is the mean of the grades of its turns, and `turn_1`
and `turn_2` are those of each. Where answers are compared, in MT-Bench's pairs and in Arena-Hard, the value is
`win_rate`: 1 for a win, 0 for a loss, 0.5 for a tie, over both orders of the answers. Another judge is another run. A
question without a grade is a failure.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import Any

from msgspec import Struct, field

from evalhouse.warehouse.kinds.records import FAILURES, VALUES
from evalhouse.warehouse.loading.staging.decoding import decode_lines
from evalhouse.warehouse.loading.staging.json_values import ITEM
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging

EXAMPLE = """\
{"question_id": "q1", "model": "m1", "judge": "gpt-4", "games": [{"judgment": "[[B>A]]", "score": "B>A"}, \
{"judgment": "[[A>>B]]", "score": "A>>B"}]}
{"question_id": "q2", "model": "m1", "judge": "gpt-4", "games": [{"judgment": "[[A=B]]", "score": "A=B"}, \
{"judgment": "[[B>A]]", "score": "B>A"}]}
"""

SCORE, WIN_RATE = "score", "win_rate"

STRONG = 3
"""How often Arena-Hard counts a verdict such as A>>B."""

_NOT_GRADED = -1
"""The score of an answer whose judgment has no grade."""

_VERDICTS = {
    **{"A>B": (1.0, 1), "A>>B": (1.0, STRONG), "A=B": (0.5, 1), "A<B": (0.0, 1), "A<<B": (0.0, STRONG)},
    **{"B>A": (0.0, 1), "B>>A": (0.0, STRONG), "B=A": (0.5, 1), "B<A": (1.0, 1), "B<<A": (1.0, STRONG)},
}
"""How well A did by each verdict, and how often it counts."""


class _Game(Struct, frozen=True):
    """A comparison with the baseline in one order."""

    score: str | None = None


class _Judgment(Struct, frozen=True):
    """A line: a grade of MT-Bench, a pair of MT-Bench, or the games of Arena-Hard."""

    question_id: str | int | None = None
    uid: str | None = None
    model: str | None = None
    judge: str | list[str] | None = None
    score: float | None = None
    turn: int | None = None
    games: list[_Game | None] | None = None
    model_1: str | None = None
    model_2: str | None = None
    g1_winner: str | None = None
    g2_winner: str | None = None

    @property
    def question(self) -> str | None:
        """The id of the question, under either name."""
        said = self.question_id if self.question_id is not None else self.uid
        return None if said is None else str(said)

    @property
    def judged_by(self) -> str | None:
        """The judge, with the name of its prompt if there is one."""
        return " ".join(self.judge) if isinstance(self.judge, list) else self.judge


class _Judged(Struct):
    """What was said of the answer of a model to a question: values by measure, over turns."""

    line: int
    member: str | None
    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the grades or the wins of each question. Raises DataError if a line is no judgment."""
    judged: dict[tuple[str, str, str], _Judged] = {}
    for document, number, judgment in decode_lines(staging, _Judgment, "a judgment"):
        model = staging.named("system", judgment.model or judgment.model_1, "a judgment does not name the model")
        test_set = staging.named("test_set", _test_set_of(staging, judgment), "")
        if judgment.question is None:
            raise document.refusal("this is not a judgment: it has no question_id", number)
        system = staging.replicate(model, test_set, run=judgment.judged_by)
        key = test_set, system, judgment.question
        of_question = judged.setdefault(key, _Judged(number, document.member))
        for measure, value in _values(judgment):
            of_question.values[measure].append(value)
    with Sheets(staging, VALUES, FAILURES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        for (test_set, system, question), of_question in judged.items():
            place: dict[str, Any] = {"member": of_question.member}
            for measure, found in of_question.values.items():
                values.add(of_question.line, test_set, system, question, measure, fmean(found), **place)
            if not of_question.values:
                failures.add(of_question.line, test_set, system, question, "not scored", **place)
        return sheets.staged()


def _test_set_of(staging: Staging, judgment: _Judgment) -> str | None:
    """The benchmark, which is the folder around `model_judgment`; wins over different models cannot be compared."""
    folders = staging.source.absolute().parents
    around = next((folder.parent.name for folder in folders if folder.name == "model_judgment"), None)
    benchmark = around or ("arena-hard" if judgment.games is not None else "mt_bench")
    return f"{benchmark}:{judgment.model_2}" if judgment.model_2 else benchmark


def _values(judgment: _Judgment) -> list[tuple[str, float]]:
    """What a line says of the answer, by measure; nothing if there is no grade, or not in both orders."""
    if judgment.games is not None:
        won = _won(judgment.games)
        return [] if won is None else [(WIN_RATE, won)]
    if judgment.g1_winner is not None or judgment.g2_winner is not None:
        # As FastChat has it, a model wins if it wins in both orders.
        winners = {judgment.g1_winner, judgment.g2_winner}
        if "error" in winners or None in winners:
            return []
        return [(WIN_RATE, 1.0 if winners == {"model_1"} else 0.0 if winners == {"model_2"} else 0.5)]
    if judgment.score is None or judgment.score == _NOT_GRADED:
        return []
    by_turn = [] if judgment.turn is None else [(f"turn_{judgment.turn}", judgment.score)]
    return [(SCORE, judgment.score), *by_turn]


def _won(games: list[_Game | None]) -> float | None:
    """How well a model did against the baseline, which is A in the first game and B in the second."""
    counted: list[float] = []
    for place, game in enumerate(games):
        if game is None or game.score not in _VERDICTS:
            return None
        of_first, times = _VERDICTS[game.score]
        counted += [of_first if place % 2 else 1 - of_first] * times
    return fmean(counted) if counted else None


def _recognizes(start: Start) -> str | None:
    keys = start.keys
    named = {("question_id",), ("uid",)} & keys and ("judge",) in keys and start.first.lstrip().startswith("{")
    if named and ("games", ITEM, SCORE) in keys and ("model",) in keys:
        return "its judge and games"
    if named and {("model_1",), ("model_2",), ("g1_winner",), ("g2_winner",)} <= keys:
        return "its judge and winners"
    if named and {("model",), (SCORE,), ("turn",), ("judgment",)} <= keys:
        return "its judge, score and turn"
    return None


READER = Reader(
    "llm-judge",
    "judgments of MT-Bench and Arena-Hard: grades and wins by question",
    (VALUES, FAILURES),
    EXAMPLE,
    stage,
    noun="question",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)
