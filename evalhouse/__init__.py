"""evalhouse: store evaluation results, query them, and test which differences are real.

    import evalhouse as eh

    w = eh.create("evals.duckdb")      # or eh.open("evals.duckdb"); eh.open(sample=True)
    w.load("results/")                 # files, folders, a pandas, polars or Arrow table
    w.compare("F1", "GE", "UMASS", on="TST3", shuffles=9999)
    eh.compare(frame, "accuracy", "new", "base", cluster="passage")   # without a warehouse

`open` and `create` give a `Warehouse`, which has a method for each statement of the language; those give a `Result`.
`python -m evalhouse` is the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalhouse.warehouse.python.interface import (
        Error,
        LoadError,
        NotMetError,
        Picture,
        QueryError,
        Result,
        UndecidedError,
        UnmetError,
        Warehouse,
        WarehouseError,
        __version__,
        compare,
        create,
        differ,
        documents,
        group,
        open,
        power,
        rank,
        score,
        spread,
        table,
    )

__all__ = [
    "Error",
    "LoadError",
    "NotMetError",
    "Picture",
    "QueryError",
    "Result",
    "UndecidedError",
    "UnmetError",
    "Warehouse",
    "WarehouseError",
    "__version__",
    "compare",
    "create",
    "differ",
    "documents",
    "group",
    "open",
    "power",
    "rank",
    "score",
    "spread",
    "table",
]


def __getattr__(name: str) -> Any:
    # The command line is in this package too. `evalhouse --help` should not wait for numpy and DuckDB.
    if name not in __all__ and name != "load_ipython_extension":
        if name.startswith("_"):
            raise AttributeError(f"module 'evalhouse' has no attribute {name!r}")
        from evalhouse.warehouse.python.other_words import MODULE, no_attribute

        raise no_attribute("module 'evalhouse'", name, MODULE, __all__)
    from evalhouse.warehouse.python import interface

    return getattr(interface, name)


def __dir__() -> list[str]:
    return __all__
