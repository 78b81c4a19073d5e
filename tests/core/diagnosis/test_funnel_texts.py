"""The funnel of passages and of the answer's words, and a passage's fate, on the story."""

import pytest

from core.corpus import Document, write_corpus
from core.diagnosis.causes import Cause, Fate
from core.diagnosis.funnel import funnel
from core.diagnosis.name_lookup import has_name
from core.diagnosis.passages import chunk_order, fates
from core.diagnosis.targets import Target
from core.graph.columns import Table
from core.prompts import OWN_SOURCE
from core.sources import CorpusSource
from core.types import Excerpt, Prompt, Question, Ranking, State, Step
from tests.core.operators.texts.kit import CHUNKS, plain, story


@pytest.fixture
def source(tmp_path):
    corpus = write_corpus(
        tmp_path / "carols",
        [Document("carol", " ".join(CHUNKS[:3])), Document("turkey", CHUNKS[3])],
    )
    return CorpusSource("carols", plain(), corpus)


def chunks(*rows):
    return Ranking("chunk", rows, tuple(1 / place for place in range(1, len(rows) + 1)))


def targets(kind, *names):
    return [Target(kind, name) for name in names]


def alive(stages):
    return {stage.name: stage.alive for stage in stages}


def test_a_lane_that_seeks_entities_alone_has_no_order_of_passages():
    """An entity is no passage: there is nothing whose recall could be told. Once chunks are sought there is."""
    found = State(Question("q"), nodes=Ranking("node", (3, 1), (0.9, 0.5)))
    assert chunk_order(story(), found) is None and chunk_order(
        story(), found.replace(chunks=chunks(2))
    ) == ((2,), (2,))


def test_passages_by_stage(source):
    state = State(Question("q"), chunks=chunks(3, 1), prompt=Prompt((), 0, hits={"chunk": 1}))
    assert alive(funnel(source, plain(), state, targets("passage", "carol", "turkey", "gone"))) == {
        "corpus": ("carol", "turkey"),
        "graph": ("carol", "turkey"),
        "retrieved": ("carol", "turkey"),
        "prompt": ("turkey",),
    }


def test_a_passage_that_tells_of_no_entity_is_not_in_the_graph(source):
    assert alive(
        funnel(source, story(), State(Question("q")), targets("passage", "carol", "turkey"))
    )["graph"] == ("carol",)


def test_words_of_the_answer_by_stage(source):
    prompt = Prompt(
        ({"role": "user", "content": "Tables: the merry Christmas. Question: was Marley dead?"},), 0
    )
    state = State(
        Question("was Marley dead?"),
        chunks=chunks(0, 1),
        prompt=prompt,
        answer="A merry Christmas.",
    )
    assert alive(
        funnel(
            source, plain(), state, targets("answer", "Marley", "merry Christmas", "boy", "ghost")
        )
    ) == {
        "corpus": ("Marley", "merry Christmas", "boy"),
        "graph": ("Marley", "merry Christmas", "boy"),
        "retrieved": ("Marley", "merry Christmas"),
        "prompt": ("merry Christmas",),  # Marley is in the question alone
        "answer": ("merry Christmas",),
    }


def test_words_of_the_prompt_are_those_of_an_own_system_message_and_of_no_example(source):
    messages = (
        {"role": "system", "content": "Tables: the merry Christmas."},
        {"role": "user", "content": "Tables: Scrooge."},
        {"role": "assistant", "content": "Scrooge"},
        {"role": "user", "content": "who was dead?"},
    )

    def in_prompt(of):
        prompt = Prompt(messages, 0, source=of)
        state = State(Question("who was dead?"), chunks=chunks(0, 1), prompt=prompt)
        names = targets("answer", "merry Christmas", "Scrooge")
        return alive(funnel(source, plain(), state, names))["prompt"]

    assert in_prompt(OWN_SOURCE) == ("merry Christmas",) and in_prompt("") == ()


def test_words_of_a_description_are_in_the_graph_alone(source):
    assert alive(
        funnel(source, story(), State(Question("q")), targets("answer", "shared a firm"))
    ) == {"corpus": (), "graph": ("shared a firm",)}


def test_yes_and_no_are_told_by_the_answer_alone(source):
    state = State(Question("q"), chunks=chunks(0), excerpt=Excerpt("Yes, he was.", 0, 0.5))
    assert alive(funnel(source, plain(), state, targets("answer", "yes"))) == {"answer": ("yes",)}


def test_where_nothing_is_known_there_are_no_stages(source):
    assert funnel(source, plain(), State(Question("q")), ()) == ()


def test_fates():
    step = Step("VectorChunks", "retrieve", {}, 0.0, before_cut=chunks(0, 1, 3, 2))
    state = State(
        Question("q"), chunks=chunks(0, 1), prompt=Prompt((), 0, hits={"chunk": 2}), trace=(step,)
    )
    assert fates(plain(), [state], ("turkey", "carol", "gone")) == (
        Fate(Cause.OUTRANKED, "rank 3: too low", 3, 4, document="turkey", chunk="turkey"),
        Fate(Cause.FOUND, "rank 1", 1, 2, document="carol", chunk="carol#0"),
        Fate(Cause.NOT_IN_GRAPH, "not in the graph", document="gone"),
    )
    assert fates(plain(), [state], ("turkey",))[0].step == step


@pytest.mark.parametrize(
    "name, there",
    [
        ("The U.S. Army", True),
        ("spider man", True),
        ("Spider-Man", True),
        ("army of ants", False),
        ("arm", False),  # part of a word
        ("?!", False),
        ("the", False),
    ],
)
def test_texts_that_hold_a_name_by_the_matching_of_answers(name, there):
    table = Table.from_columns(
        text=["He served in the U.S. Army.", "It was spider man or Spider-Man."]
    )
    assert has_name(table, ("title", "text"), name) is there


def test_words_that_outlive_their_document_are_lost_once(tmp_path):
    """The document that told of the clerk is away; what the graph says of him stays."""
    corpus = write_corpus(tmp_path / "carols", [Document("turkey", CHUNKS[3])])
    source = CorpusSource("carols", story(), corpus)
    prompt = Prompt(({"role": "user", "content": "Cratchit: a poor clerk."},), 0)
    state = State(Question("q"), chunks=chunks(1), prompt=prompt, answer="nobody")
    stages = funnel(source, story(), state, targets("answer", "Cratchit"))
    assert [(stage.name, len(stage.alive), stage.lost) for stage in stages] == [
        ("corpus", 0, ()),
        ("graph", 1, ()),
        ("retrieved", 1, ()),
        ("prompt", 1, ()),
        ("answer", 0, ("Cratchit",)),
    ]
