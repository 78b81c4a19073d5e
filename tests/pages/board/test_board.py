"""The board in a real browser: as a report from disk, and mounted by Streamlit."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from core.io.home import ROOT
from pages.parts.board.component import BOARD_FOLDER
from pages.parts.board.html_report import report_html, script_json
from tests.pages.board import board_payload
from tests.pages.board.still import still
from tests.server import server

HERE = Path(__file__).resolve().parent
QUESTION = f"who acted with {board_payload.HOSTILE}?"


class Watch:
    """The errors, warnings and dialogs of a page, and its requests for anything not allowed."""

    def __init__(self, page, allowed: str):
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on(
            "console",
            lambda message: (
                self.said.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on(
            "dialog",
            lambda dialog: (self.said.append(f"dialog {dialog.message}"), dialog.dismiss()),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((allowed, "data:", "blob:"))
                else self.asked.append(request.url)
            ),
        )


@pytest.fixture
def report(sheet, tmp_path):
    """Open a payload as a report, in the place of the one before.

    After the test, no console error and no request may have been seen.
    """
    file = tmp_path / "report.html"
    watch = Watch(sheet, file.as_uri())

    def open_report(payload, width=1280, color_scheme="light"):
        file.write_text(
            report_html(
                payload,
                QUESTION,
                {"graph": "WikiMovies", "seed": 7, "date": "2026-11-21", "set": None},
            ),
            encoding="utf-8",
        )
        sheet.mouse.move(0, 0)
        sheet.set_viewport_size({"width": width, "height": 900})
        sheet.emulate_media(color_scheme=color_scheme)
        sheet.goto(file.as_uri())
        sheet.wait_for_selector(".lane")
        return sheet

    yield open_report
    assert watch.said == [] and watch.asked == []


def texts(page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def lit_edges(page, lane: int) -> list[str]:
    return page.evaluate(
        "lane => document.getElementById('board').hopscopeBoard.lanes.get(`lane-${lane}`).graph.cy.edges('.lit').map(e => e.id()).sort()",
        lane,
    )


def press(page, lane: int, node: int) -> None:
    """Click on a node of a lane's graph."""
    stage = page.locator(".stage-box").nth(lane)
    x, y = stage.evaluate(
        "(box, node) => { const at = box.closest('.lane').lane.graph.places.get(node); return [at.x, at.y]; }",
        node,
    )
    stage.click(position={"x": x, "y": y})


