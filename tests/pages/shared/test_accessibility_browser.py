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
# True once nothing has run, and nothing stood pale, for two seconds.
STILL = """() => {
    const moves = document.querySelector('[data-stale=true], [data-testid=stApp][data-test-script-state=running]');
    if (moves || !window.stillSince) window.stillSince = performance.now();
    return performance.now() - window.stillSince > 2000;
}"""


@pytest.fixture(scope="module")
def address(movies):
    with server() as (url, _):
        yield url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", list(PAGES))
def test_axe_finds_nothing_serious(address, path, scheme):
    with open_page(address + path, scheme=scheme) as page:
        page.locator(PAGES[path]).first.wait_for(timeout=120_000)
        told = serious(page)
        assert not told, told


OPENS = ("[aria-label^='Change one step']", "text=Add lane", "text=Options", "text=Example questions", "text=Share")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_what_opens_on_compare(address, scheme):
    with open_page(address + next(iter(PAGES)), scheme=scheme) as page:
        page.locator(".lane[data-status=done]").nth(1).wait_for(timeout=120_000)
        for opens in OPENS:
            page.locator(f"{opens} >> visible=true").first.click()
            opened = page.locator("[data-testid=stDialog], [data-testid=stPopoverBody]").first
            opened.wait_for(timeout=30_000)
            told = serious(page)
            assert not told, f"{opens}: {told}"
            page.keyboard.press("Escape")
            opened.wait_for(state="hidden", timeout=30_000)


def serious(page) -> str:
    """What axe finds serious on the page, a line each."""
    from axe_playwright_python.sync_playwright import Axe

    page.wait_for_function(STILL, timeout=120_000)  # what is drawn anew is pale for a moment
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    told = [
        (one["id"], one["help"], node["html"][:160], node["failureSummary"].split("\n")[-1][:160])
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"][:3]
    ]
    return "\n".join(map(str, told))
