"""Makes `ner/`: CoNLL files with the names in invented news and council minutes. There are gold annotations, four
systems that do not exist, and the section of each sentence. `make.py` writes the files.

A name is equally hard in every sentence of a text, and a system that mistakes a club for its town does so throughout a
match report. So the mistakes in a text are clustered, as in real texts. Random draws have a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from msgspec import Struct

TEXTS = 24
"""The number of texts in each test set."""
SENTENCES = (5, 9)
"""The least and the greatest number of sentences in a text."""


class Name(Struct, frozen=True):
    """A name of a type: its first form in a text, its form in later mentions, and the type that it is mistaken for."""

    kind: str
    full: str
    short: str
    taken_for: str


FIRST = ("Ines", "Tomas", "Greta", "Alvar", "Petra", "Marek", "Odile", "Ruben", "Katrin", "Yusuf", "Helene", "Vera")
LAST = (
    "Halvorsen",
    "Okafor",
    "Brandt",
    "Maron",
    "Achterberg",
    "Quint",
    "Varga",
    "Osei",
    "Thorne",
    "Falk",
    "Eide",
    "Voss",
)
TOWNS = ("Harwick", "Torvane", "Elmsby", "Orrinport", "Skelder", "Vanneholm", "Castrey", "Brisenau", "Pellworth")
CLUBS = ("Rovers", "United", "Athletic", "Wanderers")
PLACES = ("North Quay", "Lake Orrin", "Mill Street", "Gull Island", "Chapel Hill", "Sund Bridge", "Old Dock")
FIRMS = ("Shipping", "Foods", "Timber", "Marine", "Energy")
BODIES = ("Borough Council", "Harbour Board", "Water Authority", "Chamber of Commerce")
THINGS = ("Amber Cup", "Coastal League", "Harbour Act", "Clean Water Plan", "Midsummer Regatta", "Northern Line Scheme")


def person(chance: random.Random) -> Name:
    """Later mentions use the last name."""
    last = chance.choice(LAST)
    return Name("PER", f"{chance.choice(FIRST)} {last}", last, "ORG")


def club(chance: random.Random) -> Name:
    """Later mentions use only the town's name, which then means the club and not the town."""
    town = chance.choice(TOWNS)
    return Name("ORG", f"{town} {chance.choice(CLUBS)}", town, "LOC")


def firm(chance: random.Random) -> Name:
    """Later mentions use only the founder's name."""
    founder = chance.choice(LAST)
    return Name("ORG", f"{founder} {chance.choice(FIRMS)}", founder, "PER")


def body(chance: random.Random) -> Name:
    """An authority of a town."""
    name = f"{chance.choice(TOWNS)} {chance.choice(BODIES)}"
    return Name("ORG", name, name, "LOC")


def town(chance: random.Random) -> Name:
    """A town or a village."""
    name = chance.choice(TOWNS)
    return Name("LOC", name, name, "ORG")


def place(chance: random.Random) -> Name:
    """A quay, a street, a hill."""
    name = chance.choice(PLACES)
    return Name("LOC", name, name, "ORG")


def thing(chance: random.Random) -> Name:
    """An act, a cup, a plan."""
    name = chance.choice(THINGS)
    return Name("MISC", name, name, "ORG")


CASTS = {
    "sport": {"A": club, "B": club, "P": person, "Q": person, "L": town, "S": place, "M": thing},
    "business": {"A": firm, "B": firm, "P": person, "Q": person, "L": town, "S": place, "M": thing},
    "politics": {"A": body, "B": firm, "P": person, "Q": person, "L": town, "S": place, "M": thing},
    "planning": {"A": body, "B": firm, "P": person, "Q": person, "L": town, "S": place, "M": thing},
    "harbour": {"A": body, "B": firm, "P": person, "Q": person, "L": town, "S": place, "M": thing},
}
"""The people and things in a text of each section, by the letter that marks them in the sentences."""

