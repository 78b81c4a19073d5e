"""Walk corpora: nearest nodes by hand, continued builds, and updates equal to a rebuild."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import BadInput, RunCancelled, StoreError
from core.graph.algorithms.walk_corpus import WalkPlan
from core.graph.building.build import build as build_graph
from core.graph.building.build import build_in_memory
from core.indexes import walks
from core.indexes.path_sentences import word_paths
from core.indexes.walks import (
    build_walk_corpus,
    walk_corpus,
    walk_folder,
    walk_texts,
    walks_command,
)
from core.types import Path
from core.watch import NO_WATCH, Watch
from tests.films import TRIPLES, Bag

PLAN = WalkPlan("breadth-first", 0, 1, "out")
RANDOM = WalkPlan("random", 8, 3, "out", seed=5)


class RecordingWalkEncoder(Bag):
    """An encoder that records its texts, and is cancelled after `most` of them."""

    def __init__(self, most=10**9):
        self.asked, self.most = [], most

    def encode(self, texts, watch=NO_WATCH):
        if len(self.asked) >= self.most:
            raise RunCancelled()
        # The text that identifies an encoder is not recorded.
        self.asked += [text for text in texts if not text.endswith("?")]
        return super().encode(texts)


@pytest.fixture
def build_films(tmp_path):
    """A function that builds the films graph with further triples."""
    return lambda *more, folder="films": build_graph(
        [*TRIPLES, *more], tmp_path / folder, "films", "both"
    )


def vectors_of(corpus):
    return np.array([corpus.index.index.reconstruct(i) for i in range(len(corpus.nodes))])


def test_nodes_are_encoded_by_their_walks_in_words(tmp_path):
    # Only One has an outgoing step: “One directed by Ann; One has genre Drama”.
    films = build_graph(
        [("One", "directed_by", "Ann"), ("One", "has_genre", "Drama")],
        tmp_path / "films",
        "films",
        "out",
    )
    encoder = RecordingWalkEncoder()
    corpus = walk_corpus(films, encoder, PLAN)
    assert encoder.asked == ["One directed by Ann; One has genre Drama"]
    nodes, cosines = corpus.nearest(Bag().encode(["drama by"])[0], 3)
    # “one” comes twice and six words once, so the length is sqrt(4 + 6). The question has length
    # sqrt(2), and two words are in common.
    assert films.names(nodes) == ["One"] and cosines[0] == pytest.approx(
        2 / np.sqrt(10 * 2), abs=1e-3
    )
    walk_corpus(films, encoder, PLAN)
    assert len(encoder.asked) == 1  # The vectors are kept.


def test_an_added_triple_changes_its_walks_and_equals_a_rebuild(build_films):
    before, encoder = build_films(), RecordingWalkEncoder()
    for plan in (PLAN, RANDOM):
        build_walk_corpus(before, encoder, plan)
    after, again = build_films(("Two", "has_genre", "Noir")), RecordingWalkEncoder()
    for plan in (PLAN, RANDOM):
        changed = build_walk_corpus(after, again, plan)
        fresh = build_walk_corpus(
            build_films(("Two", "has_genre", "Noir"), folder="anew"), Bag(), plan
        )
        assert np.array_equal(vectors_of(changed), vectors_of(fresh))
        assert (
            changed.index.facts["encoded"] == 1
            and changed.index.facts["reused"] == len(changed.nodes) - 1
        )
    assert all(text.startswith("Two") for text in again.asked)


def test_a_removed_triple_equals_a_rebuild(build_films, tmp_path):
    build_walk_corpus(build_films(("Two", "has_genre", "Noir")), Bag(), RANDOM)
    changed = build_walk_corpus(build_films(), Bag(), RANDOM)
    assert np.array_equal(
        vectors_of(changed),
        vectors_of(build_walk_corpus(build_films(folder="anew"), Bag(), RANDOM)),
    )
    # Only the walks from Two change.
    assert (changed.index.facts["encoded"], changed.index.facts["reused"]) == (
        1,
        len(changed.nodes) - 1,
    )


def test_finished_work_is_kept_after_cancelling(build_films, monkeypatch):
    monkeypatch.setattr("core.indexes.vector_blocks.BLOCK_TEXTS", 1)
    graph, encoder = build_films(), RecordingWalkEncoder(most=1)

    def check():
        if len(encoder.asked) >= 1:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        build_walk_corpus(graph, encoder, PLAN, watch=Watch(check))
    rest = RecordingWalkEncoder()
    assert len(build_walk_corpus(graph, rest, PLAN).nodes) == len(rest.asked) + 1


def test_many_nodes_are_not_encoded_within_a_question(build_films, monkeypatch):
    monkeypatch.setattr(walks, "MAX_NODES_IN_QUESTION", 1)
    graph = build_films()
    with pytest.raises(
        StoreError,
        match=r"page Indexes\.\n\$ hopscope index walks --graph .* --strategy random --walks 8 .* --seed 5",
    ):
        walk_corpus(graph, Bag(), RANDOM)
    build_walk_corpus(graph, Bag(), RANDOM)
    assert len(walk_corpus(graph, Bag(), RANDOM).nodes) > 1
    assert walks_command(graph, WalkPlan(unique=True)).endswith("--walks 60 --length 4 --unique")


def test_graphs_without_walks_are_refused(monkeypatch):
    loops = build_in_memory([("A", "r", "A")], "loops")
    corpus = walk_corpus(loops, Bag(), WalkPlan("random", 2, 1, "out"))
    assert loops.names(corpus.nodes) == ["A"]
    monkeypatch.setattr(walks, "MAX_WALK_NODES", 0)
    with pytest.raises(BadInput, match="up to 0 nodes"):
        walk_corpus(build_in_memory([("A", "r", "B")], "line"), Bag(), PLAN)


@pytest.mark.parametrize("strategy", ["random", "breadth-first"])
def test_walks_beyond_the_limit_of_the_encoder_are_not_worded(strategy, tmp_path):
    class TruncatingEncoder(RecordingWalkEncoder):
        def encode(self, texts, watch=NO_WATCH):
            return super().encode([" ".join(text.split()[:50]) for text in texts])

    class BoundedEncoder(TruncatingEncoder):
        max_tokens = 50

    graph = build_graph(
        [(f"F{i}", "directed_by", "Ann") for i in range(30)], tmp_path / "films", "films", "both"
    )
    # Of 30 walks with three words each, 16 have 48 words.
    plan, asked, told = (WalkPlan(strategy, 30, 1, "in"), TruncatingEncoder(), BoundedEncoder())
    vectors = vectors_of(build_walk_corpus(graph, asked, plan))
    (tmp_path / "again").mkdir()
    again = build_graph(
        [(f"F{i}", "directed_by", "Ann") for i in range(30)],
        tmp_path / "again" / "films",
        "films",
        "both",
    )
    assert np.array_equal(vectors, vectors_of(build_walk_corpus(again, told, plan)))
    (ann,) = graph.nodes_named("Ann")
    whole, read = (
        walk_texts(graph, [ann], plan, walks.TemplateWording(graph), most)[0].split("; ")
        for most in (0, 50)
    )
    assert len(whole) == 30 and read == whole[:24]  # Walks are put into words eight at a time.


def test_each_plan_encoder_and_wording_has_its_own_vectors(build_films):
    graph = build_films()
    places = {
        walk_folder(graph, Bag(), plan)
        for plan in (
            PLAN,
            RANDOM,
            WalkPlan("random", 8, 3, "out"),
            WalkPlan("random", 8, 3, "both", seed=5),
        )
    }
    assert len(places | {walk_folder(graph, Bag(), PLAN, "model")}) == 5


def test_sentences_use_the_relation_words_of_the_graph(movies):
    (film,) = movies.nodes_named("Kismet")[:1]
    nodes, edges, forward = movies.steps(film, "out")
    by = next(
        i for i, edge in enumerate(edges.tolist()) if movies.relation_name(edge) == "directed_by"
    )
    path = Path((film, int(nodes[by])), (int(edges[by]),), (True,))
    assert word_paths(movies, [path, Path((film,))]) == [
        f"Kismet directed by {movies.node_name(nodes[by])}",
        "Kismet",
    ]
    back = Path((int(nodes[by]), film), (int(edges[by]),), (False,))
    assert word_paths(movies, [back]) == [f"{movies.node_name(nodes[by])} directed Kismet"]
