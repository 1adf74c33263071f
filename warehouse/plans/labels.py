"""What results are called: captions, and the signature that names all that decides the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, plural, quantity
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.measures.averages import MACRO, WEIGHTED
from evalhouse.warehouse.measures.filtering import OF_TOPICS
from evalhouse.warehouse.notes import Names, Note, Subject, count
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.version import __version__

if TYPE_CHECKING:
    from evalhouse.warehouse.charts import Unit

LEFT_OUT_AS_0 = "judged {topics} that a run leaves out count as 0, as with trec_eval -c"
"""What `missing zero` does with rankings."""

_NAMED = 5
"""More test sets than this that are taken together are counted."""

_LISTED = 3
"""The sizes of more test sets than this are given as a range."""


def on(entries: Sequence[p.Entry]) -> str:
    """The test sets of a question."""
    return ", ".join(entry.test_set.name for entry in entries)


def taken_together_on(entries: Sequence[p.Entry], over: p.OverTestSets | None) -> str:
    """The test sets of a question, and how they are taken together: averaged over TST3, TST4; on mmlu, pooled over 57
    test sets (mmlu_*).
    """
    return f"on {on(entries)}" if over is None else f"{over.said} {all_of(entries)}"


def all_of(entries: Sequence[p.Entry]) -> str:
    """The test sets of a question that are taken together: TST3, TST4; 57 test sets (mmlu_*)."""
    names = [entry.test_set.name for entry in entries]
    if len(names) <= _NAMED:
        return ", ".join(names)
    first, last = min(names), max(names)
    shared = first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    return f"{len(names):,} test sets ({f'{shared}*' if shared else some(names)})"


def some(names: Sequence[str]) -> str:
    """Up to five names, and how many more there are."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def is_simulated(entries: Iterable[p.Entry]) -> bool:
    """Whether anything that decides the numbers was simulated."""
    return any(entry.simulated for entry in entries)


def noun_of(entries: Iterable[p.Entry]) -> str:
    """What a document is called on all the test sets of a question."""
    nouns = {entry.units.noun for entry in entries}
    return nouns.pop() if len(nouns) == 1 else PLAIN_NOUN


def title(what: str, entries: Sequence[p.Entry], how: str = "") -> str:
    """A caption: what, how it was got, and in brackets where the numbers come from."""
    remark = origins(entries)
    return what + (f": {how}" if how else "") + (f" ({remark})" if remark else "")


def unit_of(entries: Iterable[p.Entry]) -> Literal["proportion", "number"]:
    """The unit in which the values on all test sets of a question are shown: numbers, unless all are proportions."""
    return "number" if any(entry.unit == "number" for entry in entries) else "proportion"


# --- where numbers come from ------------------------------------------------------------------------------------------


def with_keys(entries: Iterable[p.Entry]) -> tuple[p.Entry, ...]:
    """The entries, and the keys behind those that are printed figures, for questions that count a key's labels."""
    return tuple(part for entry in entries for part in (entry, entry.key) if part is not None)


def of_one_origin(entries: Iterable[p.Entry]) -> bool:
    """Whether the numbers of all test sets come from the same kind of rows, so that they can be held side by side."""
    return len({entry.origin for entry in entries}) == 1


def origins(entries: Sequence[p.Entry], marked: bool = False) -> str:
    """Which kind of rows, or figures as printed, the numbers come from, where several could be meant, and whether the
    data are simulated; test set by test set where these differ. If simulated data are `marked` as such elsewhere, they
    are named here only where it is not all.
    """
    of_test_sets: dict[str, list[p.Entry]] = {}
    for entry in entries:
        of_test_sets.setdefault(entry.test_set.name, []).append(entry)
    named: dict[str, list[str]] = {}
    for test_set, group in of_test_sets.items():
        named.setdefault(_origin(group), []).append(test_set)
    if len(named) > 1:
        return "; ".join(f"{some(test_sets)}: {origin}" for origin, test_sets in named.items())
    if not of_one_origin(entries):
        return "".join(named)
    kinds = [entry.origin for entry in entries if entry.several_kinds and entry.kind.by_document][:1]
    simulated = [SIMULATED] if is_simulated(entries) and not marked else []
    return ", ".join(filter(None, (*kinds, *simulated)))


SIMULATED = "simulated data"


