"""The command `config`: prints the value of every setting, and where it was set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.commands import DONE

if TYPE_CHECKING:
    import argparse


def config(args: argparse.Namespace) -> int:
    """Prints the settings."""
    from warehouse.commands.answering import show
    from warehouse.commands.settings import file_of_user, held
    from warehouse.commands.talk import note
    from warehouse.query.table_rows import TableRows
    from warehouse.results import Column, Result

    columns = tuple(Column(name, "name") for name in ("setting", "value", "where", "meaning"))
    rows = TableRows.of(columns)
    for one in held(args.said):
        written = one.written if one.written is not None else one.setting.otherwise
        rows.add(setting=one.setting.name, value=written, where=one.where or "default", meaning=one.setting.meaning)
    show(args, Result("config", "settings", "", rows.table(columns)))
    file = file_of_user()
    known = f"settings file: {file}"
    none = f"no settings file yet ({file}); create it with lines such as digits = 1"
    note(args, known if file.exists() else none)
    return DONE
