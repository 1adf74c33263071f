"""`compact` merges files and forgets the past while others read and load; a kill at any place changes nothing that is
read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalhouse.warehouse.commands.program import main
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake import delta, maintenance
from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.lake.log import LOAD, LakeLog, read_log
from evalhouse.warehouse.lake.maintenance import check, compact, unnamed_files
from evalhouse.warehouse.lake.place import Folder, LakePlace
from evalhouse.warehouse.loading.ingest import Loaded, forget, load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from tests.lakes import answer, empty_lake, loaded, scores, sound

pytestmark = pytest.mark.long

ALL = "score F for all on T"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A lake with four loads, the second of which was forgotten again."""
    folder = tmp_path_factory.mktemp("original")
    lake = empty_lake(folder / "lake")
    for number, system in enumerate("ABCD"):
        loaded(lake, scores(folder, system, 5 + number % 3))
    change_lake(lake, "forget", lambda database: forget(database, 2))
    return lake


@pytest.fixture
def many(original: Folder, tmp_path: Path) -> Folder:
    """A copy of that lake."""
    return Folder(Path(shutil.copytree(original.path, tmp_path / "lake")))


def files(lake: LakePlace, table: str) -> int:
    return len(read_log(lake).last.of(table))


def named_files(lake: Folder) -> set[str]:
    return {file.path for change in read_log(lake).changes for file in change.added}


def test_small_files_are_merged_and_the_past_stays(many: Folder) -> None:
    present, past = answer(many, ALL), answer(many, f"{ALL} as of 2")
    assert files(many, "score") == 3
    done = compact(many)
    assert (files(many, "score"), files(many, "document"), files(many, "import")) == (1, 1, 1)
    assert done.merged > done.into > 0
    assert (done.forgotten, unnamed_files(many, read_log(many))) == (0, {})
    assert answer(many, ALL) == present
    assert answer(many, f"{ALL} as of 2") == past
    assert len(delta.names_in(many, read_log(many).table)) == 1
    assert check(many) == ((), ())


def test_what_a_killed_process_left_goes_even_where_nothing_is_merged(many: Folder) -> None:
    compact(many)
    left = many.path / ".evalhouse-0123456789abcdef"
    (left / "new").mkdir(parents=True)
    assert compact(many).merged == 0
    assert not left.exists()


def test_a_second_compaction_has_nothing_to_do(many: Folder) -> None:
    compact(many)
    changes = read_log(many).changes
    assert compact(many) == maintenance.Compacted(0, 0, 0, 0, 0)
    assert read_log(many).changes == changes


def test_the_past_is_forgotten_on_request_alone(many: Folder) -> None:
    present = answer(many, ALL)
    done = compact(many, datetime.now(UTC))
    assert done.forgotten == 5
    assert answer(many, ALL) == present
    assert check(many) == ((), ())
    on_disk = {f"{path.parent.name}/{path.name}" for path in many.path.glob("*/*.parquet")}
    assert {path for path in on_disk if not path.startswith("change/")} == named_files(many)
    with pytest.raises(Exception, match=r"the past of .* begins with import 4"):
        answer(many, f"{ALL} as of 2")


def test_what_was_there_after_the_date_stays(many: Folder, tmp_path: Path) -> None:
    compact(many, read_log(many).changes[2].at)
    assert [change.number for change in read_log(many).changes] == [3, 4, 5, 6, 7]
    assert [row[2] for row in answer(many, f"{ALL} as of 2")] == ["B", "A"]
    assert [row[2] for row in answer(many, f"{ALL} as of 3")] == ["C", "B", "A"]
    assert check(many) == ((), ())


def test_a_load_that_was_prepared_before_is_stored_after(many: Folder, tmp_path: Path) -> None:
    done, _ = loaded(many, scores(tmp_path, "E"), lambda: compact(many, datetime.now(UTC)))
    assert done.rows_new == 3
    assert {row[2] for row in answer(many, ALL)} == set("ACDE")
    assert sound(many)


def test_a_load_begins_again_if_the_state_that_it_reads_is_forgotten(many: Folder, tmp_path: Path) -> None:
    forgetting = [many]

    def work(database: Database) -> Loaded:
        while forgetting:
            compact(forgetting[0])
            compact(forgetting.pop(), datetime.now(UTC))
        return load(database, file, "scores")

    file = scores(tmp_path, "E")
    done, _ = change_lake(many, "load", work, [file])
    assert done.rows_new == 3
    assert {row[2] for row in answer(many, ALL)} == set("ACDE")
    assert sound(many)


