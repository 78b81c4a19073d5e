"""The Compare screen through Streamlit's own test driver: asking, suggestions, lanes, and bad input."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest

from core.cases.examples import demo
from core.diagnosis.repair import repair_work
from core.io.home import ROOT
from core.sources import GraphSource
from pages.parts.build.bench import Bench
from pages.parts.compare.lanes import _outcomes
from pages.parts.question.permalink import case_link
from pages.parts.shared.session import engine

PAGE = str(ROOT / "pages" / "compare.py")
QUESTION = "which person directed the movie Inception"
FAST = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()"


def opened(**query) -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def job(at: AppTest):
    found = engine().jobs.get(at.session_state["job"])
    assert found.wait(60)
    return found


def button(at: AppTest, label: str):
    return next(one for one in at.button if one.label == label)


def steps_of(at: AppTest, lane: int) -> None:
    """Open the dialog with the steps of a lane."""
    at.session_state["choosing"] = (lane, "step")
    at.run()


def hear(at: AppTest, *edits) -> None:
    """Send edits of the line in the dialog as the browser does, and draw the page."""
    one = at.session_state["lane_bench"][1]
    one.apply_message(
        {
            "who": "test",
            "edits": [{"n": n, **edit} for n, edit in enumerate(edits, one.last_edit[1] + 1)],
        },
        lambda text, parameter: None,
    )
    at.run()


def test_the_first_page_shows_a_finished_comparison_without_a_job(movies):
    at = opened(llm="0")
    assert not at.exception and "job" not in at.session_state
    assert (
        at.session_state["case"].example
        and at.text_input(key="question").value == at.session_state["case"].question
    )
    at.button(key="own").click().run()
    assert (
        not at.exception
        and at.text_input(key="question").value == ""
        and not at.session_state["entities"]
    )
    assert any(button.key and button.key.startswith("first-") for button in at.button)


def test_a_lane_that_is_changed_before_the_first_question_asks_nothing(movies):
    at = opened(llm="0", lane=[FAST, "lego-1"])
    steps_of(at, 0)
    assert button(at, "Change this method").disabled
    hear(at, {"do": "set", "key": 1, "name": "hops", "value": 2})
    assert any("hops 1 → 2" in one.value for one in at.caption)
    button(at, "Change this method").click().run()
    assert (
        not at.exception
        and not at.error
        and at.session_state["lanes"][0] == FAST.replace("hops=1", "")
    )


def test_any_change_of_the_line_is_tried_beside_and_one_that_cannot_be_run_is_not(movies):
    at = opened(llm="0", lane=[FAST, "lego-1"])
    steps_of(at, 0)
    hear(at, {"do": "remove", "key": 1})
    assert button(at, "Change this method").disabled and button(at, "Add as a new method").disabled
    hear(
        at,
        {"do": "undo"},
        {"do": "replace", "key": 3, "name": "RandomSelect"},
        {"do": "remove", "key": 4},
    )
    assert any("Rank, Answer → Random selection" in one.value for one in at.caption)
    button(at, "Add as a new method").click().run()
    assert not at.exception and at.session_state["lanes"] == [
        FAST,
        "EgoNetwork(hops=1) >> ShortestPaths() >> RandomSelect()",
        "lego-1",
    ]
    steps_of(at, 0)  # the lane's own line again
    assert button(at, "Change this method").disabled


def test_a_lane_is_added_that_is_put_together_from_nothing(movies):
    at = opened(llm="0", lane=["lego-1"])
    steps_of(at, 1)
    assert button(at, "Add this method").disabled
    hear(
        at,
        {"do": "insert", "slot": "0", "name": "EgoNetwork"},
        {"do": "insert", "slot": "1", "name": "SimplePaths"},
    )
    button(at, "Add this method").click().run()
    assert not at.exception and at.session_state["lanes"] == [
        "lego-1",
        "EgoNetwork() >> SimplePaths()",
    ]


def test_a_line_in_the_dialog_shows_what_came_of_its_steps_in_the_question_on_the_screen(movies):
    at = opened(q=QUESTION, lane=[FAST, "lego-1"], llm="0")
    comparison = job(at).comparison
    bench, lane = Bench.of_line(comparison.lanes[0].method.line), comparison.lanes[0].method
    found, extra = _outcomes(comparison, bench, lane)
    assert (
        set(found) == {1, 2, 3, 4}
        and "nodes" in found[1]["counts"]
        and [one["at"] for one in extra] == [3]
    )
    bench.apply_message(
        {"who": "a", "edits": [{"n": 1, "do": "set", "key": 3, "name": "keep", "value": 9}]},
        lambda *_: None,
    )
    assert set(_outcomes(comparison, bench, lane)[0]) == {1, 2}  # the rest was not run like this
    assert _outcomes(None, bench, lane) == _outcomes(comparison, bench, None) == ({}, [])


def test_a_dialog_left_open_is_closed_by_an_address(movies):
    at = opened(llm="0", q=QUESTION, lane=[FAST, "lego-1"])
    at.session_state["choosing"] = (1, "step")
    at.run()
    dialog = lambda: [one for one in at.button if one.label == "Change this method"]
    assert dialog()
    at.session_state["wanted_link"] = case_link(demo()[0])
    at.run()
    assert not at.exception and not dialog()


def test_a_failed_search_for_repairs_is_told_above_the_lanes(movies, monkeypatch):
    def fail(comparison):
        raise RuntimeError("out of order")

    monkeypatch.setattr(repair_work, "explain_comparison", fail)
    question = "who acted in the movies directed by the director of Some Mother's Son"
    at = opened(q=question, lane=[FAST.replace("keep=5", "keep=4")], llm="0")
    comparison, until = job(at).comparison, time.monotonic() + 60
    while comparison.is_repairing and time.monotonic() < until:
        time.sleep(0.02)
    at.run()
    (error,) = at.error
    assert not at.exception and error.value.startswith("The search for repairs failed\\. Something")
    assert error.value.endswith("RuntimeError\\: out of order")


def test_a_link_asks_at_once_and_brings_the_known_answers(movies):
    at = opened(
        q="who acted in the movies directed by the director of Some Mother's Son",
        lane=[FAST, "lego-1"],
        llm="0",
    )
    assert not at.exception
    comparison = job(at).comparison
    assert comparison.ask.question.entities == ("Some Mother's Son",)
    assert set(comparison.ask.question.answers) == {"Don Cheadle", "Joaquin Phoenix", "Bill Paxton"}
    assert [lane.method.id for lane in comparison.lanes] == [FAST, "lego-1"]
    assert all(lane.status == "done" for lane in comparison.lanes)


def test_typing_and_asking(movies):
    at = opened(llm="0", lane=[FAST])
    at.text_input(key="question").set_value(QUESTION)
    at.button(key="ask").click().run()
    assert not at.exception and job(at).comparison.ask.question.text == QUESTION
    assert at.query_params["q"] == [QUESTION] or at.query_params["q"] == QUESTION


def test_an_empty_question_says_what_to_do(movies):
    at = opened(llm="0")
    at.button(key="own").click().run()
    at.button(key="ask").click().run()
    assert "Type a question first" in at.error[0].value


def test_an_emptied_question_is_not_passed_over(movies):
    at = opened(q=QUESTION, lane=[FAST], llm="0")
    job(at)
    at.text_input(key="question").set_value("").run()
    assert "Type a question first" in at.error[0].value
    assert any(QUESTION in one.value for one in at.caption)  # what is below is said to be earlier
    at.text_input(key="question").set_value(QUESTION).run()
    assert not at.error


def test_a_first_page_with_no_question_says_nothing_of_it(movies):
    assert not opened(llm="0").error


def test_a_far_too_long_question_is_refused_in_a_sentence(movies):
    at = opened()
    at.text_input(key="question").set_value("x" * 20_000)
    at.button(key="ask").click().run()
    assert "too long" in at.error[0].value and not at.exception
    # the example that stays
    assert any(
        "Shown below is the question asked before: when did the movies" in one.value
        for one in at.caption
    )


def test_an_unknown_entity_offers_the_nearest_and_taking_one_asks(movies):
    at = opened(llm="0", lane=[FAST])
    at.text_input(key="question").set_value("who directed it").run()
    assert "Nothing in this graph matches the question" in at.error[0].value
    at.session_state["entities"] = ["Incepton"]
    at.button(key="ask").click().run()
    assert "Did you mean Inception" in at.error[0].value
    at.button(key="suggest-Inception").click().run()
    assert job(at).comparison.ask.question.entities == ("Inception",)


@pytest.mark.parametrize(
    "spec", ["lego-99", "Rank()", "__import__('os')", "<script>alert(1)</script>"]
)
def test_a_lane_that_cannot_be_read_says_why_and_leaves_the_others(movies, spec):
    at = opened(q=QUESTION, lane=[spec, FAST], llm="0")
    assert not at.exception and at.error
    assert [lane.method.id for lane in job(at).comparison.lanes] == [FAST]


def test_drawing_from_the_set_brings_entities_and_answers(movies):
    at = opened(llm="0", lane=[FAST])
    at.button(key="draw").click().run()
    assert at.session_state["entities"] and at.session_state["answers"]
    assert job(at).comparison.ask.question.answers


def test_one_operator_apart(movies):
    at = opened(q=QUESTION, lane=["lego-1"], llm="0")
    job(at)
    at.session_state["lanes"] = [
        "lego-1",
        "PersonalizedPageRank() >> ShortestPaths(hops=1) >> Answer()",
    ]
    at.button(key="ask").click().run()
    first, changed = (lane.method for lane in job(at).comparison.lanes)
    assert (first.name, changed.name) == ("No. 1", f"{first.label}, hops 1")


def test_a_click_right_after_typing_keeps_the_known_answers(movies):
    """The click's run may arrive with the fields as the browser still shows them, empty."""
    at = opened(llm="0", lane=[FAST])
    at.text_input(key="question").set_value(
        "who acted in the movies directed by the director of Some Mother's Son"
    ).run()
    job(at)
    at.text_input(key="question").set_value(
        "what genres are the films acted by Robert Armstrong in"
    )
    at.session_state["answers"] = []
    at.button(key="ask").click().run()
    assert set(job(at).comparison.ask.question.answers) == {
        "Drama",
        "Fantasy",
        "Adventure",
        "Family",
        "War",
    }


