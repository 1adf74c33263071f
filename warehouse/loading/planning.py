"""Plans a load: which reader takes each file and why, in which order, and which files are keys of which others.

Nothing is loaded here, and only the start of each file is read. If a file could be several things, the error names
them and the option that decides. What a load declares about measures and documents is not a fact: it is stored beside
the facts with its import, and removed when that import is forgotten.
"""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from unicodedata import normalize

from msgspec import Struct
from msgspec import field as struct_field
from msgspec.structs import replace

from evalhouse.grammar.editing.hints import hints
from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, Observed
from evalhouse.warehouse.kinds.records import DOCUMENT, MEASURE, FactForm
from evalhouse.warehouse.loading.checks import FilePart
from evalhouse.warehouse.loading.finding import (
    NO_RESULTS,
    READ_ME,
    Found,
    PassedOver,
    find,
    pack_together,
    unpack,
)
from evalhouse.warehouse.loading.neighbours import Neighbour, ending_likeness, likeness
from evalhouse.warehouse.loading.readers import READERS, Reader, Role, Start, plugins, reader_name
from evalhouse.warehouse.loading.readers import table as own_table
from evalhouse.warehouse.loading.readers.recognition import (
    Recognized,
    recognize_file,
    recognized,
    recognized_by,
    start_of_file,
    unrecognized_file,
)
from evalhouse.warehouse.loading.staging.cells import CHECKS, complaint, quote_cell
from evalhouse.warehouse.loading.staging.door import EVERYWHERE, Door
from evalhouse.warehouse.loading.staging.reader import filled
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Staging
from evalhouse.warehouse.measures.measure import lower_by_name
from evalhouse.warehouse.store.catalog import declarations
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

# === the plan =========================================================================================================

AUTO = "auto"

NOTHING: Mapping[str, str] = MappingProxyType({})


class LoadRequest(Struct, frozen=True):
    """What a person asks to load: the files, a reader or AUTO, and the settings, columns and options for readers.

    `skip_bad` leaves out files that cannot be read and loads the others. `strict` refuses files that state other
    figures than their rows have. `expect_all` refuses the load if a file would be left out or passed over.
    `same_documents` takes documents of one name for the same, also where files say that they are others. `texts` also
    stores inputs, references and outputs.
    """

    named: Sequence[str]
    reader: str = AUTO
    fields: Mapping[str, str] = struct_field(default_factory=dict)
    columns: Mapping[str, str] = struct_field(default_factory=dict)
    options: Mapping[str, str] = struct_field(default_factory=dict)
    lower_is_better: Mapping[str, bool] = struct_field(default_factory=dict)
    shares: Sequence[str] = ()
    simulated: bool = False
    skip_bad: bool = False
    strict: bool = False
    expect_all: bool = False
    same_documents: bool = False
    texts: bool = False
    door: Door = EVERYWHERE

    @property
    def leaves_out(self) -> bool:
        """Whether the load goes on without a bad file."""
        return self.skip_bad and not self.expect_all


class PlannedFile(Struct, frozen=True):
    """A file that will be loaded: its reader and the reason for it, its role in the load, and its settings.

    `folder` is what `{parent}` means in templates: the folder of the file, or the folder that it shares with its key.
    `like` is the neighbour whose reader was taken, if no reader recognizes the file. `made_of` are the files that it
    was packed of. `by_name` are templates for fields that only the file's place among others gives.
    """

    found: Found
    reader: Reader
    why: str
    role: Role
    folder: Path
    keys: tuple[Path, ...] = ()
    like: str = ""
    made_of: tuple[str, ...] = ()
    by_name: Mapping[str, str] = NOTHING

    @property
    def unsaid(self) -> dict[str, str]:
        """The values of fields that neither a setting nor the file gives."""
        return filled({**self.reader.unsaid, **self.by_name}, self.found.path, self.folder)

    @property
    def files(self) -> int:
        """How many files it is."""
        return len(self.made_of) or 1

    @property
    def by_folder(self) -> bool:
        """Whether its test set is named after a folder, unless a setting or the file names it."""
        return self.reader.names_by_folder


