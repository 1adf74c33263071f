"""Own tables of several models: documents keep their names, and no answer becomes a fact of a document, however the
tables are split into files and loads, in whatever order, with texts or without.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import CarriedOut, carry_out, forget, load
from evalhouse.warehouse.loading.planning import LoadRequest, plan
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Complaints, Load

ON = {"test_set": "T"}

Row = Mapping[str, object]


def facts(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All values and attributes, as they are named."""
    queries = {
        "values": "select test_set, system, document, measure, value from document_values",
        "documents": "select test_set, document, attribute, value from document_attributes",
        "systems": "select system, attribute, value from system_attributes",
    }
    return {of: database.rows(Sql(f"{query} order by all")) for of, query in queries.items()}


def attributes(database: Database) -> set[str]:
    return {str(name) for (name,) in database.rows(Sql("select distinct name from document_attribute"))}


def refused(database: Database, file: Path, text: str) -> str:
    """What is said about a table that is not loaded."""
    file.write_text(text)
    before = facts(database)
    with pytest.raises(DataError) as said:
        load(database, file, "table", fields=ON)
    assert facts(database) == before
    [fault] = said.value.faults
    return fault.message


def write(rows: Sequence[Row], file: Path) -> Path:
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def load_together(database: Database, files: Sequence[Path], *, texts: bool = False) -> CarriedOut:
    """Loads files as one load."""
    request = LoadRequest([str(file) for file in files], "table", ON, texts=texts)
    with TemporaryDirectory() as scratch:
        return carry_out(database, request, plan(request, database, Path(scratch)))


# === laws =============================================================================================================

MODELS = ("wren", "lark", "finch")
DOCUMENTS = 9
WORDS = st.sampled_from(("red", "blue", "in the old town", "near the river"))


@st.composite
def tables(draw: st.DrawFn) -> list[list[Row]]:
    """One table for each of three models: ids, questions, answers under names that say so and under others, and facts
    of the documents.
    """
    answers = draw(st.sampled_from(("prediction", "model_output", "verdict", "said")))
    numbers = draw(st.sampled_from((None, "row_no", "global_index", "answer")))
    topics = [draw(st.sampled_from(("birds", "towns"))) for _ in range(DOCUMENTS)]
    varied = draw(st.booleans())
    found = []
    for place, model in enumerate(MODELS):
        rows: list[Row] = []
        for document in range(DOCUMENTS):
            # All answer the first question otherwise, as models do.
            said = f"answer {document} of {model}" if varied or not document else draw(WORDS)
            row: dict[str, object] = {
                "model": model,
                "question_id": f"q{document}",
                "question": f" What about {document}? ",
                answers: said,
                "topic": topics[document],
                "correct": draw(st.integers(0, 1)),
            }
            if numbers:
                row[numbers] = place * DOCUMENTS + document
            rows.append(row)
        found.append(rows)
    return found


def stored(
    loads: Sequence[Sequence[Sequence[Row]]], texts: Sequence[bool]
) -> list[dict[str, list[tuple[object, ...]]]]:
    """What is stored after each of some loads of some tables."""
    found = []
    with TemporaryDirectory() as folder, in_memory() as database:
        for number, (of_load, with_texts) in enumerate(zip(loads, texts, strict=True)):
            files = [write(rows, Path(folder) / f"{number}-{place}.csv") for place, rows in enumerate(of_load)]
            load_together(database, files, texts=with_texts)
            found.append(facts(database))
        assert check(database) == ()
    return found


@pytest.mark.long
@settings(max_examples=10)
@given(tables(), st.permutations(range(len(MODELS))), st.lists(st.booleans(), min_size=3, max_size=3))
def test_facts_depend_on_no_order_no_split_and_no_texts(
    of_models: list[list[Row]], order: list[int], texts: list[bool]
) -> None:
    ordered = [of_models[place] for place in order]
    [one_table] = stored([[[row for rows in of_models for row in rows]]], texts[:1])
    assert stored([ordered], texts[:1]) == [one_table]
    again = [[rows] for rows in (*ordered, *ordered)]
    *_, one_by_one, _, _, once_more = stored(again, [*texts, *(not wish for wish in texts)])
    assert one_by_one == once_more == one_table
    assert {name for _, _, name, _ in one_table["documents"]} == {"topic"}
    assert {document for _, _, document, _, _ in one_table["values"]} == {f"q{n}" for n in range(DOCUMENTS)}
    assert {measure for _, _, _, measure, _ in one_table["values"]} == {"accuracy"}


