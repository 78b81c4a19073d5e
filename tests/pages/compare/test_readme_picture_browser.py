"""README's picture shows the app as it is.

The first page has the texts that it had when the picture was made.
"""

from __future__ import annotations

from tests.gallery import README_SIZE, README_TEXTS, open_first_page
from tests.server import server


def test_the_first_page_has_the_texts_of_the_picture(browser, tmp_path):
    home = {"HOPSCOPE_HOME": str(tmp_path), "HOPSCOPE_MODELS": str(tmp_path / "none")}
    context = browser.new_context(viewport=README_SIZE)
    with server(**home) as (address, _):
        texts = open_first_page(context.new_page(), address)
    context.close()
    assert texts.splitlines() == README_TEXTS.read_text("utf-8").splitlines(), "run: make gallery"
