"""CoNLL columns: one token per line with its tags. Gold tags and answers are in one file or in two.

The columns of tags are found by their contents, or named by --map. A document is a sentence, numbered from 1. A unit is
an entity type, and every sentence has every type that occurs in the file. If the file marks texts, each sentence has
the number of its text as an attribute, so that tests can exchange whole texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import COUNTS, DOCUMENTS, SCORES
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.reader import Evidence, Nearly, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheet, Sheets
from evalhouse.warehouse.loading.staging.spans import (
    PLACED_COLUMNS,
    SCHEMES,
    Scheme,
    TagArrays,
    Tally,
    entities,
    tag_of,
    tally_mentions,
)
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.tokens import (
    TEXT_BEGINS,
    TYPES_ALONE,
    Columns,
    Sentence,
    Sentences,
    TagColumn,
    columns_of,
    names_columns,
    sentences,
    written_otherwise,
)
from evalhouse.warehouse.measures.values import RIGHT, TOTAL

if TYPE_CHECKING:
    import numpy

EXAMPLE = """\
-DOCSTART- O O

Ada B-PER B-PER
Lovelace I-PER I-PER
saw O O
Turin B-LOC B-ORG

It O O
rained O O
"""

GOLD, ANSWERS = "gold", "answers"
"""The names of the columns of tags in --map."""

_GOLD = re.compile(r"(^|[._ -])(gold|key|truth)([._ -]|$)")
"""Names that mean gold."""


class Judged(NamedTuple):
    """The tags of consecutive sentences: for each sentence the line on which it begins, the number of its text (0 if
    texts are not marked) and its number of tokens.
    """

    lines: numpy.ndarray
    texts: numpy.ndarray
    lengths: numpy.ndarray
    gold: Sequence[str]
    answers: Sequence[str]
    words: Sequence[str]
    """The tokens; empty if no column holds them."""


class Tags(NamedTuple):
    """Where the tags of one side are: the file and the column."""

    staging: Staging
    columns: Columns
    tags: TagColumn


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages one score tuple per sentence and type, and for each sentence the number of tokens and of tokens with the
    right tag.

    Raises DataError if it is unclear which tags are gold and which are answers, if a column holds no entity, or if the
    tokens of gold and answers differ.
    """
    with Sheets(staging, SCORES, DOCUMENTS, COUNTS, named=(GOLD, ANSWERS)) as sheets:
        scores = sheets.open(SCORES, "document", "unit", *PLACED_COLUMNS)
        attributes = sheets.open(DOCUMENTS, "document", "text")
        tokens = sheets.open(COUNTS, "document", "count", "number")
        sides = _sides(staging)
        if sides is None:
            return ()
        gold, answers = sides
        scheme, overlap = staging.options.get("scheme") or SCHEMES[0], staging.options.get("overlap") == "partial"
        kinds = sorted(gold.tags.kinds | answers.tags.kinds)
        judged = _with_texts(_judge_sentences(gold, answers), scheme, sheets)
        if scheme == SCHEMES[0] and not overlap:
            schemes = _count_at_once(judged, kinds, scores, tokens, attributes)
        else:
            schemes = _count(judged, kinds, scheme, overlap, scores, tokens, attributes)
        return sheets.staged([_note(gold, answers, *schemes)])


def _count_at_once(
    judged: Iterator[Judged], kinds: Sequence[str], scores: Sheet, tokens: Sheet, attributes: Sheet
) -> tuple[Scheme, Scheme]:
    """Does the same as `_count` by the rules of conlleval, for many sentences at a time."""
    import numpy

    arrays = TagArrays(kinds)
    of_kind = numpy.array(kinds, dtype=object)
    number = 0
    for lines, texts, lengths, gold, answers, _ in judged:
        numbers = numpy.arange(number + 1, number + len(lines) + 1)
        number += len(lines)
        counts, rights = arrays.counted(gold, answers, lengths)
        many = len(kinds)
        of_sentence = numbers.repeat(many), numpy.tile(of_kind, len(lines))
        scores.add_arrays(lines.repeat(many), *of_sentence, *counts.values())
        for count, of_each in ((TOTAL, lengths), (RIGHT, rights)):
            tokens.add_arrays(lines, numbers, numpy.full(len(lines), count, dtype=object), of_each)
        marked = texts > 0
        attributes.add_arrays(lines[marked], numbers[marked], texts[marked])
    return arrays.schemes()


