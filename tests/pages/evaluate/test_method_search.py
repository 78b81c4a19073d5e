"""“Find me a method” takes wishes on the screen, and shows and saves the front.

Wishes that cannot be granted are told in a sentence.
"""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.engine import Engine
from core.evaluation.search import verdict
from core.evaluation.search.search import Search
from core.evaluation.search.space import load_space
from core.evaluation.search.trial import OVER_BUDGET, TrialFigures
from core.io.home import ROOT
from core.methods.catalogue import catalogue
from core.runtime.jobs import JOB_CANCELLED
from pages.parts.evaluate import method_search
from pages.parts.shared.session import store
from tests.films import films

__all__ = ["films"]
SPACE = """
[[extract]]
operator = "EgoNetwork"
hops = [1, 2]
[[retrieve]]
operator = "ShortestPaths"
[[refine]]
operator = "Rank"
model = ["bm25"]
"""


@pytest.fixture
def at(films, tmp_path, monkeypatch):
    """The page, searching the films graph whatever sets are chosen; `at.asked` tells the wishes."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    tune, unseen = tmp_path / "tune.txt", tmp_path / "unseen.txt"
    tune.write_text("what genre has [One]\tDrama\nwho wrote [Two]\tAnn\n", "utf-8")
    unseen.write_text("who directed [Two]\tAnn\nwhen was [Two] released\t1999\n", "utf-8")
    (tmp_path / "space.toml").write_text(SPACE, "utf-8")
    monkeypatch.setattr(
        verdict,
        "load_space",
        lambda models, kinds: load_space(models, kinds, tmp_path / "space.toml"),
    )
    engine, asked = Engine(), []
    monkeypatch.setattr(method_search, "engine", lambda: engine)
    monkeypatch.setattr(
        method_search, "reference_lines", lambda known, models, documents=False: (known["lego-1"],)
    )

    def hunt(engine, sets, sample, later, later_sample, **wishes):
        asked.append((sets, sample, later, later_sample, wishes))
        return verdict.plan_search(
            engine,
            str(tune),
            sample,
            str(unseen) if later else "",
            later_sample,
            graph=str(films.folder),
            **wishes,
        )

    monkeypatch.setattr(method_search, "plan_search", hunt)
    made = AppTest.from_file(str(ROOT / "pages" / "evaluate.py"), default_timeout=90).run()
    made.asked = asked
    yield made
    engine.evaluations.stop()
    store().close()


def send(at):
    return at.button(key="search_form-go").click().run()


def said(at):
    return "\n".join(
        one.value
        for kind in (at.markdown, at.caption, at.success, at.info, at.error, at.warning)
        for one in kind
    )


def test_a_search_is_shown_judged_and_a_line_of_it_saved(at):
    assert not at.exception and not at.dataframe  # nothing was searched yet
    at.number_input(key="search_trials").set_value(3)
    at.number_input(key="search_budget").set_value(60.0)
    at.multiselect(key="search_kinds").set_value(["published"])
    send(at)
    assert not at.exception and not at.error, said(at)
    sets, sample, later, _, wishes = at.asked[0]
    assert (
        sets == ",".join(method_search.TUNING_SETS)
        and later == ",".join(method_search.UNSEEN_SETS)
        and sample == 8
    )
    assert (
        wishes["quality"],
        wishes["cost"],
        wishes["budget"],
        wishes["trials"],
        wishes["kinds"],
    ) == (
        "reader_hit@1",
        "seconds",
        60,
        3,
        ("published",),
    )
    table = at.dataframe[0].value
    assert (
        len(table) == 3
        and "best at its cost" in table["Outcome"].iloc[0]
        and table["reader_hit@1"].iloc[0] == table["reader_hit@1"].max()
    )
    assert "No\\. 1" in said(at) and "2 unseen questions" in said(at)
    # the sentence at the end, before the plot and the table
    assert any(one.value.startswith("**Take ") for one in at.markdown)
    assert wishes["only_affordable"] is True
    at.text_input(key="search_name").set_value("Mine").run()
    at.button(key="search_save").click().run()
    assert not at.exception and catalogue()["own-mine"].line.words() == table["Steps"].iloc[0]
    assert "Saved as “Mine”" in said(at)
    # of a row that was chosen before
    at.session_state["search_saved"] = ("another line", "Another")
    assert "Saved as" not in said(at.run())
    at.session_state["search_saved"] = (repr(catalogue()["own-mine"].line), "Mine")
    assert "Saved as “Mine”" in said(at.run())
    # without another visit
    assert any(label == "Mine" for label in at.multiselect(key="evaluate_methods-graph").options)
    at.button(key="search_save").click().run()
    assert "already a method" in at.error[0].value


def test_a_budget_that_nothing_keeps_and_wishes_that_cannot_be_granted(at):
    at.segmented_control(key="search_cost").set_value("tokens")
    send(at)
    assert "no method costs a token" in at.error[0].value and not at.dataframe
    at.segmented_control(key="search_cost").set_value("seconds")
    at.number_input(key="search_budget").set_value(0.001)
    at.number_input(key="search_trials").set_value(1)
    at.multiselect(key="search_kinds").set_value([])
    send(at)
    assert "nothing to retrieve with" in at.error[0].value


def test_a_search_that_was_cancelled_goes_on_and_one_of_another_server_is_told(at):
    at.number_input(key="search_trials").set_value(2)
    at.multiselect(key="search_kinds").set_value(["published"])
    at.multiselect(
        key=next(one.key for one in at.multiselect if one.label == "Test questions (unseen)")
    ).set_value([])
    send(at)
    name = at.session_state["search_last"]
    job = method_search.engine().evaluations.get(f"search-{name}")
    job.status = JOB_CANCELLED
    at.run()
    assert (
        not at.exception
        and "2 methods on 2 questions" in said(at)
        and "What was tried is kept" in said(at)
    )
    at.button(key="search-on").click().run()
    assert not at.exception and method_search.engine().evaluations.get(f"search-{name}") is not job
    at.query_params[method_search.SEARCH_PARAMETER] = "gone"
    at.run()
    assert not at.exception and "The server was restarted" in said(at)


def test_the_button_says_how_long_a_search_takes(at, monkeypatch):
    """The one published method is guessed to take 2 s, which is over 1 s.

    A search asks 25 methods 3 x 8 questions for at most 1 s each, then 3 methods 3 x 20 unseen
    ones, and measures the published one on 3: 600 + 180 + 3 = 783 s.
    """
    seconds = {"lego-1": 2.0}
    monkeypatch.setattr(
        method_search,
        "seconds_by_runs",
        lambda known: (sum(seconds[one.id] for one in known), ["one"]),
    )
    assert at.run().button(key="search_form-go").label == "Search, about 13 minutes"
    assert "1 of 1 published methods were never run here" in said(at)
    seconds["lego-1"] = 0.1  # now it is asked the unseen ones: 60 + 4 x 6 + .3 = 84 s
    assert at.run().button(key="search_form-go").label == "Search, about 84 seconds"
    at.segmented_control(key="search_cost").set_value("tokens").run()
    assert at.button(key="search_form-go").label == "Search"  # of tokens, no time is known


def test_published_methods_over_the_budget_are_counted_and_not_asked(at, monkeypatch):
    over = TrialFigures(0.0, 99.0, 1, OVER_BUDGET)
    monkeypatch.setattr(Search, "probe", lambda self, line, job: over)
    at.number_input(key="search_trials").set_value(2)
    at.number_input(key="search_budget").set_value(60.0)
    at.multiselect(key="search_kinds").set_value(["published"])
    send(at)
    (name,) = [at.session_state["search_last"]]
    plan = method_search._plans[name]
    tried = {repr(point.line) for point in plan.search.points()}
    if repr(catalogue()["lego-1"].line) not in tried:
        assert [one.id for one in plan.left_out] == ["lego-1"]
        assert "1 published method left out" in said(at) and not store().runs()
        assert "it was not compared" in said(at)


def test_the_blank_of_the_sets_is_short(at):
    labels = [one.proto.popover.label for one in at.get("popover")]
    assert "1 to 3 hops" in labels
