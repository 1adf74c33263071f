"""Translated segments: the texts of a system and their references. sacreBLEU counts them segment by segment.

The texts are in a table with columns such as `mt` and `ref`, or in separate files with one segment per line. For
example, beside the reference `ted.ref.en`, the files `ted.base.en` and `ted.tuned.en` are the translations of the
systems base and tuned on the test set ted, and `ted.src.de` is the source text. A document is a segment, named by its
line number. What is stored are the counts from which BLEU, chrF and TER of a corpus are computed. Each set of counts is
named after the metric and sacreBLEU's signature for it: BLEU|nrefs:1|case:mixed|tok:13a|sys.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import BETWEEN, COUNTS
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.identity import ANSWER, QUESTION
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.measures.translation import TER_COUNTS, TOKENIZERS, TRANSLATION

EXAMPLE = "system\tmt\tref\nbase\tthe cat sits\tthe cat sat\nbase\ta dog\ta dog barks\n"

HYPOTHESIS = ("mt", "hypothesis", "hyp", "translation")
SOURCES = ("src", "source")
"""The part of a file name, or the table column, that marks the source text."""
REFERENCES = ("ref", "reference", "refA", "refB", "refC", "ref0", "ref1", "ref2", "ref3", "ref4")
"""The part of a file name, or the table column, that marks a reference."""


REFERENCE = Option(
    "reference", "the file of references, one segment per line; A,B for several", is_file=True, several=True
)


SOURCE = Option("source", "the file of source segments, one per line; stored with --texts", is_file=True, of_texts=True)


class _Segment(NamedTuple):
    """The translation of a line, its references, and its source text if that is known."""

    line: int
    system: str
    hypothesis: str
    references: tuple[str, ...]
    source: str | None


class _Beside(Struct, frozen=True):
    """The references beside a file; the test set and the system, which are the common and the differing part of the
    file names; and the file with the source text, whose name may end in another language.
    """

    references: tuple[str, ...]
    test_set: str | None
    system: str
    source: str | None


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the counts of segments. Raises DataError if there is no reference, or if its number of lines differs."""
    beside = _beside(staging)
    table = _of_table(staging)
    rows = list(_of_lines(staging, beside)) if table is None else table
    metrics = _metrics(staging)
    with Sheets(staging, COUNTS) as sheets:
        counts = sheets.open(COUNTS, "test_set", "system", "document", "count", "number")
        test_set = staging.named("test_set", beside.test_set if beside else None, "the file does not name the test set")
        of_systems: dict[str, list[_Segment]] = defaultdict(list)
        for segment in rows:
            of_systems[segment.system].append(segment)
        for system, segments in of_systems.items():
            for place, segment in enumerate(segments, start=1):
                of: dict[str, Any] = {"test_set": test_set, "document": place}
                said = {QUESTION: segment.source, ANSWER: "\n".join(segment.references)}
                sheets.identify(segment.line, said, **of)
                sheets.texts.input(segment.line, segment.source, **of)
                sheets.texts.references(segment.line, segment.references, **of)
                sheets.texts.outputs(segment.line, [segment.hypothesis], **of, system=system)
            hypotheses = [segment.hypothesis for segment in segments]
            for family, counted in count_segments(hypotheses, [segment.references for segment in segments], metrics):
                for place, (segment, numbers) in enumerate(zip(segments, counted, strict=True), start=1):
                    for name, number in zip(family, numbers, strict=True):
                        counts.add(segment.line, test_set, system, place, name, number)
        return sheets.staged()


def _metrics(staging: Staging) -> dict[str, Any]:
    """The requested metrics of sacreBLEU, by their names here. Raises DataError if sacreBLEU is not installed or has no
    such metric.
    """
    known = metrics_of_sacrebleu(staging.options.get("tokenize"))
    if not known:
        raise staging.refusal("counting n-grams needs sacrebleu; pip install 'evalhouse[mt]' installs it")
    wanted = [metric.strip() for metric in (staging.options.get("metrics") or ",".join(known)).split(",")]
    if unknown := [metric for metric in wanted if metric not in known]:
        raise staging.refusal(f"there is no metric {quote_cell(unknown[0])}; the metrics are {', '.join(known)}")
    return {metric: known[metric]() for metric in wanted}


def metrics_of_sacrebleu(tokenize: str | None = None) -> dict[str, Callable[[], Any]]:
    """What makes each metric, by its name here; nothing if sacreBLEU is not installed."""
    try:
        from sacrebleu.metrics import BLEU, CHRF, TER  # type: ignore[attr-defined]
    except ImportError:
        return {}
    return {
        "BLEU": lambda: BLEU(tokenize=tokenize, force=True),
        "chrF": CHRF,
        "chrF2++": lambda: CHRF(word_order=2),
        "TER": TER,
    }


NEEDS = {measure.name: measure.needs for measure in TRANSLATION}

NOT_COUNTED = ("version", "eff", "smooth")
"""The parts of sacreBLEU's signatures that do not affect its counts."""


def count_segments(
    hypotheses: Sequence[str], of_each: Sequence[Sequence[str]], metrics: Mapping[str, Any]
) -> Iterator[tuple[list[str], list[list[int]]]]:
    """For each metric, the names of its counts, and the counts of each segment. Every segment has as many references as
    the others.
    """
    references = list(map(list, zip(*of_each, strict=True)))
    for metric, of_sacrebleu in metrics.items():
        counted = of_sacrebleu._extract_corpus_statistics(hypotheses, references)
        said = (part for part in of_sacrebleu.get_signature().format().split(BETWEEN))
        how = BETWEEN.join(part for part in said if part.partition(":")[0] not in NOT_COUNTED)
        names = [BETWEEN.join((metric, how, need)) for need in NEEDS[metric]]
        # The mean length of several references is not a whole number.
        times = len(references) if len(names) == len(TER_COUNTS) else 1
        yield names, [[round(number * times) for number in numbers] for numbers in counted]


