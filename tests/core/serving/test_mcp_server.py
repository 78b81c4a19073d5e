"""Tools for agents through the MCP client: in process, over standard input and output, and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from functools import wraps

import pytest

from core.engine import Engine
from core.io.home import ROOT
from core.models.base import NoModels
from core.models.chat.openai import OpenAIChat
from core.runtime.server_process import free_port

pytest.importorskip("mcp", reason="mcp is not installed")
from mcp import Client, MCPError, StdioServerParameters

from core.serving import calls
from core.serving.mcp_server import make_server
from core.serving.served_calls import SERVED_CALLS
from tests.core.models.chat_server import serving, stream

NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
ASKED = {"question": "who directed Inception", "method": NEAR, "items": 1}
TOOLS = {
    *(call.name for call in SERVED_CALLS),
    *("list_methods", "list_sources", "get_job", "cancel_job"),
}


def told(target, work):
    """The result of `work(client)` for a client of that server."""

    async def run():
        async with Client(target) as client:
            return await work(client)

    return asyncio.run(run())


async def retrieved(client):
    names = {tool.name for tool in (await client.list_tools()).tools}
    return names, (await client.call_tool("retrieve", ASKED)).structured_content


def test_tools_answer_with_readable_errors():
    made = make_server(Engine(NoModels()))
    names, found = told(made, retrieved)
    assert names == TOOLS and found["items"][0]["kind"] == "path"

    async def wrong(client):
        return await client.call_tool("compare", {"question": "who?", "methods": ["lego-1x"]})

    said = told(made, wrong)
    assert (
        said.is_error
        and "lego-1x" in said.content[0].text
        and "Traceback" not in said.content[0].text
    )


@pytest.mark.parametrize(
    "tool, given, field",
    [
        ("retrieve", {"question": "who", "graph": "a" * 2_000}, "graph"),
        ("retrieve", {**ASKED, "items": 10**9}, "items"),
        ("retrieve", {**ASKED, "items": -3}, "items"),
        ("compare", {"question": "who", "methods": ["a" * 3_000]}, "methods"),
        ("build_graph", {"corpus": "a" * 2_000}, "corpus"),
        ("compare", {"question": ["who"]}, "question"),
        ("compare", {"question": "who", "llm": True}, "llm"),
        ("retrieve", {}, "question"),
    ],
)
def test_refusal_has_its_reason(tool, given, field):
    made = make_server(Engine(NoModels()))

    async def asked(client):
        return await client.call_tool(tool, given)

    said = told(made, asked)
    text = said.content[0].text
    assert said.is_error and len(text) <= 400 and f"“{field}”" in text
    assert "pydantic" not in text and "\n" not in text


def test_missing_case_has_a_reason():
    async def reason(client):
        with pytest.raises(MCPError) as refused:
            await client.read_resource("hopscope://cases/1")
        return str(refused.value)

    assert "case" in told(make_server(Engine(NoModels())), reason)


def test_cases_are_resources():
    made = make_server(Engine(NoModels()))

    async def read(client):
        listed = json.loads((await client.read_resource("hopscope://cases")).contents[0].text)
        return listed, json.loads(
            (await client.read_resource(f"hopscope://cases/{listed[0]['id']}")).contents[0].text
        )

    listed, case = told(made, read)
    assert case["question"] == listed[0]["question"] and case["lanes"]


def test_comparison_runs_again_after_a_server_recovers(kit):
    healthy = threading.Event()

    def answer(handler, body):
        if healthy.is_set():
            choice = {"index": 0, "delta": {"content": "Christopher Nolan"}}
            stream(handler, f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n")
        else:
            handler.send_error(500)

    async def compared(client):
        async def lane():
            asked = {"question": ASKED["question"], "methods": [NEAR + " >> Answer()"]}
            told = await client.call_tool("compare", {**asked, "language_model": True})
            return told.structured_content["lanes"][0]

        failed = await lane()
        asked = len(bodies)
        still_failed = await lane()
        asked_again = len(bodies) > asked
        healthy.set()
        return failed, still_failed, asked_again, await lane(), len(bodies), await lane()

    with serving(answer) as (url, bodies):
        models = kit.Written(chat=OpenAIChat(url, "m", "m", timeout=60))
        failed, still_failed, asked_again, healed, asked, kept = told(
            make_server(Engine(models)), compared
        )
        assert len(bodies) == asked  # Finished lanes are not computed again.
    assert "500" in failed["error"]
    assert "500" in still_failed["error"]
    assert asked_again
    assert (healed["error"], healed["answer"]) == (None, "Christopher Nolan")
    assert kept["answer"] == healed["answer"]


def test_server_runs_over_standard_input_and_output():
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "core", "mcp"], cwd=str(ROOT), env=dict(os.environ)
    )
    names, found = told(command, retrieved)
    assert names == TOOLS and found["items"]


def test_server_runs_over_http():
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "mcp", "--http", str(port)],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/mcp", timeout=1)
            # The server answers: a plain request is no request of the protocol.
            except urllib.error.HTTPError:
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.1)
        names, found = told(f"http://127.0.0.1:{port}/mcp", retrieved)
        assert names == TOOLS and found["items"]
    finally:
        process.terminate()
        process.wait(20)


def test_tools_have_the_fields_of_the_requests_over_http():
    pytest.importorskip("fastapi", reason="fastapi is not installed")
    from core.serving.http_api import make_api

    async def listed(client):
        return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    engine = Engine(NoModels())
    tools = told(make_server(engine), listed)
    api = make_api(engine, "the key").openapi()
    for call in SERVED_CALLS:
        content = api["paths"][f"/{call.name}"]["post"]["requestBody"]["content"]
        name = content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
        body, tool = api["components"]["schemas"][name], tools[call.name]
        assert tool["properties"] == body["properties"]
        assert tool.get("required") == body.get("required")
        assert all(field["description"] for field in tool["properties"].values())


def test_earlier_name_of_a_tool_still_works():
    asked = {"question": ASKED["question"], "methods": [NEAR], "answers": ["Christopher Nolan"]}

    async def lost(client):
        return [
            (await client.call_tool(name, asked)).structured_content
            for name in ("why_lost", "explain_loss")
        ]

    now, before = told(make_server(Engine(NoModels())), lost)
    assert now == before and now["lanes"][0]["funnel"]["paths"] == ["Christopher Nolan"]


EVALUATED = {"questions": "metaqa-1hop-dev", "methods": [NEAR]}


def test_long_call_tells_its_progress():
    progress = []

    async def told_progress(fraction, total, message):
        progress.append((fraction, total, message))

    async def evaluated(client):
        asked = {**EVALUATED, "sample": 30, "seed": 11}
        return await client.call_tool("evaluate", asked, progress_callback=told_progress)

    found = told(make_server(Engine(NoModels())), evaluated)
    assert found.structured_content["rows"][0]["questions"] == 30
    fractions = [fraction for fraction, _, _ in progress]
    assert fractions and fractions == sorted(set(fractions)) and fractions[-1] <= 1
    assert all(total == 1 and message for _, total, message in progress)


def test_call_that_the_client_cancels_is_stopped():
    engine = Engine(NoModels())

    async def cancelled(client):
        begun = asyncio.Event()

        async def begin(*_):
            begun.set()

        asked = {**EVALUATED, "sample": 1_000, "seed": 12}
        calling = asyncio.create_task(client.call_tool("evaluate", asked, progress_callback=begin))
        await begun.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        (job,) = engine.evaluations.with_key_prefix("evaluation-")
        return await asyncio.to_thread(job.wait, 60), job.status

    assert told(make_server(engine), cancelled) == (True, "cancelled")


def test_long_call_is_a_job_over_the_protocol_too():
    async def job_states(client):
        async def state(tool, asked):
            return (await client.call_tool(tool, asked)).structured_content

        started = await state("evaluate", {**EVALUATED, "sample": 2, "wait": False})
        job = {"job": started["job"]}
        while (now := await state("get_job", job))["status"] in ("waiting", "running"):
            await asyncio.sleep(0.05)
        refused = await client.call_tool("cancel_job", {"job": "other"})
        return now, await state("cancel_job", job), refused

    now, after, refused = told(make_server(Engine(NoModels())), job_states)
    assert now["status"] == after["status"] == "done" and now["result"]["rows"]
    assert refused.is_error and "“job”" in refused.content[0].text


def test_nan_becomes_null(monkeypatch):
    odd = {"items": [{"score": float("nan")}], "cost": float("inf")}
    real = calls.retrieve
    monkeypatch.setattr(calls, "retrieve", wraps(real)(lambda *_, **__: odd))

    async def asked(client):
        return await client.call_tool("retrieve", ASKED)

    found = told(make_server(Engine(NoModels())), asked)
    assert found.structured_content == {"items": [{"score": None}], "cost": None}
    assert "NaN" not in found.content[0].text and "Infinity" not in found.content[0].text
