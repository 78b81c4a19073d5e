"""The pages are reached from the sidebar, in a real browser."""

import re

import pytest

from tests.server import open_page

pytestmark = pytest.mark.usefixtures("browser")
PAGES = ("Compare", "Build", "Texts", "Graphs", "Indexes", "Evaluate", "Cases", "Models")


def test_every_page_is_a_click_away(app):
    with open_page(app) as page:
        links = page.get_by_test_id("stSidebarNavLink")
        # before it, the names of the files are there for a moment
        links.filter(has_text=re.compile("Compare")).wait_for(timeout=120_000)
        assert tuple(text.split("\n")[-1] for text in links.all_inner_texts()) == PAGES
        page.get_by_role("link", name="Graphs").click()
        page.get_by_text("The most connected entities").wait_for(timeout=120_000)
