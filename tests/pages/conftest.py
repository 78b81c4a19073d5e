"""A browser for each module, and one server of the app for all browser tests that need no home of their own."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests import server

expect.set_options(timeout=30_000)  # of milliseconds, for what is drawn in one on an idle computer


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium, in which `open_page` opens its pages; no longer than a module, as Streamlit's own test driver and
    Playwright do not go together in one thread."""
    if not server.CHROMIUM:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    with server.browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def app(movies):
    """The address of the app on the WikiMovies graph, shared: each page opened there is a session of its own."""
    with server.server() as (address, _):
        yield address
