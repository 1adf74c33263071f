"""Every kind of statement on DuckDB and on Spark, compared cell by cell; and statements that Spark does not support, by
name.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import cli
from grammar.errors import QueryError
from tests.empty import create
from warehouse.faults import DataError, WarehouseError
from warehouse.lake.folder import MANIFEST, export_lake, open_names, read_manifest
from warehouse.lake.spark import SparkEngine
from warehouse.loading.ingest import load
from warehouse.query.engine import DuckDBEngine, Workforce
from warehouse.session import Session
from warehouse.store.catalog import Catalog
from warehouse.store.database import Database, open_database, open_to_export
from warehouse.store.sql import Sql

JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")


@pytest.fixture(scope="module")
def lakes(warehouses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A lake of each warehouse, and of one with values of many sizes; beside each, `.duckdb`, the warehouse itself, a
    copy, since some statements define.
    """
    folder = tmp_path_factory.mktemp("lakes")
    for name in ("sample", "worked", "clustered", "replicated"):
        shutil.copyfile(warehouses[name], folder / f"{name}.duckdb")
    _values(folder)
    lakes = {name: folder / name for name in ("sample", "worked", "clustered", "replicated", "values")}
    for lake in lakes.values():
        with open_to_export(lake.with_suffix(".duckdb"), folder) as database:
            export_lake(database, lake)
    return lakes


def _values(folder: Path) -> None:
    """Values that are halves of the fixed point, large, negative and tiny, of replicates; names with odd signs."""
    path, file, about = folder / "values.duckdb", folder / "values.csv", folder / "systems.csv"
    numbers = [0.1, 1 / 3, -2.5, 2.0**-51, 3 * 2.0**-51, -(2.0**-51), 123456.789, 2.0**40 + 0.5, -7.25e11, 1e-300, 0.0]
    with file.open("w", encoding="utf-8") as out:
        print("test_set,system,document,measure,value", file=out)
        for place, number in enumerate(numbers):
            for run in range(4):
                print(
                    f"t,s{run},a\\b_{place}%,M,{number * (1 + run * (place % 3)) + run / 7 * (place % 2)!r}", file=out
                )
    about.write_text("system,of,size\ns0,one,1\ns1,one,20\ns2,two,3\ns3,two,\n", encoding="utf-8")
    with create(path) as database:
        load(database, file, "values")
        load(database, about, "systems")


@pytest.fixture(scope="module")
def spark(lakes: dict[str, Path]) -> Iterator[dict[str, tuple[Session, Session]]]:
    """Sessions on Spark and on DuckDB by name; one Spark for all."""
    for module in ("pyspark", "sqlglot", "pyarrow"):
        pytest.importorskip(module, reason=f"the extra spark is not installed: {module}")
    if not JAVA:
        pytest.skip("there is no Java")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    opened = {}
    for name, lake in lakes.items():
        opened[name] = (Session.on_lake(str(lake), "local[2]"), Session.open(lake.with_suffix(".duckdb")))
    yield opened
    for pair in opened.values():
        for session in pair:
            session.close()
    opened["sample"][0]._engine.spark.stop()  # type: ignore[attr-defined]


