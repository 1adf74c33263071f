"""The SQL that computes measures of rankings in one pass over what is stored: one row per system and topic, one column
per measure.

Only judged items affect a measure. So runs are joined with judgments first, which leaves few rows to rank and sum. Each
term is multiplied by a power of two and summed as a whole number, so the sum is the same in any order of rows and no
digit that matters is lost. Cutoffs and grades are whole numbers and are written into the SQL text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from evalhouse.warehouse.kinds.records import WHOLE_RUN
from evalhouse.warehouse.measures.rankings import (
    AveragePrecision,
    BinaryPreference,
    CumulatedGain,
    ExpectedReciprocalRank,
    JudgedAt,
    ListValue,
    OfRelevant,
    PrecisionAt,
    RankBiased,
    RecallAt,
    ReciprocalRank,
    RPrecision,
    SuccessAt,
)
from evalhouse.warehouse.store.sql import Sql, join, value, values

_SHARES = 100
"""Terms between 0 and 1 are multiplied by 2 to this power. The sum of a million of them fits into 128 bits."""

_GRADES = 70
"""The same power for terms as large as a grade."""

_LIST = "system_id, document_id"
_IN_ORDER = f"over (partition by {_LIST} order by rank)"
_BEFORE = f"over (partition by {_LIST} order by rank rows between unbounded preceding and 1 preceding)"


def column_of(place: int) -> str:
    """The name of the column of a measure, by its position among the computed measures."""
    return f"m{place}"


def ranked_lists(
    test_set: int, systems: Sequence[int] | None, wanted: Sequence[ListValue], filled: bool = False
) -> Sql:
    """One row for each system and judged topic of a test set for which the system has a list: test_set_id, system_id,
    document_id, and the value of each measure. If `systems` is None, all systems are included.

    With `filled`, a system has a row for every judged topic; values are 0 for topics without a list.
    """
    here = " test_set_id = " + value(test_set)
    of_systems = here if systems is None else here + " and system_id in " + values(systems)
    parts = [_parts(one, f"x{place}") for place, one in enumerate(wanted)]
    of_topic = _together(part.of_topic for part in parts)
    of_item = _together(part.of_item for part in parts)
    of_best = _together(part.of_best for part in parts)
    length = any(part.takes_length for part in parts)
    steps = [
        "topics as (select " + _select_list("document_id", of_topic) + " from judgment where" + here + " group by all)",
        "lists as (" + _lists(of_systems, length, filled) + ")",
    ]
    # A value whose denominator is missing is 0, for example if no item is relevant.
    values_of = [f"coalesce({part.value}, 0)::double as {column_of(place)}" for place, part in enumerate(parts)]
    answer = join(", ", [value(test_set) + "::integer as test_set_id", _LIST, *values_of])
    tables = " from lists join topics using (document_id)"
    if parts:
        steps.append("highest as (select greatest(max(grade), 1) as highest from judgment where" + here + ")")
        steps.append("judged as (" + _judged_items(here, of_systems, wanted) + ")")
        placed = "select " + _select_list("*", of_item) + " from judged cross join highest"
        sums = _select_list(_LIST, {f"x{place}": part.summed for place, part in enumerate(parts)})
        summed = f"select {sums} from ({placed}) placed join topics using (document_id) group by {_LIST}"
        steps.append(Sql(f"summed as ({summed})"))
        tables += f" left join summed using ({_LIST})"
    if of_best:
        steps.append("best as (" + _best(here, of_best) + ")")
        tables += " left join best using (document_id)"
    return "with " + join(", ", steps) + " select " + answer + tables


class _Parts(Struct, frozen=True):
    """The SQL for one measure: the term that is summed over the judged items of a list, and the value computed from
    that sum.

    Both may use further columns, given here by name: computed from all judgments of a topic (`of_topic`), from the
    judged items of a list in their order (`of_item`), or as sums over the judged items in the best order (`of_best`).
    """

    summed: str
    value: str
    of_topic: Mapping[str, str] = field(default_factory=dict)
    of_item: Mapping[str, str] = field(default_factory=dict)
    of_best: Mapping[str, str] = field(default_factory=dict)
    takes_length: bool = False


def _together(columns: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {name: text for some in columns for name, text in some.items()}


def _select_list(first: str, columns: Mapping[str, str]) -> str:
    return ", ".join([first, *(f"{text} as {name}" for name, text in columns.items())])


def _lists(of_systems: Sql, length: bool, filled: bool) -> Sql:
    """The topics for which each system has a list, with its `length` if that is needed. With `filled`, every judged
    topic.
    """
    lists = f"select {_LIST} from ranking where rank = 1 and" + of_systems
    if length:
        lists = f"select {_LIST}, max(rank) as length from ranking where" + of_systems + f" group by {_LIST}"
    if not filled:
        return lists
    # A system that returned nothing for any topic has no list, and is known by its failure.
    failed = "select system_id from failure where item = " + value(WHOLE_RUN) + " and" + of_systems
    systems = "(select system_id from ranking where rank = 1 and" + of_systems + " union " + failed + ")"
    everywhere = f"select {_LIST}{', length' if length else ''} from " + systems + " cross join topics"
    return everywhere + (" left join (" + lists + f") using ({_LIST})" if length else "")


def _judged_items(here: Sql, of_systems: Sql, wanted: Sequence[ListValue]) -> Sql:
    """The judged items of each list that can affect any of the measures."""
    runs = f"select {_LIST}, item_id, rank from ranking where" + of_systems
    cutoffs = [None if one.removed or isinstance(one, RPrecision) else one.cutoff for one in wanted]
    if None not in cutoffs:
        runs += f" and rank <= {max(filter(None, cutoffs))}"
    judgments = "(select document_id, item_id, grade from judgment where" + here + ")"
    return f"select {_LIST}, rank, grade from (" + runs + ") join " + judgments + " using (document_id, item_id)"


def _best(here: Sql, of_best: Mapping[str, str]) -> Sql:
    """Sums over the judged items of each topic in the best possible order."""
    placed = (
        "select document_id, grade, row_number() over (partition by document_id order by grade desc) as place "
        "from judgment where grade > 0 and" + here
    )
    return (
        f"select {_select_list('document_id', of_best)} from (" + placed + ") cross join highest group by document_id"
    )


def _parts(wanted: ListValue, x: str) -> _Parts:
    """The SQL parts of a measure; `x` is the name of its sum."""
    place, of_item = "rank", {}
    if wanted.removed:
        # A grade below 0 means that the item was not judged (trec_eval).
        place, of_item = "place", {"place": f"greatest(count_if(grade >= 0) {_IN_ORDER}, 1)"}
    within = _within(place, wanted.cutoff)
    match wanted:
        case OfRelevant():
            return _of_relevant(wanted, x, place, within, of_item)
        case CumulatedGain(exponential=exponential):
            gain, scale = (_stops("highest"), _SHARES) if exponential else ("grade", _GRADES)
            best = f"best_{'exponential' if exponential else 'gain'}_{wanted.cutoff or 'all'}"
            found = _sum_term(f"{gain} / log2({place} + 1)", scale, _both("grade > 0", within))
            best_sum = _sum_term(f"{gain} / log2(place + 1)", scale, _within("place", wanted.cutoff))
            return _Parts(found, f"{x}::double / {best}", of_item=of_item, of_best={best: best_sum})
        case ExpectedReciprocalRank(highest=highest):
            stops = _stops("highest" if highest is None else str(highest))
            going_on = f"going_on_{highest or 'test_set'}"
            of_item[going_on] = f"coalesce(product(1 - {stops}) {_BEFORE}, 1)"
            found = _sum_term(f"{stops} * {going_on} / {place}", _SHARES, within)
            return _Parts(found, _back(x, _SHARES), of_item=of_item)
        case JudgedAt(cutoff=cutoff):
            items = "length" if cutoff is None else f"least(length, {cutoff})"
            return _Parts(f"count_if({within})", f"{x} / {items}", takes_length=True)
    raise ValueError(f"{wanted} is not computed of lists")


def _of_relevant(wanted: OfRelevant, x: str, place: str, within: str, of_item: dict[str, str]) -> _Parts:
    """The SQL parts of a measure that counts items whose grade is at least some `rel`."""
    rel = wanted.rel
    is_relevant, relevant, other = f"grade >= {rel}", f"relevant_{rel}", f"other_{rel}"
    counts = _both(is_relevant, within)
    of_topic, some_relevant = {relevant: f"count_if({is_relevant})"}, f"nullif({relevant}, 0)"
    found = f"count_if({counts})"
    match wanted:
        case AveragePrecision():
            so_far = f"found_{rel}"
            of_item[so_far] = f"count_if({is_relevant}) {_IN_ORDER}"
            found = _sum_term(f"{so_far} / {place}", _SHARES, counts)
            return _Parts(found, f"{_back(x, _SHARES)} / {some_relevant}", of_topic, of_item)
        case PrecisionAt(cutoff=cutoff):
            return _Parts(found, f"{x} / {cutoff}", of_item=of_item)
        case RecallAt():
            return _Parts(found, f"{x} / {some_relevant}", of_topic, of_item)
        case RPrecision():
            found = f"count_if({is_relevant} and {place} <= {relevant})"
            return _Parts(found, f"{x} / {some_relevant}", of_topic, of_item)
        case SuccessAt():
            return _Parts(found, f"({x} > 0)::integer", of_item=of_item)
        case ReciprocalRank():
            return _Parts(f"min({place}) filter ({counts})", f"1 / {x}", of_item=of_item)
        case BinaryPreference():
            above, is_other = f"above_{rel}", f"grade >= 0 and grade < {rel}"
            of_topic[other] = f"count_if({is_other})"
            of_item[above] = f"count_if({is_other}) {_IN_ORDER}"
            term = f"(1 - coalesce(least({above}, {relevant}) / nullif(least({other}, {relevant}), 0), 0))"
            return _Parts(_sum_term(term, _SHARES, counts), f"{_back(x, _SHARES)} / {some_relevant}", of_topic, of_item)
        case RankBiased(persistence=persistence):
            found = _sum_term(f"pow({persistence!r}, {place} - 1)", _SHARES, counts)
            return _Parts(found, f"{_back(x, _SHARES)} * {1 - persistence!r}::double", of_item=of_item)
    raise ValueError(f"{wanted} is not computed of relevant items")


def _within(place: str, cutoff: int | None) -> str:
    return "true" if cutoff is None else f"{place} <= {cutoff}"


def _both(condition: str, other: str) -> str:
    return condition if other == "true" else f"{condition} and {other}"


def _sum_term(term: str, power: int, condition: str) -> str:
    """The sum of a term over the items that meet a condition, scaled to a whole number."""
    return f"sum(({term} * {2.0**power!r}::double)::hugeint) filter ({condition})"


def _back(x: str, power: int) -> str:
    """Scales such a sum back to a floating-point number."""
    return f"{x}::double / {2.0**power!r}::double"


def _stops(highest: str) -> str:
    """The probability of stopping at an item, (2^grade − 1) / 2^highest; it also serves as a gain. Higher grades than
    `highest` count as `highest`.
    """
    return f"(pow(2.0, least(greatest(grade, 0), {highest}) - {highest}) - pow(2.0, -{highest}))"
