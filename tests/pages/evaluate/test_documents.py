"""Evaluate on a corpus: its sets and methods, where passages are lost, and answers judged in pairs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.corpus import Document, open_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.evaluation.metrics.outcome import ScoredAnswer
from core.evaluation.pairwise.pair_judgements import PairwiseJudge, answer_pairs
from core.evaluation.pairwise.verdicts import (
    CRITERIA,
    PAIR_REPLY_TOKENS,
    PAIR_SCHEMA,
    pair_messages,
)
from core.evaluation.questions.abstract_questions import WrittenQuestions
from core.evaluation.questions.question_sets import default_set_name, writing_job_key
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.methods.catalogue import find_method
from core.models.base import ChatReply
from core.runtime.jobs import JOB_CANCELLED, Job
from core.types import Question
from pages.parts.shared.session import engine, store
from tests.pages.compare.three_documents import KNOWN, LINE, NAME, WIDE, made
from tests.pages.evaluate.test_evaluate import home, opened, part_of, said

__all__ = ["home"]


@pytest.fixture
def run(home):
    """A finished run of two lines on three documents, asked without a language model."""
    plan = make_plan(
        [find_method(LINE), find_method(WIDE)], "asked", None, engine().graph, model=False
    )
    job = evaluate(engine(), store(), plan)
    assert job.wait(120) and not job.error
    return job.number


@pytest.fixture(autouse=True)
def corpus(home):
    return made()


def test_the_form_offers_the_sets_of_the_corpus_and_methods_on_documents(home):
    at = opened(corpus=NAME)
    assert (
        not at.exception
        and at.multiselect[0].options == ["Asked"]
        and at.multiselect[0].value == ["asked"]
    )
    assert at.multiselect[1].value == ["vanilla-rag", "vgraphrag", "lgraphrag"]
    assert not any(label.startswith("lego") for label in at.multiselect[1].options)


def test_a_corpus_without_questions_says_how_it_gets_some(home):
    write_corpus(corpora_folder() / "bare", [Document("one", "A text.")], "Bare")
    at = opened(corpus="bare")
    assert not at.exception and "Bare has no questions yet" in at.info[0].value
    assert any(one.label == "Add questions" for one in at.get("page_link"))
    assert any(one.label == "Write them" for one in at.button)


def test_where_the_passages_are_lost_is_drawn(run):
    at = part_of(run, "Figures", "pictures")
    assert not at.exception and "the documents “Three documents”" in said(at).replace("\\", "")
    figures = at.dataframe[0].value
    # LINE keeps one chunk, of two gold passages, so both go by the first
    assert list(figures["passage_recall@1"])[0].startswith(".50")
    assert list(figures["context_recall"])[0].startswith("1.00")
    drawn = {
        json.loads(one.proto.spec)["layout"]["title"]["text"]: json.loads(one.proto.spec)
        for one in at.get("plotly_chart")[1:]  # after the dot plot
    }
    lines = drawn["Where the passages are lost"]["data"]
    assert lines[0]["x"] == ["Corpus", "Graph", "Retrieved", "Prompt"]
    # one chunk of two passages, then both
    assert [line["y"] for line in lines] == [[1.0, 1.0, 0.5, 0.5], [1.0, 1.0, 1.0, 1.0]]
    at = part_of(run, "Questions")
    questions = at.dataframe[-1].value  # by the gold passage that came first
    assert len(questions) == 1 and list(questions.iloc[0])[1:] == [0.5, 0.5]
    sections = [one.label for one in part_of(run, "Figures").expander]
    assert "Pictures" in sections and "Judged in pairs" not in sections


def test_answers_judged_in_pairs_are_shown_with_what_to_doubt(run, home, monkeypatch):
    for row in home.rows(run):
        given = ScoredAnswer(f"An answer of {row.method}", "language model", 0, 1)
        home.save_row(
            run, row.method, row.question.id, replace(row.outcome, answer=given), None, None
        )
    at = judging(run)
    assert not at.exception and any(one.label == "Judge the answers" for one in at.button)
    work = _pairs(run)
    for pair in work.pairs:
        for first, second in ((pair.answer_a, pair.answer_b), (pair.answer_b, pair.answer_a)):
            asked = pair_messages(pair.question_text, first, second, work.chat.context)
            told = ChatReply(json.dumps({"why": "<b>So</b>", **dict.fromkeys(CRITERIA, "first")}))
            work.chat.replies.save(
                work.chat.key(asked, schema=PAIR_SCHEMA, max_tokens=PAIR_REPLY_TOKENS),
                "judge",
                told,
            )
    at = judging(run)
    assert not at.exception and not any(one.label == "Judge the answers" for one in at.button)
    assert "1 of 1 pair judged by" in said(at) and "Both orders agree in 0 %" in said(at).replace(
        "\\", ""
    )
    assert "no more than by chance: its verdicts say nothing" in at.warning[0].value.replace(
        "\\", ""
    )
    assert "Win rates without meaning" in [one.label for one in at.expander]


def judging(run: int):
    """The part of a run in which its answers are judged."""
    return part_of(run, "Figures", "pairs")


def test_what_was_written_is_told_and_can_be_chosen(home):
    from_model = (Question("How does it change?", "u1-t1-q1"), Question("Who is it?", "u1-t1-q2"))
    written = WrittenQuestions(
        from_model,
        "It is about <b>magazines</b>.",
        ("1 of 3 replies could not be read, such as “no”.",),
    )
    open_corpus(NAME).with_questions({default_set_name(NAME): ("Written", written.questions)})
    key = writing_job_key(NAME)
    assert (
        engine().evaluations.start(key, lambda: Job(key, lambda job: written), again=True).wait(60)
    )
    at = opened(corpus=NAME)
    assert not at.exception and "1 of 3 replies could not be read" in at.warning[0].value.replace(
        "\\", ""
    )
    assert "How does it change?" in said(at) and "They replace those written before" in said(at)
    assert "<b>" not in said(at)
    at.button(key="writing-choose").click().run()
    assert (
        not at.exception
        and at.multiselect[0].value == [default_set_name(NAME)]
        and at.toggle(key="evaluate_model").value
    )


def test_writing_that_was_cancelled_says_that_it_goes_on(home):
    key = writing_job_key(NAME)
    job = engine().evaluations.start(
        key, lambda: Job(key, Job.check), again=True, run=lambda job: (job.cancel(), job.run())
    )
    assert job.status == JOB_CANCELLED
    at = opened(corpus=NAME)
    assert (
        not at.exception
        and "Cancelled. Every reply is kept" in said(at)
        and any(one.label == "Write them" for one in at.button)
    )


def _pairs(run: int) -> PairwiseJudge:
    summary = RunSummary(store().run(run), store().rows(run))
    return PairwiseJudge(summary.methods, answer_pairs(summary), engine().models)


def test_the_search_form_takes_the_same_set_for_unseen_questions(home):
    at = opened(corpus=NAME)
    unseen = next(one for one in at.multiselect if one.label == "Test questions (unseen)")
    assert not at.exception and unseen.value == ["asked"]


def test_what_a_budget_brings_is_drawn(home):
    """The larger budget moves the gold document out of the first ten.

    It is the only one with “Alexandria”, and by words it is first of twelve. The re-ranker puts all
    that name a lighthouse before it: where 20 may be read, ten of them fill the first ten places.
    """
    asked = Question("Who built the lighthouse of Alexandria?", "q1", gold=("gold",))
    others = [
        Document(f"d{n:02}", f"Lighthouse {n}, a lighthouse built and built again.")
        for n in range(11)
    ]
    gold = Document(
        "gold",
        "Sostratus of Knidos raised the tower on the island before the harbour, the light of Alexandria, for the king.",
    )
    write_corpus(
        corpora_folder() / "towers",
        [*others, gold],
        "Towers",
        "",
        "",
        {"towers": ("Towers", [asked])},
        own=True,
    )
    line = "BuiltGraph(build='links-terms') >> SparseNodes(keep=20) >> GraphRerank(alpha=0.0) >> DocumentsOfNodes() >> AnswerFromTables()"
    job = evaluate(
        engine(),
        store(),
        make_plan([find_method(line)], "towers", None, engine().graph, model=False),
    )
    assert job.wait(120) and not job.error
    at = part_of(job.number, "Figures", "pictures")
    assert not at.exception
    drawn = {
        json.loads(one.proto.spec)["layout"]["title"]["text"]: json.loads(one.proto.spec)
        for one in at.get("plotly_chart")[1:]  # after the dot plot
    }
    assert [(line["x"], line["y"]) for line in drawn["Capped recall @10 by budget"]["data"]] == [
        ([10, 20], [1.0, 0.0])
    ]
    # either budget retrieves the gold document, so it is 1.0 for both: no curve
    assert "Topological Recall by budget" not in drawn


def test_what_changed_lists_the_questions_of_a_band(run):
    """LINE keeps one of the two passages, WIDE both: the one question is won."""
    at = opened(run=run)
    assert not at.exception and "(n = 1); press one to list them" in said(at).replace("\\", "")
    line, wide = (repr(find_method(text).line) for text in (LINE, WIDE))
    at.session_state["evaluate_band"] = ((run, line, wide), ("retrieved", "right"))
    at.run()
    words = said(at).replace("\\", "")
    names = method_titles(store().run(run))
    assert (
        f"1 question gained: not retrieved with {names[line]}, all evidence found with "
        f"{names[wide]}" in words
    )
    assert f"Why {names[line]} loses them: ranked too low 1." in words and KNOWN.text in words
    at.selectbox(key=f"flow_to_{run}").set_value(line).run()
    assert not at.exception and "Choose two different methods." in said(at)
