"""The tools that an assistant can call, and the Model Context Protocol that lists and calls them.

It works over standard input and output. Only the protocol may write to standard output.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, get_args, get_type_hints

import mcp.types as types
from anyio import CapacityLimiter, from_thread, run, to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import normalize
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.assistants.answers import Answers, Reply, StillWanted
from evalhouse.warehouse.render.diagnostics import query_error
from evalhouse.warehouse.statements import statements
from evalhouse.warehouse.statements.questions import CHANGING
from evalhouse.warehouse.version import __version__

# === tools ============================================================================================================
# TOOLS is the only table of what an assistant can call: the name, purpose and arguments of each tool, and the function
# that answers a call. It must not know the protocol.

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


def find_tool(name: str) -> Tool | None:
    """The tool with this name; None if there is none."""
    return next((tool for tool in TOOLS if tool.name == name), None)


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> CallArguments:
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
    return answers.of(given["statement"], waiting, _explain_questions)


def _explain_questions(text: str) -> tuple[n.AnyStatement, ...]:
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
    first, second, test_set = (n.Name(normalize(given[name])) for name in ("system_a", "system_b", "test_set"))
    condition, only = given.get("where", "").strip(), given.get("only", "").strip()
    return n.Documents(
        _documents_with("measure", "", given["measure"]).measures,
        systems=n.Systems((first, second)),
        test_sets=n.TestSets((test_set,)),
        where=_documents_with("where", "F where ", condition).where if condition else None,
        only=n.Name(normalize(only)) if only else None,
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
    from evalhouse.warehouse.shell import help

    word = given.get("word", "").strip(" \"'")
    if not word:
        return Reply((overview(answers.limits.sql),))
    topic = help.topic(word, answers.session.catalog)
    if topic is None:
        return Reply((f"error: {help.unknown(word, answers.session.catalog)}",), wrong=True)
    return Reply((topic,))


def overview(sql: bool) -> str:
    """All kinds of questions with an example of each, for readers who do not know the language."""
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


# === the protocol =====================================================================================================

INSTRUCTIONS = (
    "A warehouse of evaluation results: which system scored what on which test set, and which differences are real. "
    "Call show for what is there and help for the language, then query. Nothing can be changed here. p-values are of "
    "the differences asked for; whoever asks until one is small finds one by chance, and each answer says how many "
    "were seen."
)

REPORTING = 0.5
"""How often a waiting client is told the progress of a question, in seconds."""


def serve(answers: Answers) -> None:
    """Serves one conversation over standard input and output until the input ends."""

    async def conversation() -> None:
        server = server_of(answers)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    run(conversation)


def server_of(answers: Answers) -> Server[Any]:
    """A server of the tools for one conversation."""
    one_at_a_time = CapacityLimiter(1)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe_tool(tool) for tool in TOOLS])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = find_tool(params.name)
        if tool is None:
            names = ", ".join(tool.name for tool in TOOLS)
            return _result(Reply((f"error: there is no tool '{params.name}'\n  there are {names}",), wrong=True))
        try:
            arguments = check_arguments(tool, params.arguments or {})
        except QueryError as error:
            return _result(Reply((query_error(error, ""),), wrong=True))
        reported = time.monotonic()

        def waiting(share: float) -> None:
            nonlocal reported
            # Raises if the client has cancelled the call or has disconnected.
            from_thread.check_cancelled()
            if share and time.monotonic() > reported + REPORTING:
                reported = time.monotonic()
                from_thread.run(context.session.report_progress, share, 1.0)

        reply = await to_thread.run_sync(tool.call, answers, arguments, waiting, limiter=one_at_a_time)
        return _result(reply)

    return Server(
        "evalhouse", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


def _describe_tool(tool: Tool) -> types.Tool:
    """A tool as the protocol lists it."""
    properties: dict[str, Any] = {}
    for argument in tool.arguments:
        choices = {"enum": list(argument.choices)} if argument.choices else {}
        properties[argument.name] = {"type": "string", "description": argument.meaning, **choices}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [argument.name for argument in tool.arguments if argument.needed],
        "additionalProperties": False,
    }
    reads = types.ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return types.Tool(name=tool.name, description=tool.meaning, input_schema=schema, annotations=reads)


def _result(reply: Reply) -> types.CallToolResult:
    texts: list[types.ContentBlock] = [types.TextContent(type="text", text=text) for text in reply.texts]
    return types.CallToolResult(content=texts, is_error=reply.wrong)