SAMPLE = """
show systems
show test sets
show evaluations
show measures
show attributes
show imports
score F, recall, precision for all on TST3
table F, recall for GE, UMASS, SRI on TST3, TST4 against GE adjust holm interval
table F for GE, UMASS, SRI on TST3 letters rank shuffles 99
score F for all on TST3, TST4 order by F desc limit 3
score F for all on TST3 by system.pre_parse where system.post_parse = "yes"
score mean(F), error, recall(partial=0) for GE*, U* on TST3
score recall, precision, fallout, F of filtering for GE, UMASS, allrel, random(s=0.7) on TST3, TST4
score recall(optional=relevant), precision(optional=nonrelevant) of filtering for GE, UMASS on TST3
score recall of filtering for GE on TST3 by label
score recall of published for GE, GE-CMU, ADS on TST2, TST3
score F for GE on TST3 where document like "%1_" or document in ("SIM3-001", "SIM3-002")
score F for all on TST3 replicates by system.muc3
spread F for all on TST3 replicates by system.muc3
documents F, mean(F) of extraction for GE, UMASS, MITRE on TST3
differ accuracy, MCC of filtering for GE, UMASS on TST3 by label shuffles 99
documents MCC for GE, UMASS on TST3, TST4 only GE limit 5
curve precision, recall of filtering for GE, UMASS, allrel on TST3 utility 2, -1 resamples 99
score F of published for UMASS, GE, SYNCH on MUC-*.TST* standardized
score recall for GE, MITRE on TST3 by label standardized
compare F(beta=1) for GE, UMASS on TST3 shuffles 999
compare F, recall for GE-CMU, UMASS, SRI against GE on TST3 adjust holm
compare F, recall, precision for GE, UMASS, SRI, NYU, USC, MITRE on TST3 shuffles 999
compare F for GE, UMASS, SRI, NYU, USC on TST3 exact
compare F for GE, UMASS, SRI, NYU, USC on TST3 shuffles 99 adjust maxt
compare F for GE, UMASS, SRI, NYU on TST3 test bootstrap shuffles 99
compare F for GE, UMASS, SRI on TST3 shuffles 99 test tukey
compare precision of filtering for GE, UMASS against allrel on TST3
compare F for GE, UMASS on TST3 where label = relevant shuffles 99
compare F for yes, no on TST3 replicates by system.muc3
compare F for yes, no on TST3 replicates by system.muc3 exchange by system
compare mean(F) for GE, UMASS, SRI on TST3 test t
compare F for GE, UMASS, SRI on TST3 test sign
compare precision for GE, UMASS on TST3 test wilcoxon
group F for GE, GE-CMU, UMASS, SRI, NYU on TST3 level 0.10 confidence 0.99
replicate F for GE, GE-CMU, UMASS, SRI from TST3 to TST4 level 0.10
generality on TST2, TST3, TST4
change precision, fallout of published for all except allrel from TST3 to TST4 trim 1
project precision, F of filtering for GE, UMASS from TST3 to generality 0.01, 0.05
audit published for GE, LSI, SRI, allrel on TST2, TST3, TST4
agree on TST3
explain compare F for GE, UMASS on TST3
plot score recall, precision of filtering for all on TST4
plot compare F for GE, UMASS on TST3 shuffles 99
define measure SER = (missing + spurious + incorrect) / possible; compare SER for GE, UMASS, SRI on TST3 shuffles 99
""".strip().split("\n")

WORKED = """
show systems
score precision, recall for A, C on abc by document.source
score precision for B on abc where document.source = "radio" and not (document.words < 110 or document like "M01%")
score precision for B on abc where document.source is missing
score recall for I on modifiers by unit where unit like "both-%" order by system
compare recall, precision, F for I, II on modifiers exchange by unit one-sided shuffles 99
compare recall for I, II on modifiers exchange by unit test mcnemar
compare precision for A, B, C on abc shuffles 99
compare precision for A, C on abc exchange by document.source
score BLEU for all on news
compare BLEU for base, tuned on news test wilcoxon
score recall, precision, auc for all on alerts
score recall, precision for all on alerts where confidence >= 0.5
score recall of filtering for all on alerts standardized
score recall for all on "odd/names" order by system
plot group F for all on "odd/names"
agree on alerts
agree on alerts where annotator in ("eve") with key
agree on alerts by document.source with key exchange by document.source
score F for all on alerts corrected by eve
""".strip().split("\n")

CLUSTERED = """
show test sets
compare accuracy for base, new on robust
compare accuracy for base, new on robust exchange by document
compare accuracy for base, new on robust, reading test tukey shuffles 99
compare ap for all on robust missing zero
group accuracy for all on reading
power accuracy for base, new on robust detect 10% documents 50
coverage
""".strip().split("\n")

VALUES = """
score M for all on t
score M for all on t by document
score M for all on t by document where document = "a\\b_3%"
score M for all on t where document like "a\\b%"
score M for all on t by system.size where system.size >= 2.5
score M for all on t standardized
score M for all on t replicates by system.of
compare M for all on t shuffles 99
compare M for one, two on t replicates by system.of
spread M for all on t replicates by system.of
""".strip().split("\n")

