"""Systems are compared on a document only if files say the same of it: no load pairs one question with another that has
its name, whichever reader brings it, in one load or in two, with texts or without.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import carry_out, forget, load
from evalhouse.warehouse.loading.planning import LoadRequest, plan
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.loading.staging.identity import beginning, beginning_of, digest, digest_of, line_of
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Load

# === a small file of each reader ======================================================================================

Texts = Sequence[str]
Written = Callable[[Path, str, Texts], Path]
"""Writes the file of a system with its answers to some questions, and returns it."""


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def _wide(folder: Path, system: str, questions: Texts) -> Path:
    rows = [{"model": system, "idx": place, "question": text, "acc": 1} for place, text in enumerate(questions)]
    return _write(folder / f"{system}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def _classes(folder: Path, system: str, questions: Texts) -> Path:
    rows = [f'{place},{system},"{text}",pos,neg' for place, text in enumerate(questions)]
    return _write(folder / f"{system}.csv", "\n".join(["id,model,text,y_true,y_pred", *rows]))


def _lm_eval(folder: Path, system: str, questions: Texts) -> Path:
    samples = [
        {"doc_id": place, "doc": {"q": text}, "target": "4", "filter": "none", "metrics": ["acc"], "acc": 1}
        for place, text in enumerate(questions)
    ]
    name = "samples_t_2026-01-01T00-00-00.jsonl"
    return _write(folder / f"acme__{system}" / name, "".join(json.dumps(sample) + "\n" for sample in samples))


def _lm_eval_targets(folder: Path, system: str, questions: Texts) -> Path:
    samples = [
        {"doc_id": place, "target": text, "filter": "none", "metrics": ["acc"], "acc": 1}
        for place, text in enumerate(questions)
    ]
    name = "samples_t_2026-01-01T00-00-00.jsonl"
    return _write(folder / f"acme__{system}" / name, "".join(json.dumps(sample) + "\n" for sample in samples))


def _inspect(folder: Path, system: str, questions: Texts) -> Path:
    samples = [
        {"id": place, "epoch": 1, "input": text, "target": "x", "scores": {"match": {"value": "C"}}}
        for place, text in enumerate(questions)
    ]
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": system}, "samples": samples}
    return _write(folder / f"{system}.json", json.dumps(log))


def _helm(folder: Path, system: str, questions: Texts) -> Path:
    run = folder / f"t:model={system}"
    instances = [
        {"id": f"id{place}", "split": "test", "input": {"text": text}, "references": []}
        for place, text in enumerate(questions)
    ]
    _write(run / "instances.json", json.dumps(instances))
    stats = [
        {
            "instance_id": f"id{place}",
            "train_trial_index": 0,
            "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0}],
        }
        for place in range(len(questions))
    ]
    return _write(run / "per_instance_stats.json", json.dumps(stats))


def _every_eval_ever(folder: Path, system: str, questions: Texts) -> Path:
    samples = [
        {
            "schema_version": "instance_level_eval_0.2.2",
            "evaluation_id": f"t/{system}/1",
            "model_id": system,
            "evaluation_name": "t",
            "sample_id": str(place),
            "interaction_type": "single_turn",
            "input": {"raw": f"{system}: {text}", "reference": [text]},
            "output": {"raw": ["x"]},
            "evaluation": {"score": 1.0, "is_correct": True},
        }
        for place, text in enumerate(questions)
    ]
    return _write(folder / f"{system}_samples.jsonl", "".join(json.dumps(sample) + "\n" for sample in samples))


def _mqm(folder: Path, system: str, questions: Texts) -> Path:
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    rows = [f"{system}\tnews\t1\t{place}\tr1\t{text}\tthat\tNo-error\tNo-error" for place, text in enumerate(questions)]
    return _write(folder / f"{system}.tsv", "\n".join([header, *rows]) + "\n")


def _segments(folder: Path, system: str, questions: Texts) -> Path:
    rows = [f"{system}\tthat\t{text}" for text in questions]
    return _write(folder / f"{system}.tsv", "\n".join(["system\tmt\tref", *rows]) + "\n")


def _conll(folder: Path, system: str, questions: Texts) -> Path:
    sentences = ["".join(f"{word} O O\n" for word in text.split()) + "Ada B-PER B-PER\n" for text in questions]
    return _write(folder / f"{system}.conll", "\n".join(sentences))


def _promptfoo(folder: Path, system: str, questions: Texts) -> Path:
    results = [
        {"testIdx": place, "promptIdx": 0, "provider": {"id": system}, "vars": {"q": text, "n": place}, "success": True}
        for place, text in enumerate(questions)
    ]
    return _write(folder / f"{system}.json", json.dumps({"evalId": system, "results": {"results": results}}))


def _tau_bench(folder: Path, system: str, questions: Texts) -> Path:
    trials = [
        {"task_id": place, "reward": 1.0, "info": {"task": {"instruction": text}}, "traj": [], "trial": 0}
        for place, text in enumerate(questions)
    ]
    return _write(folder / f"{system}.json", json.dumps(trials))


def _openai_evals(folder: Path, system: str, questions: Texts) -> Path:
    lines: list[dict[str, object]] = [{"spec": {"completion_fns": [system], "base_eval": "t", "run_id": system}}]
    for place, text in enumerate(questions):
        sample = {"run_id": system, "sample_id": f"t.{place}"}
        lines.append({**sample, "type": "sampling", "data": {"prompt": text, "sampled": "x"}})
        lines.append({**sample, "type": "match", "data": {"correct": True}})
    return _write(folder / f"{system}.jsonl", "\n".join(map(json.dumps, lines)))


def _lighteval(folder: Path, system: str, questions: Texts) -> Path:
    rows = [{"doc": {"query": text, "id": str(place)}, "metric": {"em": 1.0}} for place, text in enumerate(questions)]
    date = "2026-01-01T00-00-00.000000"
    file = folder / "details" / system / date / f"details_t|0_{date}.parquet"
    file.parent.mkdir(parents=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file


def _opencompass(folder: Path, system: str, questions: Texts) -> Path:
    details = {
        str(place): {"predictions": "x", "references": text, "correct": True} for place, text in enumerate(questions)
    }
    return _write(folder / "results" / system / "t.json", json.dumps({"details": details}))


def _spans(folder: Path, system: str, questions: Texts) -> Path:
    entities = {"entities": [[0, 3, "PER"]], "predicted": [[0, 3, "PER"]]}
    records = [{"id": place, "text": text, **entities} for place, text in enumerate(questions)]
    return _write(folder / f"{system}.jsonl", "".join(json.dumps(record) + "\n" for record in records))


def _comet(folder: Path, system: str, questions: Texts) -> Path:
    segments = [{"src": text, "mt": system, "ref": "that", "COMET": 0.5} for text in questions]
    return _write(folder / f"{system}.json", json.dumps({f"{system}.txt": segments}))


def _answers(folder: Path, system: str, questions: Texts) -> Path:
    answers = {"output": [{"answer": "Goethe"}], "predicted": [{"answer": system}]}
    records = [{"id": place, "input": text, **answers} for place, text in enumerate(questions)]
    return _write(folder / f"{system}.jsonl", "".join(json.dumps(record) + "\n" for record in records))


FILES: Mapping[str, tuple[str, Written]] = {
    "table": ("table", _wide),
    "sklearn": ("sklearn", _classes),
    "lm-eval": ("lm-eval", _lm_eval),
    "lm-eval, right answers": ("lm-eval", _lm_eval_targets),
    "inspect": ("inspect", _inspect),
    "helm": ("helm", _helm),
    "every-eval-ever": ("every-eval-ever", _every_eval_ever),
    "mqm": ("mqm", _mqm),
    "segments": ("segments", _segments),
    "conll": ("conll", _conll),
    "promptfoo": ("promptfoo", _promptfoo),
    "tau-bench": ("tau-bench", _tau_bench),
    "openai-evals": ("openai-evals", _openai_evals),
    "lighteval": ("lighteval", _lighteval),
    "opencompass": ("opencompass", _opencompass),
    "spans": ("spans", _spans),
    "comet": ("comet", _comet),
    "answers": ("answers", _answers),
}

NO_TEXTS = frozenset(
    {
        *(name for name, reader in READERS.items() if reader.columns),
        *("counts", "muc-report", "trec", "trec-eval", "mteb", "sacrebleu", "swe-bench"),
        *("alpaca-eval", "deepeval"),  # the text is the name
        "llm-judge",  # questions of benchmarks have numbers of their own
        "numbers",  # it keeps numbers alone
        "human-eval",  # tasks of benchmarks have names of their own
        "pairs",
        "brat",  # its key is compared below
    }
)
"""Readers whose files say of documents no more than their names."""

ON = {"test_set": "t"}

QUESTION = st.sampled_from(("who wrote it", "Who  wrote it", "which river", "WHICH river", "how many"))
QUESTIONS = st.lists(QUESTION, min_size=2, max_size=2)


def same(one: Texts, other: Texts) -> bool:
    """Whether texts differ in case and blanks at most."""
    return [text.lower().split() for text in one] == [text.lower().split() for text in other]


def load_together(database: Database, files: Sequence[Path], reader: str, *, texts: bool) -> None:
    request = LoadRequest([str(file) for file in files], reader, ON, texts=texts)
    with TemporaryDirectory() as scratch:
        carry_out(database, request, plan(request, database, Path(scratch)))


def systems(database: Database) -> int:
    [(number,)] = database.rows(Sql("select count(*) from system"))
    return int(number)


# === laws =============================================================================================================


def test_each_reader_that_has_texts_is_held_to_it() -> None:
    assert {reader for reader, _ in FILES.values()} | NO_TEXTS == READERS.keys()


@pytest.mark.parametrize("kind", FILES)
@given(one=QUESTIONS, other=QUESTIONS, in_one_load=st.booleans(), texts=st.booleans())
@settings(max_examples=8, deadline=None)
def test_a_document_has_one_question(
    kind: str, one: list[str], other: list[str], in_one_load: bool, texts: bool
) -> None:
    if kind == "conll":
        # Tokens have blanks between them only.
        one, other = ([" ".join(text.split()) for text in questions] for questions in (one, other))
    reader, write = FILES[kind]
    with TemporaryDirectory() as folder, in_memory() as database:
        first, second = (write(Path(folder) / system, system, of) for system, of in (("wren", one), ("lark", other)))

        def loading() -> None:
            if in_one_load:
                load_together(database, [first, second], reader, texts=texts)
            else:
                load(database, second, reader, fields=ON, texts=texts)

        if not in_one_load:
            load(database, first, reader, fields=ON, texts=texts)
        before = systems(database)
        if same(one, other):
            loading()
            assert systems(database) == 2
        else:
            with pytest.raises(DataError, match=r"of document \S+ of t is '.*, but '.*") as refused:
                loading()
            assert any("--set test_set=NAME" in hint for hint in refused.value.hints)
            if not in_one_load:
                assert systems(database) == before
                load(database, second, reader, fields=ON, same_documents=True)
                assert systems(database) == 2
        assert check(database) == ()


@given(text=st.text(st.characters(min_codepoint=1, max_codepoint=0x24F), max_size=120))
@settings(max_examples=50, deadline=None)
def test_tables_and_other_files_write_a_text_alike(text: str) -> None:
    with in_memory() as database:
        cell = Sql("?::varchar", (text,))
        [(begins, its)] = database.rows("select " + beginning_of(line_of(cell)) + ", " + digest_of(line_of(cell)))
    if "İ" not in text:
        assert (begins, its) == (beginning(text), digest(text))


# === examples =========================================================================================================

QUIZ = "model,idx,question,acc\nwren,0,Capital of Peru?,1\nwren,1,2+2?,0\n"


def test_a_question_that_is_missing_contradicts_nothing(load_text: Load) -> None:
    load_text(QUIZ, "table", "wren.csv", fields=ON)
    load_text("model,idx,acc\nlark,0,1\nlark,1,1\n", "table", "lark.csv", fields=ON)
    load_text("model,idx,question,acc\nfinch,0,,1\nfinch,1,2+2?,1\n", "table", "finch.csv", fields=ON)


def test_what_was_first_known_of_a_document_later_is_held_against_others(load_text: Load) -> None:
    load_text("model,idx,acc\nlark,0,1\nlark,1,1\n", "table", "lark.csv", fields=ON)
    load_text(QUIZ, "table", "wren.csv", fields=ON)
    with pytest.raises(DataError, match=r"the question of document 0 of t is 'Capital of Chile\?', but 'Capital of"):
        load_text("model,idx,question,acc\nfinch,0,Capital of Chile?,1\n", "table", "finch.csv", fields=ON)


def test_what_a_forgotten_import_said_is_forgotten(database: Database, load_text: Load) -> None:
    loaded = load_text(QUIZ, "table", "wren.csv", fields=ON)
    assert loaded.import_id is not None
    forget(database, loaded.import_id)
    load_text(QUIZ.replace("Peru", "Chile"), "table", "wren.csv", fields=ON)


def test_prompts_may_differ(load_text: Load) -> None:
    load_text(QUIZ.replace("question", "prompt"), "table", "wren.csv", fields=ON)
    other = QUIZ.replace("question", "prompt").replace("wren", "lark").replace("Capital", "Q: Capital")
    assert load_text(other, "table", "lark.csv", fields=ON).rows_new == 2


@pytest.mark.parametrize(
    "heading", ["split", "Subset", "config", "language", "lang", "subject", "perturbation", "filter"]
)
def test_parts_of_a_test_set_are_not_taken_for_one(load_text: Load, heading: str) -> None:
    table = f"model,{heading},id,acc\nwren,dev,1,1\nwren,dev,2,1\nlark,test,1,0\nlark,test,2,1\n"
    with pytest.raises(DataError) as refused:
        load_text(table, "table", "own.csv", fields=ON)
    assert refused.value.faults[0].message == f"the {heading} of document 1 of t is 'test', but 'dev' on line 2"
    assert f"--map test_set={heading}" in refused.value.hints[0]
    loaded = load_text(table, "table", "own.csv", columns={"test_set": heading})
    assert loaded.test_sets == ("dev", "test")


def test_none_is_a_perturbation_like_others(load_text: Load) -> None:
    table = "model,perturbation,id,acc\nwren,none,1,1\nwren,typos,1,1\n"
    with pytest.raises(DataError, match="the perturbation of document 1 of t is 'typos', but 'none' on line 2"):
        load_text(table, "table", "own.csv", fields=ON)


def test_parts_with_documents_of_their_own_are_attributes(database: Database, load_text: Load) -> None:
    load_text("model,split,id,acc\nwren,dev,d1,1\nwren,test,t1,1\nlark,test,t1,0\n", "table", "own.csv", fields=ON)
    splits = Sql("select document, value from document_attributes where attribute = 'split' order by all")
    assert database.rows(splits) == [("d1", "dev"), ("t1", "test")]


@pytest.mark.parametrize("reader", ["values", "scores", "decisions", "labels", "rankings", "judgments"])
def test_tables_of_facts_are_held_to_it(load_text: Load, reader: str) -> None:
    header, *rows = READERS[reader].example.splitlines()
    load_text("\n".join([f"{header},question", *(f"{row},one" for row in rows)]), reader)
    load_text("\n".join([f"{header},question", *(f"{row},One" for row in rows)]), reader)
    with pytest.raises(DataError, match=r"the question of document \S+ of \S+ is 'another', but 'one'"):
        load_text("\n".join([f"{header},question", *(f"{row},another" for row in rows)]), reader)


def test_a_table_of_facts_says_what_keeps_splits_apart(load_text: Load) -> None:
    table = "system,document,measure,value,split\nwren,1,acc,1,dev\nlark,1,acc,1,test\n"
    with pytest.raises(DataError, match="the split of document 1 of in is 'test', but 'dev' on line 2") as refused:
        load_text(table, "values")
    assert "--map test_set=split" in refused.value.hints[0]
    assert load_text(table, "values", columns={"test_set": "split"}).test_sets == ("dev", "test")


def test_a_table_of_classes_has_one_split_a_document(load_text: Load) -> None:
    table = "id,model,split,y_true,y_pred\n1,wren,dev,pos,pos\n1,lark,test,pos,neg\n"
    with pytest.raises(DataError) as refused:
        load_text(table, "sklearn", "own.csv", fields=ON)
    assert "--map test_set=split" in refused.value.hints[0]
    assert load_text(table, "sklearn", "own.csv", columns={"test_set": "split"}).test_sets == ("dev", "test")


def test_other_annotations_in_the_key_are_another_document(tmp_path: Path, database: Database) -> None:
    for system, place in (("wren", "0 3"), ("lark", "4 7")):
        folder = tmp_path / system
        for side in ("gold", system):
            _write(folder / side / "d1.ann", f"T1\tPER {place}\tAda\n")
        archive = tmp_path / f"{system}.tar"
        with tarfile.open(archive, "w") as packed:
            packed.add(folder, arcname="")
        if system == "wren":
            load(database, archive, "brat", fields=ON)
        else:
            with pytest.raises(DataError, match="the key of document d1 of t is 'PER 4 7', but 'PER 0 3' in"):
                load(database, archive, "brat", fields=ON)


# === runs that have no common mean, and measures that are not the same ================================================


def _log(folder: Path, day: int, shots: int | None, metric: str = "acc") -> Path:
    """A log of acme/m on the task t with its results, of a day."""
    date = f"2026-01-{day:02}T00-00-00"
    results = {"model_name": "acme/m", "results": {"t": {f"{metric},none": 1.0}}}
    said = {} if shots is None else {"n-shot": {"t": shots}}
    _write(folder / f"results_{date}.json", json.dumps({**results, **said}))
    sample = {"doc_id": 0, "filter": "none", "metrics": [metric], metric: 1.0}
    return _write(folder / f"samples_t_{date}.jsonl", json.dumps(sample) + "\n")


def _models(database: Database) -> dict[str, str]:
    return dict(database.rows(Sql("select system, model from runs")))


@given(shots=st.lists(st.sampled_from((None, 0, 5)), min_size=1, max_size=5))
@settings(max_examples=10, deadline=None)
def test_only_runs_with_as_many_examples_are_runs_of_a_system(shots: list[int | None]) -> None:
    with TemporaryDirectory() as folder, in_memory() as database:
        files = [_log(Path(folder), day, number) for day, number in enumerate(shots, start=1)]
        for file in files:
            load(database, file, "lm-eval")
        models = _models(database)
        dates = database.rows(Sql("select date, system from runs order by date"))
        with_number: dict[str, set[int]] = {}
        for (_, system), number in zip(dates, shots, strict=True):
            if number is not None:
                with_number.setdefault(models[system], set()).add(number)
        assert all(len(numbers) == 1 for numbers in with_number.values())
        before = database.rows(Sql("select * from runs order by all"))
        for file in files:
            assert load(database, file, "lm-eval").rows_new == 0
        assert database.rows(Sql("select * from runs order by all")) == before


def test_a_run_with_another_number_of_examples_is_a_system_of_its_own(tmp_path: Path, database: Database) -> None:
    loaded = [load(database, _log(tmp_path, day, shots), "lm-eval") for day, shots in ((1, 0), (2, 5), (3, 5), (4, 0))]
    assert _models(database) == {
        "acme/m": "acme/m",
        "acme/m#2": "acme/m",
        "acme/m(n_shot=5)": "acme/m(n_shot=5)",
        "acme/m(n_shot=5)#2": "acme/m(n_shot=5)",
    }
    own = "run with other settings before, so a system of its own: acme/m(n_shot=5)"
    assert [own in done.notes for done in loaded] == [False, True, True, False]


def test_the_figure_of_a_group_is_of_runs_with_as_many_examples_as_its_tasks(
    tmp_path: Path, database: Database
) -> None:
    shots_of_tasks = ({"t": 0, "u": 0}, {"t": 5, "u": 5}, {"t": 0, "u": 5}, {"t": 5, "u": 5})
    for day, shots in enumerate(shots_of_tasks, start=1):
        results = {task: {"acc,none": 0.5} for task in ("t", "u", "inner", "outer")}
        around = {"inner": ["t", "u"], "outer": ["inner"]}
        said = {"model_name": "acme/m", "results": results, "group_subtasks": around, "n-shot": shots}
        load(database, _write(tmp_path / f"results_2026-01-0{day}T00-00-00.json", json.dumps(said)), "lm-eval")
    of_groups = database.rows(
        Sql(
            "select f.test_set, r.model, count(*) from published_figures f "
            "join runs r on r.test_set = f.test_set and r.system = f.system group by all order by all"
        )
    )
    zero, mixed, five = "acme/m", "acme/m(n_shot=0/5)", "acme/m(n_shot=5)"
    assert [row for row in of_groups if row[0] in ("inner", "outer")] == [
        (group, model, times) for group in ("inner", "outer") for model, times in ((zero, 1), (mixed, 1), (five, 2))
    ]


def test_settings_in_which_runs_differ_are_said(tmp_path: Path, database: Database) -> None:
    rows = [f"wren,{seed},{shots},{number},1" for seed, shots in ((1, 0), (2, 5)) for number in range(3)]
    file = _write(tmp_path / "own.csv", "\n".join(["model,seed,n_shot,id,correct", *rows]))
    request = LoadRequest([str(file)])
    done = carry_out(database, request, plan(request, database, tmp_path))
    assert done.loaded[0][1].measures == ("accuracy",)
    assert done.notes[1] == (
        "the runs of wren differ in n_shot (0 and 5), and a system is the mean over its runs; "
        "--map system=COLUMN or --set system=NAME makes systems of them"
    )


def test_another_metric_does_not_become_the_accuracy(tmp_path: Path, database: Database) -> None:
    load(database, _log(tmp_path, 1, 0), "lm-eval")
    loaded = load(database, _log(tmp_path, 2, 0, "exact_match"), "lm-eval")
    assert loaded.measures == ("exact_match",)
    kept = "exact_match keeps its name, because another metric is the accuracy of what is stored"
    assert kept in loaded.notes
    assert load(database, _log(tmp_path, 3, 0), "lm-eval").measures == ("accuracy",)


def test_another_scorer_does_not_become_the_accuracy(tmp_path: Path, database: Database) -> None:
    measures = []
    for system, scorers in (("wren", ("match",)), ("lark", ("judge",)), ("finch", ("judge", "match"))):
        scores = {scorer: {"value": "C"} for scorer in scorers}
        samples = [{"id": 1, "epoch": 1, "input": "2+2?", "target": "4", "scores": scores}]
        log = {"version": 2, "status": "success", "eval": {"task": "t", "model": system}, "samples": samples}
        measures.append(load(database, _write(tmp_path / f"{system}.json", json.dumps(log)), "inspect").measures)
    assert measures == [("accuracy",), ("judge",), ("accuracy", "judge")]


# === tables of classes ================================================================================================


def test_tables_of_other_classes_are_no_test_set_together(tmp_path: Path, database: Database) -> None:
    _write(tmp_path / "own" / "topics.csv", "id,y_true,y_pred\n11,sport,war\n12,war,war\n")
    _write(tmp_path / "own" / "moods.csv", "id,y_true,y_pred\n1,good,good\n2,bad,good\n")
    request = LoadRequest([str(tmp_path / "own")])
    with pytest.raises(DataError, match="the key of moods on own has bad, good, and that of topics has sport, war"):
        carry_out(database, request, plan(request, database, tmp_path))


def test_tables_of_other_documents_are_no_test_set_together(tmp_path: Path, database: Database) -> None:
    _write(tmp_path / "own" / "spam.csv", "id,y_true,y_pred\n1,1,1\n2,0,1\n")
    _write(tmp_path / "own" / "toxic.csv", "id,y_true,y_pred\n3,1,1\n4,0,1\n")
    request = LoadRequest([str(tmp_path / "own")])
    with pytest.raises(DataError, match="toxic has no document in common with spam") as refused:
        carry_out(database, request, plan(request, database, tmp_path))
    assert "--set 'test_set={stem}' --set 'system={parent}'" in refused.value.hints[0]
    request = LoadRequest([str(tmp_path / "own")], fields={"test_set": "{stem}", "system": "{parent}"})
    done = carry_out(database, request, plan(request, database, tmp_path))
    assert [loaded.test_sets for _, loaded in done.loaded] == [("spam",), ("toxic",)]


def test_a_table_of_classes_that_names_systems_is_named_after_its_file(tmp_path: Path, database: Database) -> None:
    _write(tmp_path / "own" / "topics.csv", "id,model,y_true,y_pred\n1,wren,sport,war\n")
    _write(tmp_path / "own" / "moods.csv", "id,model,y_true,y_pred\n1,wren,good,good\n")
    request = LoadRequest([str(tmp_path / "own")])
    done = carry_out(database, request, plan(request, database, tmp_path))
    assert [loaded.test_sets for _, loaded in done.loaded] == [("moods",), ("topics",)]


@pytest.mark.parametrize("order", [("many", "two"), ("two", "many")])
def test_a_table_of_two_classes_is_not_of_the_test_set_of_one_with_others(
    database: Database, load_text: Load, order: tuple[str, str]
) -> None:
    """Two classes such as 0 and 1 are decisions, and several are counts: these tables share nothing but row numbers."""
    keys = {"many": ("x", "y", "z", "x", "y", "z"), "two": ("0", "1", "0", "1", "0", "1")}
    texts = {
        name: "\n".join(["id,y_true,y_pred", *(f"{place},{kind},{kind}" for place, kind in enumerate(key))])
        for name, key in keys.items()
    }
    first, second = order
    load_text(texts[first], "sklearn", f"{first}.csv", fields={"test_set": "t", "system": first})
    with pytest.raises(DataError, match="have both classes in another key"):
        load_text(texts[second], "sklearn", f"{second}.csv", fields={"test_set": "t", "system": second})


def test_one_that_answers_with_a_third_class_is_of_the_same_test_set(database: Database, load_text: Load) -> None:
    for system, answers in (("careful", "0101"), ("wild", "0121")):
        rows = [f"{place},{place % 2},{answer}" for place, answer in enumerate(answers)]
        text = "\n".join(["id,y_true,y_pred", *rows])
        load_text(text, "sklearn", f"{system}.csv", fields={"test_set": "t", "system": system})
    assert check(database) == ()
