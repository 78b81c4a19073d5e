"""The choice of methods: by a typed name, and by an address."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.io.home import ROOT
from core.methods.catalogue import catalogue
from core.sources import CorpusSource, GraphSource
from pages.parts.methods.options import method_options


@pytest.mark.parametrize("source", [GraphSource("metaqa"), CorpusSource("letters")])
def test_the_first_name_with_the_typed_text_is_the_method_of_that_name(source):
    known = {id: method for id, method in catalogue().items() if method.is_for(source)}
    options = method_options(known)
    assert set(options) == set(known)
    for method in known.values():
        for typed in filter(None, (method.label, method.secondary_name)):
            first = next(id for id, name in options.items() if typed.lower() in name.lower())
            assert typed in (known[first].label, known[first].secondary_name)


def lanes(**query) -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "compare.py"), default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def test_a_heading_in_the_address_is_no_method(movies):
    at = lanes(
        q="which person directed the movie Inception", lane=["# Baselines", "lego-1"], llm="0"
    )
    assert at.error[0].value.replace("\\", "").startswith("There is no method “# Baselines”")


def test_a_first_name_in_the_address_opens_the_method_of_the_id(movies):
    names = ["pagerank-paths", "lego-14"]
    at = lanes(q="which person directed the movie Inception", lane=names, llm="0")
    assert at.session_state["lanes"] == ["lego-1", "lego-14"]
    assert not at.error and not at.exception


def test_an_unknown_method_in_the_address_is_named_and_the_nearest_three_are_offered(movies):
    at = lanes(q="which person directed the movie Inception", lane=["shortest-path"], llm="0")
    assert len(at.error) == 1 and not at.exception
    told = at.error[0].value.replace("\\", "")
    assert "“shortest-path”" in told and len(told) < 300
    offered = [one for one in at.button if (one.key or "").startswith("use-shortest-path-")]
    assert len(offered) == 3
    next(one for one in offered if one.key.endswith("-lego-1")).click().run()
    assert at.session_state["lanes"] == ["lego-1"] and not at.error


def test_a_method_whose_model_is_not_here_says_why_where_its_steps_are_changed(movies):
    at = lanes(lane=["gsr"], llm="0")
    at.session_state["choosing"] = (0, "step")
    at.run()
    assert not at.exception
    told = [caption.value.replace("\\", "") for caption in at.caption]
    assert any("no weights of it come with Hopscope" in text for text in told)
    assert any("Cannot run: GSR trains a T5" in text for text in told)
