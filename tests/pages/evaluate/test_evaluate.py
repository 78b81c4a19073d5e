"""The Evaluate screen through Streamlit's own test driver: start, figures, questions, open one, delete, bad addresses."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from core.datasets import datasets
from core.datasets.own_sets import save_set
from core.errors import HopscopeError
from core.evaluation.metrics.outcome import OperatorCost
from core.evaluation.reports.time_estimates import _run_seconds
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.saved_runs import enlarge_plan
from core.evaluation.runs.store import evaluations_file
from core.io.home import ROOT, home_folder
from core.methods.catalogue import Method, catalogue
from core.models.price import Cap
from core.operators.text import parse_line
from core.sources import GraphSource
from pages.parts.evaluate.recommendation import _cached_router
from pages.parts.shared.session import engine, store
from tests.pages.compare.three_documents import KNOWN, WIDE, made


@pytest.fixture(scope="module")
def saved(movies, tmp_path_factory):
    """The file of a finished run, its number 1: No. 1 on three questions, and No. 10."""
    engine().graph()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("saved")))
        known = catalogue()
        methods = [known["lego-1"], known["lego-10"]]
        plan = make_plan(methods, "metaqa-1hop-dev", 3, engine().graph, model=False)
        job = evaluate(engine(), store(), plan)
        assert job.wait(120) and not job.error and job.number == 1
        store().close()
        return evaluations_file()


@pytest.fixture
def home(movies, tmp_path, monkeypatch):
    """The evaluations of a home of the test's own; the graph is where the other tests have it."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    yield store()
    for run in store().runs():
        job = engine().evaluations.get(f"evaluation-{run.id}")
        if job is not None:
            job.cancel()
            assert job.wait(120)
    store().close()


@pytest.fixture
def run(home, saved):
    """The number of the saved run, in a home of the test's own."""
    with closing(sqlite3.connect(saved)) as database:
        database.backup(home._db)
    return 1


def opened(**query: object) -> AppTest:
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)
    at.switch_page("pages/evaluate.py")
    for name, value in query.items():
        at.query_params[name] = str(value)
    return at.run()


def part_of(run: int, part: str, *sections: str) -> AppTest:
    """A tab of a run, with some of its sections open."""
    at = opened(run=run, part=part)
    for section in sections:
        at.session_state[f"open-{section}"] = True
    return at.run()


def said(at: AppTest) -> str:
    return "\n".join(
        part.value
        for kind in (at.markdown, at.caption, at.text, at.subheader, at.error)
        for part in kind
    )


def test_without_any_the_form_says_what_happens(home):
    at = opened()
    assert not at.exception and "No evaluation yet" in said(at)


def test_the_sets_are_those_of_the_chosen_graph(home):
    at = opened()
    assert at.multiselect[0].options == [one.title for one in datasets()["metaqa"].sets.values()]
    assert at.multiselect[0].value == ["metaqa-1hop-dev"]
    at.session_state.source = GraphSource("pathquestion-2hop")
    at.run()
    assert not at.exception
    assert at.multiselect[0].options == [
        one.title for one in datasets()["pathquestion-2hop"].sets.values()
    ]
    assert at.multiselect[0].value == [next(iter(datasets()["pathquestion-2hop"].sets))]


def test_a_graph_without_questions_leads_to_where_they_are_added(home):
    at = opened(graph="umls")
    assert not at.exception and "has no questions yet" in said(at) + at.info[0].value
    assert not any(b.label.startswith("Start") for b in at.button)
    link = next(one for one in at.get("page_link") if one.label == "Add questions to this graph")
    assert "add=questions" in link.proto.query_string and "graph=umls" in link.proto.query_string


def test_questions_that_were_just_kept_are_chosen(home):
    file = home_folder() / "mine.csv"
    file.write_text("question,answers,entities\nwhat genre is Heat,Crime,Heat\n", "utf-8")
    save_set(file, "mine", "Mine", "metaqa", {})
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)
    at.session_state["evaluate_sets"] = ["mine"]
    at.switch_page("pages/evaluate.py").run()
    assert not at.exception and at.multiselect[0].value == ["mine"]


