"""Pages at all sizes: no control lies over another, and no button's text is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.shared.test_accessibility_browser import PAGES
from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
FAULTS = (Path(__file__).parent / "layout_faults.js").read_text("utf-8")
SIZES = ((390, 844), (800, 900), (1280, 720), (1366, 768), (1440, 900), (1920, 1080))
FAULTY = {
    "scrolls sideways": '<div style="width: 3000px; height: 9px"></div>',
    "overlap": '<button>One</button><button style="margin-left: -30px">Other</button>',
    "text cut": '<button style="width: 60px; overflow: hidden; white-space: nowrap">A long name</button>',
}


@pytest.mark.parametrize("path", list(PAGES))
def test_nothing_overlaps_is_cut_or_scrolls_sideways(app, path):
    with open_page(app + path) as page:
        page.locator(PAGES[path]).first.wait_for(timeout=120_000)
        found = {}
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settle(page)
            if faults := page.evaluate(FAULTS):
                found[width, height] = faults
        assert not found


@pytest.mark.parametrize("fault", list(FAULTY))
def test_each_fault_is_found(browser, fault):
    page = browser.new_page()
    page.set_content(f"<body>{FAULTY[fault]}</body>")
    (found,) = page.evaluate(FAULTS)
    assert found.startswith(fault)
    page.set_content("<body><button>One</button> <button>Other</button></body>")
    assert page.evaluate(FAULTS) == []
    page.close()
