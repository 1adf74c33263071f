"""Small score files as texts, and the types of the fixtures that load them."""

from __future__ import annotations

from collections.abc import Callable

from evalhouse.warehouse.loading.ingest import Loaded

SCORES = "test_set,system,document,possible,actual,correct,partial\n"
THREE = "T,GE,D0,10,9,7,1\nT,GE,D1,10,9,7,1\nT,GE,D2,10,9,7,1\n"

Load = Callable[..., Loaded]
Complaints = Callable[..., list[str]]
