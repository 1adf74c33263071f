"""Which formats can be loaded: one table, in the order in which help lists them.

Importing this module reads no file and imports neither duckdb nor numpy, so that the command line can list the readers
at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warehouse.loading.readers import (
    brat,
    classes,
    conll,
    helm,
    inspect_log,
    lm_eval,
    muc_report,
    segments,
    tabular,
    trec,
    trec_eval,
)
from warehouse.loading.readers.spans import SCHEMES
from warehouse.loading.readers.staging import Staged, Staging
from warehouse.tasks import records
from warehouse.tasks.records import FactForm, Field


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be said about how a file is read: `--depth 10`. A default of None leaves it unsaid."""

    name: str
    meaning: str
    default: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """How one format becomes facts.

    `reads` says in one line what a file holds; `example` is a small file; `stage` puts the records of a file into
    temporary tables of texts, one a form and one column a field, and raises DataError if the file cannot be read.
    A file of a reader with `columns` is a table whose columns are named like the fields of its only form.
    """

    name: str
    reads: str
    forms: tuple[FactForm, ...]
    example: str
    stage: Callable[[Staging], tuple[Staged, ...]] = tabular.stage
    options: tuple[Option, ...] = ()
    columns: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """What the columns of a file are matched with; none where a file has no named columns."""
        return self.forms[0].fields if self.columns else ()


PLUGINS = "evalhouse.readers"
"""The entry points under which other packages offer readers."""


def plugins() -> dict[str, Reader]:
    """The readers that installed packages offer. A name that is in READERS already is not theirs to take."""
    from importlib.metadata import entry_points

    return {entry.name: entry.load() for entry in entry_points(group=PLUGINS) if entry.name not in READERS}


def _table(name: str, reads: str, form: FactForm, example: str) -> Reader:
    return Reader(name, reads, (form,), example, columns=True)


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        _table(
            "scores",
            "score tuples of extraction, one row a system, document and unit",
            records.SCORES,
            "test_set,system,document,possible,actual,correct,partial\nTST3,GE,D1,10,9,7,1\n",
        ),
        _table(
            "decisions",
            "relevance decisions, one row a system and document",
            records.DECISIONS,
            "test_set,system,document,decision\nTST3,GE,D1,yes\n",
        ),
        _table(
            "labels",
            "key labels (relevant, optional, nonrelevant), one row a document and annotator",
            records.LABELS,
            "test_set,document,label\nTST3,D1,relevant\n",
        ),
        _table(
            "values",
            "values of any measure, one row a system, document and measure",
            records.VALUES,
            "test_set,system,document,measure,value\nnews,base,D1,BLEU,31.4\n",
        ),
        _table(
            "published",
            "figures as printed in a paper, one row a system, task and measure; 0.79 printed to 0.01",
            records.PUBLISHED,
            "test_set,system,task,measure,value,resolution\nTST3,GE,filtering,recall,0.91,0.01\n",
        ),
        _table(
            "systems",
            "attributes of systems, one row a system and one column an attribute",
            records.SYSTEMS,
            "system,pre_parse\nGE,yes\n",
        ),
        _table(
            "documents",
            "attributes of documents, one row a document and one column an attribute",
            records.DOCUMENTS,
            "test_set,document,source\nTST3,D1,radio\n",
        ),
        Reader(
            "muc-report",
            "score reports of the MUC-4 scorer, plain or many in a tar archive",
            (records.SCORES, records.DECISIONS),
            muc_report.EXAMPLE,
            muc_report.stage,
        ),
        Reader(
            "trec",
            "qrels, and then runs that are judged by them",
            trec.FORMS,
            trec.EXAMPLE,
            trec.stage,
            options=(
                Option("depth", "of a run: only so many documents a topic count as retrieved"),
                Option("threshold", "of a run: only documents with at least this score count as retrieved"),
                Option("relevance", "of qrels: the lowest grade that is relevant", "1"),
            ),
        ),
        Reader(
            "trec-eval",
            "what trec_eval -q prints: values a topic",
            (records.VALUES,),
            trec_eval.EXAMPLE,
            trec_eval.stage,
        ),
        Reader(
            "conll",
            "tokens with gold and predicted tags in the last two columns (IOB1, IOB2, IOBES)",
            (records.SCORES, records.DOCUMENTS),
            conll.EXAMPLE,
            conll.stage,
            options=(
                Option("scheme", "how tags are read: by the rules of conlleval, or strictly", SCHEMES[0], SCHEMES),
                Option("overlap", "what an overlapping entity of the same type is", "wrong", ("wrong", "partial")),
            ),
        ),
        Reader(
            "lm-eval",
            "sample logs of lm-evaluation-harness, with the results file beside them",
            (records.VALUES, records.SCORES, records.DOCUMENTS),
            lm_eval.EXAMPLE,
            lm_eval.stage,
            options=(Option("spans", "a metric that compares labelled spans, if no results file says so"),),
        ),
        Reader(
            "helm",
            "per_instance_stats.json of HELM: values by instance and perturbation",
            (records.VALUES,),
            helm.EXAMPLE,
            helm.stage,
        ),
        Reader(
            "inspect",
            "logs of Inspect, .eval or .json",
            (records.VALUES, records.SCORES),
            inspect_log.EXAMPLE,
            inspect_log.stage,
        ),
        Reader(
            "sacrebleu",
            "scores of segments, a number a line or a table of systems, and the statistics of chrF",
            (records.VALUES, records.SCORES),
            segments.EXAMPLE,
            segments.stage,
            options=(
                Option("measure", "what the numbers are: BLEU, COMET"),
                Option("statistics", "the lines are sufficient statistics and become score tuples", None, ("chrf",)),
            ),
        ),
        Reader(
            "sklearn",
            "classes as for scikit-learn: a CSV table of id, y_true and y_pred [, score]",
            (records.LABELS, records.DECISIONS, records.SCORES),
            classes.EXAMPLE,
            classes.stage,
        ),
        Reader(
            "brat",
            "an archive of folders of .ann files of BRAT, gold and one a system",
            (records.SCORES,),
            brat.EXAMPLE,
            brat.stage,
            options=(
                Option("gold", "the folder that is the key", "gold"),
                Option("overlap", "what an overlapping annotation of the same type is", "wrong", ("wrong", "partial")),
            ),
        ),
    )
}