def _count(
    judged: Iterable[Judged],
    kinds: Sequence[str],
    scheme: str,
    overlap: bool,
    scores: Sheet,
    tokens: Sheet,
    attributes: Sheet,
) -> tuple[Scheme, Scheme]:
    """Adds the tallies of each sentence. Returns the tagging schemes of gold and of answers."""
    nothing = Tally().placed_cells
    schemes = Scheme(), Scheme()
    for number, (line, text, gold, answers) in enumerate(_one_by_one(judged), start=1):
        right = len(gold)
        wanted = given = entities(gold, scheme)
        if answers != gold:
            given = entities(answers, scheme)
            right = sum(map(str.__eq__, gold, answers))
        if wanted or given:
            schemes[0].add(gold)
            schemes[1].add(answers)
        tallied = tally_mentions(wanted, given, overlap=overlap)
        for kind in kinds:
            scores.add(line, number, kind, *(tallied[kind].placed_cells if kind in tallied else nothing))
        tokens.add(line, number, TOTAL, len(gold))
        tokens.add(line, number, RIGHT, right)
        if text:
            attributes.add(line, number, text)
    return schemes


def _one_by_one(judged: Iterable[Judged]) -> Iterator[tuple[int, int, Sequence[str], Sequence[str]]]:
    """For each sentence, its line, the number of its text, and the tags of gold and of answers."""
    for lines, texts, lengths, gold, answers, _ in judged:
        begin = 0
        for line, text, length in zip(lines.tolist(), texts.tolist(), lengths.tolist(), strict=True):
            yield line, text, gold[begin : begin + length], answers[begin : begin + length]
            begin += length


def _with_texts(judged: Iterator[Judged], scheme: str, sheets: Sheets) -> Iterator[Judged]:
    """Passes sentences on, and says what those are that have words. If texts are stored, also adds their texts: the
    tokens separated by blanks, and the entities of gold and of answers in brackets.
    """
    texts = sheets.texts
    number = 0
    for some in judged:
        if not some.words:
            yield some
            continue
        begin = 0
        for line, length in zip(some.lines.tolist(), some.lengths.tolist(), strict=True):
            number, end = number + 1, begin + length
            words = some.words[begin:end]
            sheets.identify(line, {"text": " ".join(words)}, document=number)
            if texts.wanted:
                texts.input(line, " ".join(words), document=number)
                texts.references(line, [_mark_entities(words, some.gold[begin:end], scheme)], document=number)
                texts.outputs(line, [_mark_entities(words, some.answers[begin:end], scheme)], document=number)
            begin = end
        yield some


def _mark_entities(words: Sequence[str], tags: Sequence[str], scheme: str) -> str:
    """A sentence with its entities in brackets: [PER Ada Lovelace] saw [LOC Turin]"""
    shown = list(words)
    for mention in entities(tags, scheme):
        shown[mention.start] = f"[{mention.kind} {shown[mention.start]}"
        shown[mention.end - 1] += "]"
    return " ".join(shown)