class LoadPlan(Struct, frozen=True):
    """The files in the order of loading, the files that are read together with others, what is passed over, the errors
    of files that were left out, and notes on all of them.
    """

    files: tuple[PlannedFile, ...]
    parts: tuple[PlannedFile, ...]
    passed_over: tuple[PassedOver, ...]
    bad: tuple[DataError, ...]
    notes: tuple[str, ...] = ()

    def called_from(self, folder: Path) -> LoadPlan:
        """The same plan, in which files inside the folder are named by their path in it."""

        def shown(name: str) -> str:
            path = Path(name)
            return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()

        def called(file: PlannedFile) -> PlannedFile:
            return replace(file, found=replace(file.found, called=shown(file.found.called)))

        return replace(
            self,
            files=tuple(map(called, self.files)),
            parts=tuple(map(called, self.parts)),
            passed_over=tuple(replace(over, called=shown(over.called)) for over in self.passed_over),
        )


NAMED = 5
"""Up to this many names are listed; the others are counted."""


def some(names: Sequence[str]) -> str:
    """A list of names, shortened: A, B and 7 more."""
    more = len(names) - NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:NAMED])} and {more:,} more"


def listing(passed_over: Sequence[PassedOver]) -> str:
    """What is passed over, for people: named if it is little, and counted by what it is if it is much."""
    if len(passed_over) <= NAMED:
        return ", ".join(f"{over.called} ({over.why})" for over in passed_over)
    kinds: dict[str, list[str]] = defaultdict(list)
    for over in passed_over:
        kinds[over.why].append(over.called)
    return ", ".join(
        f"{called[0]} ({why})" if len(called) == 1 else f"{len(called):,} such as {called[0]} ({why})"
        for why, called in kinds.items()
    )


def plan(request: LoadRequest, store: Database, scratch: Path, called: Mapping[str, str] = NOTHING) -> LoadPlan:
    """Plans a load. `store` reads the starts of files that Python cannot read. Archives are unpacked into folders in
    `scratch`, which must stay until the load is done. `called` maps the names of files to the names that messages
    use.

    Raises DataError for files that cannot be read and for files that could be several things, unless bad files are
    skipped.
    """
    filled(request.fields, Path())  # refuses a bad template at once
    request = replace(request, reader=reader_name(request.reader))
    sorted_out = _sort_out(request, store, scratch, called)
    passed_over, bad = sorted_out.passed_over, sorted_out.bad
    planned, unrecognized = _with_whole_folders(sorted_out.planned, sorted_out.unrecognized, scratch)
    neighbours = [Neighbour(file.found.path, file.found.called, file.reader, file.role) for file in planned]
    for over in [over for over in passed_over if over.no_file]:
        if like := ending_likeness(over.called, neighbours):
            bad.append(DataError((Fault(over.called, None, f"this is {over.why}, and {like.what}"),)))
            passed_over.remove(over)
    looking = _Looking(request, store, {file.found.path: file.found for file in planned})
    by_name, nameless, unclear_names = _named_by_files(request, sorted_out.lacking, planned, looking)
    planned += by_name
    bad += unclear_names
    if request.reader == AUTO:
        unrecognized += nameless
    else:  # the reader that was named says what is missing
        planned += [_as_named(request, found) for found in nameless]
    for found in unrecognized:
        try:
            judged = _judge_stranger(found, neighbours, looking)
        except DataError as error:
            bad.append(error)
            continue
        if isinstance(judged, PlannedFile):
            planned.append(judged)
        else:
            passed_over.append(judged)
    parts = [file for file in planned if file.role is Role.PART]
    files, unclear = _with_keys(request, [file for file in planned if file.role is not Role.PART])
    bad += unclear
    if not files and not bad:
        raise _nothing(request, parts, passed_over)
    if bad and not (request.leaves_out and files):
        faults = [fault for error in bad for fault in error.faults]
        raise DataError(tuple(faults[:MOST_FAULTS]), sum(error.total for error in bad))
    if request.expect_all:
        _expect_all(passed_over)
    files.sort(key=lambda file: (file.role, file.found.called))
    return LoadPlan(tuple(files), tuple(parts), tuple(passed_over), tuple(bad), _notes_on_names(files))


class _SortedOut(Struct):
    """What there is, as far as each file says it by itself. `lacking` are files of which a reader lacks a field, and
    `unrecognized` those that no reader recognizes.
    """

    planned: list[PlannedFile] = struct_field(default_factory=list)
    lacking: list[tuple[Found, Recognized]] = struct_field(default_factory=list)
    unrecognized: list[Found] = struct_field(default_factory=list)
    passed_over: list[PassedOver] = struct_field(default_factory=list)
    bad: list[DataError] = struct_field(default_factory=list)


