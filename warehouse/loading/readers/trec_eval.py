"""The output of `trec_eval -q`: one line per measure and topic; the lines with the means over all topics have the topic
`all`.

The values of topics are stored, and the lines `all` are compared with them; without topics, these lines are published
figures. The system is the runid. Measures that can also be computed from rankings get the same names as those: AP for
map, P@10 for P_10, nDCG@10 for ndcg_cut_10. If the run itself is stored, the printed values are compared with the
computed ones, and a value that agrees is not stored again with fewer digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from math import fsum
from statistics import geometric_mean

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.warehouse.kinds import RANKINGS
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import PUBLISHED, VALUES
from evalhouse.warehouse.loading.readers import trec_tables
from evalhouse.warehouse.loading.staging.cells import FIGURES, is_number, quote_cell
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheet, Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure, Values
from evalhouse.warehouse.measures import CUTOFF, ListSummary, Setting, find_measure, settle, without_cutoff
from evalhouse.warehouse.measures.rankings import REL, ROUNDING
from evalhouse.warehouse.store.ranked_lists import ranked_lists
from evalhouse.warehouse.store.sql import Sql

EXAMPLE = "map\t301\t0.0324\nP_10\t301\t0.2000\nrunid\tall\tSTANDARD\nmap\tall\t0.0324\n"

_RENAMED = ("map", "map_cut", "P", "recall", "recip_rank", "Rprec", "bpref", "ndcg", "ndcg_cut", "success", "rbp")
"""Measures that have the name of what is computed from rankings also where only printed values are stored."""

_SAME = (
    *_RENAMED,
    *("num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "gm_map", "gm_bpref"),
    *("set_P", "set_relative_P", "set_recall", "set_map", "set_F", "relative_P", "Rprec_mult", "utility", "infAP"),
    *("binG", "G", "ndcg_rel", "Rndcg", "rbp_resid", "unj", "iprec_at_recall", "11pt_avg"),
)
"""Measures that are computed from rankings as trec_eval computes them."""

NO_TOPIC = "no value is printed"

ALL = "all"
"""What stands for the topic in lines about all topics."""

TOPICS, RUN_ID = "num_q", "runid"
"""What is printed of the topics together and is not a measure: their number, and the name of the run."""

_GEOMETRIC = "gm_"
"""How the geometric means over topics are called."""

_COUNTS = re.compile("(prefs_)?num_")
"""The measures that are summed over topics."""

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class _Printed(Struct):
    """What the lines of a file say, by measure under its printed name."""

    of_topics: dict[str, dict[str, float]] = field(default_factory=dict)
    """The values by topic: the computed ones, if the run is stored, because they have more digits."""
    of_all: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The figures of all topics as they are written, each with its line."""
    texts: dict[str, None] = field(default_factory=dict)
    """The measures that are not numbers."""
    same: int = 0
    """How many values are those of the stored run."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages values per topic, or the figures of all topics if no topic is printed. Raises DataError if a line does not
    have 3 columns, or if a topic has another value than the stored run.
    """
    with Sheets(staging, VALUES, PUBLISHED) as sheets:
        system, test_set = _system(staging), staging.named("test_set", None, "the file does not name the test set")
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        published = sheets.open(PUBLISHED, *FIGURES[1:])
        known, printed = _compute_values(staging, test_set, system), _Printed()
        for document in documents(staging):
            for number, (measure, topic, value) in _lines(document):
                if not _NUMBER.fullmatch(value):
                    _check_text(document, number, measure, value)
                    printed.texts.setdefault(measure)
                elif topic == ALL:
                    printed.of_all[measure] = number, value
                elif (computed := known.get((topic, measure_name(measure)))) is not None:
                    _check_value(document, number, (measure, topic, value), computed, system)
                    printed.of_topics.setdefault(measure, {})[topic] = computed
                    printed.same += 1
                else:
                    values.add(number, system, topic, measure_name(measure), value, member=document.member)
                    printed.of_topics.setdefault(measure, {})[topic] = float(value)
        _add_figures(published, system, printed, known)
        for figure in _stated(printed, known):
            staging.state(replace(figure, test_set=test_set, systems=(system,)))
        if not (printed.of_topics or printed.of_all):
            raise staging.refusal(NO_TOPIC)
        left_out = [measure for measure in printed.texts if measure != RUN_ID]
        notes = [f"left out (not numbers): {', '.join(left_out)}"] if left_out else []
        if printed.same:
            are = "value is that" if printed.same == 1 else "values are those"
            notes.append(f"{printed.same:,} {are} of the stored run, to the printed digits")
        return sheets.staged(notes) if values.records or published.records else ()


