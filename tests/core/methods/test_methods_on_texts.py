"""Each method on documents finds in nine texts what its definition says.

The texts are of a Christmas Carol. What is found was worked out by hand from the definition.

The texts, and how near each thing is to the question, are those of nine_texts.py. Of the entities
Tim (0.9), Bob (0.8), Scrooge (0.52) and Fred (0.4) are the nearest, of the relations Bob - Tim,
Scrooge - Tim, Bob - Martha, Fred - Scrooge, of the chunks 3, 6, 1, 7, of the communities 2, 4, 0,
3. Edges: Scrooge 6, Bob 3, Tim 2, Fred 2, all others 1.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.comparison.lane_run import LaneListener, LaneRun
from core.environment import Environment
from core.methods.catalogue import catalogue
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from tests.core.methods.nine_texts import CHUNKS, ENTITIES, QUESTION, RELATIONS
from tests.core.methods.nine_texts_models import RecordedModels, found, whole
from tests.core.operators.scripted import Script

KEYWORDS = json.dumps({"low": ["Tiny Tim"], "high": ["family"]})
NAMES = json.dumps({"names": ["Tiny Tim"]})
POINTS = json.dumps({"points": [{"description": "Bob is his father.", "score": 90}]})

NEAREST = ["TINY TIM", "BOB CRATCHIT", "SCROOGE", "FRED"]
# of the four nearest relations, the ends of the best first
ENDS = ["BOB CRATCHIT", "TINY TIM", "SCROOGE", "MARTHA", "FRED"]
BY_DEGREES = [  # every relation is at one of the nearest four
    ("BOB CRATCHIT", "SCROOGE"),  # 3 + 6
    ("FRED", "SCROOGE"),  # 2 + 6, weight 2
    ("SCROOGE", "TINY TIM"),  # 6 + 2, weight 1
    ("MARLEY", "SCROOGE"),  # 1 + 6, weight 3
    ("BELLE", "SCROOGE"),  # weight 2
    ("FEZZIWIG", "SCROOGE"),  # weight 1
    ("BOB CRATCHIT", "TINY TIM"),  # 3 + 2
    ("BOB CRATCHIT", "MARTHA"),  # 3 + 1
    ("FRED", "TOPPER"),  # 2 + 1
]
BY_MEANING = [
    ("BOB CRATCHIT", "TINY TIM"),
    ("SCROOGE", "TINY TIM"),
    ("BOB CRATCHIT", "MARTHA"),
    ("FRED", "SCROOGE"),
]
CONNECTED = [  # the six at 0.3 and above, by the degrees of their ends, then by weight
    ("BOB CRATCHIT", "SCROOGE"),
    ("FRED", "SCROOGE"),
    ("SCROOGE", "TINY TIM"),
    ("BELLE", "SCROOGE"),
    ("BOB CRATCHIT", "TINY TIM"),
    ("BOB CRATCHIT", "MARTHA"),
]
CONNECTED_ENDS = ["BOB CRATCHIT", "SCROOGE", "FRED", "TINY TIM", "BELLE", "MARTHA"]
# 6 holds both ends of three relations, 3 of two, all others but the turkey of one
BOTH_ENDS = [6, 3, 0, 1]
# Tim's: 6 with Bob and Scrooge, 3 with Bob; Bob's: 1; Scrooge's, each with one neighbour; Fred's
BESIDE = [6, 3, 1, 0, 2, 4, 5, 7]
# hold three of the four, two, one and rated 6, one and rated 3; 4 is of level 3
OF_ENTITIES = [0, 2, 3, 1]
BY_RATING = [2, 3, 0, 1]  # the same four, rated 8, 6, 5 and 3
BY_OCCURRENCE = [0, 3, 2, 1]  # seven chunks tell of a member of 0, six of 3, three of 2, two of 1

# Row: replies before the answer, entities, relations, chunks, communities.
FOUND = {
    "zero-shot": ([], [], [], [], []),
    "vanilla-rag": ([], [], [], [3, 6, 1, 7], []),
    "vgraphrag": ([], NEAREST, BY_DEGREES, [3, 6, 1, 7], [2, 4, 0, 3]),
    "lgraphrag": ([], NEAREST, BY_DEGREES, BOTH_ENDS, BY_RATING),
    "lgraphrag-original": (
        [],
        NEAREST,
        BY_DEGREES,
        BESIDE,
        OF_ENTITIES,
    ),  # the fifth, Martha, is at 0.15
    "ggraphrag": ([POINTS], [], [], [], BY_OCCURRENCE),
    "l-lightrag": ([KEYWORDS], NEAREST, BY_DEGREES, BOTH_ENDS, []),
    "l-lightrag-original": ([KEYWORDS], NEAREST, BY_DEGREES, BESIDE, []),
    "g-lightrag": ([KEYWORDS], ENDS, BY_MEANING, [3, 6, 2], []),
    "g-lightrag-original": (
        [KEYWORDS],
        CONNECTED_ENDS,
        CONNECTED,
        [1, 6, 2, 4, 3],
        [],
    ),  # 1 and 6 tell of the first
    "h-lightrag": ([KEYWORDS], [*NEAREST, "MARTHA"], BY_DEGREES, [*BOTH_ENDS, 2], []),
    "h-lightrag-original": (
        [KEYWORDS],
        [*NEAREST, "BELLE", "MARTHA"],
        BY_DEGREES,
        BESIDE,
        [],
    ),  # six relations are at 0.3 and above
    "graphrag-er": ([], NEAREST, BY_DEGREES, [], []),
    "graphrag-cc": ([], NEAREST, BY_DEGREES, BOTH_ENDS, BY_RATING),
    "vgraphrag-cc": ([], [], [], [3, 6, 1, 7], [2, 4, 0, 3]),
    "cheaprag": ([POINTS] * 8, [], [], [3, 6, 1, 7], [2, 4, 0, 3]),
}


@pytest.fixture(scope="module")
def graph():
    return whole()


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


def run(graph, row, replies, model=True):
    script = Script(*replies, "Bob Cratchit's.", context=100_000)
    lane = LaneRun(
        SourceQuestion(GraphSource.of(graph), Question(QUESTION), (), uses_model=model),
        catalogue()[row].line,
        Environment(RecordedModels(script)),
    )
    lane.own_graph = graph
    lane.retrieve(LaneListener())
    lane.answer(LaneListener())
    return lane.state, script


@pytest.mark.parametrize("row", FOUND)
def test_a_method_finds_what_its_definition_says(graph, row):
    replies, entities, relations, chunks, communities = FOUND[row]
    state, script = run(graph, row, replies)
    ours = found(graph, state)
    assert ours["entities"] == entities and ours["relations"] == [
        sorted(pair) for pair in relations
    ]
    assert ours["chunks"] == chunks and ours["communities"] == communities
    assert state.answer == "Bob Cratchit's." and not script.replies


def test_what_is_sought_and_not_shown(graph):
    state, _ = run(graph, "graphrag-cc", [])
    assert dict(state.prompt.hits) == {"community": 4, "chunk": 4}


def walked(reset: dict[str, float]) -> dict[str, float]:
    """PageRank with damping 0.85, both ways, as the solution of its equation."""
    names = sorted(ENTITIES)
    links = np.zeros((len(names), len(names)))
    for (one, other), (_, _, weight, where, _) in RELATIONS.items():
        i, j = names.index(one), names.index(other)
        links[i, j] = links[j, i] = weight * len(where)
    start = np.array([reset.get(name, 0.0) for name in names])
    follow = links / links.sum(axis=1, keepdims=True)
    scores = np.linalg.solve(np.eye(len(names)) - 0.85 * follow.T, 0.15 * start / start.sum())
    return dict(zip(names, scores))


def aggregated(
    scores: dict[str, float], relations: int = 0
) -> tuple[dict[tuple[str, str], float], dict[int, float]]:
    """Scores of relations and of chunks.

    A relation has the sum of its ends, and the best `relations` of them are kept. A chunk has the
    sum of these, scaled by the largest. One chunk has 0 and is left out.
    """
    told = {ends: scores.get(ends[0], 0.0) + scores.get(ends[1], 0.0) for ends in RELATIONS}
    kept = dict(sorted(told.items(), key=lambda pair: -pair[1])[: relations or None])
    chunks = {
        place: sum(score for ends, score in kept.items() if place in RELATIONS[ends][3])
        for place in range(len(CHUNKS))
    }
    return kept, {place: score / max(chunks.values()) for place, score in chunks.items() if score}


def best(scores: dict, count: int) -> list:
    # of equal ones the smaller id
    return sorted(scores, key=lambda one: (-round(scores[one], 9), one))[:count]


def test_fastgraphrag(graph):
    state, _ = run(graph, "fastgraphrag", [NAMES])
    # the eight nearest
    near = {name: told[3] for name, told in ENTITIES.items() if name != "TOPPER"}
    # the one name counts one
    reset = {
        name: cosine / sum(near.values()) + (name == "TINY TIM") for name, cosine in near.items()
    }
    scores = walked(reset)
    relations, chunks = aggregated(scores)
    ours = found(graph, state)
    assert ours["entities"] == best(scores, 9)
    assert ours["relations"] == [sorted(ends) for ends in best(relations, 9)]
    assert ours["chunks"] == best(chunks, 4)
    assert state.chunks.scores == pytest.approx(
        [chunks[place] for place in ours["chunks"]], abs=1e-3
    )


def test_fastgraphrag_as_published(graph):
    state, _ = run(graph, "fastgraphrag-original", [NAMES])
    # all nine are among the 20 nearest, above a cosine of 0
    near = {name: (1 + told[3]) / 2 for name, told in ENTITIES.items()}
    reset = {name: share / sum(near.values()) for name, share in near.items()} | {"TINY TIM": 1.0}
    scores = {name: score for name, score in walked(reset).items() if score >= 0.005}
    relations, chunks = aggregated(scores, 64)
    ours = found(graph, state)
    assert ours["entities"] == best(scores, 128) and ours["relations"] == [
        sorted(ends) for ends in best(relations, 64)
    ]
    assert ours["chunks"] == best(chunks, 8)


@pytest.mark.parametrize("row", ["fastgraphrag", "fastgraphrag-original"])
def test_a_question_without_a_known_name_is_searched_for_itself(graph, row):
    state, _ = run(graph, row, [json.dumps({"names": []})])
    assert state.linked.items == () and found(graph, state)["chunks"][:2] == [6, 3] and state.answer


@pytest.mark.parametrize(
    "row, entities", [("l-lightrag", NEAREST), ("g-lightrag", ENDS), ("h-lightrag", NEAREST)]
)
def test_no_keyword_at_either_level(graph, row, entities):
    """The analysis' row reads the question; the original's searches nothing, and the model is told so."""
    empty = json.dumps({"low": [], "high": []})
    state, _ = run(graph, row, [empty])
    assert found(graph, state)["entities"][: len(entities)] == entities
    state, script = run(graph, f"{row}-original", [empty])
    assert (
        found(graph, state)["entities"] == []
        and "(nothing was found)" in script.asked[-1]
        and state.answer
    )