def test_a_started_evaluation_is_followed_and_kept(home):
    at = opened()
    at.multiselect[1].set_value(["lego-1"])
    at.number_input[0].set_value(2)
    at.button(key="evaluate-go").click()
    at.run()
    assert not at.exception
    number = home.runs()[0].id
    assert engine().evaluations.get(f"evaluation-{number}").wait(120)
    told = home.run(number)
    assert (told.done, told.failed, told.spec["sample"]) == (2, 0, 2)
    at = opened(run=number)
    assert not at.exception and "1 method on “" in said(at)


def test_figures_tests_and_meanings_of_a_run(run):
    at = part_of(run, "Figures", "tests", "costs", "meanings")
    assert not at.exception
    figures, tests, costs, meanings = (one.value for one in at.dataframe)
    assert set(figures["Method"]) == {
        f"{one.label} ({one.secondary_name})"
        for one in (catalogue()["lego-1"], catalogue()["lego-10"])
    }
    # the metric of the recommendation, seconds and tokens come first
    assert list(figures)[:4] == ["Method", "Rank", "reader_hit@1", "seconds"]
    # every answer is one step from the topic entity
    assert figures["subgraph_recall"][0].startswith("1.00 [")
    assert {"PageRank", "Shortest paths"} <= set(costs["Step"])  # the words of Build
    assert len(set(tests["Method"])) == 1
    assert "Subgraph precision" in set(meanings["Metric"])


def test_columns_without_a_figure_are_left_out(run):
    """No passages are asked for on triples, so their recall has no figure."""
    at = part_of(run, "Figures")
    key = "figures_metrics_reader_hit@1"
    at.multiselect(key=key).set_value(["passage_recall@4", "seconds"]).run()
    assert not at.exception and list(at.dataframe[0].value) == ["Method", "Rank", "seconds"]
    assert not at.dataframe[0].value.isin(["–", "None", None]).any().any()


def test_an_address_of_a_former_tab_opens_where_its_content_is(run):
    at = opened(run=run, part="Paired tests")
    assert not at.exception and at.session_state["part"] == "Figures"
    assert any("p, corrected" in one.value for one in at.dataframe)


def test_the_start_button_says_how_long_it_takes(home, run):
    """The saved rows take 1.5 s by PageRank and .5 s by shortest paths: 2 s a question.

    50 questions of Shortest paths take 100 s. Another method was never run, so it is guessed.
    """
    costs = (
        OperatorCost("PersonalizedPageRank", "extract", 1.5, 0, 0, 0),
        OperatorCost("ShortestPaths", "retrieve", 0.5, 0, 0, 0),
    )
    for row in home.rows(run):
        home.save_row(
            run, row.method, row.question.id, replace(row.outcome, costs=costs), None, None
        )
    _run_seconds.cache_clear()
    at = opened()
    at.multiselect[1].set_value(["lego-1"]).run()
    assert at.button(key="evaluate-go").label == "Start: about 2 minutes"  # 100 s
    at.number_input(key="evaluate_size").set_value(20).run()
    assert at.button(key="evaluate-go").label == "Start: about 40 seconds"
    assert "guessed" not in said(at)
    at.multiselect[1].set_value(["chain-ranking"]).run()
    assert "so guessed: Relation chains" in said(at).replace("\\", "")
    at.multiselect[1].set_value([]).run()
    assert at.button(key="evaluate-go").label == "Start"


def test_the_form_is_open_until_there_is_a_result_and_where_a_set_was_brought(home, run):
    form = lambda at: next(one for one in at.expander if one.label == "New evaluation")
    assert not form(opened()).proto.expanded
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)
    at.session_state["evaluate_sets"] = ["metaqa-2hop-dev"]
    at.switch_page("pages/evaluate.py").run()
    assert form(at).proto.expanded and form(at.run()).proto.expanded
    home.delete(run)
    assert form(opened()).proto.expanded


def test_methods_are_short_chips_without_select_all(home):
    at = opened()
    methods = at.multiselect[1]
    assert "Shortest paths (No. 1)" in methods.options
    assert not any("PageRank ≤" in one or " → " in one for one in methods.options)
    assert [at.multiselect[index].proto.select_all for index in (0, 1)] == [0, 0]