def test_a_question_of_another_set_on_the_graph_of_its_row(movies):
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state.source = GraphSource("webqsp-cwq")
    at.query_params["llm"] = "0"
    at.run()
    assert any("switzerland" in button.label for button in at.button)
    next(box for box in at.selectbox if box.label == "Question set").set_value("webqsp-own").run()
    at.button(key="draw").click().run()
    assert not at.exception and at.session_state["source"].name.startswith("webqsp-cwq:WebQTest-")
    assert at.session_state["entities"] and at.session_state["answers"]


def test_a_set_s_question_keeps_its_answers_where_its_reading_is_interrupted(movies, monkeypatch):
    """Streamlit breaks off what it runs as soon as the person does something else.

    An example is pressing Ask while a set is read.
    """
    from streamlit.runtime.scriptrunner_utils.exceptions import RerunException
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

    from pages.parts.question import question_bar

    text, times, known = (
        "who acted in the movies directed by the director of Some Mother's Son",
        [],
        question_bar.known_question,
    )

    def interrupted(text: str):
        times.append(text)
        if len(times) == 1:
            raise RerunException(RerunData())
        return known(text)

    at = opened(llm="0", lane=[FAST])
    monkeypatch.setattr(question_bar, "known_question", interrupted)
    at.text_input(key="question").set_value(text)
    at.button(key="ask").click().run()
    assert not at.exception and times
    asked = job(at).comparison.ask.question
    assert asked.text == text and set(asked.answers) == {
        "Don Cheadle",
        "Joaquin Phoenix",
        "Bill Paxton",
    }


