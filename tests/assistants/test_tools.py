"""What an assistant can call, and what it gets back: JSON, or an error that explains how to correct the call."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp import Client

from evalhouse.warehouse.assistants.answers import Answers, CallLimits
from evalhouse.warehouse.assistants.tools import TOOLS
from evalhouse.warehouse.session.session import Session
from tests.assistants.conftest import Assistant

COMPARE = "compare F for GE, UMASS on TST3"
LONG = "compare F for all on TST3, TST4 shuffles 9999999"


def test_every_tool_says_that_it_only_reads_and_what_it_takes(assistant: Assistant) -> None:
    jsonschema = pytest.importorskip("jsonschema")

    async def listed(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = assistant.converse(listed)
    assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.description
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert not tool.input_schema["additionalProperties"]


@pytest.mark.parametrize("what", ["test sets", "systems", "measures", "imports"])
def test_show_is_the_json_of_the_statement(assistant: Assistant, session: Session, what: str) -> None:
    (called,) = assistant.calls(("show", {"what": what}))
    shown = session.run(f"show {what}").as_dict()
    assert called.answer | {"notes": []} == json.loads(json.dumps(shown | {"rows": shown["rows"][:100]}))


def test_show_alone_lists_the_test_sets(assistant: Assistant) -> None:
    (called,) = assistant.calls(("show", {}))
    assert [row["test_set"] for row in called.answer["rows"]] == ["TST2", "TST3", "TST4"]


def test_a_question_is_answered_as_on_the_command_line(assistant: Assistant, session: Session) -> None:
    answer = assistant.asks(COMPARE).answer
    alone = session.run(COMPARE).as_dict()
    assert {name: answer[name] for name in alone} | {"notes": []} == json.loads(json.dumps(alone))


def test_documents_are_those_of_the_statement(assistant: Assistant, session: Session) -> None:
    pair = {"measure": "F", "system_a": "GE", "system_b": "UMASS", "test_set": "TST3"}
    most, of_umass, wrong = assistant.calls(
        ("documents", pair),
        ("documents", pair | {"only": "UMASS", "where": 'document like "SIM3-03%"'}),
        ("documents", pair | {"system_b": "no such system"}),
    )
    assert most.answer["rows"] == session.run("documents F for GE, UMASS on TST3 limit 20").rows
    assert [row["document"] for row in of_umass.answer["rows"]][:2] == ["SIM3-034", "SIM3-037"]
    assert "unknown system 'no such system'" in wrong.error


def test_explain_runs_nothing(assistant: Assistant) -> None:
    by_tool, by_word = assistant.calls(
        ("explain", {"statement": COMPARE}), ("explain", {"statement": f"Explain {COMPARE}"})
    )
    assert by_tool.answer == by_word.answer
    assert "sql" in {row["stage"] for row in by_tool.answer["rows"]}
    assert "conversation" not in by_tool.answer


def test_explain_runs_nothing_of_several_statements_either(assistant: Assistant, session: Session) -> None:
    several, with_name, refused = assistant.calls(
        ("explain", {"statement": f"score F for GE on TST3; {COMPARE} -- ; \n; explain {COMPARE}"}),
        ("explain", {"statement": "let $two = GE, UMASS; compare F for $two on TST3"}),
        ("explain", {"statement": f"{COMPARE}; plot {COMPARE}"}),
    )
    assert [json.loads(text)["statement"] for text in several.texts] == [
        "explain score F for GE on TST3",
        *([f"explain {COMPARE}"] * 2),
    ]
    assert with_name.answer["statement"] == f"explain {COMPARE}"
    assert refused.error == (
        f"error: only questions are explained, and plot is not one\n  {COMPARE}; plot {COMPARE}\n"
        f"  {' ' * len(COMPARE)}  {'^' * len(f'plot {COMPARE}')}"
    )
    assert assistant.answers.tally.as_dict()["questions"] == 0


@pytest.mark.parametrize(
    ("argument", "text", "said"),
    [
        ("measure", "F for all on TST3; forget import 1; score F", "measure says more than measures"),
        ("measure", "F for all", "measure says more than measures"),
        ("measure", "F; score F for GE on TST3", "measure says more than measures"),
        ("measure", "F where", "measure: "),
        ("where", 'document like "%" limit 100000 --', "where says more than a condition"),
        ("where", 'document like "%" missing zero', "where says more than a condition"),
        ("where", 'document like "%"; forget import 1', "where says more than a condition"),
        ("where", "document like", "where: "),
        ("system_b", "UMASS on TST3; forget import 1", "unknown system 'UMASS on TST3; forget import 1'"),
        ("only", 'UMASS" limit 100000 --', 'UMASS" limit 100000 -- is not one of the systems compared'),
    ],
)
def test_an_argument_is_what_it_is_called_and_no_more(
    assistant: Assistant, argument: str, text: str, said: str
) -> None:
    pair = {"measure": "F", "system_a": "GE", "system_b": "UMASS", "test_set": "TST3"}
    (called,) = assistant.calls(("documents", pair | {argument: text}))
    assert called.error.startswith(f"error: {said}")
    assert len(called.texts) == 1


def test_help_has_every_question_and_every_word(assistant: Assistant) -> None:
    everything, word, unknown = assistant.calls(
        ("help", {}), ("help", {"word": "compare"}), ("help", {"word": "compair"})
    )
    (text,) = everything.texts
    assert "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999" in text
    assert not any(f"\n  {word} " in text for word in ("load", "export", "define", "plot", "sql"))
    assert word.texts[0].startswith("compare MEASURE, … [CLAUSE …]")
    assert unknown.error == "error: there is no help on compair; did you mean compare?"


def test_several_statements_have_an_answer_each(assistant: Assistant) -> None:
    called = assistant.asks("let $two = GE, UMASS; score F for $two on TST3; score recall for $two on TST3")
    assert [json.loads(text)["statement"] for text in called.texts] == [
        "score F for GE, UMASS on TST3",
        "score recall for GE, UMASS on TST3",
    ]
    # What one call lets is not there in the next.
    assert "$two" in assistant.asks("score F for $two on TST3").error


def test_an_error_shows_the_place_and_what_would_be_right(assistant: Assistant) -> None:
    first, wrong = assistant.calls(
        ("query", {"statement": "score F for GE on TST3"}),
        ("query", {"statement": "score F for GE on TST3; score F for UMAS on TST3"}),
    )
    assert not first.wrong
    assert json.loads(wrong.texts[0]) == first.answer
    assert wrong.error == (
        "error: unknown system 'UMAS' on TST3\n"
        "  score F for GE on TST3; score F for UMAS on TST3\n"
        "                                      ^^^^\n"
        "  did you mean UMASS?"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("query", {}, "error: query needs statement: one question"),
        ("query", {"statement": " "}, "error: query needs statement: one question"),
        ("query", {"statement": 3}, "error: statement is a text\n  query takes statement"),
        ("query", {"sql": "select 1"}, "error: query has no argument 'sql'\n  query takes statement"),
        ("show", {"what": "variables"}, "error: what is not 'variables'\n  it is one of test sets, systems"),
        ("load", {}, "error: there is no tool 'load'\n  there are show, help, query, documents, explain"),
        ("query", {"statement": "let $a = GE"}, "error: there is nothing to answer"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(
    assistant: Assistant, name: str, arguments: dict[str, Any], said: str
) -> None:
    (called,) = assistant.calls((name, arguments))
    assert called.error.startswith(said)


@pytest.mark.parametrize(
    "statement",
    [
        'load "scores.csv" as scores',
        "forget import 1",
        "define measure mine = correct / possible",
        'export score F for all on TST3 to "f.csv"',
        'plot score F for all on TST3 to "f.svg"',
        'sql "select 1"',
    ],
)
def test_what_is_not_a_question_is_refused(assistant: Assistant, session: Session, statement: str) -> None:
    assert "here" in assistant.asks(f"score F for GE on TST3; {statement}").error
    assert "mine" not in session.catalog.definitions


def test_sql_is_answered_where_it_is_allowed_and_still_opens_no_file(session: Session) -> None:
    assistant = Assistant(Answers(session, CallLimits(sql=True)))
    assert assistant.asks('sql "select count(*) as n from scores"').answer["columns"] == ["n"]
    assert "sql" in assistant.calls(("help", {}))[0].texts[0]
    for inside in ("select * from read_text('/etc/hostname')", "copy (select 1) to 'out.csv'", "drop table score"):
        assert assistant.asks(f'sql "{inside}"').error.startswith("error: ")


def test_an_answer_is_bounded_in_rows_and_says_how_many_more_there_are(session: Session) -> None:
    assistant = Assistant(Answers(session, CallLimits(rows=2)))
    answer = assistant.asks("group F for all on TST3").answer
    assert [row["system"] for row in answer["rows"]] == ["GE", "GE-CMU"]
    assert len(answer["summary"]) == 2
    assert answer["notes"][0] == (
        "15 more rows left out: ask about fewer systems, measures or documents "
        "(evalhouse mcp --limit 17 would show all)"
    )
    assert "more rows of the summary left out" in answer["notes"][1]
    assert answer["conversation"]["p_values"] == 17 * 16 / 2


def test_long_texts_share_the_room_that_there_is(session: Session) -> None:
    assistant = Assistant(Answers(session, CallLimits(sql=True)))
    some = "select repeat('a', 100) as short, repeat('b', 5000) as middle, repeat('c', 1000000) as long from range(2)"
    answer = assistant.asks(f'sql "{some}"').answer
    assert [len(cell) for cell in answer["rows"][0].values()] == [100, 5000, 15_001]
    assert answer["rows"][0]["long"].endswith("c…")
    assert answer["notes"][-1].startswith("texts are cut after 15,000 characters")
    whole = assistant.asks("sql \"select repeat('c', 30000) as long\"").answer
    assert (len(whole["rows"][0]["long"]), whole["notes"]) == (30_000, [])


@pytest.mark.long
@pytest.mark.parametrize(
    "some",
    [
        "repeat('x', 200000)",
        "repeat(chr(7), 200000)",
        "repeat('é', 200000) as a, repeat('x', 150) as b, repeat('y', 150)",
        f"{', '.join(f'{number} as column_{number}' for number in range(100))}",
    ],
)
def test_no_answer_is_larger_than_its_bound(session: Session, some: str) -> None:
    assistant = Assistant(Answers(session, CallLimits(sql=True, rows=1000, characters=20_000)))
    called = assistant.asks(f'sql "select {some}, range as place from range(900)"')
    assert 10_000 < len(called.texts[0]) <= 20_000
    places = [row["place"] for row in called.answer["rows"]]
    assert places == list(range(len(places)))
    note = f"{900 - len(places):,} more rows left out, as an answer has at most 20,000 characters: "
    assert called.answer["notes"][0].startswith(note)


def test_the_summary_shares_the_room(session: Session) -> None:
    assistant = Assistant(Answers(session, CallLimits(characters=5_000)))
    called = assistant.asks("group F for all on TST3")
    assert len(called.texts[0]) <= 5_000
    assert [row["system"] for row in called.answer["rows"]][:2] == ["GE", "GE-CMU"]
    assert called.answer["summary"][0]["systems"] == "GE, UMASS"
    assert "left out, as an answer has" in called.answer["notes"][0]


def test_many_answers_of_one_call_end_where_they_are_too_large(session: Session) -> None:
    assistant = Assistant(Answers(session, CallLimits(characters=5_000)))
    called = assistant.asks("; ".join(["score F for all on TST3"] * 50))
    shown = "; ".join(["score F for all on TST3"] * 4).removesuffix(" TST3")
    assert called.error == (
        "error: the answers of a call have at most 5,000 characters together\n"
        f"  {shown}…\n  ^\n  ask the others in a separate call"
    )
    assert sum(map(len, called.texts)) < 10_500


def test_an_answer_that_is_too_large_without_rows_is_refused(session: Session) -> None:
    assistant = Assistant(Answers(session, CallLimits(sql=True, characters=5_000)))
    error = assistant.asks(f"sql \"select '{'x' * 6000}'\"").error
    assert error.startswith("error: this answer has more than 5,000 characters without its rows")


def test_what_takes_too_long_is_stopped(session: Session) -> None:
    assistant = Assistant(Answers(session, CallLimits(seconds=0.2)))
    [late] = assistant.calls(("query", {"statement": LONG}))
    assert late.error.startswith("error: this took more than 0.2 s, and was stopped\n")
    assistant.answers.limits = CallLimits(seconds=60)
    [soon] = assistant.calls(("query", {"statement": "score F for GE on TST3"}))
    assert soon.answer["rows"]


@pytest.mark.long
def test_what_is_cancelled_is_stopped(assistant: Assistant) -> None:
    """The next question could not be answered while the one before it runs."""

    async def impatient(client: Client) -> bool:
        with anyio.move_on_after(0.3) as scope:
            await client.call_tool("query", {"statement": LONG})
        with anyio.fail_after(60):
            answered = await client.call_tool("query", {"statement": "score F for GE on TST3"})
        return scope.cancelled_caught and not answered.is_error

    assert assistant.converse(impatient)


@pytest.mark.long
def test_who_waits_hears_how_far_it_is(assistant: Assistant) -> None:
    shares: list[float] = []

    async def patient(client: Client) -> None:
        with anyio.move_on_after(60) as scope:

            async def heard(progress: float, total: float | None, message: str | None) -> None:
                shares.append(progress)
                if len(shares) == 3:
                    scope.cancel()

            await client.call_tool("query", {"statement": LONG}, progress_callback=heard)

    assistant.answers.limits = CallLimits(seconds=60)
    assistant.converse(patient)
    assert shares
    assert shares == sorted(shares)
    assert all(0 < share <= 1 for share in shares)
