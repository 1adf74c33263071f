"""Which files are meant, and which reader each is for, by its name and its first lines: one question a reader, in the
order of asking.

Nothing is read but the start of a file; a reader may still find that the rest is something else.
"""

from __future__ import annotations

import csv
import re
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from warehouse.faults import DataError, Fault
from warehouse.loading.readers.lines import COMPRESSIONS, compression_of, damages, is_archive, open_bytes
from warehouse.loading.readers.staging import Store
from warehouse.loading.readers.tabular import parquet_columns
from warehouse.tasks import records
from warehouse.tasks.records import UnreadableError

START = 65_536
"""How many bytes of a file are looked at, unpacked."""


@dataclass(frozen=True, slots=True)
class Start:
    """The name of a file without what says that it is compressed, and its first bytes as text.

    `named` are the columns of a file that names them elsewhere than in its first line.
    """

    name: str
    text: str
    named: frozenset[str] = frozenset()

    @property
    def first(self) -> str:
        """The first line that is not blank."""
        return next((line for line in self.text.splitlines() if line.strip()), "")

    @property
    def columns(self) -> frozenset[str]:
        """The names of columns, where the file is a table or holds objects."""
        if self.named:
            return self.named
        if self.first.lstrip().startswith(("{", "[")):
            return frozenset(re.findall(r'"([^"\\]+)"\s*:', self.first))
        cells = next(csv.reader([self.first], delimiter="\t" if "\t" in self.first else ","), [])
        return frozenset(cell.strip().removeprefix("\ufeff") for cell in cells)


@dataclass(frozen=True, slots=True)
class Recognized:
    """A reader, and what in the file speaks for it."""

    reader: str
    why: str


def _muc_report(start: Start) -> str | None:
    return "its columns POS ACT|COR PAR INC" if "POS ACT|COR PAR INC" in start.text else None


def _inspect(start: Start) -> str | None:
    if start.text.startswith("PK\x03\x04") and start.name.endswith(".eval"):
        return "being an archive named .eval"
    return "its eval and task" if re.search(r'^\s*\{[^[]{0,200}"eval"\s*:\s*\{', start.text) else None


def _helm(start: Start) -> str | None:
    return "its instance_id and stats" if re.search(r'"instance_id"', start.text) and '"stats"' in start.text else None


def _lm_eval(start: Start) -> str | None:
    return (
        "its doc_id and metrics" if start.first.startswith('{"doc_id"') or start.name.startswith("samples_") else None
    )


def _trec_eval(start: Start) -> str | None:
    cells = start.first.split()
    printed = len(cells) == 3 and "\t" in start.first and (_is_number(cells[2]) or cells[0] == "runid")
    return "its measure, topic and value" if printed and not _is_number(cells[0]) else None


def _trec(start: Start) -> str | None:
    cells = start.first.split()
    if len(cells) == 6 and cells[1].upper() == "Q0" and _is_number(cells[4]):
        return "being a run, with Q0 in its second column"
    return "its 4 columns, being qrels" if len(cells) == 4 and re.fullmatch("[+-]?[0-9]+", cells[3]) else None


def _conll(start: Start) -> str | None:
    if start.first.startswith("-DOCSTART-"):
        return "its -DOCSTART-"
    cells = start.first.split()
    tagged = len(cells) >= 3 and all(re.fullmatch(r"O|[BIES](-\S+)?", cell) for cell in cells[-2:])
    return "the tags in its last two columns" if tagged else None


def _brat(start: Start) -> str | None:
    return "its annotations T1, T2, …" if re.match(r"T\d+\t\S+ \d+ \d+", start.first) else None


def _sklearn(start: Start) -> str | None:
    return "its columns y_true and y_pred" if start.columns >= {"y_true", "y_pred"} else None


def _sacrebleu(start: Start) -> str | None:
    lines = [line.split("\t") for line in start.text.splitlines()[:20] if line.strip()]
    if lines and all(len(line) == 1 and _is_number(line[0]) for line in lines):
        return "having a number a line"
    return "being a table of numbers" if len(lines) > 1 and all(map(_is_number, lines[1][1:] or [""])) else None


def _table(form: records.FactForm) -> Callable[[Start], str | None]:
    content = {field.name for field in form.content if field.required}

    def recognized(start: Start) -> str | None:
        return f"its columns {', '.join(sorted(content))}" if content and start.columns >= content else None

    return recognized


def _systems(start: Start) -> str | None:
    attributes = "system" in start.columns and not start.columns & {"document", "measure"}
    return "its column system, and no document" if attributes else None


def _documents(start: Start) -> str | None:
    attributes = "document" in start.columns and "system" not in start.columns
    return "its column document, and no system" if attributes else None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", text) is not None


QUESTIONS: dict[str, Callable[[Start], str | None]] = {
    "muc-report": _muc_report,
    "brat": _brat,
    "inspect": _inspect,
    "helm": _helm,
    "lm-eval": _lm_eval,
    "sklearn": _sklearn,
    "scores": _table(records.SCORES),
    "decisions": _table(records.DECISIONS),
    "labels": _table(records.LABELS),
    "published": _table(records.PUBLISHED),
    "values": _table(records.VALUES),
    "systems": _systems,
    "documents": _documents,
    "trec": _trec,
    "trec-eval": _trec_eval,
    "conll": _conll,
    "sacrebleu": _sacrebleu,
}
"""By reader, what speaks for it in the start of a file, or None. Tables of attributes are what is no other table."""


def named_files(named: Sequence[str]) -> list[Path]:
    """The files that are meant: themselves, those in a folder in order of name, or those that fit a pattern."""
    files: list[Path] = []
    for name in named:
        path = Path(name)
        if path.is_dir():
            files += sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        elif not path.exists() and any(letter in name for letter in "*?["):
            files += [Path(found) for found in sorted(glob(name, recursive=True)) if Path(found).is_file()] or [path]
        else:
            files.append(path)
    return files or [Path(name) for name in named]


def recognize(file: Path, store: Store) -> Recognized:
    """The reader for a file; `store` reads those that Python does not.

    Raises DataError where there is no such file, or nothing speaks for a reader.
    """
    start = _start(file, store)
    for reader, question in QUESTIONS.items():
        why = question(start)
        if why is not None:
            return Recognized(reader, why)
    raise DataError((Fault(str(file), None, "nothing in it says what it is; --as READER does"),))


def _start(file: Path, store: Store) -> Start:
    name = re.sub("|".join(rf"\{ending}$" for ending in COMPRESSIONS), "", file.name.casefold())
    broken: tuple[type[Exception], ...] = (*damages(), OSError, tarfile.TarError, UnreadableError)
    try:
        if file.is_dir():
            raise DataError((Fault(str(file), None, "this is a folder, not a file"),))
        with open_bytes(file, compression_of(file)) as binary:
            if is_archive(file):
                with tarfile.open(fileobj=binary, mode="r|*") as archive:
                    members = (archive.extractfile(member) for member in archive if member.isreg())
                    raw = next((member.read(START) for member in members if member is not None), b"")
            else:
                raw = binary.read(START)
        named = parquet_columns(file, store) if name.endswith(".parquet") else ()
    except FileNotFoundError:
        raise DataError((Fault(str(file), None, "there is no such file"),)) from None
    except broken:
        raise DataError((Fault(str(file), None, "the file cannot be read, or is damaged"),)) from None
    return Start(name, raw.decode("utf-8", errors="replace"), frozenset(named))
