"""The SQL that computes measures of rankings in one pass over what is stored: one row per system and topic, one column
per measure.

Only judged items affect a measure. So runs are joined with judgments first, which leaves few rows to rank and sum. Each
term is multiplied by a power of two and summed as a whole number, so the sum is the same in any order of rows and no
digit that matters is lost. Cutoffs and grades are whole numbers and are written into the SQL text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.warehouse.kinds.records import WHOLE_RUN
from evalhouse.warehouse.measures.rankings import (
    DEEPEST_PLACE,
    LOWEST_OF_GEOMETRIC_MEANS,
    AveragePrecision,
    BinaryPreference,
    CumulatedGain,
    CumulatedGainAtLevels,
    CumulatedGainAtRelevant,
    ExpectedReciprocalRank,
    GainBeforeRelevant,
    GainBehindIdeal,
    InferredPrecision,
    InterpolatedPrecision,
    JudgedAt,
    JudgedNonrelevant,
    ListValue,
    LogOfPrecision,
    LogOfPreference,
    OfRelevant,
    PrecisionAt,
    PrecisionAtTimesR,
    RankBiased,
    RankBiasedResidual,
    Reader,
    RecallAt,
    ReciprocalRank,
    RelativePrecisionAt,
    RelevantInAll,
    Retrieved,
    RPrecision,
    SetAveragePrecision,
    SetF,
    SetPrecision,
    SetRecall,
    SuccessAt,
    Topics,
    UnjudgedAt,
    WorthOfSet,
)
from evalhouse.warehouse.store.sql import Sql, join, value, values

_SHARES = 100
"""Terms between 0 and 1 are multiplied by 2 to this power. The sum of a million of them fits into 128 bits."""

_GRADES = 70
"""The same power for terms as large as a grade."""

_POOLED = -1
"""The grade of items that were in the pool and not judged (trec_eval)."""

_LITTLE = 0.00001
"""What keeps the estimate of inferred precision from being 0 / 0 (trec_eval)."""

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
        if of_best:
            steps.append("best as (" + _best(here, of_best) + ")")
        beside = ""
        if any(part.takes_ideal for part in parts):
            steps.append("ideal as (" + _ideal(here) + ")")
            beside = " left join ideal using (document_id, rank)"
        placed = "select " + _select_list("*", of_item) + f" from judged cross join highest{beside}"
        summed_up = {f"x{place}": part.summed for place, part in enumerate(parts)}
        sums = _select_list(_LIST, summed_up | _together(part.also_summed for part in parts))
        of_topics = "(topics left join best using (document_id))" if of_best else "topics"
        summed = f"select {sums} from ({placed}) placed join {of_topics} using (document_id) group by {_LIST}"
        steps.append(Sql(f"summed as ({summed})"))
        tables += f" left join summed using ({_LIST})"
        for part in parts:
            if part.apart:
                steps.append(Sql(f"{part.value}_lists as ({part.apart})"))
                tables += f" left join {part.value}_lists using ({_LIST})"
    if of_best:
        tables += " left join best using (document_id)"
    return "with " + join(", ", steps) + " select " + answer + tables


class _Parts(Struct, frozen=True):
    """The SQL for one measure: the term that is summed over the judged items of a list, and the value computed from
    that sum.

    Both may use further columns, given here by name: computed from all judgments of a topic (`of_topic`), from the
    judged items of a list in their order (`of_item`), or as sums over the judged items in the best order (`of_best`).
    The value may use further sums (`also_summed`) and the `length` of the list, the term what the best order has gained
    up to the same place.
    """

    summed: str
    value: str
    of_topic: Mapping[str, str] = field(default_factory=dict)
    of_item: Mapping[str, str] = field(default_factory=dict)
    of_best: Mapping[str, str] = field(default_factory=dict)
    also_summed: Mapping[str, str] = field(default_factory=dict)
    takes_length: bool = False
    takes_ideal: bool = False
    apart: str = ""
    """A query of its own that gives the value of each list, under the name that `value` is."""


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


def _ideal(here: Sql) -> Sql:
    """The best order of each topic, place by place: what it has gained so far, with and without discount, and the sum
    of 1 / discounted gain over this and the later places that end a grade.
    """
    placed = (
        "select document_id, grade, row_number() over (partition by document_id order by grade desc) as rank "
        "from judgment where grade > 0 and" + here
    )
    in_order = "over (partition by document_id order by rank)"
    term = f"(grade / log2(rank + 1) * {2.0**_GRADES!r}::double)::hugeint"
    so_far = (
        f"select document_id, rank, sum(grade) {in_order} as ideal_gain, sum({term}) {in_order} as ideal_discounted, "
        f"lead(grade) {in_order} is distinct from grade as ends from (" + placed + ")"
    )
    later = (
        f"sum(case when ends then {2.0**_GRADES!r}::double / ideal_discounted::double else 0 end) "
        "over (partition by document_id order by rank desc)"
    )
    return f"select document_id, rank, ideal_gain, ideal_discounted, {later} as ideal_ends from (" + so_far + ")"


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
        case UnjudgedAt(cutoff=cutoff):
            judged = f"count_if(grade >= 0 and {within})"
            return _Parts(judged, f"(least(length, {cutoff}) - coalesce({x}, 0)) / {cutoff}", takes_length=True)
        case RankBiasedResidual(persistence=persistence):
            found = _sum_term(f"pow({persistence!r}, rank - 1)", _SHARES, "grade >= 0")
            rest = f"1 - {1 - persistence!r}::double * coalesce({_back(x, _SHARES)}, 0)"
            some_unjudged = f"case when coalesce({x}_judged, 0) < length then {rest} end"
            return _Parts(found, some_unjudged, also_summed={f"{x}_judged": "count_if(grade >= 0)"}, takes_length=True)
        case Topics():
            return _Parts("count(*)", "1")
        case Retrieved(rel=None):
            return _Parts("count(*)", "length", takes_length=True)
        case Retrieved(rel=rel):
            return _Parts(f"count_if(grade >= {rel})", x)
        case Reader():
            return _Parts("count(*)", f"{x}_read", apart=_read(wanted, f"{x}_read"))
        case GainBehindIdeal() | CumulatedGainAtRelevant() | CumulatedGainAtLevels():
            return _of_ideal(wanted, x)
    raise ValueError(f"{wanted} is not computed of lists")


def _read(reader: Reader, named: str) -> str:
    """The mean gain of a reader: each place counts as the chance to come there."""
    highest = "highest" if reader.highest is None else str(reader.highest)
    reached = f"least(greatest(grade, {reader.lowest}), {highest})::double"
    gain = f"coalesce(({reached} - {reader.lowest}) / nullif({highest} - {reader.lowest}, 0), 0)"
    gains = f"select {_LIST}, rank, {gain} as gain from judged cross join highest where rank <= {DEEPEST_PLACE}"
    everywhere = f"(select {_LIST} from lists) cross join (select unnest(range(1, {DEEPEST_PLACE + 1})) as rank)"
    placed = (
        f"select {_LIST}, rank, coalesce(gain, 0) as gain from {everywhere} left join ({gains}) using ({_LIST}, rank)"
    )
    walked = f"select *, sum((gain * {2.0**_SHARES!r}::double)::hugeint) {_IN_ORDER} as gained from ({placed})"
    coming = f"select *, coalesce(product({_going_on(reader)}) {_BEFORE}, 1) as comes from ({walked})"
    found, comes = _sum_term("comes * gain", _SHARES, "true"), _sum_term("comes", _SHARES, "true")
    return f"select {_LIST}, {found}::double / {comes}::double as {named} from ({coming}) group by {_LIST}"


def _going_on(reader: Reader) -> str:
    """The chance that a reader goes on from a place."""
    wanted, cutoff = f"{2 * reader.wanted!r}::double", f"rank < {reader.cutoff}"
    gained = f"(gained::double / {2.0**_SHARES!r}::double)"
    waiting = f"pow((rank + {wanted} - 1) / (rank + {wanted}), 2)"
    chances = {
        "INST": f"pow((rank + {wanted} - {gained} - 1) / (rank + {wanted} - {gained}), 2)",
        "INSQ": waiting,
        "NERR8": f"case when {cutoff} then 1 - gain else 0 end",
        "NERR9": f"case when {cutoff} then (1 - gain) * rank / (rank + 1) else 0 end",
        "NERR10": f"{reader.persistence!r}::double * (1 - gain)",
        "NERR11": f"{waiting} * (1 - gain)",
        "BPM": f"case when {cutoff} and {gained} < {reader.wanted!r}::double then 1 else 0 end",
        "SDCG": f"case when {cutoff} then log2(rank + 1) / log2(rank + 2) else 0 end",
    }
    return chances[reader.goes_on]


def _of_ideal(wanted: ListValue, x: str) -> _Parts:
    """The SQL parts of a measure that holds a list against the best order, place by place."""
    of_topic = {
        "all_gain": "sum(greatest(grade, 0))",
        "with_gain": "count_if(grade > 0)",
        "grades": "count(distinct grade) filter (grade > 0)",
    }
    gain = f"(greatest(grade, 0) / log2(rank + 1) * {2.0**_GRADES!r}::double)::hugeint"
    of_item = {
        "gain_so_far": f"sum(greatest(grade, 0)) {_IN_ORDER}",
        "discounted_so_far": f"sum({gain}) {_IN_ORDER}",
    }
    of_best = {"best_gain_all": _sum_term("grade / log2(place + 1)", _GRADES, "true")}
    discounted, at_end = {f"{x}_discounted": f"sum({gain})"}, f"({x}_discounted::double / best_gain_all::double)"
    match wanted:
        case GainBehindIdeal():
            # Behind its last gain the best order loses 1 at each place.
            ideal = "coalesce(ideal_gain, all_gain + rank - with_gain)"
            found = _sum_term(f"grade / log2(2 + {ideal} - gain_so_far)", _GRADES, "grade > 0")
            return _Parts(found, f"{_back(x, _GRADES)} / nullif(all_gain, 0)", of_topic, of_item, takes_ideal=True)
        case CumulatedGainAtRelevant():
            ideal = "coalesce(ideal_discounted, best_gain_all)"
            found = _sum_term(f"discounted_so_far::double / {ideal}::double", _GRADES, "grade > 0")
            missing = f"(with_gain - coalesce({x}_found, 0)) * {at_end}"
            also = {**discounted, f"{x}_found": "count_if(grade > 0)"}
            value = f"({_back(x, _GRADES)} + {missing}) / nullif(with_gain, 0)"
            return _Parts(found, value, of_topic, of_item, of_best, also, takes_ideal=True)
    # Where the list goes on for more than one place behind the best order, its end is a place, too (trec_eval).
    goes_on = "(length > with_gain + 1)::integer"
    found = _sum_term("greatest(grade, 0) / log2(rank + 1) * coalesce(ideal_ends, 0)", _GRADES, "true")
    value = f"({_back(x, _GRADES)} + {goes_on} * {at_end}) / nullif(grades + {goes_on}, 0)"
    return _Parts(found, value, of_topic, of_item, of_best, discounted, takes_length=True, takes_ideal=True)


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
        case LogOfPrecision():
            return _logarithm(_parts(AveragePrecision(rel=rel), x))
        case LogOfPreference():
            return _logarithm(_parts(BinaryPreference(rel=rel), x))
        case RelevantInAll():
            return _Parts(found, relevant, of_topic)
        case JudgedNonrelevant():
            return _Parts(f"count_if(grade >= 0 and grade < {rel})", x)
        case RelativePrecisionAt(cutoff=cutoff):
            return _Parts(found, f"{x} / least({cutoff}, {some_relevant})", of_topic)
        case SetRecall():
            return _Parts(found, f"{x} / {some_relevant}", of_topic)
        case SetPrecision() | SetF() | SetAveragePrecision() | WorthOfSet():
            return _of_set(wanted, x, found, of_topic)
        case InterpolatedPrecision(recalls=recalls, nearest=nearest):
            so_far = f"found_{rel}"
            of_item[so_far] = f"count_if({is_relevant}) {_IN_ORDER}"
            highest = {
                x if number == 0 else f"{x}_{number}": f"max({so_far} / {place}) "
                f"filter ({is_relevant} and {so_far} >= {_share_of(recall, relevant, nearest)})"
                for number, recall in enumerate(recalls)
            }
            summed = " + ".join(f"coalesce({name}, 0)" for name in highest)
            return _Parts(highest.pop(x), f"({summed}) / {len(recalls)}", of_topic, of_item, also_summed=highest)
        case PrecisionAtTimesR(times=times):
            last = _share_of(times, relevant)
            return _Parts(f"count_if({is_relevant} and rank <= {last})", f"{x} / nullif({last}, 0)", of_topic)
        case InferredPrecision():
            so_far, above, pooled = f"found_{rel}", f"above_{rel}", "pooled"
            of_item[so_far] = f"count_if({is_relevant}) {_IN_ORDER}"
            of_item[above] = f"count_if(grade >= 0 and grade < {rel}) {_IN_ORDER}"
            of_item[pooled] = f"count_if(grade < 0) {_IN_ORDER}"
            little = f"{_LITTLE!r}::double"
            estimated = f"({so_far} - 1 + {little}) / ({so_far} - 1 + {above} + 2 * {little})"
            term = f"((1 + ({so_far} - 1 + {above} + {pooled}) * {estimated}) / rank)"
            found = _sum_term(term, _SHARES, is_relevant)
            return _Parts(found, f"{_back(x, _SHARES)} / {some_relevant}", of_topic, of_item)
        case GainBeforeRelevant():
            so_far = f"found_{rel}"
            of_item[so_far] = f"count_if({is_relevant}) {_IN_ORDER}"
            found = _sum_term(f"1 / log2(2 + rank - {so_far})", _SHARES, is_relevant)
            return _Parts(found, f"{_back(x, _SHARES)} / {some_relevant}", of_topic, of_item)
    raise ValueError(f"{wanted} is not computed of relevant items")


def _of_set(wanted: OfRelevant, x: str, found: str, of_topic: Mapping[str, str]) -> _Parts:
    """The SQL parts of a measure of the list as a set, from how many items it has, and how many of them are
    relevant.
    """
    relevant, here = f"relevant_{wanted.rel}", f"coalesce({x}, 0)"
    items = f"{x}_judged" if wanted.removed else "length"
    match wanted:
        case SetPrecision(relative=relative):
            value = f"{x} / nullif({f'least({items}, {relevant})' if relative else items}, 0)"
        case SetF(weight=weight):
            value = f"{1 + weight!r}::double * {x} / nullif({items} + {weight!r}::double * {relevant}, 0)"
        case SetAveragePrecision():
            value = f"{x}::double / nullif({items}, 0) * ({x} / nullif({relevant}, 0))"
        case WorthOfSet(relevant=hit, other=other, missing=missing):
            value = (
                f"{hit!r}::double * {here} + {other!r}::double * (length - {here}) "
                f"+ {missing!r}::double * ({relevant} - {here})"
            )
        case _:
            raise ValueError(f"{wanted} is not computed of a set")
    also = {f"{x}_judged": "count_if(grade >= 0)"} if wanted.removed else {}
    return _Parts(found, value, of_topic, also_summed=also, takes_length=not wanted.removed)


def _logarithm(parts: _Parts) -> _Parts:
    return replace(parts, value=f"ln(greatest(coalesce({parts.value}, 0), {LOWEST_OF_GEOMETRIC_MEANS!r}::double))")


def _share_of(share: float, number: str, nearest: bool = False) -> str:
    """A share of a whole number, as a whole number: the nearest one, or that above, as trec_eval 9 finds it."""
    return f"floor({share!r}::double * {number} + {0.5 if nearest else 0.9!r}::double)"


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
