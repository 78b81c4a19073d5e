"""Walk corpus of a graph (Walk&Retrieve): a vector of the walks of each node."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import Protocol

import numpy as np

from core.errors import BadInput, StoreError, with_command
from core.graph.algorithms.walk_corpus import OrderedSteps, WalkPlan, iterate_walks
from core.graph.storage.store_files import lock_store
from core.graph.store import Graph
from core.indexes import vectors
from core.indexes.chains import fingerprint
from core.indexes.index_storage import BUILD_LOCK_NAME, hold_free_lock, index_folder, waiting_watch
from core.indexes.path_sentences import word_paths
from core.indexes.vector_blocks import DONE_FILE, VectorBlocks, encode_here
from core.runtime.meter import count_time
from core.runtime.slots import hold_lock
from core.types import Path
from core.watch import NO_WATCH, Watch

WALKS_SHELF = "walk corpora"  # under this name a graph holds opened corpora in memory
MAX_NODES_IN_QUESTION = 2_000  # nodes whose walks are encoded during a question
MAX_WALK_NODES = 1_000_000  # nodes whose walks are encoded unless a higher limit is given
WALK_SEPARATOR = "; "
WORDING_BATCH_WALKS = 8  # walks put into words before the length of the text is checked again
# Matches words that are at least one token each, for any tokenizer.
TOKEN_WORD = re.compile(r"(?<!\S)[^\s0-9A-Za-z]*+[0-9A-Za-z]\S*")


class WalkWording(Protocol):
    """A function that words walks as sentences, in their order.

    Methods
    -------
    wording : text that identifies the wording, for the folder of the vectors.
    __call__(walks) : return one sentence for each walk.
    """

    @property
    def wording(self) -> str: ...

    def __call__(self, walks: Sequence[Path], /) -> list[str]: ...


@dataclass(frozen=True, eq=False)
class TemplateWording:
    """Wording of walks by the template."""

    graph: Graph
    wording: str = ""

    def __call__(self, walks: Sequence[Path], /) -> list[str]:
        return word_paths(self.graph, walks)


@dataclass(frozen=True, eq=False)
class WalkCorpus:
    """Vectors of the nodes that have walks; vector `i` belongs to `nodes[i]`, ascending."""

    graph: Graph
    plan: WalkPlan
    nodes: np.ndarray
    index: vectors.VectorIndex

    def nearest(self, vector: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the `k` nodes with the largest cosine, as (ids int64, cosines float64).

        They are ordered by (-cosine, id).

        Parameters
        ----------
        vector : unit vector of the question, float32 [d].
        k : largest number of nodes.

        Returns
        -------
        Node ids int64 [k] and cosines float64 [k].

        Raises
        ------
        BadParameter : the vector has another dimension.
        """
        positions, scores = self.index.nearest(vector, k)
        return self.nodes[positions], scores


@dataclass(eq=False)
class WalkBlocks(VectorBlocks):
    """Blocks of the vectors of nodes' walks.

    Item `i` is `nodes[i]`. The encoder reads `max_tokens` tokens of its text (0: all).
    """

    plan: WalkPlan = field(kw_only=True)
    nodes: np.ndarray = field(kw_only=True)
    words: WalkWording = field(kw_only=True)
    max_tokens: int = field(kw_only=True)

    @property
    def label(self) -> str:
        return "the walks of entities"

    def total(self) -> int:
        return len(self.nodes)

    def texts_of(self, items: Sequence[int]) -> list[str]:
        return walk_texts(
            self.graph,
            self.nodes[np.asarray(items, np.int64)],
            self.plan,
            self.words,
            self.max_tokens,
        )


def walk_texts(
    graph: Graph, nodes: Sequence[int] | np.ndarray, plan: WalkPlan, words: WalkWording, limit: int
) -> list[str]:
    """Return the walks of each node in words, joined to one text.

    Parameters
    ----------
    nodes : node ids.
    plan : strategy, number and length of the walks.
    words : turns walks into sentences.
    limit : number of tokens that the encoder reads, 0 for all; walks beyond them are left out.

    Returns
    -------
    One text for each node, its walks joined by `WALK_SEPARATOR`.
    """
    walks = [iterate_walks(graph, int(node), plan) for node in nodes]
    texts = [list[str]() for _ in nodes]
    unfinished = list(range(len(walks)))
    # A few walks of all nodes are worded together, as a language model words several at a time.
    while unfinished:
        batches = [list(islice(walks[i], WORDING_BATCH_WALKS)) for i in unfinished]
        sentences = iter(words(list(chain.from_iterable(batches))))
        still_unfinished = []
        for i, batch in zip(unfinished, batches):
            texts[i] += islice(sentences, len(batch))
            n_tokens = sum(len(TOKEN_WORD.findall(sentence)) for sentence in texts[i])
            if batch and not 0 < limit <= n_tokens:
                still_unfinished.append(i)
        unfinished = still_unfinished
    return [WALK_SEPARATOR.join(sentences) for sentences in texts]


def nodes_with_walks(graph: Graph, plan: WalkPlan, limit: int = MAX_WALK_NODES) -> np.ndarray:
    """Return the nodes that have walks, in ascending order.

    Parameters
    ----------
    plan : its direction decides which nodes have steps.
    limit : largest number of nodes of the graph.

    Returns
    -------
    Node ids, int64.

    Raises
    ------
    BadInput : the graph has more than `limit` nodes, or no node has walks.
    """
    if graph.n_nodes > limit:
        raise BadInput(
            with_command(
                f"Walks of every node are made for graphs of up to {limit:,} nodes; "
                f"“{graph.name}” is larger. The command line makes more.",
                f"{walks_command(graph, plan)} --limit {graph.n_nodes}",
            )
        )
    nodes = OrderedSteps.from_graph(graph, graph.resolve(plan.direction)).nodes_with_steps()
    if not len(nodes):
        raise BadInput(
            f"No step leads from any node of “{graph.name}”, so that there are no walks."
        )
    return nodes


