"""Inputs, references and outputs, for each reader: if texts are requested, they are stored exactly as in the file;
otherwise none of them is stored.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import Forgotten, Loaded, forget, load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.plans.scores import texts
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import unbalanced_imports
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Load

Text = tuple[str | None, str, str, int, str]
"""System, document, kind, number and text."""


def stored(database: Database, test_set: str | None = None) -> list[Text]:
    """All texts of a warehouse, or those of a test set."""
    assert unbalanced_imports(database) == ()
    columns = "select system, document, kind, number, text from texts where test_set = coalesce(?, test_set)"
    return database.rows(Sql(columns + " order by document, kind, system nulls first, number", (test_set,)))


def lm_eval(*samples: dict[str, object]) -> str:
    """A log of samples, each answered right."""
    known = {"filter": "none", "metrics": ["acc"], "acc": 1.0}
    return "\n".join(json.dumps({"doc_id": number, **known, **sample}) for number, sample in enumerate(samples))


def asked(prompt: str, target: object, *answers: str) -> dict[str, object]:
    """A sample of which a model wrote the answers."""
    return {"target": target, "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {}}}, "resps": [list(answers)]}


ON = {"test_set": "qa", "system": "m"}
SAMPLES = lm_eval(asked("Q: 2 + 2?\nA:", "4", " 4"), asked("Q: 3 + 3?", ["6", "six"], " six", "7"))
TEXTS: list[Text] = [
    (None, "0", "input", 1, "Q: 2 + 2?\nA:"),
    ("m", "0", "output", 1, " 4"),
    (None, "0", "reference", 1, "4"),
    (None, "1", "input", 1, "Q: 3 + 3?"),
    ("m", "1", "output", 1, " six"),
    ("m", "1", "output", 2, "7"),
    (None, "1", "reference", 1, "6"),
    (None, "1", "reference", 2, "six"),
]


def samples(
    load_text: Load, text: str = SAMPLES, *, texts: bool = True, same_documents: bool = False, **of: str
) -> Loaded:
    return load_text(text, "lm-eval", "samples.jsonl", fields=ON | of, texts=texts, same_documents=same_documents)


def test_prompts_targets_and_answers_of_lm_eval(database: Database, load_text: Load) -> None:
    loaded = samples(load_text)
    assert stored(database) == TEXTS
    assert check(database) == ()
    assert (loaded.texts_read, loaded.texts_new) == (8, 8)


def test_nothing_is_stored_unless_it_is_asked_for(database: Database, load_text: Load) -> None:
    loaded = samples(load_text, texts=False)
    assert stored(database) == []
    assert (loaded.rows_new, loaded.texts_read, loaded.texts_new) == (4, 0, 0)


@pytest.mark.long
def test_texts_are_added_to_what_was_loaded_without_them(database: Database, load_text: Load) -> None:
    samples(load_text, texts=False)
    second = samples(load_text)
    assert (second.rows_new, second.texts_new, second.import_id) == (0, 8, 2)
    assert stored(database) == TEXTS
    again = samples(load_text)
    assert (again.texts_read, again.texts_new, again.import_id) == (8, 0, None)
    assert forget(database, 2) == Forgotten(rows=0, texts=8)
    assert stored(database) == []
    assert check(database) == ()
    assert database.rows(Sql("select count(*) from document_values")) == [(2,)]


def test_texts_go_with_their_import(database: Database, load_text: Load) -> None:
    samples(load_text)
    forget(database, 1)
    assert stored(database) == []
    assert database.rows(Sql("select count(*) from document")) == [(0,)]


def test_chosen_continuations_are_the_output_and_the_reference(database: Database, load_text: Load) -> None:
    choice = {
        "target": 1,
        "arguments": [["The sky is", " green"], ["The sky is", " blue"]],
        "resps": [[["-3.5", "False"]], [["-0.5", "True"]]],
    }
    samples(load_text, lm_eval(choice, {**choice, "target": "green", "resps": [[["nan", "x"]], [["-1", "x"]]]}))
    assert stored(database)[:3] == [
        (None, "0", "input", 1, "The sky is"),
        ("m", "0", "output", 1, " blue"),
        (None, "0", "reference", 1, " blue"),
    ]
    # Where likelihoods are no numbers, nothing is chosen.
    assert stored(database)[3:] == [(None, "1", "input", 1, "The sky is"), (None, "1", "reference", 1, "green")]


@pytest.mark.long
def test_a_system_that_was_given_another_input_keeps_it(database: Database, load_text: Load) -> None:
    samples(load_text)
    other = lm_eval(asked("<user>2 + 2?", "4", "4"), asked("Q: 3 + 3?", ["6", "VI"], "6"))
    notes = samples(load_text, other, system="n", same_documents=True).notes
    inputs = [row for row in stored(database) if row[2] == "input"]
    assert inputs == [(None, *TEXTS[0][1:]), ("n", "0", "input", 1, "<user>2 + 2?"), (None, *TEXTS[3][1:])]
    assert "left out, because other texts are stored in their place: 1 text" in notes
    assert "kept with their system, because the documents have other inputs: 1 text" in notes
    assert check(database) == ()
    again = samples(load_text, other, system="n", same_documents=True)
    assert (again.texts_new, again.import_id) == (0, None)


def test_filters_of_one_sample_have_its_texts_once(database: Database, load_text: Load) -> None:
    sample = asked("Q", "4", "4")
    both = lm_eval({**sample, "doc_id": 0}, {**sample, "doc_id": 0, "filter": "strict"})
    assert samples(load_text, both).texts_read == 3


def test_texts_make_no_document(database: Database, load_text: Load) -> None:
    unscored = {**asked("Q", "4", "4"), "acc": "no number", "doc_hash": None}
    notes = samples(load_text, lm_eval(asked("Q: 2 + 2?", "4", "4"), unscored)).notes
    assert {row[1] for row in stored(database)} == {"0"}
    assert "left out, because nothing else is known about their documents: 3 texts" in notes


HOSTILE = {
    "control characters": "a\x00b\x01\x1b[31mred\x07\x7f\x85",
    "line ends": "a\r\nb\rc\n\n",
    "blanks": "  \t\u00a0\u2003x\u3000 ",
    "both directions": "a\u202eb\u2066c\u200f",
    "letters that NFC would change": "A\u030a \u212b \ufb01",
    "what programs would run": "<script>alert(1)</script> [red]x[/red] =1+1 \\input{x} '; drop table text; --",
    "quotes": '"\'`""',
    "nothing": "",
    "a byte order mark": "\ufeffx",
    "every plane": "\U0001f600\U000e0001\ufffe\U0010ffff",
}


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_stored_to_the_byte(database: Database, load_text: Load, text: str) -> None:
    samples(load_text, lm_eval(asked(text, text, text)))
    assert [row[-1] for row in stored(database)] == [text] * 3


def test_half_of_a_pair_of_surrogates_in_a_table_is_stored_as_it_is_written(
    database: Database, load_text: Load
) -> None:
    line = '{"model": "A", "id": "D1", "acc": 1, "response": "\\ud83d"}\n'
    load_text(line * 2, "table", "t.jsonl", fields={"test_set": "T"}, texts=True)
    assert [row[-1] for row in stored(database)] == ["\\ud83d"]


def test_half_of_a_pair_of_surrogates_is_stored_as_it_is_written(database: Database, load_text: Load) -> None:
    samples(load_text, lm_eval(asked("a\ud800b", "4", "é\udfff")))
    assert [row[-1] for row in stored(database)] == ["a\\ud800b", "é\\udfff", "4"]


def test_what_is_no_utf8_is_refused_with_its_line(load_text: Load, tmp_path: Path) -> None:
    log = SAMPLES.encode().replace(b" six", b"\xff\xfe", 1)
    with pytest.raises(DataError, match=r"samples\.jsonl:2: this line is not UTF-8"):
        load_text(log, "lm-eval", "samples.jsonl", fields=ON, texts=True)


@pytest.mark.long
@pytest.mark.parametrize("length", [7_999, 8_000, 8_001, 16_000, 16_001, 30_000])
def test_texts_in_pieces_come_out_whole(database: Database, load_text: Load, length: int) -> None:
    text = ("a\u0301\U0001f600\0\n" * length)[:length]
    other = text[:-1] + "!"
    samples(load_text, lm_eval(asked(text, text, text)))
    assert [row[-1] for row in stored(database)] == [text] * 3
    rows = database.rows(Sql("select count(*) from system_text"))
    assert rows == [(-(-length // 8_000),)]
    [query] = database.rows(texts(1, [1], ["0"], longest=8_001).sql)[:1]
    assert query == ("0", None, "input", text[:8_001], length)
    again = samples(load_text, lm_eval(asked(text, other, text)), system="n", same_documents=True)
    assert (again.texts_new, again.texts_read) == (1, 3)
    assert "left out, because other texts are stored in their place: 1 text" in again.notes
    shorter = samples(load_text, lm_eval(asked(other, text[:100], text)), system="o", same_documents=True)
    assert ("o", "0", "input", 1, other) in stored(database)
    assert "left out, because other texts are stored in their place: 1 text" in shorter.notes
    assert check(database) == ()


def test_of_two_long_outputs_in_a_file_the_first_stays_whole(database: Database, load_text: Load) -> None:
    short, long = "short", "long" * 5_000
    log = lm_eval(asked("Q", "4", short), {**asked("Q", "4", long), "doc_id": 0, "filter": "strict"})
    assert "left out, because other texts are stored in their place: 1 text" in samples(load_text, log).notes
    assert [row[-1] for row in stored(database) if row[2] == "output"] == [short]


@pytest.mark.long
def test_long_texts_are_stored_whole_and_longer_ones_refused_with_their_line(
    database: Database, load_text: Load
) -> None:
    long = "0123456789" * 1_000_000
    samples(load_text, lm_eval(asked("Q", "4", long)))
    assert database.rows(Sql("select length(text), md5(text) = md5(?) from texts where kind = 'output'", (long,))) == [
        (10_000_000, True)
    ]
    with pytest.raises(DataError) as caught:
        samples(load_text, lm_eval(asked("Q", "4", "4"), asked("Q", "4", long + "!")), system="n")
    [fault] = caught.value.faults
    assert str(fault).startswith("samples.jsonl:2: a text has 10,000,001 characters, and at most 10,000,000 are stored")
    assert len(str(fault)) < 300
    assert database.rows(Sql("select count(*) from system")) == [(1,)]


def test_a_fault_after_the_texts_leaves_nothing(
    database: Database, load_text: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalhouse.warehouse.loading import ingest

    def failing(*of: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ingest, "notes_of", failing)
    with pytest.raises(KeyboardInterrupt):
        samples(load_text)
    assert stored(database) == []
    assert database.rows(Sql("select count(*) from import")) == [(0,)]
    left = database.rows(Sql("select table_name from duckdb_tables() where temporary"))
    assert left == []


def test_a_dry_run_says_how_many_and_stores_none(database: Database, load_text: Load) -> None:
    loaded = load_text(SAMPLES, "lm-eval", "samples.jsonl", fields=ON, texts=True, dry_run=True)
    assert (loaded.texts_new, loaded.import_id) == (8, None)
    assert stored(database) == []


def inspect(*asked: dict[str, object]) -> dict[str, Any]:
    scored = {"scores": {"match": {"value": "C"}}}
    return {
        "eval": {"task": "qa", "model": "m", "task_id": "t1", "created": "2026-01-01T00:00:00Z"},
        "samples": [{"id": "D1", "epoch": epoch, **scored, **sample} for epoch, sample in enumerate(asked, start=1)],
    }


INSPECT = inspect(
    {
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "attachment://a1"}, {"type": "image", "image": "x"}]},
        ],
        "choices": ["one", "two"],
        "target": ["B", "b"],
        "attachments": {"a1": "Which?"},
        "output": {"choices": [{"message": {"role": "assistant", "content": " B\n"}}], "completion": " B\n"},
    },
    {"input": [{"role": "user", "content": "Which?"}], "target": ["B", "b"], "output": {"completion": "A"}},
)
OF_INSPECT: list[Text] = [
    (None, "D1", "input", 1, "system: Be brief.\n\nuser: Which?\nA) one\nB) two"),
    ("m#2", "D1", "input", 1, "Which?"),
    ("m", "D1", "output", 1, " B\n"),
    ("m#2", "D1", "output", 1, "A"),
    (None, "D1", "reference", 1, "B"),
    (None, "D1", "reference", 2, "b"),
]


@pytest.mark.parametrize("packed", [False, True])
def test_samples_of_inspect(database: Database, tmp_path: Path, packed: bool) -> None:
    file = tmp_path / ("log.eval" if packed else "log.json")
    if packed:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("header.json", json.dumps({"eval": INSPECT["eval"]}))
            for sample in INSPECT["samples"]:
                archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    else:
        file.write_text(json.dumps(INSPECT))
    load(database, file, "inspect", texts=True)
    assert stored(database) == OF_INSPECT


@pytest.mark.parametrize("fields", [{}, {"system": "other", "test_set": "t"}])
def test_epochs_without_a_run_are_replicates_with_their_outputs(
    database: Database, tmp_path: Path, fields: dict[str, str]
) -> None:
    log = inspect({"output": {"completion": "1"}}, {"output": {"completion": "2"}})
    log["eval"] = {"task": "qa", "model": "m"}
    (tmp_path / "log.json").write_text(json.dumps(log))
    load(database, tmp_path / "log.json", "inspect", fields=fields, texts=True)
    systems = database.rows(Sql("select distinct system from document_values order by 1"))
    assert [(row[0],) for row in stored(database)] == systems
    assert len(systems) == 2


def test_the_state_of_helm(database: Database, tmp_path: Path) -> None:
    def request(number: str, trial: int, answer: str, **more: object) -> dict[str, object]:
        references = [{"output": {"text": "no"}, "tags": []}, {"output": {"text": "yes"}, "tags": ["correct"]}]
        instance = {"id": number, "input": {"text": "Is it?"}, "references": references, **more}
        return {
            "instance": instance,
            "train_trial_index": trial,
            "output_mapping": {"A": "no", "B": "yes"},
            "result": {"completions": [{"text": answer}]},
        }

    folder = tmp_path / "mmlu:subject=law,model=openai_gpt2"
    folder.mkdir()
    (folder / "per_instance_stats.json").write_text(READERS["helm"].example)
    typos = request("id1", 0, " A", perturbation={"name": "typos"})
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": [request("id1", 0, " B"), typos]}))
    load(database, folder / "per_instance_stats.json", "helm", texts=True)
    for test_set, answer in (("mmlu:subject=law", " B"), ("mmlu:subject=law:typos", " A")):
        assert stored(database, test_set) == [
            (None, "id1", "input", 1, "Is it?\nA. no\nB. yes"),
            ("openai_gpt2", "id1", "output", 1, answer),
            (None, "id1", "reference", 1, "B. yes"),
        ]


def test_instances_and_predictions_of_helm(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "mmlu:subject=law,model=openai_gpt2"
    folder.mkdir()
    (folder / "per_instance_stats.json").write_text(READERS["helm"].example)
    right = [{"output": {"text": "yes"}, "tags": ["correct"]}]
    (folder / "instances.json").write_text(json.dumps([{"id": "id1", "input": {"text": "?"}, "references": right}]))
    predictions = [{"instance_id": "id1", "train_trial_index": 0, "predicted_text": "y", "stats": {"exact_match": 1}}]
    (folder / "display_predictions.json").write_text(json.dumps(predictions))
    load(database, folder / "per_instance_stats.json", "helm", texts=True)
    assert [row[2:] for row in stored(database)] == [("input", 1, "?"), ("output", 1, "y"), ("reference", 1, "yes")]


def test_samples_of_every_eval_ever(database: Database, load_text: Load) -> None:
    def sample(number: str, **texts: object) -> str:
        known = {"evaluation_id": "e", "model_id": "m", "evaluation_name": "qa", "sample_id": number}
        return json.dumps({**known, "evaluation": {"score": 1.0, "is_correct": True}, **texts})

    given = {"raw": "2 + 2?", "formatted": "Q: 2 + 2?", "reference": ["4", "four"], "choices": ["3", "4"]}
    turns = [{"role": "user", "content": "hm?"}, {"role": "assistant", "content": "x"}]
    chat = [*turns, {"role": "assistant", "content": "4"}]
    lines = [
        sample("D1", input=given, output={"raw": ["It is 4."]}),
        sample("D2", input={"raw": "?", "reference": []}, output=None, messages=chat),
        sample("D3"),
    ]
    load_text("\n".join(lines), "every-eval-ever", "x_samples.jsonl", texts=True)
    assert stored(database) == [
        (None, "D1", "input", 1, "2 + 2?\nA) 3\nB) 4"),
        ("m", "D1", "output", 1, "It is 4."),
        (None, "D1", "reference", 1, "4"),
        (None, "D1", "reference", 2, "four"),
        (None, "D2", "input", 1, "?"),
        ("m", "D2", "output", 1, "4"),
    ]


def test_annotations_of_alpaca_eval(database: Database, load_text: Load) -> None:
    load_text(READERS["alpaca-eval"].example, "alpaca-eval", "annotations.json", texts=True)
    assert stored(database)[:3] == [
        (None, "How do I wrap a present?", "input", 1, "How do I wrap a present?"),
        ("m1", "How do I wrap a present?", "output", 1, "Wrap it."),
        (None, "How do I wrap a present?", "reference", 1, "Fold."),
    ]


def test_segments_with_their_source(database: Database, load_text: Load, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    for name, text in {
        "ted.refA.en": " the cat \nno\n",
        "ted.refB.en": "cats\nnot\n",
        "ted.de": "die Katze\nnein\n",
    }.items():
        (tmp_path / name).write_text(text)
    options = {"source": "ted.de", "metrics": "BLEU"}
    load_text("a cat\n\n", "segments", "ted.base.en", fields={"test_set": "ted"}, options=options, texts=True)
    assert stored(database) == [
        (None, "1", "input", 1, "die Katze"),
        ("base", "1", "output", 1, "a cat"),
        (None, "1", "reference", 1, " the cat "),
        (None, "1", "reference", 2, "cats"),
        (None, "2", "input", 1, "nein"),
        ("base", "2", "output", 1, ""),
        (None, "2", "reference", 1, "no"),
        (None, "2", "reference", 2, "not"),
    ]


def test_a_source_of_another_length_is_refused(load_text: Load, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    for name, text in {"ted.ref.en": "the cat\n", "ted.de": "die\nKatze\n"}.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=r"1 segment, and 2 in the source ted\.de"):
        load_text("a cat\n", "segments", "ted.base.en", fields=ON, options={"source": "ted.de"}, texts=True)


def test_a_table_of_segments(database: Database, load_text: Load) -> None:
    pytest.importorskip("sacrebleu")
    table = "system\tsrc\tmt\tref\nbase\tdie Katze\ta cat\tthe cat\n"
    load_text(table, "segments", "ted.tsv", fields={"test_set": "ted"}, options={"metrics": "BLEU"}, texts=True)
    assert [row[2:] for row in stored(database)] == [
        ("input", 1, "die Katze"),
        ("output", 1, "a cat"),
        ("reference", 1, "the cat"),
    ]


@pytest.mark.parametrize("options", [{}, {"scheme": "iob2"}])
def test_sentences_of_conll(database: Database, load_text: Load, options: dict[str, str]) -> None:
    load_text(READERS["conll"].example, "conll", "out.conll", fields=ON, options=options, texts=True)
    assert stored(database) == [
        (None, "1", "input", 1, "Ada Lovelace saw Turin"),
        ("m", "1", "output", 1, "[PER Ada Lovelace] saw [ORG Turin]"),
        (None, "1", "reference", 1, "[PER Ada Lovelace] saw [LOC Turin]"),
        (None, "2", "input", 1, "It rained"),
        ("m", "2", "output", 1, "It rained"),
        (None, "2", "reference", 1, "It rained"),
    ]


def test_sentences_of_two_files(database: Database, load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "gold.conll").write_text("Ada B-PER\nsaw O\n\nTurin B-LOC\n")
    answers = "Ada B-PER\nsaw O\n\nTurin B-PER\n"
    load_text(answers, "conll", "base.conll", fields={"test_set": "t"}, options={"gold": "gold.conll"}, texts=True)
    assert [row[-1] for row in stored(database)] == [
        *("Ada saw", "[PER Ada] saw", "[PER Ada] saw"),
        *("Turin", "[PER Turin]", "[LOC Turin]"),
    ]


def test_classes(database: Database, load_text: Load) -> None:
    table = "id,text,y_true,y_pred\nD1,good film,pos,neg\n"
    load_text(table, "sklearn", "base.csv", fields={"test_set": "films"}, texts=True)
    assert [row[2:] for row in stored(database)] == [
        ("input", 1, "good film"),
        ("output", 1, "neg"),
        ("reference", 1, "pos"),
    ]


WIDE = """\
model,seed,id,prompt,answer,response,acc,subject
base,1,Q1,"What is
 2+2? ",4," four",1,math
