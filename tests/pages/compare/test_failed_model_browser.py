"""A model server that fails and recovers, in a real browser."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.core.models.chat.test_thoughts import sent, texts
from tests.core.models.chat_server import serving, stream
from tests.server import open_page, server

pytestmark = pytest.mark.usefixtures("browser")
LINE = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()"
ANSWER = "Christopher Nolan did."
GATEWAY_PAGE = (
    b"<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"
)


class FlakyServer:
    """Replies of a chat server that can be told to fail."""

    def __init__(self):
        self.failure = ""  # "gateway", "closed", "half", or "" for a good reply

    def __call__(self, handler, body):
        if self.failure == "gateway":
            handler.send_response(502)
            handler.send_header("Content-Type", "text/html")
            handler.send_header("Content-Length", str(len(GATEWAY_PAGE)))
            handler.end_headers()
            handler.wfile.write(GATEWAY_PAGE)
        elif self.failure == "closed":
            handler.close_connection = True
        elif self.failure == "half":
            stream(
                handler, sent(*texts("Christopher No"), finish=None).partition("data: [DONE]")[0]
            )
        else:
            stream(handler, sent(*texts(ANSWER), finish="stop"))


@pytest.fixture(scope="module")
def flaky(movies, tmp_path_factory):
    """An app whose language model is a flaky server: its address, the server, the requests."""
    home = tmp_path_factory.mktemp("flaky")
    (home / "graphs").symlink_to(Path(os.environ["HOPSCOPE_HOME"]) / "graphs")
    replies = FlakyServer()
    with serving(replies) as (url, requests):
        row = (
            f'kind = "chat"\nbackend = "openai"\ntitle = "Flaky"\nurl = "{url}"\nmodel = "flaky"\n'
        )
        (home / "models.toml").write_text(
            f'[roles]\nanswer = "flaky"\n\n[model.flaky]\n{row}', "utf-8"
        )
        with server(HOPSCOPE_HOME=str(home)) as (address, _):
            yield address, replies, requests


def comparison_address(address: str, question: str) -> str:
    return f"{address}/?{urlencode({'q': question, 'lane': LINE})}"


def expect_retrieval_is_kept(page) -> None:
    """The failed lane shows its graph, its paths, the reader's answer and a plain sentence."""
    lane = page.locator(".lane[data-status=failed]").first
    lane.wait_for(timeout=120_000)
    expect(lane.locator(".voice-reader")).to_contain_text("Nolan")
    expect(lane.locator(".paths .row").first).to_be_visible()
    expect(lane.locator(".graph")).to_be_visible()
    message = lane.locator(".failure")
    expect(message).to_be_visible()
    assert "<" not in message.inner_text() and len(message.inner_text()) < 400


def expect_answer(page) -> None:
    lane = page.locator(".lane[data-status=done]").first
    lane.wait_for(timeout=120_000)
    expect(lane.locator(".answer")).to_contain_text(ANSWER)


@pytest.mark.parametrize(
    "failure, question",
    [
        ("gateway", "who directed Inception"),
        ("closed", "who directed Memento"),
        ("half", "who directed The Prestige"),
    ],
)
def test_ask_reaches_a_server_that_recovered(flaky, failure, question):
    address, replies, requests = flaky
    replies.failure = failure
    with open_page(comparison_address(address, question)) as page:
        expect_retrieval_is_kept(page)
        before = len(requests)
        replies.failure = ""
        page.get_by_role("button", name="Ask", exact=True).click()
        expect_answer(page)
        assert len(requests) > before


@pytest.mark.parametrize(
    "way, question",
    [
        ("Enter", "who directed Interstellar"),
        ("reload", "who directed Insomnia"),
        ("new browser", "who directed Batman Begins"),
    ],
)
def test_every_way_of_asking_reaches_a_server_that_recovered(flaky, way, question):
    address, replies, _ = flaky
    replies.failure = "gateway"
    with open_page(comparison_address(address, question)) as page:
        expect_retrieval_is_kept(page)
        replies.failure = ""
        if way == "Enter":  # with the text as it is
            page.get_by_role("textbox", name="Question", exact=True).press("Enter")
            expect_answer(page)
            return
        if way == "reload":
            page.reload()
            expect_answer(page)
            return
        with open_page(page.url) as other:
            expect_answer(other)