# === names of documents ===============================================================================================


@pytest.mark.parametrize("order", [(False, True), (True, False)])
def test_an_id_outranks_a_text_with_texts_or_without(tmp_path: Path, order: tuple[bool, bool]) -> None:
    rows = [
        {"model": model, "question": f"Which river is number {k}?" + " Think." * 40, "question_id": k, "correct": 1}
        for model in ("wren", "lark")
        for k in range(3)
    ]
    file = write(rows, tmp_path / "quiz.jsonl")
    with in_memory() as database:
        for texts in order:
            load(database, file, recognize(file, database).reader, fields=ON, texts=texts)
        assert database.rows(Sql("select name from document order by name")) == [("0",), ("1",), ("2",)]
        assert database.rows(Sql("select count(*) from texts where kind = 'input'")) == [(3,)]


def test_of_several_ids_the_one_that_systems_share_names_the_documents(database: Database, load_text: Load) -> None:
    text = "example_id,model,sample_id,acc\n1,a,x,1\n2,a,y,0\n3,b,x,1\n4,b,y,1\n"
    load_text(text, "table", "in.csv", fields=ON)
    assert {document for _, _, document, *_ in facts(database)["values"]} == {"x", "y"}


def test_files_of_one_load_decide_together(database: Database, tmp_path: Path) -> None:
    """Each file by itself has two ids that tell its rows apart; only one of them is shared."""
    files = [
        write(
            [{"model": model, "example_id": f"{model}{k}", "item_id": k, "acc": k % 2} for k in range(3)],
            tmp_path / f"{model}.csv",
        )
        for model in ("wren", "lark")
    ]
    load_together(database, files)
    assert {document for _, _, document, *_ in facts(database)["values"]} == {"0", "1", "2"}


def test_a_file_without_the_column_that_named_the_documents_is_refused(
    database: Database, load_text: Load, tmp_path: Path
) -> None:
    load_text("model,question_id,question,acc\na,1,Why?,1\na,2,How?,0\n", "table", "one.csv", fields=ON)
    other = "model,question,acc\nb,Why?,1\nb,How?,0\n"
    assert refused(database, tmp_path / "two.csv", other) == (
        "import 1 named the documents of T by question_id, which is not a column here, and 2 of 2 names in question "
        "are not known; --map document=question takes them for names of other documents"
    )
    load_text(other, "table", "two.csv", fields=ON, columns={"document": "question"})
    assert {document for _, _, document, *_ in facts(database)["values"]} == {"1", "2", "Why?", "How?"}


def test_the_same_names_under_another_heading_are_the_same_documents(database: Database, load_text: Load) -> None:
    load_text("model,question_id,acc\na,1,1\na,2,0\n", "table", "one.csv", fields=ON)
    load_text("model,qid,acc\nb,1,1\n", "table", "two.csv", fields=ON)
    assert {document for _, _, document, *_ in facts(database)["values"]} == {"1", "2"}


def test_the_column_that_named_the_documents_names_them_again(database: Database, load_text: Load) -> None:
    load_text("model,question,acc\na,Why?,1\na,How?,0\n", "table", "one.csv", fields=ON)
    load_text("model,question_id,question,acc\nb,1,Why?,1\nb,2,How?,0\n", "table", "two.csv", fields=ON)
    assert {document for _, _, document, *_ in facts(database)["values"]} == {"Why?", "How?"}
    forget(database, 1)
    forget(database, 2)
    assert database.rows(Sql("from column_role")) == []


def test_an_id_that_turns_out_to_number_rows_is_refused(database: Database, load_text: Load, tmp_path: Path) -> None:
    load_text("model,example_id,sample_id,acc\na,1,x,1\na,2,y,0\n", "table", "one.csv", fields=ON)
    named = {document for _, _, document, *_ in facts(database)["values"]}
    [heading] = [("sample_id", "example_id")[named == {"1", "2"}]]
    other = "model,example_id,sample_id,acc\nb,3,z,1\nb,4,w,0\n"
    said = refused(database, tmp_path / "two.csv", other)
    assert f"import 1 named the documents by {heading}, and none of the names here is among those" in said
    assert f"--map document={heading} says so" in said


