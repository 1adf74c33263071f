"""Decides what may be stored: whether cells are valid, whether the counts of a row agree, and whether a fact
contradicts another one in the file or in the warehouse.

Each check is one query over all rows. Single rows are read only if a check fails, to say what is wrong on which line.
All checks run before the load is refused. Nothing here stores anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec import field as struct_field

from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import COUNT, SYSTEM, UNIT, VALUES, Field, Limit
from evalhouse.warehouse.loading.facts import attribute_columns, given_fields
from evalhouse.warehouse.loading.staging.cells import CHECKS, check_of, complaint, quote_cell
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Staged, Staging
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

TOLD_APART = (
    "--set 'system={stem}' names each system after its file; to load one of two files with the same results, "
    "forget the import of the other first"
)
"""The hint for a file that contradicts what is stored about a system."""

ALL_STORED = "every row is stored already; nothing was added"
ALL_REPEATED = "every row repeats a row of another file of the load; nothing was added"
NOTHING_ADDED = (ALL_STORED, ALL_REPEATED)
"""The notes on a form of which no row is new."""


class FilePart(Struct):
    """The staged rows of one form. `wrong` holds the first errors of each kind with their rows, and `total` counts all
    errors. Imports with a greater number than `before` are of the same load.
    """

    staging: Staging
    staged: Staged
    before: int = 0
    wrong: list[tuple[int, Fault]] = struct_field(default_factory=list)
    total: int = 0
    otherwise_stored: bool = False
    """Whether the warehouse stores something different about a system that the file itself names."""

    def complain(self, complaints: list[tuple[int, str]], total: int) -> None:
        """Adds the first errors of one kind, and how many errors of this kind there are."""
        faults = self.staged.faults(self.staging, complaints)
        self.wrong += zip((row for row, _ in complaints), faults, strict=True)
        self.total += total

    @property
    def faults(self) -> list[Fault]:
        """The errors, in the order of the rows."""
        return [fault for _, fault in sorted(self.wrong, key=lambda pair: pair[0])]


def refusal(parts: Sequence[FilePart], more: DataError | None = None) -> DataError | None:
    """One error for everything that is wrong with the parts of a file, in the order of its lines and after the errors
    in `more`; None if nothing is wrong.
    """
    faults = [fault for part in parts for fault in part.faults]
    sources = list(dict.fromkeys(fault.source for fault in faults))
    faults.sort(key=lambda fault: (sources.index(fault.source), fault.line or 0))
    if more:
        faults = [*more.faults, *faults]
    total = sum(part.total for part in parts) + (more.total if more else 0)
    hints = (TOLD_APART,) if any(part.otherwise_stored for part in parts) else ()
    return DataError(tuple(faults[:MOST_FAULTS]), total, hints) if faults else None


def has_rows(part: FilePart) -> bool:
    """Whether anything was staged. A form of texts may have no rows, for example if its column is empty."""
    return bool(part.staging.database.rows(Sql(f"select 1 from {part.staging.table} limit 1")))


def check_cells(part: FilePart) -> tuple[str, ...]:
    """Checks every staged cell, except names that get a number, and returns notes. Raises DataError if a setting is
    wrong or there are no rows.
    """
    staging, staged = part.staging, part.staged
    verdicts = _verdicts(staging, staged)
    for field in verdicts.keys() & _numbered_fields(staging).keys():
        verdicts[field] = name(field.name) + (" is not null" if field.required else " is null or true")
    good = join(" and ", ("(" + good + ")" for good in verdicts.values()))
    filled = [f"count(attribute_{number})" for number in range(len(staged.attributes))]
    columns = "count(*), count_if(blanks), count_if(not (" + good + ")), " + (" + ".join(filled) or "null")
    [(rows, blanks, wrong, attributes)] = staging.database.rows("select " + columns + f" from {staging.table}")
    if not rows:
        raise staging.refusal("there is a header, but no rows")
    if wrong:
        _complain_of_cells(part)
    elif attributes == 0:
        raise staging.refusal("no row has a value for an attribute")
    return (f"blanks around names were removed in {quantity(blanks, 'row')}",) if blanks else ()


def leave_only_good(part: FilePart) -> bool:
    """Drops the rows that have an invalid cell, so that the other rows can be checked before the load is refused.

    Returns whether any fact is left. Call it in a transaction, where rows keep their row ids.
    """
    staging, staged = part.staging, part.staged
    good = join(" and ", ("(" + good + ")" for good in _verdicts(staging, staged).values()))
    staging.database.narrow(staging.table, good)
    filled = f" where coalesce({', '.join(attribute_columns(staged))}) is not null" if staged.attributes else ""
    return bool(staging.database.rows(Sql(f"select 1 from {staging.table}{filled} limit 1")))


def last_numbers(staging: Staging) -> dict[str, int]:
    """The number that was last given to a name, by table."""
    tables = _numbered_fields(staging).values()
    if not tables:
        return {}
    [last] = staging.database.rows("select " + join(", ", (f"(select coalesce(max(id), 0) from {t})" for t in tables)))
    return dict(zip(tables, last, strict=True))


def check_new_names(part: FilePart, known: Mapping[str, int]) -> None:
    """Checks the names that got a number after `last_numbers`, each name once however often the file has it. If one is
    invalid, reports all invalid cells and drops their rows as `leave_only_good` does.
    """
    good = CHECKS["name"].passed_by(Sql("name"))
    now = last_numbers(part.staging)
    for table, last in known.items():
        if now[table] == last:
            continue
        if part.staging.database.rows(f"select 1 from {table} where id > {last} and not (" + good + ") limit 1"):
            _complain_of_cells(part)
            leave_only_good(part)
            return


def _numbered_fields(staging: Staging) -> dict[Field, str]:
    """The fields of a form that hold numbered names, and the tables of these names. If columns are attributes, a row
    without any attribute is not a fact, and its names get no numbers.
    """
    return {} if staging.form.attributes else {field: field.name for field in staging.form.key if field.numbered}


class Compared(Struct, frozen=True):
    """How many facts a form has, how many are new, and how many only repeat other facts of the same load; and notes."""

    read: int
    new: int
    repeated: int
    notes: tuple[str, ...]


def leave_only_new(part: FilePart) -> Compared:
    """Drops facts that are repeated in the file or in the load, or stored already.

    Reports facts whose counts do not agree, and facts that have the same key but different content.
    """
    database, form = part.staging.database, part.staging.form
    key = join(", ", map(name, form.key_columns))
    firsts = "(select " + key + ", min(place) as place from fact group by all having count(*) > 1)"
    stored = name(form.table)
    broken = join(" or ", [*map(_exceeds, form.limits), Sql("false")])
    # These queries run one after the other: in one query they would share the memory limit of a load.
    [(read, breaking)] = database.rows("select count(*), count_if(" + broken + ") from fact")
    # Facts are sorted by their key, so equal keys are neighbours. Grouping would take memory for every key.
    alike = join(" and ", (name(column) + " = lag(" + name(column) + ") over ()" for column in form.key_columns))
    [(repeated,)] = database.rows("select count_if(alike) from (select " + alike + " as alike from fact)")
    [(known,)] = database.rows("select count(*) from fact semi join " + stored + " using (" + key + ")")
    if breaking:
        _complain_of_counts(part)
    if UNIT in form.key:
        _complain_of_mixed_units(part)
    if COUNT in form.key:
        _complain_of_names_of_counts(part)
        _complain_of_named_counts(part)
    same = " and ".join(f"a.{column} = b.{column}" for column in form.key_columns)
    notes = []
    dropped = in_load = 0
    if repeated:
        both = "fact as a join " + firsts + " as first using (" + key + ") join fact as b on b.place = first.place and "
        _complain_of_contradictions(part, both + same + " where a.place <> b.place", "b.place")
        doubles = "delete from fact as a using " + firsts + " as b where a.place > b.place and " + same
        [(dropped,)] = database.rows(doubles)
        in_load = dropped
        notes.append("1 row repeats an earlier one" if dropped == 1 else f"{dropped} rows repeat earlier ones")
    if known:
        pairs = "fact as a join " + stored + " as b on " + same + " where true"
        _complain_of_contradictions(part, pairs, "b.import_id")
        of_load = "select count(*) from fact as a join " + stored + " as b on " + same + " where b.import_id > "
        [(in_files,)] = database.rows(of_load + value(part.before))
        [(again,)] = database.rows("delete from fact as a using " + stored + " as b where " + same)
        dropped += again
        in_load += in_files
        notes += _notes_on_known(again - in_files, in_files, everything=dropped == read)
    if form.places:
        _complain_of_places(part)
    return Compared(read, read - dropped, in_load, tuple(notes))


def _notes_on_known(stored: int, in_files: int, *, everything: bool) -> list[str]:
    """The notes on facts that were stored before the load, and on those that other files of the load have brought.
    `everything` says that no fact is new.
    """
    if everything:
        return [ALL_STORED if stored else ALL_REPEATED]
    known = {"stored already": stored, "repeated from other files of the load": in_files}
    return [f"{what}: {quantity(many, 'row')}" for what, many in known.items() if many]


def complain_of_shares(part: FilePart, shares: Collection[str]) -> None:
    """Reports values beyond 0 and 1 of measures that are declared to be shares."""
    if part.staging.form is not VALUES or not shares:
        return
    database = part.staging.database
    beyond = " from fact where measure in " + values(shares) + " and value not between 0 and 1"
    [(total,)] = database.rows("select count(*)" + beyond)
    if total:
        first = database.rows("select place, value" + beyond + f" order by place limit {MOST_FAULTS}")
        subjects = _subjects(part, [place for place, _ in first])
        said = "is declared to be a share, which is between 0 and 1"
        part.complain([(place, f"{subjects[place]} is {number:g}, but it {said}") for place, number in first], total)


def _verdicts(staging: Staging, staged: Staged) -> dict[Field, Sql]:
    """For each staged column, a condition that holds if its cell is valid."""
    attributes = (Field(f"attribute_{number}", "name", required=False) for number in range(len(staged.attributes)))
    verdicts = {}
    for field in (*given_fields(staging, staged), *attributes):
        column = staged.text(field)
        filled = " is not null and " if field.required else " is null or "
        kind = check_of(field.kind, field.name in staged.numbers)
        verdicts[field] = column + filled + kind.passed_by(column)
    return verdicts


def _complain_of_cells(part: FilePart) -> None:
    """Reports the first 20 invalid cells. Raises DataError if a setting is invalid."""
    staging, staged = part.staging, part.staged
    verdicts = _verdicts(staging, staged)
    settings = {field: verdict for field, verdict in verdicts.items() if field.name in staging.fields}
    if settings:
        [passed] = staging.database.rows("select " + join(", ", settings.values()) + f" from {staging.table} limit 1")
        wrong = tuple(
            staging.fault(complaint(field.kind, f"the value set for {field.name}", staging.fields[field.name] or None))
            for field, is_good in zip(settings, passed, strict=True)
            if not is_good
        )
        if wrong:
            raise DataError(wrong)
    bad = join(" or ", ("not (" + verdict + ")" for verdict in verdicts.values()))
    total = join(" + ", ("count_if(not (" + verdict + "))" for verdict in verdicts.values()))
    cells = join(", ", (staged.text(field) + "::varchar, (" + verdict + ")" for field, verdict in verdicts.items()))
    [(faults,)] = staging.database.rows("select " + total + f" from {staging.table}")
    rows = "select rowid, " + cells + f" from {staging.table} where "
    first_rows = rows + bad + f" order by rowid limit {MOST_FAULTS}"
    called = {f"attribute_{number}": column for number, column in enumerate(staged.attributes)} | dict(staged.columns)
    complaints = [
        (row, complaint(field.kind, called.get(field.name, field.name), cell))
        for row, *cells in staging.database.rows(first_rows)
        for field, cell, passed in zip(verdicts, cells[::2], cells[1::2], strict=True)
        if not passed
    ]
    part.complain(complaints[:MOST_FAULTS], faults)


def _exceeds(limit: Limit) -> Sql:
    """A condition on `fact` that holds if the counts exceed a limit."""
    parts = [f"coalesce({part}, 0)::bigint" for part in limit.parts]
    return Sql(f"{' + '.join(parts)} > {limit.whole}")


def _excess(limit: Limit, counts: Mapping[str, int | None]) -> str:
    """The error message for counts that exceed a limit."""
    known = {part: count for part in limit.parts if (count := counts[part]) is not None}
    return f"{' + '.join(known)} is {sum(known.values())}, more than {limit.whole}, which is {counts[limit.whole]}"


def _complain_of_counts(part: FilePart) -> None:
    """Reports the first 20 counts that exceed a limit."""
    staging = part.staging
    limits, content = staging.form.limits, staging.form.content_columns
    broken = [_exceeds(limit) for limit in limits]
    total = join(" + ", ("count_if(" + condition + ")" for condition in broken))
    [(breaches,)] = staging.database.rows("select " + total + " from fact")
    rows = "select place, " + join(", ", [*broken, *map(name, content)]) + " from fact where "
    first_rows = rows + join(" or ", broken) + f" order by place limit {MOST_FAULTS}"
    complaints = [
        (place, _excess(limit, dict(zip(content, cells[len(limits) :], strict=True))))
        for place, *cells in staging.database.rows(first_rows)
        for limit, is_broken in zip(limits, cells, strict=False)
        if is_broken
    ]
    part.complain(complaints[:MOST_FAULTS], breaches)


def _complain_of_mixed_units(part: FilePart) -> None:
    """Reports systems that would have scores both for a whole document and for units of it."""
    database = part.staging.database
    if not database.rows(Sql("select 1 from unit where id <> 0 limit 1")):
        return
    stored = (
        f"from {part.staging.form.table} where system_id in (select distinct system_id from fact) "
        "and document_id between (select min(document_id) from fact) and (select max(document_id) from fact)"
    )
    # Facts are sorted by their key. Grouping takes memory for every document, so it is done only if neighbours are
    # mixed, or if stored facts could be mixed with the new ones.
    suspicious = Sql(
        "(select 1 from (select system_id = lag(system_id) over () and document_id = lag(document_id) over () "
        "and (unit_id = 0) <> (lag(unit_id) over () = 0) as mixed from fact) where mixed limit 1) "
        f"union all (select 1 {stored} limit 1)"
    )
    if not database.rows(suspicious):
        return
    mixed = Sql(
        " from fact semi join (select system_id, document_id from "
        "(select system_id, document_id, unit_id from fact union all "
        f"select system_id, document_id, unit_id {stored}) "
        "group by all having bool_or(unit_id = 0) and bool_or(unit_id <> 0)) using (system_id, document_id)"
    )
    [(total,)] = database.rows("select count(*)" + mixed)
    if total:
        first_rows = database.rows("select place" + mixed + f" order by place limit {MOST_FAULTS}")
        places = [place for (place,) in first_rows]
        subjects = _subjects(part, places)
        sentence = "the document is scored both as a whole and by unit, which would count it twice"
        part.complain([(place, f"{subjects[place]}: {sentence}") for place in places], total)


RESERVED = ("system", "document", "unit", "cluster", "test_set_id", "system_id", "document_id", "unit_id")
"""Names that a count cannot have, because columns beside the counts have them."""


def _complain_of_names_of_counts(part: FilePart) -> None:
    """Reports names of counts that differ only in case within a test set, and names that are reserved."""
    database = part.staging.database
    taken = database.rows(
        "select min(place), count, count(*) from fact where lower(count) in " + values(RESERVED) + " group by count"
    )
    part.complain([(place, f"no count is called {count}") for place, count, _ in taken], sum(row[2] for row in taken))
    first = database.rows(
        Sql(
            "select min(place), a.count, min(b.count) from fact a join "
            "(select distinct test_set_id, count from fact union select distinct test_set_id, count from counted) b "
            "on b.test_set_id = a.test_set_id and lower(b.count) = lower(a.count) and b.count <> a.count "
            "group by a.count order by 1"
        )
    )
    said = "{} and {} are two counts whose names differ only in case"
    part.complain(
        [(place, said.format(quote_cell(other), quote_cell(count))) for place, count, other in first], len(first)
    )


def _complain_of_named_counts(part: FilePart) -> None:
    """Reports counts that exceed a limit, where the limit may be in another row or stored already."""
    for limit in part.staging.form.named_limits:
        _complain_of_named_count(part, limit)


def _complain_of_named_count(part: FilePart, limit: Limit) -> None:
    keys = [column for column in part.staging.form.key_columns if column != COUNT.name]
    known = "(select *, place as at from fact union all by name select * exclude (import_id), null as at from counted)"
    same = " and ".join(f"a.{column} = b.{column}" for column in keys)
    [of] = limit.parts
    rows = (
        f" from {known} a join {known} b on {same} where a.number > b.number and coalesce(a.at, b.at) is not null "
        "and lower(a.count) = " + value(of) + " and lower(b.count) = " + value(limit.whole)
    )
    database = part.staging.database
    [(total,)] = database.rows("select count(*)" + rows)
    if total:
        first = database.rows(
            "select coalesce(a.at, b.at), a.number, b.number" + rows + f" order by 1 limit {MOST_FAULTS}"
        )
        subjects = _subjects(part, [place for place, *_ in first])
        said = f"{of} is {{}}, more than {limit.whole}, which is {{}}"
        part.complain([(place, f"{subjects[place]}: {said.format(*numbers)}") for place, *numbers in first], total)


def _complain_of_places(part: FilePart) -> None:
    """Reports ordered facts whose places, together with the stored facts of the same order, are not 1, 2, 3 and so on
    without a gap.
    """
    form, database = part.staging.form, part.staging.database
    order = ", ".join(form.key_columns[:-1])
    stored = f"select {order}, {form.places}, null as place from {form.table} semi join fact using ({order})"
    counted_by_reader = form.places in part.staged.numbers
    if counted_by_reader and not database.rows(Sql(f"select 1 from ({stored}) limit 1")):
        return
    both = f"select {order}, {form.places}, place from fact union all {stored}"
    placed = f"count(*) = max({form.places}) and count(distinct {form.places}) = count(*)"
    wrong = Sql(f" from ({both}) group by {order} having not ({placed})")
    [(total,)] = database.rows("select count(*) from (select 1" + wrong + ")")
    if total:
        rows = database.rows("select min(place), count(*)" + wrong + f" order by 1 limit {MOST_FAULTS}")
        subjects = _subjects(part, [place for place, _ in rows], of_order=True)
        sentence = "the {0}s of {1} are not 1 to {2:,}"
        part.complain([(place, sentence.format(form.places, subjects[place], many)) for place, many in rows], total)


def _complain_of_contradictions(part: FilePart, pairs: Sql, origin: str) -> None:
    """Reports pairs of facts with the same key in which the later one, `a`, differs in content from the earlier one,
    `b`.

    `origin` is the column that says where b comes from: b.place in the file, or b.import_id in the warehouse.
    """
    staging, staged = part.staging, part.staged
    content = staging.form.content_columns
    differing = pairs + " and (" + " or ".join(f"a.{column} is distinct from b.{column}" for column in content) + ")"
    [(total,)] = staging.database.rows("select count(*) from " + differing)
    if not total:
        return
    attribute = "a.name" if staging.form.attributes else "null"
    cells = ", ".join(f"a.{column}, b.{column}" for column in content)
    pairs_of_facts = f"select a.place, {origin}, {attribute}, {cells} from " + differing
    first_pairs = staging.database.rows(pairs_of_facts + f" order by a.place limit {MOST_FAULTS}")
    subjects = _subjects(part, [row[0] for row in first_pairs])
    in_file = origin == "b.place"
    lines = staged.lines({row[1] for row in first_pairs}) if staged.lines and in_file else {}
    complaints = []
    for place, earlier, attribute_name, *both in first_pairs:
        names = (quote_cell(attribute_name),) if attribute_name else content
        differing_cells = [cells for cells in zip(names, both[::2], both[1::2], strict=True) if cells[1] != cells[2]]
        here = ", ".join(f"{called} {_content_text(now)}" for called, now, _ in differing_cells)
        there = ", ".join(f"{called} {_content_text(then)}" for called, _, then in differing_cells)
        spot = f"line {lines[earlier]}" if earlier in lines else f"row {earlier + 1}"
        but = f"on {spot} it has {there}" if in_file else f"is stored with {there} (import {earlier})"
        complaints.append((place, f"{subjects[place]} has {here}, but {but}"))
    part.complain(complaints, total)
    named = SYSTEM in staging.form.key and SYSTEM.name not in staging.fields
    part.otherwise_stored = part.otherwise_stored or (named and not in_file)


def _subjects(part: FilePart, places: list[int], of_order: bool = False) -> dict[int, str]:
    """What rows are about, for messages: their key as the file has it, or the key of the order that they are in."""
    staging = part.staging
    key = staging.form.key[:-1] if of_order else staging.form.key
    keys = join(", ", (part.staged.text(field) for field in given_fields(staging, part.staged) if field in key))
    rows = "select rowid, " + keys + f" from {staging.table} where rowid in "
    keyed = staging.database.rows(rows + values(places))
    return {row: ", ".join(quote_cell(text)[1:-1] for text in texts if text is not None) for row, *texts in keyed}


def _content_text(content: object) -> str:
    if content is None:
        return "unknown"
    if isinstance(content, bool):
        return "yes" if content else "no"
    if isinstance(content, Decimal):
        return f"{content:f}".rstrip("0").rstrip(".")
    return quote_cell(content)[1:-1] if isinstance(content, str) else str(content)
