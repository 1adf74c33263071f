"""What an observation of a test set is called, and which observations tests exchange together.

The language calls every observation a document; people may call it a message, a topic or a sentence. This module must
not know about files or the database.
"""

from __future__ import annotations

from msgspec import Struct

PLAIN_NOUN = "document"
"""The name of an observation if nothing else was declared. As a cluster it means that observations are exchanged one by
one.
"""


class Observed(Struct, frozen=True):
    """What is declared about the observations of a test set; each part is empty if nothing was declared.

    `noun` is the name of one observation, in the singular: topic. `cluster` is the attribute that dependent documents
    share; tests exchange documents with the same value together. It is PLAIN_NOUN if each document is exchanged by
    itself.
    """

    noun: str = ""
    cluster: str = ""

    def or_else(self, other: Observed) -> Observed:
        """This declaration, with empty parts filled in from the other."""
        return Observed(self.noun or other.noun, self.cluster or other.cluster)

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The settings of `load --set` that declare it."""
        return tuple((key, text) for key, text in (("noun", self.noun), ("cluster", self.cluster)) if text)

    def __bool__(self) -> bool:
        return bool(self.noun or self.cluster)


def plural(noun: str) -> str:
    """The plural: topics, queries, topic-document pairs. In a phrase with `of` the noun before it changes: units of
    document.source.
    """
    head, of, rest = noun.partition(" of ")
    if of:
        return f"{plural(head)} of {rest}"
    if noun.endswith("y") and noun[-2:-1].casefold() not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith("sis"):
        return f"{noun[:-2]}es"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def counted(number: int, noun: str) -> str:
    """The number with its noun: 1 topic, 80,914 topic-document pairs."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"