def _check_text(document: Document, number: int, measure: str, value: str) -> None:
    if value in ("nan", "inf", "-nan", "-inf"):
        raise document.refusal(f"the value of {quote_cell(measure)} is {value}, not a finite number", number)


def _check_value(document: Document, number: int, printed: tuple[str, str, str], computed: float, system: str) -> None:
    """Raises DataError if a printed value is not the computed one: it is the output for another run or other qrels."""
    measure, topic, value = printed
    if abs(computed - float(value)) > _half_a_digit(value):
        wrong = f"{measure} of topic {quote_cell(topic)} is {value}, but {computed:.6g} according to"
        raise document.refusal(f"{wrong} the stored run of {quote_cell(system)}", number)


def _add_figures(published: Sheet, system: str, printed: _Printed, known: Mapping[tuple[str, str], float]) -> None:
    """Adds the figures of measures without values of topics, except those that are computed from the stored run."""
    computed = {measure for _, measure in known}
    topics = _topics(printed)
    for measure, (number, value) in printed.of_all.items():
        if measure != TOPICS and measure not in printed.of_topics and measure_name(measure) not in computed:
            decimals = len(value.partition(".")[2])
            resolution = f"0.{'1'.zfill(decimals)}" if decimals else "1"
            name = measure_name(measure)
            published.add(number, system, "values", name, value, resolution, topics or None, None, None, None, None)


def _topics(printed: _Printed) -> int:
    """How many topics the figures of all topics are of; 0 if that is not printed."""
    _, value = printed.of_all.get(TOPICS, (0, "0"))
    return int(value) if value.isdecimal() else 0


def _stated(printed: _Printed, known: Mapping[tuple[str, str], float]) -> Iterator[StatedFigure]:
    """The figures of all topics: sums of counts, and means of everything else. With `trec_eval -c` there are more
    topics than are printed, and the others count as 0. Geometric means of rounded values are not accurate enough to be
    compared.
    """
    computed: dict[str, dict[str, float]] = {}
    for (topic, name), of_topic in known.items():
        computed.setdefault(name, {})[topic] = of_topic
    for measure, (line, value) in printed.of_all.items():
        of_topics = printed.of_topics.get(measure) or computed.get(measure_name(measure))
        if not of_topics or measure == TOPICS:
            continue
        if measure.startswith(_GEOMETRIC) and not all((topic, measure) in known for topic in of_topics):
            continue
        counts = _COUNTS.match(measure) is not None
        number = 1 if counts else max(_topics(printed), len(of_topics))
        is_exact = counts or all((topic, measure_name(measure)) in known for topic in of_topics)
        yield StatedFigure(
            "",
            (),
            measure,
            f"{measure} of all topics",
            f"line {line}",
            value,
            over_documents=geometric_mean if measure.startswith(_GEOMETRIC) else partial(_share, number),
            values=tuple(of_topics.values()),
            computed_as=f"the {'sum' if counts else 'mean'} of the topics",
            slack=0.0 if is_exact else _half_a_digit(value),
        )


def _share(of: int, values: Values) -> float:
    return fsum(values) / of