def test_an_address_that_the_browser_has_not_changed_yet_takes_nothing_back(movies):
    """Typing at once after a switch is heard with the address of before.

    The browser learns the new one a moment later.
    """
    at = opened(q=QUESTION, lane=[FAST], llm="0")
    before = {key: at.query_params[key] for key in at.query_params}
    at.toggle(key="reader").set_value(False).run()
    assert not job(at).comparison.ask.uses_reader and at.query_params["reader"] in ("0", ["0"])
    at.query_params.clear()
    for key, value in before.items():
        at.query_params[key] = value
    at.text_input(key="question").set_value("when was Inferno released").run()
    asked = job(at).comparison.ask
    assert (
        not at.exception
        and asked.question.text == "when was Inferno released"
        and not asked.uses_reader
    )


def test_a_switch_is_heard_where_the_job_of_the_page_was_left(movies):
    at = opened(q="when was Alien released", lane=[FAST], llm="0")
    job(at).is_abandoned = True
    at.toggle(key="reader").set_value(False).run()
    assert not at.exception and not job(at).comparison.ask.uses_reader


def test_a_run_of_the_page_s_own_with_the_address_of_before_takes_nothing_back(movies):
    """The board has the page drawn anew with the address that the browser had then.

    It does so when a job ends or a lane's dialog opens.
    """
    at = opened(q=QUESTION, lane=[FAST], llm="0")
    before = {key: at.query_params[key] for key in at.query_params}
    at.text_input(key="question").set_value("when was Inferno released").run()
    at.query_params.clear()
    for key, value in before.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception and at.text_input(key="question").value == "when was Inferno released"
    assert job(at).comparison.ask.question.text == "when was Inferno released"


def test_switches_are_asked_with_once(movies):
    at = opened(q=QUESTION, lane=[FAST], llm="0")
    first = job(at)
    at.toggle(key="reader").set_value(False).run()
    second = job(at)
    at.run()
    assert second is not first and job(at) is second
