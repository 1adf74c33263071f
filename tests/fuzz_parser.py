"""The parser under atheris, which searches for texts that reach new branches. `make fuzz` runs it. A text must either
be statements that stay the same when they are printed and parsed again, or give an error with a place; anything else
ends the run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with atheris.instrument_imports(include=["grammar"]):
    from evalhouse.grammar.errors import QueryError
    from evalhouse.grammar.parser import parse
    from evalhouse.grammar.printer import to_text


def one(content: bytes) -> None:
    """Parses a text."""
    text = content.decode("utf-8", "ignore")
    try:
        statements = parse(text)
    except QueryError as error:
        if not error.message or not 0 <= error.span.start <= error.span.end <= len(text) + 1:
            raise RuntimeError(f"not said well: {error}") from error
        return
    if parse("; ".join(map(to_text, statements))) != statements:
        raise RuntimeError("not the same when it is printed and read again")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
