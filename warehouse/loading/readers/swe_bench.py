"""Reports of SWE-bench and of benchmarks that are scored like it: which instances a model resolved.

There are three kinds: the report of a run, `<model>.<run>.json` with `resolved_ids` and similar lists; the report of
one instance, `report.json` with `resolved`, in `<run>/<model>/<instance>/`; and the report of a submission, with lists
named `resolved`, `no_generation` and so on. `accuracy` is 1 for resolved instances and 0 for all others that were
submitted, as the benchmark counts it. Instances with an empty patch or an error are also failures. Instances that were
not submitted are failures without a value. What a report counts is compared with what it lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.records import FAILURES, VALUES
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure, Values
from evalhouse.warehouse.measures.values import ACCURACY

EXAMPLE = """\
{"total_instances": 3, "submitted_instances": 3, "completed_instances": 2, "resolved_instances": 1,
 "submitted_ids": ["a__a-1", "a__a-2", "b__b-7"], "completed_ids": ["a__a-1", "a__a-2"],
 "resolved_ids": ["a__a-1"], "unresolved_ids": ["a__a-2"], "empty_patch_ids": ["b__b-7"], "error_ids": [],
 "schema_version": 2}
"""

LARGEST = 16 * 1024 * 1024
"""The largest report that is read, in bytes."""


class _Lists(Struct, frozen=True):
    """The names of the lists in one kind of report: resolved instances, instances submitted but not resolved, and
    failed instances by reason.
    """

    resolved: str
    others: tuple[str, ...]
    failed: dict[str, str]
    absent: tuple[str, ...] = ()


_OF_RUN = _Lists(
    "resolved_ids",
    ("unresolved_ids", "completed_ids", "submitted_ids", "empty_patch_ids", "error_ids"),
    {"empty_patch_ids": "no answer", "error_ids": "error"},
    ("incomplete_ids",),
)
_OF_SUBMISSION = _Lists(
    "resolved",
    ("generated", "with_logs", "applied", "install_fail", "reset_failed", "no_apply", "test_errored", "test_timeout"),
    {"no_generation": "no answer", "no_logs": "error", "install_fail": "error", "reset_failed": "error",
     "no_apply": "error", "test_errored": "error", "test_timeout": "error"},
)  # fmt: skip


class _Instance(Struct, frozen=True):
    """The outcome of one instance. The value is None if the instance was not submitted."""

    name: str
    value: int | None
    reason: str = ""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the resolved instances. Raises DataError if the file is not a report, or if it contradicts itself."""
    with Sheets(staging, VALUES, FAILURES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        for document in documents(staging):
            said = document.json(LARGEST)
            if not isinstance(said, dict):
                raise document.refusal("this is not an object")
            instances = list(_instances(document, said))
            test_set, system = _names_of_run(staging, of_one=_is_of_one(said))
            _state_counts(staging, document, said, test_set, system)
            for instance in instances:
                if instance.value is not None:
                    values.add(None, test_set, system, instance.name, ACCURACY, instance.value, member=document.member)
                if instance.reason:
                    failures.add(None, test_set, system, instance.name, instance.reason, member=document.member)
        return sheets.staged()


_COUNTED = ("submitted", "completed", "resolved", "unresolved", "empty_patch", "error")
"""What the report of a run both counts (`resolved_instances`) and lists (`resolved_ids`)."""


def _state_counts(staging: Staging, document: Document, said: dict[str, Any], test_set: str, system: str) -> None:
    """Hands over what the report of a run counts. Resolved and submitted instances are counted in the values, the
    others in their lists.
    """
    for kind in _COUNTED:
        count, listed = said.get(f"{kind}_instances"), f"{kind}_ids"
        if not isinstance(count, int) or not isinstance(said.get(listed), list):
            continue
        figure = StatedFigure(
            test_set,
            (system,),
            ACCURACY,
            f"{kind}_instances",
            "the report",
            count,
            over_documents=_OF_VALUES.get(kind, len),
            values=None if kind in _OF_VALUES else (0.0,) * len(_names(document, said, listed)),
            computed_as=f"the number of {kind} instances here",
        )
        staging.state(figure)


_OF_VALUES: dict[str, Callable[[Values], float]] = {"submitted": len, "resolved": sum}
"""How instances are counted that have values: every one that was submitted has one."""


def _instances(document: Document, said: dict[str, Any]) -> Iterator[_Instance]:
    if _is_of_one(said):
        for name, report in said.items():
            empty = report.get("patch_is_None") is True or report.get("patch_exists") is False
            yield _Instance(name, int(report["resolved"]), "no answer" if empty else "")
        return
    for lists in (_OF_RUN, _OF_SUBMISSION):
        if isinstance(said.get(lists.resolved), list):
            yield from _list_instances(document, said, lists)
            return
    raise document.refusal("this is not a report of SWE-bench: it does not list what was resolved")


def _list_instances(document: Document, said: dict[str, Any], lists: _Lists) -> Iterator[_Instance]:
    resolved = _names(document, said, lists.resolved)
    reasons = {name: reason for key, reason in lists.failed.items() for name in _names(document, said, key)}
    if both := [name for name in resolved if name in reasons]:
        raise document.refusal(f"{both[0]} is listed as resolved and as failed")
    for name in resolved:
        yield _Instance(name, 1)
    submitted = dict.fromkeys(name for key in lists.others for name in _names(document, said, key))
    known = {*resolved, *submitted}
    for name in submitted:
        if name not in resolved:
            yield _Instance(name, 0, reasons.get(name, ""))
    for name, reason in reasons.items():
        if name not in known:
            yield _Instance(name, 0, reason)
    for key in lists.absent:
        for name in _names(document, said, key):
            if name not in known:
                yield _Instance(name, None, "no answer")


def _names(document: Document, said: dict[str, Any], key: str) -> dict[str, None]:
    """The names in a list, each once. Raises DataError if it is not a list of names."""
    names = said.get(key) or []
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise document.refusal(f"{key} is not a list of names")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise document.refusal(f"{twice} is listed twice in {key}")
    return dict.fromkeys(names)


def _is_of_one(said: dict[str, Any]) -> bool:
    """Whether a report is about single instances, which its keys name."""
    reports = list(said.values())
    return bool(reports) and all(isinstance(it, dict) and isinstance(it.get("resolved"), bool) for it in reports)


def _names_of_run(staging: Staging, of_one: bool) -> tuple[str, str]:
    """The test set and the system, from settings, or else from the names of the file or its folders:
    `<model>.<run>.json` or `<run>/<model>/<instance>/report.json`; and as in the repository of submissions,
    `<test set>/<submission>/results/results.json` and `<test set>/<submission>/logs/<instance>/report.json`.
    """
    folder = staging.source.absolute().parent
    if of_one and staging.source.name.startswith("report.") and folder.parent.name == "logs":
        submission = folder.parent.parent
        model, run, test_set = submission.name, "", submission.parent.name
    elif of_one and staging.source.name.startswith("report."):
        model, run, test_set = folder.parent.name, folder.parent.parent.name, folder.parent.parent.name
    else:
        stem = staging.source.name.partition(".json")[0]
        model, _, run = stem.rpartition(".") if "." in stem else (stem, "", "")
        if model in ("report", "results", "result"):
            folder = folder.parent if folder.name == "results" else folder
            model, folder = folder.name, folder.parent
        test_set = folder.name
    test_set = staging.named("test_set", test_set, "no folder names the test set")
    model = staging.named("system", model.replace("__", "/"), "no folder names the model")
    return test_set, staging.replicate(model, test_set, run=run or None)


def _recognizes(start: Start) -> str | None:
    keys = {path[-1] for path in start.keys if len(path) == 1}
    if "resolved_ids" in keys and not keys.isdisjoint({"submitted_ids", "unresolved_ids"}):
        return "its resolved_ids"
    of_one = {path[-1] for path in start.keys if len(path) == 2 and path[0] in keys}
    if {"resolved", "no_generation"} <= keys or {"resolved", "patch_successfully_applied"} <= of_one:
        return "its resolved instances"
    return None


READER = Reader(
    "swe-bench",
    "reports of SWE-bench: which instances were resolved",
    (VALUES, FAILURES),
    EXAMPLE,
    stage,
    noun="instance",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)