def test_a_question_whose_files_are_removed_meanwhile_says_so(many: Folder) -> None:
    with Session.open(many.path) as session:
        session.follows = False
        compact(many)
        compact(many, datetime.now(UTC))
        with pytest.raises(WarehouseError, match=r"^score/[0-9a-f]+\.parquet, a file of the lake, was removed while"):
            session.run(ALL)


def test_loads_and_forgetting_happen_while_files_are_merged(
    many: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merging = maintenance._merge_small_files

    def merged(place: LakePlace, state: object) -> Iterator[object]:
        yield from merging(place, state)  # type: ignore[arg-type]
        loaded(place, scores(tmp_path, "E"))
        change_lake(place, "forget", lambda database: forget(database, 3))

    monkeypatch.setattr(maintenance, "_merge_small_files", merged)
    compact(many)
    assert {row[2] for row in answer(many, ALL)} == set("ADE")
    assert check(many) == ((), ())


def test_a_session_that_was_opened_before_goes_on(many: Folder) -> None:
    with Session.open(many.path) as session:
        before = session.run(ALL)
        compact(many)
        session.follows = False
        assert session.run(ALL) == before


def test_a_kill_at_any_place_changes_nothing_that_is_read(many: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    present = answer(many, ALL)
    for step in ("write_file", "_publish_merged", "settle", "unnamed_files"):
        with monkeypatch.context() as dying:
            dying.setattr(maintenance, step, _dies)
            with pytest.raises(KeyboardInterrupt):
                compact(many, datetime.now(UTC))
        assert answer(many, ALL) == present
        wrong, hints = check(many)
        assert wrong == ()
        assert step in ("write_file", "settle", "unnamed_files") or any("belong" in hint for hint in hints)
    compact(many, datetime.now(UTC))
    assert answer(many, ALL) == present
    assert check(many) == ((), ())


def _dies(*arguments: object, **named: object) -> None:
    raise KeyboardInterrupt


def test_check_names_the_file(many: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    present, past = read_log(many).last.of("score"), read_log(many).after(3).of("score")
    gone = next(file for file in past if file not in present)
    (many.path / gone.path).unlink()
    other = present[0]
    raw = bytearray((many.path / other.path).read_bytes())
    raw[len(raw) // 2] ^= 1
    (many.path / other.path).write_bytes(raw)
    shorter = present[1]
    (many.path / shorter.path).write_bytes(b"PAR1")
    os.truncate(many.path / shorter.path, 3)
    capsys.readouterr()
    assert main(["check", "--db", many.called]) == 1
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(
        [
            f"{gone.path} is missing or cannot be read, and only the past needs it",
            f"{other.path} is not what was written",
            f"{shorter.path} has 3 bytes instead of {shorter.bytes:,}",
        ]
    )


def test_check_finds_what_another_program_changed(many: Folder) -> None:
    from deltalake import DeltaTable

    DeltaTable(str(many.path / "score")).delete("correct = 5")
    assert check(many)[0] == ("the Delta table score was changed by another program, which evalhouse does not read",)


def test_a_change_that_was_not_settled_is_told(many: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from evalhouse.warehouse.lake import changes as changing

    with monkeypatch.context() as dying:
        dying.setattr(changing, "settle", _dies)
        with pytest.raises(KeyboardInterrupt):
            loaded(many, scores(tmp_path, "E"))
    wrong, hints = check(many)
    assert wrong == ()
    assert "the Delta table score lacks the last change; the next load or compact adds it" in hints
    compact(many)
    assert check(many) == ((), ())
    assert {row[2] for row in answer(many, ALL)} == set("ACDE")


def test_the_log_is_read_again_if_it_was_compacted_meanwhile(many: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = delta.open_table
    times: list[int] = []

    def open_table(place: LakePlace, table: str) -> object:
        found = opened(place, table)
        if not times:
            times.append(1)
            compact(many)
        return found

    monkeypatch.setattr(delta, "open_table", open_table)
    log = read_log(many)
    assert isinstance(log, LakeLog)
    assert log.changes[-1].kind == "compact" != LOAD