def _sort_out(request: LoadRequest, store: Database, scratch: Path, called: Mapping[str, str]) -> _SortedOut:
    """Finds the reader of each file by itself. Archives are unpacked."""
    tables = {*called.values()}
    read_with = {os.path.realpath(path): (option, reader) for path, option, reader in _option_files(request)}
    so_far = _SortedOut()
    waiting = find(request.named, request.door)[::-1]
    while waiting:
        there = waiting.pop()
        if isinstance(there, PassedOver):
            so_far.passed_over.append(there)
            continue
        found = replace(there, called=called.get(there.called, there.called))
        try:
            if found.unreadable:
                raise found.refusal(found.unreadable)
            if option := read_with.get(os.path.realpath(found.path)):
                so_far.planned.append(_read_with(found, *option))
            elif not found.named and READ_ME.fullmatch(found.path.name):
                so_far.passed_over.append(PassedOver(found.called, "a readme or a licence", expected=True))
            elif _is_to_be_unpacked(request, found, store):
                waiting += unpack(found, scratch)[::-1]
            elif isinstance(file := _plan_file(request, found, store, is_table=found.called in tables), PlannedFile):
                so_far.planned.append(file)
            elif file is None:
                so_far.unrecognized.append(found)
            else:
                so_far.lacking.append((found, file))
        except DataError as error:
            so_far.bad.append(error)
    return so_far


def _expect_all(passed_over: Sequence[PassedOver]) -> None:
    """Raises DataError if anything is passed over that need not be in a folder."""
    unexpected = [over for over in passed_over if not over.expected]
    if unexpected:
        faults = [Fault(over.called, None, f"it would be passed over: {over.said or over.why}") for over in unexpected]
        raise DataError(tuple(faults[:MOST_FAULTS]), len(faults))


def option_files(request: LoadRequest) -> list[Path]:
    """The files that options name. They are read together with other files."""
    return [path for path, _, _ in _option_files(request)]


def _option_files(request: LoadRequest) -> list[tuple[Path, str, Reader]]:
    """Each file that an option names, with the option and a reader that has it."""
    are_files = {
        option.name: (option, reader) for reader in _readers().values() for option in reader.options if option.is_file
    }
    named = ((name, text, *are_files[name]) for name, text in request.options.items() if name in are_files)
    return [(path, name, reader) for name, text, option, reader in named for path in option.files(text)]


def _readers() -> Mapping[str, Reader]:
    return READERS | plugins()


def _nothing(request: LoadRequest, parts: Sequence[PlannedFile], passed_over: Sequence[PassedOver]) -> DataError:
    """The error for a load in which there is nothing to load: what was seen in each file, if any was read."""
    if parts:
        return parts[0].found.refusal(f"this file is not loaded on its own: {parts[0].why}")
    if faults := [Fault(over.called, None, over.said) for over in passed_over if over.said]:
        return DataError(tuple(faults[:MOST_FAULTS]), len(faults))
    there_is = f"; there is only {listing(passed_over)}" if passed_over else ""
    named = ", ".join(request.named)
    return DataError((Fault(named, None, f"it holds no results that a reader recognizes{there_is}"),))


def _is_to_be_unpacked(request: LoadRequest, found: Found, store: Database) -> bool:
    """Whether a file is an archive that is unpacked and loaded like a folder. Some readers read whole archives."""
    if found.is_zip or not found.is_archive:
        return found.is_zip
    if request.reader != AUTO:
        return request.reader in _readers() and not _readers()[request.reader].whole_archives
    known = recognize_file(found.path, store, found.door, request.options, called=found.called)
    if known is None:
        return True
    reader = _readers()[known.reader]
    # Folders that are read together are unpacked first, so that whatever is beside them is seen.
    return bool(reader.whole_folders) or not reader.whole_archives


def _plan_file(
    request: LoadRequest, found: Found, store: Database, *, is_table: bool
) -> PlannedFile | Recognized | None:
    """The plan for one file; None if no reader recognizes it, and what was recognized if that lacks a field. Raises
    DataError if several could be meant. `is_table` says that the file is certainly a table; then the reader of own
    tables reports what is wrong with its columns.
    """
    folder, mapped = found.path.absolute().parent, request.columns
    if not found.named and NO_RESULTS.fullmatch(found.path.suffix):
        return None
    if request.reader != AUTO:
        readers = _readers()
        if request.reader not in readers:
            raise found.refusal(
                f"there is no reader {quote_cell(request.reader)}; the readers are {', '.join(readers)}"
            )
        reader = readers[request.reader]
        named = Recognized(reader.name, _NAMED)
        with contextlib.suppress(DataError):  # the reader will say what is wrong with it
            start = start_of_file(found.path, store, found.door, request.options, called=found.called, mapped=mapped)
            named = replace(recognized_by(reader, start, found.called), why=_NAMED, unsure="")
        return _settled(request, found, named) or named
    known = recognize_file(found.path, store, found.door, request.options, called=found.called, mapped=mapped)
    options = {option.name for option in own_table.READER.options}
    if known is None and found.named and (request.columns or options & request.options.keys()):
        return PlannedFile(found, own_table.READER, "its columns are named", Role.FACTS, folder)
    settled = _settled(request, found, known) if known else None
    if known and known.unsure and not (settled and known.lacks):
        raise found.refusal(known.unsure)
    if settled is None and is_table:
        return PlannedFile(found, own_table.READER, "it is a table", Role.FACTS, folder)
    return settled or known


