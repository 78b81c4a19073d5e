"""Each page at all sizes, light and dark.

axe-core finds nothing serious, no control lies over another, and no button's text is cut.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server import open_page, settle, take_scheme

pytestmark = pytest.mark.usefixtures("browser")
COMPARE = "/?llm=0&lane=lego-1&lane=chain-ranking&q=which+person+directed+the+movie+Inception"
PAGES = {
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
COLOUR_RULES = ["color-contrast", "link-in-text-block"]  # all that a scheme can change
FAULTS = (Path(__file__).parent / "layout_faults.js").read_text("utf-8")
SIZES = ((390, 844), (800, 900), (1366, 768), (1440, 900), (1920, 1080), (1280, 720))
FAULTY = {
    "scrolls sideways": '<div style="width: 3000px; height: 9px"></div>',
    "overlap": '<button>One</button><button style="margin-left: -30px">Other</button>',
    "text cut": '<button style="width: 60px; overflow: hidden; white-space: nowrap">A long name</button>',
}


@pytest.mark.parametrize("path", list(PAGES))
def test_nothing_serious_overlaps_or_is_cut(app, path):
    with open_page(app + path) as page:
        page.locator(PAGES[path]).first.wait_for(timeout=120_000)
        check(page)


def check(page) -> None:
    faults = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        if found := page.evaluate(FAULTS):
            faults[width, height] = found
    assert not faults
    assert not serious_in_both(page)


# what opens, and what is then there
OPENS = {
    "[aria-label^='Edit steps']": ".hk .entry",
    "[aria-label^='Replace']": ".chooser .row",
    "text=Add method": ".chooser .row",
    "text=Options": "*",
    "text=Example questions": "*",
    "text=Share": "*",
}
OPENED_PART = "[data-testid=stDialog], [data-testid=stPopoverBody]"


def test_the_same_holds_on_compare_and_in_what_opens_there(app):
    with open_page(app + COMPARE) as page:
        page.locator(".lane[data-status=done]").nth(1).wait_for(timeout=120_000)
        check(page)
        page.keyboard.press("Control+k")
        page.locator(".command-palette [role=option]").first.wait_for()
        assert not (found := serious_in_both(page)), f"command palette, {found}"
        page.keyboard.press("Escape")
        for opens in OPENS:
            page.locator(f"{opens} >> visible=true").first.click()
            opened = page.locator(OPENED_PART).first
            opened.locator(OPENS[opens]).first.wait_for(timeout=30_000)
            assert not (found := serious_in_both(page, OPENED_PART)), f"{opens}, {found}"
            page.keyboard.press("Escape")
            opened.wait_for(state="hidden", timeout=30_000)


def serious_in_both(page, part: str = "") -> str:
    """Return what is `serious` in light, or by its colours in dark; empty for nothing."""
    take_scheme(page, "light")
    light = serious(page, part)
    take_scheme(page, "dark")
    return light or serious(page, part, {"runOnly": COLOUR_RULES})


def serious(page, part: str = "", options: dict | None = None) -> str:
    """Return what axe finds serious on the page, or wrong in its order, a line each.

    In a part of it, which a selector names, the order is not looked at.
    """
    from axe_playwright_python.sync_playwright import Axe

    settle(page)  # what is drawn anew is pale for a moment
    options = {"resultTypes": ["violations"], **(options or {})}
    found = Axe().run(page, part or None, options).response["violations"]
    violations = [
        (one["id"], one["help"], node["html"][:160], node["failureSummary"].split("\n")[-1][:160])
        for one in found
        if one["impact"] in SERIOUS or (not part and one["id"].startswith(ORDER))
        for node in one["nodes"][:3]
    ]
    return "\n".join(map(str, violations))


@pytest.mark.parametrize("fault", list(FAULTY))
def test_each_fault_is_found(browser, fault):
    page = browser.new_page()
    page.set_content(f"<body>{FAULTY[fault]}</body>")
    (found,) = page.evaluate(FAULTS)
    assert found.startswith(fault)
    page.set_content("<body><button>One</button> <button>Other</button></body>")
    assert page.evaluate(FAULTS) == []
    page.close()