def walk_folder(
    graph: Graph, encoder, plan: WalkPlan, wording: str = TemplateWording.wording
) -> FilePath:
    """Return the folder of the vectors of these walks by this encoder and wording.

    Parameters
    ----------
    encoder : the encoder of the vectors; its fingerprint is part of the name.
    plan : strategy, number and length of the walks.
    wording : identifies the wording.

    Returns
    -------
    A folder below the index folder of the graph; it may not exist.
    """
    name = hashlib.blake2b(
        repr((astuple(plan), graph.resolve(plan.direction), wording)).encode(), digest_size=4
    ).hexdigest()
    return (
        index_folder(graph)
        / f"walks-{plan.strategy}-{plan.walks}x{plan.length}-{name}-{fingerprint(encoder)}"
    )


@count_time("preparation", "Walks of the graph")
def walk_corpus(
    graph: Graph, encoder, plan: WalkPlan, words: WalkWording | None = None, watch: Watch = NO_WATCH
) -> WalkCorpus:
    """Return the walk corpus, encoded first if it is missing.

    It is encoded only if few nodes have walks.

    Parameters
    ----------
    plan : how the walks are drawn.
    words : the wording of the walks; the template by default.

    Returns
    -------
    The corpus, kept in memory with the graph.

    Raises
    ------
    StoreError : the corpus is missing and more than `MAX_NODES_IN_QUESTION` nodes have walks. The
        message names the command that encodes them.
    BadInput : no node has walks.
    """
    words = words or TemplateWording(graph)
    folder = walk_folder(graph, encoder, plan, words.wording)
    shelf = graph.derived.cache_of(WALKS_SHELF)
    with hold_lock(shelf.lock, watch):
        corpus = shelf.values.get(folder.name)
        if corpus is None or not (folder / DONE_FILE).exists():  # may have been deleted since
            index = vectors.open_vectors(folder)
            nodes = nodes_with_walks(
                graph, plan, MAX_WALK_NODES if index is None else graph.n_nodes
            )
            if index is None and len(nodes) > MAX_NODES_IN_QUESTION:
                if graph.edited_from is not None:
                    raise StoreError(
                        "Walks were encoded of the whole graph; this method cannot be asked with "
                        "something taken away."
                    )
                raise StoreError(
                    with_command(
                        f"The walks of the {len(nodes):,} nodes of “{graph.name}” are not encoded "
                        "yet. Encode them on the page Indexes.",
                        walks_command(graph, plan),
                    )
                )
            if index:
                corpus = WalkCorpus(graph, plan, nodes, index)
            else:
                corpus = build_walk_corpus(graph, encoder, plan, words, watch)
        shelf.values[folder.name] = corpus
    return corpus


def walks_command(graph: Graph, plan: WalkPlan) -> str:
    """Return the command that encodes a walk corpus.

    Parameters
    ----------
    plan : strategy, number, length and direction of the walks, and more.

    Returns
    -------
    A line for the shell.
    """
    text = (
        f"hopscope index walks --graph {graph.folder or graph.name}"
        f" --strategy {plan.strategy} --walks {plan.walks} --length {plan.length}"
    )
    for option, value, default in (("direction", plan.direction, "graph"), ("seed", plan.seed, 0)):
        text += f" --{option} {value}" if value != default else ""
    return text + " --unique" * plan.unique


def build_walk_corpus(
    graph: Graph,
    encoder,
    plan: WalkPlan,
    words: WalkWording | None = None,
    watch: Watch = NO_WATCH,
    limit: int = MAX_WALK_NODES,
) -> WalkCorpus:
    """Encode the missing blocks of the walk corpus, and return it.

    A node is not encoded again if its walks have the same text as in an earlier content of the
    graph. A changed triple thus costs only the nodes whose walks pass it. The result equals a
    corpus built from the beginning.

    Parameters
    ----------
    plan : how the walks are drawn.
    words : the wording of the walks; the template by default.
    limit : the largest number of nodes of the graph.

    Returns
    -------
    The corpus, opened from its files.

    Raises
    ------
    BadInput : the graph is larger, or no node has walks.
    StoreError : the vectors cannot be saved.
    """
    words = words or TemplateWording(graph)
    folder = walk_folder(graph, encoder, plan, words.wording)
    nodes = nodes_with_walks(graph, plan, limit)
    with lock_store(folder / BUILD_LOCK_NAME, True, waiting_watch(watch)):
        index = vectors.open_vectors(folder)
        if index is None:
            max_tokens = getattr(encoder, "max_tokens", 0)
            blocks = WalkBlocks(
                graph, "nodes", folder, plan=plan, nodes=nodes, words=words, max_tokens=max_tokens
            )
            facts = {"of": "walks", "plan": list(astuple(plan)), "wording": words.wording}
            index = vectors.finish_vectors(blocks, encode_here(encoder, watch), facts, watch)
        return WalkCorpus(graph, plan, nodes, index)


def forget_walks(graph: Graph) -> None:
    """Release the graph's walk corpora from memory.

    Raises StoreError while a question encodes one.
    """
    shelf = graph.derived.cache_of(WALKS_SHELF)
    with hold_free_lock(shelf.lock, "The walks"):
        shelf.values.clear()
