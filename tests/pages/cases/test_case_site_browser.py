"""An exported site in a real browser, opened from disk and from a plain web server."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from core.cases import save
from core.cases.examples import examples
from core.cli import EXIT_OK, main
from core.engine import Engine
from core.graph.building.build import build
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question
from pages.parts.cases.site import find_cases, site_files, write_site
from tests.films import Table, Written
from tests.pages.board.test_board import Watch

SIZES = {"wide": (1280, 720), "narrow": (390, 844)}
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "line\u2028separator\u2029",
    "javascript:alert(3)",
    "' onmouseover='alert(4)",
)
LINES = (
    "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=9) >> Answer()",
    "EgoNetwork(hops=2) >> BeamSearch(width=3, hops=2) >> Answer()",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site of the shipped cases."""
    folder = tmp_path_factory.mktemp("site")
    assert main(["export", "shipped", "--site", str(folder)]) == EXIT_OK
    return folder


@contextmanager
def served(folder):
    """Yield the address at which Python's own web server serves a folder."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "-b", "127.0.0.1", "-d", str(folder)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        port = re.search(r"port (\d+)", process.stdout.readline())[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def addresses(site):
    """The addresses of the site's folder on disk and on a server, without a slash at its end."""
    with served(site) as address:
        yield {"wide": site.as_uri(), "narrow": address}


@pytest.fixture
def open_site(browser):
    """Open a page of a site.

    After the test, no console message and no request to elsewhere may have been seen.
    """
    watches = []

    def open_at(address, name="index.html", size="wide", **context):
        width, height = SIZES[size]
        viewport = {"width": width, "height": height}
        page = browser.new_context(viewport=viewport, **context).new_page()
        watches.append(Watch(page, address))
        page.goto(f"{address}/{name}")
        return page

    yield open_at
    for watch in watches:
        assert watch.said == [] and watch.asked == []


def scrolls_sideways(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def wait_for_board(page) -> None:
    """Wait until every lane has its graph, if it has one."""
    page.locator(".lane[data-status=done]").first.wait_for()
    page.wait_for_function(
        "[...document.querySelectorAll('.lane')].every(({ lane }) => lane.graph.cy || lane.graph.canvas.classList.contains('empty'))"
    )


@pytest.mark.parametrize("size", SIZES)
def test_a_path_is_seen_in_every_method_and_its_steps_are_replayed(open_site, addresses, size):
    page = open_site(addresses[size], size=size)
    expect(page.locator(".cases li")).to_have_count(len(examples()))
    assert not scrolls_sideways(page)
    page.locator(".cases a").first.click()
    page.wait_for_url("**/case-example-demo-1.html")
    wait_for_board(page)
    assert not scrolls_sideways(page)
    n_lanes = page.locator(".lane").count()
    assert n_lanes == 3 and page.locator(".lane .funnel .stage").count() > n_lanes
    row = page.locator(".lane:not(.off) [data-path]:visible").first
    row.scroll_into_view_if_needed()
    row.hover()
    expect(page.locator(".graph.telling")).to_have_count(n_lanes)
    fates = page.locator(".fate").all_text_contents()
    assert len(fates) == n_lanes and any(fate.startswith("found") for fate in fates)
    assert any(not fate.startswith("found") for fate in fates), fates
    lit = page.evaluate(
        "[...document.querySelectorAll('.lane')].map(({ lane }) => lane.graph.cy.edges('.lit').map((edge) => edge.id()).sort())"
    )
    assert lit[0] and len({tuple(edges) for edges in lit}) == 1
    page.mouse.move(1, 1)
    words = page.locator(".lane:not(.off) .frame-words:visible").first
    page.locator(".lane:not(.off) .slider:visible").first.press("Home")
    first = words.inner_text()
    page.get_by_role("button", name="Next frame").first.click()
    expect(words).not_to_have_text(first)
    assert not scrolls_sideways(page)


def test_each_shipped_case_is_drawn_without_actions_of_a_server(open_site, site):
    for case, _ in examples():
        page = open_site(site.as_uri(), f"case-{case.id}.html")
        wait_for_board(page)
        assert page.locator("h1").inner_text().split() == case.question.split()
        assert page.locator(".lane").count() == len(case.methods)
        for width, height in SIZES.values():
            page.set_viewport_size({"width": width, "height": height})
            assert not scrolls_sideways(page)
        assert page.locator(":is(.repair, .thumb, .way, .lane-tools button):visible").count() == 0
        page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_browser_s_setting_makes_it_light_or_dark(open_site, site, scheme):
    page = open_site(site.as_uri(), color_scheme=scheme)
    picture = page.locator(".cases img").first
    page.wait_for_function("document.querySelector('.cases img').naturalWidth > 0")
    assert picture.evaluate("image => image.currentSrc.endsWith('-dark.webp')") == (
        scheme == "dark"
    )
    grey = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    assert (page.evaluate(grey) < 60) == (scheme == "dark")
    page.locator(".cases a").first.click()
    wait_for_board(page)
    assert page.locator(".hb").get_attribute("data-theme") == scheme
    assert (page.evaluate(grey) < 60) == (scheme == "dark")


def test_it_is_saved_as_a_picture_and_printed(open_site, site):
    page = open_site(site.as_uri(), "case-example-demo-1.html")
    wait_for_board(page)
    with page.expect_download() as download:
        page.get_by_label("Save a picture").first.select_option("This picture as PNG")
    assert download.value.suggested_filename.endswith(".png")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """The folder of a site whose case has scripts in all its texts."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    triples = [("One", f"is {name}", name) for name in HOSTILE]
    triples += [(name, "has", f"{name} too") for name in HOSTILE]
    graph = build(triples, tmp_path / "graph", name=HOSTILE[1], direction="both")
    engine = Engine(Written(encoder=Table({})))
    question = Question(" ".join(HOSTILE), entities=("One",), answers=HOSTILE[:2])
    ask = engine.prepare_question(GraphSource.of(graph), question)
    methods = [Method(name, name, parse_line(line)) for name, line in zip(HOSTILE, LINES)]
    job = engine.compare(ask, methods)
    assert job.wait(120)
    engine.jobs.stop()
    case = save(job.comparison, {"q": HOSTILE[3]}, " ".join(HOSTILE), ["<b>", HOSTILE[0][:40]])
    write_site(tmp_path / "site", site_files(find_cases([case.id])))
    return tmp_path / "site", case


def test_scripts_in_a_case_are_text(open_site, hostile):
    folder, case = hostile
    page = open_site(folder.as_uri())
    assert page.locator("h2").inner_text() == " ".join(" ".join(HOSTILE).split())
    assert page.locator(".cases svg circle.answer").count() == 2
    assert page.locator("script").count() == 0
    page.locator(".cases a").click()
    wait_for_board(page)
    assert page.locator("script").count() == 3 and page.locator("main script").count() == 1
    assert page.locator("img, [onerror], [onmouseover], a[href^='javascript']").count() == 0
    for name in HOSTILE[:2]:
        assert name in page.locator(".notes").inner_text()
        assert any(name in row for row in page.locator(".lane .row").all_text_contents())
    page.locator(".lane [data-path]").first.hover()
    expect(page.locator(".graph.telling")).to_have_count(len(LINES))
