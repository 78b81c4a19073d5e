"""A question that an evaluation asked of documents opens again with its hits.

It opens on the graphs that its lanes stood on.
"""

import json

import pytest

from core.corpus import Document, open_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.errors import BadInput
from core.evaluation.metrics.catalogue import metric
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.saved_runs import reopen_comparison
from core.graph.texts import hit_names
from core.models.base import ChatReply
from core.sources import CorpusSource
from core.types import Question

LINES = [
    f"BuiltGraph(build='chunks') >> SparseChunks(keep={keep}) >> AnswerFromTables()"
    for keep in (1, 2)
]
ASKED = Question("Who wrote the carol?", "q-1", answers=("Dickens",), gold=("book",))
DOCUMENTS = (
    Document("book", "Dickens wrote the carol.", "Book"),
    Document("song", "The carol was sung.", "Song"),
    Document("sea", "Ships sail.", "Sea"),
)


def write_small(documents) -> None:
    write_corpus(
        corpora_folder() / "small", documents, sets={"asked": ("Asked", [ASKED])}, own=True
    )


@pytest.fixture
def run(bench):
    """An evaluation of two lines on one question to three documents."""
    write_small(DOCUMENTS)
    lines = tuple(bench.method(name, line) for name, line in zip(("one", "two"), LINES))
    corpus = open_corpus("small")
    plan = Plan(
        lines,
        (DrawnQuestion(ASKED, "asked", CorpusSource("small")),),
        "asked",
        1,
        (("corpus:small", corpus.digest),),
        model=False,
    )
    return bench.store().run(bench.run(plan).number)


def test_the_hits_of_each_lane_are_there_again(bench, run):
    corpus = open_corpus("small")
    graph = bench.engine.environment.open_build(corpus)
    source = CorpusSource("small", graph, corpus)
    found = reopen_comparison(bench.store(), run, "q-1", source, open_build=lambda line: graph)
    names = [hit_names(lane.graph, "chunk", lane.state.chunks.items) for lane in found.lanes]
    # by BM25 the one that holds all three words of the question, then the one with two
    assert names == [["book"], ["book", "song"]]
    assert (
        found.ask.source.corpus is corpus
        and found.ask.question.gold == ("book",)
        and not found.ask.uses_model
    )


def test_other_documents_of_the_name_are_told(bench, run):
    write_small(DOCUMENTS[:2])
    graph = bench.engine.environment.open_build(open_corpus("small"))
    with pytest.raises(BadInput, match="another state of the graph"):
        reopen_comparison(bench.store(), run, "q-1", CorpusSource("small", graph))


class Says:
    """A language model that answers in two sentences.

    Asked about either, it finds the one about the carol supported.
    """

    context = 4096

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, *, schema=None, **_):
        asked = messages[-1]["content"]
        verdict = json.dumps({"supported": "Ships flew" not in asked})
        text = verdict if schema else "Dickens wrote the carol. Ships flew."
        return ChatReply(text, self.count_tokens(messages), len(text.split()))


def test_each_sentence_of_an_answer_is_looked_up_in_what_the_prompt_showed(bench):
    write_small(DOCUMENTS)
    corpus, bench.models._chat = open_corpus("small"), Says()
    drawn = (DrawnQuestion(ASKED, "asked", CorpusSource("small")),)
    line = (bench.method("one", LINES[0]),)
    plan = Plan(
        line, drawn, "asked", 1, (("corpus:small", corpus.digest),), support=("encoder", "model")
    )
    (row,) = bench.store().rows(bench.run(plan).number)
    # the first is a sentence of the passage, word for word; of “Ships flew.” no word is in it. The model finds one of two supported.
    assert metric("nearness")(row.outcome) == pytest.approx(0.5)
    assert metric("supported")(row.outcome) == pytest.approx(0.5)


def test_without_an_answer_nothing_can_be_supported(bench):
    with pytest.raises(BadInput):
        bench.plan(support=("encoder",), model=False)
    with pytest.raises(BadInput, match="not by “anyone”"):
        bench.plan(support=("anyone",))