def _origin(entries: Sequence[p.Entry]) -> str:
    """Where the numbers of one test set come from: extraction and filtering, simulated data."""
    simulated = {entry.origin: entry.simulated for entry in entries}
    if len(set(simulated.values())) == 1:
        return " and ".join(simulated) + (f", {SIMULATED}" if is_simulated(entries) else "")
    return " and ".join(f"{origin} of {SIMULATED}" if of else origin for origin, of in simulated.items())


def headed(entry: p.Entry, entries: Sequence[p.Entry], *remarks: str) -> str:
    """A test set with remarks, as its column or panel is headed, beside test sets of which the numbers may come from
    elsewhere: TST2 (as printed).
    """
    alike = [other.origin for other in entries if other.kind.by_document == entry.kind.by_document]
    kind = entry.origin if len(set(alike)) > 1 else "" if entry.kind.by_document else "as printed"
    origin = () if of_one_origin(entries) else (kind,)
    remark = ", ".join(filter(None, (*origin, *remarks)))
    return f"{entry.test_set.name} ({remark})" if remark else entry.test_set.name


# --- who and what is not there ----------------------------------------------------------------------------------------


def lacking_test_sets(entries: Iterable[p.Entry]) -> list[str]:
    """The systems of a question that are not on all its test sets, each with those that it lacks: lark (not on sea)."""
    return [f"{name} (not on {', '.join(lacks)})" for name, lacks in _absent(entries).items()]


def _absent(entries: Iterable[p.Entry]) -> dict[str, list[str]]:
    """The systems that are not on all test sets, each with the names of those that it lacks. One that has rows of
    another kind there is none of them, unless it counts as nothing.
    """
    lacks: dict[str, list[str]] = {}
    for entry in entries:
        others = _others(entry)
        for name in entry.absent:
            if name not in others:
                rows = dict(entry.of_other_kinds).get(name)
                there = f", where it has {rows}" if rows else ""
                lacks.setdefault(name, []).append(f"{entry.test_set.name}{there}")
    return lacks


def _others(entry: p.Entry) -> dict[str, str]:
    """The systems that an entry leaves out because they have rows of another kind alone, with what these are called."""
    counted = {system.name for system in entry.stored_systems}
    return {name: rows for name, rows in entry.of_other_kinds if name not in counted}


def having_others(entries: Iterable[p.Entry]) -> list[str]:
    """The systems of a question that have rows of another kind alone: lark (published figures on sea)."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        for name, rows in _others(entry).items():
            found.setdefault(name, []).append(f"{rows} on {entry.test_set.name}")
    return [f"{name} ({', '.join(there)})" for name, there in found.items()]


def _others_notes(entries: Iterable[p.Entry]) -> Iterator[str]:
    """The same in sentences, those together that have and lack the same on several test sets."""
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for entry in entries:
        named: dict[str, list[str]] = {}
        for name, rows in _others(entry).items():
            named.setdefault(rows, []).append(name)
        for rows, names in named.items():
            found.setdefault((rows, entry.kind.rows, tuple(names)), []).append(entry.test_set.name)
    for (rows, wanted, systems), test_sets in found.items():
        have, are = ("has", "is") if len(systems) == 1 else ("have", "are")
        which = f"{quantity(len(systems), 'system')} {have} {rows} on {some(test_sets)} but no {wanted}"
        yield f"{which}, and {are} left out there: {some(systems)}"


def lacking_runs(entries: Iterable[p.Entry]) -> list[str]:
    """The runs of systems that are not on all test sets, each with those that it lacks: lark#2 (not on sea)."""
    return [f"{run} (not on {', '.join(lacks)})" for run, lacks in _absent_runs(entries).items()]


def _absent_runs(entries: Iterable[p.Entry]) -> dict[str, list[str]]:
    lacks: dict[str, list[str]] = {}
    for entry in entries:
        for run in (run for of in entry.runs_there for run in of.lacking):
            lacks.setdefault(run.name, []).append(entry.test_set.name)
    return lacks