def test_a_run_opens_on_its_recommendation_and_goes_on_with_more_questions(home):
    """Both methods find all twelve questions of one hop.

    Nothing tells the methods apart, and the table gives both the first rank.
    """
    known = catalogue()
    plan = make_plan(
        [known["lego-1"], known["lego-10"]], "metaqa-1hop-dev", 12, engine().graph, model=False
    )
    job = evaluate(engine(), store(), plan)
    assert job.wait(120) and not job.error
    at = opened(run=job.number)
    words = said(at)
    assert not at.exception  # the one that took less time is advised, and both take milliseconds
    assert re.search(
        r"\*\*Take Shortest paths(, relations filtered)?: no significant difference",
        words.replace("\\", ""),
    )
    assert [one.label for one in at.tabs] == ["Why", "Reading", "Questions", "Figures", "Export"]
    assert "The bracket: no significant difference." in words.replace("\\", "")
    assert list(part_of(job.number, "Figures").dataframe[0].value["Rank"]) == ["1", "1"]
    more = enlarge_plan(store(), home.run(job.number), 3, engine().graph)
    assert [one.question.id for one in more.drawn[:12]] == [
        one.question.id for one in plan.drawn
    ] and len(more.drawn) == 15
    assert more.methods == plan.methods and (more.set, more.graphs, more.model) == (
        plan.set,
        plan.graphs,
        False,
    )


def test_the_table_of_an_unfinished_run_says_on_how_many_questions_it_rests(home):
    one = catalogue()["lego-1"]
    plan = make_plan([one], "metaqa-1hop-dev,metaqa-2hop-dev", 2, engine().graph, model=False)
    whole = evaluate(engine(), store(), plan)
    assert whole.wait(120) and not whole.error
    begun = home.begin_run(home.run(whole.number).spec, plan.drawn, again=True)
    for row in home.rows(whole.number)[:3]:
        home.save_row(begun.id, row.method, row.question.id, row.outcome, row.error, None)
    at = part_of(begun.id, "Figures")
    assert not at.exception and "3 of 4 questions" in at.warning[0].value
    assert list(at.dataframe[0].value["Questions"]) == ["3 of 4"]
    for hops, count in ((1, "2"), (2, "1")):  # of how many is not known before they were asked
        at.session_state["figures_hops"] = hops
        assert list(at.run().dataframe[0].value["Questions"]) == [count]


def test_a_question_of_a_run_opens_from_what_was_kept(run, home):
    question = home.drawn_questions(run)[0].question
    at = opened(run=run, question=question.id)
    assert not at.exception and question.text in said(at).replace("\\", "")
    assert any(b.label == "Data (JSON)" for b in at.get("download_button")) or "Starts at" in said(
        at
    )


def test_a_deleted_run_is_gone(run, home):
    at = opened(run=run)
    next(b for b in at.button if b.label == "Yes, delete it").click()
    at.run()
    with pytest.raises(HopscopeError):
        home.run(run)


@pytest.mark.parametrize("query", [{"run": "nine"}, {"run": "9999"}])
def test_an_address_of_no_run_says_so(home, query):
    at = opened(**query)
    assert not at.exception and "no evaluation" in said(at)


def test_a_run_without_that_question_says_so(run):
    at = opened(run=run, question="<b>none</b>")
    assert not at.exception and "holds no question" in said(at)


def test_a_question_to_documents_opens_with_its_hits(home):
    made()
    plan = make_plan(
        [Method("wide", "Wide", parse_line(WIDE))], "asked", 1, engine().graph, model=False
    )
    job = evaluate(engine(), store(), plan)
    assert job.wait(120) and not job.error
    at = opened(run=job.number, question=KNOWN.id)
    assert not at.exception and not at.error and "Starts at" not in said(at)
    (lane,) = at.session_state["evaluation_open"][1].lanes
    assert len(lane.state.chunks) == 3


def test_a_limit_and_a_number_of_requests_are_given_to_the_run(home, monkeypatch):
    given = []

    def begun(engine, store, plan, **how):
        given.append(how)
        raise HopscopeError("Not now.")

    monkeypatch.setattr("pages.parts.evaluate.form.evaluate", begun)
    at = opened()
    limit = lambda: next(one for one in at.text_input if one.label == "Spend at most")
    start = lambda: at.button(key="evaluate-go")
    limit().set_value("**much** <i>").run()
    # nothing begins without the limit that was meant
    assert "is no cap" in said(at) and start().disabled
    limit().set_value("2000 tokens").run()
    next(one for one in at.number_input if one.label == "Requests at a time").set_value(3).run()
    start().click().run()
    assert given == [{"max_concurrent": 3, "cap": Cap(2000, True)}] and "Not now" in said(at)


