"""What an answer says, in one sentence made of its rows: their names, directions, numbers and verdicts, and no others.

A sentence never claims more than its rows: what is not significant, undecided or inconclusive sounds like it, systems
that were scored on different documents are not held against each other, and undefined values lead nowhere. Rows that
no sentence can sum up have none. Nothing is computed here but how many rows say a thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import floor, log10
from typing import Any

from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.results import CellKind, Table

Row = Mapping[str, Any]

NAMED = 5
"""Up to this many systems are named; of more their number is said."""

ONE_BY_ONE = 4
"""Up to this many measures and test sets are told one by one; of more it is counted who leads."""

# === words and numbers ================================================================================================


def rows_of(table: Table) -> list[Row]:
    """The rows by column name, of whatever types the columns are."""
    return [*table.records()]


def spoken(measure: str) -> str:
    """A measure as people say it: F1."""
    return re.sub(r"^F\(beta=1\)$", "F1", measure)


def listed(names: Sequence[str]) -> str:
    """A, B and C."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def several(names: Sequence[str], what: str = "systems") -> str:
    """A, B and C; or 12 systems."""
    return listed(names) if len(names) <= NAMED else f"{len(names):,} {what}"


def signed(number: float) -> str:
    """+9.5; −0.7."""
    return f"{number:+.{_places(number)}f}".replace("-", "−")


def _places(number: float) -> int:
    """One place behind the point, or as many as two figures need."""
    return 1 if not number or abs(number) >= 0.05 else min(1 - floor(log10(abs(number))), 12)


def _figure(number: float, sign: str = "") -> str:
    """A number that is not a share: 2.31; 12,346."""
    text = f"{number:{sign},.0f}" if abs(number) >= 1000 else f"{number:{sign}.4g}"
    return text.replace("-", "−")


def gap(kind: CellKind, difference: float) -> str:
    """How large a difference is: 4.4 points; 2.31."""
    if kind in ("difference", "proportion"):
        number = abs(100 * difference)
        return f"{number:.{_places(number)}f} points"
    return _figure(abs(difference))


def limits(kind: CellKind, heading: str, low: float | None, high: float | None) -> str:
    """95% CI −0.7 to +9.5; empty where there is none."""
    if low is None or high is None:
        return ""
    if kind == "difference":
        return f"{heading} {signed(100 * low)} to {signed(100 * high)}"
    return f"{heading} {_figure(low, '+')} to {_figure(high, '+')}"


def amount(kind: CellKind, value: float) -> str:
    """A value: 56.0; 0.8333."""
    return f"{100 * value:.1f}" if kind == "proportion" else _figure(value)


def chance(p: float, level: float) -> str:
    """p = .10; p < .0001; with more figures where two would be the level itself."""
    if p < 0.0001:
        return "p < .0001"
    text = f"{float(f'{p:.2g}'):.4f}"
    if float(text) == level != p:
        text = f"{p:.4f}"
    while text.endswith("0") and len(text) > len("0.10"):
        text = text[:-1]
    return f"p = {text}".replace("= 0.", "= .")


# === pairs ============================================================================================================


def of_pairs(table: Table, lower: Collection[str], taken: str = "") -> str:
    """What the rows of `compare` say; in the measures of `lower`, less is better. Of one row, how far the first system
    is ahead; of several, how many decide something. `taken` says how test sets are taken together, if they are:
    averaged over TST3, TST4.
    """
    rows = rows_of(table)
    if len(rows) == 1:
        return _of_pair(rows[0], table, lower, taken)
    if len({row["system_b"] for row in rows}) == 1 and len({(row["test_set"], row["measure"]) for row in rows}) == 1:
        return _against(rows, lower, taken)
    return _counted(rows, lower, taken) if rows else ""


