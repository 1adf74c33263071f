"""Which formats can be loaded: one table, in the order in which help lists them.

Importing this module reads no file and imports neither duckdb nor numpy, so that the command line can list the readers
at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warehouse import records
from warehouse.readers import tabular
from warehouse.readers.staging import Staged, Staging
from warehouse.records import Field, Form


@dataclass(frozen=True, slots=True)
class Reader:
    """How one format becomes facts.

    `reads` says in one line what a file holds; `example` is a file of two rows; `stage` puts the rows of a file into a
    temporary table of texts, one column a field, and raises DataError if the file cannot be read.
    """

    name: str
    reads: str
    form: Form
    example: str
    stage: Callable[[Staging], Staged] = tabular.stage

    @property
    def fields(self) -> tuple[Field, ...]:
        """What the columns of a file are matched with."""
        return self.form.fields


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader(
            "scores",
            "score tuples of extraction, one row a system, document and unit",
            records.SCORES,
            "test_set,system,document,possible,actual,correct,partial\nTST3,GE,D1,10,9,7,1\n",
        ),
        Reader(
            "decisions",
            "relevance decisions, one row a system and document",
            records.DECISIONS,
            "test_set,system,document,decision\nTST3,GE,D1,yes\n",
        ),
        Reader(
            "labels",
            "key labels (relevant, optional, nonrelevant), one row a document and annotator",
            records.LABELS,
            "test_set,document,label\nTST3,D1,relevant\n",
        ),
        Reader(
            "values",
            "values of any measure, one row a system, document and measure",
            records.VALUES,
            "test_set,system,document,measure,value\nnews,base,D1,BLEU,31.4\n",
        ),
        Reader(
            "published",
            "figures as printed in a paper, one row a system, task and measure; 0.79 printed to 0.01",
            records.PUBLISHED,
            "test_set,system,task,measure,value,resolution\nTST3,GE,filtering,recall,0.91,0.01\n",
        ),
        Reader(
            "systems",
            "attributes of systems, one row a system and one column an attribute",
            records.SYSTEMS,
            "system,pre_parse\nGE,yes\n",
        ),
        Reader(
            "documents",
            "attributes of documents, one row a document and one column an attribute",
            records.DOCUMENTS,
            "test_set,document,source\nTST3,D1,radio\n",
        ),
    )
}
