"""What a load declares about its documents: the noun for one document, and the cluster, the attribute whose documents
tests exchange together. Readers declare both for their format; the settings `noun` and `cluster` declare them for
one load.

Declarations are not facts. They are stored beside the facts, and removed when their import is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import normalize

from msgspec import Struct

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
"""The settings that `--set` takes in addition to the fields of facts."""

Said = tuple[int, str | None, str | None, str | None, bool]
"""Test set, task, noun, cluster, and whether a setting declared them: a row of the table `observed` without its import.
"""


class Declaring(Struct, frozen=True):
    """What the reader and the settings declare about the documents of a file."""

    reader: Reader
    settings: Observed

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
        """Raises DataError if the cluster that is set is neither a column of the file nor a stored attribute of
        documents. Files without a known list of columns are not checked.
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
        """The settings for a form. If a reader has two kinds of documents, the noun that is set does not apply to the
        kind whose noun is made of its parts, such as topic-document pair.
        """
        return Observed("" if form.name in self.reader.observed_in else self.settings.noun, self.settings.cluster)

    def _tasks(self, form: FactForm) -> list[str | None]:
        """The tasks of the rows of a form; None stands for all tasks, if a file has only attributes."""
        tasks: list[str | None] = [task.name for task in TASKS.values() if form.table in task.decided_by]
        return tasks or ([None] if len(self.reader.forms) == 1 else [])


def has_documents(reader: Reader) -> bool:
    """Whether a reader's rows are about documents. Those of a table of systems are not."""
    return any(DOCUMENT in form.key for form in reader.forms)


def parted(staging: Staging, reader: Reader) -> tuple[dict[str, str], Declaring]:
    """Splits the settings into the fields that are set for all rows and what is declared. If a file has no documents,
    `noun` and `cluster` stay among the fields and are refused there. Raises DataError for a setting that is not a
    valid name.
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
    """Whether all of this was already declared in the same words."""
    known = {(old.test_set, old.task, old.noun, old.cluster, old.by_setting) for old in declarations(database)}
    return all((of, task or "", noun or "", cluster or "", by) in known for of, task, noun, cluster, by in said)


def store(database: Database, said: Iterable[Said], import_id: int) -> None:
    """Stores the declarations of an import, each one once."""
    if rows := [values((*row, import_id)) for row in dict.fromkeys(said)]:
        database.run("insert into observed values " + join(", ", rows))


def forget(database: Database, import_id: int) -> None:
    """Removes the declarations of an import, and those about test sets that no longer exist."""
    gone = " or test_set_id not in (select id from test_set)"
    database.run("delete from observed where import_id = " + value(import_id) + gone)


def notes(database: Database, said: Iterable[Said]) -> list[str]:
    """A note for each test set in which no document has the attribute that was set as the cluster."""
    clusters = dict.fromkeys((row[0], row[3]) for row in said if row[4] and row[3] not in (None, PLAIN_NOUN))
    lines = []
    for test_set, cluster in clusters:
        having = "select d.id from document d join document_attribute a on a.document_id = d.id where a.name = "
        without = "select name from test_set where id = " + value(test_set) + " and not exists (" + having
        for (undeclared,) in database.rows(without + value(cluster) + " and d.test_set_id = " + value(test_set) + ")"):
            lines.append(
                f"no document of {undeclared} has the attribute {cluster}; until some do, each is exchanged by itself"
            )
    return lines