def test_names_that_another_reader_stored_are_kept(database: Database, load_text: Load, tmp_path: Path) -> None:
    load_text("test_set,system,document,measure,value\nT,a,Why?,acc,1\n", "values", "one.csv")
    other = "model,question_id,question,acc\nb,1,Why?,1\nb,2,How?,0\n"
    assert refused(database, tmp_path / "two.csv", other) == (
        "1 of 2 names in question are documents of T already, and question_id would name them otherwise; "
        "--map document=question keeps their names"
    )


def test_files_of_a_load_that_name_documents_otherwise_are_refused(database: Database, tmp_path: Path) -> None:
    one = write([{"model": "a", "question_id": 1, "question": "Why?", "acc": 1}], tmp_path / "one.csv")
    two = write([{"model": "b", "question": "Why?", "acc": 1}], tmp_path / "two.csv")
    with pytest.raises(DataError, match=r"question_id names the documents here.*--map document=question"):
        load_together(database, [one, two])


def test_a_warehouse_keeps_what_was_loaded_under_the_former_name_of_the_reader(
    database: Database, load_text: Load
) -> None:
    load_text("model,id,verdict,acc\na,1,red,1\na,2,blue,0\n", "wide", "one.csv", fields=ON)
    database.run(Sql("update import set reader = 'wide'"))
    load_text("model,id,verdict,acc\nb,1,red,1\nb,2,grey,0\n", "table", "two.csv", fields=ON)
    assert attributes(database) == set()
    assert [reader for (reader,) in database.rows(Sql("select reader from import order by id"))] == ["wide", "table"]


# === answers ==========================================================================================================


def test_an_answer_is_recognized_late(database: Database, load_text: Load) -> None:
    load_text("model,id,verdict,topic,acc\na,1,red,x,1\na,2,blue,y,0\n", "table", "one.csv", fields=ON)
    assert attributes(database) == {"verdict", "topic"}
    notes = load_text("model,id,verdict,topic,acc\nb,1,red,x,1\nb,2,grey,y,0\n", "table", "two.csv", fields=ON).notes
    assert attributes(database) == {"topic"}
    assert any(
        "verdict differs between systems, so it is no longer an attribute of documents; "
        "removed: 2 values of import 1" in note
        for note in notes
    )
    assert check(database) == ()
    # A third model whose answers look like attributes again.
    load_text("model,id,verdict,topic,acc\nc,1,red,x,1\nc,2,red,y,0\n", "table", "three.csv", fields=ON)
    assert attributes(database) == {"topic"}


def test_a_system_that_contradicts_its_own_file_is_refused(database: Database, load_text: Load, tmp_path: Path) -> None:
    load_text("model,id,topic,acc\na,1,x,1\na,2,y,0\n", "table", "one.csv", fields=ON)
    said = refused(database, tmp_path / "two.csv", "model,id,topic,acc\na,1,x,1\na,2,z,0\n")
    assert "has 'topic' z, but is stored with 'topic' y (import 1)" in said


def test_an_attribute_that_somebody_stored_stays(database: Database, load_text: Load, tmp_path: Path) -> None:
    load_text("test_set,document,topic\nT,1,x\nT,2,y\n", "documents", "documents.csv")
    said = refused(database, tmp_path / "one.csv", "model,id,topic,acc\na,1,x,1\na,2,z,0\n")
    assert "has 'topic' z, but is stored with 'topic' y (import 1)" in said


def test_a_declared_cluster_stays_an_attribute(database: Database, load_text: Load, tmp_path: Path) -> None:
    load_text("model,id,text,acc\na,1,x y,1\na,2,x y,0\n", "table", "one.csv", fields={**ON, "cluster": "text"})
    load_text("model,id,text,acc\nb,1,x y,1\nb,2,x y,0\n", "table", "two.csv", fields=ON)
    assert attributes(database) == {"text"}
    said = refused(database, tmp_path / "three.csv", "model,id,text,acc\nc,1,x y,1\nc,2,z,0\n")
    assert "has 'text' z, but is stored with 'text' x y" in said


@pytest.mark.parametrize(
    ("heading", "is_answer"),
    [
        *((name, True) for name in ("prediction", "pred", "model_output", "raw_response", "extractedAnswer")),
        *((name, True) for name in ("output_text", "predicted_label", "Completion", "gold_answer", "chosen")),
        *((name, False) for name in ("topic", "answer_type", "source", "level", "choices", "outputs_language")),
    ],
)
def test_names_of_answers(database: Database, load_text: Load, heading: str, is_answer: bool) -> None:
    load_text(f"model,id,{heading},acc\na,1,red,1\na,2,blue,0\n", "table", "one.csv", fields=ON)
    assert attributes(database) == (set() if is_answer else {heading})


