"""The Build screen through Streamlit's own test driver."""

from __future__ import annotations

from itertools import count

import pytest
from streamlit.testing.v1 import AppTest

from core.builds.registry import BUILD_GRAMMAR
from core.cases.examples import demo
from core.diagnosis.step_outcomes import step_outcomes
from core.drafts.draft import new_brick
from core.io.home import ROOT
from core.methods.catalogue import catalogue, own_file, own_file_faults
from core.operators import OPERATORS
from core.operators.text import parse_line
from core.parameters import parameters
from core.sources import CorpusSource, GraphSource
from pages.parts.build.bench import Bench
from pages.parts.build.fields import EXPRESSION_HELP, block_fields, operator_sentence
from pages.parts.build.line_drawing import line_data
from pages.parts.build.outcomes import block_outcomes
from pages.parts.build.trial_view import _prompt_counts, _start_question
from pages.parts.shared.session import engine

PAGE = str(ROOT / "pages" / "build.py")
TRIPLES = [
    ("One", "directed_by", "Ann"),
    ("Two", "directed_by", "Ann"),
    ("Two", "has_genre", "Drama"),
    ("One", "has_genre", "Comedy"),
]


@pytest.fixture()
def own(monkeypatch, tmp_path):
    """A person's own empty folder."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=60)
    for key, value in query.items():
        at.query_params[key] = value
    return idle(at.run())


def idle(at: AppTest) -> AppTest:
    """The page once what it runs has ended."""
    for _ in range(300):
        job = None
        if "try_job" in at.session_state:
            job = engine().jobs.get(at.session_state["try_job"])
        if job is None or job.has_ended:
            return at if job is None else at.run()
        job.wait(1)
    raise TimeoutError


def bench(at: AppTest) -> Bench:
    return at.session_state["bench"]


def hear(at: AppTest, *edits) -> AppTest:
    """Send edits as the browser does, and return the page drawn after it."""
    one = bench(at)
    one.apply_message(
        {
            "who": "test",
            "edits": [{"n": n, **edit} for n, edit in enumerate(edits, one.last_edit[1] + 1)],
        },
        lambda text, parameter: None,
    )
    return idle(at.run())


def button(at: AppTest, key: str):
    return next(b for b in at.button if b.key == key)


def test_an_empty_line_cannot_be_run(own):
    at = opened()
    assert not at.exception and not at.error
    assert button(at, "try_run").disabled and button(at, "keep-go").disabled


def test_a_line_is_started_with_no_steps_and_the_one_before_comes_back(own):
    at = opened(line="EgoNetwork() >> SimplePaths()")
    button(at, "build_gallery_open").click().run()
    button(at, "build_empty").click().run()
    assert bench(at).draft.text == "" and button(at, "try_run").disabled
    hear(at, {"do": "undo"})
    assert bench(at).draft.text == "EgoNetwork() >> SimplePaths()"


def test_a_line_that_lacks_something_is_kept_and_cannot_be_run(own):
    at = opened(**{"from": "lego-12"})
    hear(at, {"do": "remove", "key": bench(at).draft.bricks[0].key})
    assert not at.exception and button(at, "try_run").disabled
    assert "reads a subgraph" in line_data(bench(at), {})["bricks"][0]["fault"]
    hear(at, {"do": "undo"})
    assert not button(at, "try_run").disabled


def test_a_line_in_the_address_is_opened_though_it_lacks_something(own):
    at = opened(line="ShortestPaths() >> Loop(body=...)")
    assert not at.exception and not at.error
    assert bench(at).draft.text == "ShortestPaths() >> Loop(body=...)"


def test_a_line_in_the_address_that_cannot_be_read_is_a_sentence(own):
    at = opened(line="Nonsense()")
    assert not at.exception
    assert "Nonsense" in at.error[0].value


def test_an_address_that_only_comes_along_takes_nothing_back(own):
    at = opened(line="EgoNetwork() >> SimplePaths()")
    hear(at, {"do": "duplicate", "key": 2})  # while the browser still has the address of before
    assert bench(at).draft.text == "EgoNetwork() >> SimplePaths() >> SimplePaths()"


def test_save_and_delete(own):
    at = opened(line="EgoNetwork(hops=1) >> SimplePaths(hops=2)")
    at.text_input(key="keep_name").set_value("My *own* line")
    button(at, "keep-go").click().run()
    saved = catalogue()["own-my-own-line"]
    assert (saved.title, repr(saved.line)) == (
        "My *own* line",
        repr(parse_line("EgoNetwork(hops=1) >> SimplePaths(hops=2)")),
    )
    # without another visit
    assert button(at, "build_gallery_open").label.startswith("My \\*own\\* line · ")
    at.text_input(key="keep_name").set_value("My own line")
    button(at, "keep-go").click().run()
    assert "already a method" in at.error[0].value
    button(at, "delete-own-my-own-line").click().run()
    assert "own-my-own-line" not in catalogue()


def test_an_unknown_key_in_the_persons_file_costs_that_row_alone(own):
    own_file().write_text('["own-x"]\ntitle = "x"\nlin = []\nline = []\n', "utf-8")
    at = opened()
    assert not at.exception and not at.error
    assert "instances.toml" in own_file_faults()[0] and "“lin”" in own_file_faults()[0]


def test_a_retriever_of_ones_own_is_chosen_by_its_name(own):
    (own_file().parent / "retrievers.toml").write_text(
        '[mine]\nurl = "http://127.0.0.1:9/"\n[other]\nurl = "http://127.0.0.1:9/"\n', "utf-8"
    )
    at = opened(line="OwnRetriever(name='other') >> Answer()")
    assert not at.exception and not at.error
    hear(at, {"do": "choose", "key": 1})
    chosen = next(
        field
        for field in line_data(bench(at), {})["form"]["fields"]
        if field["label"] == "Retriever"
    )
    assert (chosen["value"], sorted(one["value"] for one in chosen["options"])) == (
        "other",
        ["mine", "other"],
    )


def test_a_line_is_tried_on_a_question(own):
    from core.graph.building.build import build

    build(TRIPLES, own / "graphs" / "trying", "trying", "both")
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state.source = GraphSource("trying")
    at.query_params["line"] = (
        "EgoNetwork(hops=2) >> SimplePaths(hops=2) >> Rank(model='bm25', keep=5) >> Answer()"
    )
    at.run()
    assert not at.exception
    at.text_input(key="try_question").set_value("who directed [One]").run()
    idle(button(at, "try_run").click().run())
    assert not at.exception and not at.error
    assert any("What each step did" in markdown.value for markdown in at.markdown)
    assert any("One -> directed_by -> Ann" in str(frame.value) for frame in at.dataframe)
    assert at.expander[-1].label.startswith("Prompt")
    # it is asked without another press
    idle(at.text_input(key="try_question").set_value("who directed [Nobody at all]").run())
    assert "Did you mean" in at.error[0].value


def test_it_begins_with_the_question_of_the_first_page_of_which_answers_are_lost(own, movies):
    at = opened(line="PersonalizedPageRank() >> ShortestPaths() >> Rank(model='bm25')")
    assert at.text_input(key="try_question").value == demo()[0].question
    idle(button(at, "try_run").click().run())
    job = engine().jobs.get(at.session_state["try_job"])
    last = step_outcomes(job.comparison, job.comparison.lanes[0])[2]
    assert 0 < len(last.alive) < len(job.comparison.ask.question.answers)


def test_a_source_without_a_shipped_comparison_begins_with_its_first_set(movies):
    from tests.pages.compare.three_documents import NAME, QUESTION, made

    made()
    assert _start_question(CorpusSource(NAME)) == QUESTION
    assert _start_question(GraphSource("nowhere")) == ""


@pytest.mark.parametrize(
    "paths, hits, counts",
    [
        (0, {"chunk": 2}, ["2 passages"]),
        (0, {"chunk": 1, "node": 1, "relation": 3}, ["1 passage", "1 entity", "3 relations"]),
        (10, {}, ["10 paths"]),
        (0, {"community": 2}, ["2 communities"]),
        (0, {}, []),
    ],
)
def test_the_heading_of_a_prompt_counts_what_it_shows(paths, hits, counts):
    assert _prompt_counts({"prompt_paths": paths, "prompt_hits": hits}) == counts


def test_documents_are_asked_and_gold_passages_counted(movies):
    from tests.pages.compare.three_documents import LINE, NAME, QUESTION, made

    made()
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state.source = CorpusSource(NAME)
    at.query_params["line"] = LINE
    at.run()
    assert not at.exception and at.text_input(key="try_question").value == QUESTION
    idle(button(at, "try_run").click().run())
    job = engine().jobs.get(at.session_state["try_job"])
    assert not at.exception and not at.error
    lane = job.comparison.lanes[0]
    found, extra = block_outcomes(
        job.comparison, lane, bench(at).draft, step_outcomes(job.comparison, lane)
    )
    assert found[2]["alive_words"] == "1 of 2 evidence passages still there" and found[2][
        "lost"
    ].startswith("women: ")
    assert [one["title"] for one in extra] == ["Nearest sentence"]
    heading = at.expander[-1].label
    assert heading.startswith("Prompt · about ") and " · 1 passage" in heading
    assert "path" not in heading and "entit" not in heading


@pytest.mark.parametrize("cls", OPERATORS.values())
def test_the_sentence_of_an_operator_holds_no_mark_of_code(cls):
    assert "`" not in operator_sentence(cls())


@pytest.mark.parametrize("cls", [*OPERATORS.values(), *BUILD_GRAMMAR.operators.values()])
def test_a_help_text_of_a_setting_is_at_most_twelve_words_and_the_rest_behind_it(cls):
    made = parameters(cls)
    for one, field in zip(made, block_fields(new_brick(cls, count(1)), None, {})["fields"]):
        shown = field["help"].removesuffix(" …")
        assert 1 <= len(shown.split()) <= 12 and ". …" not in field["help"]
        whole = f"{shown} {field['more'].removeprefix('… ')}".strip()  # nothing is lost
        assert whole == f"{one.help} {EXPRESSION_HELP}" if one.model else whole == one.help


def test_the_sentence_of_an_operator_names_its_values():
    assert operator_sentence(OPERATORS["Rank"](keep=1234)).startswith(
        "The best 1,234 paths by a model"
    )


def test_leaving_and_coming_back_keeps_the_line(own):
    at = opened(line="EgoNetwork(hops=1) >> SimplePaths(hops=2)")
    hear(at, {"do": "set", "key": 2, "name": "hops", "value": 3})
    again = AppTest.from_file(PAGE, default_timeout=60)
    again.session_state["bench"] = bench(at)
    # what is left of a widget's state after other screens
    again.session_state["try_source"] = GraphSource("metaqa")
    again.run()
    assert not again.exception
    assert repr(bench(again).line) == "EgoNetwork(hops=1) >> SimplePaths()"


@pytest.mark.parametrize("cls", OPERATORS.values())
def test_every_operator_has_a_form_with_a_field_for_each_parameter(cls):
    shown = block_fields(new_brick(cls, count(1)), None, {})["fields"]
    assert [one["name"] for one in shown] == [one.name for one in parameters(cls)]
    assert all(
        one["label"] and one["help"] and one["value"] == one["default"] and not one["error"]
        for one in shown
    )