def test_a_prompt_goes_to_the_methods_that_show_what_it_shows(home, monkeypatch):
    given = []

    def begun(engine, store, plan, **how):
        given.append([method.name for method in plan.methods])
        raise HopscopeError("Not now.")

    monkeypatch.setattr("pages.parts.evaluate.form.evaluate", begun)
    at = opened()
    next(one for one in at.multiselect if one.label == "Methods").set_value(
        ["lego-1", "language-model-only"]
    ).run()
    assert not any(one.label == "Prompt" for one in at.selectbox)  # nobody is asked
    next(one for one in at.toggle if one.label == "Language model answers").set_value(True).run()
    prompt, start = (
        (lambda: next(one for one in at.selectbox if one.label == "Prompt")),
        lambda: at.button(key="evaluate-go"),
    )
    prompt().set_value("lego-graphrag").run()
    assert "Language model only keeps its own prompt" in said(at)
    start().click().run()
    assert given == [["No. 1, prompt lego-graphrag", "Language model only"]]
    prompt().set_value("own").run()
    own = lambda: next(one for one in at.text_area if one.label == "Your prompt")
    own().set_value("<script>{question} {tables}").run()
    assert "1 keeps its own prompt" in said(at)
    assert not start().disabled
    own().set_value("<script>{question} {pahts}").run()
    assert "Did you mean “paths”?" in said(at) and start().disabled


def test_a_run_that_a_limit_stopped_goes_on_under_one(home, run, monkeypatch):
    """The limit is there as it was, so that “Go on” spends no more than was allowed."""
    from pages.parts.evaluate import run_progress

    work = SimpleNamespace(cap=Cap(2.5), max_concurrent=4)
    job = SimpleNamespace(has_ended=True, error="Stopped before the cap.", evaluation=work)
    unfinished = SimpleNamespace(id=run, total=6, done=3, failed=0, spec={"model": True})
    given = []
    monkeypatch.setattr(run_progress, "job_of", lambda run: job)
    monkeypatch.setattr(run_progress, "load_plan", lambda store, run: None)
    monkeypatch.setattr(
        run_progress,
        "evaluate",
        lambda engine, store, plan, **how: given.append(how) or SimpleNamespace(number=run),
    )

    def page():
        import streamlit as st

        from pages.parts.evaluate.run_progress import draw_progress

        draw_progress(st.session_state["run"])

    at = AppTest.from_function(page)
    at.session_state["run"] = unfinished
    at.run()
    assert at.text_input[0].value == "2.5" and "Stopped before the cap" in at.error[0].value
    at.text_input[0].set_value("5").run()
    next(one for one in at.button if one.label == "Go on").click().run()
    assert given == [{"max_concurrent": 4, "cap": Cap(5.0)}] and not at.exception


def test_more_questions_of_a_language_model_are_asked_under_a_limit(home, monkeypatch):
    """The limit of the run is there as it was; without a language model there is no field."""
    from pages.parts.evaluate import recommendation, run_progress

    job = SimpleNamespace(evaluation=SimpleNamespace(cap=Cap(2.5)))
    given = []
    monkeypatch.setattr(run_progress, "job_of", lambda run: job if run.spec["model"] else None)
    monkeypatch.setattr(recommendation, "enlarge_plan", lambda store, run, size, graph: size)
    monkeypatch.setattr(recommendation, "open_run", lambda number: None)
    monkeypatch.setattr(
        recommendation,
        "evaluate",
        lambda engine, store, plan, **how: given.append((plan, how)) or SimpleNamespace(number=1),
    )

    def page():
        import streamlit as st

        from pages.parts.evaluate.recommendation import _draw_more_questions

        _draw_more_questions(st.session_state["run"], 30)

    for model, cap in ((True, Cap(2.5)), (False, None)):
        at = AppTest.from_function(page)
        at.session_state["run"] = SimpleNamespace(id=1, spec={"model": model})
        at.run()
        assert len(at.text_input) == model
        at.button(key="ask_more").click().run()
        assert given.pop() == (30, {"cap": cap}) and not at.exception