def test_phrases_that_are_all_different_are_answers(database: Database, load_text: Load) -> None:
    rows = "".join(f"a,{k},the answer is {k},group {k % 2},1\n" for k in range(10))
    load_text("model,id,remark,kind,acc\n" + rows, "table", "one.csv", fields=ON, texts=True)
    assert attributes(database) == {"kind"}
    assert database.rows(Sql("select count(*) from texts where kind = 'output'")) == [(10,)]


def test_an_attribute_of_a_system_is_recognized_late_too(database: Database, load_text: Load) -> None:
    load_text("model,id,topic,size,acc\na,1,x,7B,1\na,2,x,7B,0\n", "table", "one.csv", fields=ON)
    load_text("model,id,topic,size,acc\na,3,y,7B,1\na,4,y,7B,0\n", "table", "two.csv", fields=ON)
    assert {row[1] for row in facts(database)["systems"]} == {"size"}


# === measures =========================================================================================================


def test_places_dates_and_constants_are_no_measures(database: Database, load_text: Load) -> None:
    head = "model,question,rowNumber,offset,line,year,length,chrf,acc\n"
    rows = [
        f"{model},q{k},{k + 9},{31 * k},{k},{1990 + k},{7 * k},{place + k},{k % 2}"
        for place, model in enumerate("ab")
        for k in range(4)
    ]
    notes = load_text(head + "\n".join(rows), "table", "one.csv", fields=ON).notes
    assert {measure for *_, measure, _ in facts(database)["values"]} == {"acc", "chrf"}
    assert attributes(database) == {"year", "length"}
    assert (
        "not measures, by their names or because they are the same on all documents or for all systems: "
        "rowNumber, offset, line, year, "
        "length; --measures chrf,acc,rowNumber would take rowNumber" in notes
    )
    load_text(head + "\n".join(rows), "table", "one.csv", fields={"test_set": "U"}, options={"measures": "length"})
    assert {measure for of, *_, measure, _ in facts(database)["values"] if of == "U"} == {"length"}


def test_equal_systems_keep_their_measures(database: Database, load_text: Load) -> None:
    rows = [f"{model},q{k},{k / 10}" for model in "ab" for k in range(4)]
    load_text("model,question,comet\n" + "\n".join(rows), "table", "one.csv", fields=ON)
    assert {measure for *_, measure, _ in facts(database)["values"]} == {"comet"}


def test_a_measure_that_holds_texts_later_is_no_attribute(database: Database, load_text: Load) -> None:
    load_text("model,id,grade,acc\na,1,3,1\na,2,4,0\n", "table", "one.csv", fields=ON)
    load_text("model,id,grade,acc\nb,1,good,1\nb,2,bad,0\n", "table", "two.csv", fields=ON)
    assert attributes(database) == set()


def described(*rows: str) -> str:
    return "model,id,temperature,version,acc\n" + "".join(f"{row}\n" for row in rows)


def test_numbers_that_describe_a_system_are_no_measures(database: Database, load_text: Load) -> None:
    """A mark may be the same on all documents: that of a system that is always right."""
    rows = [f"{model},q{k},{heat},3,1" for model, heat in (("a", 0.7), ("b", 0.2)) for k in range(3)]
    notes = load_text(described(*rows), "table", "in.csv", fields={"test_set": "T"}).notes
    assert database.rows(Sql("select distinct measure from document_values")) == [("acc",)]
    assert any("temperature, version; --measures acc,temperature would take temperature" in note for note in notes)
    heats = "select system, value from system_attributes where attribute = 'temperature' order by all"
    assert database.rows(Sql(heats)) == [("a", "0.7"), ("b", "0.2")]


def test_a_table_of_ids_and_constants_measures_nothing(complaints: Complaints) -> None:
    table = "model,id,version,batch\n" + "".join(f"m,{k},3,8\n" for k in range(3))
    [said] = complaints(table, "table", "in.csv", fields={"test_set": "T"})
    assert "no column measures anything: batch, version" in said
    assert "--measures A,B" in said


# === names and words of the field =====================================================================================