SENTENCES_OF = {
    "sport": """\
        A beat B 3 - 1 in L on Saturday^MISC .
        Goals by P and Q gave A a lead that B never threatened .
        It was the fourth win of A in the M .
        P , who joined A from B in March , left the field with a knee injury .
        " We were second to every ball , " said Q , the coach of B .
        B had not lost in L since the spring .
        A meet Lowmoor^ORG next week without P .
        Some 4,000 watched at S , where B trained until last year .
        Q praised A and said the M was still open .
        In the second half A came close twice , but P shot wide .""",
    "business": """\
        A will close its plant in L by the end of June^MISC .
        Shares of A fell 4 percent after B withdrew its offer .
        P , chief executive of A , blamed the price of timber .
        " The site at S was never profitable , " said P .
        B bought a third of A in 2019 .
        Analysts^ORG expect that Q will follow P as head of A .
        Q said that B had no plans for L .
        A and B have both signed the M .
        The Ministry^ORG declined to comment on A .
        Some 300 people work for A in L .""",
    "politics": """\
        A voted on Tuesday^MISC to adopt the M .
        P of the Green^ORG group called the M a missed chance .
        The contract went to B of L .
        Q , who sits on A , had asked for a delay .
        " Nobody in L was asked , " P told a meeting at S .
        B will be paid 2.4 million for the works at S .
        The Mayor^PER said that A would hear P again .
        Q answered that B had built S within its budget .
        A will meet in L on Friday^MISC .
        Residents of S wrote to P about B .""",
    "planning": """\
        Item^MISC 4 : application of B for a store at S .
        Cllr P moved that the application be refused .
        Cllr Q seconded .
        The Clerk^PER reported that A had raised no objection .
        Resolved : that B submit new drawings to A .
        Cllr P declared an interest , being employed by B .
        The Chair^PER thanked residents of L for their letters .
        Noted : the M does not apply to S .
        Cllr Q asked whether A had inspected S .
        The applicant , B , was not represented .""",
    "harbour": """\
        Item^MISC 7 : dredging at S .
        The Harbourmaster^PER tabled the survey by B .
        Cllr P asked when A would publish the survey .
        Q , for B , said that S could be dredged before winter .
        Resolved : that A invite B to the next meeting .
        Cllr P and Cllr Q voted against .
        The Committee^ORG noted the letter from L on the M .
        Costs are to be shared with A .
        Cllr Q reported damage at S .
        Dues for boats from L remain as they are .""",
}
"""The sentences of each section. A word followed by ^ and a type is not a name, but systems may take it for one."""

SECTIONS = {"news": ("sport", "business", "politics"), "minutes": ("planning", "harbour")}

HARDNESS = {"PER": -0.2, "LOC": -0.4, "ORG": 0.3, "MISC": 0.8}
"""The difficulty of names of each type, in logits."""
SHORTENED = {"PER": 0.2, "LOC": 0.0, "ORG": 0.9, "MISC": 0.0}
"""How much harder they are without the words that show their type."""

ABILITIES = {
    "gazetteer": {"news": 0.0, "minutes": -0.1},
    "crf": {"news": 0.9, "minutes": 0.2},
    "tagger-small": {"news": 1.7, "minutes": 1.0},
    "tagger-large": {"news": 2.8, "minutes": 1.6},
}
"""The ability of each system on each test set."""
TAKEN_IN = {"gazetteer": 0.35, "crf": 0.2, "tagger-small": 0.1, "tagger-large": 0.06}
"""How often each system takes a word for a name that is not one."""


class Mention(Struct, frozen=True):
    """A piece of a sentence: the words of a name, in its full or short form, or one word that may look like a name."""

    words: tuple[str, ...]
    name: Name | None = None
    shortened: bool = False
    looks: str = ""


Text = list[list[Mention]]


def text(section: str, chance: random.Random) -> Text:
    """The sentences of a text: first one that reports what happened, then others in random order."""
    cast: dict[str, Name] = {}
    for letter, of in CASTS[section].items():
        name = of(chance)
        while name.short in {other.short for other in cast.values()}:
            name = of(chance)
        cast[letter] = name
    first, *others = SENTENCES_OF[section].splitlines()
    said: set[str] = set()
    return [
        [_mention(word, cast, said) for word in sentence.split()]
        for sentence in (first, *chance.sample(others, chance.randint(*SENTENCES) - 1))
    ]