def _of_pair(row: Row, table: Table, lower: Collection[str], taken: str) -> str:
    kinds = {column.name: column for column in table.columns}
    kind = kinds["difference"].kind
    a, b, measure = row["system_a"], row["system_b"], row["measure"]
    where = f"in {spoken(measure)} {_at(row, taken)}"
    difference, verdict = row["difference"], row["verdict"]
    if difference is None:
        return f"{a} and {b} cannot be compared {where}: the value of at least one is undefined."
    heading = kinds["ci_low"].heading if "ci_low" in kinds else ""
    around = limits(kind, heading, row.get("ci_low"), row.get("ci_high"))
    in_brackets = f" ({around})" if around else ""
    remark = " (lower is better)" if measure in lower else ""
    if difference:
        ahead = "ahead of" if (difference > 0) != (measure in lower) else "behind"
        said = f"{a} is {gap(kind, difference)} {ahead} {b} {where}{remark}{in_brackets}"
    else:
        said = f"{a} and {b} are level {where}{in_brackets}"
    match verdict:
        case "equivalent":
            return f"{a} and {b} are equivalent {where}: the difference{in_brackets} is within the margin."
        case "not worse":
            apart = _apart(kind, difference)
            return f"{a} is not worse than {b} {where} by more than the margin: {apart}{in_brackets}."
        case "inconclusive":
            return f"Inconclusive: {said}, which decides nothing about the margin."
        case "better" | "worse":
            return f"{said}, so it is {verdict}."
        case "undecided":
            near = f", and {_level(row)} is too close to the level" if _level(row) else ""
            return f"Undecided: {said}{near}."
        case None:
            return f"{said}."
    return f"{said}, {verdict}{f' ({_level(row)})' if _level(row) else ''}."


def _apart(kind: CellKind, difference: float) -> str:
    return f"the difference is {signed(100 * difference) if kind == 'difference' else _figure(difference, '+')}"


def _level(row: Row) -> str:
    """The p that decides, adjusted where p-values are."""
    adjusted, p = row.get("p_adjusted"), row.get("p")
    if adjusted is not None:
        return f"adjusted {chance(adjusted, row['level'])}"
    return chance(p, row["level"]) if p is not None else ""


def _at(row: Row, taken: str) -> str:
    """Where a row is from: on TST3; averaged over TST3, TST4."""
    return taken or f"on {row['test_set']}"


def _first_is_ahead(row: Row, lower: Collection[str]) -> bool:
    return bool((row["difference"] > 0) != (row["measure"] in lower))


DECIDED = ("significant", "equivalent", "not worse", "better", "worse")
"""The verdicts that decide something, as they are counted."""


def _against(rows: Sequence[Row], lower: Collection[str], taken: str) -> str:
    """What several systems are beside the one that all are compared with."""
    b, where = rows[0]["system_b"], f"in {spoken(rows[0]['measure'])} {_at(rows[0], taken)}"
    if not all(row["verdict"] in ("significant", "not significant", "undecided", None) for row in rows):
        return _counted(rows, lower, taken)
    shown = [row for row in rows if row["verdict"] == "significant" and row["difference"]]
    ahead = [row["system_a"] for row in shown if _first_is_ahead(row, lower)]
    behind = [row["system_a"] for row in shown if not _first_is_ahead(row, lower)]
    unsure = sum(row["verdict"] == "undecided" for row in rows)
    found = [f"{are(len(ahead))} significantly ahead of {b} {where}{_named(ahead)}"]
    found += [f"{are(len(behind))} significantly behind{_named(behind)}"]
    found += [f"{are(unsure)} undecided"] if unsure else []
    return f"Of {len(rows):,} systems, {listed(found)}."


def are(count: int) -> str:
    """none is; 1 is; 12 are."""
    return f"{count:,} {'is' if count == 1 else 'are'}" if count else "none is"


def _named(names: Sequence[str]) -> str:
    return f" ({listed(names)})" if 0 < len(names) <= NAMED else ""