DRAWN_AGAIN = """
score pass(k=1), pass(k=3), every(k=3) for all on qa
score pass(k=2) for all on graded, greedy by document
compare pass(k=3) for base, tuned on qa
score pass for all on folds
spread accuracy, seconds for all on qa
spread accuracy for base on qa exchange by document.passage
score accuracy for all on qa corrected by seconds exchange by document.passage
""".strip().split("\n")

REFUSED = [each for each in SAMPLE if each.endswith(("test sign", "test wilcoxon"))]
REFUSED += ["score pass for all on folds"]
STATEMENTS = [("sample", each) for each in SAMPLE] + [("worked", each) for each in WORKED]
STATEMENTS += [("values", each) for each in VALUES]
STATEMENTS += [("clustered", each) for each in CLUSTERED]
STATEMENTS += [("replicated", each) for each in DRAWN_AGAIN]


def answer(session: Session, statement: str) -> str:
    """The result to the last digit, or the error, which is the same on both engines too."""
    try:
        return "\n".join(map(repr, session.results(statement)))
    except QueryError as error:
        return f"{error.message} {error.span} {error.hints}"


@pytest.mark.long
def test_a_lake_has_all_of_a_warehouse(lakes: dict[str, Path], warehouses: dict[str, Path]) -> None:
    manifest = read_manifest(lakes["sample"])
    about = json.loads((lakes["sample"] / MANIFEST).read_text())
    assert about["rows"] == manifest.rows
    with Session.open(warehouses["sample"]) as session:
        for table, rows in manifest.rows.items():
            assert session.database.rows(Sql(f"select count(*) from {table}")) == [(rows,)]
        known = session.catalog
        with open_names(lakes["sample"], manifest, "it") as names:
            found = Catalog(names)
            assert found.systems == known.systems
            for test_set in known.test_sets:
                for task in ("extraction", "filtering", "values", "published"):
                    assert found.systems_with(task, test_set.id) == known.systems_with(task, test_set.id)
                    if task in ("values", "published"):
                        assert found.measures_of(task, test_set.id) == known.measures_of(task, test_set.id)
                    assert found.fingerprint(task, test_set.id) == known.fingerprint(task, test_set.id)
                    assert found.observed(task, test_set.id) == known.observed(task, test_set.id)
                    assert found.documents(task, test_set.id) == known.documents(task, test_set.id)


def test_an_export_writes_over_nothing_but_a_lake(warehouses: dict[str, Path], tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "folder"
    folder.mkdir()
    (folder / "mine.txt").write_text("kept")
    with open_to_export(warehouses["worked"], tmp_path) as database:
        export_lake(database, lake)
        with pytest.raises(DataError, match="already exists"):
            export_lake(database, lake)
        export_lake(database, lake, force=True)
        with pytest.raises(DataError, match="is not a lake"):
            export_lake(database, folder, force=True)
        with pytest.raises(DataError, match="there is no folder"):
            export_lake(database, tmp_path / "no" / "lake")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "lake"]
    assert (folder / "mine.txt").read_text() == "kept"


