"""Notes: what a reader has to know besides the rows of a result.

A note is a text. One of a kind that many rows may have also knows which rows it is about, and which numbers and names
it gives, so that many of one kind can be read as one: 6 pairs, F on TST3: ...; about 2,600 to 29,000 shuffles. Data
keep every note in full; whatever people read has them folded. Nothing here knows what a note means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

NAMED = 3
"""Up to this many names are read in a note; of more their number is said."""


class Figure(Struct, frozen=True):
    """A number in a note, how it is written, and perhaps what one thing and several things are called."""

    value: float
    number: str
    one: str = ""
    several: str = ""

    @property
    def text(self) -> str:
        """2,600; 1 document."""
        return _range([self])


def count(number: int, one: str = "", several: str = "") -> Figure:
    """A number of things: 2,600; 2,600 documents."""
    return Figure(number, f"{number:,}", one, several)


class Names(Struct, frozen=True):
    """Names in a note, of `things`, perhaps each with a number: 90 for GE, 95 for UMASS."""

    names: tuple[str, ...]
    counts: tuple[int, ...] = ()
    things: str = "systems"

    @property
    def text(self) -> str:
        """All of them."""
        return ", ".join(self._listed())

    @property
    def brief(self) -> str:
        """The first of them, how many more there are, and between which numbers these are."""
        rest = len(self.names) - NAMED
        if rest <= 1:  # the only one more takes no more room than its number
            return self.text
        numbers = f"{_range([count(number) for number in self.counts[NAMED:]])} for " if self.counts else ""
        return f"{', '.join(self._listed()[:NAMED])} and {numbers}{rest:,} more"

    def _listed(self) -> list[str]:
        if not self.counts:
            return [*self.names]
        return [f"{number:,} for {name}" for name, number in zip(self.names, self.counts, strict=True)]


Part = str | Figure | Names


class Subject(Struct, frozen=True):
    """The rows that a note is about: a pair of systems, a measure, a test set, or several of these; if none of them is
    said, all rows.
    """

    test_set: str = ""
    measure: str = ""
    pair: str = ""

    def __str__(self) -> str:
        return _phrase(self.pair, self.measure, self.test_set)


class Note(str):
    """A note of which there may be many of one kind. It is its own text, with all that it says.

    Two are of one kind if they say the same but for numbers and names, about subjects of the same kind. So what is said
    must be right of one subject and of several.
    """

    __slots__ = ("said", "subject")

    subject: Subject
    said: tuple[Part, ...]

    def __new__(cls, subject: Subject, *said: Part) -> Note:
        texts = (part if isinstance(part, str) else part.text for part in said)
        note = super().__new__(cls, _about(str(subject), "".join(texts)))
        note.subject, note.said = subject, said
        return note

    def __getnewargs__(self) -> tuple[Subject, *tuple[Part, ...]]:  # type: ignore[override]
        return (self.subject, *self.said)

    @property
    def kind(self) -> tuple[object, ...]:
        """What two notes of one kind have in common."""
        subject = self.subject
        words = (part if isinstance(part, str) else type(part) for part in self.said)
        return bool(subject.pair), bool(subject.measure), bool(subject.test_set), *words


# === folding ==========================================================================================================


def fold(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes as people read them: those of one kind as one, where the first of them stood."""
    kinds: dict[object, list[str]] = {}
    for note in dict.fromkeys(notes):
        kinds.setdefault(note.kind if isinstance(note, Note) else note, []).append(note)
    folded: list[str] = []
    for alike in kinds.values():
        of_kind = [note for note in alike if isinstance(note, Note)]
        folded += map(_as_one, _by_names(of_kind)) if of_kind else alike
    return tuple(folded)


def _by_names(notes: Sequence[Note]) -> Sequence[Sequence[Note]]:
    """Notes of one kind apart by the names that they give; together, where these would be many."""
    apart: dict[object, list[Note]] = {}
    for note in notes:
        apart.setdefault(tuple(part for part in note.said if isinstance(part, Names)), []).append(note)
    return [*apart.values()] if len(apart) <= NAMED else [notes]


def _as_one(notes: Sequence[Note]) -> str:
    """Notes of one kind, with how many they are and the ranges of their numbers."""
    parts = (_alike(parts) for parts in zip(*(note.said for note in notes), strict=True))
    return _about(_subjects([note.subject for note in notes]), "".join(parts))


def _alike(parts: Sequence[Part]) -> str:
    """The same part of several notes."""
    first = parts[0]
    match first:
        case str():
            return first
        case Figure():
            return _range([part for part in parts if isinstance(part, Figure)])
        case Names():
            names = [part for part in parts if isinstance(part, Names)]
            if len({*names}) == 1:
                return first.brief
            lengths = _range([count(len(part.names)) for part in names])
            counts = [count(number) for part in names for number in part.counts]
            return f"{_range(counts)} for {lengths} {first.things}" if counts else f"{lengths} {first.things}"


def _range(figures: Iterable[Figure]) -> str:
    """2,600 to 29,000 shuffles, or one number that is all there is."""
    ordered = sorted(figures, key=lambda figure: figure.value)
    least, most = ordered[0], ordered[-1]
    numbers = " to ".join(dict.fromkeys((least.number, most.number)))
    return f"{numbers} {most.one if most.value == 1 else most.several}".rstrip()


def _subjects(subjects: Sequence[Subject]) -> str:
    """What several notes are about: what they have in common by its name, and how many there are of what differs."""
    subjects = list(dict.fromkeys(subjects))
    if len(subjects) == 1:
        return str(subjects[0])
    pairs = list(dict.fromkeys(subject.pair for subject in subjects))
    measures = list(dict.fromkeys(subject.measure for subject in subjects))
    test_sets = list(dict.fromkeys(subject.test_set for subject in subjects))
    whole = len(pairs) * len(measures) * len(test_sets) == len(subjects)
    if not whole and len(subjects) <= NAMED:
        return "; ".join(map(str, subjects))
    shared = _phrase("", _listed(measures, "measures"), _listed(test_sets, "test sets"))
    if whole:
        named = f" ({'; '.join(pairs)})" if len(pairs) <= NAMED else ""
        return ", ".join(filter(None, (pairs[0] if len(pairs) == 1 else f"{len(pairs):,} pairs{named}", shared)))
    return f"{len(subjects):,} comparisons, {shared}" if any(pairs) else f"{shared} ({len(subjects):,} in all)"


def _listed(names: Sequence[str], things: str) -> str:
    """recall, F; or how many measures."""
    return ", ".join(names) if len(names) <= NAMED else f"{len(names):,} {things}"


def _about(subject: str, said: str) -> str:
    return f"{subject}: {said}" if subject else said


def _phrase(pair: str, measure: str, test_set: str) -> str:
    """GE and UMASS, F on TST3."""
    where = " on ".join(filter(None, (measure, test_set)))
    return ", ".join(filter(None, (pair, where)))
