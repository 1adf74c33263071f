"""The command `load`: loads files, folders and archives into a warehouse, all or nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalhouse.warehouse.commands import DONE, MISUSED
from evalhouse.warehouse.commands.answering import DEFAULT_FILE, pairs, path_of, show
from evalhouse.warehouse.commands.streams import note, progress, say
from evalhouse.warehouse.process.stopping import interruptibly

if TYPE_CHECKING:
    import argparse

    from evalhouse.warehouse.loading.account import Account
    from evalhouse.warehouse.loading.ingest import CarriedOut, Loaded, LoadedPart
    from evalhouse.warehouse.loading.planning import LoadPlan, LoadRequest
    from evalhouse.warehouse.results import Result
    from evalhouse.warehouse.store.database import Database


# === what load prints =================================================================================================
# What each file is and why, what was stored from it, and what happened to all files together.

FEW = 8
"""Up to this many files are reported one by one."""

_HOW_MANY = re.compile(r"^((?:topics|retrieved documents) [^:]*: )([0-9]+)(?=;|$)")
"""Where a note on a run says how many there are: topics without output: 2; …"""


def say_recognized(args: argparse.Namespace, request: LoadRequest, plan: LoadPlan) -> None:
    """Prints which reader was found for each file and why, unless a reader was named. A dry run shows this in its
    table.
    """
    from evalhouse.warehouse.loading.planning import AUTO

    if request.reader == AUTO and len(plan.files) <= FEW and not args.dry_run:
        for file in plan.files:
            note(args, f"{file.found.called}: detected as {file.reader.name} ({file.why})")


def say_stored(args: argparse.Namespace, loaded: Loaded, *, dry_run: bool = False) -> None:
    """Prints what was stored from a file."""
    from evalhouse.warehouse.loading.checks import NOTHING_ADDED

    new, read = _amount(loaded.rows_new, loaded.texts_new), _amount(loaded.rows_read, loaded.texts_read)
    if not loaded.parts:
        note(args, f"{loaded.source}: nothing of its own to store")
    elif loaded.rows_new == loaded.texts_new == 0:
        declared = f"the declaration is stored as import {loaded.import_id}"
        changed = "nothing changed" if loaded.import_id is None else declared
        note(args, f"{loaded.source}: {_all_known([loaded])}; {changed}")
    elif dry_run and loaded.texts_read:
        note(args, f"{loaded.source}: {new} would be stored, of {read}; this was a dry run")
    elif dry_run:
        some = f"{loaded.rows_new:,} of {loaded.rows_read:,} rows"
        note(args, f"{loaded.source}: {some} would be stored; this was a dry run")
    else:
        note(args, f"{loaded.source}: {new} stored as import {loaded.import_id}{_nothing_new([loaded])}")
    if len(loaded.parts) > 1:
        note(args, "; ".join(f"{part.form.name}: {part.rows_new:,} of {part.rows_read:,}" for part in loaded.parts))
    for text in loaded.notes:
        if text not in NOTHING_ADDED:  # which was just said
            note(args, text)


def _known(loaded: Sequence[Loaded]) -> tuple[int, int]:
    """How many rows and texts were stored before the load, and how many repeat others of the load."""
    repeated = sum(one.rows_repeated + one.texts_repeated for one in loaded)
    known = sum(one.rows_read + one.texts_read - one.rows_new - one.texts_new for one in loaded)
    return known - repeated, repeated


def _nothing_new(loaded: Sequence[Loaded]) -> str:
    """The text about rows that an earlier load has stored, and about rows that repeat others of this load."""
    stored, repeated = _known(loaded)
    said = f"; {stored:,} more {'is' if stored == 1 else 'are'} already stored" if stored else ""
    return said + (
        f"; {repeated:,} more {'repeats' if repeated == 1 else 'repeat'} others of this load" if repeated else ""
    )


def _all_known(loaded: Sequence[Loaded]) -> str:
    """The text about a load that has nothing new."""
    read = _amount(sum(one.rows_read for one in loaded), sum(one.texts_read for one in loaded))
    stored, _ = _known(loaded)
    return f"all {read} are there already" if stored else f"all {read} repeat others of this load"


def _amount(rows: int, texts: int) -> str:
    """An amount in words: 12 rows and 24 texts."""
    from evalhouse.warehouse.kinds.kind import quantity

    return quantity(rows, "row") + (f" and {quantity(texts, 'text')}" if texts else "")


def say_together(args: argparse.Namespace, plan: LoadPlan, done: CarriedOut, *, ask: str = "") -> None:
    """Prints what happened to all files: each loaded file if there are few, what was left out, and in the last line how
    many files became how many systems, what became of the others, and what to ask.
    """
    from evalhouse.warehouse.loading.account import account_of

    loaded = [loaded for _, loaded in done.loaded]
    if not args.in_place and len(loaded) <= FEW:
        for one in loaded:
            say_stored(args, one, dry_run=args.dry_run)
    elif not args.in_place:
        say_notes(args, loaded)
    say_of_all(args, done)
    account = account_of(plan, done)
    if account.files > 1:
        _say_sum(args, account, loaded, ask)
    elif ask:
        note(args, ask)


def say_of_all(args: argparse.Namespace, done: CarriedOut) -> None:
    """Prints the notes on all files together, and what was left out of each bad file."""
    for text in done.notes:
        note(args, text)
    if args.texts and not any(loaded.texts_read for _, loaded in done.loaded):
        note(args, "no file has texts that its reader can store")
    for fault in (fault for error in done.bad for fault in error.faults[:1]):
        note(args, f"left out: {fault}")


def say_notes(args: argparse.Namespace, loaded: Sequence[Loaded]) -> None:
    """Prints the notes on many files, each one once, and first those on figures that files state. If notes differ
    only in a number, prints one note with the range of the numbers.
    """
    sources: dict[str, list[tuple[str, str]]] = {}
    disagreeing = [(one.source, text) for one in loaded for text in one.disagreeing]
    others = [(one.source, text) for one in loaded for text in one.notes if text not in one.disagreeing]
    for source, text in (*disagreeing, *others):
        sources.setdefault(_HOW_MANY.sub(r"\1", text), []).append((source, text))
    for said in list(sources.values())[:FEW]:
        source, text = said[0]
        counts = sorted({int(found[2]) for _, text in said if (found := _HOW_MANY.search(text))})
        if len(counts) > 1:
            text = _HOW_MANY.sub(rf"\g<1>{counts[0]} to {counts[-1]}", text)
        files = len({source for source, _ in said})
        note(args, f"{source if files == 1 else f'{files:,} files'}: {text}")
    if len(sources) > FEW:
        note(args, f"{len(sources) - FEW} more notes, which loads of fewer files show")


def _say_sum(args: argparse.Namespace, account: Account, loaded: Sequence[Loaded], ask: str) -> None:
    new = sum(one.rows_new for one in loaded), sum(one.texts_new for one in loaded)
    imports = sorted(one.import_id for one in loaded if one.import_id is not None)
    rest = "".join(f"; {one}" for one in (account.rest, ask) if one)
    if not any(new):
        note(args, f"{account.became}; {_all_known(loaded)}{rest}")
    elif args.dry_run:
        note(args, f"{account.became}; {_amount(*new)} would be stored{_nothing_new(loaded)}; this was a dry run{rest}")
    else:
        span = f"import {imports[0]}" if len(imports) == 1 else f"imports {imports[0]} to {imports[-1]}"
        note(args, f"{account.became}; {_amount(*new)} stored as {span}{_nothing_new(loaded)}{rest}")


def show_files(args: argparse.Namespace, plan: LoadPlan, done: CarriedOut) -> None:
    """Prints a table of the files in the order of loading: what each file is and why, and what it adds. Data formats
    also have what its columns were taken for, which the notes beside a printed table say, and what became of the files
    that are not loaded by themselves. Of a single file, a dry run prints the first rows, too.
    """
    from evalhouse.warehouse.loading.account import account_of
    from evalhouse.warehouse.loading.planning import some
    from evalhouse.warehouse.loading.readers.table import TAKEN_FOR
    from evalhouse.warehouse.results import Column, Result, TableRows
    from evalhouse.warehouse.session.storage import outcomes

    names = ("file", "reader", "why", "kind", "systems", "test_sets")
    counts = ("rows", "new", *(("texts",) if args.texts else ()))
    numbers = (Column(name, "count") for name in counts)
    columns = (*(Column(name, "name") for name in names), *numbers, Column("columns", "name", on_screen=False))
    rows = TableRows.of(columns)
    for file, loaded in done.loaded:
        rows.add(
            file=file.found.called,
            reader=file.reader.name,
            why=file.why,
            kind=", ".join(part.form.name for part in loaded.parts) or None,
            systems=some(loaded.systems) or None,
            test_sets=some(loaded.test_sets) or None,
            rows=loaded.rows_read,
            new=loaded.rows_new,
            **({"texts": loaded.texts_new} if args.texts else {}),
            columns="; ".join(text for text in loaded.notes if text.startswith(TAKEN_FOR)) or None,
        )
    nothing = dict.fromkeys(("kind", "systems", "test_sets", "columns")) | dict.fromkeys(counts)
    for file in plan.parts:
        rows.add(file=file.found.called, reader=file.reader.name, why=file.why, **nothing)
    caption = "what would be loaded, in this order" if args.dry_run else "what was loaded, in this order"
    show(args, Result("load", caption, "", rows.table(columns), outcomes(account_of(plan, done))))
    if args.dry_run and len(done.loaded) == 1:
        for _, loaded in done.loaded:
            for part in loaded.parts:
                show(args, _first_rows(loaded, part))


def _first_rows(loaded: Loaded, part: LoadedPart) -> Result:
    """The first rows of a form, as a result to print."""
    from evalhouse.warehouse.results import Column, Result, Table

    columns = tuple(Column(name, "name") for name in part.columns)
    form = part.form.name
    return Result(f"load {form}", f"first {form} of {loaded.source}", "", Table(columns, part.first))


# === the command load =================================================================================================


def load_files(args: argparse.Namespace) -> int:
    """Loads files, or with --dry-run shows what would be stored."""
    from evalhouse.warehouse.loading.ingest import silent
    from evalhouse.warehouse.loading.planning import option_files, plan
    from evalhouse.warehouse.process.publishing import temporary
    from evalhouse.warehouse.session.storage import is_lake, load_planned
    from evalhouse.warehouse.store.connecting import in_memory

    if args.said["sample"]:
        say("error: the sample data cannot be changed\n  evalhouse init FILE --sample makes a warehouse of them")
        return MISUSED
    path = path_of(args) or DEFAULT_FILE
    is_new = not args.said["db"] and path == DEFAULT_FILE and not path.exists()
    if args.in_place and is_lake(path):
        note(args, "--in-place changes nothing for a lake: a load only adds files to it")
        args.in_place = False
    request = request_of(args)
    with temporary() as scratch:
        with in_memory() as store:
            planned = interruptibly(partial(plan, request, store, scratch), store.interrupt)
        say_recognized(args, request, planned)
        files = [*(file.found.path for file in planned.files), *option_files(request)]
        with progress(args, "loading") as advance:

            def loading(database: Database) -> CarriedOut:
                tell = partial(say_stored, args) if args.in_place else silent
                work = partial(load_planned, database, request, planned, advance=advance or silent, tell=tell)
                return interruptibly(work, database.interrupt)

            done = _change_warehouse(path, loading, files, args, is_new=is_new)
    if args.dry_run or args.said["format"]:
        show_files(args, planned, done)
    if is_new and not args.dry_run:
        note(args, f"{path} is a new warehouse")
    say_together(args, planned, done, ask="" if args.dry_run else _what_to_ask(args, path, done))
    return DONE


def _what_to_ask(args: argparse.Namespace, path: Path, done: CarriedOut) -> str:
    """A command that asks about the test sets of a load; empty if nothing can be asked, or nobody reads it."""
    from evalhouse.warehouse.faults import WarehouseError
    from evalhouse.warehouse.session.first_questions import first_tables
    from evalhouse.warehouse.session.session import Session

    if args.quiet:
        return ""
    try:
        with Session.open(path) as session:
            tables = first_tables(session.catalog, {name for _, loaded in done.loaded for name in loaded.test_sets})
    except WarehouseError:
        return ""  # the load is stored, whatever became of the warehouse since
    named = f" --db {shlex.quote(args.db)}" if args.said["db"] else ""
    return f"ask now: evalhouse query {shlex.quote(tables[0].statement)}{named}" if tables else ""


def request_of(args: argparse.Namespace) -> LoadRequest:
    """The load that the line asks for. A template with an unknown part is an error on the command line."""
    from evalhouse.warehouse.loading.planning import LoadRequest
    from evalhouse.warehouse.loading.staging.door import EVERYWHERE, Door
    from evalhouse.warehouse.loading.staging.reader import filled

    of_readers = {key: text for key, text in vars(args).items() if key.startswith("reader_") and text is not None}
    fields = pairs(args.set, "--set FIELD=VALUE")
    for field, text in fields.items():
        try:
            filled({field: text}, Path())
        except ValueError as error:
            say(f"error: --set {field}={text}: {error}")
            raise SystemExit(MISUSED) from None
    return LoadRequest(
        args.files,
        args.reader,
        fields=fields,
        columns=pairs(args.map, "--map FIELD=COLUMN"),
        options={key.removeprefix("reader_"): text for key, text in of_readers.items()},
        lower_is_better=_directions(args),
        shares=tuple(_measures_in(args.share, "--share")),
        simulated=args.simulated,
        skip_bad=args.skip_bad,
        strict=args.strict,
        expect_all=args.expect_all,
        same_documents=args.same_documents,
        texts=args.texts,
        door=EVERYWHERE if args.max_unpacked is None else Door(unpacked=args.max_unpacked),
    )


def _directions(args: argparse.Namespace) -> dict[str, bool]:
    """For each measure whose direction the line declares, whether lower values are better. A contradiction is an error
    on the command line.
    """
    directions: dict[str, bool] = {}
    both = "--lower-is-better and --higher-is-better"
    for lower, words in ((True, args.lower_is_better), (False, args.higher_is_better)):
        for measure in _measures_in(words, both):
            if directions.get(measure, lower) is not lower:
                say(f"error: {both}: {measure} is in both")
                raise SystemExit(MISUSED)
            directions[measure] = lower
    return directions


def _measures_in(words: Iterable[str], option: str) -> Iterator[str]:
    """The measures in the words of an option, which are lists with commas."""
    for measure in (part.strip() for word in words for part in word.split(",")):
        if not measure:
            say(f"error: {option}: names no measure")
            raise SystemExit(MISUSED)
        yield measure


def _change_warehouse(
    path: Path,
    loading: Callable[[Database], CarriedOut],
    files: Sequence[Path],
    args: argparse.Namespace,
    *,
    is_new: bool,
) -> CarriedOut:
    """Loads into the warehouse that the line names, or into a new one. A dry run really loads the files, because files
    may depend on each other, as runs depend on qrels, but nothing of it is kept.
    """
    from evalhouse.warehouse.session.storage import change_warehouse, is_lake
    from evalhouse.warehouse.store.connecting import in_memory
    from evalhouse.warehouse.store.replacement import making

    if args.dry_run and not path.exists() and not is_lake(path):
        with in_memory() as database:
            return loading(database)
    if is_new:
        with making(path, wait=args.wait, tell=partial(note, args)) as database:
            return loading(database)
    done, moved = change_warehouse(
        path,
        "load",
        loading,
        files,
        keep=not args.dry_run,
        without_copy=args.in_place,
        wait=args.wait,
        tell=partial(note, args),
    )
    return done.moved(moved)
