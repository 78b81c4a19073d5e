"""fast-graphrag beside the row `fastgraphrag-original`.

The same entities, relations and passages in the same order with the same scores. One difference in form: it has an edge for each mention
of a relation, ours one whose weight tells how many; its passages have sums, ours these divided by the largest.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.builds.base import BuildContext, Made
from core.builds.synonyms import AddIdentityEdges
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.models.base import NoModels
from tests.core.builds.kit import Texts
from tests.films import Parrot
from tests.peers.ours import Told, after, found, graph_of, recorded

NAMED = {"named": ["TINY TIM"], "two": ["TINY TIM", "FRED"], "nobody": []}


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return recorded("fast_graphrag")


def merged(graph: dict) -> dict:
    """Their graph, the mentions of a relation as one edge."""
    edges: dict[tuple[str, str], list] = {}
    for one, other, text, weight, chunks in graph["edges"]:
        edge = edges.setdefault((one, other), [one, other, text, 0.0, []])
        edge[3] += weight
        edge[4] += chunks
    return {"nodes": graph["nodes"], "edges": list(edges.values())}


@pytest.mark.parametrize("name", NAMED)
def test_the_same_hits_in_the_same_order_with_the_same_scores(theirs, name):
    graph = graph_of(merged(theirs["graph"]))
    state = after(graph, "fastgraphrag-original", Told(Parrot(json.dumps({"names": NAMED[name]}))))
    ours, told = found(graph, state), theirs[name]
    relations = {tuple(ends): score for ends, score in told["relations"]}  # each once
    assert ours["entities"] == [one for one, _ in told["entities"]]
    assert ours["relations"] == [list(ends) for ends in relations]
    assert ours["chunks"] == [one for one, _ in told["chunks"]]
    assert state.nodes.scores == pytest.approx([score for _, score in told["entities"]], abs=2e-4)
    assert state.relations.scores == pytest.approx(list(relations.values()), abs=2e-4)
    assert state.chunks.scores == pytest.approx([score / told["chunks"][0][1] for _, score in told["chunks"]], abs=1e-3)


def test_the_same_entities_are_the_same(theirs, tmp_path):
    """Its order of entities is that of the texts here."""
    told = theirs["alike"]
    names, vectors, relations = told["names"], np.array(told["vectors"], np.float32), told["relations"]
    assert told["order"] == names and len(told["is"]) > 30

    class Near(NoModels):
        """Its vectors, by name."""

        def encoder(self, name="encoder"):
            return self

        def encode(self, texts, check=None):
            return np.array([vectors[names.index(text.partition(":")[0])] for text in texts])

    nodes = {"type": ["PERSON"] * len(names), "description": [""] * len(names), "chunks": [[place // 5] for place in range(len(names))]}
    graph = assemble("sixty", names, [(one, "related to", other) for one, other in relations], nodes, {})
    after = AddIdentityEdges().apply(Made(Texts(tmp_path), Table.of(id=[], text=[]), None, graph), BuildContext(Near())).graph
    texts = after.columns.edges.texts("description")
    heads, _, tails = after.triples(np.array([edge for edge in range(after.n_edges) if texts[edge] == "is"]))
    assert sorted(sorted(pair) for pair in zip(after.names(heads), after.names(tails))) == told["is"]