def _compute_values(staging: Staging, test_set: str, system: str) -> dict[tuple[str, str], float]:
    """The values computed from the stored rankings of a system, by topic and measure, for the measures that are printed
    here. Of what versions of trec_eval compute differently, those that are printed.
    """
    printed: dict[str, dict[str, float]] = {}
    for document in documents(staging):
        for _, (measure, topic, value) in _lines(document):
            if _NUMBER.fullmatch(value):
                printed.setdefault(measure, {})[topic] = float(value)
    values: dict[tuple[str, str], float] = {}
    known = Sql("select t.id, s.id from test_set t, system s where t.name = ? and s.name = ?", (test_set, system))
    for test_set_id, system_id in staging.database.rows(known):
        from evalhouse.warehouse.store.catalog import relevance  # readers are listed without DuckDB

        level = relevance(staging.database, test_set_id)
        wanted = [(measure, summary) for measure in sorted(printed) for summary in _computations(measure, level)]
        lists = ranked_lists(test_set_id, [system_id], [summary.of for _, summary in wanted])
        named = "select d.name, f.* exclude (test_set_id, system_id, document_id) from ("
        computed: list[dict[str, float]] = [{} for _ in wanted]
        for topic, *row in staging.database.rows(named + lists + ") f join document d on d.id = f.document_id"):
            for (_, summary), of_topics, value in zip(wanted, computed, row, strict=True):
                of_topics[topic] = summary.of_one(value)
        versions: dict[str, list[dict[str, float]]] = {}
        for (measure, _), of_topics in zip(wanted, computed, strict=True):
            versions.setdefault(measure, []).append(of_topics)
        for measure, ways in versions.items():
            closest = min(ways, key=partial(_distance, printed[measure]))
            values |= {(topic, measure_name(measure)): value for topic, value in closest.items()}
    return values


def _distance(printed: Mapping[str, float], computed: Mapping[str, float]) -> float:
    """How far computed values of topics are from those that are printed, and their mean from that of all topics."""
    together = {**computed, ALL: fsum(computed.values()) / max(len(computed), 1)}
    return fsum(abs(value - together[topic]) for topic, value in printed.items() if topic in together)


def _computations(printed: str, level: int = 1) -> Iterator[ListSummary]:
    """The computations of a measure of trec_eval from rankings, the newest version of trec_eval first."""
    name, cutoff = without_cutoff(printed)
    measure = find_measure(name, RANKINGS.name) if name in _SAME else None
    if measure is None or (cutoff is None and measure.called != measure.name):
        return
    settings = (
        measure.in_name(name) | _cut_at(cutoff) | ({REL.name: Decimal(level)} if REL in measure.parameters else {})
    )
    rounded = next((parameter.choices for parameter in measure.parameters if parameter.name == ROUNDING.name), ())
    for more in [{ROUNDING.name: way} for way in reversed(rounded)] or [{}]:
        computation = settle(measure, settings | more).computation
        if isinstance(computation, ListSummary):
            yield computation


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
            if measure == RUN_ID:
                return value
    raise staging.refusal("the file has no runid that names the system; name it with --set system=NAME")


def measure_name(printed: str) -> str:
    """The name that a measure of trec_eval has here."""
    name, cutoff = without_cutoff(printed)
    measure = find_measure(name, RANKINGS.name)
    if measure is None or name not in _RENAMED or not any(_computations(printed)):
        return printed
    settings = measure.in_name(name)
    return measure.label(settings | _cut_at(cutoff), name if settings else "")


def _recognizes(start: Start) -> Recognition | None:
    cells = start.first.split()
    printed = len(cells) == 3 and "\t" in start.first and (is_number(cells[2]) or cells[0] == "runid")
    if not printed or is_number(cells[0]) or trec_tables.layout_of(start):
        return None
    return Recognition("its measure, topic and value", Role.FIGURES)


READER = Reader(
    "trec-eval",
    "the output of trec_eval: values per topic, with -q, or figures of all topics",
    (VALUES, PUBLISHED),
    EXAMPLE,
    stage,
    noun="topic",
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
    unsaid={"test_set": "{parent}"},
)
