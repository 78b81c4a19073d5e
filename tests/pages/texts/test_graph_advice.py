"""“Do I need a graph at all?” on Texts says what it costs.

Its answer is shown with what it rests on.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.corpus import Document, open_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.evaluation.advice.advice_state import QUESTIONS_BY_NAMES, Advice, save_advice
from core.evaluation.advice.advisor import advice_job_key
from pages.parts.shared.session import engine
from pages.parts.texts import graph_advice
from pages.parts.texts.text_trail import ADVICE_VIEW
from tests.core.evaluation.advice.test_advice import ADVICE, summary
from tests.pages.texts.texts_kit import opened

HEADLINE = (
    "No graph is needed for questions like these: no method with one is significantly better than "
    "Passages by words."
)


@pytest.fixture
def texts(small):
    yield small
    for jobs in (engine().evaluations, engine().jobs):
        for key in [key for key in jobs._jobs if key.startswith(("advice-", "cost-advice"))]:
            jobs._jobs.pop(key).cancel()


@pytest.fixture
def answered(texts, monkeypatch):
    """A finished answer, the figures of which are written down."""
    # of this page alone there is no other to go to
    monkeypatch.setattr(graph_advice.st, "page_link", lambda *given, **how: None)
    figures = summary({})
    monkeypatch.setattr(graph_advice, "RunSummary", lambda run, rows: figures)
    monkeypatch.setattr(
        graph_advice,
        "store",
        lambda: type(
            "Store", (), {"run": lambda self, n: figures.run, "rows": lambda self, n: ()}
        )(),
    )
    return save_advice(
        texts,
        replace(
            ADVICE,
            corpus=texts.digest,
            set="small-made",
            run=1,
            done=True,
            headline=HEADLINE,
            seconds=87.0,
        ),
    )


def shown(at) -> str:
    return "\n".join(
        element.value for kind in (at.markdown, at.caption, at.text) for element in kind
    ).replace("\\", "")


def test_closed_it_counts_nothing(texts):
    at = opened()
    assert not at.exception and "Not measured yet." in shown(at)
    assert not any(key.startswith("cost-advice") for key in engine().jobs._jobs)


def test_open_it_says_what_it_will_cost_and_begins_with_a_click(texts, monkeypatch):
    at = opened(texts_view=ADVICE_VIEW)
    for _ in range(20):
        if "How many of up to 120 are asked is measured" in shown(at):
            break
        at.run()
    assert "5 of 5 graphs are to be built" in shown(at) and "no language model is asked" in shown(
        at
    )
    begun = []
    monkeypatch.setattr(
        graph_advice, "start_advice", lambda *given, **how: begun.append(how) or engine()
    )
    at.button(key="advise-small").click().run()
    assert begun == [{"by": QUESTIONS_BY_NAMES, "seed": 0}] and not at.exception


def test_the_papers_roadmap_leads_to_a_method_beside_what_was_measured(answered):
    at = opened(texts_view=ADVICE_VIEW)
    for key, value in (("kind", "specific"), ("depth", "simple"), ("chunks", "human")):
        assert "On these texts" not in shown(at)
        at.radio(key=f"roadmap-small-{key}").set_value(value).run()
    assert not at.exception
    text = shown(at)
    assert (
        "The paper recommends VanillaRAG here" in text
        and "On these texts (24 made questions): Passages by meaning" in text
    )
    at.radio(key="roadmap-small-kind").set_value("abstract").run()
    at.radio(key="roadmap-small-overview").set_value("high").run()
    assert "The paper recommends GGraphRAG here" in shown(
        at
    ) and "Overviews were not compared" in shown(at)


def test_a_finished_answer_is_on_the_card_and_what_it_rests_on_opens(answered):
    at = opened()
    assert HEADLINE in shown(at) and f"By {ADVICE.size} questions" in shown(at) and not at.table
    at.button(key="advice-open-small").click().run()
    assert not at.exception and f"**{HEADLINE}**" in shown(at)
    table = at.table[0].value
    assert set(table["Test result"]) == {"no difference"}
    assert [one.replace("\\", "") for one in table["Questions"]] == [
        "Fill-in-the-blank questions (12)",
        "Two-hop questions (12)",
    ]
    text = shown(at)
    assert (
        "These are made questions, not yours" in text
        and "It took 87 seconds." in text
        and "it is cut (3)" in text
    )


def test_an_answer_of_other_documents_says_so(answered, texts):
    write_corpus(
        corpora_folder() / "small", [Document("new", "Bo Hart came to Oban.")], "small texts"
    )
    at = opened(texts_view=ADVICE_VIEW)
    assert "The documents have changed since." in shown(at)
    assert "Not measured yet." in shown(at)


def test_an_answer_whose_figures_were_deleted_says_so(texts):
    save_advice(
        texts,
        replace(ADVICE, corpus=texts.digest, set="small-made", run=9, done=True, headline=HEADLINE),
    )
    assert "The figures of the last answer were deleted." in shown(opened(texts_view=ADVICE_VIEW))


def test_what_was_stopped_goes_on(texts):
    save_advice(texts, Advice(texts.digest, QUESTIONS_BY_NAMES))
    at = opened(texts_view=ADVICE_VIEW)
    for _ in range(20):
        if any(button.key == "advise-small" for button in at.button):
            break
        at.run()
    assert at.button(key="advise-small").label == "Go on"


def test_markup_in_what_failed_stays_text(texts):
    job = engine().evaluations.start(
        advice_job_key("small"),
        lambda: graph_advice.Job(advice_job_key("small"), lambda job: 1 / 0),
    )
    job.wait(5)
    job.error = "<img src=x onerror=alert(1)> **bold**"
    at = opened()
    assert not at.exception and "\\*\\*bold\\*\\*" in at.error[0].value and open_corpus("small")
