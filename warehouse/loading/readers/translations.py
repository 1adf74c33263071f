"""Segments of text: what a system wrote and a reference, scored segment by segment with sacreBLEU.

The texts stand in a table with columns such as `mt` and `ref`, or a segment a line in files of their own: beside
`ted.ref.en` the files `ted.base.en` and `ted.tuned.en` are of the systems base and tuned on ted. A document is a
segment, by its line. The values are scores of single segments, and are called so: their mean is not the score of the
corpus, and may rank systems otherwise.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from warehouse.loading.staging.lines import documents
from warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.observed import counted
from warehouse.tasks.records import VALUES

EXAMPLE = "system\tmt\tref\nbase\tthe cat sits\tthe cat sat\nbase\ta dog\ta dog barks\n"

HYPOTHESIS = ("mt", "hypothesis", "hyp", "translation")
REFERENCE = ("ref", "reference")

REFERENCES = ("ref", "reference", "refA", "refB", "ref0", "ref1")
"""The part of the name of a file that says that it is the reference."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """The reference beside a file, and what the names of the two have in common and not: test set and system."""

    reference: str
    test_set: str | None
    system: str


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the scores of segments. Raises DataError where there is no reference, or it is of another length."""
    beside = _beside(staging)
    table = _of_table(staging)
    rows = list(_of_lines(staging, beside)) if table is None else table
    scores = _scores(staging)
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        test_set = staging.named("test_set", beside.test_set if beside else None, "the file does not say the test set")
        places: dict[str, int] = {}
        for line, system, hypothesis, reference in rows:
            places[system] = places.get(system, 0) + 1
            for measure, score in scores(hypothesis, reference):
                values.add(line, test_set, system, places[system], measure, score)
        return sheets.staged(["the means of these measures are over segments; the corpus has other scores"])


def _scores(staging: Staging) -> Callable[[str, str], Iterable[tuple[str, float]]]:
    """What scores a segment. Raises DataError where sacreBLEU is not installed."""
    try:
        from sacrebleu.metrics import BLEU, CHRF  # type: ignore[attr-defined]
    except ImportError:
        raise staging.refusal("scoring texts needs sacrebleu; pip install 'evalhouse[mt]' brings it") from None
    bleu, chrf = BLEU(effective_order=True), CHRF()
    return lambda hypothesis, reference: (
        ("sentence-BLEU", bleu.sentence_score(hypothesis, [reference]).score),
        ("sentence-chrF", chrf.sentence_score(hypothesis, [reference]).score),
    )


def _of_table(staging: Staging) -> list[tuple[int, str, str, str]] | None:
    """The line, system, hypothesis and reference of each row of a table; None where the file has no such columns."""
    numbered = [pair for document in documents(staging) for pair in document.lines()]
    if not numbered or "\t" not in numbered[0][1]:
        return None
    header = [cell.strip().casefold() for cell in numbered[0][1].split("\t")]
    ours, theirs = (
        next((header.index(name) for name in names if name in header), None) for names in (HYPOTHESIS, REFERENCE)
    )
    if ours is None or theirs is None:
        return None
    of = header.index("system") if "system" in header else None
    rows = []
    for line, text in numbered[1:]:
        cells = next(csv.reader([text], delimiter="\t", quoting=csv.QUOTE_NONE), [])
        if len(cells) != len(header):
            raise staging.refusal(f"{counted(len(cells), 'cell')} in this row, and {len(header)} in the header", line)
        said = cells[of].strip() if of is not None else None
        system = staging.named("system", said, "the table does not say the system")
        rows.append((line, system, cells[ours], cells[theirs]))
    return rows


def _of_lines(staging: Staging, beside: _Beside | None) -> Iterator[tuple[int, str, str, str]]:
    """The line, system, hypothesis and reference of each segment of a file with a segment a line."""
    named = staging.options.get("reference")
    if named is None and beside is None:
        raise staging.refusal("no reference lies beside it; --reference FILE names it")
    reference = staging.source.parent / beside.reference if named is None and beside else Path(named or "")
    key = replace(staging, source=reference, called="")
    wanted, given = ([text for document in documents(of) for _, text in document.lines()] for of in (key, staging))
    if len(wanted) != len(given):
        raise staging.refusal(f"{counted(len(given), 'segment')}, and {len(wanted)} in the reference {reference}")
    system = staging.named("system", beside.system if beside else None, "the file does not say the system")
    for line, (hypothesis, gold) in enumerate(zip(given, wanted, strict=True), start=1):
        yield line, system, hypothesis, gold


def _beside(staging: Staging) -> _Beside | None:
    """The reference beside a file that has the same name but for the part that says what it is."""
    parts = staging.source.name.split(".")
    for place, part in enumerate(parts):
        for word in REFERENCES:
            reference = ".".join((*parts[:place], word, *parts[place + 1 :]))
            if part != word and staging.has_beside(reference):
                return _Beside(reference, ".".join(parts[:place]) or None, part)
    return None


def _recognizes(start: Start) -> Recognition | str | None:
    header = {cell.strip().casefold() for cell in start.first.split("\t")}
    if header.intersection(HYPOTHESIS) and header.intersection(REFERENCE):
        return "its columns of translations and references"
    parts = start.path.name.split(".")
    if start.text.lstrip().startswith(("{", "[")) or len(parts) < 2:
        return None
    for other in start.beside:
        theirs = other.split(".")
        if len(theirs) != len(parts):
            continue
        differing = [(ours, part) for ours, part in zip(parts, theirs, strict=True) if ours != part]
        if len(differing) == 1 and differing[0][0] in REFERENCES and differing[0][1] not in REFERENCES:
            return Recognition("its name, being the reference of files beside it", Role.PART)
        if len(differing) == 1 and differing[0][1] in REFERENCES and differing[0][0] not in REFERENCES:
            return f"its name, beside the reference {other}"
    return None


READER = Reader(
    "segments",
    "translations with their references, a segment a line or a table of mt and ref",
    (VALUES,),
    EXAMPLE,
    stage,
    options=(Option("reference", "the file of references, a segment a line", is_file=True),),
    noun="segment",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
