"""Helps tests to ask for a picture."""

from __future__ import annotations

from warehouse.charts import Chart
from warehouse.session import Session


def chart_of(session: Session, query: str) -> Chart:
    chart = session.run(query).chart
    assert chart is not None
    return chart
