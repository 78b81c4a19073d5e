"""LightRAG 1.5.7 beside the row `h-lightrag-original`, which has the values of the paper it was published with.

What is the same: entities, relations and their order, in local, global and hybrid search, and where one level has no keyword. What is not:

- Relations of global search: by cosine today, which is `order` "nearest"; by degrees when it was published, as the row has it.
- Both searches are joined in turn today, which is `order` "in turn"; in the analysis all of the first come first, as in the row.
- Passages are those of the entities and relations, today by their own cosine with the question, as `RankHits` orders them; ours by rank and
  neighbours. Its global search adds passages of the relations' ends.
- Where there is no keyword at all, it takes a short question for a low keyword; ours finds nothing. Local search without a low keyword is
  hybrid search there; ours finds nothing.
"""

from __future__ import annotations

import json

import pytest

from core.instances.catalogue import catalogue
from core.models.scorers import EncoderScorer
from core.operators.base import Line
from tests.films import Parrot
from tests.peers.ours import Near, Told, after, found, graph_of, recorded

LEVELS = {"both": (["Tiny Tim"], ["family"]), "low": (["Tiny Tim"], []), "high": ([], ["family"]), "none": ([], [])}
TODAY = {"VectorRelations": {"order": "nearest"}, "Merge": {"order": "in turn"}}


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return recorded("lightrag")


def line(mode: str) -> str:
    """The row, or the one of its two searches."""
    row = catalogue()["h-lightrag-original"].line.operators
    names = [type(operator).__name__ for operator in row]
    aside, merge = names.index("SetAside"), names.index("Merge")
    kept = {"local": row[:aside], "global": (*row[:2], *row[aside + 1 : merge]), "hybrid": row}[mode]
    return repr(Line(tuple(operator for operator in kept if operator.stage != "graph")))


def ours(theirs, mode, levels, **values):
    low, high = LEVELS[levels]
    graph = graph_of(theirs["graph"])
    return found(graph, after(graph, line(mode), Told(Parrot(json.dumps({"low": low, "high": high}))), **{**TODAY, **values}))


@pytest.mark.parametrize(
    "mode, levels", [*((mode, "both") for mode in ("local", "global", "hybrid")), ("hybrid", "low"), ("hybrid", "high")]
)
def test_entities_and_relations_are_the_same_in_the_same_order(theirs, mode, levels):
    mine = ours(theirs, mode, levels)
    assert mine["entities"] == theirs[levels][mode]["entities"]
    assert mine["relations"] == theirs[levels][mode]["relations"]


def test_so_they_are_where_few_are_kept(theirs):
    mine = ours(theirs, "hybrid", "both", VectorNodes={"keep": 2}, VectorRelations={"order": "nearest", "keep": 2})
    assert (mine["entities"], mine["relations"]) == (theirs["tight"]["entities"], theirs["tight"]["relations"])


def test_passages_of_the_entities_are_the_same_in_another_order(theirs):
    mine = ours(theirs, "local", "both")["chunks"]
    assert sorted(mine) == sorted(theirs["both"]["local"]["chunks"])
    assert mine == [6, 3, 1, 0, 2, 4, 5, 7] and theirs["both"]["local"]["chunks"] == [3, 6, 1, 7, 2, 4, 5, 0]  # there by cosine


def test_a_re_ranker_behind_ours_orders_them_as_they_do(theirs):
    graph = graph_of(theirs["graph"])
    models = Told(Parrot(json.dumps({"low": ["Tiny Tim"], "high": []})), encoder=EncoderScorer(Near()))
    state = after(graph, f"{line('local')} >> RankHits(keep=20)", models)
    assert found(graph, state)["chunks"] == theirs["both"]["local"]["chunks"]


def test_their_global_search_adds_passages_of_the_ends(theirs):
    mine = ours(theirs, "global", "both")["chunks"]
    assert mine == [3, 6, 2, 1, 4]  # of the relations, the best first
    assert set(theirs["both"]["global"]["chunks"]) - set(mine) == {0, 5, 7}  # Scrooge's and Fred's


def test_relations_by_degrees_as_it_was_published(theirs):
    mine = ours(theirs, "global", "both", VectorRelations={"order": "connected"})["relations"]
    assert sorted(mine) == sorted(theirs["both"]["global"]["relations"])
    assert mine == [
        ["BOB CRATCHIT", "SCROOGE"],  # 3 + 6 edges
        ["FRED", "SCROOGE"],  # 2 + 6, weight 2
        ["SCROOGE", "TINY TIM"],  # 2 + 6, weight 1
        ["BELLE", "SCROOGE"],  # 1 + 6
        ["BOB CRATCHIT", "TINY TIM"],  # 3 + 2
        ["BOB CRATCHIT", "MARTHA"],  # 3 + 1
    ]


def test_without_any_keyword_ours_finds_nothing(theirs):
    assert ours(theirs, "hybrid", "none") == {"entities": [], "relations": [], "chunks": [], "communities": []}
    assert theirs["none"]["hybrid"] == theirs["low"]["hybrid"]  # the question is its low keyword
    assert ours(theirs, "local", "high")["entities"] == [] and theirs["high"]["local"] == theirs["high"]["hybrid"]
