"""Writes the data that the tutorials load: `results/`, and for each other module here a folder with the module's name.

`results/` contains logs in the format of lm-evaluation-harness, from three models that do not exist on three tasks with
120 questions. The questions are real and their reference answers correct. The models' answers are random with a fixed
seed, so the logs are always the same.

    python docs/examples/make.py
"""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
import random
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

HERE = Path(__file__).resolve().parent
DATE = "2026-09-14T10-31-07.204561"
QUESTIONS = 120
NO_DATA = ("make.py", "marimo_notebook.py")
"""The modules here that do not make a folder."""


class Question(Struct, frozen=True):
    """A question, its answer, similar answers, and its difficulty: about 0, and higher for harder questions."""

    text: str
    answer: str
    near: tuple[str, ...]
    hardness: float


def arithmetic(chance: random.Random) -> Question:
    """Sums and products of whole numbers."""
    digits = chance.choice((1, 2, 3))
    first, second = (chance.randrange(10 ** (digits - 1) + 1, 10**digits) for _ in range(2))
    sign, answer = chance.choice((("+", first + second), ("−", first - second), ("×", first * second)))
    near = (str(answer + 10), str(answer - 1), str(answer + 1))
    return Question(f"What is {first} {sign} {second}?", str(answer), near, 0.9 * (digits - 2) + (sign == "×"))


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def calendar(chance: random.Random) -> Question:
    """Days of the week."""
    day = datetime.date(chance.randrange(1900, 2027), chance.randrange(1, 13), chance.randrange(1, 29))
    answer = DAYS[day.weekday()]
    near = tuple(other for other in DAYS if other != answer)
    return Question(f"Which day of the week is {day.day} {day:%B %Y}?", answer, near, abs(day.year - 2000) / 60)


UNITS = (("metres", "centimetres", 100), ("hours", "minutes", 60), ("kilograms", "grams", 1000), ("days", "hours", 24))


def units(chance: random.Random) -> Question:
    """How many of a smaller unit make up a quantity."""
    larger, smaller, times = chance.choice(UNITS)
    tenths = chance.randrange(5, 200, 5)
    answer = f"{tenths * times / 10:g}"
    near = (f"{tenths * times:g}", f"{tenths * times / 100:g}", f"{tenths * times / 10 + times:g}")
    return Question(f"How many {smaller} are {tenths / 10:g} {larger}?", answer, near, 0.3 * (tenths % 10 > 0) - 0.3)


TASKS: dict[str, Callable[[random.Random], Question]] = {"arithmetic": arithmetic, "calendar": calendar, "units": units}

ABILITIES = {
    "tern-1b": {"arithmetic": 0.1, "calendar": -1.1, "units": 0.4},
    "tern-1b-chat": {"arithmetic": 0.2, "calendar": -0.9, "units": 1.3},
    "heron-7b": {"arithmetic": 1.5, "calendar": 0.3, "units": 1.6},
}
"""The ability of each model on each task, in logits for a question of difficulty 0."""


def answered(question: Question, ability: float, luck: float, chance: random.Random) -> str:
    """A model's answer. Models share the luck on a question, so they fail on much the same ones."""
    right = chance.gauss(0.0, 1.0) + 1.2 * luck + ability - question.hardness > 0
    return question.answer if right else chance.choice(question.near)


def hashed(text: str) -> str:
    """The hash that the harness stores to recognize a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def samples(task: str, model: str) -> Iterator[dict[str, object]]:
    """The content of the log of a task and model, one sample per question."""
    asked, answering = random.Random(f"questions of {task}"), random.Random(f"answers of {model} to {task}")
    for number in range(QUESTIONS):
        question, luck = TASKS[task](asked), asked.gauss(0.0, 1.0)
        said = answered(question, ABILITIES[model][task], luck, answering)
        prompt = f"Q: {question.text}\nA:"
        yield {
            "doc_id": number,
            "doc": {"question": question.text, "answer": question.answer},
            "target": question.answer,
            "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n"], "do_sample": False}}},
            "resps": [[f" {said}"]],
            "filtered_resps": [said],
            "filter": "none",
            "metrics": ["exact_match"],
            "doc_hash": hashed(question.text),
            "exact_match": float(said == question.answer),
        }


def files() -> Iterator[tuple[str, str]]:
    """The name and the text of each file in `results/`."""
    for model in ABILITIES:
        figures = {}
        for task in TASKS:
            logged = list(samples(task, model))
            yield (
                f"{model}/samples_{task}_{DATE}.jsonl",
                "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in logged),
            )
            mean = sum(float(str(sample["exact_match"])) for sample in logged) / QUESTIONS
            error = (mean * (1 - mean) / (QUESTIONS - 1)) ** 0.5
            figures[task] = {"alias": task, "exact_match,none": mean, "exact_match_stderr,none": error}
        said = {
            "results": figures,
            "configs": {task: {"task": task, "output_type": "generate_until"} for task in TASKS},
            "higher_is_better": {task: {"exact_match": True} for task in TASKS},
            "n-samples": {task: {"original": QUESTIONS, "effective": QUESTIONS} for task in TASKS},
            "model_name": model,
        }
        yield f"{model}/results_{DATE}.json", json.dumps(said, indent=2) + "\n"


def folders() -> Iterator[tuple[str, Iterator[tuple[str, str]]]]:
    """Each folder with its files."""
    yield "results", files()
    for module in sorted(HERE.glob("*.py")):
        if module.name not in NO_DATA:
            yield module.stem, runpy.run_path(str(module))["files"]()


def main() -> None:
    """Writes the files; those whose names end in .gz are compressed."""
    for folder, made in folders():
        for name, text in made:
            path = HERE / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = text.encode()
            path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)


if __name__ == "__main__":
    main()
