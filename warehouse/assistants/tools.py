"""TOOLS is the only table of what an assistant can call: the name, purpose and arguments of each tool, and the function
that answers a call. It does not know the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, get_args, get_type_hints

from msgspec import Struct

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.lexicon import normalized
from grammar.parser import parse
from grammar.printer import to_text
from warehouse.assistants.answers import Answers, Reply, StillWanted
from warehouse.render.diagnostics import query_error
from warehouse.statements.only_questions import CHANGING

CallArguments = Mapping[str, str]
"""The arguments of a call by name, each a text."""


class ToolArgument(Struct, frozen=True):
    """An argument of a tool, which is a text. If there are `choices`, it must be one of them. It may be left out if it
    is not `needed`.
    """

    name: str
    meaning: str
    needed: bool = True
    choices: tuple[str, ...] = ()


class Tool(Struct, frozen=True):
    """A tool: its name, its description for the assistant, its arguments, and the function that answers a call."""

    name: str
    meaning: str
    arguments: tuple[ToolArgument, ...]
    call: Callable[[Answers, CallArguments, StillWanted], Reply]


def tool_named(name: str) -> Tool | None:
    """The tool with this name; None if there is none."""
    return next((tool for tool in TOOLS if tool.name == name), None)


def given(tool: Tool, arguments: Mapping[str, Any]) -> CallArguments:
    """The arguments of a call, checked. Raises QueryError for an argument that is missing, unknown or invalid."""
    known = {argument.name: argument for argument in tool.arguments}
    takes = f"{tool.name} takes {', '.join(known) or 'nothing'}"
    for name, said in arguments.items():
        if name not in known:
            raise QueryError(f"{tool.name} has no argument '{name}'", hints=(takes,))
        if not isinstance(said, str):
            raise QueryError(f"{name} is a text", hints=(takes,))
        choices = known[name].choices
        if choices and said not in choices:
            raise QueryError(f"{name} is not '{said}'", hints=(f"it is one of {', '.join(choices)}",))
    for argument in tool.arguments:
        if argument.needed and not arguments.get(argument.name, "").strip():
            raise QueryError(f"{tool.name} needs {argument.name}: {argument.meaning}")
    return arguments


# --- what answers each tool -------------------------------------------------------------------------------------------


def _query(answers: Answers, given: CallArguments, waiting: StillWanted) -> Reply:
    return answers.of(given["statement"], waiting)


def _explain(answers: Answers, given: CallArguments, waiting: StillWanted) -> Reply:
    return answers.of(given["statement"], waiting, _explained)


def _explained(text: str) -> tuple[n.AnyStatement, ...]:
    """The statements of a text, with each question replaced by its `explain`. Raises QueryError for other
    statements.
    """
    return tuple(map(_explanation, parse(text)))


def _explanation(statement: n.AnyStatement) -> n.AnyStatement:
    if isinstance(statement, n.Let | n.Explain):
        return statement
    if isinstance(statement, n.Question):
        return n.Explain(statement, span=statement.span)
    raise QueryError(f"only questions are explained, and {statement.words} is not one", statement.span)


def _documents(answers: Answers, given: CallArguments, waiting: StillWanted) -> Reply:
    try:
        statement = _documents_of(given, min(LISTED, answers.limits.rows))
    except QueryError as error:
        return Reply((query_error(error, ""),), wrong=True)
    return answers.of(to_text(statement), waiting)


def _documents_of(given: CallArguments, limit: int) -> n.Documents:
    """The statement that the arguments ask for. Each argument must be a single name or value. Raises QueryError."""
    first, second, test_set = (n.Name(normalized(given[name])) for name in ("system_a", "system_b", "test_set"))
    condition, only = given.get("where", "").strip(), given.get("only", "").strip()
    return n.Documents(
        _documents_with("measure", "", given["measure"]).measures,
        systems=n.Systems((first, second)),
        test_sets=n.TestSets((test_set,)),
        where=_documents_with("where", "F where ", condition).where if condition else None,
        only=n.Name(normalized(only)) if only else None,
        limit=n.Number(Decimal(limit)),
    )


def _documents_with(argument: str, before: str, text: str) -> n.Documents:
    """A statement that consists only of an argument and the text before it. Raises QueryError."""
    try:
        statements = parse(f"{n.Documents.words} {before}{text}")
    except QueryError as error:
        raise QueryError(f"{argument}: {error.message}", hints=error.hints) from None
    match statements:
        case (n.Documents(measures=measures, where=where) as alone,) if alone == n.Documents(measures, where=where):
            return alone
    raise QueryError(f"{argument} says more than {'measures' if argument == 'measure' else 'a condition'}")


def _show(answers: Answers, given: CallArguments, waiting: StillWanted) -> Reply:
    return answers.of(f"show {given.get('what') or SHOWN[0]}", waiting)


def _help(answers: Answers, given: CallArguments, waiting: StillWanted) -> Reply:
    from warehouse.shell import help

    word = given.get("word", "").strip(" \"'")
    if not word:
        return Reply((overview(answers.limits.sql),))
    topic = help.topic(word, answers.session.catalog)
    if topic is None:
        return Reply((f"error: {help.unknown(word, answers.session.catalog)}",), wrong=True)
    return Reply((topic,))


def overview(sql: bool) -> str:
    """All kinds of questions with an example of each, for readers who do not know the language."""
    from warehouse.statements import statements

    left_out = (*CHANGING, n.Plot) if sql else (*CHANGING, n.Plot, n.SqlQuery)
    lines = ["Questions, each with an example; help with a word says more of a statement, clause, measure or test:", ""]
    for statement in statements():
        if not issubclass(statement.node, left_out):
            lines.append(f"{statement.usage.meaning}\n  {statement.usage.example}")
    return "\n".join(lines)


# --- the table --------------------------------------------------------------------------------------------------------

SHOWN = (
    "test sets",
    *(what for what in get_args(get_type_hints(n.Show)["what"]) if what not in ("test sets", "variables")),
)
"""The things that can be shown; test sets by default."""

LISTED = 20
"""The number of documents that are listed. Later ones contribute less to a difference, and texts take space."""

_STATEMENT = "as in: compare F for GE, UMASS on TST3 (semicolons stand between several)"

TOOLS = (
    Tool(
        "show",
        "What is in this warehouse of evaluation results. Begin here: test sets, then systems and measures. The names "
        "are those that questions take.",
        (ToolArgument("what", "what to list", needed=False, choices=SHOWN),),
        _show,
    ),
    Tool(
        "help",
        "The query language: all questions with examples, or more of one word (a statement, clause, measure, test, "
        "adjustment or a name in the warehouse), such as compare, F, holm, exchange by.",
        (ToolArgument("word", "what to explain; left out: all questions", needed=False),),
        _help,
    ),
    Tool(
        "query",
        "Asks a question in the query language: values (score), differences and their significance (compare, group, "
        "rank), power, and more. Answers with JSON: columns, rows, notes; proportions are from 0 to 1. Read the notes. "
        "Each answer that tests something says how many tests this conversation has seen: do not ask again and again "
        "until p is small; say what you will compare before you look, use adjust holm for several pairs, and report "
        "everything that was tested.",
        (ToolArgument("statement", f"one question, {_STATEMENT}"),),
        _query,
    ),
    Tool(
        "documents",
        "Where a difference comes from: the documents behind it, those that contribute most first, with the values of "
        f"both systems, each document's share of the whole difference, and its texts where they are stored: the first "
        f'{LISTED}. Texts of many documents are cut; where document = "D1" gives all of one.',
        (
            ToolArgument("measure", "as in questions: F, accuracy"),
            ToolArgument("system_a", "the name of a system"),
            ToolArgument("system_b", "the name of the other"),
            ToolArgument("test_set", "the name of the test set"),
            ToolArgument("where", 'a condition, as in: document.source = radio, document = "D1"', needed=False),
            ToolArgument("only", "one of the two: only the documents that favour it", needed=False),
        ),
        _documents,
    ),
    Tool(
        "explain",
        "How a question would be answered, without asking it: the plan, the SQL, which test, what it costs.",
        (ToolArgument("statement", f"one question, {_STATEMENT}"),),
        _explain,
    ),
)
