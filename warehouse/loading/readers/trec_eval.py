"""What `trec_eval -q` prints: a line a measure and topic, the means of all topics among them under the name `all`.

Only what is printed of a topic is stored. The system is the runid; measures go by the names that runs have here: `ap`
for map, `P@10` for P_10, `ndcg@10` for ndcg_cut_10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.loading.staging.cells import is_number, shown
from warehouse.loading.staging.lines import Document, documents
from warehouse.loading.staging.reader import Evidence, Reader, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.observed import counted
from warehouse.tasks.records import VALUES

EXAMPLE = "map\t301\t0.0324\nP_10\t301\t0.2000\nrunid\tall\tSTANDARD\nmap\tall\t0.0324\n"

_RENAMED = {"map": "ap", "ndcg_cut": "ndcg", "map_cut": "ap"}
_CUT = re.compile(r"(P|recall|ndcg_cut|map_cut|success)_([0-9]+)")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages values a topic. Raises DataError where a line has not 3 columns, and where no topic is printed."""
    with Sheets(staging, VALUES) as sheets:
        system = _system(staging)
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        texts: dict[str, None] = {}
        for document in documents(staging):
            for number, (measure, topic, value) in _lines(document):
                if topic == "all":
                    continue
                if _NUMBER.fullmatch(value):
                    values.add(number, system, topic, measure_name(measure), value, member=document.member)
                elif value in ("nan", "inf", "-nan", "-inf"):
                    raise document.refusal(f"the value of {shown(measure)} is {value}, not a finite number", number)
                else:
                    texts[measure] = None
        if not values.records:
            raise staging.refusal("no topic is printed; trec_eval -q prints them")
        return sheets.staged((f"left out, being no numbers: {', '.join(texts)}",) if texts else ())


def _lines(document: Document) -> Iterator[tuple[int, list[str]]]:
    """The number and the three cells of each line that is not blank."""
    for number, line in document.lines():
        cells = line.split()
        if len(cells) == 3:
            yield number, cells
        elif cells:
            raise document.refusal(f"{counted(len(cells), 'column')} in this line; trec_eval prints 3", number)


def _system(staging: Staging) -> str:
    """The runid, which is printed after the topics."""
    if "system" in staging.fields:
        return staging.fields["system"]
    for document in documents(staging):
        for _, (measure, _topic, value) in _lines(document):
            if measure == "runid":
                return value
    raise staging.refusal("the file does not say the system, having no runid; --set system=NAME does")


def measure_name(printed: str) -> str:
    """What a measure of trec_eval is called here."""
    cut = _CUT.fullmatch(printed)
    if cut is None:
        return _RENAMED.get(printed, printed)
    return f"{_RENAMED.get(cut[1], cut[1])}@{cut[2]}"


def _recognizes(start: Start) -> str | None:
    cells = start.first.split()
    printed = len(cells) == 3 and "\t" in start.first and (is_number(cells[2]) or cells[0] == "runid")
    return "its measure, topic and value" if printed and not is_number(cells[0]) else None


READER = Reader(
    "trec-eval",
    "what trec_eval -q prints: values a topic",
    (VALUES,),
    EXAMPLE,
    stage,
    noun="topic",
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
)
