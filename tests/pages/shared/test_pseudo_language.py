"""Every text that the pages draw can be translated.

In a made-up language each is in ⟦…⟧, but for what is named here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from core.io.home import ROOT
from tests.server import link_graph

PAGES = ("build", "models", "indexes", "graphs", "cases", "evaluate", "texts", "compare")
LABELS = (
    "selectbox",
    "multiselect",
    "text_input",
    "text_area",
    "number_input",
    "toggle",
    "checkbox",
    "radio",
    "tabs",
    "slider",
    "button",
)
NAMES = {  # what stays as it is: names of graphs, entities, methods in papers and models, questions, and words of a line in captions
    "graphs": r"[A-Z][a-z]+|WikiMovies.*",
    "indexes": r"Up to \d steps.*|[\d\\.]+ .?B · .* ago",
    "models": r":(green|gray)\[[●○]\] .*",
    "cases": r"\*\*.*\*\*|:gray-badge\[[a-z ]+\]|.* · example",
    "texts": r"A Christmas Carol|chunks of .*|\*\*Passage graph.*\*\*",
    "compare": r"(what|who) .*|\*\*When were .*\*\*",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory, movies):
    """Return the texts that each page draws in the made-up language, in a home without cases."""
    home = tmp_path_factory.mktemp("home")
    link_graph(home)
    command = [
        sys.executable,
        "-m",
        "tests.pages.shared.pseudo_language",
        str(tmp_path_factory.mktemp("locale")),
        *PAGES,
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "HOPSCOPE_LANGUAGE": "xx", "HOPSCOPE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_draws_nothing_but_texts_that_can_be_translated(pages, page):
    drawn = pages[page]
    assert not drawn["raised"]
    assert sum(len(drawn[kind]) for kind in LABELS) > 4
    texts = [
        text
        for kind, some in drawn.items()
        for text in some
        if "⟦" not in text and re.search("[A-Za-z]{3}", text)
    ]
    left = [text for text in texts if not re.fullmatch(NAMES.get(page, ""), text, re.DOTALL)]
    assert not left, "drawn in English in another language: put it through tr (docs/translating.md)"
