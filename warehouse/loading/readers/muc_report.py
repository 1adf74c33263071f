"""Score reports of the MUC-4 scorer (MUC Scorer 3.2, 1992): one block per template or per message, then the totals.

A report must add up: the sums of the slots over its blocks must equal its own totals in all ten counts. Optional
templates that the system did not match are printed, but the scorer leaves them out of every sum, and so does this
reader. The percentages and the F-measures are not read, because they were computed from rounded figures.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from itertools import pairwise
from operator import add

from msgspec import Struct, field

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import DECISIONS, SCORES
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheet, Sheets
from evalhouse.warehouse.loading.staging.spans import PAIRED
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Staged, Staging, name_it

EXAMPLE = """\
Configuration: /muc/GE/config-tst3.el

Report of all-templates scores

TST3-MUC4-0001       key: 1  response: 1

SLOT                  POS ACT|COR PAR INC|ICR IPA|SPU MIS NON|REC PRE OVG FAL
-----------------------------+-----------+-------+-----------+---------------
template-id             1   1|  1   0   0|  0   0|  0   0   0|100 100   0
inc-date                0   0|  0   0   0|  0   0|  0   0   1|  *   *   *
inc-loc                 1   1|  0   0   1|  0   0|  0   0   0|  0   0   0
hum-tgt-name            1   2|  1   0   0|  0   0|  1   0   0|100  50  50
-----------------------------+-----------+-------+-----------+---------------
inc-total               1   1|  0   0   1|  0   0|  0   0   1|  0   0   0
hum-tgt-total           1   2|  1   0   0|  0   0|  1   0   0|100  50  50
-----------------------------+-----------+-------+-----------+---------------
TOTAL                   2   3|  1   0   1|  0   0|  1   0   1| 50  33  33

TST3-MUC4-0002       key: *  response: *                           [irrelevant]

 * * * TOTAL SLOT SCORES * * *

SLOT                  POS ACT|COR PAR INC|ICR IPA|SPU MIS NON|REC PRE OVG FAL
-----------------------------+-----------+-------+-----------+---------------
template-id             1   1|  1   0   0|  0   0|  0   0   0|100 100   0
inc-date                0   0|  0   0   0|  0   0|  0   0   1|  *   *   *
inc-loc                 1   1|  0   0   1|  0   0|  0   0   0|  0   0   0
hum-tgt-name            1   2|  1   0   0|  0   0|  1   0   0|100  50  50
-----------------------------+-----------+-------+-----------+---------------
inc-total               1   1|  0   0   1|  0   0|  0   0   1|  0   0   0
hum-tgt-total           1   2|  1   0   0|  0   0|  1   0   0|100  50  50
-----------------------------+-----------+-------+-----------+---------------
MATCHED/MISSING         2   3|  1   0   1|  0   0|  1   0   1| 50  33  33
ALL TEMPLATES           2   3|  1   0   1|  0   0|  1   0   1| 50  33  33
-----------------------------+-----------+-------+-----------+---------------
                                                     P&R      2P&R      P&2R
