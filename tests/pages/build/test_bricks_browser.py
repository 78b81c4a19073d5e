"""The line of bricks is built by mouse and by keys in a real browser.

It is undone, run, and there again after a reload.
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import expect

from core.lines.difference import title_of
from core.methods.catalogue import catalogue
from tests.pages.shared.test_accessibility_browser import serious
from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
# The parameter whose field has the focus, in the browser.
FOCUSED_FIELD = """() => {
    let node = document.activeElement;
    while (node?.shadowRoot) node = node.shadowRoot.activeElement;
    return node?.dataset.field ?? '';
}"""
TWELVE = "PersonalizedPageRank() >> ShortestPaths() >> Rank() >> Answer()"


def opened(app: str, line: str = ""):
    return open_page(f"{app}/build{'?line=' + line if line else ''}")


def wait_for(page, *titles: str) -> None:
    """Wait until the line is these bricks, and nothing is under way."""
    expect(page.locator(".hk > .line .brick:not(.added) .name")).to_have_text(
        list(titles), timeout=60_000
    )
    expect(page.locator(".hk[aria-busy=false]")).to_have_count(1)


def line_in(page) -> str:
    return parse_qs(urlparse(page.url).query).get("line", [""])[0]


def drag(page, source, target) -> None:
    # what comes of a run makes bricks higher
    expect(page.locator(".change.pending")).to_have_count(0, timeout=120_000)
    settle(page)
    source.scroll_into_view_if_needed()
    one, other = source.bounding_box(), target.bounding_box()
    page.mouse.move(one["x"] + one["width"] / 3, one["y"] + one["height"] / 2)
    page.mouse.down()
    page.mouse.move(one["x"] + one["width"] / 3 + 12, one["y"] + one["height"] / 2 + 4, steps=3)
    page.mouse.move(other["x"] + other["width"] / 2, other["y"] + other["height"] / 2, steps=6)
    page.mouse.up()


def type_steps(page, *names: str) -> None:
    """Type the names of steps, each with Enter, from the first place of an empty line."""
    page.locator(".slot-button").first.wait_for(timeout=60_000)
    settle(page)
    page.locator(".slot-button").first.focus()
    page.keyboard.press("Enter")  # the palette of the place
    for name in names:
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(page.locator("input.search[type=search]")).to_have_value("")


def save_as(page, name: str) -> str:
    """Save the line under a name, and return the line as it was saved."""
    page.get_by_role("button", name="Save").first.press("Enter")
    page.get_by_label("Name", exact=True).fill(name)
    page.keyboard.press("Tab")
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_test_id("stToast")).to_contain_text(name)
    return repr(catalogue()[f"own-{name}"].line)


def test_no_12_is_typed_by_the_names_of_its_steps_and_then_changed_by_keys(app):
    with opened(app) as page:
        type_steps(page, "pagerank", "shortest paths", "rank", "answer")
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Answer")
        expect(page.locator(".brick.chosen .open")).to_be_focused()  # nothing follows an answer
        assert line_in(page) == TWELVE
        # it runs as it is built
        expect(page.locator(".hk > .line .brick .counts")).to_have_count(5, timeout=120_000)
        expect(page.locator(".change:not(.pending) .figures")).to_contain_text("Answers kept")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")  # the settings of Rank
        expect(page.locator("[data-field=model]")).to_be_focused()
        page.locator("[data-field=keep]").focus()
        page.keyboard.press("ArrowUp")
        expect(page.locator(".change .of")).to_have_text("Rank: keep 32 → 33", timeout=120_000)
        page.keyboard.press("Escape")
        page.keyboard.type("random")  # another step in its place
        page.keyboard.press("Enter")
        expect(page.locator(".change .of")).to_have_text("Rank → Random selection", timeout=120_000)
        expect(page.locator(".brick.chosen .open")).to_be_focused()
        expect(page.locator("input.search[type=search]")).to_have_value("")
        assert not serious(page)


@pytest.mark.parametrize("number", ["lego-12", "lego-14"])
def test_a_published_method_is_typed_and_saved_without_the_mouse(app, number):
    line = catalogue()[number].line
    with opened(app) as page:
        type_steps(page, *(title_of(type(step)).lower() for step in line))
        wait_for(page, *(title_of(type(step)) for step in line))
        if number == "lego-14":  # which has another value than the step begins with
            page.keyboard.press("ArrowLeft")
            page.keyboard.press("ArrowLeft")
            page.keyboard.press("Enter")
            expect(page.locator("[data-field]").first).to_be_focused()
            while page.evaluate(FOCUSED_FIELD) != "fanout":
                page.keyboard.press("Tab")
            page.keyboard.press("Control+a")
            page.keyboard.type("32")
            page.keyboard.press("Enter")
            wait_for(page, *(title_of(type(step)) for step in line))
        assert save_as(page, f"typed-{number}") == repr(line)


def test_what_is_typed_while_the_steps_of_the_next_place_are_fetched_is_not_lost(app):
    with opened(app) as page:
        page.locator(".slot-button").first.wait_for(timeout=60_000)
        settle(page)
        page.locator(".slot-button").first.focus()
        page.keyboard.press("Enter")
        page.keyboard.type("pagerank\nshortest paths\nrank\nanswer\n", delay=2)
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Answer")
        assert line_in(page) == TWELVE


def test_a_second_enter_takes_nothing_and_words_that_fit_nothing_stay(app):
    with opened(app) as page:
        type_steps(page, "pagerank")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        page.keyboard.type("sandwich")
        page.keyboard.press("Enter")
        wait_for(page, "PageRank")
        expect(page.locator("input.search[type=search]")).to_have_value("sandwich")
        expect(page.get_by_role("status").filter(has_text="No step that fits")).to_be_visible()


def test_names_are_taken_before_descriptions_and_arrows_take_another(app):
    line = "PersonalizedPageRank() >> ShortestPaths()"
    with opened(app, line) as page:
        wait_for(page, "PageRank", "Shortest paths")
        page.locator("[data-slot='2'] .slot-button").click()
        expect(page.locator(".hk[aria-busy=false]")).to_have_count(1)
        search = page.get_by_role("combobox", name="Search the steps that fit here")
        first = page.get_by_role("listbox", name="Steps that fit").get_by_role("option").first
        for typed, title in (("rank", "Rank"), ("answer", "Answer")):
            search.fill(typed)
            expect(first.locator("b")).to_have_text(title)
        search.fill("paths")
        options = page.get_by_role("option")
        expect(options.nth(0)).to_have_attribute("aria-selected", "true")
        search.press("ArrowDown")
        expect(options.nth(0)).to_have_attribute("aria-selected", "false")
        expect(options.nth(1)).to_have_attribute("aria-selected", "true")
        active = options.nth(1).get_attribute("id")
        assert active and search.get_attribute("aria-activedescendant") == active
        assert search.get_attribute("aria-controls") == "".join(
            page.get_by_role("listbox").evaluate_all("all => all.map(one => one.id)")
        )
        expect(search).to_be_focused()
        assert not serious(page)
        title = options.nth(1).locator("b").inner_text()
        search.press("Enter")
        wait_for(page, "PageRank", "Shortest paths", title)


def test_a_method_is_built_from_nothing_by_seven_presses_of_the_mouse_and_a_step_changed(app):
    with opened(app) as page:
        page.locator("[data-entry=PersonalizedPageRank]").wait_for(timeout=60_000)
        settle(page)
        page.locator("[data-entry=PersonalizedPageRank]").click()
        for number, (slot, step) in enumerate(
            (
                ("after PageRank", "ShortestPaths"),
                ("after Shortest paths", "Rank"),
                ("after Rank", "Answer"),
            ),
            1,
        ):
            expect(page.locator(".hk > .line .brick:not(.added)")).to_have_count(number)
            expect(page.locator(".hk[aria-busy=false]")).to_have_count(1)
            page.get_by_role("button", name=f"Add a step {slot}").click()
            expect(page.locator(".hk[aria-busy=false]")).to_have_count(1)
            page.locator(f"[data-entry={step}]").click()
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Answer")
        assert line_in(page) == TWELVE
        expect(page.locator(".hk > .line .brick .counts")).to_have_count(5, timeout=120_000)
        expect(page.locator(".change:not(.pending) .figures")).to_contain_text("Answers kept")
        page.locator("[data-brick='1'] > .open").click()
        page.get_by_role("button", name="Replace with").click()
        page.locator("[data-entry=EgoNetwork]").click()
        expect(page.locator(".change .of")).to_have_text(
            "PageRank → Neighbourhood", timeout=120_000
        )
        expect(page.locator(".change .figures")).to_contain_text("→")  # before and now


def test_keys_move_copy_remove_and_take_back(app):
    with opened(app, "PersonalizedPageRank() >> ShortestPaths() >> Rank()") as page:
        wait_for(page, "PageRank", "Shortest paths", "Rank")
        page.locator(".brick .open").nth(2).click()
        wait_for(page, "PageRank", "Shortest paths", "Rank")
        page.locator(".brick .open").nth(2).focus()
        page.keyboard.press("Control+d")
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Rank")
        page.keyboard.press("Alt+ArrowLeft")
        page.keyboard.press("Delete")
        wait_for(page, "PageRank", "Shortest paths", "Rank")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Delete")
        wait_for(page, "Shortest paths", "Rank")
        expect(page.locator(".brick .fault")).to_have_text(
            "“Shortest paths” reads a subgraph, and nothing before it extracts one."
        )
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        page.keyboard.press("Control+z")
        wait_for(page, "PageRank", "Shortest paths", "Rank")
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
        page.keyboard.press("Control+y")
        wait_for(page, "Shortest paths", "Rank")


def test_bricks_are_dragged_in_over_and_to_another_place(app):
    with opened(app, "EgoNetwork() >> ShortestPaths() >> Answer()") as page:
        wait_for(page, "Neighbourhood", "Shortest paths", "Answer")
        settle(page)
        drag(page, page.locator("[data-entry=Rank]"), page.locator("[data-slot='2']"))
        wait_for(page, "Neighbourhood", "Shortest paths", "Rank", "Answer")
        # it stays as a brick is put
        page.locator("input.search[type=search]").fill("personalised pagerank")
        drag(
            page,
            page.locator("[data-entry=PersonalizedPageRank]"),
            page.locator("[data-brick='1']"),
        )
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Answer")
        drag(page, page.locator("[data-brick='2']"), page.locator("[data-slot='4']"))
        wait_for(page, "PageRank", "Rank", "Answer", "Shortest paths")
        page.locator(".tool", has_text="Undo").click()
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Answer")
        assert line_in(page) == TWELVE


def test_it_is_run_and_changed_and_there_again_after_a_reload_and_another_page(app):
    with opened(app, "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5)") as page:
        wait_for(page, "Neighbourhood", "Shortest paths", "Rank")
        settle(page)
        page.get_by_role("button", name="Run", exact=True).click()
        # the graph reader's beside
        expect(page.locator(".hk > .line .brick .outcome .counts")).to_have_count(
            4, timeout=120_000
        )
        settle(page)
        page.locator(".brick .open").nth(2).click()
        page.locator("[data-field=keep]").fill("7")
        page.locator("[data-field=keep]").press("Enter")
        expect(page.locator(".brick.chosen .given")).to_contain_text("keep 7")
        # it ran again, beside what it was before
        expect(page.locator(".change .figures")).to_contain_text("→")
        expect(page.locator(".change .of")).to_have_text("Rank: keep 5 → 7")
        expect(page.locator(".change .legend")).to_contain_text("2 new")
        expect(page.locator(".hk > .line .brick .outcome .counts")).to_have_count(4)
        page.locator(
            ".curve .point", has_text="4"
        ).first.click()  # a value is set where one sees what it does
        expect(page.locator(".brick.chosen .given")).to_contain_text("keep 4")
        page.locator("[data-field=keep]").fill("7")
        page.locator("[data-field=keep]").press("Enter")
        expect(page.locator(".brick.chosen .given")).to_contain_text("keep 7")
        page.locator("[data-field=keep]").fill("none")
        page.locator("[data-field=keep]").press("Enter")
        expect(page.locator(".field .fault")).to_contain_text("must be a whole number")
        page.locator(".tool", has_text="As text").click()
        expect(page.locator(".text")).to_have_value(
            "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25', keep=7)".replace(
                "()", "(hops=1)", 1
            )
        )
        page.reload()
        wait_for(page, "Neighbourhood", "Shortest paths", "Rank")
        expect(page.locator(".brick .given").last).to_contain_text("keep 7")
        page.locator(".brick .mini.remove").first.click(force=True)
        wait_for(page, "Shortest paths", "Rank")
        page.get_by_role("link", name="Graphs").click()
        page.wait_for_url("**/graphs*")
        settle(page)
        page.go_back()
        wait_for(page, "Shortest paths", "Rank")
        page.reload()
        wait_for(page, "Shortest paths", "Rank")


def test_a_line_is_started_from_the_gallery_and_the_one_before_comes_back(app):
    with opened(app, "EgoNetwork() >> SimplePaths()") as page:
        wait_for(page, "Neighbourhood", "Complete paths")
        page.get_by_role("button", name="start from another method").click()
        page.get_by_role("searchbox", name="Search methods").fill("No. 12")
        row = page.locator(".chooser [data-id=lego-12]")
        expect(row).to_contain_text("Rank by meaning")
        assert not serious(page)
        row.click()
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Answer")
        page.locator(".tool", has_text="Undo").click()
        wait_for(page, "Neighbourhood", "Complete paths")


LOOK = """all => all.map(one => {
    const style = getComputedStyle(one);
    return ['backgroundColor', 'borderTopColor', 'borderTopLeftRadius', 'minHeight'].map(
        name => name === 'minHeight' ? one.getBoundingClientRect().height : style[name]);
})"""


def test_settings_look_as_the_page_s_own_boxes_and_a_long_help_opens_on_a_press(app):
    with opened(app, TWELVE) as page:
        wait_for(page, "PageRank", "Shortest paths", "Rank", "Answer")
        settle(page)
        own = page.get_by_test_id("stTextInputRootElement").evaluate_all(LOOK)[:1]
        page.locator("[data-brick='3'] > .open").click()
        page.locator("[data-field=model]").wait_for()
        page.mouse.move(0, 0)
        settle(page)
        for name in ("model", "keep"):
            assert page.locator(f"[data-field={name}]").evaluate_all(LOOK) == own
        rest = page.locator("details.help p").first
        expect(rest).to_be_hidden()
        page.locator("details.help summary").first.press("Enter")
        expect(rest).to_be_visible()


def test_a_hostile_name_is_drawn_as_text(app):
    with opened(app, "OwnRetriever(name='<img src=x onerror=document.title=1>')") as page:
        page.locator(".hk > .line .brick .given b").first.wait_for(timeout=60_000)
        assert page.locator(".hk img").count() == 0
