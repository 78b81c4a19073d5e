"""The sentences of a comparison of documents, on lanes that are written down."""

from __future__ import annotations

import pytest

from core.comparison.comparing import Comparison, Lane
from core.comparison.run import Ask, LaneRun
from core.corpus import Document, write
from core.diagnosis.verdict_words import explain
from core.environment import Environment
from core.instances.catalogue import Instance
from core.operators.text import parse_line
from core.types import Prompt, Question, Ranking, State, Step
from tests.core.operators.texts.kit import CHUNKS, plain, story
from tests.films import Written


@pytest.fixture
def corpus(tmp_path):
    return write(tmp_path / "carols", [Document("carol", " ".join(CHUNKS[:3])), Document("turkey", CHUNKS[3])])


def compared(corpus, question, *states, graph=None):
    ask = Ask(graph or plain(), question, (), corpus=corpus)
    line, lanes = parse_line("SparseChunks() >> AnswerFromTables()"), []
    for name, state in zip("ABCD", states):
        run = LaneRun(ask, line, Environment(Written()), states=[state.replace(question=question)])
        lanes.append(Lane(Instance(name, name, line), run, "done", retrieved=True))
    return explain(Comparison(ask, lanes))


def found(*rows, before=(), shown=None, answer=None):
    cut = Ranking("chunk", tuple(before), tuple(1 / i for i in range(1, len(before) + 1))) if before else None
    step = Step("SparseChunks", "retrieve", {}, 0.0, before_cut=cut)
    prompt = None if shown is None else Prompt((), 0, hits={"chunk": shown})
    return State(Question("q"), chunks=Ranking("chunk", rows), prompt=prompt, answer=answer, trace=(step,))


CAME = "“turkey” came 3rd of 3"
BOTH = Question("q", gold=("carol", "turkey"))


@pytest.mark.parametrize(
    "state, stage, head, text",
    [
        (found(3, 0, shown=2), None, "2 of 2 in the prompt:", "Both passages are there, the last of them 2nd."),
        (
            found(0, before=(0, 1, 3), shown=1),
            "retrieved",
            "1 of 2 in the prompt:",
            "“turkey” came 3rd of 3 and was cut by chunks by words.",
        ),
        (found(0, shown=1), "retrieved", "1 of 2 in the prompt:", "“turkey” was never reached."),
        (found(0, 3, shown=1), "prompt", "1 of 2 in the prompt:", "“turkey” was found and had no room in the prompt."),
    ],
)
def test_where_a_passage_was_lost(corpus, state, stage, head, text):
    (one,) = compared(corpus, BOTH, state).lanes
    assert (one.stage, one.head, one.text) == (stage, head, text)


def test_a_passage_that_is_not_there_at_all(corpus):
    (one,) = compared(corpus, Question("q", gold=("gone",)), found(0)).lanes
    assert (one.stage, one.text) == ("corpus", "“gone” is not in the corpus.")
    (one,) = compared(corpus, Question("q", gold=("turkey",)), found(0), graph=story()).lanes
    assert (one.stage, one.text) == ("graph", "Of “turkey” nothing is in the graph.")


def test_without_passages_the_words_of_the_answer_are_told(corpus):
    asked = Question("q", answers=("Marley",))
    one, other = compared(corpus, asked, found(3, shown=1, answer="Fred"), found(0, answer="It was Marley.")).lanes
    assert one.text == "“Marley” is in nothing that was found." and (one.right, one.of) == (0, 1)
    assert other.text == "“Marley” is there." and other.right == 1


def test_a_sentence_for_all(corpus):
    best, worse = found(0, 3, shown=2), found(0, shown=1)
    assert compared(corpus, BOTH, best, worse).text == "“A” brings 2 of 2 passages, “B” 1."
    assert compared(corpus, BOTH, best, best).text == "“A” and “B” bring 2 of 2 passages each."
    assert compared(corpus, Question("q"), best).text.startswith("Add the right answer")
    asked = Question("q", answers=("Marley",))
    assert compared(corpus, asked, found(0, answer="Marley"), found(0, answer="Fred")).text == "“A” brings 1 of 1 known answer, “B” 0."


def test_a_lane_without_documents_is_left_out(corpus):
    told = compared(corpus, BOTH, found(0, 3, shown=2), State(Question("q"), answer="So.", trace=(Step("Answer", "generate", {}, 0.0),)))
    assert told.lanes[1].text == "It answers without documents." and told.text == "“A” brings 2 of 2 passages."