def test_script_json_cannot_end_the_script():
    text = script_json({"name": "</script><!-- & \u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)


def test_the_modules_also_run_apart(browser):
    """As ordinary ES modules, where a missing import or export would end the script."""
    page = browser.new_context().new_page()
    watch = Watch(page, "http://board.test/")
    files = {
        f"/{file.name}": (file.read_text(encoding="utf-8"), "text/javascript")
        for file in (BOARD_FOLDER.parent / "wording.js", *BOARD_FOLDER.glob("*.js"))
    }
    files["/cytoscape.js"] = (
        (ROOT / "static" / "cytoscape.min.js").read_text(encoding="utf-8"),
        "text/javascript",
    )
    files["/"] = (
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/board.css"><div id="board"></div>'
        '<script src="/cytoscape.js"></script>',
        "text/html",
    )
    files["/board.css"] = ((BOARD_FOLDER / "board.css").read_text("utf-8"), "text/css")

    def serve(route):
        body, kind = files[urlsplit(route.request.url).path]
        route.fulfill(body=body, content_type=f"{kind}; charset=utf-8")

    page.route("http://board.test/**", serve)
    page.goto("http://board.test/")
    page.evaluate(
        "payload => import('/board.js').then(module => module.renderBoard(document.getElementById('board'), payload, { cytoscape }))",
        board_payload.payload(4),
    )
    page.locator("[data-path='cheadle']").first.hover()
    page.locator(".graph.telling").nth(3).wait_for()
    page.get_by_label("Frame of Beam search", exact=True).fill("1")
    page.locator(".stage-box").first.hover()
    page.locator("summary").first.click()
    assert page.locator(".lane").count() == 4 and watch.said == [] and watch.asked == []


def test_hostile_names_are_text(report):
    page = report(board_payload.payload(3))
    assert page.locator("h1").inner_text() == QUESTION
    assert any(board_payload.HOSTILE in row for row in texts(page, ".row"))
    assert any(board_payload.QUOTES in row for row in texts(page, ".row"))
    page.locator("summary", has_text="Prompt").first.click()
    assert board_payload.HOSTILE in page.locator("pre").nth(1).inner_text()
    assert page.locator(".hb script, .hb style").count() == 0
    assert "set" not in page.locator(".report-head dl").inner_text()


def test_hovered_path_tells_its_fate_in_every_lane_without_moving_anything(report):
    page = report(board_payload.payload(4))
    before = page.locator(".hb").bounding_box()
    page.locator(".lane").first.locator("[data-path='cheadle']").hover()
    page.locator(".graph.telling").nth(3).wait_for()
    assert texts(page, ".fate") == [
        "found: rank 1",
        "never reached: beam left at hop 2",
        "found: rank 1",
        "dropped by Rank: 41st of 948",
    ]
    assert [lit_edges(page, lane) for lane in range(3)] == [["e1", "e2", "e3"]] * 3
    assert page.locator(".hb").bounding_box() == before
    page.mouse.move(5, 5)
    page.locator(".graph.telling").first.wait_for(state="detached")


def test_keyboard_focus_highlights_click_pins_and_escape_lets_go(report):
    page = report(board_payload.payload(3))
    row = page.locator(".lane").first.locator("[data-path='george']")
    page.locator(".lane").first.locator("[data-path='cheadle']").focus()
    page.keyboard.press("Tab")
    assert row.evaluate("row => row === document.activeElement")
    assert texts(page, ".fate")[0] == "found: rank 2"
    page.keyboard.press("Enter")
    assert row.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert (
        page.locator(".graph.telling").count() == 0 and row.get_attribute("aria-pressed") == "false"
    )


def test_replay_slider_lights_the_paths_of_its_frame(report):
    page = report(board_payload.payload(3))
    assert lit_edges(page, 1) == []
    slider = page.get_by_label("Frame of Beam search", exact=True)
    slider.fill("1")
    assert lit_edges(page, 1) == ["e1", "e12", "e8"] and lit_edges(page, 0) == []
    assert page.locator(".frame-words:visible").inner_text() == "hop 2: 2 of 212 kept"
    assert (
        page.locator(".frame-list h4:visible").inner_text()
        == "Beam search, hop 2: 2 paths kept of 212"
    )
    assert page.locator(".frame-list .row:visible").count() == 2
    slider.press("ArrowRight")
    assert lit_edges(page, 1) == ["e1", "e13", "e4", "e8"]
    assert "1 more path not drawn" in page.locator(".frame-list:visible").inner_text()
    page.keyboard.press("Escape")
    assert lit_edges(page, 1) == []


def test_a_new_payload_changes_the_board_in_place(report):
    data = board_payload.payload(3)
    page = report(data)
    page.locator("summary", has_text="Steps").first.click()
    page.get_by_label("Frame of Beam search", exact=True).fill("2")
    page.get_by_label("Zoom in in every graph").first.click()
    page.locator("[data-path='cheadle']").first.click()
    page.evaluate("window.kept = [...document.querySelectorAll('.lane, details, canvas, .row')]")
    later = copy.deepcopy(data)
    later["lanes"][0].update(status="answering", answer="a streamed answer", cost="2.0 s")
    later["lanes"][0]["operators"].append({**later["lanes"][0]["operators"][0], "label": "Extra"})
    page.evaluate("payload => hopscopeReport(payload)", later)
    assert page.locator(".model-text").first.inner_text() == "a streamed answer"
    assert page.locator("details").first.get_attribute("open") is not None
    assert "Extra" in page.locator("details").first.inner_text()
    assert page.get_by_label("Frame of Beam search", exact=True).input_value() == "2"
    assert page.locator("[data-path='cheadle']").first.get_attribute("aria-pressed") == "true"
    assert page.evaluate("window.kept.every(node => node.isConnected)")
    assert page.evaluate("document.getElementById('board').hopscopeBoard.view.k") == pytest.approx(
        1.4
    )


def test_the_same_payload_again_touches_nothing_and_one_lanes_news_touch_only_that_lane(report):
    data = board_payload.finished(3)
    page = report(data)
    page.evaluate("""() => {
        window.touched = [];
        const name = node => (node.closest?.('.lane') ?? node.parentElement?.closest('.lane'))?.getAttribute('aria-label') ?? 'board';
        const theme = record => record.target.matches?.('.sr-only[aria-hidden]');  // the probe that reads the theme's colours
        new MutationObserver(records => window.touched.push(...records.filter(record => !theme(record)).map(record => name(record.target))))
            .observe(document.querySelector('.hb'), { subtree: true, childList: true, attributes: true, characterData: true });
    }""")
    page.evaluate("payload => hopscopeReport(payload)", data)
    still(page)
    assert page.evaluate("window.touched") == []
    data["lanes"][1].update(
        status="answering",
        status_text="Answering",
        answer="Helen",
        verdict=data["lanes"][1]["verdict"],
    )
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert set(page.evaluate("window.touched")) <= {"No. 14", "board"}


def test_another_question_with_other_nodes_takes_the_place_of_the_first(report):
    data = board_payload.payload(3)
    page = report(data)
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    other = copy.deepcopy(data)
    for node in other["layout"]["nodes"]:
        node["id"] += 1000
    for edge in other["layout"]["edges"]:
        edge.update(
            id=edge["id"] + 1000, source=edge["source"] + 1000, target=edge["target"] + 1000
        )
    for path in other["paths"].values():
        path.update(
            nodes=[node + 1000 for node in path["nodes"]],
            edges=[edge + 1000 for edge in path["edges"]],
        )
    for lane in other["lanes"]:
        lane.update(
            nodes=[node + 1000 for node in lane["nodes"]],
            edges=[edge + 1000 for edge in lane["edges"]],
        )
    page.evaluate("payload => hopscopeReport(payload)", other)
    still(page)
    assert not problems and page.locator(".lane").count() == 3
    page.evaluate("payload => hopscopeReport(payload)", data)
    still(page)
    assert not problems


def test_shared_nodes_have_one_place_and_zoom_is_shared(report):
    page = report(board_payload.payload(3))
    script = """[...document.getElementById('board').hopscopeBoard.lanes.values()].map(
        l => JSON.stringify([l.graph.cy.getElementById('n3').renderedPosition(), l.graph.cy.pan()]))"""
    before = page.evaluate(script)
    assert len(set(before)) == 1
    page.get_by_label("Zoom in in every graph").last.click()
    still(page)
    after = page.evaluate(script)
    assert len(set(after)) == 1 and after != before
    page.get_by_label("Show the whole graph of every method").first.click()
    still(page)
    assert page.evaluate(script) == before


def test_states_say_what_they_are(report):
    page = report(board_payload.mixed())
    assert texts(page, "[role=status] span:last-child") == [
        "Qwen2.5-Coder 0.5B is answering",
        "Ranking 948 paths",
        "Waiting for a free core",
        "Failed",
    ]
    assert page.locator(".caret:visible").count() == 1
    assert "is not installed" in page.locator(".error:visible").inner_text()
    assert page.locator(".replay:visible").count() == 0


def test_a_lane_that_searched_and_found_nothing_says_so(report):
    data = board_payload.payload(2)
    data["lanes"][0].update(paths=[], lost=[], nodes=[], edges=[], drawn=None)
    page = report(data)
    words = page.locator(".lane").nth(0).inner_text()
    assert "No path was found." in words and "reads no graph" not in words


def test_lanes_without_paths_answers_or_graph_say_so(report):
    data = board_payload.payload(4)
    data["lanes"][0].update(paths=[], lost=[])
    data["lanes"][1]["funnel"] = None
    page = report(data)
    assert "No path was found." in page.locator(".lane").nth(0).inner_text()
    assert "reads no graph" in page.locator(".lane").nth(3).inner_text()
    assert "No graph" in page.locator(".lane").nth(3).inner_text()
    for entry in data["lanes"]:
        entry["funnel"] = None
    for node in data["layout"]["nodes"]:
        node["role"] = "plain"
    page = report(data)
    assert texts(page, ".funnel") == ["No correct answer entered"] * 4


@pytest.mark.parametrize("lanes", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [420, 800, 1280])
def test_nothing_is_wider_than_the_page(report, lanes, width):
    page = report(board_payload.payload(lanes), width=width)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut = page.evaluate("""[...document.querySelectorAll('.hb p, .hb b, .hb .steps, .hb .drawn, .hb h3, .hb td, .hb .fact, .hb .tag')]
        .filter(node => node.offsetParent && !node.closest('.sr-only') && node.scrollWidth > node.clientWidth + 1)
        .filter(node => getComputedStyle(node).display !== 'inline')
        .map(node => node.className + node.textContent)""")
    assert cut == []


def test_dark_and_light_follow_the_reader(report):
    for scheme in ("light", "dark"):
        page = report(board_payload.payload(1), color_scheme=scheme)
        assert page.locator(".hb").get_attribute("data-theme") == scheme


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The board in Streamlit; its script lies beside a static folder and the settings, as app.py does."""
    folder = tmp_path_factory.mktemp("app")
    for name in ("static", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(HERE / "board_app.py", folder / "app.py")
    with server(folder, PYTHONPATH=str(ROOT)) as (url, _):
        yield url


def test_streamlit_keeps_the_board_while_it_streams_and_hears_what_is_pressed(browser, address):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    watch = Watch(page, address)
    page.set_default_timeout(90_000)  # a busy machine answers late
    page.goto(address)
    page.wait_for_selector(".lane canvas", timeout=120_000)
    page.locator("summary", has_text="Steps").first.click()
    first = page.locator(".model-text").first.inner_text()
    page.locator("[data-path='cheadle']").first.click()
    page.wait_for_function(
        "first => document.querySelector('.stBidiComponent [data-testid]').shadowRoot.querySelector('.model-text').innerText !== first",
        arg=first,
    )
    assert page.locator("details").first.get_attribute("open") is not None
    assert page.locator("[data-path='cheadle']").first.get_attribute("aria-pressed") == "true"
    press(page, 0, 2)
    page.get_by_role("dialog", name="About Terry George").wait_for()
    page.get_by_role("button", name="Start from here").click()
    page.get_by_text("go: {'node': 2, 'to': 'start'}").wait_for()
    page.get_by_role("button", name="Keep 75 nodes").click()
    page.get_by_text("repair: 1").wait_for()
    # what is pressed and then lost on the way, as where another run of the page cuts this one short, is sent again
    lost = """button => {
        let part = button;
        while (!part.hopscopePresses) part = part.parentNode ?? part.host;
        part.hopscopePresses.say = () => (window.lost = true);
        button.click();
    }"""
    page.get_by_role("button", name="Keep 75 paths").evaluate(lost)
    assert page.evaluate("window.lost")
    page.get_by_text("repair: 0").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert [said for said in watch.said if "404" not in said] == [] and watch.asked == []


def test_lanes_that_did_not_come_to_their_end_say_what_became_of_them(report):
    """No unfinished lane is said to read no graph, and none has lost a star.

    The lanes are a cancelled one, one not begun and a running one.
    """
    data = board_payload.finished(3)
    first, second, third = data["lanes"]
    data["lanes"] = [
        board_payload.unfinished(first, "cancelled", "Cancelled at step 2 of 3, rank"),
        board_payload.unfinished(second, "waiting", "Waiting"),
        board_payload.unfinished(third, "running", "Ranking 948 paths"),
    ]
    page = report(data)
    lanes = [lane.inner_text() for lane in page.locator(".lane").all()]
    said = (
        "Cancelled at step 2 of 3, rank: no paths.",
        "Cancelled: no answer.",
        "Cancelled: no graph.",
    )
    assert all(text in lanes[0] for text in said)
    assert "Not begun: no paths" in lanes[1] and "Not begun: no answer" in lanes[1]
    assert "this method is running" in lanes[2]
    assert not [
        text for text in lanes if "reads no graph" in text or "Correct answers lost here" in text
    ]


def test_a_stage_that_the_answer_does_not_come_by_is_grey_and_loses_nothing(report):
    data = board_payload.finished(1)
    data["lanes"][0]["funnel"][3] |= {"alive": 1, "lost": [], "aside": True}
    page = report(data)
    stage = page.locator(".stage").nth(3)
    assert stage.locator(".bar-same").count() == 1 and stage.locator(".lost-mark").count() == 0
    assert (
        stage.get_attribute("aria-label")
        == "prompt: 1 of 3. The graph reader reads all paths, and not the prompt"
    )


def test_a_repair_that_a_lane_makes_already_is_said_and_no_button(report):
    data = board_payload.finished(2)
    data["lanes"][0]["repair"] = {
        "label": "Keep 75 paths → 3 of 3",
        "there": "Method 2 does this already.",
    }
    page = report(data)
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert page.locator(".repaired").count() == 0  # a report repairs nothing
    page.evaluate(
        "payload => document.getElementById('board').hopscopeBoard.update(payload, { cytoscape, onRepair: () => {} })",
        data,
    )
    assert texts(page, ".repaired") == ["Keep 75 paths → 3 of 3. Method 2 does this already."]
    assert page.locator(".lane button.repair").count() == 0


def test_where_there_is_no_room_a_repair_says_that_it_takes_the_place_of_its_lane(report):
    data = {**board_payload.finished(3), "most_lanes": 3}
    page = report(data)
    update = "payload => document.getElementById('board').hopscopeBoard.update(payload, { cytoscape, onRepair: () => {} })"
    page.evaluate(update, data)
    assert texts(page, ".main-repair")[0].endswith(", in its place")
    assert texts(page, ".lane button.repair") == ["Keep 75 paths → 3 of 3, in its place"]
    page.evaluate(update, {**data, "most_lanes": 4})
    assert texts(page, ".lane button.repair") == ["Keep 75 paths → 3 of 3"]
