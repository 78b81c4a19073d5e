"""The tests of the board share a page."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def sheet(browser):
    """A page on which one report after another is opened."""
    return browser.new_context().new_page()
