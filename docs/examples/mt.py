"""Makes `mt/`: German segments of invented local news and of a machine's manual, their English references, and the
translations of four systems that do not exist. For two of the systems there are also translations after training them
again. `make.py` writes the files.

A small grammar of both languages writes source and reference together. A system mistranslates a word, leaves one in
German, or keeps the German word order. It translates a word in the same way throughout a text, so the mistakes in a
text are clustered. Random draws have a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

TEXTS = 24
"""The number of texts in each test set."""
SEGMENTS = (5, 7)
"""The least and the greatest number of segments in a text."""
SEEDS = {"small": (2, 3), "large": (2, 3)}
"""The seeds of the further trainings of systems; the first training has seed 1."""


class Piece(Struct, frozen=True):
    """Words that are translated together: the reference translation, equally good ones, and wrong ones."""

    german: str
    english: str
    also: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


class Segment(Struct, frozen=True):
    """A sentence in both languages. `strays` has the pieces of the English sentence in the German order."""

    source: str
    pieces: tuple[Piece, ...]
    strays: tuple[Piece, ...]
    construction: str


Words = tuple[Piece, ...]


def _pieces(table: str) -> Words:
    """One piece per line: German | English | equally good translations, separated by / | wrong ones."""
    rows = ([cell.strip() for cell in line.split("|")] for line in table.splitlines())
    return tuple(Piece(german, english, _listed(also), _listed(wrong)) for german, english, also, wrong in rows)


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(text.strip() for text in cell.split("/") if text.strip())


WHO = _pieces("""\
    die Hafenbehörde      | the port authority      | the harbour authority      | the ports agency / the authorities
    der Stadtrat          | the town council        | the council                | the city advice / the town advisor
    die Feuerwehr         | the fire brigade        | the fire service           | the firefighters / the fire defence
    die Reederei          | the shipping company    | the shipping line          | the shipyard / the shipper
    die Bürgermeisterin   | the mayor               | the town's mayor           | the citizen master / the mayoress
    das Wasserwerk        | the waterworks          | the water company          | the water plant / the water factory
    eine Anwohnerin       | a resident              | a local resident           | an occupant / a neighbour
    der Betreiber         | the operator            | the company running it     | the runner / the owner""")
"""The actors in the news, all in the nominative."""

WHAT = _pieces("""\
    die Fähre             | the ferry               | the ferry boat             | the ferryman / the crossing
    die alte Mole         | the old pier            | the old jetty              | the old mole / the former pier
    die Schleuse          | the lock                | the canal lock             | the sluice / the airlock
    die Kläranlage        | the sewage plant        | the sewage works           | the clearing plant / the purifier
    die Brücke            | the bridge              |                            | the deck / the gap
    das Strandbad         | the lido                | the bathing beach          | the beach bath / the pool
    das Bootshaus         | the boathouse           |                            | the boat home / the houseboat
    die Baustelle         | the building site       | the construction site      | the job / the building spot""")
"""The objects of actions. Their nominative and accusative are the same."""

WHEN = _pieces("""\
    am Montag             | on Monday               |                            | at Monday / Monday
    in der Nacht          | during the night        | overnight                  | in the night / tonight
    vor zwei Wochen       | two weeks ago           | a fortnight ago            | before two weeks / for two weeks
    im Frühjahr           | in the spring           | this spring                | in the early year / early in the year
    am Abend              | in the evening          | that evening               | on the evening / at evening
    seit Juli             | since July              |                            | for July / until July""")

DID = _pieces("""\
    prüfte                | inspected               | examined                   | proved / tested
    kaufte                | bought                  | purchased                  | sold / shopped
    sperrte               | closed                  | shut                       | locked / blocked up
    besuchte              | visited                 |                            | searched / attended
    verkaufte             | sold                    |                            | bought / gave away
    räumte                | cleared                 | evacuated                  | roomed / tidied""")

DONE = _pieces("""\
    geprüft               | inspected               | examined                   | proved / tested
    gekauft               | bought                  | purchased                  | sold / shopped
    gesperrt              | closed                  | shut                       | locked / blocked up
    besichtigt            | visited                 | viewed                     | sighted / considered
    verkauft              | sold                    |                            | bought / given away
    geräumt               | cleared                 | evacuated                  | roomed / tidied""")

PARTED = _pieces("""\
    lehnte ... ab         | rejected                | turned down                | leaned / leaned off
    gab ... frei          | opened                  | reopened                   | gave / gave free
    riss ... ab           | tore down               | demolished                 | tore / ripped off
    baute ... um          | converted               | rebuilt                    | built / built around
    gab ... auf           | gave up                 | abandoned                  | gave / gave on
    nahm ... ab           | approved                | accepted                   | took / took off""")
"""Verbs of two parts, which enclose the object in German."""

PART = _pieces("""\
    den Deckel            | the cover               | the lid                    | the top / the ceiling
    den Filter            | the filter              |                            | the strainer / the filters
    die Leitung           | the hose                | the line                   | the management / the lead
    die Schraube          | the screw               | the bolt                   | the propeller / the screwing
    die Dichtung          | the seal                | the gasket                 | the poetry / the density
    die Pumpe             | the pump                |                            | the pumps / the pumping
    den Schalter          | the switch              |                            | the counter / the circuit
    die Sicherung         | the fuse                |                            | the safety / the backup
    das Gehäuse           | the housing             | the casing                 | the house / the shell
    den Behälter          | the tank                | the container              | the keeper / the holder""")
"""Parts of a machine, in the accusative."""

NAMED = {"den": "der"}
"""Articles whose nominative differs."""

DO = _pieces("""\
    reinigen Sie          | clean                   |                            | you clean / purify
    prüfen Sie            | check                   | inspect                    | prove / you test
    ersetzen Sie          | replace                 | change                     | substitute / you replace
    entfernen Sie         | remove                  | take off                   | delete / distance
    lösen Sie             | loosen                  | undo                       | solve / dissolve
    spülen Sie            | rinse                   | flush                      | wash up / do the dishes of""")

DO_APART = _pieces("""\
    schalten Sie ... aus  | switch off              | turn off                   | switch / shift
    bauen Sie ... ein     | fit                     | install                    | build / build in
    ziehen Sie ... fest   | tighten                 |                            | pull / draw firmly
    setzen Sie ... ein    | insert                  | put in                     | set / use
    nehmen Sie ... ab     | remove                  | take off                   | take / lose""")

HOW = _pieces("""\
    vor jedem Start       | before each start       | before every start         | in front of each start / before start
    nach Gebrauch         | after use               | after each use             | to use / after custom
    vorsichtig            | carefully               | with care                  | cautious / warily
    von Hand              | by hand                 | manually                   | of hand / from hand
    einmal im Monat       | once a month            | every month                | one time in month / this month""")

WHEN_SO = _pieces("""\
    wenn die Lampe blinkt      | when the lamp flashes      | if the lamp flashes     | if the lamp winks
    wenn das Wasser trüb ist   | if the water is cloudy     | when the water is cloudy| if the water is sad
    wenn der Druck fällt       | if the pressure drops      | when the pressure falls | if the print falls
    wenn Öl austritt           | if oil leaks               | when oil escapes        | if oil resigns
    wenn der Motor steht       | when the motor has stopped | once the motor stops    | if the motor stands""")

DONE_TO = _pieces("""\
    geöffnet              | opened                  |                            | open / disclosed
    entfernt              | removed                 | taken off                  | distant / away
    geölt                 | oiled                   | lubricated                 | oily / greased up
    verändert             | altered                 | modified                   | changed out / varied""")

SAID = _pieces("""\
    sagte, dass           | said that               | stated that                | said, that / told that
    meldete, dass         | reported that           |                            | registered that / messaged, that
    bestätigte, dass      | confirmed that          |                            | affirmed, that / approved that""")

HAD = Piece("hatte", "had", (), ("has", "would have"))
COMMA = Piece(",", ",")
HAS_BEEN = Piece("worden ist", "has been", ("was",), ("is become", "is been"))
MUST_NOT = Piece("darf nicht", "must not be", ("may not be",), ("can not", "does not need to be"))
NOT = Piece("nicht", "did not", (), ("not", "does not"))
AGAIN = Piece("wieder", "again", (), ("against", "back"))
STEMS = {"bought": "buy", "sold": "sell", "closed": "close"}
"""The form of a verb after "did not", if it is not the past without -ed."""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def news(chance: random.Random, topic: Words) -> Segment:
    """A sentence of a report, mostly about one actor and one thing."""
    who = topic[0] if chance.random() < 0.6 else chance.choice(WHO)
    what = topic[1] if chance.random() < 0.7 else chance.choice(WHAT)
    when, did = chance.choice(WHEN[:5]), chance.choice(DID)
    construction = chance.choice(("main", "inverted", "separable", "clause", "passive", "negated"))
    if construction == "main":
        pieces = (who, did, what, when)
        return Segment(f"{who.german} {did.german} {when.german} {what.german}", pieces, (who, did, when, what), "main")
    if construction == "inverted":
        pieces = (when, who, did, what)
        return Segment(
            f"{when.german} {did.german} {who.german} {what.german}", pieces, (when, did, who, what), construction
        )
    if construction == "separable":
        verb = chance.choice(PARTED)
        stem, particle = verb.german.split(" ... ")
        pieces = (who, verb, what, when)
        source = f"{who.german} {stem} {what.german} {when.german} {particle}"
        return Segment(source, pieces, (who, what, when, verb), construction)
    if construction == "clause":
        said, done, other = chance.choice(SAID), chance.choice(DONE), chance.choice(WHO)
        pieces = (who, said, other, HAD, done, what, when)
        source = f"{who.german} {said.german} {other.german} {what.german} {when.german} {done.german} hatte"
        return Segment(source, pieces, (who, said, other, what, when, done, HAD), construction)
    if construction == "passive":
        said, done = chance.choice(SAID), chance.choice(DONE)
        pieces = (who, said, what, HAS_BEEN, done, AGAIN)
        source = f"{who.german} {said.german} {what.german} wieder {done.german} worden ist"
        return Segment(source, pieces, (who, said, what, AGAIN, done, HAS_BEEN), construction)
    plain = Piece(did.german, STEMS.get(did.english, did.english.removesuffix("ed")), (), did.wrong)
    pieces = (who, NOT, plain, what, when)
    source = f"{who.german} {did.german} {what.german} {when.german} nicht"
    return Segment(source, pieces, (who, plain, what, when, NOT), construction)


def manual(chance: random.Random, topic: Words) -> Segment:
    """A step or a warning, mostly about one part of the machine."""
    part = topic[0] if chance.random() < 0.5 else chance.choice(PART)
    do, how, when = chance.choice(DO), chance.choice(HOW), chance.choice(WHEN_SO)
    construction = chance.choice(("main", "inverted", "separable", "clause", "passive"))
    if construction == "main":
        return Segment(f"{do.german} {part.german} {how.german}", (do, part, how), (do, how, part), construction)
    if construction == "inverted":
        source = f"{when.german}, {do.german} {part.german} {how.german}"
        return Segment(source, (when, COMMA, do, part, how), (when, COMMA, do, how, part), construction)
    if construction == "separable":
        verb = chance.choice(DO_APART)
        stem, particle = verb.german.split(" ... ")
        source = f"{stem} {part.german} {how.german} {particle}"
        return Segment(source, (verb, part, how), (part, how, verb), construction)
    if construction == "clause":
        return Segment(f"{do.german} {part.german}, {when.german}", (do, part, when), (when, do, part), construction)
    named, done = _nominative(part), chance.choice(DONE_TO)
    source = f"{named.german} darf nicht {how.german} {done.german} werden"
    return Segment(source, (named, MUST_NOT, done, how), (named, MUST_NOT, how, done), construction)


def _nominative(part: Piece) -> Piece:
    article, noun = part.german.split(" ", 1)
    return Piece(f"{NAMED.get(article, article)} {noun}", part.english, part.also, part.wrong)


WRITTEN = {"news": news, "manual": manual}
TOPICS = {"news": (WHO, WHAT), "manual": (PART,)}

ABILITIES = {
    "phrases": {"news": 0.1, "manual": -0.1},
    "small": {"news": 1.1, "manual": 0.8},
    "large": {"news": 2.0, "manual": 1.2},
    "tuned": {"news": 2.0, "manual": 2.4},
}
"""The ability of each system on each test set, in standard deviations. `tuned` is `large` after training on manuals."""

STRAYING = {
    "phrases": {"inverted": 0.6, "separable": 0.7, "clause": 0.7, "passive": 0.4, "negated": 0.5},
    "small": {"inverted": 0.05, "separable": 0.3, "clause": 0.25, "passive": 0.1, "negated": 0.1},
    "large": {"separable": 0.12, "clause": 0.08},
    "tuned": {"separable": 0.1, "clause": 0.08},
}
"""How often each system keeps the German order of a construction."""


class Translating:
    """A system's translation of one text. Words that occur again are translated in the same way."""

    def __init__(self, system: str, test_set: str, luck: Mapping[str, float], chance: random.Random) -> None:
        self._ability = ABILITIES[system][test_set] + chance.gauss(0.0, 0.3)
        self._straying, self._luck, self._chance = STRAYING[system], luck, chance
        self._made: dict[str, str] = {}

    def segment(self, segment: Segment) -> str:
        """The translation of a segment."""
        strays = self._chance.random() < self._straying.get(segment.construction, 0.0)
        return written([self._piece(piece) for piece in (segment.strays if strays else segment.pieces)])

    def _piece(self, piece: Piece) -> str:
        if piece.german not in self._made:
            known = self._ability + self._luck[piece.german] + self._chance.gauss(0.0, 1.0) > 0
            # A correct translation does not always use the words of the reference.
            right = self._chance.choice((piece.english, piece.english, *piece.also))
            wrong = self._chance.choice(piece.wrong or (piece.english,))
            left = piece.german.replace(" ...", "")
            wrong = left if wrong != piece.english and self._chance.random() < 0.1 else wrong
            self._made[piece.german] = right if known else wrong
        return self._made[piece.german]


