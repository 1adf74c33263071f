"""What a load will do: for every file what it is and why, in which order files are loaded, and what they are keys of.

Nothing is loaded here, and of a file only its start is looked at. What is not clear is asked: an error names what it
could be and the option that settles it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from pathlib import Path
from types import MappingProxyType

from warehouse.faults import DataError, Fault
from warehouse.loading.finding import NO_RESULTS, Found, find, packed_together, unpacked
from warehouse.loading.readers import READERS, Reader, Role, plugins, wide
from warehouse.loading.readers.recognition import recognized, role_of
from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.door import EVERYWHERE, Door
from warehouse.loading.staging.staged import MOST_FAULTS
from warehouse.loading.staging.templates import filled
from warehouse.store.database import Database

AUTO = "auto"

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What a person says of a load: the files, the reader or AUTO, and the settings, columns and options of readers.

    `skip_bad` goes on without the files that cannot be read; `texts` says whether inputs, references and outputs are
    stored, too.
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


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that will be loaded: its reader and why, what it is to the load, and what is said of it.

    `folder` is what `{parent}` means in what is unsaid: its folder, or the one that it shares with its key.
    """

    found: Found
    reader: Reader
    why: str
    role: Role
    folder: Path
    keys: tuple[Path, ...] = ()

    @property
    def by_folder(self) -> bool:
        """Whether its test set is called like a folder, unless something says it."""
        return "{parent}" in self.reader.unsaid.get("test_set", "")


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """The files in the order of loading, those that are read with others, those that hold no results, and the faults of
    those that are left out.
    """

    files: tuple[PlannedFile, ...]
    parts: tuple[PlannedFile, ...]
    passed_over: tuple[Found, ...]
    bad: tuple[DataError, ...]

    def called_from(self, folder: Path) -> LoadPlan:
        """The same plan, its files called by their places in a folder as far as they are in it."""

        def called(file: PlannedFile) -> PlannedFile:
            path = Path(file.found.called)
            shown = path.relative_to(folder) if path.is_relative_to(folder) else path
            return replace(file, found=replace(file.found, called=shown.as_posix()))

        return replace(self, files=tuple(map(called, self.files)))


def plan(request: LoadRequest, store: Database, scratch: Path, called: Mapping[str, str] = NOTHING) -> LoadPlan:
    """What a load will do. `store` reads the starts of files that Python does not; archives are unpacked into folders
    in `scratch`, which have to stay until the load is done. Files are `called` so in messages, by their names.

    Raises DataError with what has to be asked and what cannot be read, unless bad files are skipped.
    """
    filled(request.fields, Path())  # says at once where a template is wrong
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
    """The files that options name, which are read together with others."""
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
    """Whether a file is an archive that is loaded like a folder, and not whole by a reader that reads archives."""
    if found.is_zip or not found.is_archive:
        return found.is_zip
    if request.reader != AUTO:
        return request.reader in _readers() and not _readers()[request.reader].whole_archives
    known = recognized(found.path, store, found.door, request.options, called=found.called)
    return known is None or not _readers()[known.reader].whole_archives


def _planned(request: LoadRequest, found: Found, store: Database, *, is_table: bool) -> PlannedFile | None:
    """What a file is to the load; None where it holds no results. Raises DataError where that cannot be told. Of
    what is a table for sure the reader of wide tables says what is wrong with its columns.
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
            raise found.refusal("its format is not recognized; --as READER names it")
        return None
    if known.unsure:
        raise found.refusal(known.unsure)
    return PlannedFile(found, _readers()[known.reader], known.why, known.role, folder)


def _with_whole_folders(files: Sequence[PlannedFile], scratch: Path) -> tuple[list[PlannedFile], set[Path]]:
    """The files with one archive in place of those whose folders are read together, and what was packed: empty files,
    which nothing speaks for, too.
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
    """The files with their keys, the nearest ones of the same reader, by the folders that lead to both; and errors for
    those that could have several. All that share a key share a folder that their test set is called like.
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
    """The keys that share the deepest folder with a file; what was computed of facts may be of another reader."""
    fitting = [key for key in keys if key.reader is file.reader or file.role is Role.FIGURES]
    depths = [len(Path(os.path.commonpath([key.folder, file.folder])).parts) for key in fitting]
    return [key for key, depth in zip(fitting, depths, strict=True) if depth == max(depths)]
