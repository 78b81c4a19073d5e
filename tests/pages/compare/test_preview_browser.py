"""A lane shows what it has so far while a re-ranker reads.

It says so, until it is exact. The browser is real. The server reads two texts each time it is let.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.server import CHROMIUM, open_page, server

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)"
)
LINE = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='slowly', keep=5) >> Answer()"
QUESTION = "which person directed the movie Inception"
OTHER = "when was Inferno released"


@contextmanager
def reading():
    """(what lets a request of the re-ranker be answered, its address): it prefers directors."""
    steps = threading.Semaphore(0)

    class PreviewHandler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            steps.acquire()
            scores = [0.9 if "directed_by" in text else 0.1 for text in asked["documents"]]
            body = json.dumps(
                {
                    "results": [
                        {"index": place, "relevance_score": score}
                        for place, score in enumerate(scores)
                    ]
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):  # who asked has left
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), PreviewHandler)
    served.daemon_threads = True
    threading.Thread(target=served.serve_forever, daemon=True).start()
    try:
        yield steps, f"http://127.0.0.1:{served.server_address[1]}/v1"
    finally:
        steps.release(1_000)
        served.shutdown()


@pytest.fixture(scope="module")
def reading_app(movies, browser, tmp_path_factory):
    """(address of the app, what lets its re-ranker read two texts more)."""
    home = tmp_path_factory.mktemp("reading")
    with reading() as (steps, url):
        row = f'kind = "reranker"\nbackend = "rerank"\ntitle = "Slowly"\nurl = "{url}"\nmodel = "slowly"\nbatch = 2\nat_once = 1\n'
        (home / "models.toml").write_text(f"[model.slowly]\n{row}", "utf-8")
        (home / "graphs").symlink_to(Path(os.environ["HOPSCOPE_HOME"]) / "graphs")
        with server(HOPSCOPE_HOME=str(home)) as (address, _):
            yield address, steps


def ask(page, text: str):
    """Its lane, once the question is asked."""
    page.get_by_role("textbox", name="Question").fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()
    return page.locator(f"[data-question={json.dumps(text)}] .lane")


def test_a_lane_shows_what_it_has_then_all_and_a_cancelled_one_keeps_what_it_had(reading_app):
    address, steps = reading_app
    with open_page(f"{address}/?llm=0&lane={quote_plus(LINE)}") as page:
        page.get_by_role("textbox", name="Question").wait_for(timeout=60_000)
        lane = ask(page, QUESTION)
        expect(lane).to_have_attribute("data-status", "running", timeout=60_000)
        expect(lane).not_to_have_class(re.compile("so-far"))
        steps.release()
        expect(lane).to_have_class(re.compile("so-far"), timeout=60_000)
        expect(lane.locator(".progress-best")).to_have_text(
            re.compile(r"^Shown so far: 2 of \d+ paths read$")
        )
        expect(lane.locator(".voice-reader .voice-label")).to_have_text(
            "Answer read from the graph (no AI), so far"
        )
        expect(lane.locator(".voice-reader .voice-text")).not_to_be_empty()
        row = lane.locator(".paths .row[data-path]").first
        key = row.get_attribute("data-path")
        row.click()
        page.wait_for_timeout(700)  # so that the next one is due
        steps.release()
        expect(lane.locator(".progress-best")).to_have_text(
            re.compile(r"^Shown so far: 4 of \d+ paths read$"), timeout=60_000
        )
        # what is pinned stays so
        expect(lane.locator(f".row[data-path={key}]")).to_have_attribute("aria-pressed", "true")
        steps.release(1_000)
        expect(lane).to_have_attribute("data-status", "done", timeout=60_000)
        expect(lane).not_to_have_class(re.compile("so-far"))
        expect(lane.locator(".voice-reader .voice-label")).to_have_text(
            "Answer read from the graph (no AI)"
        )
        expect(lane.locator(".voice-reader .voice-text")).to_have_text("Christopher Nolan")
        while steps.acquire(blocking=False):
            pass
        lane = ask(page, OTHER)
        expect(lane).to_have_attribute("data-status", "running", timeout=60_000)
        steps.release()
        expect(lane).to_have_class(re.compile("so-far"), timeout=60_000)
        page.get_by_role("button", name="Cancel", exact=True).click()
        expect(lane).to_have_attribute("data-status", "cancelled", timeout=60_000)
        expect(lane.locator(".status")).to_have_text(
            re.compile(r"Cancelled at step 3 of 3, rank, with 2 of \d+ paths read$")
        )
        expect(lane.locator(".voice-reader .voice-label")).to_have_text(
            "Answer read from the graph (no AI), so far"
        )
        expect(lane.locator(".paths .row[data-path]")).to_have_count(2)
