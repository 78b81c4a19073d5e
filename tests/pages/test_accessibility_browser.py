"""axe-core finds nothing serious on any page, light and dark."""

from __future__ import annotations

import pytest

from tests.server import CHROMIUM, open_page, server

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)")
PAGES = {
    "/?llm=0&lane=lego-1&lane=chain-ranking&q=which+person+directed+the+movie+Inception": ".lane[data-status=done]",
    "/?present=1": ".lane[data-status=done]",
    "/build?from=lego-12": "text=Try it on a question",
    "/graphs": "h2",
    "/indexes": "h2",
    "/evaluate": "text=Questions of each set",
    "/cases": "text=Import",
    "/models": "h2",
}
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def address(movies):
    with server() as (url, _):
        yield url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", list(PAGES))
def test_axe_finds_nothing_serious(address, path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    with open_page(address + path, scheme=scheme) as page:
        page.locator(PAGES[path]).first.wait_for(timeout=120_000)
        page.wait_for_function("!document.querySelector('[data-stale=true]')")  # what is drawn anew is pale for a moment
        page.wait_for_timeout(2_000)
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        told = [
            (one["id"], one["help"], node["html"][:160], node["failureSummary"].split("\n")[-1][:160])
            for one in found
            if one["impact"] in SERIOUS
            for node in one["nodes"][:3]
        ]
        assert not told, "\n".join(map(str, told))
