"""A tree of summaries, its clusters and central sentences, by hand."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from zlib import crc32

import numpy as np
import pytest

from core.builds import clustering
from core.builds.base import BuildContext, BuildState
from core.builds.clustering import cluster_balanced, cluster_by_mixtures
from core.builds.group import tree
from core.builds.group.summaries import central_sentences, cut_text
from core.builds.group.tree import Tree
from core.errors import ModelFailed, ModelUnavailable
from core.graph.columns import Table
from core.models.base import ChatReply, NoModels
from core.watch import NO_WATCH
from tests.core.builds.kit import Texts
from tests.notes import NoteWith


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


class FirstLetterModels(NoModels):
    """Models whose encoder gives nearly the same vector to texts with the same first letter.

    The chat records its prompts.
    """

    def __init__(self):
        self.asked = []

    def encoder(self, name="encoder"):
        return self

    def encode(self, texts, watch=NO_WATCH):
        vectors = np.stack(
            [np.random.default_rng(crc32(text.encode())).normal(0, 0.001, 12) for text in texts]
        )
        for row, text in enumerate(texts):
            vectors[row, ord(text[0].lower()) - ord("a")] += 1.0
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def chat(self, role="answer"):
        return self

    context = 4096

    def reply(self, messages, **_):
        self.asked.append(messages[-1]["content"])
        return ChatReply(f"Sum of {messages[-1]['content'].splitlines()[1][:2]}", 10, 5)

    def count_tokens(self, messages):
        return 1


def chunks_of(*groups):
    texts = [
        f"{letter}{'x' * (number % 5)}{number} told."
        for letter, count in groups
        for number in range(count)
    ]
    ids = [f"c{row:02}" for row in range(len(texts))]
    return Table.from_columns(
        id=ids,
        document=ids,
        title=[""] * len(ids),
        place=[""] * len(ids),
        text=texts,
        tokens=[3] * len(ids),
    )


def grow_tree(operator, chunks, tmp_path, models=None):
    ctx = BuildContext(models or FirstLetterModels())
    return operator.apply(BuildState(Texts(tmp_path), chunks), ctx).graph, ctx


def test_three_far_groups_are_three_summaries(tmp_path):
    graph, ctx = grow_tree(
        Tree(summaries="extractive"), chunks_of(("a", 8), ("b", 9), ("c", 7)), tmp_path
    )
    assert graph.n_nodes == 27 and ctx.report.counts["summaries"] == 3
    levels = dict(zip(graph.names(range(27)), graph.columns.nodes.numbers("level").tolist()))
    assert {name for name, level in levels.items() if level == 1} == {
        "Summary 1.1",
        "Summary 1.2",
        "Summary 1.3",
    }
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    below = {}
    for head, tail in zip(graph.names(heads), graph.names(tails)):
        below.setdefault(head, []).append(tail)
    assert sorted(len(children) for children in below.values()) == [
        7,
        8,
        9,
    ] and graph.relation_names == ("summarises",)
    rows = dict(zip(graph.names(range(27)), graph.columns.nodes.id_lists("chunks").to_lists()))
    assert rows["Summary 1.1"] == list(range(8)) and rows["c09"] == [9]
    assert [text[0] for text in graph.columns.nodes.texts("description") if text] == ["a", "b", "c"]


def test_clusters_of_two_wait_for_the_next_layer_as_in_the_analysis(tmp_path, monkeypatch):
    groups = [np.arange(9), np.arange(9, 11), np.array([11])]
    monkeypatch.setattr(Tree, "_cluster_vectors", lambda *_: groups)
    # Section 4: “for each cluster with more than two nodes” there is a summary. Nine a, two b, one
    # c: RAPTOR's code makes three summaries. The reading of the analysis makes one, and the other
    # three chunks have no parent yet.
    chunks = chunks_of(("a", 9), ("b", 2), ("c", 1))
    every, _ = grow_tree(Tree(summaries="extractive", layers=1), chunks, tmp_path)
    paper, ctx = grow_tree(Tree(summaries="extractive", layers=1, fewest=3), chunks, tmp_path)
    assert every.n_nodes == 12 + 3 and paper.n_nodes == 12 + 1
    assert ctx.report.counts["summaries"] == 1
    heads, _, tails = paper.triples(np.arange(paper.n_edges))
    assert {name for name in paper.names(tails)} == {f"c{row:02}" for row in range(9)}


def test_texts_without_a_summary_are_clustered_again_in_the_next_layer(tmp_path, monkeypatch):
    # Twelve texts. The first layer has three clusters of three, and three single texts. The second
    # layer has all six together.
    layers = [[range(3), range(3, 6), range(6, 9), [9], [10], [11]], [range(6)]]
    found = iter([[np.array(one) for one in layer] for layer in layers])
    monkeypatch.setattr(Tree, "_cluster_vectors", lambda *_: next(found))
    monkeypatch.setattr(tree, "SUMMARY_TREE", replace(tree.SUMMARY_TREE, max_top_nodes=5))
    graph, _ = grow_tree(
        Tree(summaries="extractive", layers=2, fewest=3), chunks_of(("a", 12)), tmp_path
    )
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    below = [b for a, b in zip(graph.names(heads), graph.names(tails)) if a == "Summary 2.1"]
    assert sorted(below) == ["Summary 1.1", "Summary 1.2", "Summary 1.3", "c09", "c10", "c11"]


def test_a_language_model_is_called_once_per_cluster(tmp_path):
    models, chunks = FirstLetterModels(), chunks_of(("a", 8), ("b", 8))
    first, _ = grow_tree(Tree(), chunks, tmp_path, models)
    again, ctx = grow_tree(Tree(), chunks, tmp_path, models)
    assert (
        len(models.asked) == 2
        and first.digest == again.digest
        and ctx.report.counts["replies kept"] == 2
    )


def test_an_empty_summary_is_replaced_by_central_sentences(tmp_path):
    class EmptyReplyModels(FirstLetterModels):
        def reply(self, messages, **how):
            asked = super().reply(messages, **how)
            return ChatReply("  ", 10, 0) if asked.text == "Sum of a0" else asked

    chunks = chunks_of(("a", 8), ("b", 8))
    graph, ctx = grow_tree(Tree(), chunks, tmp_path, EmptyReplyModels())
    told = [text for text in graph.columns.nodes.texts("description") if text]
    assert (
        len(told) == 2 and told[1] == "Sum of b0" and told[0].startswith("a") and "told." in told[0]
    )
    assert ctx.report.counts["unread summaries"] == 1 and "empty" in ctx.report.notes[0]


def test_a_truncated_summary_is_kept_and_counted(tmp_path):
    class TruncatedReplyModels(FirstLetterModels):
        def reply(self, messages, **how):
            asked = super().reply(messages, **how)
            return ChatReply(asked.text, 10, 200, "length") if asked.text == "Sum of a0" else asked

    models = TruncatedReplyModels()
    graph, ctx = grow_tree(Tree(), chunks_of(("a", 8), ("b", 8)), tmp_path, models)
    assert len(models.asked) == 2 and "Sum of a0" in graph.columns.nodes.texts("description")
    assert ctx.report.counts["summaries cut"] == 1 and ctx.report.counts["asked again"] == 0
    assert ctx.report.notes == [NoteWith("cut", 200, "tokens")]


def test_a_failing_model_is_reported(tmp_path):
    class FailingChatModels(FirstLetterModels):
        def reply(self, messages, **_):
            raise ModelFailed("The model died.")

    with pytest.raises(ModelFailed, match="died"):
        grow_tree(Tree(), chunks_of(("a", 8), ("b", 8)), tmp_path, FailingChatModels())


@pytest.mark.parametrize("count", [1, 11])
def test_few_chunks_need_no_summary(count, tmp_path):
    graph, _ = grow_tree(Tree(), chunks_of(("a", count)), tmp_path)
    assert (graph.n_nodes, graph.n_edges) == (count, 0)


def test_a_cluster_whose_text_is_too_long_is_split(tmp_path):
    # 101 tokens each.
    chunks = chunks_of(("a", 20)).with_columns(
        text=["a" + "y" * 347 + f"{row:02}." for row in range(20)]
    )
    graph, _ = grow_tree(Tree(summaries="extractive", longest=500, layers=1), chunks, tmp_path)
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    assert max(np.bincount(heads)) <= 4 and len(set(tails.tolist())) == 20


def test_a_chunk_may_have_the_name_of_a_summary(tmp_path):
    chunks = chunks_of(("a", 8), ("b", 8)).with_columns(
        id=["Summary 1.1", *[f"c{row}" for row in range(15)]]
    )
    graph, _ = grow_tree(Tree(summaries="extractive"), chunks, tmp_path)
    assert graph.n_nodes == 18 and "Summary 1.1'" in graph.names(range(18))


def test_balanced_clusters_have_no_more_than_their_share():
    # Nine points near 0 and three near 10. With two clusters of six, three of the nine join the far
    # ones.
    points = np.array([[0.01 * i] for i in range(9)] + [[10.0], [10.1], [10.2]])
    near, far = cluster_balanced(points, 6)
    assert len(near) == len(far) == 6
    assert {9, 10, 11} <= set(near.tolist()) or {9, 10, 11} <= set(far.tolist())
    assert [one.tolist() for one in cluster_balanced(points[:3], 6)] == [[0, 1, 2]]


@pytest.mark.parametrize("sought", [False, True])
def test_a_mixture_finds_separate_groups_deterministically(sought, monkeypatch):
    monkeypatch.setattr(
        clustering,
        "CLUSTERING",
        replace(clustering.CLUSTERING, max_pca_vectors=20 if sought else 20_000),
    )
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(place, 1e-4, (15, 4)) for place in (0.0, 5.0)])
    first, again = (cluster_by_mixtures(points, "pca", NO_WATCH, sought) for _ in range(2))
    assert {tuple(one.tolist()) for one in first} == {tuple(range(15)), tuple(range(15, 30))}
    assert [one.tolist() for one in first] == [one.tolist() for one in again]


def test_very_many_vectors_are_projected_as_by_pca(monkeypatch):
    from sklearn.decomposition import PCA

    vectors = np.random.default_rng(5).normal(size=(90, 12)) * np.linspace(3, 0.5, 12) + 1
    monkeypatch.setattr(
        clustering, "CLUSTERING", replace(clustering.CLUSTERING, max_kmeans_vectors=40)
    )
    found, expected = (
        clustering._project(vectors.astype(np.float32), 5),
        PCA(5, svd_solver="full").fit_transform(vectors),
    )
    # The sign of an axis is arbitrary.
    assert np.allclose(np.abs(found), np.abs(expected), atol=1e-5)


def test_a_tree_of_very_many_chunks_searches_the_number_of_components(tmp_path, monkeypatch):
    whole, _ = grow_tree(
        Tree(summaries="extractive"), chunks_of(("a", 8), ("b", 9), ("c", 7)), tmp_path
    )
    monkeypatch.setattr(tree, "SUMMARY_TREE", replace(tree.SUMMARY_TREE, max_exhaustive_chunks=10))
    sought, _ = grow_tree(
        Tree(summaries="extractive"), chunks_of(("a", 8), ("b", 9), ("c", 7)), tmp_path
    )
    assert sought.digest == whole.digest  # Both ways find three groups.


def groups_of(count, size, spread, seed=0):
    """Unit vectors of `count` groups of `size`, each near a random direction."""
    rng = np.random.default_rng(seed)
    vectors = np.repeat(rng.normal(size=(count, 48)), size, axis=0) + rng.normal(
        0, spread, (count * size, 48)
    )
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_many_small_groups_are_found_without_regularisation():
    # 30 groups of 6. A regularisation of 1e-4 would join them to a few clusters of about 30.
    found = cluster_by_mixtures(groups_of(30, 6, 0.05), "pca")
    assert [one.tolist() for one in found] == [
        list(range(first, first + 6)) for first in range(0, 180, 6)
    ]


@pytest.mark.parametrize("count, size", [(7, 4), (3, 3)])
def test_the_searched_number_of_components_equals_the_exhaustive_one(count, size):
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    vectors = groups_of(count, size, 0.6, seed=3)
    points = PCA(min(10, len(vectors) - 2), svd_solver="full").fit_transform(vectors)
    score = [
        GaussianMixture(n, random_state=224).fit(points).bic(points) for n in range(1, len(points))
    ]
    best = GaussianMixture(1 + int(np.argmin(score)), random_state=0).fit(points)
    sure = {tuple(np.flatnonzero(column > 0.1).tolist()) for column in best.predict_proba(points).T}
    assert {tuple(one.tolist()) for one in cluster_by_mixtures(vectors, "pca")} == sure - {()}


def test_a_cluster_of_one_text_has_a_summary(tmp_path):
    class PairedTree(Tree):
        """A tree with six pairs of texts, and a cluster of the thirteenth text alone."""

        def _cluster_vectors(self, vectors, sizes, ctx, search_count, depth=0):
            return [np.array([first, first + 1]) for first in range(0, 12, 2)] + [np.array([12])]

    models = FirstLetterModels()
    graph, _ = grow_tree(PairedTree(), chunks_of(("a", 12), ("b", 1)), tmp_path, models)
    assert len(models.asked) == 7  # The single text has a summary too.
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    below = dict(zip(graph.names(heads), graph.names(tails)))
    rows = dict(zip(graph.names(range(20)), graph.columns.nodes.id_lists("chunks").to_lists()))
    assert below["Summary 1.7"] == "c12" and rows["Summary 1.7"] == [12]


def test_a_missing_umap_is_reported():
    pytest.importorskip("sklearn")
    if find_spec("umap") is not None:
        pytest.skip("umap-learn is installed")
    with pytest.raises(ModelUnavailable, match="umap-learn"):
        cluster_by_mixtures(np.random.default_rng(0).normal(size=(30, 12)), "umap")


def test_central_sentences_are_those_nearest_to_the_mean():
    # Three sentences of a, one of b: the mean is near a. The sentences keep their order, and none
    # comes twice.
    texts = ["Aa one. Bb two.", "Aa three. Aa one."]
    ctx = BuildContext(FirstLetterModels())
    groups = [texts, ["", " "], ["Bb two."]]
    assert central_sentences(groups, 6, "encoder", ctx) == ["Aa one. Aa three.", "", "Bb two."]
    assert central_sentences([], 6, "encoder", ctx) == []
    assert central_sentences([["", " "]], 6, "encoder", ctx) == [""]


def test_text_is_cut_after_a_word():
    assert cut_text("one two three", 3) == "one two …" and cut_text("one", 3) == "one"


def test_very_many_vectors_are_halved_first_and_each_is_in_one_cluster(monkeypatch):
    monkeypatch.setattr(
        clustering, "CLUSTERING", replace(clustering.CLUSTERING, max_kmeans_vectors=60)
    )
    clouds = np.repeat(np.array([[0.0, 0.0], [90.0, 0.0]]), 100, axis=0) + np.random.default_rng(
        2
    ).standard_normal((200, 2))
    found = cluster_balanced(clouds, 6)
    assert sorted(np.concatenate(found).tolist()) == list(range(200)) and max(map(len, found)) <= 7
    # Vectors that are far apart never share a cluster.
    assert all((one < 100).all() or (one >= 100).all() for one in found)
    assert [one.tolist() for one in found] == [one.tolist() for one in cluster_balanced(clouds, 6)]