_NAMED = "--as names it"


def _as_named(request: LoadRequest, found: Found) -> PlannedFile:
    """The plan for a file that is read by the reader which was named, whatever it lacks."""
    return PlannedFile(found, _readers()[request.reader], _NAMED, Role.FACTS, found.path.absolute().parent)


def _settled(request: LoadRequest, found: Found, known: Recognized) -> PlannedFile | None:
    """The plan for a file that lacks nothing which the load does not give; None if it lacks something."""
    if known.lacks not in {"", *request.fields, *request.columns}:
        return None
    by_name = _BY_FILE if known.lacks and "{stem}" in request.fields.get(known.lacks, "") else NOTHING
    folder = found.path.absolute().parent
    return PlannedFile(found, _readers()[known.reader], known.why, known.role, folder, by_name=by_name)


def _read_with(found: Found, option: str, reader: Reader) -> PlannedFile:
    """A file that an option names: it is read together with the others."""
    return PlannedFile(found, reader, f"--{option} names it", Role.PART, found.path.absolute().parent)


class _Looking:
    """Reads the starts of files: of those that no reader recognizes, and of their neighbours, each once."""

    def __init__(self, request: LoadRequest, store: Database, found: Mapping[Path, Found]) -> None:
        self._request, self._store, self._found = request, store, found
        self._starts: dict[Path, Start | None] = {}

    def start(self, found: Found) -> Start:
        """The start of a file. Raises DataError if it cannot be read."""
        options, mapped = self._request.options, self._request.columns
        return start_of_file(found.path, self._store, found.door, options, called=found.called, mapped=mapped)

    def at_neighbour(self, path: Path) -> Start | None:
        """The start of a file that is recognized; None if it has become unreadable."""
        if path not in self._starts:
            try:
                self._starts[path] = self.start(self._found[path])
            except DataError:
                self._starts[path] = None
        return self._starts[path]


def _judge_stranger(found: Found, neighbours: Sequence[Neighbour], looking: _Looking) -> PlannedFile | PassedOver:
    """What happens to a file that no reader recognizes: it is read as its neighbours are, or passed over. Raises
    DataError if a person named it, or if it is not clear which neighbours it is like.
    """
    if not found.named and NO_RESULTS.fullmatch(found.path.suffix):
        return _judge_by_ending(found, neighbours, looking)
    start = looking.start(found)
    like = likeness(start, found.path.name, neighbours, looking.at_neighbour)
    if like and len(like.readers) == 1:
        [reader] = like.readers
        folder = found.path.absolute().parent
        return PlannedFile(found, _readers()[reader], like.what, Role.FACTS, folder, like=like.neighbour.called)
    unrecognized = unrecognized_file(start, found.called)
    if like:
        raise found.refusal(f"{unrecognized}; {like.what}, and could be of the readers {' or '.join(like.readers)}")
    if found.named:
        raise found.refusal(unrecognized)
    return PassedOver(found.called, "not recognized" if start.text.strip() else "an empty file", unrecognized)


def _judge_by_ending(found: Found, neighbours: Sequence[Neighbour], looking: _Looking) -> PassedOver:
    """Passes over a file whose ending is that of a program, a picture or the like. Raises DataError if its content is
    nevertheless what its neighbours are.
    """
    ending = found.path.suffix
    passed_over = PassedOver(found.called, f"a {ending} file")
    readers = {one.reader.name for one in neighbours if one.role is Role.FACTS}
    try:
        known = recognized(looking.start(found), found.called)
    except DataError:
        return passed_over
    if known and known.reader in readers and known.role is Role.FACTS:
        said = f"a {ending} file is passed over in a folder, but this one looks like its neighbours: {known.why}"
        raise found.refusal(f"{said}; load it by its name, or rename it")
    return passed_over