@pytest.mark.parametrize(
    "heading",
    [
        *("id", "uid", "key", "idx", "index", "row_id", "item_id", "sample_id", "sample_idx", "example_id", "qid"),
        *("question_id", "prompt_id", "case_id", "task_id", "instance_id", "doc_id", "filename", "sample_index"),
    ],
)
def test_names_of_documents(database: Database, load_text: Load, heading: str) -> None:
    load_text(f"model,{heading},correct\na,x0,1\na,x1,0\nb,x0,1\nb,x1,1\n", "table", fields=ON)
    assert {document for _, _, document, _, _ in facts(database)["values"]} == {"x0", "x1"}


@pytest.mark.parametrize(
    "heading",
    [
        *("model", "model_id", "model_name", "system", "provider", "run_name", "experiment", "agent", "method"),
        "checkpoint",
    ],
)
def test_names_of_systems(database: Database, load_text: Load, heading: str) -> None:
    load_text(f"{heading},id,correct\na,x0,1\na,x1,0\nb,x0,1\nb,x1,1\n", "table", fields=ON)
    assert {system for _, system, _, _, _ in facts(database)["values"]} == {"a", "b"}


def test_what_else_may_name_a_system_describes_it_beside_its_model(database: Database, load_text: Load) -> None:
    load_text("provider,model,method,id,correct\nP,a,cot,x0,1\nP,b,none,x0,0\n", "table", fields=ON)
    assert facts(database)["systems"] == [
        *(("a", "method", "cot"), ("a", "provider", "P"), ("b", "method", "none"), ("b", "provider", "P"))
    ] or {(system, name) for system, name, _ in facts(database)["systems"]} >= {("a", "method")}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        *(("true", "false"), ("True", "False"), ("yes", "no"), ("PASS", "FAIL"), ("passed", "failed"), ("1", "0")),
        *(("correct", "incorrect"), ("C", "I")),
    ],
)
@pytest.mark.parametrize("heading", ["correct", "is_correct", "pass", "passed", "label_correct"])
def test_words_for_right_and_wrong(database: Database, load_text: Load, heading: str, right: str, wrong: str) -> None:
    load_text(f"model,id,{heading}\na,x0,{right}\na,x1,{wrong}\nb,x0,{right}\nb,x1,{right}\n", "table", fields=ON)
    assert [(measure, value) for _, _, _, measure, value in facts(database)["values"]] == [
        *(("accuracy", 1.0), ("accuracy", 0.0), ("accuracy", 1.0), ("accuracy", 1.0))
    ]


@given(
    rights=st.lists(st.sampled_from(["1", "1.0", "true", "PASS", "C"]), min_size=1), wrong=st.sampled_from(["0", "no"])
)
def test_teams_may_write_right_and_wrong_differently(rights: list[str], wrong: str) -> None:
    rows = "".join(f"a,x{place},{word}\n" for place, word in enumerate((*rights, wrong)))
    with in_memory() as database, TemporaryDirectory() as folder:
        file = Path(folder) / "t.csv"
        file.write_text("model,id,correct\n" + rows)
        load(database, file, "table", fields=ON)
        found = {(document, value) for *_, document, _, value in facts(database)["values"]}
    assert found == {(f"x{place}", 1.0) for place in range(len(rights))} | {(f"x{len(rights)}", 0.0)}


def test_yes_and_no_may_be_answers(database: Database, load_text: Load) -> None:
    load_text("model,id,said,correct\na,x0,yes,1\na,x1,no,0\nb,x0,no,1\nb,x1,no,1\n", "table", fields=ON)
    assert {measure for _, _, _, measure, _ in facts(database)["values"]} == {"accuracy"}


@pytest.mark.parametrize("heading", ["seed", "trial", "repeat", "epoch", "rollout", "run_id", "sample_index"])
def test_names_of_runs(database: Database, load_text: Load, heading: str) -> None:
    rows = "".join(f"a,x{document},{run},{run % 2}\n" for document in (0, 1) for run in (0, 1))
    load_text(f"model,id,{heading},correct\n{rows}", "table", fields=ON)
    assert database.rows(Sql("select model, run from run order by all")) == [("a", f"{heading}={n}") for n in (0, 1)]


def test_a_run_on_every_row_is_none(load_text: Load, complaints: Complaints) -> None:
    [said] = complaints("model,id,run_id,correct\na,x0,r1,1\na,x1,r2,0\na,x2,r3,0\n", "table", fields=ON)
    assert "every row of a system has another one" in said
    assert "--leave-out run_id" in said
    load_text(
        "model,id,run_id,correct\na,x0,r1,1\na,x1,r2,0\na,x2,r3,0\n",
        "table",
        fields=ON,
        options={"leave-out": "run_id"},
    )