def written(pieces: list[str]) -> str:
    """A sentence made of its pieces."""
    return _capital(" ".join(pieces).replace(" ,", ",")) + "."


Text = tuple[list[Segment], dict[str, float]]
"""The segments of a text, and for each piece, by its German words, the luck that systems have with it."""


def texts(test_set: str) -> list[Text]:
    """The texts of a test set."""
    chance = random.Random(f"texts of {test_set}")
    made = []
    for _ in range(TEXTS):
        topic = tuple(chance.choice(words) for words in TOPICS[test_set])
        segments: list[Segment] = []
        many = chance.randint(*SEGMENTS)
        while len(segments) < many:
            segment = WRITTEN[test_set](chance, topic)
            if segment.source not in {other.source for other in segments}:
                segments.append(segment)
        names = sorted({piece.german for segment in segments for piece in segment.pieces})
        made.append((segments, {german: chance.gauss(0.0, 1.3) for german in names}))
    return made


def translated(system: str, test_set: str, of: list[Text], seed: int) -> str:
    """A system's translation of a test set after training with a seed, one segment per line."""
    chance = random.Random(f"{system} of seed {seed} on {test_set}")
    lines = []
    for segments, luck in of:
        translating = Translating(system, test_set, luck, chance)
        lines += [translating.segment(segment) for segment in segments]
    return _lines(lines)


