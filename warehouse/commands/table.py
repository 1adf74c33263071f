"""COMMANDS, the one table of the commands: for each command its description, an example, its arguments and the function
that runs it. Each command decides what its arguments mean. Its module is imported only when it is run, so that `--help`
and a short query do not wait for the modules of all commands.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from evalhouse.warehouse.process.lazy import lazy

if TYPE_CHECKING:
    from evalhouse.warehouse.loading.staging.door import Bound


class Command:
    """A command: its name, the group of `--help` that it stands in, a description in one line, an example, its own
    arguments, and what runs it and returns the exit status.
    """

    __slots__ = ("example", "group", "meaning", "name", "run", "words")

    def __init__(
        self,
        name: str,
        group: str,
        meaning: str,
        example: str,
        words: Callable[[argparse.ArgumentParser], None],
        run: Callable[[argparse.Namespace], int],
    ) -> None:
        self.name, self.group, self.meaning, self.example = name, group, meaning, example
        self.words, self.run = words, run


# --- the arguments of each command ------------------------------------------------------------------------------------


def _query_words(parser: argparse.ArgumentParser) -> None:
    statements = "statements separated by semicolons; - reads standard input"
    parser.add_argument("statements", metavar="STATEMENTS", help=statements)
    _script_words(parser)


def _run_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="a file of statements; - reads standard input")
    report = "prose, statements and results as one report: .html, .md or .tex"
    parser.add_argument("--report", metavar="FILE", help=report)
    parser.add_argument("--keep-going", action="store_true", help="continue after a failed statement; exit status 1")
    _script_words(parser)


def _script_words(parser: argparse.ArgumentParser) -> None:
    param = 'set a variable, overriding any let: finalists="GE, SRI"'
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=param)
    output = "write all results to one file, in the format of its ending or of --format; .xlsx too"
    parser.add_argument("--output", metavar="FILE", help=output)
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    engine = "what computes the sums: duckdb, or spark, for which --db names a lake (see copy)"
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb", metavar="ENGINE", help=engine)
    parser.add_argument("--master", metavar="URL", help="the Spark to use, such as sc://HOST; default local[*]")
    files = "let a script load, export and plot files outside its folder"
    parser.add_argument("--allow-files", action="store_true", help=files)


def _load_words(parser: argparse.ArgumentParser) -> None:
    _file_words(parser)
    where = parser.add_mutually_exclusive_group()
    dry = "check everything and show what would be loaded, but store nothing"
    where.add_argument("--dry-run", action="store_true", help=dry)
    in_place = "load into the warehouse itself, without a copy: a crash can damage it, and nobody can read it meanwhile"
    where.add_argument("--in-place", action="store_true", help=in_place)
    wait = "how long to wait for each other process that is loading; default 10"
    parser.add_argument("--wait", type=_seconds, default=10.0, metavar="SECONDS", help=wait)


def _look_words(parser: argparse.ArgumentParser) -> None:
    _file_words(parser)
    parser.add_argument("--serve", action="store_true", help="show pages in the browser in place of the table")
    _page_words(parser)


def _file_words(parser: argparse.ArgumentParser) -> None:
    """What files are, and how they are read."""
    from evalhouse.warehouse.loading.readers import READERS, plugins, reader_name

    readers = READERS | plugins()
    files = "files, folders, archives (.zip, .tar.gz) or patterns in quotes; also .gz and .zst"
    parser.add_argument("files", nargs="+", metavar="FILE", help=files)
    kinds = (*readers, "auto")
    one_of = f"what the files are, if that cannot be detected: one of {', '.join(kinds)}"
    parser.add_argument(
        "--as", dest="reader", default="auto", type=reader_name, choices=kinds, metavar="READER", help=one_of
    )
    mapped = "take a field from a column with another name"
    parser.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN", help=mapped)
    fixed = (
        "give a field one value in every row, which may contain {stem}, {name}, {parent} or {parent2} of the file; "
        "noun names the documents, cluster the attribute that related ones share, group the group that the test sets "
        "belong to, main the measure of questions that name none"
    )
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help=fixed)
    lower = "measures of which lower values are better; stored with the load (WER, loss and the like are known by name)"
    parser.add_argument("--lower-is-better", action="append", default=[], metavar="M[,N]", help=lower)
    higher = "measures of which higher values are better, although their names suggest otherwise"
    parser.add_argument("--higher-is-better", action="append", default=[], metavar="M[,N]", help=higher)
    share = (
        "measures between 0 and 1, so that 5%% of them is 0.05; stored with the load (accuracy and the like are known)"
    )
    parser.add_argument("--share", action="append", default=[], metavar="M[,N]", help=share)
    simulated = "mark the rows as simulated; captions of results on them say so"
    parser.add_argument("--simulated", action="store_true", help=simulated)
    bad = "skip files that cannot be read, and list them"
    parser.add_argument("--skip-bad", action="store_true", help=bad)
    strict = "refuse files that state other figures than their rows have; otherwise notes say so"
    parser.add_argument("--strict", action="store_true", help=strict)
    expected = "refuse the load, with status 1, if any file but readmes and licences would be passed over or left out"
    parser.add_argument("--expect-all", action="store_true", help=expected)
    same = "treat documents with the same name as one, even where files give them different questions or answers"
    parser.add_argument("--same-documents", action="store_true", help=same)
    texts = "also store inputs, references and outputs, where files have them; they do not change any result"
    parser.add_argument("--texts", action="store_true", help=texts)
    unpacked = "how much a packed file may hold, such as 50GB; default 16 GB, and at most 200 times its own size"
    parser.add_argument("--max-unpacked", type=_bound, metavar="SIZE", help=unpacked)
    offered = [(reader, option) for reader in readers.values() for option in reader.options]
    groups: dict[str, argparse._ArgumentGroup] = {}
    for name in dict.fromkeys(option.name for _, option in offered):
        sharing = [(reader, option) for reader, option in offered if option.name == name]
        alone = len({option.meaning for _, option in sharing}) == 1
        meaning = "; ".join(
            (option.meaning if alone else f"{reader.name}: {option.meaning}")
            + (f" ({option.default})" if option.default else "")
            for reader, option in (sharing[:1] if alone else sharing)
        )
        of = ", ".join(reader.name for reader, _ in sharing)
        if of not in groups:
            groups[of] = parser.add_argument_group(of)
        metavar = "|".join(sharing[0][1].choices) or name.upper()
        groups[of].add_argument(f"--{name}", dest=f"reader_{name}", metavar=metavar, help=meaning)


def _seconds(text: str) -> float:
    if not text.isascii() or not text.replace(".", "", 1).isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return float(text)


def _bound(text: str) -> Bound:
    from evalhouse.warehouse.loading.staging.door import bound_of

    try:
        return bound_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _fmt_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="scripts to format")
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if a file would change")


def _new_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a new file; a new folder if the warehouse is a lake")


def _init_words(parser: argparse.ArgumentParser) -> None:
    new = "a new file; with --lake a new folder, or an address such as s3://BUCKET/evals"
    parser.add_argument("file", metavar="FILE", help=new)
    parser.add_argument("--lake", action="store_true", help="make a lake, a folder that many can write at once")


def _verify_words(parser: argparse.ArgumentParser) -> None:
    results = (
        "a signature in quotes, 'STATEMENT | numbers DIGITS', or a file of results as --format json writes them; "
        "- reads standard input"
    )
    parser.add_argument("results", nargs="+", metavar="RESULT", help=results)


def _export_words(parser: argparse.ArgumentParser) -> None:
    target = "a folder, for one file per kind of row, or a file: .csv, .tsv, .parquet, .csv.gz, .tsv.gz"
    parser.add_argument("target", metavar="FILE", help=target)
    facts = ("scores", "counts", "decisions", "labels", "values", "numbers", "rankings", "judgments", "published")
    kinds = (*facts, "systems", "documents", "runs", "failures")
    kind = f"which rows a file gets; default scores, else {', '.join(kinds[1:])}"
    parser.add_argument("--kind", choices=kinds, default="scores", metavar="KIND", help=kind)
    parser.add_argument("--force", action="store_true", help="overwrite files")


def _copy_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM", help="a warehouse file or a lake")
    new = "a new lake, or a new file if it ends in .duckdb or .db; an address such as s3://BUCKET/evals is a lake"
    parser.add_argument("target", metavar="TO", help=new)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--lake", action="store_true", help="make a lake, whatever TO ends in")
    kind.add_argument("--file", dest="as_file", action="store_true", help="make a file, whatever TO ends in")
    parser.add_argument("--force", action="store_true", help="overwrite a lake")


def _compact_words(parser: argparse.ArgumentParser) -> None:
    past = parser.add_mutually_exclusive_group()
    keep = "forget what the lake held before the last DAYS days, and remove its files; default: forget nothing"
    past.add_argument("--keep-past", type=_days, metavar="DAYS", help=keep)
    forget = "forget what the lake held before a date, such as 2026-11-01, and remove its files"
    past.add_argument("--forget-past", metavar="DATE", help=forget)
    wait = "how long to wait for each other process that is loading; default 10"
    parser.add_argument("--wait", type=_seconds, default=10.0, metavar="SECONDS", help=wait)


def _days(text: str) -> float:
    if not text.isascii() or not text.replace(".", "", 1).isdigit() or len(text) > 6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days")
    return float(text)


def _records_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="a new folder")
    organization = "who provides the results; default unknown"
    parser.add_argument("--organization", default="unknown", metavar="NAME", help=organization)
    relationships = ("first_party", "third_party", "collaborative", "other")
    relationship = f"their relationship to the models; default other, else {', '.join(relationships[:-1])}"
    parser.add_argument("--relationship", choices=relationships, default="other", metavar="KIND", help=relationship)


def _assistant_words(parser: argparse.ArgumentParser) -> None:
    rows = "the most rows an answer may have; default 100"
    parser.add_argument("--limit", type=_rows, default=100, metavar="ROWS", help=rows)
    characters = "the most characters an answer may have; default 60000"
    parser.add_argument("--characters", type=_characters, default=60_000, metavar="N", help=characters)
    seconds = "how long a question may take; default 60"
    parser.add_argument("--timeout", type=_seconds, default=60.0, metavar="SECONDS", help=seconds)
    parser.add_argument("--allow-sql", action="store_true", help="also answer sql, which is read-only")


def _rows(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)


def _characters(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 5_000 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of characters from 5000 on")
    return int(text)


def _page_words(parser: argparse.ArgumentParser) -> None:
    host = "the address to listen on; default 127.0.0.1, this machine only"
    parser.add_argument("--host", default="127.0.0.1", metavar="HOST", help=host)
    name = "a host name by which the pages are reached, such as that of a proxy; can be repeated"
    parser.add_argument("--host-name", action="append", default=[], metavar="NAME", help=name)
    port = "the port; default 8992; 0 for a free one"
    parser.add_argument("--port", type=_port, default=8992, metavar="N", help=port)
    parser.add_argument("--open", action="store_true", help="open the pages in the browser")
    timeout = "how long a page may compute; default 60"
    parser.add_argument("--timeout", type=_seconds, default=60.0, metavar="SECONDS", help=timeout)
    sql = 'also answer sql "SELECT …", for anyone who can reach the pages'
    parser.add_argument("--allow-sql", action="store_true", help=sql)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to 65535")
    return int(text)


def _site_words(parser: argparse.ArgumentParser) -> None:
    site = "a new folder, an empty one, or one that already holds such a site"
    parser.add_argument("site", metavar="SITE", help=site)
    measures = "the measures that pages show, where a test set has them"
    parser.add_argument("--measures", type=_split_list, default=[], metavar="M[,N]", help=measures)
    texts = "leave out the inputs, references and outputs of documents"
    parser.add_argument("--without-texts", action="store_true", help=texts)
    url = "the address that the site will have, for search engines: https://me.github.io/muc/"
    parser.add_argument("--base-url", default="", metavar="URL", help=url)
    force = "put the site into a folder with other files, overwriting those of the same names"
    parser.add_argument("--force", action="store_true", help=force)


def _split_list(text: str) -> list[str]:
    """The parts between commas, but for commas within parentheses: F(beta=2, partial=0), P."""
    return [word.strip() for word in re.split(r",(?![^(]*\))", text) if word.strip()]


def _completion_words(parser: argparse.ArgumentParser) -> None:
    shells = ("bash", "zsh", "fish")
    parser.add_argument("shell", choices=shells, metavar="SHELL", help=f"one of {', '.join(shells)}")


def _no_words(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""


# --- the table --------------------------------------------------------------------------------------------------------

LOOK = "look"
"""The command that a path alone means."""

GROUPS = ("Ask", "Load", "Look", "Keep", "Share")
"""What commands are for, in the order of `--help`."""

COMMANDS: tuple[Command, ...] = (
    Command(
        "query",
        "Ask",
        "run statements",
        'evalhouse query "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999"',
        _query_words,
        lazy("evalhouse.warehouse.commands.answering:query"),
    ),
    Command(
        "run",
        "Ask",
        "run a study",
        "evalhouse run study.study --param finalists=GE --report study.html",
        _run_words,
        lazy("evalhouse.warehouse.commands.studies:run"),
    ),
    Command(
        LOOK,
        "Load",
        "show the table of result files, without a warehouse; the word may be left out",
        "evalhouse look results/",
        _look_words,
        lazy("evalhouse.warehouse.commands.looking:look"),
    ),
    Command(
        "load",
        "Load",
        "load files into a warehouse",
        "evalhouse load results/",
        _load_words,
        lazy("evalhouse.warehouse.commands.loading:load_files"),
    ),
    Command(
        "fmt",
        "Ask",
        "format scripts in the canonical layout",
        "evalhouse fmt study.study --check",
        _fmt_words,
        lazy("evalhouse.warehouse.commands.talking:lay_out"),
    ),
    Command(
        "init",
        "Load",
        "make a new warehouse",
        "evalhouse init muc.duckdb --sample",
        _init_words,
        lazy("evalhouse.warehouse.commands.keeping:init"),
    ),
    Command(
        "info",
        "Look",
        "show what a warehouse holds",
        "evalhouse info --db muc.duckdb",
        _no_words,
        lazy("evalhouse.warehouse.commands.keeping:info"),
    ),
    Command(
        "check",
        "Keep",
        "check a warehouse for damage",
        "evalhouse check --db muc.duckdb",
        _no_words,
        lazy("evalhouse.warehouse.commands.keeping:check"),
    ),
    Command(
        "backup",
        "Keep",
        "copy a warehouse safely",
        "evalhouse backup monday.duckdb",
        _new_file,
        lazy("evalhouse.warehouse.commands.keeping:back_up"),
    ),
    Command(
        "copy",
        "Keep",
        "copy a warehouse, from a file to a lake or back",
        "evalhouse copy muc.duckdb muc.lake",
        _copy_words,
        lazy("evalhouse.warehouse.commands.keeping:copy"),
    ),
    Command(
        "compact",
        "Keep",
        "merge the small files of a lake",
        "evalhouse compact --db muc.lake --keep-past 30",
        _compact_words,
        lazy("evalhouse.warehouse.commands.keeping:compact"),
    ),
    Command(
        "upgrade",
        "Keep",
        "upgrade a warehouse of an older version",
        "evalhouse upgrade --db muc.duckdb",
        _no_words,
        lazy("evalhouse.warehouse.commands.keeping:bring_up_to_date"),
    ),
    Command(
        "verify",
        "Ask",
        "check that saved results still reproduce",
        "evalhouse verify table2.json",
        _verify_words,
        lazy("evalhouse.warehouse.commands.studies:verify"),
    ),
    Command(
        "export-scores",
        "Share",
        "write rows to files that load can read",
        "evalhouse export-scores scores.csv --db muc.duckdb",
        _export_words,
        lazy("evalhouse.warehouse.commands.writing:export"),
    ),
    Command(
        "export-eee",
        "Share",
        "write values as records of Every Eval Ever",
        "evalhouse export-eee records --organization Acme --db evals.duckdb",
        _records_words,
        lazy("evalhouse.warehouse.commands.writing:export_records"),
    ),
    Command(
        "mcp",
        "Share",
        "let assistants ask, over standard input and output",
        "evalhouse mcp --db muc.duckdb",
        _assistant_words,
        lazy("evalhouse.warehouse.commands.serving:assist"),
    ),
    Command(
        "serve",
        "Look",
        "show a warehouse as pages in the browser",
        "evalhouse serve --db muc.duckdb --open",
        _page_words,
        lazy("evalhouse.warehouse.commands.serving:serve"),
    ),
    Command(
        "publish",
        "Share",
        "write the pages of serve as files, for any web server",
        "evalhouse publish site --db muc.duckdb --base-url https://me.github.io/muc/",
        _site_words,
        lazy("evalhouse.warehouse.commands.serving:publish"),
    ),
    Command(
        "config",
        "Keep",
        "show the settings of all commands",
        "evalhouse config",
        _no_words,
        lazy("evalhouse.warehouse.commands.settings:config"),
    ),
    Command(
        "completion",
        "Keep",
        "print completion for bash, zsh or fish",
        "evalhouse completion bash > ~/.local/share/bash-completion/completions/evalhouse",
        _completion_words,
        lazy("evalhouse.warehouse.commands.talking:completion"),
    ),
    Command(
        "demo",
        "Look",
        "answer four questions about the sample data",
        "evalhouse demo",
        _no_words,
        lazy("evalhouse.warehouse.commands.talking:demo"),
    ),
)


def run(args: argparse.Namespace) -> int:
    """Runs the command that the line names, or the shell if it names none."""
    if args.command is None:
        from evalhouse.warehouse.commands.talking import shell

        return shell(args)
    [command] = [command for command in COMMANDS if command.name == args.command]
    return command.run(args)