def _sides(staging: Staging) -> tuple[Tags, Tags] | None:
    """Where gold and answers are: in the named columns, or else in the only two columns that share an entity type.

    None if this is a file of gold tags that other files are judged by.
    """
    own = columns_of(staging)
    said = bool(staging.columns.keys() & {GOLD, ANSWERS})
    named = staging.options.get("gold")
    if named is None:
        # In one file gold comes first, unless an option names the columns.
        pairs = _pairs(staging, own, staging, own)
        pairs = [(theirs, ours) for theirs, ours in pairs if theirs.place < ours.place or (said and theirs != ours)]
        if len(pairs) == 1:
            return Tags(staging, own, pairs[0][0]), Tags(staging, own, pairs[0][1])
        if not pairs and not staging.keys and _is_called_gold(staging.source):
            return None
        if pairs or not staging.keys:
            raise _unclear_columns(staging, own, staging, own)
    key = replace(staging, source=staging.keys[0] if named is None else Path(named), called="")
    of_key = columns_of(key)
    pairs = _pairs(key, of_key, staging, own)
    if not pairs and own.tagged and not _candidates(staging, own, ANSWERS):
        # Answers without any entity: the tags of every token are O.
        pairs = [(theirs, own.tagged[-1]) for theirs in _candidates(key, of_key, GOLD)]
    if len(pairs) != 1:
        raise _unclear_columns(key, of_key, staging, own)
    return Tags(key, of_key, pairs[0][0]), Tags(staging, own, pairs[0][1])


def _pairs(key: Staging, of_key: Columns, staging: Staging, own: Columns) -> list[tuple[TagColumn, TagColumn]]:
    """The pairs of columns that could be gold and answers: the named ones, or those with an entity type in common."""
    both_named = staging.columns.keys() >= {GOLD, ANSWERS}
    gold, answers = _candidates(key, of_key, GOLD), _candidates(staging, own, ANSWERS)
    return [(theirs, ours) for theirs in gold for ours in answers if both_named or theirs.kinds & ours.kinds]


def _candidates(staging: Staging, columns: Columns, side: str) -> list[TagColumn]:
    """The column named for one side, or else all columns with entities. Raises DataError if none has that name."""
    said = staging.columns.get(side)
    if said is None:
        return [column for column in columns.tagged if column.kinds]
    if not said.isdecimal() or not 1 <= int(said) <= columns.width:
        raise staging.refusal(
            f"--map {side}={quote_cell(said)[1:-1]}: the columns are counted from 1 to {columns.width}, "
            f"as in --map {side}="
            f"{columns.width}"
        )
    column = next((column for column in columns.tagged if column.place == int(said) - 1), None)
    if column is None:
        raise staging.refusal(f"column {said} holds texts that are not tags, so it cannot be {side}")
    if side == GOLD and not column.kinds:
        raise staging.refusal(f"column {said} holds no entity tag, so it cannot be gold")
    return [column]


def _unclear_columns(key: Staging, of_key: Columns, staging: Staging, own: Columns) -> DataError:
    """The error for unclear columns: why they are unclear, and which option decides."""
    gold, answers = _candidates(key, of_key, GOLD), _candidates(staging, own, ANSWERS)
    if not gold or not answers:
        return (staging if gold else key).refusal("no column holds entity tags such as B-PER")
    several = any(one is not other and one.kinds & other.kinds for one in gold for other in answers)
    ours = " and ".join(map(str, answers))
    if key is not staging:
        theirs = " and ".join(map(str, gold))
        why = "several could be gold and answers" if several else "they have no type in common"
        says = "--map gold=COLUMN --map answers=COLUMN says which are meant"
        return staging.refusal(f"{ours} here, {theirs} in {key.source}: {why}; {says}")
    first, last = answers[0].place + 1, answers[-1].place + 1
    if len(answers) == 1:
        outside = [column for column in own.tagged if column.place > answers[0].place]
        or_none = [
            f", or --map gold={first} --map answers={column.place + 1} says that the system found no entity"
            for column in outside[-1:]
        ]
        return staging.refusal(
            f"{ours} is the only one that holds entity tags, so gold or answers are not in this file; "
            f"--gold FILE names the file with the gold tags{''.join(or_none)}"
        )
    if several:
        says = f"--map gold={first} --map answers={last}, for example, says which are meant"
        return staging.refusal(f"{ours} could be gold and answers; {says}")
    says = f"--gold FILE names the file with the gold tags, or --map gold={first} --map answers={last} says they are"
    return staging.refusal(f"{ours} have no type in common, so they are not gold and answers; {says}")


