"""The page says what is wrong with a link as nobody would write it.

It never ends in a fault of its own.
"""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from core.graph.building.build import build
from core.io.home import ROOT
from pages.parts.question.permalink import parse_link

MARKED = "![x](https://example.org/x.png) [y](https://example.org) <img src=x>"
RAW = re.compile(r"(?<!\\)(\[[xy]\]|<img)")  # a link, an image or a tag whose mark is not escaped
LINKS = {
    "a lane with an unhashable key": {"lane": "PersonalizedPageRank(keep={[]:1})"},
    "a lane that draws": {"lane": MARKED},
    "half a letter in a lane": {"lane": "BuiltGraph(build='\\ud800')"},
    "a long graph": {"graph": "a" * 2_000, "q": "who"},
    "a seed that is no number": {"seed": "²", "q": "who"},
    "an unknown graph": {"graph": MARKED, "q": "who"},
    "a graph out of the folder": {"graph": "../../etc"},
    "an unknown corpus": {"corpus": "../" + MARKED, "q": "who"},
    "entities that draw": {"e": [MARKED, "\x00", ""], "q": "who"},
    "a very long question": {"q": "who " * 5_000, "lane": "lego-14"},
    "everything at once": {
        "q": "\x00",
        "e": "A",
        "a": MARKED,
        "lane": ["", "(", "x" * 999],
        "seed": "9" * 40,
        "llm": "x",
        "reader": "",
    },
}


@pytest.mark.parametrize("query", LINKS.values(), ids=LINKS)
def test_a_link_ends_in_no_fault(monkeypatch, tmp_path, query):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    build([("A", "r", "B")], tmp_path / "graphs" / "small", "small", "both")
    at = AppTest.from_file(str(ROOT / "pages" / "compare.py"), default_timeout=60)
    for name, value in ({"graph": "small", "llm": "0"} | query).items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    drawn = [
        element.value for kind in (at.error, at.warning, at.info, at.caption) for element in kind
    ]
    assert [text for text in drawn if RAW.search(text)] == []


def test_half_a_letter_in_a_link_is_left_out_of_the_next_one():
    link = parse_link({"q": "who \ud83d", "e": ["\udfff"], "graph": "\ud800", "lane": "lego-1"})
    assert "who+%3F" in link.address("http://127.0.0.1:8501/")