def test_a_measure_is_taken_from_a_column(database: Database, load_text: Load, complaints: Complaints) -> None:
    text = "model,id,verdict,tokens\na,x0,PASS,7\na,x1,FAIL,9\n"
    load_text(text, "table", fields=ON, columns={"accuracy": "verdict"})
    assert {row[3:] for row in facts(database)["values"]} == {
        *(("accuracy", 1.0), ("accuracy", 0.0), ("tokens", 7.0), ("tokens", 9.0))
    }
    [misspelt] = complaints(text, "table", fields=ON, columns={"documnt": "verdict"})
    assert "'documnt' is not taken from a column" in misspelt
    [absent] = complaints(text, "table", fields=ON, columns={"accuracy": "success"})
    assert absent.endswith("there is no column 'success'; the columns are model, id, verdict, tokens")


def test_columns_are_left_out(database: Database, load_text: Load, complaints: Complaints) -> None:
    text = "model,id,level,notes,correct,speed\na,x0,easy,n1,1,7\na,x1,hard,n2,0,9\n"
    load_text(text, "table", fields=ON, options={"leave-out": "notes, speed"})
    assert {measure for _, _, _, measure, _ in facts(database)["values"]} == {"accuracy"}
    assert attributes(database) == {"level"}
    [absent] = complaints(text, "table", fields=ON, options={"leave-out": "note"})
    assert "there is no column 'note' to leave out; the columns are model, id, level" in absent


# === several rows on a document =======================================================================================


def test_several_rows_on_a_document_are_attempts(database: Database, load_text: Load) -> None:
    """A row that only repeats another is an attempt, too, if the rows of some document differ."""
    rows = "task_id,completion,passed\nt0,x,true\nt0,x,true\nt0,y,false\nt1,z,false\nt1,z,false\nt1,z,false\n"
    loaded = load_text(rows.replace(",", "\t"), "table", "in.tsv", fields=ON | {"system": "wren"})
    assert "several rows of a system on a document are its attempts, in their order, and runs of it" in loaded.notes
    assert database.rows(Sql("select run from run order by all")) == [(f"attempt={n}",) for n in (1, 2, 3)]
    [(mean, values)] = database.rows(Sql("select avg(value), count(*) from value"))
    assert (mean, values) == (pytest.approx(1 / 3), 6)


def test_rows_that_only_repeat_others_are_no_attempts(database: Database, load_text: Load) -> None:
    loaded = load_text("model,id,correct\na,x0,1\na,x0,1\na,x1,0\na,x1,0\n", "table", fields=ON)
    assert (loaded.rows_new, loaded.rows_repeated) == (2, 2)
    assert database.rows(Sql("from run")) == []


@pytest.mark.parametrize("heading", ["temperature", "style", "prompt_version"])
def test_rows_that_a_column_tells_apart_are_asked_about(complaints: Complaints, heading: str) -> None:
    rows = "".join(f"a,x{document},{n},{(document + n) % 2}\n" for document in range(3) for n in (0, 1))
    rows = rows if heading == "temperature" else rows.replace(",0,", ",de,").replace(",1,", ",en,")
    [said] = complaints(f"model,id,{heading},correct\n{rows}", "table", fields=ON)
    assert f"a system has several rows on a document, which {heading} tells apart: --map run={heading}" in said
    assert said.endswith(f"with --leave-out {heading} they are attempts")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=2, max_size=12))
def test_no_attempt_is_lost(rows: list[tuple[int, int]]) -> None:
    """The mean over the rows of a document is that over its attempts. Contradictions on a few documents are none."""
    of_each = [[right for place, right in rows if place == document] for document in range(3)]
    repeated = [values for values in of_each if len(values) > 1]
    with TemporaryDirectory() as folder, in_memory() as database:
        file = Path(folder) / "in.csv"
        file.write_text("model,id,correct\n" + "".join(f"a,x{document},{right}\n" for document, right in rows))
        if 2 * len(repeated) < sum(map(bool, of_each)) and any(len(set(values)) > 1 for values in repeated):
            with pytest.raises(DataError, match="has value"):
                load(database, file, "table", fields=ON)
            return
        load(database, file, "table", fields=ON)
        query = "select d.name, avg(v.value) from value v join document d on d.id = v.document_id group by all"
        for document, mean in database.rows(Sql(query)):
            values = of_each[int(document[1:])]
            assert mean == pytest.approx(sum(values) / len(values))
