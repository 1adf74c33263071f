"""COMMANDS, the one table of the commands of the command line: for each its meaning, an example, its own arguments and
what runs it. What the arguments mean to a command is its own business; here it is imported only when it is run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable


class Command:
    """A command: its name, what it does in one line, an example, its own arguments, and what runs it."""

    __slots__ = ("example", "meaning", "name", "run", "words")

    def __init__(
        self,
        name: str,
        meaning: str,
        example: str,
        words: Callable[[argparse.ArgumentParser], None],
        run: Callable[[argparse.Namespace], int],
    ) -> None:
        self.name, self.meaning, self.example, self.words, self.run = name, meaning, example, words, run


# --- the arguments of each command ------------------------------------------------------------------------------------


def _query_words(parser: argparse.ArgumentParser) -> None:
    statements = "statements separated by semicolons; - reads standard input"
    parser.add_argument("statements", metavar="STATEMENTS", help=statements)
    _script_words(parser)


def _run_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="a file of statements; - reads standard input")
    report = "prose, statements and results as one report: .html, .md or .tex"
    parser.add_argument("--report", metavar="FILE", help=report)
    parser.add_argument("--keep-going", action="store_true", help="go on after a statement that is wrong; status 1")
    _script_words(parser)


def _script_words(parser: argparse.ArgumentParser) -> None:
    param = 'give a variable its value, whatever a let says: finalists="GE, SRI"'
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=param)
    output = "all results into one file, in the format of its ending or of --format; .xlsx too"
    parser.add_argument("--output", metavar="FILE", help=output)
    parser.add_argument("--force", action="store_true", help="write over files that are there")
    engine = "what sums the facts: duckdb, or spark, for which --db names a lake (see export-lake)"
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb", metavar="ENGINE", help=engine)
    parser.add_argument("--master", metavar="URL", help="the Spark that computes; local[*], this machine, unless said")
    files = "let load, export and plot of a script use files outside of its folder"
    parser.add_argument("--allow-files", action="store_true", help=files)


def _load_words(parser: argparse.ArgumentParser) -> None:
    from warehouse.loading.readers import READERS, plugins

    readers = READERS | plugins()
    files = "files, folders of them, or patterns in quotes; also .gz and .zst"
    parser.add_argument("files", nargs="+", metavar="FILE", help=files)
    kinds = (*readers, "auto")
    listed = ", ".join(kinds)
    parser.add_argument("--as", dest="reader", required=True, choices=kinds, metavar="READER", help=f"one of {listed}")
    mapped = "take a field from a column of another name"
    parser.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN", help=mapped)
    given = "give a field one value in every row"
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help=given)
    simulated = "mark the rows as simulated; captions of results on them say so"
    parser.add_argument("--simulated", action="store_true", help=simulated)
    dry_run = "check everything, show the first rows, store nothing"
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--dry-run", action="store_true", help=dry_run)
    in_place = "into the warehouse itself, without a copy: a crash can damage it, and nobody reads meanwhile"
    where.add_argument("--in-place", action="store_true", help=in_place)
    offered = [(reader, option) for reader in readers.values() for option in reader.options]
    for name in dict.fromkeys(option.name for _, option in offered):
        sharing = [(reader, option) for reader, option in offered if option.name == name]
        meaning = "; ".join(
            f"{reader.name}: {option.meaning}" + (f" ({option.default})" if option.default else "")
            for reader, option in sharing
        )
        metavar = "|".join(sharing[0][1].choices) or name.upper()
        parser.add_argument(f"--{name}", dest=f"reader_{name}", metavar=metavar, help=meaning)


def _fmt_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="scripts to lay out")
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if a file would change")


def _init_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file that is not there yet")
    parser.add_argument("--sample", action="store_true", help="with the sample data in it")


def _backup_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file that is not there yet")


def _verify_words(parser: argparse.ArgumentParser) -> None:
    results = "a signature in quotes, or a file of results as --format json writes them; - reads standard input"
    parser.add_argument("results", nargs="+", metavar="RESULT", help=results)


def _export_words(parser: argparse.ArgumentParser) -> None:
    target = "a folder, which gets a file of every kind of rows, or a file: .csv, .tsv, .parquet, .csv.gz, .tsv.gz"
    parser.add_argument("target", metavar="FILE", help=target)
    kinds = ("scores", "decisions", "labels", "values", "published", "systems", "documents")
    kind = f"which rows a file gets: scores unless said, or {', '.join(kinds[1:])}"
    parser.add_argument("--kind", choices=kinds, default="scores", metavar="KIND", help=kind)
    parser.add_argument("--force", action="store_true", help="write over files")


def _lake_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="a folder that is not there yet")
    parser.add_argument("--force", action="store_true", help="write over a lake")


def _completion_words(parser: argparse.ArgumentParser) -> None:
    shells = ("bash", "zsh", "fish")
    parser.add_argument("shell", choices=shells, metavar="SHELL", help=f"one of {', '.join(shells)}")


def _no_words(parser: argparse.ArgumentParser) -> None:
    """A command without arguments of its own."""


# --- what runs each command, imported when it is run ------------------------------------------------------------------


def _run_query(args: argparse.Namespace) -> int:
    from warehouse.commands.answering import query

    return query(args)


def _run_study(args: argparse.Namespace) -> int:
    from warehouse.commands.running import run

    return run(args)


def _run_load_files(args: argparse.Namespace) -> int:
    from warehouse.commands.loading import load_files

    return load_files(args)


def _run_lay_out(args: argparse.Namespace) -> int:
    from warehouse.commands.formatting import lay_out

    return lay_out(args)


def _run_init(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import init

    return init(args)


def _run_info(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import info

    return info(args)


def _run_check(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import check

    return check(args)


def _run_back_up(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import back_up

    return back_up(args)


def _run_bring_up_to_date(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import bring_up_to_date

    return bring_up_to_date(args)


def _run_verify(args: argparse.Namespace) -> int:
    from warehouse.commands.verifying import verify

    return verify(args)


def _run_export(args: argparse.Namespace) -> int:
    from warehouse.commands.writing import export

    return export(args)


def _run_export_as_lake(args: argparse.Namespace) -> int:
    from warehouse.commands.writing import export_as_lake

    return export_as_lake(args)


def _run_completion(args: argparse.Namespace) -> int:
    from warehouse.commands.completing import completion

    return completion(args)


def _run_demo(args: argparse.Namespace) -> int:
    from warehouse.commands.demonstration import demo

    return demo(args)


def run_shell(args: argparse.Namespace) -> int:
    from warehouse.commands.conversation import shell

    return shell(args)


# --- the table --------------------------------------------------------------------------------------------------------

COMMANDS = (
    Command(
        "query",
        "run statements",
        'evalhouse query "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999"',
        _query_words,
        _run_query,
    ),
    Command(
        "run",
        "run a study",
        "evalhouse run study.eval --param finalists=GE --report study.html",
        _run_words,
        _run_study,
    ),
    Command(
        "load",
        "load files into a warehouse",
        "evalhouse load scores.csv --as scores --map system=site --set test_set=TST3",
        _load_words,
        _run_load_files,
    ),
    Command(
        "fmt",
        "lay scripts out in the canonical way",
        "evalhouse fmt study.eval --check",
        _fmt_words,
        _run_lay_out,
    ),
    Command("init", "make a new warehouse", "evalhouse init muc.duckdb --sample", _init_words, _run_init),
    Command("info", "what a warehouse holds", "evalhouse info --db muc.duckdb", _no_words, _run_info),
    Command(
        "check",
        "whether a warehouse is sound",
        "evalhouse check --db muc.duckdb",
        _no_words,
        _run_check,
    ),
    Command(
        "backup",
        "a copy of a warehouse, made safely",
        "evalhouse backup monday.duckdb",
        _backup_words,
        _run_back_up,
    ),
    Command(
        "upgrade",
        "bring a warehouse of an older version up to date",
        "evalhouse upgrade --db muc.duckdb",
        _no_words,
        _run_bring_up_to_date,
    ),
    Command(
        "verify",
        "whether results of the past come out again",
        "evalhouse verify table2.json",
        _verify_words,
        _run_verify,
    ),
    Command(
        "export-scores",
        "write rows to files that load takes",
        "evalhouse export-scores scores.csv --db muc.duckdb",
        _export_words,
        _run_export,
    ),
    Command(
        "export-lake",
        "write a warehouse as a folder of Parquet files, for Spark",
        "evalhouse export-lake muc.lake --db muc.duckdb",
        _lake_words,
        _run_export_as_lake,
    ),
    Command(
        "completion",
        "completion for the shell of the system",
        "evalhouse completion bash > ~/.local/share/bash-completion/completions/evalhouse",
        _completion_words,
        _run_completion,
    ),
    Command(
        "demo",
        "the main job on the sample data, from start to finish",
        "evalhouse demo",
        _no_words,
        _run_demo,
    ),
)
