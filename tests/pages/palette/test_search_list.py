"""The list of the command palette has everything, for visitors who may see it."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from core.cases import cases
from core.methods.catalogue import catalogue
from core.sources import CorpusSource, GraphSource, available_sources
from pages.parts.palette import search_list
from pages.parts.palette.search_list import LIST_FILE, list_address, list_entries, serve_list

METAQA = GraphSource("metaqa")


@pytest.fixture(scope="module")
def client():
    return TestClient(Starlette(routes=[Route(f"/{{base:path}}{LIST_FILE}", serve_list)]))


def test_each_method_graph_corpus_and_case_is_there():
    entries = list_entries(METAQA)["entries"]
    ids = {(entry["kind"], entry["id"]) for entry in entries}
    assert {("method", id) for id in catalogue()} <= ids
    assert {(source.kind, source.name) for source in available_sources()} <= ids
    assert {("case", case.id) for case in cases()} <= ids
    assert len(ids) == len(entries)


def test_methods_that_do_not_run_on_the_source_are_not_added_to_a_comparison():
    def added(source):
        return {entry["id"] for entry in list_entries(source)["entries"] if entry.get("adds")}

    assert "lego-12" in added(METAQA) and "lego-12" not in added(CorpusSource("cacm"))
    assert "bm25-passages" in added(CorpusSource("cacm"))


def test_the_address_gives_the_list_also_below_a_base_path(client):
    for base in ("/", "/tools/hop/"):
        reply = client.get(base + list_address(METAQA))
        assert reply.status_code == 200 and reply.json()["sets"] == dict(METAQA.sets)


def test_a_visitor_without_the_key_gets_nothing(client):
    query = dict(parse_qsl(urlsplit(list_address(METAQA)).query))
    for wrong in ("", "x", "ключ"):
        assert client.get(f"/{LIST_FILE}", params={**query, "key": wrong}).status_code == 404
    assert client.get(f"/{LIST_FILE}", params={"key": query["key"]}).status_code == 404


def test_questions_come_set_by_set_up_to_a_number(client, monkeypatch):
    monkeypatch.setattr(search_list, "MAX_SET_QUESTIONS", 3)
    reply = client.get(f"/{list_address(METAQA)}&set=metaqa-1hop-dev").json()
    questions = METAQA.questions("metaqa-1hop-dev")
    assert reply["questions"] == [question.text for question in questions[:3]]
    assert reply["total"] == len(questions)


def test_an_unknown_set_is_an_error_in_words(client):
    reply = client.get(f"/{list_address(METAQA)}&set=nothing")
    assert reply.status_code == 500 and "nothing" in reply.text
    assert not reply.text.startswith("{"), json.dumps(reply.text)
