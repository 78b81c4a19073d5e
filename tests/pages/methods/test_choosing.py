"""The chooser of methods: headings, changed methods behind their base, and a heading that changes nothing."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.io.home import ROOT
from core.methods.catalogue import OWN_GROUP, Method, catalogue
from pages.parts.methods.groups import is_heading, method_options


def test_every_method_once_under_one_heading_a_group():
    known = catalogue() | {
        "own-mine": Method("own-mine", "Mine", catalogue()["lego-1"].line, group=OWN_GROUP)
    }
    found = method_options(known)
    headings = [key for key in found if is_heading(key)]
    assert {key for key in found if not is_heading(key)} == set(known)
    assert len(headings) == len(set(headings)) == len({one.group for one in known.values()})
    order = list(found)
    assert (
        order[0] == "# LEGO-GraphRAG, group I"
        and order[order.index("own-mine") - 1] == "# Saved by you"
    )
    assert found["lego-13-rounds"].startswith(
        "↳ Language model picks, in rounds · No. 13, in rounds · "
    ) and order.index("lego-13-rounds") < order.index("lego-14")
    assert not is_heading(None) and not is_heading("lego-1")


def lanes(**query) -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "compare.py"), default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def test_a_heading_is_no_start(movies):
    at = AppTest.from_file(str(ROOT / "pages" / "build.py"), default_timeout=120).run()
    for choice, cards in (("# Baselines", 0), ("lego-14-mean", 3), ("# Baselines", 3)):
        at.selectbox(key="build_start").set_value(choice).run()
        assert not at.exception and at.selectbox(key="build_start").value is None
        assert len(at.session_state["bench"].draft.bricks) == cards


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
