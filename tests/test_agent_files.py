"""AGENTS.md, llms.txt and the skill: links lead somewhere, and the examples run or are parsed by the program itself."""

from __future__ import annotations

import asyncio
import json
import re
import shlex

import pytest

import hopscope
from core.cli import EXIT_OK, OLD_NAMES, main, parser
from core.engine import Engine
from core.io.home import ROOT
from core.models.base import NoModels

pytest.importorskip("pydantic", reason="pydantic is not installed")
from core.serving.served_calls import SERVED_CALLS

SKILL = ROOT / "skills" / "hopscope" / "SKILL.md"
SKILL_TEXT = SKILL.read_text("utf-8")
PAGES = (ROOT / "AGENTS.md", ROOT / "llms.txt", SKILL)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHEAP = ("bring", "methods", "ask")  # commands that run here, on the small graph


def blocks(language: str, text: str = SKILL_TEXT) -> list[str]:
    """The fenced blocks of a language."""
    return [body for name, body in FENCE.findall(text) if name == language]


def command_lines(program: str) -> list[list[str]]:
    """The words of each line of the skill that begins with a program."""
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith(f"{program} ")]


def is_cheap(words: list[str]) -> bool:
    return words[1] in CHEAP and "--corpus" not in words


@pytest.fixture
def films_graph(tmp_path, monkeypatch, capsys):
    """The graph of the skill, in a home of its own."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (table,) = blocks("tsv")
    (tmp_path / "films.tsv").write_text(table, "utf-8")
    (bring,) = [words for words in command_lines("hopscope") if words[1] == "bring"]
    assert main(bring[1:]) == EXIT_OK
    capsys.readouterr()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text("utf-8"))
    assert targets and all((page.parent / target).exists() for target in targets)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page):
    for path in re.findall(r"`((?:core|docs|hopscope|pages|tests)/[\w/.-]*)`", page.read_text()):
        assert (ROOT / path).exists(), path


def test_agents_page_is_one_page():
    assert len((ROOT / "AGENTS.md").read_text("utf-8").splitlines()) <= 60


def test_commands_of_the_agents_page_exist():
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = re.findall(r"^make (\w+)", "".join(blocks("bash", PAGES[0].read_text("utf-8"))), re.M)
    assert named and set(named) <= targets


def test_llms_txt_follows_the_proposal():
    """A title, a quoted summary, then sections that hold nothing but lists of links."""
    head, *sections = re.split(r"^## ", (ROOT / "llms.txt").read_text("utf-8"), flags=re.M)
    assert re.match(r"# Hopscope\n\n> \S", head) and sections[-1].startswith("Optional\n")
    for section in sections:
        title, *lines = section.strip().splitlines()
        assert title and all(
            re.match(r"- \[[^]]+\]\([^)]+\): \S", line) for line in filter(None, lines)
        )


def test_skill_has_the_front_matter_of_a_skill():
    (front,) = re.findall(r"\A---\n(.*?)\n---\n", SKILL_TEXT, re.DOTALL)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert set(fields) == {"name", "description"} and fields["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9-]{1,64}", fields["name"])
    assert 0 < len(fields["description"]) <= 1024 and ": " not in fields["description"]


@pytest.mark.parametrize("words", command_lines("hopscope"), ids=" ".join)
def test_commands_of_the_skill_are_parsed(words):
    name = OLD_NAMES.get(words[1], words[1])
    assert callable(parser([name]).parse_args(words[1:]).run)


@pytest.mark.parametrize(
    "words",
    [words for words in command_lines("hopscope") if words[1] == "ask" and is_cheap(words)],
    ids=" ".join,
)
def test_questions_of_the_skill_are_answered(films_graph, words, capsys):
    assert main(words[1:]) == EXIT_OK
    found = json.loads(capsys.readouterr().out)
    (lane,) = found["lanes"]
    if "--without" in words:
        assert found["without"]["lanes"][0]["lost"] == ["Christopher Nolan"]
    else:
        assert "Christopher Nolan" in lane["reader_answers"]
    if "--answer" in words:
        assert lane["funnel"]["answer"] == ["Christopher Nolan"]


def test_tools_of_the_skill_are_called(films_graph):
    """Examples on the small graph run; the others have only fields that the tool has."""
    pytest.importorskip("mcp", reason="mcp is not installed")
    from mcp import Client

    from core.serving.mcp_server import make_server

    served = {call.name: call for call in SERVED_CALLS}
    examples = [example for example in map(json.loads, blocks("json")) if "tool" in example]
    assert {example["tool"] for example in examples} >= {
        "compare",
        "why_lost",
        "evaluate",
        "advise",
    }

    async def run(example):
        async with Client(make_server(Engine(NoModels()))) as client:
            return await client.call_tool(example["tool"], example["arguments"])

    for example in examples:
        assert set(example["arguments"]) <= set(served[example["tool"]].fields)
        if example["arguments"].get("graph") == "films":
            reply = asyncio.run(run(example))
            assert not reply.is_error and reply.structured_content["verdict"]


def test_agent_configuration_starts_a_command():
    (servers,) = [
        example["mcpServers"]
        for example in map(json.loads, blocks("json"))
        if "tool" not in example
    ]
    command = servers["hopscope"]
    assert command["command"] == "hopscope"
    assert callable(parser(command["args"]).parse_args(command["args"]).run)


def test_requests_of_the_skill_have_the_fields_of_the_calls():
    served = {call.name: call for call in SERVED_CALLS}
    for words in command_lines("curl"):
        call = served[words[-1].rsplit("/", 1)[1]]
        assert set(json.loads(words[words.index("-d") + 1])) <= set(call.fields)


def test_python_of_the_skill_runs(films_graph):
    (code,) = blocks("python")
    names: dict = {}
    exec(compile(code, "SKILL.md", "exec"), names)
    assert names["found"][0].answers == ["Christopher Nolan"] and names["hs"] is hopscope
