"""Helps tests to ask for a picture."""

from __future__ import annotations

from evalhouse.warehouse.charts import Chart
from evalhouse.warehouse.session.session import Session


def chart_of(session: Session, query: str) -> Chart:
    chart = session.run(query).chart
    assert chart is not None
    return chart
