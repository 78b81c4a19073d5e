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


def lane_of(page, question: str, status: str):
    """The lane of a question once it has come to that status."""
    lane = page.locator(f'[data-question="{question}"] .lane[data-status={status}]').first
    lane.wait_for(timeout=120_000)
    return lane


def expect_retrieval_is_kept(page, question: str) -> None:
    """The failed lane shows its graph, its paths, the reader's answer and a plain sentence."""
    lane = lane_of(page, question, "failed")
    expect(lane.locator(".voice-reader")).to_contain_text("Nolan")
    expect(lane.locator(".paths .row").first).to_be_visible()
    expect(lane.locator(".graph")).to_be_visible()
    message = lane.locator(".failure")
    expect(message).to_be_visible()
    assert "<" not in message.inner_text() and len(message.inner_text()) < 400


def expect_answer(page, question: str) -> None:
    expect(lane_of(page, question, "done").locator(".answer")).to_contain_text(ANSWER)


def test_every_way_of_asking_reaches_a_server_that_recovered(flaky):
    """Each question is asked of a server that fails in one way, and again in one way.

    The ways are Ask, Enter with the text as it is, loading the page again, and a new browser.
    """
    address, replies, requests = flaky
    failures = {
        "who directed Inception": "gateway",
        "who directed Memento": "closed",
        "who directed The Prestige": "half",
    }
    with open_page(f"{address}/?{urlencode({'lane': LINE})}") as page:
        bar = page.get_by_role("textbox", name="Question", exact=True)
        ask = page.get_by_role("button", name="Ask", exact=True)
        ask.wait_for(timeout=120_000)
        again = {
            "who directed Interstellar": lambda: bar.press("Enter"),
            "who directed Insomnia": page.reload,
        }
        for question in (*failures, *again):
            replies.failure = failures.get(question, "gateway")
            bar.fill(question)
            ask.click()
            expect_retrieval_is_kept(page, question)
            before = len(requests)
            replies.failure = ""
            again.get(question, ask.click)()
            expect_answer(page, question)
            assert len(requests) > before
        replies.failure = "gateway"
        bar.fill("who directed Batman Begins")
        ask.click()
        expect_retrieval_is_kept(page, "who directed Batman Begins")
        replies.failure = ""
        with open_page(page.url) as other:
            expect_answer(other, "who directed Batman Begins")
