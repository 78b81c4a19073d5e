"""Questions that nobody waits for end, and Cancel is there at once.

The browser is real, and the model server never ends its answer.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.server import CHROMIUM, open_page, server

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)"
)
LINE = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()"
QUESTION = "which person directed the movie Inception"
OTHER = "when was Inferno released"


class Talker:
    """An OpenAI-compatible server that streams one word after another until its listener is gone.

    It goes on for 300 seconds, unless somebody ends it.
    """

    def __init__(self) -> None:
        self.listeners = 0
        self._lock = threading.Lock()

    def count(self, change: int) -> None:
        with self._lock:
            self.listeners += change

    def talk(self, stream) -> None:
        """Words, numbered so that none repeats, while somebody listens."""
        self.count(1)
        try:
            for number in range(3_000):
                chunk = {
                    "choices": [
                        {"index": 0, "delta": {"content": f"word{number} "}, "finish_reason": None}
                    ]
                }
                stream.write(f"data: {json.dumps(chunk)}\n\n".encode())
                stream.flush()
                time.sleep(0.1)
        except OSError:
            return
        finally:
            self.count(-1)

    def soon(self, listeners: int, seconds: float) -> bool:
        """Return whether this number of listeners is reached within the time."""
        end = time.monotonic() + seconds
        while self.listeners != listeners and time.monotonic() < end:
            time.sleep(0.05)
        return self.listeners == listeners


@contextmanager
def talking():
    talker = Talker()

    class WaitingHandler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            talker.talk(self.wfile)

        def log_message(self, *_):
            pass

    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WaitingHandler)
    served.daemon_threads = True
    threading.Thread(target=served.serve_forever, daemon=True).start()
    try:
        yield talker, f"http://127.0.0.1:{served.server_address[1]}/v1"
    finally:
        served.shutdown()


@pytest.fixture(scope="module")
def talking_app(movies, browser, tmp_path_factory):
    """(address of the app, the server whose model answers)."""
    home = tmp_path_factory.mktemp("talking")
    with talking() as (talker, url):
        row = f'kind = "chat"\nbackend = "openai"\ntitle = "Talker"\nurl = "{url}"\nmodel = "talker"\n'
        (home / "models.toml").write_text(
            f'[roles]\nanswer = "talker"\n\n[model.talker]\n{row}', "utf-8"
        )
        (home / "graphs").symlink_to(Path(os.environ["HOPSCOPE_HOME"]) / "graphs")
        with server(HOPSCOPE_HOME=str(home)) as (address, _):
            yield address, talker


@pytest.fixture
def asked(talking_app):
    """A page on which the question is being answered, for ever; nobody else asks."""
    address, talker = talking_app
    assert talker.soon(0, 60)
    with open_page(f"{address}/?q={quote_plus(QUESTION)}&lane={quote_plus(LINE)}") as page:
        answering(page, talker)
        yield page, talker


def answering(page, talker: Talker) -> None:
    """Wait until the question is being answered."""
    page.get_by_text(re.compile("word3")).first.wait_for(timeout=120_000)
    assert talker.listeners == 1


def test_cancel_is_there_from_the_first_moment_and_later_and_stops_the_answer(talking_app):
    address, talker = talking_app
    cancelled = '.lane[data-status="cancelled"]'
    with open_page(f"{address}/?lane={quote_plus(LINE)}") as page:
        page.get_by_role("textbox", name="Question").fill(QUESTION, timeout=60_000)
        ask = page.get_by_role("button", name="Ask", exact=True)
        cancel = page.get_by_role("button", name="Cancel", exact=True)
        ask.click()
        cancel.click(timeout=60_000)
        assert talker.soon(0, 60)
        page.locator(cancelled).first.wait_for(timeout=60_000)
        ask.click()
        answering(page, talker)
        cancel.click()
        assert talker.soon(0, 60)
        page.locator(cancelled).first.wait_for(timeout=60_000)


def test_a_left_page_and_a_new_question_end_the_one_before(asked):
    page, talker = asked
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Models").click()
    page.get_by_text("all-MiniLM-L6-v2").first.wait_for(timeout=30_000)
    assert talker.soon(0, 60)
    page.go_back()
    answering(page, talker)
    page.get_by_role("button", name="Options").click()
    page.get_by_test_id("stCheckbox").filter(has_text="Answer with a language model").click()  # off
    page.get_by_role("textbox", name="Question").fill(OTHER)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(f"[data-question={json.dumps(OTHER)}] .lane[data-status=done]").first.wait_for(
        timeout=30_000
    )
    assert talker.soon(0, 60)


def test_a_question_that_another_looks_at_goes_on(asked, talking_app):
    page, talker = asked
    with open_page(page.url) as other:
        other.get_by_text(re.compile("word3")).first.wait_for(timeout=60_000)
        assert talker.listeners == 1  # one job for both
        with open_page(f"{talking_app[0]}/?q={quote_plus(OTHER)}&lane={quote_plus(LINE)}"):
            assert talker.soon(2, 60)
            page.close()
        assert talker.soon(1, 60)  # the tab that was closed later has been missed
        heard = len(other.locator(".model-text").first.inner_text().split())
        expect(other.locator(".model-text").first).to_contain_text(
            f"word{heard + 9} ", timeout=20_000
        )
    assert talker.soon(0, 60)  # the last tab that looked is closed