def files() -> Iterator[tuple[str, str]]:
    """The name and the content of each file in `mt/`."""
    known = ["test_set,document,text,construction\n"]
    for test_set in WRITTEN:
        of = texts(test_set)
        segments = [(number, segment) for number, (its, _) in enumerate(of, start=1) for segment in its]
        references = _lines(written([piece.english for piece in segment.pieces]) for _, segment in segments)
        yield f"{test_set}/{test_set}.src.de", _lines(written([segment.source]) for _, segment in segments)
        yield f"{test_set}/{test_set}.ref.en", references
        for system in ABILITIES:
            yield f"{test_set}/{test_set}.{system}.en", translated(system, test_set, of, 1)
        yield f"seeds/{test_set}/{test_set}.ref.en", references
        for system, seeds in SEEDS.items():
            for seed in seeds:
                yield f"seeds/{test_set}/{test_set}.{system}-{seed}.en", translated(system, test_set, of, seed)
        known += [
            f"{test_set},{place},{number},{segment.construction}\n"
            for place, (number, segment) in enumerate(segments, start=1)
        ]
    yield "segments.csv", "".join(known)
    models = [(system, (system, *(f"{system}-{seed}" for seed in seeds))) for system, seeds in SEEDS.items()]
    rows = [f"{name},{model}\n" for model, names in models for name in names]
    yield "seeds/systems.csv", "".join(("system,model\n", *rows))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