def _judge_sentences(gold: Tags, answers: Tags) -> Iterator[Judged]:
    """The sentences with the tags of both sides. Raises DataError if the tokens of the two files differ."""
    import numpy

    theirs, ours = gold.tags.place, answers.tags.place
    if gold.staging is answers.staging:
        for some in sentences(answers.staging):
            words = _words(answers, some)
            both = gold.tags.read(some.columns[theirs]), answers.tags.read(some.columns[ours])
            yield Judged(some.lines, some.texts, some.lengths, *both, words)
        return
    for key, given in _side_by_side(gold, answers):
        _check_tokens(gold, answers, key, given)
        texts = numpy.where(key.texts > 0, key.texts, given.texts)
        words = _words(gold, key) or _words(answers, given)
        both = gold.tags.read(key.columns[theirs]), answers.tags.read(given.columns[ours])
        yield Judged(given.lines, texts, given.lengths, *both, words)


def _side_by_side(gold: Tags, answers: Tags) -> Iterator[tuple[Sentences, Sentences]]:
    """Yields the same number of sentences from both files. Raises DataError if one file has more."""
    of_key, of_given = sentences(gold.staging), sentences(answers.staging)
    number = 0
    key, given = next(of_key, None), next(of_given, None)
    while key and given:
        many = min(len(key), len(given))
        first, key = key.parted(many)
        second, given = given.parted(many)
        yield first, second
        number += many
        key, given = key or next(of_key, None), given or next(of_given, None)
    if more := key or given:
        there, here = (gold, answers) if key else (answers, gold)
        raise here.staging.refusal(
            f"{quantity(number, 'sentence')} here, and more in {there.staging.source}: "
            f"the next begins on its line {more.lines[0]}"
        )


def _check_tokens(gold: Tags, answers: Tags, key: Sentences, given: Sentences) -> None:
    """Raises DataError if sentences have different tokens in the two files."""
    by_words = gold.columns.words is not None and answers.columns.words is not None
    if (key.lengths == given.lengths).all() and (not by_words or _words(gold, key) == _words(answers, given)):
        return
    for wanted, sentence in zip(key.one_by_one(), given.one_by_one(), strict=True):
        words = zip(_words(gold, wanted), _words(answers, sentence), strict=False) if by_words else ()
        for place, (theirs, ours) in enumerate(words):
            if theirs != ours:
                there = f"line {wanted.line + place} of {gold.staging.source}"
                raise answers.staging.refusal(
                    f"the token is {quote_cell(ours)}, and {quote_cell(theirs)} on {there}", sentence.line + place
                )
        if wanted.length != sentence.length:
            there = f"{wanted.length} in that on line {wanted.line} of {gold.staging.source}"
            sizes = f"{quantity(sentence.length, 'token')} in this sentence, and {there}"
            raise answers.staging.refusal(sizes, sentence.line)


def _words(tags: Tags, of: Sentences | Sentence) -> list[str]:
    """The words of one side."""
    return [] if tags.columns.words is None else list(of.columns[tags.columns.words])


def _note(gold: Tags, answers: Tags, of_gold: Scheme, of_answers: Scheme) -> str:
    """A note on which columns were compared and which tagging schemes they use."""
    parts = []
    for side, tags, scheme in ((GOLD, gold, of_gold), (ANSWERS, answers, of_answers)):
        writing = tags.tags.writing
        name, wrong, what = scheme.named() if writing is not TYPES_ALONE else (TYPES_ALONE.named, 0, "")
        # The note is about the file of answers. For many such files it is printed once.
        where = str(tags.tags) if tags.staging is answers.staging else f"{tags.tags} of {tags.staging.source.name}"
        but = f" but for {quantity(wrong, 'tag')} {what}" if wrong else ""
        parts.append(f"{side}: {where}, {name}{but}")
    return "; ".join(parts)


def _is_called_gold(path: Path) -> bool:
    """Whether the name of a file or of its folder says that it holds gold tags."""
    return any(_GOLD.search(name) for name in (path.name.casefold(), path.absolute().parent.name.casefold()))


