"""Advice on whether a graph is needed.

The work goes from end to end on a small corpus, and is taken up again. The answer comes from rows
worked out by hand.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.corpus import Document, new_folder, open_corpus, write_corpus
from core.engine import Engine
from core.errors import BadInput, RunCancelled
from core.evaluation.advice import advisor
from core.evaluation.advice.advice_state import (
    QUESTIONS_BY_MODEL,
    QUESTIONS_BY_NAMES,
    Advice,
    load_advice,
)
from core.evaluation.advice.advisor import (
    GraphAdvisor,
    advice_job_key,
    affordable_questions,
    start_advice,
)
from core.evaluation.advice.answer import (
    ANSWER_NO,
    ANSWER_OPEN,
    ANSWER_PARTLY,
    ANSWER_YES,
    _GraphComparison,
    answer,
)
from core.evaluation.advice.plan import (
    METHODS_WITH_GRAPH,
    METHODS_WITHOUT_GRAPH,
    advice_methods,
    estimate_advice_cost,
    graph_kinds,
)
from core.evaluation.metrics.outcome import GoldRanks, Outcome
from core.evaluation.metrics.statistics import PairedTest
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, Store, StoredRow, evaluations_file
from core.runtime.jobs import Job
from core.types import Question
from tests.core.evaluation.advice.kit import ModelsWithoutChat, documents
from tests.notes import NoteWith

MOST = 12  # questions


@pytest.fixture
def coast(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(
        advisor, "ADVICE_DEFAULTS", replace(advisor.ADVICE_DEFAULTS, max_made_questions=MOST)
    )
    return write_corpus(new_folder("coast"), documents(), "The coast")


@pytest.fixture
def bench(coast):
    engine, store = Engine(ModelsWithoutChat()), Store(evaluations_file())
    yield engine, store
    engine.evaluations.stop()
    store.close()


def test_methods_without_a_graph_run_on_chunks_and_those_with_one_on_a_graph_each():
    known = {one.id: one for one in advice_methods()}
    assert tuple(known) == (*METHODS_WITHOUT_GRAPH, *METHODS_WITH_GRAPH) and graph_kinds() == [
        "chunks",
        "kg-synonyms",
        "tkg",
        "rkg",
        "passage",
    ]


def test_questions_are_made_saved_and_asked_of_all_methods(coast, bench):
    engine, store = bench
    assert (
        estimate_advice_cost(coast, engine.models).builds
        and "no language model is asked" in estimate_advice_cost(coast, engine.models).words()
    )
    told: list[float] = []
    job = Job("a")
    job.report = lambda text, fraction=None: told.append(fraction) if fraction is not None else None
    advice = GraphAdvisor(engine, store, coast)(job)
    asked = open_corpus("coast").questions("coast-made")
    assert advice.done and advice.by == QUESTIONS_BY_NAMES and advice == load_advice(coast)
    assert (
        len(asked) == sum(advice.counts.values()) == advice.size == MOST
        and advice.counts["cloze"]
        and all(one.gold for one in asked)
    )
    assert told == sorted(told) and told[-1] == 1.0
    run = store.run(advice.run)
    assert (
        (run.done, run.failed) == (advice.size * 7, 0)
        and run.spec["set"] == "coast-made"
        and not run.spec["model"]
    )
    assert estimate_advice_cost(coast, engine.models).builds == ()
    found = answer(RunSummary(run, store.rows(advice.run)), advice)
    assert (
        found.needed in (ANSWER_NO, ANSWER_PARTLY, ANSWER_YES)
        and "made questions, not yours" in found.caveats[0]
    )
    assert (
        set(advice.graphs.values()) == {False}
        and len(advice.graphs) == 4
        and found.made[1].startswith("The graphs: Knowledge graph with")
    )
    assert f"and {advice.size:,} asked of every method" in found.made[0]
    again = GraphAdvisor(engine, store, coast)
    again._build_graphs = None  # a finished answer does nothing
    assert again(Job("b")) == advice


def test_what_was_done_is_not_done_again_after_a_stop(coast, bench):
    """Stopped in the midst of the evaluation; the questions, their number and the rows are those from before."""
    engine, store = bench
    job = Job("a")

    def tell(words, fraction=None):
        if words.startswith("30 of "):
            job.stop()

    job.report = tell
    with pytest.raises(RunCancelled):
        GraphAdvisor(engine, store, coast)(job)
    stopped = load_advice(coast)
    assert stopped.run and not stopped.done and store.run(stopped.run).done == 30
    before = {(row.method, row.question.id): row.outcome for row in store.rows(stopped.run)}
    advice = GraphAdvisor(engine, store, coast)(Job("b"))
    assert (advice.set, advice.size, advice.run, advice.counts) == (
        stopped.set,
        stopped.size,
        stopped.run,
        stopped.counts,
    )
    after = {(row.method, row.question.id): row.outcome for row in store.rows(advice.run)}
    assert len(after) == advice.size * 7 and all(
        after[pair] == outcome for pair, outcome in before.items()
    )
    assert advice.seconds >= stopped.seconds


def test_changed_documents_another_seed_and_again_begin_anew(coast, bench):
    engine, store = bench
    first = GraphAdvisor(engine, store, coast)(Job("a"))
    other = GraphAdvisor(engine, store, coast, seed=1)(Job("b"))
    assert other.seed == 1 and other.run != first.run
    changed = coast.add(
        [Document("new", "Kit Vane came to the old harbour of Malmo in the year of the flood.")]
    )
    assert not load_advice(changed).has_same_settings(Advice(changed.digest, QUESTIONS_BY_NAMES, 1))
    assert GraphAdvisor(engine, store, changed, seed=1)(Job("c")).corpus == changed.digest


def test_a_set_of_that_name_that_was_not_made_here_stays(coast, bench):
    engine, store = bench
    mine = coast.with_questions(
        {"coast-made": ("My own", [Question("Who?", "q", answers=("Ann Lee",))])}
    )
    with pytest.raises(BadInput, match="already that was not made here"):
        GraphAdvisor(engine, store, mine)(Job("a"))
    assert len(open_corpus("coast").questions("coast-made")) == 1


def test_texts_without_names_are_a_sentence(bench):
    engine, store = bench
    bare = write_corpus(
        new_folder("bare"), [Document("d", "nothing but small words in here, one after the other.")]
    )
    job = start_advice(engine, store, bare, by=QUESTIONS_BY_NAMES)
    assert (
        job.wait(120) and job.error.startswith("No question") and job.key == advice_job_key("bare")
    )


def test_a_language_model_that_is_not_here_is_said_before_anything_starts(coast, bench):
    engine, store = bench
    with pytest.raises(BadInput, match="There is no model"):
        start_advice(engine, store, coast, by=QUESTIONS_BY_MODEL)


def test_a_part_of_a_bar_and_how_many_questions_fit():
    job = Job("a")
    job.part(0.5, 1.0).part(0.0, 0.5).report("half", 0.5)
    assert job.fraction == 0.625
    assert (
        affordable_questions(-5.0, [1.0, 1.0], 120) == 24
        and affordable_questions(1000.0, [1.0, 0.0], 12) == 12
    )


# Rows by hand: of each method on which questions the one gold passage is among the first four, by kind.
N = 12


def summary(found: dict[str, tuple[int, int]], n: int = N, only: int | None = None) -> RunSummary:
    """`found[method]`: of `n` gaps and `n` bridges how many each method finds, the first ones; others find all."""
    rows, ids = [], [*(f"cloze-{i}" for i in range(n)), *(f"bridge-{i}" for i in range(n))][:only]
    for method in (*METHODS_WITHOUT_GRAPH, *METHODS_WITH_GRAPH):
        for place, id in enumerate(ids):
            hits = found.get(method, (n, n))[place // n]
            rank = 1 if place % n < hits else None
            passages = GoldRanks(count=4, relevant=(1,) if rank else (), first=(rank,))
            rows.append(
                StoredRow(
                    method,
                    Question(id, id, hops=1 + place // n, gold=("d",)),
                    Outcome(golds=1, passages=passages),
                )
            )
    known = {one.id: one for one in advice_methods()}
    lines = [
        {"id": id, "name": known[id].name, "title": known[id].title, "line": repr(known[id].line)}
        for id in (*METHODS_WITHOUT_GRAPH, *METHODS_WITH_GRAPH)
    ]
    spec = {
        "instances": lines,
        "graphs": [["corpus:coast", "d"]],
        "set": "coast-made",
        "of": 2 * n,
        "sample": len(ids),
        "model": False,
    }
    return RunSummary(
        Run(1, "key", {**spec, "judge": False, "seed": 0}, 0.0, "done", len(rows), 0), rows
    )


ADVICE = Advice(
    "d",
    QUESTIONS_BY_NAMES,
    counts={"cloze": N, "bridge": N},
    left={"cloze": {"it is cut": 3}},
    notes=("A note.",),
    size=2 * N,
)


def test_where_no_graph_is_ahead_none_is_needed():
    found = answer(summary({graph: (1, 1) for graph in METHODS_WITH_GRAPH}), ADVICE)
    assert found.needed == ANSWER_NO and found.headline.startswith(
        "No graph is needed for questions like these: Passages by"
    )
    assert "is significantly better than every method with one" in found.headline
    equal = answer(summary({}), ADVICE)
    assert (
        equal.needed == ANSWER_NO
        and "no method with one is significantly better than" in equal.headline
    )


def test_where_a_graph_is_ahead_it_helps():
    found = answer(summary({plain: (6, 1) for plain in METHODS_WITHOUT_GRAPH}), ADVICE)
    # (24 - 7) / 24
    assert (
        found.needed == ANSWER_YES
        and found.headline.startswith("A graph helps here:")
        and ".71 [" in found.headline
    )


def test_the_named_graph_is_one_that_is_significantly_better():
    """The method with the best mean may differ by chance, and a lower one beyond it."""
    plain, *_ = METHODS_WITHOUT_GRAPH
    best, certain, *others = METHODS_WITH_GRAPH
    means = dict.fromkeys((*METHODS_WITHOUT_GRAPH, *others), 0.1)
    means |= {plain: 0.5, best: 0.8, certain: 0.7}
    p_values = {best: 0.2, certain: 0.001}

    def test(a, b):
        return PairedTest("recall", a, b, means[a] - means[b], 0.0, 0.4, p_values.get(a, 1.0), n=9)

    ranks = SimpleNamespace(means=means, names={method: method for method in means}, test=test)
    verdict, headline = _GraphComparison(None, ranks)._headline()
    assert verdict == ANSWER_YES and f"{certain} is better than {plain}" in headline


def test_where_a_graph_is_ahead_on_one_kind_alone_that_kind_is_named():
    """HippoRAG 2 is ahead on bridges alone, so a graph helps with some questions.

    On gaps every method with a graph finds 1 of 12, and the others find 12. On bridges HippoRAG 2
    finds 12, and all others find 2. Of the 24 in all it finds 13, and methods without a graph find
    14.
    """
    hits = (
        {method: (N, 2) for method in METHODS_WITHOUT_GRAPH}
        | {method: (1, 2) for method in METHODS_WITH_GRAPH}
        | {"hipporag-2": (1, N)}
    )
    found = answer(summary(hits), ADVICE)
    assert (
        found.needed == ANSWER_PARTLY
        and "helps with some questions: two-hop questions (PageRank from facts like the question by .83"
        in found.headline
    )
    gaps, bridges = found.kinds
    assert (gaps.name, gaps.number, gaps.plain, gaps.plain_share) == (
        "Fill-in-the-blank questions",
        12,
        "Passages by words",
        1.0,
    )
    assert gaps.graph_share == pytest.approx(1 / 12) and gaps.difference.startswith(
        "a difference of -.92 ["
    )
    assert (
        "PageRank from facts like the question 1.00 with one; a difference of .83 ["
        in bridges.words()
    )


def test_what_was_made_and_left_out_is_said():
    made = answer(summary({}), ADVICE).made
    assert made[0] == NoteWith(24, "12 fill-in-the-blank questions", "12 two-hop questions", 24)
    assert made[1] == "A note." and made[2] == NoteWith(3, "fill-in-the-blank questions", "cut (3)")


def test_what_another_graph_may_give_is_said_where_no_language_model_read_for_one():
    assert "A graph that a language model builds" in answer(summary({}), ADVICE).caveats[1]
    read = replace(ADVICE, graphs={"Tree, by a language model": True})
    assert answer(summary({}), read).caveats[1].startswith("Questions that people ask")
    assert answer(summary({}), read).made[1] == NoteWith("Tree", "language model")


def test_a_recommendation_on_made_questions_says_so():
    (said,) = [
        one
        for one in recommendation(summary({})).details
        if one.startswith("These are made questions, not yours")
    ]
    assert said not in answer(summary({}), ADVICE).details


def test_few_questions_say_nothing():
    found = answer(summary({}, only=7), replace(ADVICE, counts={"cloze": 7}))
    assert (
        found.needed == ANSWER_OPEN
        and found.headline.startswith("7 questions")
        and not found.details
    )
    few = answer(summary({}, n=7), ADVICE)
    assert few.needed == ANSWER_NO and few.kinds[0].words().endswith("too few to compare.")