F-MEASURES                                         39.76     35.42     45.32
"""

_STORED = tuple(column.name for column in SCORES.content if column.name not in PAIRED)

COUNTS = (*_STORED[:5], "interactive correct", "interactive partial", *_STORED[5:])
"""The meaning of the count columns of a report, from left to right; the percentages come after them."""

_TEMPLATE = re.compile(r"(\S+)\s+key: +(\S+) +response: +(\S+)\s*(?:\[(\w+)\])?\s*")
_CONFIGURATION = re.compile(r"Configuration:\s*(\S.*?)\s*")
_GROUPS = ((2, "POS ACT"), (3, "COR PAR INC"), (2, "ICR IPA"), (3, "SPU MIS NON"))
_HEADER = "|".join(names for _, names in _GROUPS)
_LETTERS = string.ascii_letters + "/- "
_ROW = re.compile(
    r"[A-Za-z/ -]*(?<![A-Za-z/-])"
    + r"\|".join(" +".join([r" *(\d+)", *[r"(\d+)"] * (wanted - 1)]) for wanted, _ in _GROUPS)
    + r"\|",
    re.ASCII,
)
"""A row whose counts are separated by blanks or bars, like nearly all rows."""
_TEMPLATE_ID = "template-id"

ReportRow = tuple[int, ...]
"""The ten counts of one row of a block."""

_NOTHING: ReportRow = (0,) * len(COUNTS)


class _Message(Struct):
    """The sums over the blocks of one message."""

    line: int
    slots: dict[str, ReportRow] = field(default_factory=dict)
    answered: bool = False


class _Report(Struct):
    """What has been read of one report."""

    document: Document
    configuration: str = ""
    messages: dict[str, _Message] = field(default_factory=dict)
    slot_totals: dict[str, tuple[int, ReportRow]] = field(default_factory=dict)
    all_templates: tuple[int, ReportRow] | None = None


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages a report, or every report in a tar archive: score tuples by message and slot, and decisions.

    Raises DataError if a report cannot be read or does not add up.
    """
    with Sheets(staging, SCORES, DECISIONS) as sheets:
        scores = sheets.open(SCORES, "test_set", "system", "document", "unit", *_STORED)
        decisions = sheets.open(DECISIONS, "test_set", "system", "document", "decision")
        for document in documents(staging):
            report = _read(document)
            _check(report, staging)
            _write(report, staging, scores, decisions)
        note = "the row template-id is left out, as in the report's own totals; so are the interactive counts"
        return sheets.staged((note,))


def _read(document: Document) -> _Report:
    report = _Report(document)
    message: _Message | None = None
    scored, totals, section = True, False, 0
    alone: tuple[int, str] | None = None
    for number, text in _visible(document):
        if "|" not in text:
            template = _TEMPLATE.fullmatch(text)
            if template:
                message = report.messages.setdefault(template[1], _Message(number))
                scored = template[4] != "optional"
                message.answered |= template[3].isdigit()
            elif text.startswith("---"):
                section += 1
            elif "TOTAL SLOT SCORES" in text:
                totals = True
            elif configured := _CONFIGURATION.fullmatch(text):
                report.configuration = configured[1]
            alone = (number, text) if " " not in text else None
            continue
        if text.startswith("SLOT"):
            if _HEADER not in text:
                raise document.refusal(f"the columns of this block are not {_HEADER}", number)
            section, header = 0, text
            if alone is not None and not totals:
                message, scored = report.messages.setdefault(alone[1], _Message(alone[0])), True
            if message is None and not totals:
                raise document.refusal("a block of scores begins here, but no message is named before it", number)
            continue
        if section == 0:
            raise document.refusal("a row of scores stands outside a block", number)
        label = _label(text)
        if totals and label == "ALL TEMPLATES":
            report.all_templates = number, _counts(document, number, text, header)
        if section != 1 or not (totals or scored):
            continue
        row = _counts(document, number, text, header)
        if totals:
            report.slot_totals[label] = number, row
        elif message is not None:
            if label == _TEMPLATE_ID and alone is not None:
                message.answered |= row[1] > 0
            message.slots[label] = tuple(map(add, message.slots.get(label, _NOTHING), row))
    if not report.messages:
        raise document.refusal("this is not a score report: it names no message")
    if report.all_templates is None:
        raise document.refusal("the report is cut off: it has no row ALL TEMPLATES after TOTAL SLOT SCORES")
    return report


