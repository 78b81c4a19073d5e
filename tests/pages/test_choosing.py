"""The chooser of instances: headings, changed instances behind their base, and a heading that changes nothing."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.home import ROOT
from core.instances.catalogue import OWN, Instance, catalogue
from pages.parts.choosing import is_heading, options


def test_every_instance_once_under_one_heading_a_group():
    known = catalogue() | {"own-mine": Instance("own-mine", "Mine", catalogue()["lego-1"].line, group=OWN)}
    found = options(known)
    headings = [key for key in found if is_heading(key)]
    assert {key for key in found if not is_heading(key)} == set(known)
    assert len(headings) == len(set(headings)) == len({one.group for one in known.values()})
    order = list(found)
    assert order[0] == "# LEGO-GraphRAG, group I" and order[order.index("own-mine") - 1] == "# Saved by you"
    assert found["lego-13-rounds"].startswith("↳ Language model picks, in rounds · No. 13, in rounds · ") and order.index("lego-13-rounds") < order.index("lego-14")
    assert not is_heading(None) and not is_heading("lego-1")


def lanes(**query) -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "compare.py"), default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def test_choosing_a_heading_leaves_the_lane_as_it_was(movies):
    at = lanes(lane=["lego-14"], llm="0")
    box = next(box for box in at.selectbox if box.label == "Lane 1")
    box.set_value("# LEGO-GraphRAG v1, path filtering").run()
    assert not at.exception and at.session_state["lanes"] == ["lego-14"]
    box = next(box for box in at.selectbox if box.label == "Lane 1")
    assert box.value == "lego-14"
    box.set_value("lego-v1-9").run()
    assert at.session_state["lanes"] == ["lego-v1-9"]
    assert any("LEGO-GraphRAG v1, No. 9" in caption.value.replace("\\", "") for caption in at.caption)
    assert any("bags of characters" in caption.value for caption in at.caption)


def test_a_heading_is_no_start(movies):
    at = AppTest.from_file(str(ROOT / "pages" / "build.py"), default_timeout=120).run()
    for choice, cards in (("# Baselines", 0), ("lego-14-mean", 3), ("# Baselines", 3)):
        at.selectbox(key="build_start").set_value(choice).run()
        assert not at.exception and at.selectbox(key="build_start").value is None
        assert len(at.session_state["draft"].operators) == cards


def test_a_heading_in_the_address_is_no_instance(movies):
    assert lanes(lane=["# Baselines"], llm="0").error[0].value.startswith("There is no instance “# Baselines”")


def test_an_instance_whose_model_is_not_here_says_why_beside_its_chooser(movies):
    at = lanes(lane=["gsr"], llm="0")
    assert not at.exception
    told = [caption.value.replace("\\", "") for caption in at.caption]
    assert any("no weights of it come with Hopscope" in text for text in told) and any(
        "Cannot run: GSR trains a T5" in text for text in told
    )