def _runs_notes(entries: Iterable[p.Entry]) -> Iterator[str]:
    """Whose means are over how many runs, where these differ or runs are not there; the fewest first."""
    for entry in entries:
        numbers = {of.number for of in entry.runs_there}
        lacking = any(of.lacking for of in entry.runs_there)
        if len(numbers) < 2 and not lacking:
            continue
        counts = [
            f"{of.number:,} for {of.system}"
            + (f" (without {some([run.name for run in of.lacking])})" if of.lacking else "")
            for of in sorted(entry.runs_there, key=lambda of: of.number)
            if of.lacking or len(numbers) > 1
        ]
        what = "not all systems have as many runs" if len(numbers) > 1 else "not every run is there"
        yield Note(Subject(entry.test_set.name), f"{what}: ", Names(tuple(counts)))


def left_out(entries: Sequence[p.Entry]) -> dict[str, str]:
    """What an answer leaves out, by the name of the column that says so: systems with the test sets that they lack, and
    where they have rows of another kind, what these are; and test sets that have nothing that was asked for.
    """
    lacks = _absent([entry for entry in entries if not entry.units.filled])
    for entry in entries:
        for name, rows in _others(entry).items():
            lacks.setdefault(name, []).append(f"{entry.test_set.name} ({rows})")
    lacks |= _absent_runs(entries)
    said = {
        "left_out": "; ".join(f"{name}: {', '.join(test_sets)}" for name, test_sets in lacks.items()),
        "test_sets_left_out": ", ".join(dict.fromkeys(name for entry in entries for name in entry.passed_over)),
    }
    return {column: text for column, text in said.items() if text}


def left_out_notes(entries: Sequence[p.Entry]) -> list[str]:
    """The same in sentences, and which systems count as nothing on a test set that they are not on."""
    notes: list[str] = []
    passed_over = list(dict.fromkeys(name for entry in entries for name in entry.passed_over))
    if passed_over:
        what = f"{len(passed_over):,} test sets, which have no data for this question: {some(passed_over)}"
        alone = f"{passed_over[0]}, which has no data for this question"
        notes.append(f"left out {what if len(passed_over) > 1 else alone}")
    filled = [entry for entry in entries if entry.units.filled]
    others = [entry for entry in entries if not entry.units.filled]
    shown = {system.name for entry in entries for system in entry.stored_systems}
    systems = len({name for entry in entries for name in entry.absent} | shown)
    lacking = [(name, ", ".join(lacks)) for name, lacks in _absent(others).items()]
    without = [(name, lacks) for name, lacks in lacking if name not in shown]
    partly = [(name, lacks) for name, lacks in lacking if name in shown]
    nothing = [(name, ", ".join(lacks)) for name, lacks in _absent(filled).items()]
    for named, what_of_one, what_of_several in (
        (without, "and is left out", "and are left out"),
        (partly, "", ""),
        (nothing, "and counts as nothing there", "and count as nothing there"),
    ):
        if named:
            are, what = ("is", what_of_one) if len(named) == 1 else ("are", what_of_several)
            lacked = dict.fromkeys(lacks for _, lacks in named)
            where, names = "every test set", [f"{name} (not on {lacks})" for name, lacks in named]
            # What else it has there is said of each.
            if len(lacked) == 1 and not any(entry.of_other_kinds for entry in entries):
                where, names = next(iter(lacked)), [name for name, _ in named]
            of = f"{len(named):,} of {quantity(systems, 'system')} {are} not on {where}"
            notes.append(Note(Subject(), f"{' '.join(filter(None, (of, what)))}: ", Names(tuple(names))))
    return [*notes, *_others_notes(entries), *_runs_notes(entries)]


def missing_caption(missing: str | None, entries: Sequence[p.Entry]) -> str:
    """What became of documents that a system lacks, where the statement says it."""
    if missing == "zero" and any(entry.kind.of_lists for entry in entries):
        return LEFT_OUT_AS_0.format(topics=plural(noun_of(entries)))
    done = {"drop": "left out", "zero": "count as nothing"}.get(missing or "")
    return "" if done is None else f"missing {plural(noun_of(entries))} {done}"


# --- how much was observed --------------------------------------------------------------------------------------------


class Size(Struct, frozen=True):
    """How much was observed on a test set: exchange units, where tests exchange them, and documents."""

    documents: int
    noun: str
    units: int
    unit: str

    @classmethod
    def of(cls, entry: p.Entry, documents: int, units: int | None = None) -> Size:
        """The size of an entry, of documents alone where nothing is exchanged."""
        if units is None:
            return cls(documents, entry.units.noun, documents, entry.units.noun)
        return cls(documents, entry.units.noun, units, entry.units.exchange_noun)

    def said(self, done: str) -> str:
        """100 messages exchanged; 50 topics exchanged (80,914 topic-document pairs)."""
        units = f"{quantity(self.units, self.unit)}{done}"
        return units if self.unit == self.noun else f"{units} ({quantity(self.documents, self.noun)})"