@pytest.mark.long
def test_a_damaged_lake_is_not_asked(lakes: dict[str, Path], tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    shutil.copytree(lakes["worked"], lake)
    manifest = read_manifest(lake)
    (lake / "tables" / "document.parquet").write_bytes(b"PAR1")
    with pytest.raises(WarehouseError, match="is damaged"):
        open_names(lake, manifest, str(lake))
    for text, why in (
        ("{}", "is damaged"),
        ('{"version": "1", "schema_version": 99, "rows": {}}', "schema version 99"),
    ):
        (lake / MANIFEST).write_text(text)
        with pytest.raises(WarehouseError, match=why):
            read_manifest(lake)
    (lake / MANIFEST).unlink()
    with pytest.raises(WarehouseError, match="is not a lake"):
        read_manifest(lake)


PARTED = [each for each in SAMPLE if each.startswith(("compare", "group", "replicate"))] + [
    "compare F, recall for all on TST3 shuffles 199",
    "group recall for all on TST3 shuffles 99",
]


@pytest.mark.long
@pytest.mark.parametrize("statement", PARTED)
def test_blocks_of_pairs_give_what_all_pairs_give(warehouses: dict[str, Path], statement: str) -> None:
    found = []
    for blocks in (1, 2, 5):

        def engine(database: Database, workforce: Workforce, blocks: int = blocks) -> DuckDBEngine:
            return DuckDBEngine(database, replace(workforce, blocks=blocks))

        with Session(open_database(warehouses["sample"]), warehouses["sample"], engine) as session:
            found.append(answer(session, statement))
    assert found[1:] == found[:1] * 2


@pytest.mark.spark
# pyspark's own: it imports distutils, and leaves its sockets to the collector.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("data", "statement"), STATEMENTS)
def test_both_engines_give_the_same(spark: dict[str, tuple[Session, Session]], data: str, statement: str) -> None:
    on_spark, on_duckdb = spark[data]
    assert answer(on_spark, statement) == answer(on_duckdb, statement)


@pytest.mark.spark
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("blocks", [2, 5])
def test_partitions_change_no_number(spark: dict[str, tuple[Session, Session]], blocks: int) -> None:
    session = spark["sample"][0]
    engine = session._engine
    assert isinstance(engine, SparkEngine)
    session._engine = replace(engine, blocks=blocks)
    try:
        assert answer(session, PARTED[-1]) == answer(spark["sample"][1], PARTED[-1])
    finally:
        session._engine = engine


@pytest.mark.spark
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_lake_at_an_address_is_read_by_spark(
    spark: dict[str, tuple[Session, Session]], lakes: dict[str, Path]
) -> None:
    with Session.on_lake(lakes["worked"].as_uri(), "local[2]") as session:
        statement = "score recall, precision, auc for all on alerts; score F for all on abc"
        assert answer(session, statement) == answer(spark["worked"][1], statement)
    with pytest.raises(WarehouseError, match="is not a lake"):
        Session.on_lake("file:///no/such/lake", "local[2]")


@pytest.mark.spark
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize(
    ("statement", "word"),
    [('load "a.csv" as scores', "load"), ("forget import 1", "forget"), ('sql "select 1"', "sql")],
)
def test_what_spark_does_not_do_is_said(spark: dict[str, tuple[Session, Session]], statement: str, word: str) -> None:
    with pytest.raises(QueryError, match=f"{word} is not supported by --engine spark") as raised:
        spark["sample"][0].run(statement)
    assert raised.value.span.start == 0


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--engine", "spark", "--db", "nowhere"], 3, "there is no folder nowhere"),
        (["--engine", "spark", "--db", "."], 3, ". is not a lake"),
        (["--engine", "spark"], 2, "none is named"),
        (["--master", "local"], 2, "--master is for --engine spark"),
    ],
)
def test_mistakes_of_the_command_line(
    words: list[str],
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALHOUSE_DB", raising=False)
    try:
        found = cli.main(["query", "show tests", *words])
    except SystemExit as ended:
        found = int(ended.code or 0)
    assert found == status
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("master", "java", "said"), [("lokal", True, "names no Spark"), ("local", False, "Java 17")])
def test_what_spark_needs_is_said(
    lakes: dict[str, Path], monkeypatch: pytest.MonkeyPatch, master: str, java: bool, said: str
) -> None:
    for module in ("pyspark", "sqlglot", "pyarrow"):
        pytest.importorskip(module, exc_type=ImportError)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/java" if java else None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(WarehouseError, match=said):
        Session.on_lake(str(lakes["worked"]), master)


@pytest.mark.spark
def test_few_of_the_statements_are_errors(warehouses: dict[str, Path], tmp_path: Path) -> None:
    _values(tmp_path)
    # Copies, since some statements define.
    paths = {name: shutil.copy(path, tmp_path) for name, path in warehouses.items()}
    paths["values"] = tmp_path / "values.duckdb"
    wrong = []
    for data, statement in STATEMENTS:
        with Session.open(paths[data]) as session:
            try:
                list(session.results(statement))
            except QueryError as error:
                wrong.append((statement, error.message))
    assert [statement for statement, _ in wrong] == REFUSED, wrong
