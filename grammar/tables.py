"""The parser's tables, computed once and shipped, because computing them from language.lark takes five times as long.

`python -m grammar.tables` writes language.tables afresh; it is needed after every change of language.lark. Tables of
another grammar or of another release of lark are passed over, and the parser is then built from language.lark.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import zlib
from pathlib import Path
from typing import Any

from lark import Lark, Transformer
from lark import __version__ as lark_release

from grammar.lexicon import GRAMMAR

TABLES = Path(__file__).with_name("language.tables")


def parser(builder: Transformer[Any, Any]) -> Lark:
    """A parser that calls the builder's methods: from the shipped tables where they fit, else from the grammar."""
    if TABLES.exists():
        # Pickled, as lark saves them: numbers stay numbers, and reading takes a fifth of the time that JSON does.
        shipped = pickle.loads(zlib.decompress(TABLES.read_bytes()))
        if shipped["of"] == _signature():
            # Lark.load, the public way, takes no transformer; the signature holds lark's release fixed.
            restored: Lark = Lark._load_from_dict(  # type: ignore[no-untyped-call]
                shipped["data"], shipped["memo"], transformer=builder
            )
            return restored
    return from_grammar(builder)


def from_grammar(builder: Transformer[Any, Any] | None) -> Lark:
    """A parser built from language.lark."""
    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=builder,
    )


def write() -> None:
    """Write language.tables from language.lark."""
    saved = io.BytesIO()
    from_grammar(None).save(saved)
    tables = {"of": _signature(), **pickle.loads(saved.getvalue())}
    TABLES.write_bytes(zlib.compress(pickle.dumps(tables, protocol=5), 9))


def _signature() -> str:
    """What the tables depend on: the grammar, whatever its line ends, and the release of lark."""
    grammar = hashlib.sha256(GRAMMAR.read_text(encoding="utf-8").encode()).hexdigest()
    return f"lark {lark_release}, grammar {grammar}"


if __name__ == "__main__":
    write()