def sizes(known: Iterable[tuple[str, Size]], done: str = "") -> str:
    """The sizes of test sets, by their names: 100 messages on each. `done` is what happened to them."""
    pairs = tuple(dict.fromkeys(known))
    test_sets = {test_set for test_set, _ in pairs}
    if len({size for _, size in pairs}) == 1:
        return pairs[0][1].said(done) + (" on each" if len(test_sets) > 1 else "")
    if len(pairs) == len(test_sets) <= _LISTED:
        return ", ".join(f"{size.said(done)} on {test_set}" for test_set, size in pairs)
    counts: dict[str, list[int]] = {}
    for _, size in pairs:
        counts.setdefault(size.unit, []).append(size.units)
    ranges = [
        ("" if min(of) == max(of) else f"{min(of):,} to ") + quantity(max(of), unit) for unit, of in counts.items()
    ]
    return " and ".join(ranges) + done


def as_printed(entries: Sequence[p.Entry]) -> str:
    """What is said where other results say how many documents there are: filtering figures as printed."""
    return entries[0].origin if of_one_origin(entries) else p.AS_PRINTED


def known_size(entries: Sequence[p.Entry], where: p.Filter | None) -> str:
    """How many documents the test sets have; nothing where only those count that meet a condition."""
    if not any(entry.kind.by_document for entry in entries):
        return as_printed(entries)
    return (
        sizes((entry.test_set.name, Size.of(entry, entry.units.documents)) for entry in entries)
        if where is None
        else ""
    )


def averaged_over(entries: Iterable[p.Entry]) -> str:
    """Over how many runs of models the systems are averaged: means over 3 runs; empty where they are stored as they
    are.
    """
    of_kinds: dict[str, list[p.Replicates]] = {}
    for entry in entries:
        if (runs := entry.units.runs_of_models) is not None:
            of_kinds.setdefault("counts averaged" if entry.kind.adds_counts else "means", []).append(runs)
    said = []
    for how, found in of_kinds.items():
        fewest, most = min(runs.fewest for runs in found), max(runs.most for runs in found)
        said.append(f"{how} over {f'{fewest} to ' if fewest < most else ''}{quantity(most, 'run')}")
    return " and ".join(said)


def difference_text(first: float | None, second: float | None, difference: float | None, unit: Unit) -> str:
    """57.06 − 55.56 = +1.50; or that two values are equal, their difference being None."""
    from evalhouse.warehouse.charts import format_value

    def said(value: float) -> str:
        # As many decimals as in cells, unless the difference would be lost.
        fixed = unit == "number" and (difference is None or abs(difference) >= 0.0001)
        return f"{value:.4f}" if fixed else format_value(value, unit)

    if difference is None:
        return f"both {said(first or 0.0)}, so there is no difference to share out"
    sign = "+" if difference > 0 else "−"
    return f"{said(first or 0.0)} − {said(second or 0.0)} = {sign}{said(abs(difference))}"


# --- signatures -------------------------------------------------------------------------------------------------------


def lower_measures(entries: Iterable[p.Entry]) -> frozenset[str]:
    """The measures of a question, as they are called in it, of which less is better."""
    return frozenset(
        statistic.label for entry in entries for statistic in entry.statistics if statistic.measure.lower_is_better
    )


def directions(entries: Iterable[p.Entry]) -> tuple[str, ...]:
    """Which imported values are better when they are lower, a sentence each; of other measures their formula tells."""
    lower = (
        statistic.label
        for entry in entries
        for statistic in entry.statistics
        if entry.kind.imported is not None and entry.kind.by_document and statistic.measure.lower_is_better
    )
    return tuple(f"lower {label} is better" for label in dict.fromkeys(lower))


def means(entries: Iterable[p.Entry]) -> tuple[str, ...]:
    """Which statistics average the values of single documents instead of pooling all documents."""
    apart = (
        f"{statistic.label} averages the values of single {plural(entry.units.noun)}; {statistic.measure.name} is "
        "computed over "
        "all of them together and may rank systems differently"
        for entry in entries
        for statistic in entry.statistics
        if statistic.averaged and statistic.measure.alone is not None
    )
    return tuple(dict.fromkeys(apart))


