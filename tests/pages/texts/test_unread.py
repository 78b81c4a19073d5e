"""Builds meet replies of the language model that could not be read.

A real server answers with empty content.
"""

from __future__ import annotations

import json

import pytest

from pages.parts.shared.session import engine
from tests.core.models.chat_server import serving, stream
from tests.pages.texts.texts_kit import button, labels, opened, texts, until

READ = json.dumps(
    {"entities": [{"name": "Turku", "type": "place", "description": "A town."}], "relations": []}
)


@pytest.fixture()
def registry():
    """The models go back to what they were, after the person's folder did."""
    yield
    engine().models.reload()


@pytest.fixture()
def server(registry, small):
    """Let a server answer what holds one of `words`, and be empty for all else.

    The server is the model that reads texts.
    """
    words: list[str] = []

    def answer(handler, body):
        content = READ if any(word in body["messages"][-1]["content"] for word in words) else ""
        said = {"choices": [{"delta": {"content": content}, "finish_reason": "stop"}]}
        stream(handler, f"data: {json.dumps(said)}\n\ndata: [DONE]\n\n")

    with serving(answer) as (url, _):
        engine().models.add("loop", "chat", "openai", url=url, model="m", title="Loop")
        engine().models.set_role("answer", "loop", save=True)
        yield words


def built_by_model():
    """The page after the button was pressed and the build has ended."""
    at = opened(**{"texts_graph-small": "tkg-llm"})
    until(at, lambda: "Build a graph" in labels(at))
    button(at, "Build a graph").click().run()
    # While the documents are opened the page has no texts and no buttons.
    return until(
        at, lambda: at.error or texts(at) and not {"Cancel", "Build a graph"} & set(labels(at))
    )


def test_a_build_without_a_readable_reply_is_none_and_can_be_built_again(server):
    at = built_by_model()
    until(at, lambda: "Build a graph" in labels(at))
    assert "None of the 2 chunks gave a reply that could be read" in texts(at)
    assert "not built" in texts(at) and "Nothing was found" not in texts(at)


def test_a_build_with_gaps_says_how_many_and_asks_again_for_these_alone(server):
    server.append("sails to Turku")
    at = built_by_model()
    assert "built, incomplete" in texts(
        at
    ) and "1 reply of the language model could not be read" in texts(at)
    server.append("lives in Turku")
    button(at, "Build again").click().run()
    until(at, lambda: texts(at) and not {"Cancel", "Build again"} & set(labels(at)))
    assert "could not be read" not in texts(at) and "built, incomplete" not in texts(at)
