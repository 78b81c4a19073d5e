"""HippoRAG 2 (hipporag 2.0.0a4) beside our reading of it, and beside the rows `hipporag` and `hipporag-2-corpus-graph`.

What is the same: entities and facts of the same replies; where PageRank restarts, as it is written down; from there, on its graph, the
PageRank of the passages and so their order. How it differs from the rows:

- `hipporag` is the first HippoRAG: PageRank among entities alone, from those that the question names; passages are read off the facts.
  HippoRAG 2 starts from the entities of facts like the question, and passages are nodes. `hipporag-2-corpus-graph` has no facts.
- A fact weighs as much as the chunks that tell it, twice, since both orders of its ends are an edge; an entity and its passage weigh 1.
- An edge between alike names takes the place of the fact between the two, where `AddSynonymEdges` puts one beside it.
- Punctuation in names is dropped and letters are made small.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.builds.base import BuildContext, Made
from core.builds.facts import Entity, Facts, Relation
from core.builds.merging import Merge
from core.builds.synonyms import SIMILAR, AddSynonymEdges
from core.environment import Environment
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.operators.base import Context
from core.operators.nodes.page_rank import restart
from core.operators.texts.pagerank import PageRankNodes
from core.types import Question, Ranking, State
from tests.films import Parrot
from tests.peers.corpus import CHUNK_COSINES, CHUNKS, ENTITIES, QUESTION, RELATIONS
from tests.peers.ours import Told, after, found, recorded, whole


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return recorded("hipporag")


def walked(edges):
    """Their graph as ours, passages being nodes as well."""
    names = sorted({name for edge in edges for name in edge[:2]})
    nodes = {"type": [""] * len(names), "description": [""] * len(names), "chunks": [[]] * len(names)}
    told = {"description": [""] * len(edges), "weight": [edge[2] for edge in edges], "chunks": [[]] * len(edges)}
    return assemble("theirs", names, [(edge[0], "r", edge[1]) for edge in edges], nodes, told, Table.of(id=["x"], text=["x"]))


def test_entities_and_facts_of_the_same_replies(theirs, tmp_path):
    facts = []
    for chunk in range(len(CHUNKS)):
        here = [Relation(*ends, name="r") for ends, told in RELATIONS.items() if chunk in told[3]]
        facts.append(Facts(tuple(Entity(name) for name, told in ENTITIES.items() if chunk in told[2]), tuple(here)))
    chunks = Table.of(id=[f"c{i}" for i in range(len(CHUNKS))], text=list(CHUNKS))
    made = Made(type("Corpus", (), {"name": "peer"})(), chunks, facts, None)
    graph = Merge(by="name", descriptions=False, keywords=False).apply(made, BuildContext(Told(Parrot("")))).graph
    between = {tuple(edge[:2]): edge[2] for edge in theirs["graph"] if edge[1] in ENTITIES}
    holding = {tuple(edge[:2]) for edge in theirs["graph"] if edge[1] not in ENTITIES}
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    pairs = [tuple(sorted(pair)) for pair in zip(graph.names(heads), graph.names(tails))]
    weights = graph.columns.edges.numbers("weight")
    assert dict(zip(pairs, 2 * weights)) == between
    members = graph.columns.nodes.lists("chunks").lists()
    assert {(name, f"c{chunk}") for name, there in zip(graph.names(range(graph.n_nodes)), members) for chunk in there} == holding


@pytest.mark.parametrize("name", ["all", "son"])
def test_where_page_rank_restarts(theirs, name):
    """An entity by the mean over its facts of the fact's score, through the number of its chunks; a passage by .05 of its own."""
    cosines = {ends: told[4] for ends, told in RELATIONS.items()}
    low, high = min(cosines.values()), max(cosines.values())
    best = sorted(cosines, key=lambda ends: -cosines[ends])[:5] if name == "all" else [("BOB CRATCHIT", "TINY TIM")]
    expected = {}
    for entity in {end for ends in best for end in ends}:
        scores = [(cosines[ends] - low) / (high - low) for ends in best if entity in ends]
        expected[entity] = np.mean(scores) / len(ENTITIES[entity][2])
    nearest = int(np.argmax(CHUNK_COSINES))
    passages = restart(np.array(CHUNK_COSINES), 1, 0.05)
    passages[nearest] -= CHUNK_COSINES[nearest]
    expected |= {f"c{place}": share for place, share in enumerate(passages) if share > 0}
    assert theirs[name]["reset"] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("name", ["all", "son"])
def test_from_there_passages_have_the_same_page_rank(theirs, name):
    graph = walked(theirs["graph"])
    shares = {graph.nodes_named(node)[0]: weight for node, weight in theirs[name]["reset"].items()}
    state = State(Question(QUESTION), nodes=Ranking("node", tuple(shares), tuple(shares.values())))
    reached = PageRankNodes(reset="scores", damping=0.5)(state, Context(graph, Environment(Told(Parrot(""))))).nodes
    ours = [(name, score) for name, score in zip(graph.names(reached.items), reached.scores) if name not in ENTITIES]
    told = [(f"c{chunk}", score) for chunk, score in theirs[name]["chunks"] if score]  # the last passage has no entity and no share
    assert [name for name, _ in ours] == [name for name, _ in told]
    assert [score for _, score in ours] == pytest.approx([score for _, score in told], abs=2e-6)


def test_without_a_fact_passages_are_those_nearest_to_the_question(theirs):
    graph = whole()
    ours = found(graph, after(graph, "EmbedQuery() >> VectorChunks(keep=9)"))["chunks"]
    assert ours == [chunk for chunk, _ in theirs["none"]["chunks"]]


def test_the_first_hipporag_starts_from_names_and_agrees_on_the_best_passages(theirs):
    graph = whole()
    line = "NamesInQuestion() >> LinkNames() >> PageRankNodes() >> RelationsFromNodes(keep=0) >> ChunksFromRelations(keep=9)"
    ours = found(graph, after(graph, line))["chunks"]
    assert ours[:2] == [chunk for chunk, _ in theirs["son"]["chunks"]][:2] == [3, 6]
    assert 8 not in ours  # no fact is told there


def test_alike_names_take_the_place_of_a_fact_in_theirs_and_stand_beside_it_in_ours(theirs):
    before, joined = ({tuple(edge[:2]): edge[2] for edge in theirs[name]} for name in ("graph", "alike"))
    pair = ("BOB CRATCHIT", "TINY TIM")
    assert before[pair] == 2.0 and joined[pair] == pytest.approx(2 * 0.8 * 0.9)  # the cosine of their vectors, in both orders
    assert {ends for ends in before if before[ends] != joined[ends]} == {pair}
    graph = whole()
    made = Made(None, None, None, graph)
    linked = AddSynonymEdges(least=0.7, threshold=0.7).apply(made, BuildContext(Told(Parrot("")))).graph
    assert linked.n_edges == graph.n_edges + 1
    assert SIMILAR in linked.relation_names
