"""Readers of tables whose columns are named like the fields of facts, in the formats that `tabular` reads. There is one
reader per form.

Tables of attributes may have any other column, so they are recognized by the columns that they do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from warehouse.loading.staging import tabular
from warehouse.loading.staging.cells import is_number
from warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from warehouse.loading.staging.wide_columns import NO_DOCUMENT
from warehouse.tasks import records
from warehouse.tasks.records import FactForm

NOTHING: Mapping[str, str] = MappingProxyType({})
BY_FILE: Mapping[str, str] = MappingProxyType({"test_set": "{stem}"})
"""The template for rows that are complete by themselves; other rows only describe rows of another file."""


def _content(form: FactForm) -> frozenset[str]:
    return frozenset(field.name for field in form.content if field.required)


def _by_content(form: FactForm) -> Callable[[Start], str | None]:
    """Recognizes a table by the columns of a form's content, unless it has those of a form with more content."""
    content = _content(form)
    more = [_content(other) for other in records.FORMS if _content(other) > content]

    def recognizes(start: Start) -> str | None:
        fits = start.columns >= content and not any(start.columns >= larger for larger in more)
        return f"its columns {', '.join(sorted(content))}" if fits else None

    return recognizes


def _systems(start: Start) -> Recognition | None:
    others = {"document", "measure", "item"}
    if "system" not in start.columns or start.columns & others or _runs(start):
        return None
    systems = [(record.get("evaluation"), record.get("system")) for record in start.records]
    unsure = NO_DOCUMENT if len(systems) > len(set(systems)) else ""
    return Recognition("its column system, and no document", Role.ATTRIBUTES, unsure)


def _documents(start: Start) -> Recognition | None:
    others = {"system", "label", "item"}
    attributes = "document" in start.columns and not start.columns & others and not _by_numbers(start)
    return Recognition("its column document, and no system", Role.ATTRIBUTES) if attributes else None


def _by_numbers(start: Start) -> bool:
    """Whether a table has only numbers about its documents. These may be values of systems."""
    fields = {field.name for field in records.DOCUMENTS.fields}
    cells = [cell for record in start.records for heading, cell in record.items() if heading not in fields]
    return bool(cells) and all(is_number(cell) for cell in cells if cell)


def _labels(start: Start) -> Recognition | None:
    why = _by_content(records.LABELS)(start)
    return Recognition(why, Role.KEY) if why else None


def _rankings(start: Start) -> str | None:
    return "its columns item and rank" if start.columns >= {"system", "document", "item", "rank"} else None


def _judgments(start: Start) -> Recognition | None:
    graded = start.columns >= {"document", "item", "grade"}
    return Recognition("its columns item and grade", Role.KEY) if graded else None


def _runs(start: Start) -> str | None:
    return "its columns model, run and date" if start.columns >= {"system", "model", "run", "date"} else None


def _failures(start: Start) -> str | None:
    return "its columns item and reason" if start.columns >= {"system", "item", "reason"} else None


def _table(
    form: FactForm,
    reads: str,
    example: str,
    recognizes: Callable[[Start], Recognition | str | None] | None = None,
    unsaid: Mapping[str, str] = NOTHING,
) -> Reader:
    return Reader(
        form.name,
        reads,
        (form,),
        example,
        tabular.stage,
        columns=True,
        recognizes=recognizes or _by_content(form),
        evidence=Evidence.COLUMNS,
        unsaid=unsaid,
    )


TABLES = (
    _table(
        records.SCORES,
        "score tuples of extraction, one row per system, document and unit",
        "test_set,system,document,possible,actual,correct,partial\nTST3,GE,D1,10,9,7,1\n",
        unsaid=BY_FILE,
    ),
    _table(
        records.DECISIONS,
        "relevance decisions, one row per system and document",
        "test_set,system,document,decision\nTST3,GE,D1,yes\n",
    ),
    _table(
        records.LABELS,
        "key labels (relevant, optional, nonrelevant), one row per document and annotator",
        "test_set,document,label\nTST3,D1,relevant\n",
        _labels,
    ),
    _table(
        records.VALUES,
        "values of any measure, one row per system, document and measure",
        "test_set,system,document,measure,value\nnews,base,D1,BLEU,31.4\n",
        unsaid=BY_FILE,
    ),
    _table(
        records.RANKINGS,
        "runs, one row per system, document (the topic) and item that it ranks",
        "test_set,system,document,item,rank,score\nrobust,base,301,FBIS3-10,1,2.5\n",
        _rankings,
    ),
    _table(
        records.JUDGMENTS,
        "judgments, one row per document (the topic) and item, with its grade",
        "test_set,document,item,grade\nrobust,301,FBIS3-10,1\n",
        _judgments,
    ),
    _table(
        records.PUBLISHED,
        "figures as printed in a paper, one row per system, task and measure; 0.79 printed to 0.01",
        "test_set,system,task,measure,value,resolution\nTST3,GE,filtering,recall,0.91,0.01\n",
    ),
    _table(
        records.SYSTEMS,
        "attributes of systems, one row per system and one column per attribute",
        "system,pre_parse\nGE,yes\n",
        _systems,
    ),
    _table(
        records.DOCUMENTS,
        "attributes of documents, one row per document and one column per attribute",
        "test_set,document,source\nTST3,D1,radio\n",
        _documents,
    ),
    _table(
        records.RUNS,
        "which runs of which models systems are, by test set",
        "test_set,system,model,run,date\nqa,gpt#2,gpt,9f2c,2026-01-16\n",
        _runs,
    ),
    _table(
        records.FAILURES,
        "what failed, one row per system and document; * for a whole run",
        "test_set,system,item,reason\nqa,gpt,D7,timeout\n",
        _failures,
    ),
)
