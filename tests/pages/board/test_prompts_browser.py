"""Two prompts side by side in a real browser."""

from __future__ import annotations

import pytest

from tests.pages.board import board_payload
from tests.pages.board.test_board import report, texts  # noqa: F401 - a fixture

ASK = {
    "role": "user",
    "content": "Paths:\nAnn -> knows -> Bob\nBob -> knows -> Cid\nCid -> sees -> Dan\nAnswer.",
}
OTHER = {
    "role": "user",
    "content": "Paths:\nCid -> sees -> Dan\n<script>alert(1)</script>\nAnn -> knows -> Bob\nAnswer.",
}


@pytest.fixture
def page(report):  # noqa: F811
    data = board_payload.finished(3)
    for lane, (message, tokens) in zip(data["lanes"], [(ASK, 31), (OTHER, 29), (ASK, 31)]):
        lane |= {
            "prompt": [{"role": "system", "content": "Use the paths."}, message],
            "prompt_tokens": tokens,
        }
    page = report(data)
    lane = page.locator(".lane").first
    lane.locator("summary", has_text="Prompt").click()
    lane.get_by_role("button", name="This prompt beside that of another method").click()
    return page


def cells(page, kind: str) -> list[str]:
    return [text.strip() for text in page.locator(f".cell.{kind} .text").all_inner_texts()]


def test_what_only_one_prompt_says_is_marked_and_what_is_elsewhere_too(page):
    """Ann and Cid stand in both prompts, in another order.

    One of the two is aligned, the other moved. Bob is on the left alone. This was worked out by
    hand.
    """
    dialog = page.get_by_role("dialog")
    assert (
        "4 lines in both, 1 moved; 1 only on the left, 1 only on the right." in dialog.inner_text()
    )
    assert cells(page, "left") == ["Bob -> knows -> Cid"] and cells(page, "right") == [
        "<script>alert(1)</script>"
    ]
    assert len(cells(page, "moved")) == 2 and len(set(cells(page, "moved"))) == 1
    assert texts(page, ".sides .fact") == ["31 tokens", "29 tokens"]
    page.get_by_label("only differences").check()
    assert "Use the paths." not in page.locator(".two-prompts").inner_text()
    page.get_by_label("Prompt on the right").select_option("lane-2")
    assert "are the same" in dialog.inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_alignment_is_the_longest_common_subsequence(page):
    """The lengths that a table by hand gives, and no line is lost or said twice."""
    found = page.evaluate(
        """() => {
          const board = document.getElementById("board").hopscopeBoard;
          const words = (text) => [...text].map((one) => ({ role: "x", content: one }));
          const out = [];
          for (const [a, b] of [["abcbdab", "bdcaba"], ["", "abc"], ["abc", "abc"], ["abcd", "dcba"]]) {
            board.payload.lanes[0].prompt = [{ role: "x", content: [...a].join("\\n") }];
            board.payload.lanes[1].prompt = [{ role: "x", content: [...b].join("\\n") }];
            board.prompts.only.checked = false;
            board.prompts.choices[0].value = "lane-0";
            board.prompts.choices[1].value = "lane-1";
            board.prompts.draw();
            const side = (n) => [...board.prompts.body.querySelectorAll(".pair")]
              .map((pair) => pair.children[n])
              .filter((cell) => cell.classList.contains("cell") && !cell.classList.contains("none"))
              .map((cell) => cell.querySelector(".text").textContent).join("");
            out.push([board.prompts.body.querySelectorAll(".cell.same").length / 2, side(0), side(1)]);
          }
          return out;
        }"""
    )
    assert found == [
        [4, "abcbdab", "bdcaba"],
        [0, "", "abc"],
        [3, "abc", "abc"],
        [1, "abcd", "dcba"],
    ]
