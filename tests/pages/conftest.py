"""The tests of pages share a browser, a server and a small corpus.

The browser is one for each module. The server of the app is one for all browser tests that need no
home of their own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from playwright.sync_api import expect
from streamlit.components.v2 import manifest_scanner

from pages.parts.shared.session import engine
from tests import server
from tests.films import Bag
from tests.pages.texts.texts_kit import make
from tests.real_models import models_without_chat

expect.set_options(timeout=30_000)  # of milliseconds, for what is drawn in one on an idle computer


@pytest.fixture(scope="session", autouse=True)
def components_found_once():
    """All pages see the packages' metadata that the first page found.

    Streamlit's test driver reads that of every package again for each page that it opens.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner,
            "scan_component_manifests",
            cache(manifest_scanner.scan_component_manifests),
        )
        yield


@pytest.fixture(scope="module")
def browser():
    """Yield a headless Chromium, in which `open_page` opens its pages.

    It lives no longer than a module, as Streamlit's own test driver and Playwright do not go
    together in one thread.
    """
    if not server.CHROMIUM:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    with server.browser() as opened:
        yield opened


@pytest.fixture(autouse=True)
def closed_pages():
    """Close the pages that a test left open.

    An open page goes on drawing; on one processor, a module's pages together leave none for the next.
    """
    opened_before = server.open_contexts()
    yield
    for context in server.open_contexts():
        if context not in opened_before:
            context.close()


@pytest.fixture(scope="session")
def app(movies):
    """Yield the address of the shared app on the WikiMovies graph.

    Each page opened there is a session of its own.
    """
    with server.server() as (address, _):
        yield address


@pytest.fixture()
def small(monkeypatch, tmp_path):
    """A corpus of two documents, an encoder that counts words, and no language model."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_MODELS", models_without_chat(tmp_path / "models"))
    models, bag = engine().models, Bag()
    told = models.info
    monkeypatch.setattr(models, "encoder", lambda name="encoder": bag)
    monkeypatch.setattr(
        models,
        "info",
        lambda name: replace(told(name), present=True) if name == "encoder" else told(name),
    )
    yield make()
    for jobs in (engine().background_jobs, engine().jobs):
        for key in [
            key
            for key in jobs._jobs
            if key.startswith(("build-", "cost-", "cut-", "corpus-", "bring-"))
        ]:
            jobs._jobs.pop(key).cancel()
