"""Known answers are followed from the documents to the answers of a method, counted by hand."""

from __future__ import annotations

from dataclasses import replace

from core.corpus import Document, write_corpus
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.reports.answer_trail import trace_in_corpus, trace_in_evaluation
from core.evaluation.runs.store import StoredRow
from core.graph.columns import Table
from core.sources import CorpusSource
from core.types import Question
from tests.core.evaluation.reports.test_summary import RUN, SPEC
from tests.core.operators.texts.kit import assemble, plain

TEXT = "Anna Berg sails to Turku. The trip costs twelve euros. Olof Lind waits on the quay."
CHUNK = "Anna Berg sails to Turku. The trip costs twelve euros."
SAILS = Question("who sails", answers=("Anna Berg",))
COSTS = Question("what does it cost", answers=("twelve euros",))
WAITS = Question("who waits", answers=("Mr. Lind", "Nobody"), aliases=(("Mr. Lind", "Olof Lind"),))
OTHERS = [
    Question("is it cold", answers=("yes",)),
    Question("what is it about", answers=("Turku",), abstract=True),
]
SOURCE = CorpusSource("small")


def small(tmp_path):
    """A corpus whose graph has one of its two chunks, and an entity for one answer."""
    corpus = write_corpus(tmp_path / "small", [Document("a", TEXT, "Ship")], "small texts")
    chunks = Table.from_columns(id=["a#0"], document=["a"], title=["Ship"], text=[CHUNK])
    graph = assemble("small", ["Anna Berg", "Turku"], [], {"chunks": [[0], [0]]}, {}, chunks)
    return corpus, graph


def test_each_answer_is_lost_where_it_is_seen_last(tmp_path):
    corpus, graph = small(tmp_path)
    trail = trace_in_corpus(corpus, graph, [SAILS, COSTS, WAITS, *OTHERS])
    assert (trail.n_answers, trail.method) == (4, "")  # neither yes nor that of an overview
    assert trail.alive == {"corpus": 3, "chunks": 2, "graph": 1}
    assert trail.lost == {
        "corpus": ("Nobody: who waits",),
        "chunks": ("Mr. Lind: who waits",),
        "graph": ("twelve euros: what does it cost",),
    }


def test_without_a_graph_of_entities_there_are_fewer_stages(tmp_path):
    corpus, _ = small(tmp_path)
    assert trace_in_corpus(corpus, None, [SAILS]).alive == {"corpus": 1}
    assert trace_in_corpus(corpus, plain(), [SAILS]).alive == {"corpus": 1, "chunks": 0}


class Runs:
    """Stands for a store of evaluations, newest first."""

    def __init__(self, *runs):
        self._runs = {run.id: (run, rows) for run, rows in runs}

    def runs(self):
        return [run for run, _ in self._runs.values()]

    def run(self, number):
        return self._runs[number][0]

    def rows(self, number):
        return self._runs[number][1]


def a_run(number, set_name="questions", graph="corpus:small", **alive_by_method):
    spec = SPEC | {"set": set_name, "graphs": [(graph, "digest")]}
    rows = [
        StoredRow(method, question, Outcome(golds=len(question.answers), alive=alive))
        for method, counts in alive_by_method.items()
        for question, alive in zip((SAILS, WAITS), counts)
    ]
    return replace(RUN, id=number, spec=spec), rows


def test_the_best_method_of_the_newest_evaluation_is_counted():
    full = {"corpus": 1, "graph": 1, "retrieved": 1, "prompt": 1}
    part = {"corpus": 2, "graph": 2, "retrieved": 1, "prompt": 0}
    worse = {"corpus": 1, "graph": 1, "retrieved": 0, "prompt": 0}
    methods = [spec["id"] for spec in SPEC["instances"]]
    counted = a_run(2, **{methods[0]: (worse, part), methods[1]: (full, part)})
    older = a_run(1, **{methods[0]: (full, full)})
    trail = trace_in_evaluation(Runs(counted, older), SOURCE)
    assert (trail.n_answers, trail.alive) == (3, {"retrieved": 2, "prompt": 1})
    assert trail.lost == {"retrieved": ("who waits",), "prompt": ("who waits",)}
    assert trail.method


def test_evaluations_of_other_texts_or_made_questions_do_not_count():
    method = SPEC["instances"][0]["id"]
    alive = {"graph": 1, "retrieved": 1}
    other = a_run(1, graph="corpus:other", **{method: (alive, alive)})
    made = a_run(2, "questions-made", **{method: (alive, alive)})
    triples = a_run(3, **{method: ({"graph": 1, "paths": 1}, {"graph": 1, "paths": 1})})
    assert trace_in_evaluation(Runs(other, made, triples), SOURCE) is None
