"""Plans a load: which reader takes each file and why, in which order files are loaded, and which files are keys of
which others.

Nothing is loaded here, and only the start of each file is read. If a file could be several things, the error names them
and the option that decides.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec import field as dataclass_field
from msgspec.structs import replace

from warehouse.faults import DataError, Fault
from warehouse.loading.finding import NO_RESULTS, Found, find, packed_together, unpacked
from warehouse.loading.readers import READERS, Reader, Role, plugins, wide
from warehouse.loading.readers.recognition import recognized, role_of, unknown
from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.door import EVERYWHERE, Door
from warehouse.loading.staging.staged import MOST_FAULTS
from warehouse.loading.staging.templates import filled
from warehouse.store.database import Database

AUTO = "auto"

NOTHING: Mapping[str, str] = MappingProxyType({})


class LoadRequest(Struct, frozen=True):
    """What a person asks to load: the files, a reader or AUTO, and the settings, columns and options for readers.

    `skip_bad` leaves out files that cannot be read and loads the others. `texts` also stores inputs, references and
    outputs.
    """

    named: Sequence[str]
    reader: str = AUTO
    fields: Mapping[str, str] = dataclass_field(default_factory=dict)
    columns: Mapping[str, str] = dataclass_field(default_factory=dict)
    options: Mapping[str, str] = dataclass_field(default_factory=dict)
    lower_is_better: Mapping[str, bool] = dataclass_field(default_factory=dict)
    simulated: bool = False
    skip_bad: bool = False
    texts: bool = False
    door: Door = EVERYWHERE


class PlannedFile(Struct, frozen=True):
    """A file that will be loaded: its reader and the reason for it, its role in the load, and its settings.

    `folder` is what `{parent}` means in templates: the folder of the file, or the folder that it shares with its key.
    """

    found: Found
    reader: Reader
    why: str
    role: Role
    folder: Path
    keys: tuple[Path, ...] = ()

    @property
    def by_folder(self) -> bool:
        """Whether its test set is named after a folder, unless a setting or the file names it."""
        return "{parent}" in self.reader.unsaid.get("test_set", "")


class LoadPlan(Struct, frozen=True):
    """The files in the order of loading, the files that are read together with others, the files without results, and
    the errors of files that were left out.
    """

    files: tuple[PlannedFile, ...]
    parts: tuple[PlannedFile, ...]
    passed_over: tuple[Found, ...]
    bad: tuple[DataError, ...]

    def called_from(self, folder: Path) -> LoadPlan:
        """The same plan, in which files inside the folder are named by their path in it."""

        def called(file: PlannedFile) -> PlannedFile:
            path = Path(file.found.called)
            shown = path.relative_to(folder) if path.is_relative_to(folder) else path
            return replace(file, found=replace(file.found, called=shown.as_posix()))

        return replace(self, files=tuple(map(called, self.files)))


def plan(request: LoadRequest, store: Database, scratch: Path, called: Mapping[str, str] = NOTHING) -> LoadPlan:
    """Plans a load. `store` reads the starts of files that Python cannot read. Archives are unpacked into folders in
    `scratch`, which must stay until the load is done. `called` maps the names of files to the names that messages
    use.

    Raises DataError for files that cannot be read and for files that could be several things, unless bad files are
    skipped.
    """
    filled(request.fields, Path())  # refuses a bad template at once
    tables = {*called.values()}
    read_with = {os.path.realpath(path) for path in option_files(request)}
    planned: list[PlannedFile] = []
    passed_over: list[Found] = []
    bad: list[DataError] = []
    waiting = [
        replace(found, called=called.get(found.called, found.called)) for found in find(request.named, request.door)
    ][::-1]
    while waiting:
        found = waiting.pop()
        if os.path.realpath(found.path) in read_with:
            continue
        try:
            if _is_to_be_unpacked(request, found, store):
                waiting += unpacked(found, scratch)[::-1]
            elif (file := _planned(request, found, store, is_table=found.called in tables)) is not None:
                planned.append(file)
            else:
                passed_over.append(found)
        except DataError as error:
            bad.append(error)
    planned, packed = _with_whole_folders(planned, scratch)
    passed_over = [found for found in passed_over if found.path.absolute() not in packed]
    parts = [file for file in planned if file.role is Role.PART]
    files, unclear = _with_keys(request, [file for file in planned if file.role is not Role.PART])
    bad += unclear
    if not files and not bad:
        raise _nothing(request, parts)
    if bad and not (request.skip_bad and files):
        faults = [fault for error in bad for fault in error.faults]
        raise DataError(tuple(faults[:MOST_FAULTS]), sum(error.total for error in bad))
    files.sort(key=lambda file: (file.role, file.found.called))
    return LoadPlan(tuple(files), tuple(parts), tuple(passed_over), tuple(bad))


def option_files(request: LoadRequest) -> list[Path]:
    """The files that options name. They are read together with other files."""
    are_files = {option.name: option for reader in _readers().values() for option in reader.options if option.is_file}
    return [path for name, text in request.options.items() if name in are_files for path in are_files[name].files(text)]


def _readers() -> Mapping[str, Reader]:
    return READERS | plugins()


def _nothing(request: LoadRequest, parts: Sequence[PlannedFile]) -> DataError:
    named = ", ".join(request.named)
    if parts:
        return parts[0].found.refusal(f"this file is not loaded on its own: {parts[0].why}")
    return DataError((Fault(named, None, "it holds no results that a reader recognizes"),))


def _is_to_be_unpacked(request: LoadRequest, found: Found, store: Database) -> bool:
    """Whether a file is an archive that is unpacked and loaded like a folder. Some readers read whole archives."""
    if found.is_zip or not found.is_archive:
        return found.is_zip
    if request.reader != AUTO:
        return request.reader in _readers() and not _readers()[request.reader].whole_archives
    known = recognized(found.path, store, found.door, request.options, called=found.called)
    return known is None or not _readers()[known.reader].whole_archives


def _planned(request: LoadRequest, found: Found, store: Database, *, is_table: bool) -> PlannedFile | None:
    """The plan for one file; None if the file holds no results. Raises DataError if no reader can be chosen. `is_table`
    says that the file is certainly a table; then the reader of wide tables reports what is wrong with its columns.
    """
    folder = found.path.absolute().parent
    if not found.named and NO_RESULTS.fullmatch(found.path.suffix):
        return None
    if request.reader != AUTO:
        readers = _readers()
        if request.reader not in readers:
            raise found.refusal(f"there is no reader {shown(request.reader)}; the readers are {', '.join(readers)}")
        reader = readers[request.reader]
        role = role_of(reader, found.path, store, found.door, request.options, called=found.called)
        return PlannedFile(found, reader, "--as names it", role, folder)
    known = recognized(found.path, store, found.door, request.options, called=found.called)
    if known is None:
        if found.named and (request.columns or {option.name for option in wide.READER.options} & {*request.options}):
            return PlannedFile(found, wide.READER, "its columns are named", Role.FACTS, folder)
        if is_table:
            return PlannedFile(found, wide.READER, "it is a table", Role.FACTS, folder)
        if found.named:
            raise found.refusal(unknown(found.path, found.door))
        return None
    if known.unsure:
        raise found.refusal(known.unsure)
    return PlannedFile(found, _readers()[known.reader], known.why, known.role, folder)


def _with_whole_folders(files: Sequence[PlannedFile], scratch: Path) -> tuple[list[PlannedFile], set[Path]]:
    """Replaces files whose folders are read together by one archive. Also returns the paths that were packed; these
    include empty files, which no reader recognizes.
    """
    kept: list[PlannedFile] = []
    side_by_side: dict[tuple[str, Path], list[PlannedFile]] = defaultdict(list)
    for file in files:
        if file.reader.whole_folders and file.found.path.suffix == file.reader.whole_folders:
            side_by_side[file.reader.name, file.folder.parent].append(file)
        else:
            kept.append(file)
    packed: set[Path] = set()
    for (_, root), together in side_by_side.items():
        folders = sorted({file.folder for file in together})
        members = [path for folder in folders for path in sorted(folder.glob(f"*{together[0].reader.whole_folders}"))]
        found = packed_together(together[0].found, root, members, scratch)
        kept.append(replace(together[0], found=found, folder=root))
        packed.update(members)
    return kept, packed


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
