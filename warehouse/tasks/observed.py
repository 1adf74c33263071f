"""What is observed once on a test set: what it is called, and what tests exchange as a whole.

The language calls every observation a document; people call it a message, a topic, a sentence. Nothing here knows of
files or of the database.
"""

from __future__ import annotations

from grammar.value import value

PLAIN_NOUN = "document"
"""What an observation is called of which nothing is known, and the cluster of those that are exchanged one by one."""


@value
class Observed:
    """What is declared of the observations of a test set, each part empty where nothing is said.

    `noun` is what one is called, in the singular: topic. `cluster` is the attribute that documents share which are not
    independent, so that tests exchange them together; PLAIN_NOUN where each is exchanged by itself.
    """

    noun: str = ""
    cluster: str = ""

    def or_else(self, other: Observed) -> Observed:
        """What is declared here, and where nothing is, what is declared there."""
        return Observed(self.noun or other.noun, self.cluster or other.cluster)

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """What `load --set` says of it."""
        return tuple((key, text) for key, text in (("noun", self.noun), ("cluster", self.cluster)) if text)

    def __bool__(self) -> bool:
        return bool(self.noun or self.cluster)


def plural(noun: str) -> str:
    """topics, queries, topic-document pairs; of a phrase with `of` its head: units of document.source."""
    head, of, rest = noun.partition(" of ")
    if of:
        return f"{plural(head)} of {rest}"
    if noun.endswith("y") and noun[-2:-1].casefold() not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith("sis"):
        return f"{noun[:-2]}es"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def counted(number: int, noun: str) -> str:
    """1 topic, 80,914 topic-document pairs."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"
