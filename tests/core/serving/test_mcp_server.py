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

import pytest

from core.engine import Engine
from core.io.home import ROOT
from core.models.base import NoModels
from core.models.chat.openai import OpenAIChat
from core.runtime.server_process import free_port

pytest.importorskip("mcp", reason="mcp is not installed")
from mcp import Client, MCPError, StdioServerParameters

from core.serving.mcp_server import make_server
from tests.core.models.chat_server import serving, stream

NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
ASKED = {"question": "who directed Inception", "method": NEAR, "items": 1}
TOOLS = {
    "compare",
    "retrieve",
    "explain_loss",
    "evaluate",
    "list_methods",
    "list_sources",
    "build_graph",
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


def test_nan_becomes_null(monkeypatch):
    from core.serving import calls

    odd = {"items": [{"score": float("nan")}], "cost": float("inf")}
    monkeypatch.setattr(calls, "retrieve", lambda *_: odd)

    async def asked(client):
        return await client.call_tool("retrieve", ASKED)

    found = told(make_server(Engine(NoModels())), asked)
    assert found.structured_content == {"items": [{"score": None}], "cost": None}
    assert "NaN" not in found.content[0].text and "Infinity" not in found.content[0].text