# --- files that are named by their names ------------------------------------------------------------------------------
# Nothing in a file of one system need say which it is, if each system has a file: then its name says it, and the folder
# is the test set. If all files have one name, the folders are the systems.

_BY_FILE: Mapping[str, str] = MappingProxyType({"test_set": "{parent}"})


def _named_by_files(
    request: LoadRequest, lacking: Sequence[tuple[Found, Recognized]], planned: Sequence[PlannedFile], looking: _Looking
) -> tuple[list[PlannedFile], list[Found], list[DataError]]:
    """The plans of files that lack a field and take it from their names, because several share their columns; the
    others; and errors about files whose names do not tell them apart.

    Beside files that say what they are, tables without a system may be anything, unless a person named them.
    """
    together: dict[tuple[str, str], list[tuple[Found, Recognized, frozenset[str]]]] = defaultdict(list)
    alone = [found for found, _ in lacking]
    for found, known in lacking:
        if found.named or all(file.reader.name == known.reader for file in planned):
            together[known.reader, known.lacks].append((found, known, looking.start(found).columns))
    named: list[PlannedFile] = []
    for (reader, field), files in together.items():
        alike = [
            (found, known)
            for found, known, columns in files
            if any(other is not found and _share_columns(columns, theirs) for other, _, theirs in files)
        ]
        paths = [found.path.absolute() for found, _ in alike]
        by_folder = len({_stem(path) for path in paths}) == 1 and len({path.parent for path in paths}) > 1
        templates = {field: "{parent}"} if by_folder else {field: "{stem}", **_BY_FILE}
        named += [
            PlannedFile(
                found, _readers()[reader], known.why, known.role, found.path.absolute().parent, by_name=templates
            )
            for found, known in alike
        ]
        alone = [found for found in alone if all(found is not other for other, _ in alike)]
    return named, alone, _same_names(request, named)


def _stem(path: Path) -> str:
    return filled({"stem": "{stem}"}, path)["stem"]


def _share_columns(these: frozenset[str], those: frozenset[str]) -> bool:
    """Whether two files have most of their columns in common."""
    return 2 * len(these & those) > len(these | those)


def _same_names(request: LoadRequest, named: Sequence[PlannedFile]) -> list[DataError]:
    """The errors about files that would be one system on one test set by their names."""
    first: dict[tuple[tuple[str, str], ...], Found] = {}
    errors = []
    for file in named:
        said = tuple((file.unsaid | filled(request.fields, file.found.path)).items())
        other = first.setdefault(said, file.found)
        if other is not file.found:
            name = dict(said)[next(iter(file.by_name))]
            both = f"it and {other.called} would both be {quote_cell(name)} by their names; load each with --set"
            errors.append(file.found.refusal(f"{both} {next(iter(file.by_name))}=NAME"))
    return errors