def _mention(word: str, cast: dict[str, Name], said: set[str]) -> Mention:
    if word not in cast:
        plain, _, looks = word.partition("^")
        return Mention((plain,), looks=looks)
    name, again = cast[word], word in said
    said.add(word)
    return Mention(tuple((name.short if again else name.full).split()), name, again and name.short != name.full)


def forms(written: Text) -> list[tuple[str, bool]]:
    """The names of a text, in full and short forms."""
    mentions = (mention for sentence in written for mention in sentence)
    return list(dict.fromkeys((mention.name.full, mention.shortened) for mention in mentions if mention.name))


def tagged(kind: str, length: int) -> list[str]:
    """The tags of a name."""
    return [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]


def gold(mention: Mention) -> list[str]:
    """The correct tags of a piece."""
    return tagged(mention.name.kind, len(mention.words)) if mention.name else ["O"]


class Answers:
    """A system's answers on one text. Whenever a name occurs again, the system treats it in the same way."""

    def __init__(self, system: str, test_set: str, luck: dict[tuple[str, bool], float], chance: random.Random) -> None:
        self._ability = ABILITIES[system][test_set] + chance.gauss(0.0, 0.8)
        self._taken_in = TAKEN_IN[system]
        self._luck, self._chance = luck, chance
        self._made: dict[tuple[str, bool], str] = {}

    def tags(self, mention: Mention) -> list[str]:
        """The tags of a piece."""
        if mention.name is None:
            taken_in = mention.looks and self._chance.random() < self._taken_in
            return tagged(mention.looks, 1) if taken_in else ["O"]
        made = self._made_of(mention.name, mention.shortened)
        if self._chance.random() < 0.06:
            made = "right" if made == "missed" else "missed"
        length = len(mention.words)
        if made == "other type":
            return tagged(mention.name.taken_for, length)
        if made == "cut" and length > 1:
            return ["O", *tagged(mention.name.kind, length - 1)]
        return tagged(mention.name.kind, length) if made == "right" else ["O"] * length

    def _made_of(self, name: Name, shortened: bool) -> str:
        key = name.full, shortened
        if key not in self._made:
            hardness = HARDNESS[name.kind] + shortened * SHORTENED[name.kind]
            known = self._ability + self._luck[key] + self._chance.gauss(0.0, 1.0) > hardness
            wrong = self._chance.choices(("other type", "cut", "missed"), (5, 2, 3))[0]
            self._made[key] = "right" if known else wrong
        return self._made[key]


def files() -> Iterator[tuple[str, str]]:
    """The name and the content of each file in `ner/`."""
    sections = ["test_set,document,section\n"]
    for test_set, of in SECTIONS.items():
        writing = random.Random(f"texts of {test_set}")
        texts = [(of[number % len(of)], text(of[number % len(of)], writing)) for number in range(TEXTS)]
        lucky = [{form: writing.gauss(0.0, 1.3) for form in forms(written)} for _, written in texts]
        of_sentences = (section for section, written in texts for _ in written)
        sections += [f"{test_set},{number},{section}\n" for number, section in enumerate(of_sentences, start=1)]
        yield f"{test_set}/gold.conll", "".join(_lines(written, gold) for _, written in texts)
        for system in ABILITIES:
            chance = random.Random(f"answers of {system} on {test_set}")
            answers = (Answers(system, test_set, luck, chance) for luck in lucky)
            lines = (_lines(written, each.tags) for (_, written), each in zip(texts, answers, strict=True))
            yield f"{test_set}/{system}.conll", "".join(lines)
    yield "sections.csv", "".join(sections)


def _lines(written: Text, tags: Callable[[Mention], list[str]]) -> str:
    """A text with its tags, one word per line."""
    sentences = []
    for sentence in written:
        pairs = (pair for mention in sentence for pair in zip(mention.words, tags(mention), strict=True))
        sentences.append("".join(f"{word} {tag}\n" for word, tag in pairs))
    return "-DOCSTART- O\n\n" + "\n".join(sentences) + "\n"
