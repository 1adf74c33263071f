"""Tagged tokens: entities as seqeval and conlleval find them, and their sums."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest
import seqeval.metrics
import seqeval.scheme

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.readers import Role
from evalhouse.warehouse.loading.readers.conll import EXAMPLE
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.loading.staging.spans import Mention, Scheme, entities
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.empty import create
from tests.store.texts import Complaints, Load

ON = {"test_set": "news", "system": "crf"}


def test_a_sentence_has_every_type_of_the_file(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "conll", "in.txt", fields=ON)
    counts = "select document, unit, possible, actual, correct, spurious, missing from scores order by 1, 2"
    assert database.rows(Sql(counts)) == [
        ("1", "LOC", 1, 0, 0, 0, 1),
        ("1", "ORG", 0, 1, 0, 1, 0),
        ("1", "PER", 1, 1, 1, 0, 0),
        ("2", "LOC", 0, 0, 0, 0, 0),
        ("2", "ORG", 0, 0, 0, 0, 0),
        ("2", "PER", 0, 0, 0, 0, 0),
    ]


def test_texts_are_attributes_of_their_sentences(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE + "\n" + EXAMPLE.strip(), "conll", "in.txt", fields=ON)
    query = "select document, attribute, value from document_attributes order by document"
    assert database.rows(Sql(query)) == [(str(k + 1), "text", str(k // 2 + 1)) for k in range(4)]


def tagged(gold: list[list[str]], found: list[list[str]]) -> str:
    return "\n\n".join(
        "\n".join(f"word {g} {f}" for g, f in zip(*both, strict=True)) for both in zip(gold, found, strict=True)
    )


@pytest.mark.parametrize(
    ("scheme", "prefixes"), [("conlleval", "BI"), ("conlleval", "BIES"), ("iob2", "BI"), ("iobes", "BIES")]
)
def test_sums_are_those_of_seqeval(database: Database, load_text: Load, scheme: str, prefixes: str) -> None:
    chance = random.Random(scheme + prefixes)
    tags = ["O", *(f"{prefix}-{kind}" for prefix in prefixes for kind in ("PER", "LOC", "X-Y"))]

    def sentences() -> list[list[str]]:
        return [[chance.choice(tags) for _ in range(length)] for length in lengths]

    lengths = [chance.randrange(1, 9) for _ in range(150)]
    gold, found = sentences(), sentences()
    # Half of the sentences are predicted as they are, so that there is something correct.
    found[::2] = gold[::2]
    load_text(tagged(gold, found), "conll", "in.txt", fields=ON, options={"scheme": scheme})
    strict = {"iob2": seqeval.scheme.IOB2, "iobes": seqeval.scheme.IOBES}.get(scheme)
    mode = {"mode": "strict", "scheme": strict} if strict else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = (seqeval.metrics.precision_score, seqeval.metrics.recall_score, seqeval.metrics.f1_score)
        wanted = [score(gold, found, average="micro", **mode) for score in scores]
        report = seqeval.metrics.classification_report(gold, found, output_dict=True, **mode)
    [(total, given, correct)] = database.rows(Sql("select sum(possible), sum(actual), sum(correct) from scores"))
    assert [correct / given, correct / total] == wanted[:2]
    # seqeval goes through precision and recall, whose rounding shows in the last digit.
    assert 2 * correct / (total + given) == pytest.approx(wanted[2], abs=1e-15)
    possible = dict(database.rows(Sql("select unit, sum(possible) from scores group by all")))
    assert possible == {kind: row["support"] for kind, row in report.items() if not kind.endswith("avg")}


def test_overlap_is_partial_where_it_is_asked_for(database: Database, load_text: Load) -> None:
    text = "a B-PER B-PER\nb I-PER O\nc O O\nd B-LOC B-PER\n"
    load_text(text, "conll", "in.txt", fields=ON, options={"overlap": "partial"})
    counts = "select unit, possible, actual, correct, partial from scores order by unit"
    assert database.rows(Sql(counts)) == [("LOC", 1, 0, 0, 0), ("PER", 1, 2, 0, 1)]


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("I-A I-A O I-B", [Mention("A", 0, 2), Mention("B", 3, 4)]),
        ("I-A B-A I-A", [Mention("A", 0, 1), Mention("A", 1, 3)]),
        ("S-A B-A E-A", [Mention("A", 0, 1), Mention("A", 1, 3)]),
        ("B-A I-B", [Mention("A", 0, 1), Mention("B", 1, 2)]),
        (". O .", []),
    ],
)
def test_entities_of_any_scheme(tags: str, found: list[Mention]) -> None:
    assert entities(tags.split()) == found


NO_TAG = "is not a tag: O, or one of B, I, E, S with a type, such as B-PER"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a B-A O\nb O\n", "in:2: 2 columns in this line, and 3 before it"),
        ("a B-A X-A\n", f"in:1: 'X-A' in column 3 {NO_TAG}"),
        ("a B-A B-A\n\nb O B-A\nc O _\n", f"in:4: '_' in column 3 {NO_TAG}"),
        ("a\tB-A\tO\nb\n", "in:2: 1 column in this line, and 3 before it"),
        ("a B- O\n", f"in:1: 'B-' in column 2 {NO_TAG}"),
        ("a O O\n", "in: no column holds entity tags such as B-PER"),
        ("-DOCSTART- O O\n\n", "in: there is no token in it"),
        ("a B-A O\n\xff".encode("latin-1"), "in:2: this line is not UTF-8"),
    ],
)
def test_what_is_not_tagged_is_refused(complaints: Complaints, text: str | bytes, sentence: str) -> None:
    assert complaints(text, "conll", "in", fields=ON) == [sentence]


def columns(*sides: str) -> str:
    """A file whose columns are these texts, word by word; a bar ends a sentence."""
    rows = zip(*(side.split() for side in sides), strict=True)
    return "".join("\n" if cells[0] == "|" else " ".join(cells) + "\n" for cells in rows)


WORDS = "Ada saw Turin | It rained"
CHUNKS = "B-NP B-VP B-NP | B-NP B-VP"
NAMES = "B-PER O B-LOC | O O"
FOUND = "B-PER O O | B-LOC O"


def sums(database: Database) -> list[tuple[object, ...]]:
    query = "select unit, sum(possible), sum(actual), sum(correct) from scores group by all order by 1"
    return database.rows(Sql(query))


EITHER = [("LOC", 1, 1, 0), ("PER", 1, 1, 1)]


def test_chunks_are_not_taken_for_gold(load_text: Load, database: Database, complaints: Complaints) -> None:
    """The four columns of CoNLL-2003: words, parts of speech, chunks and names."""
    file = columns(WORDS, WORDS, CHUNKS, NAMES)
    [refused] = complaints(file, "conll", "in", fields=ON)
    assert refused == (
        "in: column 3 (NP, VP) and column 4 (LOC, PER) have no type in common, so they are not gold and answers; "
        "--gold FILE names the file with the gold tags, or --map gold=3 --map answers=4 says they are"
    )
    load_text(columns(WORDS, WORDS, CHUNKS, NAMES, FOUND), "conll", "in", fields=ON)
    assert sums(database) == EITHER


def test_gold_stands_in_a_file_of_its_own(load_text: Load, database: Database, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("-DOCSTART- -X- O\n\n" + columns(WORDS, CHUNKS, NAMES))
    loaded = load_text(columns(WORDS, FOUND), "conll", "crf", fields=ON, options={"gold": "gold"})
    assert sums(database) == EITHER
    assert loaded.notes[0] == "gold: column 3 (LOC, PER) of gold, BIO; answers: column 2 (LOC, PER), BIO"
    texts = "select document, value from document_attributes order by 1"
    assert database.rows(Sql(texts)) == [("1", "1"), ("2", "1")]


@pytest.mark.long
def test_a_folder_of_gold_and_answers_is_loaded_by_name(tmp_path: Path) -> None:
    """What is called gold is the key of the answers near it, and the test set is called like the folder they share."""
    news = tmp_path / "news"
    (news / "systems").mkdir(parents=True)
    (news / "gold.conll").write_text(columns(WORDS, WORDS, CHUNKS, NAMES))
    (news / "systems" / "crf.conll").write_text(columns(WORDS, FOUND))
    (news / "systems" / "oracle.conll").write_text(columns(WORDS, NAMES))
    create(tmp_path / "w.duckdb").close()
    with Session.open(tmp_path / "w.duckdb") as session:
        session.run(f'load "{news}" as auto')
        rows = {row["system"]: row["F(beta=1)"] for row in session.run("score F for all on news").rows}
        assert rows == {"crf": 0.5, "oracle": 1.0}
        (news / "gold.conll").rename(news / "test.conll")
        with pytest.raises(DataError, match="--gold FILE names the file with the gold tags"):
            session.run(f'load "{news}" as auto')


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("news/gold.conll", columns(WORDS, CHUNKS, NAMES), Role.KEY),
        ("gold/news.txt", columns(NAMES), Role.KEY),
        ("news/golden.conll", columns(WORDS, NAMES), Role.FACTS),
        ("news/gold.conll", columns(WORDS, NAMES, FOUND), Role.FACTS),
    ],
)
def test_gold_is_told_by_its_name(database: Database, tmp_path: Path, name: str, text: str, role: Role) -> None:
    file = tmp_path / name
    file.parent.mkdir()
    file.write_text(text)
    known = recognize(file, database)
    assert (known.reader, known.role) == ("conll", role)


def test_answers_may_be_tags_alone(load_text: Load, database: Database, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text(columns(WORDS, NAMES))
    load_text(columns(FOUND), "conll", "crf", fields=ON, options={"gold": "gold"})
    assert sums(database) == EITHER


def test_columns_are_chosen_by_number(load_text: Load, database: Database, complaints: Complaints) -> None:
    three = columns(WORDS, NAMES, FOUND, NAMES)
    [refused] = complaints(three, "conll", "in", fields=ON)
    assert refused == (
        "in: column 2 (LOC, PER) and column 3 (LOC, PER) and column 4 (LOC, PER) could be gold and answers; "
        "--map gold=2 --map answers=4, for example, says which are meant"
    )
    load_text(three, "conll", "in", fields=ON, columns={"gold": "4", "answers": "3"})
    assert sums(database) == EITHER
    nothing = columns(WORDS, NAMES, "O O O | O O")
    [refused] = complaints(nothing, "conll", "in", fields=ON)
    assert refused == (
        "in: column 2 (LOC, PER) is the only one that holds entity tags, so gold or answers are not in this file; "
        "--gold FILE names the file with the gold tags, or --map gold=2 --map answers=3 says that the system found no "
        "entity"
    )
    load_text(nothing, "conll", "in", fields={**ON, "system": "silent"}, columns={"gold": "2", "answers": "3"})
    assert sums(database) == [("LOC", 2, 1, 0), ("PER", 2, 1, 1)]


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"gold": "7"}, "in: --map gold=7: the columns are counted from 1 to 3, as in --map gold=3"),
        ({"gold": "ner"}, "in: --map gold=ner: the columns are counted from 1 to 3, as in --map gold=3"),
        ({"answers": "1"}, "in: column 1 holds texts that are not tags, so it cannot be answers"),
        ({"gold": "3", "answers": "2"}, "in: column 3 holds no entity tag, so it cannot be gold"),
        ({"system": "2"}, "in: 'system' is not taken from a column; these are: gold, answers"),
    ],
)
def test_a_column_that_cannot_be_meant_is_refused(
    complaints: Complaints, chosen: dict[str, str], sentence: str
) -> None:
    file = columns(WORDS, NAMES, "O O O | O O")
    assert complaints(file, "conll", "in", fields=ON, columns=chosen) == [sentence]


SHORT = "in:1: 2 tokens in this sentence, and 3 in that on line 1 of gold"


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        (columns("Ada met Turin | It rained", FOUND), "in:2: the token is 'met', and 'saw' on line 2 of gold"),
        (columns("Ada saw | It rained", "B-PER O | B-LOC O"), SHORT),
        (columns("B-PER O | B-LOC O"), SHORT),
        (
            columns("Ada saw Turin", "B-PER O O"),
            "in: 1 sentence here, and more in gold: the next begins on its line 5",
        ),
        (
            columns(f"{WORDS} | Yes", f"{FOUND} | O"),
            "gold: 2 sentences here, and more in in: the next begins on its line 8",
        ),
        (
            columns(WORDS, CHUNKS),
            "in: column 2 (NP, VP) here, column 2 (LOC, PER) in gold: they have no type in common; "
            "--map gold=COLUMN --map answers=COLUMN says which are meant",
        ),
        (columns(WORDS), "in: no column holds entity tags such as B-PER"),
    ],
)
def test_gold_and_answers_must_fit(complaints: Complaints, tmp_path: Path, answers: str, sentence: str) -> None:
    (tmp_path / "gold").write_text(columns(WORDS, NAMES))
    assert complaints(answers, "conll", "in", fields=ON, options={"gold": "gold"}) == [sentence]


def test_answers_without_any_entity_are_of_a_system_that_found_nothing(
    database: Database, load_text: Load, tmp_path: Path
) -> None:
    (tmp_path / "gold").write_text(columns(WORDS, NAMES))
    load_text(columns(WORDS, "O O O | O O"), "conll", "none", fields=ON, options={"gold": str(tmp_path / "gold")})
    sums = "select sum(possible), sum(actual), sum(correct) from scores"
    assert database.rows(Sql(sums)) == [(2, 0, 0)]


def test_lines_with_a_hash_before_a_sentence_are_comments(database: Database, load_text: Load, tmp_path: Path) -> None:
    comments = "# id k1\tdomain=en\n", "# id k2 domain=en\n"
    gold = f"{comments[0]}Ada _ _ B-PER\n# _ _ O\n\n{comments[1]}Turin _ _ B-LOC\n"
    (tmp_path / "gold").write_text(gold)
    load_text(gold, "conll", "all", fields=ON, options={"gold": str(tmp_path / "gold")})
    right = "select document, number from counts where count = 'tokens' order by all"
    assert database.rows(Sql(right)) == [("1", 2), ("2", 1)]


def test_a_gold_file_that_is_not_there(complaints: Complaints) -> None:
    said = complaints(columns(WORDS, NAMES), "conll", "in", fields=ON, options={"gold": "none"})
    assert said == ["none: there is no such file"]


@pytest.mark.parametrize(
    ("tags", "named"),
    [
        ("B-A I-A O B-A", ("BIO", 0)),
        ("B-A B-A O I-A", ("BIO", 1)),
        ("I-A B-A I-A O I-A", ("IOB1", 0)),
        ("I-A O I-A O B-A", ("IOB1", 1)),
        ("S-A O B-A I-A E-A", ("BIOES", 0)),
        ("S-A O I-A E-A B-A", ("BIOES", 2)),
        ("U-A O B-A I-A L-A", ("BILOU", 0)),
        ("S-A O B-A M-A E-A", ("BMES", 0)),
    ],
)
def test_schemes_are_told_apart(tags: str, named: tuple[str, int]) -> None:
    scheme = Scheme()
    scheme.add(tags.split())
    assert scheme.named()[:2] == named


def test_mixed_schemes_are_said(load_text: Load) -> None:
    notes = load_text(columns(WORDS, NAMES, "I-PER O B-LOC | O O"), "conll", "in", fields=ON).notes
    assert notes[0] == (
        "gold: column 2 (LOC, PER), BIO; answers: column 3 (LOC, PER), BIO but for 1 tag where I begins an entity"
    )


def test_letters_of_other_schemes_mark_the_same_entities() -> None:
    wanted = entities(["S-A", "O", "B-A", "I-A", "E-A"])
    assert entities(["U-A", "O", "B-A", "I-A", "L-A"]) == entities(["S-A", "O", "B-A", "M-A", "E-A"]) == wanted


@pytest.mark.parametrize("scheme", ["conlleval", "iob2"])
def test_tokens_and_the_right_ones_are_counted(load_text: Load, database: Database, scheme: str) -> None:
    load_text(columns(WORDS, NAMES, FOUND), "conll", "in", fields=ON, options={"scheme": scheme})
    query = "select document, count, number from counts order by 1, 2"
    assert database.rows(Sql(query)) == [("1", "right", 2), ("1", "tokens", 3), ("2", "right", 1), ("2", "tokens", 2)]


def test_comments_numbers_and_blanks_in_words(load_text: Load, database: Database) -> None:
    """CoNLL-U: tabs, numbered words with blanks in them, comments, and documents that begin with a comment."""
    lines = ["# newdoc id = a", "# sent_id = 1", "1\tNew York\tB-LOC\tB-LOC", "2\t\u00a0\tO\tO", "",
             "# text = #", "1\t#\tO\tB-LOC", "2\t2\tO\tO", ""]  # fmt: skip
    load_text("\n".join(lines), "conll", "in", fields=ON)
    assert sums(database) == [("LOC", 1, 2, 1)]
    assert database.rows(Sql("select count(*) from document_attributes")) == [(2,)]
    load_text(columns("# # b", "B-A O B-B", "B-A O B-B"), "conll", "in", fields={**ON, "test_set": "T"})
    assert database.rows(Sql("select sum(possible) from scores where test_set = 'T'")) == [(2,)]


def test_a_scheme_is_one_of_three(complaints: Complaints) -> None:
    assert complaints(EXAMPLE, "conll", "in", fields=ON, options={"scheme": "bilou"}) == [
        "in: --scheme is 'bilou', not conlleval or iob2 or iobes"
    ]


def test_a_sentence_is_bounded(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalhouse.warehouse.loading.staging.tokens.MOST_CELLS", 30)
    sentence = "a B-X B-X\n" * 10
    [refused] = complaints(f"{sentence}\n{sentence}a O O\nb O O\n", "conll", "in.txt", fields=ON)
    assert refused.endswith("in.txt:12: the sentence that begins here has more than 30 cells")