def over_topics(entries: Iterable[p.Entry]) -> tuple[str, ...]:
    """Which measures of TREC's filtering tracks are averaged over documents, where these have topics."""
    over_documents = (
        f"{statistic.label} averages over {plural(entry.units.noun)} one by one; mean({statistic.measure.name} by "
        "document.topic) averages over topics"
        for entry in entries
        if entry.units.topical
        for statistic in entry.statistics
        if statistic.averaged and statistic.measure.name in OF_TOPICS
    )
    return tuple(dict.fromkeys(over_documents))


def attempts(entries: Iterable[p.Entry]) -> tuple[str, ...]:
    """Which replicates are attempts, and which of them passed."""
    return tuple(
        f"{entry.test_set.name}: the {of.replicates.called}{' of a system' if of.replicates.of_models else ''} are "
        "attempts at each "
        f"{entry.units.noun}; an attempt passes if its {of.measure} is 1"
        f"{', not if it is partly right' if of.graded else ''}"
        for entry in entries
        if (of := entry.units.attempts) is not None
    )


def averages_over(entries: Iterable[p.Entry]) -> tuple[str, ...]:
    """What `macro` and `weighted` average over, where that is not simply units that are stored."""
    return tuple(
        dict.fromkeys(
            f"{statistic.label} on {entry.test_set.name} {what}"
            for entry in entries
            for statistic in entry.statistics
            if statistic.around in (MACRO, WEIGHTED) and (what := _averaged_over(statistic, entry))
        )
    )


def _averaged_over(statistic: Statistic, entry: p.Entry) -> str:
    plain = statistic.label[len(statistic.around) + 1 : -1]
    if entry.kind.of_lists:
        return f"is the mean over {plural(entry.units.noun)}, as {plain} is"
    if entry.units.groups is not None:
        attribute = entry.units.groups.attribute
        return f"is mean({plain} by document.{attribute}), the mean over {plural(entry.units.noun)}"
    if not statistic.by_unit:
        return "is over two classes, relevant and nonrelevant"
    if statistic.over_units is not None and statistic.over_units.without:
        return "leaves out rows that are about whole documents, since these are in no unit"
    return ""


def undefined_units(statistic: Statistic, where: str, counts: Mapping[str, int]) -> Iterator[str]:
    """The note on how many units count 0 for each system because they have no value; none where all have one."""
    found = {system: number for system, number in counts.items() if number}
    if found:
        counted = Names((*found,), (*found.values(),))
        yield Note(Subject(where, statistic.label), "units without a value count as 0: ", counted)


def measure_notes(entries: Sequence[p.Entry]) -> tuple[str, ...]:
    """Notes about measures that do not depend on their values."""
    of_averages = (*means(entries), *over_topics(entries), *averages_over(entries))
    return (*directions(entries), *of_averages, *ungrouped_notes(entries), *attempts(entries))


def ungrouped_notes(entries: Iterable[p.Entry]) -> tuple[str, ...]:
    """How many documents are left out of means by an attribute."""
    return tuple(
        Note(
            Subject(entry.test_set.name),
            "left out ",
            count(groups.without, "document", "documents"),
            f" without document.{groups.attribute}",
        )
        for entry in entries
        if (groups := entry.units.groups) is not None and groups.without
    )


def signature(text: str, entries: Sequence[p.Entry], *settings: str) -> str:
    """Statement, task, whatever else decides the numbers, a fingerprint of the data, and the version."""
    tasks = ", ".join(dict.fromkeys(entry.kind.name for entry in entries))
    data = "+".join(entry.fingerprint for entry in entries)
    defined = {
        f"{statistic.measure.name} = {statistic.measure.meaning}"
        for entry in entries
        for statistic in entry.statistics
        if statistic.measure.defined
    }
    statistics = [statistic for entry in entries for statistic in entry.statistics]
    ways = (f"{statistic.label} {statistic.counted}" for statistic in statistics if statistic.counted)
    said = [f"task {tasks}", *sorted(defined), *dict.fromkeys(ways), *directions(entries), *settings, f"data {data}"]
    return " | ".join([text, *said, f"evalhouse {__version__}"])
