"""What `trec_eval -q` prints: a line a measure and topic, the means of all topics among them under the name `all`.

Only what is printed of a topic is stored. The system is the runid; measures go by the names that runs have here: `ap`
for map, `P@10` for P_10, `ndcg@10` for ndcg_cut_10. Where the run itself is stored, what is printed of it is compared
with that, and the same value is not stored again with fewer digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.loading.staging.cells import is_number, shown
from warehouse.loading.staging.lines import Document, documents
from warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.store.sql import Sql
from warehouse.tasks.observed import counted
from warehouse.tasks.records import VALUES

EXAMPLE = "map\t301\t0.0324\nP_10\t301\t0.2000\nrunid\tall\tSTANDARD\nmap\tall\t0.0324\n"

NO_TOPIC = "no topic is printed; trec_eval -q prints them"

_RENAMED = {"map": "ap", "ndcg_cut": "ndcg", "map_cut": "ap"}
_CUT = re.compile(r"(P|recall|ndcg_cut|map_cut|success)_([0-9]+)")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages values a topic. Raises DataError where a line has not 3 columns, and where no topic is printed."""
    with Sheets(staging, VALUES) as sheets:
        system = _system(staging)
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        texts: dict[str, None] = {}
        known, same = _stored(staging, system), 0
        for document in documents(staging):
            for number, (measure, topic, value) in _lines(document):
                if topic == "all":
                    continue
                if _NUMBER.fullmatch(value):
                    stored = known.get((topic, measure_name(measure)))
                    if stored is not None and abs(stored - float(value)) <= _half_a_digit(value):
                        same += 1
                        continue
                    values.add(number, system, topic, measure_name(measure), value, member=document.member)
                elif value in ("nan", "inf", "-nan", "-inf"):
                    raise document.refusal(f"the value of {shown(measure)} is {value}, not a finite number", number)
                else:
                    texts[measure] = None
        if not values.records and not same:
            raise staging.refusal(NO_TOPIC)
        notes = [f"left out, being no numbers: {', '.join(texts)}"] if texts else []
        if same:
            notes.append(f"{same:,} values are those of the run that is stored, to the printed digits")
        return sheets.staged(notes) if values.records else ()


def _stored(staging: Staging, system: str) -> dict[tuple[str, str], float]:
    """The values of a system that are stored, by topic and measure."""
    test_set = staging.named("test_set", None, "the file does not say the test set")
    rows = staging.database.rows(
        Sql(
            "select document, measure, value from document_values where test_set = ? and system = ?", (test_set, system)
        )
    )
    return {(topic, measure): value for topic, measure, value in rows}


def _half_a_digit(printed: str) -> float:
    """Half of the last digit that is printed, and no less than what is lost in writing and reading it."""
    digits = printed.partition(".")[2]
    return 0.500001 * 10.0 ** -len(digits) if digits.isdecimal() else 1e-9


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


def _recognizes(start: Start) -> Recognition | None:
    cells = start.first.split()
    printed = len(cells) == 3 and "\t" in start.first and (is_number(cells[2]) or cells[0] == "runid")
    if not printed or is_number(cells[0]):
        return None
    if start.whole and all(line.split()[1:2] == ["all"] for line in start.lines):
        return Recognition(NO_TOPIC, Role.PART)
    return Recognition("its measure, topic and value", Role.FIGURES)


READER = Reader(
    "trec-eval",
    "what trec_eval -q prints: values a topic",
    (VALUES,),
    EXAMPLE,
    stage,
    noun="topic",
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
    unsaid={"test_set": "{parent}"},
)
