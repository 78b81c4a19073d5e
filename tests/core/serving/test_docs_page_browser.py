"""The documentation page of the HTTP interface, in a browser."""

from __future__ import annotations

import threading
from urllib.parse import urlsplit

import pytest

from core.engine import Engine
from core.models.base import NoModels
from core.runtime.server_process import free_port
from tests import server

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("fastapi", reason="fastapi is not installed")
import uvicorn

from core.serving.http_api import make_api
from core.serving.served_calls import SERVED_CALLS


@pytest.fixture
def address():
    """The address of the interface, served by a thread."""
    port = free_port()
    config = uvicorn.Config(make_api(Engine(NoModels()), "the key"), port=port, log_level="error")
    served = uvicorn.Server(config)
    thread = threading.Thread(target=served.run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        served.should_exit = True
        thread.join(30)


@pytest.mark.skipif(not server.CHROMIUM, reason="Chromium is not installed")
def test_page_asks_no_other_host_and_has_its_styles(address):
    with server.browser() as browser:
        context = browser.new_context()
        requested, messages = [], []
        context.on("request", lambda request: requested.append(request.url))
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.goto(f"{address}/docs", wait_until="networkidle")
        titles = page.locator("h2").all_inner_texts()
        font = page.evaluate("getComputedStyle(document.body).fontFamily")
        scripts = page.locator("script").count()
        context.close()
    assert {urlsplit(url).netloc for url in requested} == {urlsplit(address).netloc}
    assert font == "sans-serif" and not scripts
    assert not [message for message in messages if "Content Security Policy" in message]
    assert {f"POST /{call.name}" for call in SERVED_CALLS} <= set(titles)