def _of_table(staging: Staging) -> list[_Segment] | None:
    """The rows of a table; None if the file does not have columns for both texts."""
    numbered = [pair for document in documents(staging) for pair in document.lines()]
    if not numbered or "\t" not in numbered[0][1]:
        return None
    header = [cell.strip().casefold() for cell in numbered[0][1].split("\t")]
    ours = next((header.index(name) for name in HYPOTHESIS if name in header), None)
    theirs = [place for place, name in enumerate(header) if name in map(str.casefold, REFERENCES)]
    if ours is None or not theirs:
        return None
    of = header.index("system") if "system" in header else None
    source = next((header.index(name) for name in SOURCES if name in header), None)
    rows = []
    for line, text in numbered[1:]:
        cells = next(csv.reader([text], delimiter="\t", quoting=csv.QUOTE_NONE), [])
        if len(cells) != len(header):
            raise staging.refusal(f"{quantity(len(cells), 'cell')} in this row, and {len(header)} in the header", line)
        said = cells[of].strip() if of is not None else None
        system = staging.named("system", said, "the table does not name the system")
        translated = None if source is None else cells[source]
        rows.append(_Segment(line, system, cells[ours], tuple(cells[place] for place in theirs), translated))
    return rows


def _of_lines(staging: Staging, beside: _Beside | None) -> Iterator[_Segment]:
    """The segments of a file with one segment per line."""
    named = staging.options.get("reference")
    if named is None and beside is None:
        raise staging.refusal("there is no reference beside it; --reference FILE names one")
    paths = [staging.source.parent / name for name in beside.references] if beside else []
    paths = paths if named is None else REFERENCE.files(named)
    given = _lines(staging)
    references = []
    for path in paths:
        references.append(_lines(replace(staging, source=path, called="")))
        if len(references[-1]) != len(given):
            wanted = f"{len(references[-1])} in the reference {path}"
            raise staging.refusal(f"{quantity(len(given), 'segment')}, and {wanted}")
    system = staging.named("system", beside.system if beside else None, "the file does not name the system")
    sources = _sources(staging, len(given), beside)
    for line, (hypothesis, source, *others) in enumerate(zip(given, sources, *references, strict=True), start=1):
        yield _Segment(line, system, hypothesis, tuple(others), source)


def _sources(staging: Staging, segments: int, beside: _Beside | None) -> Sequence[str | None]:
    """The source texts, if they are wanted and known."""
    named = staging.options.get("source")
    if not staging.texts or not (named or (beside and beside.source)):
        return [None] * segments
    path = Path(named) if named else staging.source.parent / str(beside and beside.source)
    sources = _lines(replace(staging, source=path, called=""))
    if len(sources) != segments:
        raise staging.refusal(f"{quantity(segments, 'segment')}, and {len(sources)} in the source {path}")
    return sources


def _lines(staging: Staging) -> list[str]:
    return [text for document in documents(staging) for _, text in document.lines()]


def _beside(staging: Staging) -> _Beside | None:
    """The references beside a file: their names differ from its name only in the part that marks a reference."""
    parts = staging.source.name.split(".")
    for place, part in enumerate(parts):
        names = (".".join((*parts[:place], word, *parts[place + 1 :])) for word in REFERENCES if part != word)
        if part not in REFERENCES and (there := tuple(name for name in names if staging.has_beside(name))):
            sources = [name for name in staging.names_beside() if _is_source(name.split("."), parts, place)]
            source = sources[0] if len(sources) == 1 else None
            return _Beside(there, ".".join(parts[:place]) or None, part, source)
    return None


def _is_source(name: Sequence[str], other: Sequence[str], place: int) -> bool:
    """Whether a name, split into parts, is the source text of another file. `place` is the position of the part that
    names the system.
    """
    return len(name) == len(other) and name[:place] == other[:place] and name[place] in SOURCES


def _recognizes(start: Start) -> Recognition | str | None:
    header = {cell.strip().casefold() for cell in start.first.split("\t")}
    if header.intersection(HYPOTHESIS) and header.intersection(map(str.casefold, REFERENCES)):
        return "its columns of translations and references"
    parts = start.path.name.split(".")
    if start.text.lstrip().startswith(("{", "[")) or len(parts) < 2:
        return None
    for other in start.beside:
        theirs = other.split(".")
        if len(theirs) != len(parts):
            continue
        place = next((place for place, part in enumerate(theirs) if part in REFERENCES), None)
        if place is not None and _is_source(parts, theirs, place):
            return Recognition("its name: it is the source of files beside it", Role.PART)
        differing = [(ours, part) for ours, part in zip(parts, theirs, strict=True) if ours != part]
        if len(differing) == 1 and differing[0][0] in REFERENCES and differing[0][1] not in REFERENCES:
            return Recognition("its name: it is the reference of files beside it", Role.PART)
        if len(differing) == 1 and differing[0][1] in REFERENCES and differing[0][0] not in REFERENCES:
            return Recognition(f"its name, beside the reference {other}", evidence=Evidence.BESIDE)
    return None


READER = Reader(
    "segments",
    "translations with their references, one segment per line or a table of mt and ref",
    (COUNTS,),
    EXAMPLE,
    stage,
    options=(
        REFERENCE,
        SOURCE,
        Option("tokenize", "how BLEU splits texts into words", "13a", TOKENIZERS),
        Option("metrics", "the metrics to count for; default BLEU,chrF,chrF2++,TER"),
    ),
    noun="segment",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
