"""Recognizes late that a column is no attribute: one that looked the same for all systems, until a later file showed
that it differs between them. The attributes that earlier tables had from it are removed, and a note says so.

Attributes that somebody stored as such, with a table of documents or of systems, are never removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import DOCUMENTS, SYSTEMS, VALUES, ColumnUse, FactForm
from evalhouse.warehouse.loading.checks import FilePart
from evalhouse.warehouse.loading.facts import make_facts
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.store.catalog import declarations
from evalhouse.warehouse.store.column_roles import ColumnRole
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, literal, name, value, values

_ATTRIBUTES: dict[ColumnUse, FactForm] = {"not of documents": DOCUMENTS, "not of systems": SYSTEMS}
"""For the roles of columns that are no attributes, the form of the attributes that they are not."""


class LateAnswers:
    """What one file shows about columns: `roles` are what they are, and `imports` those that lost attributes."""

    def __init__(self, database: Database, reader: Sequence[str]) -> None:
        """For a file of a reader of these names, which takes columns for attributes unless their cells forbid it."""
        self.roles: list[ColumnRole] = []
        self.imports: set[int] = set()
        self.notes: list[str] = []
        self._database, self._reader = database, reader
        self._values: FilePart | None = None

    def recognize(self, part: FilePart) -> None:
        """Removes stored attributes that a part of the file, whose rows are in `fact`, shows to be none; and from
        `fact` those that the stored ones show to be none. Call it for the values of the file first.
        """
        form, staged = part.staging.form, part.staged
        if form is VALUES:
            self._values = part
        if staged.taken:
            placed = self._database.rows(Sql("select evaluation, test_set, test_set_id from placed"))
            numbers = {(evaluation, test_set): int(number) for evaluation, test_set, number in placed}
            for of, heading, role in staged.taken:
                if of in numbers:
                    self._add(ColumnRole(numbers[of], heading, role), "differs, or holds what systems said")
        if staged.inferred and form is DOCUMENTS:
            for test_set, heading in self._differing_on_documents(part):
                self._add(ColumnRole(test_set, heading, "not of documents"), "differs between systems")
                of_test_set = f" and document_id in ({_documents(test_set)})"
                self._database.run("delete from fact where name = " + value(heading) + of_test_set)
        if staged.inferred and form is SYSTEMS:
            for test_set, heading in self._differing_within_systems(part):
                self._add(ColumnRole(test_set, heading, "not of systems"), "has several values for a system")
                self._database.run("delete from fact where name = " + value(heading))

    def _differing_on_documents(self, part: FilePart) -> list[tuple[int, str]]:
        """The attributes, by test set, of which another system is stored with another value on the same document. A
        system that contradicts what its own file said of a document is an error in the file, and not meant here.
        """
        unlike = (
            " from fact a join document_attribute b on b.document_id = a.document_id and b.name = a.name "
            "join document d on d.id = a.document_id join import i on i.id = b.import_id where a.value <> b.value "
            "and i.reader in " + values(self._reader) + " and a.name in " + values(sorted(part.staged.inferred))
        )
        if self._values is None or not self._database.rows("select 1" + unlike + " limit 1"):
            return []
        make_facts(self._values.staging, self._values.staged)
        self._database.run(
            Sql("create or replace temp table said_by as select distinct document_id, system_id from fact")
        )
        make_facts(part.staging, part.staged)
        others = (
            " and exists (from said_by s where s.document_id = a.document_id and not exists (from value v where "
            "v.document_id = s.document_id and v.system_id = s.system_id and v.import_id = b.import_id))"
        )
        found = self._database.rows("select distinct d.test_set_id, a.name" + unlike + others + " order by all")
        self._database.forget("said_by")
        clusters = {(said.test_set, said.cluster) for said in declarations(self._database) if said.by_setting}
        return [pair for pair in found if pair not in clusters]

    def _differing_within_systems(self, part: FilePart) -> list[tuple[int, str]]:
        """The attributes of which a system is stored with another value, on each test set of the file."""
        found = self._database.rows(
            "select distinct p.test_set_id, a.name from fact a join system_attribute b on b.system_id = a.system_id "
            "and b.name = a.name join import i on i.id = b.import_id, placed p where a.value <> b.value "
            "and i.reader in " + values(self._reader) + " and a.name in " + values(sorted(part.staged.inferred))
            + " order by all"
        )  # fmt: skip
        return list(found)

    def _add(self, role: ColumnRole, why: str) -> None:
        """Adds a role, and removes the attributes that earlier files had from a column which is none; `why` it is."""
        self.roles.append(role)
        form = _ATTRIBUTES.get(role.role)
        if form is None:
            return
        of = "name = " + literal(role.heading)
        if form is DOCUMENTS:
            of += f" and document_id in ({_documents(role.test_set)})"
        counted = (
            "select f.import_id, count(*) from "
            + name(form.table)
            + f" f join import i on i.id = f.import_id where f.{of}"
        )
        found = self._database.rows(counted + " and i.reader in " + values(self._reader) + " group by 1 order by 1")
        for number, rows in found:
            self._database.remove_rows(form.table, f"{of} and import_id = {int(number)}")
            self._database.run(Sql("update import set rows = rows - ? where id = ?", (rows, number)))
            self.imports.add(int(number))
        if found:
            removed = quantity(sum(rows for _, rows in found), "value")
            imports = ", ".join(str(number) for number, _ in found)
            self.notes.append(
                f"{quote_cell(role.heading)[1:-1]} {why}, so it is no longer an attribute of {form.name}; removed: "
                f"{removed} of import {imports}"
            )


def _documents(test_set: int) -> str:
    """The query for the documents of a test set. Views have it, and take no parameters."""
    return f"select id from document where test_set_id = {int(test_set)}"