base,2,Q1,"What is
 2+2? ",4,5,0,math
tuned,1,Q1,Q: 2+2?,4,,1,math
"""


def test_columns_of_a_wide_table(database: Database, load_text: Load) -> None:
    load_text(WIDE, "table", "quiz.csv", texts=True)
    assert stored(database) == [
        (None, "Q1", "input", 1, "What is\n 2+2? "),
        ("tuned", "Q1", "input", 1, "Q: 2+2?"),
        ("base#1", "Q1", "output", 1, " four"),
        ("base#2", "Q1", "output", 1, "5"),
        (None, "Q1", "reference", 1, "4"),
    ]
    measures = database.rows(Sql("select distinct measure from document_values"))
    attributes = database.rows(Sql("select name from document_attribute union select name from system_attribute"))
    assert measures == [("acc",)]
    assert not {"prompt", "answer", "response"} & {name for (name,) in attributes}


def test_without_texts_answers_are_no_measures_of_a_wide_table_either(database: Database, load_text: Load) -> None:
    load_text(WIDE.replace(" four", "4"), "table", "quiz.csv")
    assert stored(database) == []
    assert database.rows(Sql("select distinct measure from document_values")) == [("acc",)]


def test_a_question_that_alone_names_documents_is_no_text(database: Database, load_text: Load) -> None:
    load_text(READERS["table"].example, "table", "quiz.csv", texts=True)
    assert stored(database) == []
    assert database.rows(Sql("select distinct document from document_values")) == [("Q1",)]


def test_json_lines_of_a_wide_table_are_stored_to_the_byte(database: Database, load_text: Load) -> None:
    rows = [
        {"model": "m", "id": f"D{number}", "acc": 1, "prompt": text, "output": text}
        for number, text in enumerate(HOSTILE.values())
    ]
    load_text("\n".join(map(json.dumps, rows)), "table", "quiz.jsonl", texts=True)
    kept = {row[1]: row[-1] for row in stored(database) if row[2] == "output"}
    assert kept == {f"D{number}": text for number, text in enumerate(HOSTILE.values())}


def test_systems_in_columns_have_the_texts_of_the_documents(database: Database, load_text: Load) -> None:
    options = {"wide": "systems", "measure": "acc"}
    load_text("id,input,base,tuned\nD1,2+2?,1,0\n", "table", "quiz.csv", options=options, texts=True)
    assert stored(database) == [(None, "D1", "input", 1, "2+2?")]


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_every_reader_takes_the_wish_for_texts(database: Database, tmp_path: Path, name: str) -> None:
    """Facts are the same with texts as without."""
    reader = READERS[name]
    if name in ("brat", "segments", "trec", "trec-eval", "muc-report", "mteb", "swe-bench", "counts", "conll"):
        pytest.skip("its example is more than a file, or has no texts")
    file = tmp_path / f"example{'.jsonl' if name == 'lm-eval' else '.json' if reader.example[0] in '[{' else '.csv'}"
    file.write_text(reader.example)
    options = {"measure": "BLEU"} if name == "sacrebleu" else {}
    fields = {} if reader.columns or name in ("table", "alpaca-eval", "inspect", "every-eval-ever") else ON
    fields = {"test_set": "qa"} if name == "sacrebleu" else fields
    loaded = load(database, file, reader, fields=fields, options=options)
    again = load(database, file, reader, fields=fields, options=options, texts=True)
    assert (again.rows_read, again.rows_new) == (loaded.rows_read, 0)
    stored(database)
