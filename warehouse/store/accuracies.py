"""What logs call the metric that was loaded as the accuracy, so that the accuracy of a test set is always the same one.

It is written down with each import. Nothing is decided here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evalhouse.warehouse.measures.values import ACCURACY
from evalhouse.warehouse.store.sql import value, values

if TYPE_CHECKING:
    from evalhouse.warehouse.store.database import Database


def accuracies(database: Database, test_sets: Iterable[int]) -> tuple[str, ...]:
    """The names, with their filters, that logs give to the metric that was loaded as the accuracy of test sets."""
    of = " where measure = " + value(ACCURACY) + " and test_set_id in " + values(test_sets)
    rows = "(select import_id from value" + of + " union select import_id from published" + of + ")"
    loads = database.rows("select distinct options from import where id in " + rows)
    return tuple(sorted({called for (options,) in loads if (called := json.loads(options).get("accuracy"))}))
