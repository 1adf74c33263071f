"""Errors of Spark, as errors of one line."""

from __future__ import annotations

import re

from warehouse.faults import WarehouseError

LOST = ("UNAVAILABLE", "failed to connect to all addresses", "RETRIES_EXCEEDED", "Connection refused")
"""What gRPC says of a server that does not answer."""

NO_SESSION = ("session is not running", "SESSION_NOT_FOUND", "SESSION_CLOSED", "SESSION_CHANGED")
"""What a server says of a session that it does not know, because it was started again."""


def failed(error: Exception, at: str) -> WarehouseError:
    """The error of a statement that Spark `at` an address could not answer. Raises any error that is not Spark's."""
    if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark", "grpc"):
        raise error
    text = str(error)
    if "cancelled" in text.lower() or "canceled" in text.lower():
        return WarehouseError("interrupted")
    if any(sign in text for sign in (*LOST, *NO_SESSION)) or type(error).__name__ == "RetriesExceeded":
        return WarehouseError(f"Spark at {at} was lost", ("ask again once it runs",))
    if found := re.search(r"No module named '(\w+)", text):
        what = f"the Python of Spark's workers has no module {found[1]}"
        return WarehouseError(what, ("install the same evalhouse for the Python that runs the workers",))
    return WarehouseError(f"Spark cannot answer this: {sentence(text)}")


def sentence(text: str) -> str:
    """The innermost cause of a long Spark message, in one line and without the trace."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r":? ?[\w.]+(Exception|Error): ", line)]
    causes = [line for line in lines if line.startswith("Caused by: ")] or errors
    said = (causes or lines or ["nothing is known"])[-1 if causes else 0]
    said = re.sub(r"^\([\w.$]+\) ", "", said)
    return re.sub(r"^(Caused by: |: )?([\w.$]+(Exception|Error): )*", "", said).rstrip(" .!")[:300]