def _counted(rows: Sequence[Row], lower: Collection[str], taken: str) -> str:
    """How many comparisons decide something, and what."""
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in (*DECIDED, "undecided")}
    against_margin = any(row["verdict"] in ("inconclusive", *DECIDED[1:]) for row in rows)
    of = f"Of {len(rows):,} comparisons{_shared(rows, taken)}, "
    if against_margin:
        said = [f"{are(counts[verdict])} {verdict}" for verdict in DECIDED[1:] if counts[verdict]]
        left = sum(row["verdict"] == "inconclusive" for row in rows)
        said += [f"{are(left)} inconclusive"] if left else []
    else:
        said = [f"{are(counts['significant'])} significant{_which(rows, lower, counts['significant'])}"]
    said += [f"{are(counts['undecided'])} undecided"] if counts["undecided"] else []
    return f"{of}{listed(said)}."


def _shared(rows: Sequence[Row], taken: str) -> str:
    """What all comparisons have in common: in F1 on TST3."""
    measures, test_sets = ({row[name] for row in rows} for name in ("measure", "test_set"))
    in_measure = f" in {spoken(measures.pop())}" if len(measures) == 1 else ""
    return in_measure + (f" {_at(rows[0], taken)}" if len(test_sets) == 1 else "")


def _which(rows: Sequence[Row], lower: Collection[str], significant: int) -> str:
    """The few comparisons of one pair that are significant: recall on TST3 (GE ahead)."""
    pairs = {(row["system_a"], row["system_b"]) for row in rows}
    if len(pairs) > 1 or not 0 < significant <= ONE_BY_ONE:
        return ""
    found = [
        f"{spoken(row['measure'])} on {row['test_set']} "
        f"({row['system_a'] if _first_is_ahead(row, lower) else row['system_b']} ahead)"
        for row in rows
        if row["verdict"] == "significant" and row["difference"]
    ]
    return f": {listed(found)}"


# === orders ===========================================================================================================


def of_ranks(table: Table, taken: str = "") -> str:
    """Who leads, and who is not significantly behind: those whose set of ranks begins at 1."""
    said = []
    for rows in _apart_by(rows_of(table), "test_set", "measure").values():
        known = [row for row in rows if row["rank_low"] is not None and row["value"] is not None]
        said += [_leads(known, [row for row in known if row["rank_low"] == 1], taken)] if known else []
    return joined(said)


def of_groups(table: Table, taken: str = "") -> str:
    """Who leads, and who shares a letter with it."""
    said = []
    for rows in _apart_by(rows_of(table), "test_set", "measure").values():
        known = [row for row in rows if row["value"] is not None]
        letters = [{*str(row["letters"] or "").split()} for row in known]
        alike = [row for row, own in zip(known, letters, strict=True) if own & letters[0]]
        said += [_leads(known, alike, taken)] if known else []
    return joined(said)


def _leads(known: Sequence[Row], alike: Sequence[Row], taken: str) -> str:
    """Who leads of the systems in their order, several if they have the same value, and which others are not shown to
    be behind: those `alike`.
    """
    first = [row["system"] for row in known if row["value"] == known[0]["value"]]
    where = f"in {spoken(known[0]['measure'])} {_at(known[0], taken)}"
    said = f"{first[0]} leads {where}" if len(first) == 1 else f"{several(first)} are level at the front {where}"
    others = len(known) - len(first)
    close = [row["system"] for row in alike if row["system"] not in first]
    if others:
        said += _behind(close, others, "it" if len(first) == 1 else "them")
    unsure = sum(bool(row["undecided"]) for row in known)
    return said + (f"; verdicts on {quantity(unsure, 'system')} are undecided" if unsure else "")


def _behind(close: Sequence[str], others: int, leaders: str) -> str:
    if not close:
        return f"; {'the other is' if others == 1 else f'all {others:,} others are'} significantly behind {leaders}"
    if others == 1:
        return f"; {close[0]} is not significantly behind {leaders}"
    verb = "is" if len(close) == 1 else "are"
    names = f": {', '.join(close)}" if len(close) <= 2 * NAMED else ""
    return f"; {len(close):,} of {others:,} others {verb} not significantly behind {leaders}{names}"


