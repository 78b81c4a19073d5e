"""A case saved on Compare opens on Cases in a real browser.

The server has neither models nor graph.
"""

from __future__ import annotations

import re
import shutil
from urllib.parse import quote_plus

import pytest

from tests.server import open_page, server

pytestmark = pytest.mark.usefixtures("browser")
QUESTION = "which person directed the movie Inception"
LANES = (
    "EgoNetwork(hops=2, keep=300) >> BeamSearch(model='bm25', rank='bm25', width=3, hops=2) >> Answer()",
    "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()",
)


def shown(page) -> dict:
    """The titles, answers, funnels and paths that the lanes show."""
    page.locator(".lane[data-status=done]").nth(1).wait_for(timeout=90_000)
    return {
        "titles": page.locator(".lane h3").all_inner_texts(),
        "answers": page.locator(".lane .voice-text").all_text_contents(),
        "funnels": page.locator(".lane .funnel").all_inner_texts(),
        "paths": page.locator(".lane [data-path]").all_inner_texts(),
    }


def test_save_on_compare_and_open_without_models_and_graph(app, movies, tmp_path):
    lanes = "".join(f"&lane={quote_plus(lane)}" for lane in LANES)
    with open_page(f"{app}/?llm=0&q={quote_plus(QUESTION)}{lanes}") as page:
        before = shown(page)
        page.locator(".lane").nth(1).locator("[data-thumb=up]").click()
        page.locator(".lane").nth(1).locator("[data-thumb=up][aria-pressed=true]").wait_for()
        page.get_by_role("button", name="Save").click()
        page.get_by_label("Notes").fill("for the plane <b>")
        page.get_by_role("button", name="Save as case").click()
        page.get_by_text("Open it on Cases").click()
        page.get_by_text("for the plane <b>").wait_for(timeout=30_000)
        case = re.search(r"case=([0-9a-f]{12})", page.url).group(1)
    alone = tmp_path / "alone"
    alone.mkdir()
    for file in movies.folder.parents[1].glob("cases.sqlite*"):
        shutil.move(file, alone / file.name)
    with server(HOPSCOPE_HOME=str(alone), HOPSCOPE_MODELS=str(tmp_path / "nothing")) as (
        address,
        _,
    ):
        with open_page(f"{address}/cases?case={case}") as page:
            problems = []
            page.on("pageerror", lambda error: problems.append(str(error)))
            assert shown(page) == before
            assert (
                page.locator(".lane").nth(1).locator("[data-thumb=up][aria-pressed=true]").count()
                == 1
            )
            page.locator(".lane").first.locator("[data-path]").first.hover()
            assert (
                page.locator(".lane")
                .nth(1)
                .locator("[data-fate]")
                .filter(has_text=re.compile("rank|dropped|never"))
                .count()
            )
            page.get_by_role("slider").first.focus()
            page.keyboard.press("ArrowLeft")
            page.locator(".lane").nth(1).get_by_text(re.compile("^Prompt")).click()
            assert (
                page.locator(".lane").nth(1).get_by_text(f"Question: {QUESTION}").first.is_visible()
            )
            with page.expect_download(timeout=30_000) as got:
                page.get_by_role("button", name="Export").click()
            page.get_by_role("button", name="All cases").click()
            page.get_by_role("button", name="Add").click()
            page.locator("input[type=file]").set_input_files(
                got.value.path().rename(tmp_path / "one.cases.gz")
            )
            page.get_by_role("button", name="Add them", exact=True).click(timeout=30_000)
            page.get_by_text("0 cases added; 1 were here already").wait_for(timeout=30_000)
            assert not problems