def _visible(document: Document) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, without form feeds, and with blanks in place of tabs."""
    for number, line in document.lines():
        text = line.replace("\f", "").expandtabs().rstrip()
        if text.strip():
            yield number, text


def _label(text: str) -> str:
    """The label of a row of scores."""
    return text[: len(text) - len(text.lstrip(_LETTERS))].rstrip()


def _counts(document: Document, number: int, text: str, header: str) -> ReportRow:
    """The ten counts of a row, whose columns may touch each other."""
    apart = _ROW.match(text)
    if apart is not None:
        return tuple(map(int, apart.groups()))
    # Characters under the columns do not belong to the label, even if they are letters or signs.
    begins = min(len(text) - len(text.lstrip(_LETTERS)), header.index("POS"))
    groups, names = text[begins:].split("|"), header[begins:].split("|")
    counts: list[int] = []
    for (wanted, called), cells, columns in zip(_GROUPS, groups, names, strict=False):
        numbers = cells.split()
        if len(numbers) != wanted:
            # Numbers that fill their columns are not separated by blanks.
            ends = [0, *(end.end() for end in re.finditer(r"\S+", columns))]
            numbers = [cells[start:end].strip() for start, end in pairwise(ends)] if len(cells) == len(columns) else []
        if len(numbers) != wanted or not all(cell.isascii() and cell.isdigit() for cell in numbers):
            raise document.refusal(f"{quote_cell(cells.strip())} should be {wanted} counts: {called}", number)
        counts += map(int, numbers)
    if len(counts) != len(COUNTS):
        raise document.refusal("this row of scores is cut off", number)
    return tuple(counts)


def _check(report: _Report, staging: Staging) -> None:
    """Raises DataError if the messages of a report do not add up to its totals."""
    sums = dict.fromkeys(report.slot_totals, _NOTHING)
    for message in report.messages.values():
        for slot, row in message.slots.items():
            if slot not in sums:
                raise report.document.refusal(f"the slot {quote_cell(slot)} has no row in the totals", message.line)
            sums[slot] = tuple(map(add, sums[slot], row))
    of_slots = [row for slot, row in sums.items() if slot != _TEMPLATE_ID]
    pairs = [(f"the slot {slot}", sums[slot], *report.slot_totals[slot]) for slot in sums]
    if report.all_templates is not None:
        pairs.append(("ALL TEMPLATES", tuple(map(sum, zip(*of_slots, strict=True))), *report.all_templates))
    faults = [
        staging.fault(f"{count} of {what} is {printed}, but the blocks add up to {added}", line, report.document.member)
        for what, row, line, total in pairs
        for count, added, printed in zip(COUNTS, row, total, strict=True)
        # The totals count messages with nothing to fill as noncommittal template-ids, but no block does.
        if added != printed and (what, count) != (f"the slot {_TEMPLATE_ID}", "noncommittal")
    ]
    if faults:
        raise DataError(tuple(faults[:MOST_FAULTS]), len(faults))


def _write(report: _Report, staging: Staging, scores: Sheet, decisions: Sheet) -> None:
    member = report.document.member
    slots = [slot for slot in report.slot_totals if slot != _TEMPLATE_ID]
    places = [COUNTS.index(count) for count in _STORED]
    system = staging.fields.get("system") or _system(report)
    for name, message in report.messages.items():
        test_set = name.partition("-")[0]
        for slot in slots:
            row = message.slots.get(slot, _NOTHING)
            scores.add(message.line, test_set, system, name, slot, *(row[place] for place in places), member=member)
        decisions.add(message.line, test_set, system, name, "yes" if message.answered else "no", member=member)


def _system(report: _Report) -> str:
    """The folder of the configuration, or its parent if the folder has the name of the test set."""
    *folders, file = report.configuration.replace("\\", "/").split("/")
    test_set = re.sub(r"config-|\.el", "", file)
    named = [folder for folder in folders if folder and folder.casefold() != test_set.casefold()]
    if not named:
        raise report.document.refusal(f"the report does not name the system; {name_it('system')}")
    return named[-1]


def _recognizes(start: Start) -> str | None:
    headed = "POS ACT|COR PAR INC" in start.text and not start.is_json
    return "its columns POS ACT|COR PAR INC" if headed else None


READER = Reader(
    "muc-report",
    "score reports of the MUC-4 scorer, plain or many in a tar archive",
    (SCORES, DECISIONS),
    EXAMPLE,
    stage,
    noun="message",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
    whole_archives=True,
)
