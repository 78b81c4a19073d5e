"""Each row on documents runs on the story of five people.

It runs with a model whose replies are written down, and with none.
"""

from __future__ import annotations

import json

import pytest

from core.comparison.lane_run import LaneListener, LaneRun
from core.environment import Environment
from core.methods.catalogue import catalogue
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from tests.core.operators.scripted import Script
from tests.core.operators.texts.kit import story
from tests.films import Written

KEYWORDS = json.dumps({"low": ["Tim", "Cratchit"], "high": ["family"]})
NAMES = json.dumps({"names": ["Tim", "Cratchit"]})
POINT = json.dumps({"points": [{"description": "Cratchit is his father.", "score": 90}]})

# What each asks for before the answer, and how many hits it finds: entities, relations, chunks, communities.
ROWS = {
    "zero-shot": ((), (0, 0, 0, 0)),
    "vanilla-rag": ((), (0, 0, 4, 0)),
    "vgraphrag": ((), (4, 4, 4, 3)),
    "lgraphrag": ((), (4, 4, 3, 3)),
    "lgraphrag-original": (
        (),
        (0, 0, 0, 0),
    ),  # no entity shares a word with the question, and 0 is below 0.2
    "ggraphrag": ((POINT,), (0, 0, 0, 3)),
    "fastgraphrag": ((NAMES,), (5, 4, 3, 0)),
    "fastgraphrag-original": ((NAMES,), (5, 4, 3, 0)),
    "l-lightrag": ((KEYWORDS,), (4, 4, 3, 0)),
    "l-lightrag-original": (
        (KEYWORDS,),
        (0, 0, 0, 0),
    ),  # no entity has “Tim,” or “Cratchit” as a word without a colon behind it
    "g-lightrag": ((KEYWORDS,), (5, 4, 3, 0)),
    "g-lightrag-original": ((KEYWORDS,), (4, 2, 2, 0)),  # the two of “family”, as below
    "h-lightrag": ((KEYWORDS,), (5, 4, 3, 0)),
    "h-lightrag-original": (
        (KEYWORDS,),
        (4, 2, 2, 0),
    ),  # “family” is a word of two relations: cosines 1 / sqrt(12) and 1 / sqrt(17)
    "l-lightrag-program": ((KEYWORDS,), (0, 0, 0, 0)),
    "g-lightrag-program": (
        (KEYWORDS,),
        (4, 2, 3, 0),
    ),  # the passages of the ends: Scrooge's third as well
    "h-lightrag-program": ((KEYWORDS,), (4, 2, 3, 0)),
    "m-lightrag-program": (
        (KEYWORDS,),
        (4, 2, 4, 0),
    ),  # by vector the turkey as well, for its “The”
    "graphrag-er": ((), (4, 4, 0, 0)),
    "graphrag-cc": ((), (4, 4, 3, 3)),
    "vgraphrag-cc": ((), (0, 0, 4, 3)),
    "cheaprag": ((POINT,) * 7, (0, 0, 4, 3)),
}


@pytest.fixture(scope="module")
def graph():
    return story()


def run(graph, row, models, model=True):
    lane = LaneRun(
        SourceQuestion(
            GraphSource.of(graph), Question("Who is the father of Tim?"), (), uses_model=model
        ),
        catalogue()[row].line,
        Environment(models),
    )
    lane.own_graph = graph
    lane.retrieve(LaneListener())
    lane.answer(LaneListener())
    return lane.state


@pytest.mark.parametrize("row", ROWS)
def test_a_row_asks_what_it_says_and_answers(graph, row):
    asked, _ = ROWS[row]
    script = Script(*asked, "Cratchit.")
    state = run(graph, row, Written(script))
    assert state.answer == "Cratchit." and not script.replies
    assert sum(step.usage.calls for step in state.trace) == len(asked) + 1


@pytest.mark.parametrize("row", ROWS)
def test_a_row_finds_what_it_says(graph, row):
    asked, counts = ROWS[row]
    state = run(graph, row, Written(Script(*asked, "Cratchit.")))
    assert (
        tuple(
            len(hits or ())
            for hits in (state.nodes, state.relations, state.chunks, state.communities)
        )
        == counts
    )


@pytest.mark.parametrize("row", ROWS)
def test_without_a_language_model_a_row_ends_with_its_prompt(graph, row):
    script = Script()
    state = run(graph, row, Written(script), model=False)
    assert not script.asked and state.answer is None and state.prompt is not None
    assert "Who is the father of Tim?" in state.prompt.messages[-1]["content"]


KINDS = {
    "chunks": "the chunks alone",
    "tkg": "the textual knowledge graph",
    "tkg-synonyms": "the textual knowledge graph with “is” edges",
    "rkg": "the rich knowledge graph",
}


@pytest.mark.parametrize("row", ROWS)
def test_a_card_says_where_a_row_comes_from_stands_and_what_it_asks(row):
    one = catalogue()[row]
    assert one.paper and one.short and one.method and one.group == "Documents"
    stands = (
        "nothing but the question" if row == "zero-shot" else KINDS[one.line.operators[0].build]
    )
    assert one.notes.strip().startswith(f"Stands on {stands}; asks a language model ")


@pytest.mark.parametrize(
    "row", [key for key, one in catalogue().items() if one.group == "Corpus graphs"]
)
def test_a_card_of_a_corpus_graph_says_what_is_asked(row):
    """A language model is asked once, for the answer, by most rows.

    It is asked for more where a passage, a thought or keywords are written, or what was found is
    picked from.
    """
    one = catalogue()[row]
    names = {type(operator).__name__ for operator in one.line}
    writes = names & {"Hypothesise", "ReasonAndRetrieve", "ExtractKeywords"}
    more = "for " if writes else "twice: " if "RankHits" in names else "once, for the answer"
    on = {"links": "the corpus graph", **KINDS}[one.line.operators[0].build]
    assert one.notes.strip().startswith(f"Stands on {on}; asks a language model {more}") and on in (
        KINDS["rkg"],
        "the corpus graph",
    )


def test_the_paper_reading_of_global_search_asks_once_for_each_community(graph):
    packed = catalogue()["ggraphrag"].line
    place = next(
        place for place, operator in enumerate(packed) if type(operator).__name__ == "Points"
    )
    line = packed.with_operator_at(place, type(packed.operators[place])(per="item"))
    script = Script(POINT, POINT, POINT, "Cratchit.")  # three communities, then the answer
    lane = LaneRun(
        SourceQuestion(GraphSource.of(graph), Question("Who is the father of Tim?"), ()),
        line,
        Environment(Written(script)),
        own_graph=graph,
    )
    lane.retrieve(LaneListener())
    lane.answer(LaneListener())
    assert lane.state.answer == "Cratchit." and [point.items for point in lane.state.points] == [
        (row,) for row in lane.state.communities.items
    ]


@pytest.mark.parametrize(
    "row",
    [
        "graphrag-er",
        "graphrag-cc",
        "vgraphrag-cc",
        *(row for row in ROWS if row.endswith("-original")),
    ],
)
def test_a_row_that_changes_another_stands_beside_it(row):
    assert catalogue()[row].base in ROWS