@pytest.mark.parametrize("pays", [True, False])
def test_a_router_is_offered_where_it_pays(run, monkeypatch, pays):
    saved = []
    router = SimpleNamespace(
        pays=pays,
        rule=SimpleNamespace(save=lambda: saved.append(True)),
        line="EgoNetwork() >> PredictArm(rule='r-0123456789ab')",
        verdict="It pays: much.",
        figures_sentence="Unseen: .5.",
    )
    monkeypatch.setattr(
        "pages.parts.evaluate.recommendation.find_router", lambda store, summary: router
    )
    _cached_router.cache_clear()
    at = opened(run=run)
    links = [one for one in at.get("link_button") if one.label == "Open this line in Build"]
    assert not at.exception and len(links) == len(saved) == pays
    assert ("It pays: much. Unseen: .5." in said(at).replace("\\", "")) == pays
    if pays:
        query = links[0].proto.url.partition("?")[2]
        assert parse_qs(query) == {"line": [router.line]}


def test_a_method_with_chance_is_repeated_as_the_form_says(home):
    at = opened()
    at.multiselect[1].set_value(["lego-v1-1", "lego-1"])
    at.number_input(key="evaluate_size").set_value(2)
    at.number_input(key="evaluate_repeats").set_value(2).run()
    assert "evaluate_rebuild" not in at.session_state  # a graph of triples is not built
    at.button(key="evaluate-go").click().run()
    assert not at.exception
    number = home.runs()[0].id
    assert engine().evaluations.get(f"evaluation-{number}").wait(120)
    told = home.run(number)
    assert told.spec["repeats"] == 2 and [key for key, _ in told.spec["varied"]] == ["lego-v1-1"]
    at = part_of(number, "Figures")
    cells = at.dataframe[0].value.set_index("Method")["reader_hit@1"]
    assert sorted("░" in cell for cell in cells) == [False, True]
    assert any("2 runs" in one.value for one in at.caption)


def test_graphs_of_documents_are_built_again_where_the_form_says_so(home, monkeypatch):
    given = []

    def planned(plan, repeats, models, rebuild):
        given.append((repeats, rebuild))
        raise HopscopeError("Not now.")

    monkeypatch.setattr("pages.parts.evaluate.form.with_repeats", planned)
    at = opened(corpus=made())
    at.number_input(key="evaluate_repeats").set_value(2).run()
    at.toggle(key="evaluate_rebuild").set_value(True).run()
    at.button(key="evaluate-go").click().run()
    assert given == [(2, True)] and "Not now" in said(at)


def test_an_aa_run_of_a_sampled_method_is_offered_and_started(home, monkeypatch):
    known = catalogue()
    sampled = known["lego-1"]
    monkeypatch.setattr(
        "pages.parts.evaluate.form.aa_offer",
        lambda methods, models, answers, runs: ("Chance.",) if len(methods) > 1 else (),
    )
    monkeypatch.setattr("pages.parts.evaluate.form.sampled_method", lambda *given: sampled)
    at = opened()
    at.multiselect[1].set_value(["lego-10", "lego-1"])
    at.number_input(key="evaluate_size").set_value(2)
    at.run()
    at.button(key="evaluate-aa").click().run()
    assert not at.exception
    assert [one["id"] for one in home.runs()[0].spec["instances"]] == ["lego-1"]


def test_a_figure_is_checked_and_run_again(run):
    at = part_of(run, "Figures", "record")
    assert not at.exception
    values = next(one.value for one in at.dataframe if "Value" in one.value)
    assert len(values) == 3
    texts = [one.value for one in at.code]
    assert any("--set metaqa-1hop-dev" in text and "--no-llm" in text for text in texts)
    digests = next(text for text in texts if '"code"' in text)
    assert store().run(run).key in digests
    key = f"again-{run}-lego-1-3"
    at.button(key=f"{key}-go").click().run()
    assert engine().evaluations.get(key).wait(120)
    at = part_of(run, "Figures", "record")
    assert any("3 of 3 rows run again, all equal" in one.value for one in at.markdown)
