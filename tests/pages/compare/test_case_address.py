"""A case that was answered before has an address on Compare.

The address opens it. What is done next replaces the address.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.cases import cases, comparison_of_case, delete, duplicate, save
from core.cases.examples import demo
from core.io.home import ROOT
from core.sources import CorpusSource
from pages.parts.shared.session import engine

CORPUS = "hotpotqa"
HOSTILE = (
    "../../etc",
    "<script>alert(1)</script>",
    "![x](https://example.org/x.png)",
    "0123456789ab",
    "x" * 5_000,
    "example-demo-0",
)


@pytest.fixture(autouse=True)
def home(movies, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "compare.py"), default_timeout=60)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def parameter(at: AppTest, key: str) -> str | None:
    """The last value of a query parameter."""
    told = at.query_params.get(key)
    return told[-1] if isinstance(told, list) and told else told or None


def on_screen(at: AppTest) -> str | None:
    return at.session_state["case"].id if "case" in at.session_state else None


def said(at: AppTest) -> str:
    return "\n".join(part.value for kind in (at.error, at.caption) for part in kind)


def first_case(at: AppTest):
    return next(button for button in at.button if button.key and button.key.startswith("before-"))


def test_a_case_that_is_opened_stands_in_the_address():
    at = opened(corpus=CORPUS, llm="0")
    button = first_case(at)
    button.click().run()
    key = button.key.removeprefix("before-")
    assert not at.exception and on_screen(at) == parameter(at, "case") == key
    assert parameter(at, "q") is None and parameter(at, "corpus") is None
    at.run()
    assert on_screen(at) == key and at.session_state["source"] == CorpusSource(CORPUS)


def test_an_address_with_a_case_opens_it_with_its_question_and_lanes():
    case = demo()[-1]
    at = opened(case=case.id)
    assert not at.exception and on_screen(at) == case.id and "job" not in at.session_state
    assert at.text_input(key="question").value == case.question and len(
        at.session_state["lanes"]
    ) == len(case.methods)
    assert "Saved example" in said(at)


def test_an_empty_case_is_the_first_page():
    at = opened(case="")
    assert not at.exception and not at.error and on_screen(at) == demo()[0].id


@pytest.mark.parametrize("key", HOSTILE)
def test_a_case_that_is_not_there_is_one_sentence_above_the_first_page(key):
    at = opened(case=key)
    assert not at.exception and [
        error.value.startswith("There is no case") for error in at.error
    ] == [True]
    assert "<script" not in said(at).replace("\\<script", "") and "![" not in said(at)
    assert on_screen(at) == demo()[0].id
    at.button(key="own").click().run()
    assert not at.exception and not at.error and parameter(at, "case") is None


def test_trying_one_s_own_replaces_the_case_by_an_empty_question():
    at = opened(case=demo()[0].id)
    lanes = list(at.session_state["lanes"])
    at.button(key="own").click().run()
    assert not at.exception and on_screen(at) is None and parameter(at, "case") is None
    assert (
        at.session_state["lanes"] == lanes
        and not at.session_state["entities"]
        and not at.session_state["answers"]
    )
    again = opened(q="")  # as that address is loaded again, where the lanes are the usual ones
    assert (
        not again.exception
        and on_screen(again) is None
        and again.text_input(key="question").value == ""
    )


def test_asking_replaces_the_case_by_the_question():
    at = opened(case=demo()[0].id)
    at.session_state["model"] = False
    at.session_state["lanes"] = [
        "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()"
    ]
    at.button(key="ask").click().run()
    assert not at.exception and on_screen(at) is None
    assert parameter(at, "case") is None and parameter(at, "q") == demo()[0].question


def test_one_s_own_case_opens_by_its_address_and_tells_where_its_graph_is_gone():
    key = duplicate(demo()[0].id).id
    at = opened(case=key)
    assert not at.exception and on_screen(at) == key and "Saved case" in said(at)
    gone = save(comparison_of_case(key), {"q": "who", "graph": "elsewhere"})
    at = opened(case=gone.id)
    assert (
        not at.exception
        and on_screen(at) == gone.id
        and "“elsewhere”, which is not here" in said(at)
    )
    delete(key)
    assert opened(case=key).error and key not in {case.id for case in cases()}


@pytest.mark.parametrize("is_present", [True, False])
def test_a_model_that_is_absent_does_not_answer_by_default(monkeypatch, is_present):
    """Without the model each lane of the first question would end with an error."""
    info = engine().models.info
    monkeypatch.setattr(
        engine().models, "info", lambda name: replace(info(name), present=is_present)
    )
    at = opened()
    assert at.session_state["model"] is is_present
