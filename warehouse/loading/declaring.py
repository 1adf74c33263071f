"""What a load says of the documents it brings: what one is called, and of what it is a part that tests exchange as a
whole. A reader says it of its format, the settings `noun` and `cluster` of one load.

It is no fact, so it is kept beside the facts; it goes when its import is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import normalize

from grammar.editing.hints import hints
from warehouse.faults import DataError
from warehouse.loading.checks import FilePart
from warehouse.loading.staging.cells import KINDS, complaint, shown
from warehouse.loading.staging.reader import Reader
from warehouse.loading.staging.staged import Staging
from warehouse.store.database import Database
from warehouse.store.declarations import declarations
from warehouse.store.sql import Sql, join, value, values
from warehouse.tasks import TASKS
from warehouse.tasks.observed import PLAIN_NOUN, Observed
from warehouse.tasks.records import DOCUMENT, FactForm

SETTINGS = ("noun", "cluster")
"""What `--set` takes beside the fields of facts."""

Said = tuple[int, str | None, str | None, str | None, bool]
"""Test set, task, noun, cluster, and whether a setting said so: a row of the table `observed` without its import."""


@dataclass(frozen=True, slots=True)
class Declaring:
    """What is declared of the documents of a file: by its reader, and by settings."""

    reader: Reader
    settings: Observed

    @property
    def attribute(self) -> str:
        """The attribute that is set to be the cluster; empty where none is, or each document is to be one."""
        return "" if self.settings.cluster == PLAIN_NOUN else self.settings.cluster

    def said(self, part: FilePart) -> list[Said]:
        """What is said of the documents of a part of the file, whose test sets have their numbers."""
        form = part.staging.form
        if DOCUMENT not in form.key:
            return []
        test_sets = part.staging.database.rows(Sql("select distinct test_set_id from placed order by 1"))
        return [
            (test_set, task, observed.noun or None, observed.cluster or None, by_setting)
            for (test_set,) in test_sets
            for task in self._tasks(form)
            for observed, by_setting in (
                (part.staged.observed or self.reader.observed(form), False),
                (self._set(form), True),
            )
            if observed
        ]

    def check(self, part: FilePart) -> None:
        """Raises DataError where the cluster that is set is no column of a file whose columns are all known, and no
        document has an attribute of that name from elsewhere.
        """
        header, cluster = part.staged.header, self.attribute
        if not (cluster and header) or cluster in header:
            return
        stored = Sql("select distinct name from document_attribute order by name")
        attributes = [str(attribute) for (attribute,) in part.staging.database.rows(stored)]
        if cluster not in attributes:
            fault = part.staging.fault(f"no column and no attribute of documents is called {shown(cluster)}")
            raise DataError((fault,), hints=hints(cluster, [*header, *attributes], "columns"))

    def _set(self, form: FactForm) -> Observed:
        """The settings for a form. Where a reader has two kinds of documents, the noun is not that of the kind which
        is called by what it consists of.
        """
        return Observed("" if form.name in self.reader.observed_in else self.settings.noun, self.settings.cluster)

    def _tasks(self, form: FactForm) -> list[str | None]:
        """The tasks that rows of a form are of; where a file brings attributes alone, all of them: None."""
        tasks: list[str | None] = [task.name for task in TASKS.values() if form.table in task.decided_by]
        return tasks or ([None] if len(self.reader.forms) == 1 else [])


def has_documents(reader: Reader) -> bool:
    """Whether rows of a reader are of documents; those of a table of systems are not."""
    return any(DOCUMENT in form.key for form in reader.forms)


def parted(staging: Staging, reader: Reader) -> tuple[dict[str, str], Declaring]:
    """The fields that are set for all rows, and what is declared. Where a file has no documents the settings stay among
    the fields, and are refused as such. Raises DataError for a setting that is no name.
    """
    fields = dict(staging.fields)
    declared = SETTINGS if has_documents(reader) else ()
    settings = {key: normalize("NFC", fields.pop(key).strip()) for key in declared if key in fields}
    is_name = "select it <> '' and " + KINDS["name"].passed_by(Sql("it")) + " from (select ?::varchar as it)"
    for key, text in settings.items():
        if not staging.database.rows(Sql(is_name.text, (text,)))[0][0]:
            raise staging.refusal(complaint("name", f"the value set for {key}", text or None))
    cluster = settings.get("cluster", "").removeprefix(f"{PLAIN_NOUN}.")
    return fields, Declaring(reader, Observed(settings.get("noun", ""), cluster))


def is_known(database: Database, said: Iterable[Said]) -> bool:
    """Whether all of this was declared before in the same words."""
    known = {(old.test_set, old.task, old.noun, old.cluster, old.by_setting) for old in declarations(database)}
    return all((of, task or "", noun or "", cluster or "", by) in known for of, task, noun, cluster, by in said)


def store(database: Database, said: Iterable[Said], import_id: int) -> None:
    """Stores what an import says, each thing once."""
    if rows := [values((*row, import_id)) for row in dict.fromkeys(said)]:
        database.run("insert into observed values " + join(", ", rows))


def forget(database: Database, import_id: int) -> None:
    """Removes what an import said, and what was said of test sets that are gone."""
    gone = " or test_set_id not in (select id from test_set)"
    database.run("delete from observed where import_id = " + value(import_id) + gone)


def notes(database: Database, said: Iterable[Said]) -> list[str]:
    """What there is to note of a cluster that was set: that no document has the attribute."""
    clusters = dict.fromkeys((row[0], row[3]) for row in said if row[4] and row[3] not in (None, PLAIN_NOUN))
    notes = []
    for test_set, cluster in clusters:
        having = "select d.id from document d join document_attribute a on a.document_id = d.id where a.name = "
        without = "select name from test_set where id = " + value(test_set) + " and not exists (" + having
        for (name,) in database.rows(without + value(cluster) + " and d.test_set_id = " + value(test_set) + ")"):
            notes.append(
                f"no document of {name} has the attribute {cluster}; until some do, each is exchanged by itself"
            )
    return notes
