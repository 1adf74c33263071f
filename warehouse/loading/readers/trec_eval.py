"""The output of `trec_eval -q`: one line per measure and topic; the lines with the means over all topics have the topic
`all`.

Only the values of topics are stored. The system is the runid. Measures that can also be computed from rankings get the
same names as those: AP for map, P@10 for P_10, nDCG@10 for ndcg_cut_10. If the run itself is stored, the printed values
are compared with the computed ones, and a value that agrees is not stored again with fewer digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from evalhouse.warehouse.kinds import RANKINGS
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import VALUES
from evalhouse.warehouse.loading.staging.cells import is_number, quote_cell
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.measures import CUTOFF, ListMean, ListValue, Setting, find_measure, settle, without_cutoff
from evalhouse.warehouse.measures.rankings import REL
from evalhouse.warehouse.store.ranked_lists import ranked_lists
from evalhouse.warehouse.store.sql import Sql

EXAMPLE = "map\t301\t0.0324\nP_10\t301\t0.2000\nrunid\tall\tSTANDARD\nmap\tall\t0.0324\n"

_SAME = ("map", "map_cut", "P", "recall", "recip_rank", "Rprec", "bpref", "ndcg", "ndcg_cut", "success")
"""Measures that are computed from rankings in the same way as trec_eval computes them."""

NO_TOPIC = "no topic is printed; trec_eval -q prints them"

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages values per topic. Raises DataError if a line does not have 3 columns, or if no line is about a topic."""
    with Sheets(staging, VALUES) as sheets:
        system = _system(staging)
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        texts: dict[str, None] = {}
        known, same = _compute_values(staging, system), 0
        for document in documents(staging):
            for number, (measure, topic, value) in _lines(document):
                if topic == "all":
                    continue
                if _NUMBER.fullmatch(value):
                    computed = known.get((topic, measure_name(measure)))
                    if computed is not None:
                        if abs(computed - float(value)) > _half_a_digit(value):
                            wrong = (
                                f"{measure} of topic {quote_cell(topic)} is {value}, but {computed:.6g} according to"
                            )
                            raise document.refusal(f"{wrong} the stored run of {quote_cell(system)}", number)
                        same += 1
                        continue
                    values.add(number, system, topic, measure_name(measure), value, member=document.member)
                elif value in ("nan", "inf", "-nan", "-inf"):
                    raise document.refusal(
                        f"the value of {quote_cell(measure)} is {value}, not a finite number", number
                    )
                else:
                    texts[measure] = None
        if not values.records and not same:
            raise staging.refusal(NO_TOPIC)
        notes = [f"left out (not numbers): {', '.join(texts)}"] if texts else []
        if same:
            notes.append(f"{same:,} values are those of the stored run, to the printed digits")
        return sheets.staged(notes) if values.records else ()


def _compute_values(staging: Staging, system: str) -> dict[tuple[str, str], float]:
    """The values computed from the stored rankings of a system, by topic and measure, for the measures that are printed
    here.
    """
    test_set = staging.named("test_set", None, "the file does not name the test set")
    printed = sorted({measure for document in documents(staging) for _, (measure, _, _) in _lines(document)})
    values: dict[tuple[str, str], float] = {}
    known = Sql("select t.id, s.id from test_set t, system s where t.name = ? and s.name = ?", (test_set, system))
    for test_set_id, system_id in staging.database.rows(known):
        from evalhouse.warehouse.store.catalog import relevance  # readers are listed without DuckDB

        level = relevance(staging.database, test_set_id)
        wanted = {measure_name(measure): of for measure in printed if (of := _computation(measure, level)) is not None}
        lists = ranked_lists(test_set_id, [system_id], list(wanted.values()))
        named = "select d.name, f.* exclude (test_set_id, system_id, document_id) from ("
        for topic, *computed in staging.database.rows(named + lists + ") f join document d on d.id = f.document_id"):
            values |= {(topic, measure): of for measure, of in zip(wanted, computed, strict=True)}
    return values


def _computation(printed: str, level: int = 1) -> ListValue | None:
    """The computation of a measure of trec_eval from rankings; None if there is none."""
    name, cutoff = without_cutoff(printed)
    measure = find_measure(name, RANKINGS.name) if name in _SAME else None
    if measure is None or (cutoff is None and measure.called != measure.name):
        return None
    settings = _cut_at(cutoff) | ({REL.name: Decimal(level)} if REL in measure.parameters else {})
    mean = settle(measure, settings).computation
    return mean.of if isinstance(mean, ListMean) else None


def _cut_at(cutoff: Setting | None) -> dict[str, Setting]:
    return {} if cutoff is None else {CUTOFF: cutoff}


def _half_a_digit(printed: str) -> float:
    """Half of the last printed digit, but at least the error of writing and reading a number."""
    digits = printed.partition(".")[2]
    return 0.500001 * 10.0 ** -len(digits) if digits.isdecimal() else 1e-9


def _lines(document: Document) -> Iterator[tuple[int, list[str]]]:
    """The line number and the three cells of each line that is not blank."""
    for number, line in document.lines():
        cells = line.split()
        if len(cells) == 3:
            yield number, cells
        elif cells:
            raise document.refusal(f"{quantity(len(cells), 'column')} in this line; trec_eval prints 3", number)


def _system(staging: Staging) -> str:
    """The runid, which is printed after the topics."""
    if "system" in staging.fields:
        return staging.fields["system"]
    for document in documents(staging):
        for _, (measure, _topic, value) in _lines(document):
            if measure == "runid":
                return value
    raise staging.refusal("the file has no runid that names the system; name it with --set system=NAME")


def measure_name(printed: str) -> str:
    """The name that a measure of trec_eval has here."""
    name, cutoff = without_cutoff(printed)
    measure = find_measure(name, RANKINGS.name)
    return printed if measure is None or _computation(printed) is None else measure.label(_cut_at(cutoff))


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
    "the output of trec_eval -q: values per topic",
    (VALUES,),
    EXAMPLE,
    stage,
    noun="topic",
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
    unsaid={"test_set": "{parent}"},
)
