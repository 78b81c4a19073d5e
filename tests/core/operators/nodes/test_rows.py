"""Every method for corpus graphs runs from question to answer, with scripted models."""

import pytest
from scipy.sparse import csr_array

from core.comparison.built_graphs import BuiltGraphs
from core.comparison.lane_run import LaneListener, LaneRun
from core.corpus import new_folder, write_corpus
from core.corpus.document import Document
from core.environment import Environment
from core.errors import StoreError
from core.methods.catalogue import published_methods
from core.models.base import Choice, NoModels
from core.operators.base import Line
from core.sources import CorpusSource, SourceQuestion
from core.types import Question
from core.watch import NO_WATCH
from tests.core.operators.nodes.kit import Reranker, RerankerModels, corpus_graph
from tests.films import Bag, Parrot
from tests.notes import NoteWith

ROWS = sorted(key for key, row in published_methods().items() if row.group == "Corpus graphs")


class EncoderRerankerModels(RerankerModels):
    """A reranker and a sparse encoder in one object, which counts words."""

    def chooser(self, expression):
        return self if expression in ("splade", "choose") else Reranker({})

    def is_chat(self, name):
        return name == "choose"

    def choose(self, task, texts, keep):
        return Choice(tuple(range(min(keep, len(texts)))))

    def vectors(self, texts, watch=NO_WATCH):
        return csr_array(Bag().encode(texts))

    def signature(self, name=None):
        return "written"


def test_rows_are_those_of_the_paper():
    assert set(ROWS) == {
        *(
            "fastinsight",
            "vector-search",
            "bm25",
            "splade",
            "contriever",
            "hyde",
            "re2",
            "gar",
            "ircot",
        ),
        *("lightrag-corpus-graph", "pathrag-corpus-graph", "hipporag-2-corpus-graph"),
        *(
            "hipporag-2-filter-corpus-graph",
            "hipporag-2-facts-corpus-graph",
        ),  # The paper does not describe these two, which have HippoRAG 2's filter.
    }


@pytest.mark.parametrize("row", ROWS)
def test_every_row_retrieves_documents_and_answers(row):
    graph = corpus_graph()
    environment = Environment(
        EncoderRerankerModels(chat=Parrot("plums in brandy")), open_build=lambda *_: graph
    )
    ask = SourceQuestion(
        CorpusSource("fruit", graph), Question("plums and brandy", gold=("d",)), ()
    )
    lane = LaneRun(ask, published_methods()[row].line, environment)
    lane.retrieve(LaneListener())
    lane.answer(LaneListener())
    assert lane.state.answer == "plums in brandy"
    ids = graph.columns.chunks.texts("id", lane.state.chunks.items)
    assert "d" in ids and len(ids) <= 10 and dict(lane.state.prompt.hits) == {"chunk": len(ids)}


@pytest.mark.parametrize("row", ["lightrag-corpus-graph", "pathrag-corpus-graph"])
def test_keywords_come_from_a_model_or_the_question(
    row,
):
    graph, adapted = corpus_graph(), published_methods()[row].line

    def found(model: bool, reply: str, line: Line = adapted):
        environment = Environment(
            EncoderRerankerModels(chat=Parrot(reply)), open_build=lambda *_: graph
        )
        lane = LaneRun(
            SourceQuestion(
                CorpusSource("fruit", graph), Question("plums and brandy"), (), uses_model=model
            ),
            line,
            environment,
        )
        lane.retrieve(LaneListener())
        return graph.columns.chunks.texts("id", lane.state.chunks.items), [
            note for step in lane.state.trace for note in step.notes
        ]

    ids, notes = found(False, "never")
    assert any(note.startswith("No language model is asked") for note in notes)
    steps = adapted.operators
    alone = Line(steps[:4] + steps[8:])  # One search remains, by the low keywords.
    # Without a model both levels hold the question's words.
    assert ids == found(False, "never", alone)[0]
    _, notes = found(True, '{"low": ["<b>plums</b>"], "high": ["preserving"]}')
    assert NoteWith("language model", "<b>plums</b> (low", "preserving (high") in notes
    _, notes = found(True, "I cannot say.")
    assert any("could not be read" in note for note in notes)


def test_slow_build_does_not_run_within_a_question(tmp_path, monkeypatch):
    monkeypatch.setattr("core.comparison.built_graphs.MAX_ON_DEMAND_CHARACTERS", 3)
    corpus = write_corpus(new_folder("long"), [Document("a", "A text."), Document("b", "Another.")])
    with pytest.raises(StoreError, match="corpus build long --graph links --extractor nearest"):
        BuiltGraphs(NoModels())(corpus, "links", make=True)
