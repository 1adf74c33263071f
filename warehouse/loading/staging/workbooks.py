"""Excel workbooks as CSV: the one sheet that is not empty, one row per line. Needs the package openpyxl, from the extra
`excel`.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.staged import Staging

WORKBOOKS = (".xlsx", ".xlsm")
"""The file name endings of workbooks."""


@contextlib.contextmanager
def csv_of_workbook(staging: Staging) -> Iterator[Path]:
    """A temporary CSV file with the rows of a workbook. Missing cells are empty.

    Raises DataError if the file is not a workbook, or if several of its sheets are not empty.
    """
    with tempfile.TemporaryDirectory(dir=staging.database.spill) as folder:
        made = Path(folder) / "sheet.csv"
        with made.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(workbook_rows(staging))
        yield made


def workbook_rows(staging: Staging) -> Iterator[list[str]]:
    """The rows of a workbook as texts. Raises DataError as `csv_of_workbook` does."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        said = 'reading a workbook needs the package openpyxl: pip install "evalhouse[excel]"'
        raise staging.refusal(said) from None
    with staging.door.open(staging.source) as binary, warnings.catch_warnings():
        # What openpyxl leaves out, such as pictures, does not matter here.
        warnings.simplefilter("ignore")
        try:
            book = openpyxl.load_workbook(binary, read_only=True, data_only=True)
        except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError):
            raise staging.refusal("this is not a sound Excel workbook") from None
        sheets = [sheet for sheet in book.worksheets if any(_texts(row) for row in sheet.iter_rows(values_only=True))]
        if len(sheets) != 1:
            names = ", ".join(shown(sheet.title) for sheet in sheets)
            several = f"several sheets have rows: {names}; save the one that is meant as a file of its own"
            raise staging.refusal(several if sheets else "no sheet of the workbook has rows")
        width = 0
        for row in sheets[0].iter_rows(values_only=True):
            texts = _texts(row)
            width = width or len(texts)
            yield texts + [""] * (width - len(texts))
        book.close()


def _texts(row: tuple[Any, ...]) -> list[str]:
    """The cells of a row as texts, up to the last one that is not empty."""
    texts = [_text(cell) for cell in row]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)
