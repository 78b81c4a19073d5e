"""A finished run is dropped on Evaluate in a real browser.

It becomes a column of an evaluation, then a lane on Compare.
"""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest

from tests.pages.compare.three_documents import DOCUMENTS, KNOWN, NAME, made
from tests.pages.shared.test_accessibility_browser import serious
from tests.server import open_page, server

pytestmark = pytest.mark.usefixtures("browser")
STRANGE = "<script>document.title = 'lost'</script> A whale was white."
ROWS = (
    {
        "user_input": KNOWN.text,
        "retrieved_contexts": [DOCUMENTS[0].text, STRANGE],
        "response": "Arthur's",
    },
    {"user_input": "Why <b>?", "retrieved_contexts": ["x"], "response": "so"},
)


def test_a_dropped_run_is_a_column_and_a_lane(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
        made()
    file = tmp_path / "mine <b>.jsonl"
    file.write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    with (
        server(HOPSCOPE_HOME=str(tmp_path / "home")) as (address, _),
        open_page(f"{address}/evaluate?corpus={NAME}") as page,
    ):
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.get_by_text("Import results from a file").click(timeout=60_000)
        page.locator("input[type=file]").first.set_input_files(str(file))
        page.get_by_role("button", name="Add to the methods").click(timeout=30_000)
        page.get_by_text(
            "2 questions, 2 with documents, 2 with answers. Of these 1 in the question sets"
        ).first.wait_for(timeout=30_000)
        assert page.get_by_text("“three”: 1 of its 2 questions").count() == 1
        chosen = page.locator("[data-testid=stMultiSelect]").nth(1)
        assert "mine" in chosen.inner_text()
        assert not (found := serious(page)), found
        for tag in chosen.get_by_role(
            "button", name=re.compile("^Remove .*(VanillaRAG|GraphRAG)")
        ).all()[::-1]:
            tag.click()
        page.get_by_role("button", name="Start").click()
        page.get_by_role("tab", name="Figures").click(timeout=120_000)
        page.get_by_text("brought its own answers").wait_for(timeout=120_000)
        assert page.get_by_text("1 of 2 documents not in the corpus").count() == 1
        page.goto(
            f"{address}/?{urlencode([('corpus', NAME), ('q', KNOWN.text), ('lane', 'run-mine-_b_')])}"
        )
        lane = page.locator(".lane[data-status=done]")
        lane.first.wait_for(timeout=60_000)
        assert (
            "Its own answer" in lane.first.inner_text()
            and "2 documents named, 1 not in the corpus" in lane.first.inner_text()
        )
        assert not problems and page.title() != "lost"