def _apart_by(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def joined(said: Sequence[str]) -> str:
    """Up to a few statements as one sentence; none where there are more."""
    return f"{'. '.join(said)}." if 0 < len(said) <= ONE_BY_ONE else ""


# === values ===========================================================================================================


def of_values(
    rows: Sequence[Row],
    kinds: Mapping[str, CellKind],
    lower: Collection[str],
    *,
    uneven: Collection[tuple[str, str]] = (),
    shown: Collection[str] | None = None,
    taken: str = "",
) -> str:
    """Who has the best value of each measure on each test set. The rows have `test_set`, `measure`, `system`, `value`
    and, if it has one, the interval of a value under the heading `ci`. What rests on different documents has no best,
    and a best system that is not `shown` is not told.
    """
    groups = {key: there for key, there in _apart_by(rows, "test_set", "measure").items() if key not in uneven}
    systems = {row["system"] for row in rows if row["value"] is not None}
    if not groups or len(groups) > ONE_BY_ONE:
        return ""
    if len(systems) == 1:
        return _of_one([row for there in groups.values() for row in there if row["value"] is not None], kinds, taken)
    leaders: dict[tuple[str, ...], list[str]] = {}
    for (_, measure), there in groups.items():
        known = [row for row in there if row["value"] is not None]
        if not known:
            continue
        best = (min if measure in lower else max)(row["value"] for row in known)
        first = tuple(row["system"] for row in known if row["value"] == best)
        if shown is None or {*first} <= {*shown}:
            which = "same" if 1 < len(known) == len(first) else "lowest" if measure in lower else "highest"
            what = f"{which} {spoken(measure)} {_at(there[0], taken)} ({amount(kinds[measure], best)})"
            leaders.setdefault(first, []).append(what)
    said = [
        f"{several(names)} {'has' if len(names) == 1 else 'have'} the {listed(what)}" for names, what in leaders.items()
    ]
    # The best of those that were asked for, which may not be all there are.
    valued = " with a value" if len(systems) < len({row["system"] for row in rows}) else ""
    return f"Of {len(systems):,} systems{valued}, {'; '.join(said)}." if said else ""


def _of_one(rows: Sequence[Row], kinds: Mapping[str, CellKind], taken: str) -> str:
    """The values of the only system."""
    said = [
        f"the {spoken(row['measure'])} of {row['system']} {_at(row, taken)} is "
        f"{amount(kinds[row['measure']], row['value'])}{_around(row, kinds[row['measure']])}"
        for row in rows
    ]
    return f"T{listed(said)[1:]}." if said else ""


def of_columns(table: Table, labels: Sequence[str], lower: Collection[str], **known: Any) -> str:
    """`of_values` of a table with a column for each measure."""
    kinds = {column.name: column.kind for column in table.columns}
    headings = {column.name: column.heading for column in table.columns}
    rows = [
        {
            "test_set": row["test_set"],
            "system": row["system"],
            "measure": label,
            "value": row[label],
            "ci_low": row.get(f"ci_low({label})"),
            "ci_high": row.get(f"ci_high({label})"),
            "ci": headings.get(f"ci_low({label})", ""),
        }
        for row in rows_of(table)
        for label in labels
    ]
    return of_values(rows, kinds, lower, **known)


def _around(row: Row, kind: CellKind) -> str:
    """The interval of a value in brackets, as its column is headed: (95% CI 49.7 to 62.1)."""
    low, high = row.get("ci_low"), row.get("ci_high")
    return "" if low is None or high is None else f" ({row['ci']} {amount(kind, low)} to {amount(kind, high)})"


# === what else is asked ===============================================================================================


def of_documents(table: Table, noun: str) -> str:
    """Which of the documents listed has most to do with a difference; `noun` is the word for them. None beside several
    pairs.
    """
    rows = [row for row in rows_of(table) if row["share"] is not None]
    if not rows or len({(row["measure"], row["system_a"], row["system_b"], row["test_set"]) for row in rows}) > 1:
        return ""
    kind = _kind(table, "contribution")
    first = max(rows, key=lambda row: abs(row["contribution"]))
    between = f"{first['system_a']} and {first['system_b']} in {spoken(first['measure'])} on {first['test_set']}"
    moves = "widens" if first["share"] > 0 else "narrows"
    by = gap(kind, first["contribution"])
    document = f"{noun[:1].upper()}{noun[1:]} {first['document']}"
    return f"{document} {moves} the difference between {between} by {by}, the most of the {plural(noun)} listed."


def of_power(summary: Table, wanted: float, noun: str) -> str:
    """How many documents a difference needs, for one pair. `wanted` is the power, and `noun` the word for documents."""
    rows = rows_of(summary)
    if (
        not rows
        or len(rows) > ONE_BY_ONE
        or len({(row["system_a"], row["system_b"], row["test_set"]) for row in rows}) > 1
    ):
        return ""
    kind = _kind(summary, "detect")
    needs = [
        f"{_about(row['documents_needed'], noun)} if it is {gap(kind, row['detect'])} in {spoken(row['measure'])}"
        for row in rows
    ]
    pair = f"{rows[0]['system_a']} and {rows[0]['system_b']} on {rows[0]['test_set']}"
    return f"With a power of {100 * wanted:.0f}%, finding a difference between {pair} takes {listed(needs)}."


def _about(documents: int | None, noun: str) -> str:
    return f"more {noun} than were tried" if documents is None else f"about {documents:,} {noun}"


def of_replications(summary: Table, source: str, target: str) -> str:
    """How many of the differences on one test set hold on another."""
    said = []
    for row in rows_of(summary):
        measure = spoken(row["measure"])
        if not row["different"]:
            said.append(f"No difference in {measure} is significant on {source}, so there is none to find on {target}")
            continue
        also = (
            ""
            if row["also_different"] is None
            else f", and {100 * row['also_different']:.0f}% are significant there, too"
        )
        said.append(
            f"Of {quantity(row['different'], 'significant difference')} in {measure} on {source}, "
            f"{100 * row['kept_sign']:.0f}% have the same sign on {target}{also}"
        )
    return joined(said)


def of_changes(summary: Table, source: str, target: str) -> str:
    """How many systems rose and fell between two test sets, and by how much they changed on average."""
    kind = _kind(summary, "mean_change")
    said = []
    for row in rows_of(summary):
        rose, fell = f"rose for {row['rose']:,} of {row['systems']:,} systems", f"fell for {row['fell']:,}"
        mean = row["mean_change"]
        about = "" if not mean else f"; on average it {'rose' if mean > 0 else 'fell'} by {gap(kind, mean)}"
        said.append(f"From {source} to {target}, {spoken(row['measure'])} {rose} and {fell}{about}")
    return joined(said)


def of_generality(table: Table, noun: str) -> str:
    """How many documents of each test set are relevant."""
    return joined(
        [
            f"Of the {row['documents']:,} {noun} of {row['test_set']}, {are(row['relevant'])} relevant, "
            f"{are(row['optional'])} optional and {are(row['nonrelevant'])} not relevant"
            for row in rows_of(table)
        ]
    )


def of_coverage(table: Table, noun: str) -> str:
    """Whether all systems were scored on all documents."""
    rows = rows_of(table)
    lacking = dict.fromkeys(row["system"] for row in rows if row["absent"] or row["failed"])
    systems, test_sets = ({row[name] for row in rows} for name in ("system", "test_set"))
    where = test_sets.pop() if len(test_sets) == 1 else f"{len(test_sets):,} test sets"
    if not rows:
        return ""
    if not lacking:
        who = f"All {len(systems):,} systems were" if len(systems) > 1 else f"{systems.pop()} was"
        return f"{who} scored on all {noun} of {where}."
    verb = "was" if len(lacking) == 1 else "were"
    return (
        f"{len(lacking):,} of {len(systems):,} systems {verb} not scored on all {noun} of {where}{_named([*lacking])}."
    )


def of_slices(summary: Table, level: float) -> str:
    """Whether a difference is another one in other slices."""
    said = []
    for row in rows_of(summary):
        p = row["heterogeneity_p"]
        what = f"The difference between {row['system_a']} and {row['system_b']} in {spoken(row['measure'])}"
        where = f"on {row['test_set']} "
        if p is None:
            continue
        shown = "varies" if p <= level else "is not shown to vary"
        said.append(f"{what} {where}{shown} by {row['attribute']} ({chance(p, level)})")
    return joined(said)


def of_curves(summary: Table) -> str:
    """At which threshold each system has its best value."""
    kind = _kind(summary, "best_value")
    return joined(
        [
            f"{row['system']} has its best {spoken(row['measure'])} on {row['test_set']}, "
            f"{amount(kind, row['best_value'])}, at the threshold {row['best_threshold']:.4g}"
            for row in rows_of(summary)
            if row["best_threshold"] is not None and row["best_value"] is not None
        ]
    )


def of_spread(table: Table) -> str:
    """Whether documents or runs make more of the variance."""
    said = []
    for row in rows_of(table):
        documents, runs = row["var_document"], row["var_replicate"]
        if documents is None or runs is None:
            continue
        more, less = ("documents", "runs") if documents >= runs else ("runs", "documents")
        verb = "more than" if documents != runs else "as much as"
        of = f"{row['system']} in {spoken(row['measure'])} on {row['test_set']}"
        said.append(f"Among the values of {of}, {more} differ {verb} {less}")
    return joined(said)


def of_agreement(summary: Table) -> str:
    """How far annotators agree, by kappa."""
    rows = rows_of(summary)
    kinds = {column.name: column for column in summary.columns}
    said = []
    for row in rows:
        kappa, low, high = (row[name] for name in ("kappa", "kappa_low", "kappa_high"))
        if kappa is None:
            continue
        around = "" if low is None else f" ({kinds['kappa_low'].heading} {low:.2f} to {high:.2f})".replace("-", "−")
        said.append(f"{row['annotators']} annotators agree on {row['test_set']} with a kappa of {kappa:.2f}{around}")
    return joined(said) if len(rows) <= ONE_BY_ONE else ""


def of_confusion(table: Table, noun: str, either: Collection[tuple[str, str]] = ()) -> str:
    """What each system most often answers for what, of its wrong answers. Where a test set and a class of its key are
    in `either`, no answer is wrong.
    """
    said = []
    for (test_set, system), rows in _apart_by(rows_of(table), "test_set", "system").items():
        judged = [row for row in rows if (test_set, row["gold"]) not in either]
        wrong = [(row["documents"], row) for row in judged if row["gold"] != row["answer"] and row["documents"]]
        most = max((number for number, _ in wrong), default=0)
        commonest = [row for number, row in wrong if number == most]
        of_class = sum(row["documents"] for row in judged if commonest and row["gold"] == commonest[0]["gold"])
        ways = [
            f"{said_of} where the key says {row['gold']}"
            for row in commonest
            for said_of in ["gives no answer" if row["answer"] is None else f"answers {row['answer']}"]
        ]
        if not wrong:
            documents = sum(row["documents"] for row in judged)
            said.append(f"{system} answers as the key says on all {_documents(documents, noun)} of {test_set}")
        elif len(commonest) == 1:
            count = f"{_figure(most)} of {_documents(of_class, noun)} on {test_set}"
            said.append(f"{system} most often wrongly {ways[0]}: {count}")
        elif len(commonest) <= ONE_BY_ONE - 1:
            said.append(f"{system} most often wrongly {listed(ways)}: {_documents(most, noun)} each on {test_set}")
        else:
            alike = f"{len(commonest):,} pairs of classes are the most frequent, {_documents(most, noun)} each"
            said.append(f"Of the wrong answers of {system} on {test_set}, {alike}")
    return joined(said)


def _documents(number: float, noun: str) -> str:
    """12 documents; 1 document; of a mean over runs 2.5 documents."""
    return f"{_figure(number)} {noun if number == 1 else plural(noun)}"


def of_audit(table: Table) -> str:
    """How many printed figures whole numbers of documents can give."""
    rows = rows_of(table)
    fit = sum(bool(row["solutions"]) for row in rows)
    return (
        f"The printed figures of {fit:,} of {len(rows):,} systems are possible with whole numbers of documents."
        if rows
        else ""
    )


def _kind(table: Table, name: str) -> CellKind:
    return next(column.kind for column in table.columns if column.name == name)