def _notes_on_names(files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """What files are called because their names are the only thing that says it."""
    named: dict[str, list[str]] = defaultdict(list)
    of_folder = False
    for file in files:
        for field in file.by_name.keys() - _BY_FILE.keys():
            named[field].append(file.unsaid[field])
            of_folder = file.by_name[field] == "{parent}"
    whose = "the folder of each file" if of_folder else "the name of each file"
    return tuple(
        f"nothing in these files names the {field}, so {whose} does: {some(sorted(set(names)))}; "
        f"--set {field}=NAME names one"
        for field, names in named.items()
    )


def _with_whole_folders(
    files: Sequence[PlannedFile], unrecognized: Sequence[Found], scratch: Path
) -> tuple[list[PlannedFile], list[Found]]:
    """Replaces files whose folders are read together by one archive, together with the unrecognized files of that
    ending in folders beside them, which may be empty. Also returns the files that are still unrecognized.
    """
    kept: list[PlannedFile] = []
    side_by_side: dict[tuple[str, Path], list[PlannedFile]] = defaultdict(list)
    for file in files:
        if file.reader.whole_folders and _ending_of(file.found) == file.reader.whole_folders:
            side_by_side[file.reader.name, file.folder.parent].append(file)
        else:
            kept.append(file)
    left = list(unrecognized)
    for (_, root), together in side_by_side.items():
        ending = together[0].reader.whole_folders
        others = [found for found in left if _ending_of(found) == ending and found.path.absolute().parents[1] == root]
        left = [found for found in left if found not in others]
        members = sorted([*(file.found for file in together), *others], key=lambda found: found.path)
        packed = pack_together(together[0].found, root, members, scratch)
        made_of = tuple(found.called for found in members)
        kept.append(replace(together[0], found=packed, folder=root, made_of=made_of))
    return kept, left


def _ending_of(found: Found) -> str:
    """The ending of a file's name, in lower case."""
    return found.path.suffix.casefold()


def _with_keys(request: LoadRequest, files: Sequence[PlannedFile]) -> tuple[list[PlannedFile], list[DataError]]:
    """The files with their keys: for each file, the nearest keys of the same reader by folder. Also returns errors for
    files that have several possible keys. The test set of a key and its files is named after the folder that they
    share.
    """
    keys = [file for file in files if file.role is Role.KEY and file.by_folder]
    of_key: dict[Path, list[PlannedFile]] = defaultdict(list)
    unclear: list[DataError] = []
    placed: list[PlannedFile] = []
    for file in files:
        near = _nearest(file, keys) if file.by_folder and file.role is not Role.KEY else []
        if len(near) > 1 and "test_set" not in request.fields:
            names = " and ".join(key.found.called for key in near[:3])
            how = "put each beside what it judges, or load one at a time with --set test_set=NAME"
            unclear.append(file.found.refusal(f"{names} could both be its key; {how}"))
            continue
        placed.append(replace(file, keys=tuple(key.found.path for key in near)))
        for key in near:
            of_key[key.found.path].append(file)
    shared = {
        path: Path(os.path.commonpath([path.absolute().parent, *(file.folder for file in judged)]))
        for path, judged in of_key.items()
    }
    return [replace(file, folder=shared.get((*file.keys, file.found.path)[0], file.folder)) for file in placed], unclear


def _nearest(file: PlannedFile, keys: Sequence[PlannedFile]) -> list[PlannedFile]:
    """The keys that share the deepest folder with a file. Figures that were computed from facts may have a key of
    another reader.
    """
    fitting = [key for key in keys if key.reader is file.reader or file.role is Role.FIGURES]
    depths = [len(Path(os.path.commonpath([key.folder, file.folder])).parts) for key in fitting]
    return [key for key, depth in zip(fitting, depths, strict=True) if depth == max(depths)]


# === declarations about measures ======================================================================================
# Whether lower or higher values are better, and what is a share: what was declared, and what the names of the measures
# imply.

Directions = Mapping[str, bool]
"""Maps the name of a measure to whether lower values are better."""

FLAGS = {True: "--lower-is-better", False: "--higher-is-better"}
"""The options that declare the two directions."""

SHARE_FLAG = "--share"
"""The option that declares shares."""


def measures_of(parts: Iterable[FilePart]) -> tuple[str, ...]:
    """The measures for which a file has values or figures."""
    having = [part.staging for part in parts if MEASURE in part.staging.form.key]
    found = (staging.database.rows(Sql(f"select distinct measure from {staging.table}")) for staging in having)
    return tuple(sorted({str(measure) for of_part in found for (measure,) in of_part if measure is not None}))


def declared_directions(measures: Iterable[str], declared: Directions) -> dict[str, bool]:
    """The declared directions of some measures. An exact match of the name goes before a match that ignores case."""
    folded = {measure.casefold(): lower for measure, lower in declared.items()}
    said = ((measure, declared.get(measure, folded.get(measure.casefold()))) for measure in measures)
    return {measure: lower for measure, lower in said if lower is not None}


def stated_directions(database: Database, parts: Iterable[FilePart]) -> dict[str, bool]:
    """The directions that a file states for measures whose names and earlier loads do not imply one. They never raise a
    contradiction, because a format may give the same metric another direction in another task.
    """
    said = {measure: lower for part in parts for measure, lower in part.staged.directions.items()}
    known = {str(measure) for (measure,) in database.rows(Sql("select measure from direction"))} if said else set()
    return {
        measure: lower
        for measure, lower in said.items()
        if lower_by_name(measure) is not lower and measure not in known
    }


def check_directions(database: Database, source: str, said: Directions) -> None:
    """Raises DataError if another import declared the opposite."""
    stored = database.rows(
        Sql("select d.measure, d.lower_is_better, d.import_id, i.source from direction d join import i ")
        + "on i.id = d.import_id order by d.import_id"
    )
    faults = {
        measure: f"import {number} ({brought_by}) declared that {'lower' if lower else 'higher'} {measure} is better; "
        f"leave {FLAGS[not lower]} {measure} out, or forget import {number}"
        for measure, lower, number, brought_by in reversed(stored)
        if measure in said and said[measure] is not bool(lower)
    }
    if faults:
        raise DataError(tuple(Fault(source, None, fault) for fault in faults.values()))


def knows_direction(database: Database, said: Directions) -> bool:
    """Whether all of this was declared before."""
    known = dict(database.rows(Sql("select distinct measure, lower_is_better from direction")))
    return all(known.get(measure) is lower for measure, lower in said.items())


def store_directions(database: Database, said: Directions, import_id: int) -> None:
    """Stores what an import declares."""
    if said:
        rows = join(", ", (values((measure, lower, import_id)) for measure, lower in said.items()))
        database.run("insert into direction values " + rows)


def declared_shares(measures: Iterable[str], declared: Iterable[str]) -> list[str]:
    """Those of some measures that are declared to be shares, in any case of letters."""
    folded = {measure.casefold() for measure in declared}
    return [measure for measure in measures if measure.casefold() in folded]


def check_shares(database: Database, source: str, shares: Collection[str]) -> None:
    """Raises DataError if a value beyond 0 and 1 is stored of measures that a load declares to be shares."""
    if not shares:
        return
    beyond = database.rows(
        "select v.measure, min_by(v.value, v.import_id), min(v.import_id) from value v where v.measure in "
        + values(shares)
        + " and v.value not between 0 and 1 group by v.measure order by v.measure"
    )
    said = "{} is not a share: import {} stored {:g}, which is not between 0 and 1; leave --share {} out"
    if faults := [Fault(source, None, said.format(measure, number, one, measure)) for measure, one, number in beyond]:
        raise DataError(tuple(faults))


def store_shares(database: Database, shares: Iterable[str], import_id: int) -> None:
    """Stores which measures an import declares to be shares."""
    if rows := [values((measure, import_id)) for measure in shares]:
        database.run("insert into share values " + join(", ", rows))


def forget_declared_measures(database: Database, import_id: int) -> None:
    """Removes what an import declared about measures."""
    for table in ("direction", "share"):
        database.run(f"delete from {table} where import_id = " + value(import_id))


def notes_on_directions(database: Database, measures: Iterable[str]) -> list[str]:
    """A note on the measures that are taken for lower-is-better only because of their names."""
    declared = {str(measure) for (measure,) in database.rows(Sql("select measure from direction"))}
    by_name = [measure for measure in measures if measure not in declared and lower_by_name(measure)]
    listed = ", ".join(by_name)
    they, say = ("their names", "say") if len(by_name) > 1 else ("its name", "says")
    return [f"lower {listed} is better, as {they} {say}; {FLAGS[False]} declares otherwise"] if by_name else []


def flags(database: Database, table: str) -> str:
    """The options of `load` that declare again what is declared about the measures in a table, such as
    --lower-is-better TER,WER --share resolved; empty if nothing is declared.
    """
    declared = "select distinct measure, lower_is_better from direction semi join "
    rows = database.rows(Sql(declared) + name(table) + " using (measure) order by 1")
    of_each = {flag: [str(measure) for measure, stored in rows if stored is lower] for lower, flag in FLAGS.items()}
    of_each[SHARE_FLAG] = sorted(
        str(measure)
        for (measure,) in database.rows(
            Sql("select distinct measure from share semi join ") + name(table) + " using (measure)"
        )
    )
    return " ".join(f"{flag} {','.join(measures)}" for flag, measures in of_each.items() if measures)


# === declarations about documents =====================================================================================
# The noun for one document, and the cluster, which is the attribute whose documents tests exchange together. Readers
# declare both for their format; the settings `noun` and `cluster` declare them for one load. The setting `main`
# declares the measure that a question is about where it names none, and `group` the group that its test sets belong to.

MAIN, GROUP = "main", "group"

SETTINGS = ("noun", "cluster", MAIN, GROUP)
"""The settings that `--set` takes in addition to the fields of facts."""

Said = tuple[int, str | None, Observed, bool]
"""Test set, task, what is declared, and whether a setting declared it."""


class Declaring(Struct, frozen=True):
    """What the reader and the settings declare about the documents of a file."""

    reader: Reader
    settings: Observed
    group: str = ""

    @property
    def attribute(self) -> str:
        """The attribute that is set as the cluster; empty if none is set, or if each document is its own cluster."""
        return "" if self.settings.cluster == PLAIN_NOUN else self.settings.cluster

    def said(self, part: FilePart) -> list[Said]:
        """The declarations for one part of the file, whose test sets have their numbers."""
        form = part.staging.form
        if DOCUMENT not in form.key:
            return []
        test_sets = sorted(set(part.staging.database.rows(Sql("select test_set_id from placed"))))
        return [
            (test_set, task, observed, by_setting)
            for (test_set,) in test_sets
            for task in self._tasks(form)
            for observed, by_setting in (
                (part.staged.observed or self.reader.observed(form), False),
                (self._set(form), True),
            )
            if observed
        ]

    def check(self, part: FilePart) -> None:
        """Raises DataError if the cluster that is set is neither a column of the file nor a stored attribute of
        documents. Files without a known list of columns are not checked.
        """
        header, cluster = part.staged.header, self.attribute
        if not (cluster and header) or cluster in header:
            return
        stored = Sql("select distinct name from document_attribute order by name")
        attributes = [str(attribute) for (attribute,) in part.staging.database.rows(stored)]
        if cluster not in attributes:
            fault = part.staging.fault(f"no column and no attribute of documents is called {quote_cell(cluster)}")
            raise DataError((fault,), hints=hints(cluster, [*header, *attributes], "columns"))

    def _set(self, form: FactForm) -> Observed:
        """The settings for a form. If a reader has two kinds of documents, the noun that is set does not apply to the
        kind whose noun is made of its parts, such as topic-document pair.
        """
        return replace(self.settings, noun="") if form.name in self.reader.observed_in else self.settings

    def _tasks(self, form: FactForm) -> list[str | None]:
        """The tasks of the rows of a form; None stands for all tasks, if a file has only attributes."""
        tasks: list[str | None] = [task.name for task in KINDS.values() if form.table in task.decided_by]
        return tasks or ([None] if len(self.reader.forms) == 1 else [])


def has_documents(reader: Reader) -> bool:
    """Whether a reader's rows are about documents. Those of a table of systems are not."""
    return any(DOCUMENT in form.key for form in reader.forms)


def split_settings(staging: Staging, reader: Reader) -> tuple[dict[str, str], Declaring]:
    """Splits the settings into the fields that are set for all rows and what is declared. If a file has no documents,
    they stay among the fields and are refused there. Raises DataError for a setting that is not a
    valid name.
    """
    fields = dict(staging.fields)
    declared = SETTINGS if has_documents(reader) else ()
    settings = {key: normalize("NFC", fields.pop(key).strip()) for key in declared if key in fields}
    is_name = "select it <> '' and " + CHECKS["name"].passed_by(Sql("it")) + " from (select ?::varchar as it)"
    for key, text in settings.items():
        if not staging.database.rows(Sql(is_name.text, (text,)))[0][0]:
            raise staging.refusal(complaint("name", f"the value set for {key}", text or None))
    cluster = settings.get("cluster", "").removeprefix(f"{PLAIN_NOUN}.")
    observed = Observed(settings.get("noun", ""), cluster, settings.get(MAIN, ""))
    return fields, Declaring(reader, observed, settings.get(GROUP, ""))


def knows_declaration(database: Database, said: Iterable[Said]) -> bool:
    """Whether all of this was already declared in the same words."""
    known = {(old.test_set, old.kind, old.observed, old.by_setting) for old in declarations(database)}
    return all((test_set, task or "", observed, by) in known for test_set, task, observed, by in said)


def store_declarations(database: Database, said: Iterable[Said], import_id: int) -> None:
    """Stores the declarations of an import, each one once."""
    rows = [
        values((test_set, task, one.noun or None, one.cluster or None, by_setting, import_id, one.main or None))
        for test_set, task, one, by_setting in dict.fromkeys(said)
    ]
    if rows:
        database.run("insert into observed values " + join(", ", rows))


def forget_declarations(database: Database, import_id: int) -> None:
    """Removes the declarations of an import, and those about test sets that no longer exist."""
    gone = " or test_set_id not in (select id from test_set)"
    database.run("delete from observed where import_id = " + value(import_id) + gone)


def notes_on_declarations(database: Database, said: Iterable[Said]) -> list[str]:
    """A note for each test set in which no document has the attribute that was set as the cluster."""
    clusters = dict.fromkeys(
        (test_set, observed.cluster)
        for test_set, _, observed, by_setting in said
        if by_setting and observed.cluster not in ("", PLAIN_NOUN)
    )
    lines = []
    for test_set, cluster in clusters:
        having = "select d.id from document d join document_attribute a on a.document_id = d.id where a.name = "
        without = "select name from test_set where id = " + value(test_set) + " and not exists (" + having
        for (undeclared,) in database.rows(without + value(cluster) + " and d.test_set_id = " + value(test_set) + ")"):
            lines.append(
                f"no document of {undeclared} has the attribute {cluster}; until some do, each is exchanged by itself"
            )
    return lines
