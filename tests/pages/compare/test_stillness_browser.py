"""Nothing on the board moves, fades or changes its size while its methods work.

The browser is real, and the model server answers when it is let.
"""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.core.models.chat.test_thoughts import sent, texts
from tests.core.models.chat_server import serving, stream
from tests.server import open_page, server

pytestmark = pytest.mark.usefixtures("browser")
LINES = (
    "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()",
    "PersonalizedPageRank(keep=200) >> ShortestPaths() >> Answer()",
)
FIRST = "which person directed the movie Inception"
SECOND = "when was Inferno released"
ANSWER = "It was released in 2016, and before that in 1980; another film of that name is of 1953."
# Notes each place, size and opacity of what stands at a fixed place, at every frame.
WATCH = """question => {
    const deep = (selector, root = document) => [
        ...root.querySelectorAll(selector),
        ...[...root.querySelectorAll('*')].flatMap(node => node.shadowRoot ? deep(selector, node.shadowRoot) : []),
    ];
    const opacity = node => {
        let product = 1;
        for (let at = node; at; at = at.parentElement ?? at.getRootNode().host) product *= getComputedStyle(at).opacity;
        return product;
    };
    window.boxes = {};
    window.watches = true;
    const PARTS = '.band, .together, .lane > .head, .lane-tools, .state, .lane > .answer, .lane > .funnel, .lane > .graph';
    const look = () => {
        if (deep(`[data-question=${JSON.stringify(question)}]`).length) {
            const seen = {};
            for (const node of deep(PARTS)) {
                const name = node.classList[0];
                seen[name] = (seen[name] ?? 0) + 1;
                const { x, y, width, height } = node.getBoundingClientRect();
                const value = [x, y + scrollY, width, height, opacity(node)].map(number => Math.round(number * 10) / 10).join(' ');
                const values = window.boxes[`${name} ${seen[name]}`] ??= [];
                if (values.at(-1) !== value) values.push(value);
            }
        }
        if (window.watches) requestAnimationFrame(look);
    };
    look();
}"""


@pytest.fixture(scope="module")
def slow_app(movies, tmp_path_factory):
    """An app whose language model answers when it is let: its address, and what lets it."""
    home = tmp_path_factory.mktemp("slow")
    (home / "graphs").symlink_to(Path(os.environ["HOPSCOPE_HOME"]) / "graphs")
    turns = threading.Semaphore(0)

    def reply(handler, body):
        turns.acquire()
        stream(handler, sent(*texts(ANSWER), finish="stop"))

    with serving(reply) as (url, _):
        row = f'kind = "chat"\nbackend = "openai"\ntitle = "Slow"\nurl = "{url}"\nmodel = "slow"\n'
        (home / "models.toml").write_text(
            f'[roles]\nanswer = "slow"\n\n[model.slow]\n{row}', "utf-8"
        )
        with server(HOPSCOPE_HOME=str(home)) as (address, _):
            yield address, turns
        turns.release(1_000)


def lanes_of(page, question: str):
    return page.locator(f"[data-question={json.dumps(question)}] .lane")


def test_nothing_moves_or_fades_while_methods_work_and_a_slow_server_is_named(slow_app):
    address, turns = slow_app
    query = urlencode({"q": FIRST, "lane": LINES}, doseq=True)
    with open_page(f"{address}/?{query}") as page:
        turns.release(2)
        for lane in (0, 1):
            expect(lanes_of(page, FIRST).nth(lane)).to_have_attribute(
                "data-status", "done", timeout=120_000
            )
        while turns.acquire(blocking=False):  # two equal prompts are asked once
            pass
        page.evaluate(WATCH, SECOND)
        page.get_by_role("textbox", name="Question").fill(SECOND)
        page.get_by_role("button", name="Ask", exact=True).click()
        lanes = lanes_of(page, SECOND)
        state = lanes.first.locator(".state")
        expect(state).to_contain_text(re.compile(r"Waiting for Slow, \d+ s"), timeout=60_000)
        # until both have retrieved, after which the graph reader's answers are compared
        expect(page.locator(".band")).to_contain_text(re.compile("0 of 2|by the graph reader"))
        turns.release(2)
        for lane in (0, 1):
            expect(lanes.nth(lane)).to_have_attribute("data-status", "done", timeout=60_000)
        expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()
        page.wait_for_timeout(1_500)  # what comes after the last moment of the run
        expect(state.locator(".clock")).to_be_empty()
        boxes = page.evaluate("window.watches = false, window.boxes")
        assert {"head 1", "head 2", "graph 2", "band 1"} <= set(boxes)
        assert {name: values for name, values in boxes.items() if len(values) > 1} == {}
        first, second = (boxes[f"lane-tools {lane}"][0].split() for lane in (1, 2))
        assert first[1] == second[1]


def test_four_methods_stand_side_by_side_on_a_small_screen(slow_app):
    lines = [LINES[0].replace("keep=5", f"keep={keep}") for keep in (2, 3, 4, 5)]
    query = urlencode({"q": FIRST, "lane": lines, "llm": "0"}, doseq=True)
    with open_page(f"{slow_app[0]}/?{query}") as page:
        lanes = lanes_of(page, FIRST)
        expect(lanes.nth(3)).to_have_attribute("data-status", "done", timeout=120_000)
        for width, height in ((1280, 720), (1440, 900)):
            page.set_viewport_size({"width": width, "height": height})
            box = page.locator(".lanes")
            page.wait_for_timeout(500)  # the layout follows the window
            assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 1
            assert (
                lanes.evaluate_all(
                    "lanes => lanes.flatMap(lane => [...lane.querySelectorAll('.stage')])"
                    ".filter(stage => stage.scrollWidth > stage.clientWidth).length"
                )
                == 0
            )
