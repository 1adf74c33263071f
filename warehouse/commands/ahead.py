"""What a command imports while DuckDB starts: numpy and the comparison of pairs, if its statements seem to need them.

DuckDB starts partly without Python, which is then free to import. Nothing waits for all of this: whoever needs a module
that is being imported waits for that module.
"""

from __future__ import annotations

import threading


def import_ahead(text: str) -> None:
    """Begins the imports in another thread if the text contains the word of a statement that tests. They are for
    nothing if the word is only a name.
    """
    from grammar.nodes import Tested

    text = text.casefold()
    if any(tested.words in text for tested in Tested.__subclasses__()):
        threading.Thread(target=_import, daemon=True).start()


def _import() -> None:
    from warehouse.quick_numpy import import_numpy

    import_numpy()
    import warehouse.query.comparison.pairs  # noqa: F401