def _recognizes(start: Start) -> Recognition | None:
    """Recognizes files by columns that hold only tags. A file called gold that has one side only is a key."""
    if start.is_json:
        return None
    if start.first.startswith(TEXT_BEGINS[1]):
        return _of_conll_2012(start)
    rows = _rows(start)
    marked = start.first.startswith(TEXT_BEGINS)
    if not rows or len({len(row) for row in rows}) > 1:
        return Recognition(f"its {TEXT_BEGINS[0]}") if marked else None
    cells = [set(of_column) for of_column in zip(*rows, strict=True)]
    tagged = [column for column in map(TagColumn, range(len(cells)), cells) if all(map(tag_of, column.tags))]
    with_entities = [column for column in tagged if column.kinds]
    if not with_entities:
        last = [column.place for column in tagged][-2:]
        plain = marked or last == [len(rows[0]) - 2, len(rows[0]) - 1]
        if last[-1:] == [len(rows[0]) - 1] and "gold" in start.options:
            return Recognition("the tags in its last column, and --gold")
        if plain:
            return Recognition(f"its {TEXT_BEGINS[0]}" if marked else "the tags in its last two columns")
        return _written_otherwise(start, rows, cells)
    why = "the tags in " + " and ".join(f"column {column.place + 1}" for column in with_entities)
    both = any(one.kinds & other.kinds for one, other in combinations(with_entities, 2))
    return _key_or_answers(start, why, both)


def _rows(start: Start) -> list[list[str]]:
    """The cells of the first tokens, without a first line that names the columns."""
    separator, rows = " ", list[list[str]]()
    for line in start.lines[:2000]:
        if not line.startswith((*TEXT_BEGINS, "#")):
            separator = separator if rows else "\t" if "\t" in line else " "
            rows.append([cell for cell in line.rstrip().split(separator) if cell or separator == "\t"])
    return rows[1:] if len(rows) > 1 and names_columns(rows[0]) else rows


def _key_or_answers(start: Start, why: str, both: bool) -> Recognition:
    if not both and "gold" not in start.options and _is_called_gold(start.path):
        return Recognition(f"{why}, and gold in its name", Role.KEY)
    return Recognition(why)


def _of_conll_2012(start: Start) -> Recognition:
    return _key_or_answers(start, f"its {TEXT_BEGINS[1]}", both=False)


def _written_otherwise(start: Start, rows: list[list[str]], cells: list[set[str]]) -> Recognition | None:
    """Recognizes tags in MISC, and types without B and I: in the last column, where most tokens are outside or types
    come again.
    """
    found = [column for column in map(written_otherwise, range(len(cells)), cells) if column]
    if not found or found[-1].place != len(cells) - 1:
        return None
    alone = [column for column in found if column.writing is TYPES_ALONE]
    if found[-1] in alone and len(rows) < _FEWEST_ROWS * len(found[-1].kinds):
        return None
    both = any(one.kinds & other.kinds for one, other in combinations(found, 2))
    return _key_or_answers(start, f"the tags in column {found[-1].place + 1}", both)


_FEWEST_ROWS = 2


def _nearly(start: Start) -> Nearly | None:
    """Answers without any entity are recognized only beside their gold tags."""
    rows = [line.split() for line in start.lines[:2000] if not line.startswith((*TEXT_BEGINS, "#"))]
    outside = len(rows) > 1 and all(len(row) == len(rows[0]) > 1 and row[-1] == "O" for row in rows)
    return Nearly("no token is in an entity, and its gold tags are in another file", "--gold GOLD") if outside else None


READER = Reader(
    "conll",
    "tokens with gold and predicted tags, in one file or two (IOB1, BIO, BIOES, BILOU, BMES)",
    (SCORES, DOCUMENTS, COUNTS),
    EXAMPLE,
    stage,
    keyed=True,
    options=(
        Option("gold", "the file with the gold tags", is_file=True),
        Option("scheme", "how tags are read: by the rules of conlleval, or strictly", SCHEMES[0], SCHEMES),
        Option("overlap", "what an overlapping entity of the same type is", "wrong", ("wrong", "partial")),
    ),
    noun="sentence",
    cluster="text",
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
    nearly=_nearly,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
