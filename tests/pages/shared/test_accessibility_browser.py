"""axe-core finds nothing serious on any page, light and dark."""

from __future__ import annotations

import pytest

from tests.server import open_page, settle, take_scheme

pytestmark = pytest.mark.usefixtures("browser")
PAGES = {
    "/?llm=0&lane=lego-1&lane=chain-ranking&q=which+person+directed+the+movie+Inception": ".lane[data-status=done]",
    "/?present=1": ".lane[data-status=done]",
    "/build?from=lego-12": ".brick",
    "/texts": "text=Other ways to build",
    "/graphs": "h2",
    "/indexes": "h2",
    "/evaluate": "text=New evaluation",
    "/cases": "text=Export these",
    "/models": "h2",
}
SERIOUS = ("serious", "critical")
# Less serious findings that are none either: the order of headings, and landmarks and their names.
ORDER = ("heading-order", "landmark", "region", "page-has-heading-one", "empty-heading")


@pytest.mark.parametrize("path", list(PAGES))
def test_axe_finds_nothing_serious(app, path):
    with open_page(app + path) as page:
        page.locator(PAGES[path]).first.wait_for(timeout=120_000)
        for scheme in ("light", "dark"):
            take_scheme(page, scheme)
            found = serious(page)
            assert not found, f"{scheme}: {found}"
        page.keyboard.press("Control+k")
        page.locator(".command-palette [role=option]").first.wait_for()
        for scheme in ("light", "dark"):
            take_scheme(page, scheme)
            found = serious(page)
            assert not found, f"command palette, {scheme}: {found}"


# what opens, and what is then there
OPENS = {
    "[aria-label^='Edit steps']": ".hk .entry",
    "[aria-label^='Replace']": ".chooser .row",
    "text=Add method": ".chooser .row",
    "text=Options": "*",
    "text=Example questions": "*",
    "text=Share": "*",
}


def test_axe_finds_nothing_serious_in_what_opens_on_compare(app):
    with open_page(app + next(iter(PAGES))) as page:
        page.locator(".lane[data-status=done]").nth(1).wait_for(timeout=120_000)
        for opens in OPENS:
            page.locator(f"{opens} >> visible=true").first.click()
            opened = page.locator("[data-testid=stDialog], [data-testid=stPopoverBody]").first
            opened.locator(OPENS[opens]).first.wait_for(timeout=30_000)
            for scheme in ("light", "dark"):
                take_scheme(page, scheme)
                found = serious(page, order=())  # of the dialog alone
                assert not found, f"{opens}, {scheme}: {found}"
            page.keyboard.press("Escape")
            opened.wait_for(state="hidden", timeout=30_000)


def serious(page, order: tuple[str, ...] = ORDER) -> str:
    """Return what axe finds serious on the page, or wrong in its order, a line each."""
    from axe_playwright_python.sync_playwright import Axe

    settle(page)  # what is drawn anew is pale for a moment
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    violations = [
        (one["id"], one["help"], node["html"][:160], node["failureSummary"].split("\n")[-1][:160])
        for one in found
        if one["impact"] in SERIOUS or one["id"].startswith(order)
        for node in one["nodes"][:3]
    ]
    return "\n".join(map(str, violations))
