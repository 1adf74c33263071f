"""The Model Context Protocol: lists and calls tools over standard input and output. Only the protocol may write to
standard output. `answers` handles questions and answers.
"""

from __future__ import annotations

import time
from typing import Any

import mcp.types as types
from anyio import CapacityLimiter, from_thread, run, to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from grammar.errors import QueryError
from warehouse.assistants.answers import Answers, Reply
from warehouse.assistants.tools import TOOLS, Tool, given, tool_named
from warehouse.render.diagnostics import query_error
from warehouse.version import __version__

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
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tool_named(params.name)
        if tool is None:
            names = ", ".join(tool.name for tool in TOOLS)
            return _result(Reply((f"error: there is no tool '{params.name}'\n  there are {names}",), wrong=True))
        try:
            arguments = given(tool, params.arguments or {})
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


def _described(tool: Tool) -> types.Tool:
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
