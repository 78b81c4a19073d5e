"""Walk corpus of a graph (Walk&Retrieve).

The vector of each node is that of its walks in words, one after the other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path as FilePath
from typing import Protocol

import numpy as np

from core.errors import BadInput, StoreError
from core.graph.algorithms.walk_corpus import OrderedSteps, WalkPlan, each_walk
from core.graph.storage.write import locked
from core.graph.store import Graph
from core.indexes import vectors
from core.indexes.chains import fingerprint
from core.indexes.encoded import DONE, Blocks, here
from core.indexes.place import AT_WORK, busy_elsewhere, free, index_folder
from core.indexes.sentences import sentences
from core.runtime.meter import spent
from core.runtime.places import waiting
from core.types import Path
from core.watch import NO_WATCH, Watch

SHELF = "walk corpora"
MAX_NODES_IN_QUESTION = 2_000  # nodes whose walks are encoded during a question
LIMIT = 1_000_000  # nodes whose walks are encoded unless a higher limit is given
JOIN = "; "
AT_A_TIME = 8  # walks put into words before the length of the text is checked again
# Matches words that are at least one token each, for any tokenizer.
WORD = re.compile(r"(?<!\S)[^\s0-9A-Za-z]*+[0-9A-Za-z]\S*")


class Words(Protocol):
    """A function that words walks as sentences, in their order.

    `wording` identifies the wording.
    """

    @property
    def wording(self) -> str: ...

    def __call__(self, walks: Sequence[Path], /) -> list[str]: ...


@dataclass(frozen=True, eq=False)
class Template:
    """Wording of walks by the template."""

    graph: Graph
    wording: str = ""

    def __call__(self, walks: Sequence[Path], /) -> list[str]:
        return sentences(self.graph, walks)


@dataclass(frozen=True, eq=False)
class WalkCorpus:
    """Vectors of the nodes that have walks.

    Vector `i` belongs to `nodes[i]`. The nodes ascend.
    """

    graph: Graph
    plan: WalkPlan
    nodes: np.ndarray
    index: vectors.VectorIndex

    def nearest(self, vector: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the `k` nodes with the largest cosine, as (ids int64, cosines float64).

        They are ordered by (-cosine, id).
        """
        places, scores = self.index.nearest(vector, k)
        return self.nodes[places], scores


@dataclass(eq=False)
class WalkBlocks(Blocks):
    """Blocks of the vectors of nodes' walks.

    Item `i` is `nodes[i]`. The encoder reads `most` tokens of its walks (0: all).
    """

    plan: WalkPlan = field(kw_only=True)
    nodes: np.ndarray = field(kw_only=True)
    words: Words = field(kw_only=True)
    most: int = field(kw_only=True)

    @property
    def label(self) -> str:
        return "the walks of entities"

    def total(self) -> int:
        return len(self.nodes)

    def texts_of(self, items: Sequence[int]) -> list[str]:
        return in_words(
            self.graph, self.nodes[np.asarray(items, np.int64)], self.plan, self.words, self.most
        )


def in_words(
    graph: Graph, nodes: Sequence[int] | np.ndarray, plan: WalkPlan, words: Words, most: int
) -> list[str]:
    """Return the walks of each node in words, joined to one text.

    Walks beyond the first `most` tokens, which the encoder would not read, are left out (0: all
    walks).
    """
    walks, said = (
        [each_walk(graph, int(node), plan) for node in nodes],
        [list[str]() for _ in nodes],
    )
    going = list(range(len(walks)))
    while going:
        parts = [list(islice(walks[i], AT_A_TIME)) for i in going]
        new = iter(words([walk for part in parts for walk in part]))
        for i, part in zip(going, parts):
            said[i] += islice(new, len(part))
        going = [
            i
            for i, part in zip(going, parts)
            if part and not 0 < most <= sum(len(WORD.findall(one)) for one in said[i])
        ]
    return [JOIN.join(one) for one in said]


def rooted(graph: Graph, plan: WalkPlan, limit: int = LIMIT) -> np.ndarray:
    """Return the nodes that have walks, in ascending order.

    Raises BadInput where the graph has more than `limit` nodes, or where no node has walks.
    """
    if graph.n_nodes > limit:
        raise BadInput(
            f"Walks of every node are made for graphs of up to {limit:,} nodes; “{graph.name}” is "
            "larger. The command line makes more: python -m core index walks --limit N"
        )
    nodes = OrderedSteps.of(graph, graph.resolve(plan.direction)).has_steps()
    if not len(nodes):
        raise BadInput(
            f"No step leads from any node of “{graph.name}”, so that there are no walks."
        )
    return nodes


def place(graph: Graph, encoder, plan: WalkPlan, wording: str = Template.wording) -> FilePath:
    """Return the folder of the vectors of these walks by this encoder and wording.

    Raises StoreError.
    """
    name = hashlib.blake2b(
        repr((astuple(plan), graph.resolve(plan.direction), wording)).encode(), digest_size=4
    ).hexdigest()
    return (
        index_folder(graph)
        / f"walks-{plan.strategy}-{plan.walks}x{plan.length}-{name}-{fingerprint(encoder)}"
    )


@spent("preparation", "Walks of the graph")
def walk_corpus(
    graph: Graph, encoder, plan: WalkPlan, words: Words | None = None, watch: Watch = NO_WATCH
) -> WalkCorpus:
    """Return the walk corpus, encoded first where it is missing and few nodes have walks.

    Parameters
    ----------
    plan : how the walks are drawn.
    words : the wording of the walks; the template by default.

    Raises
    ------
    StoreError : the corpus is missing and more than `MAX_NODES_IN_QUESTION` nodes have walks. The
        message names the command that encodes them.
    BadInput : no node has walks.
    """
    words = words or Template(graph)
    folder, shelf = place(graph, encoder, plan, words.wording), graph.derived.shelf(SHELF)
    with waiting(shelf.lock, watch):
        corpus = shelf.values.get(folder.name)
        if corpus is None or not (folder / DONE).exists():  # may have been deleted since
            index = vectors.opened(folder)
            nodes = rooted(graph, plan, LIMIT if index is None else graph.n_nodes)
            if (
                index is None
                and len(nodes) > MAX_NODES_IN_QUESTION
                and graph.edited_from is not None
            ):
                raise StoreError(
                    "Walks were encoded of the whole graph; this method cannot be asked with "
                    "something taken away."
                )
            if index is None and len(nodes) > MAX_NODES_IN_QUESTION:
                raise StoreError(
                    f"The walks of the {len(nodes):,} nodes of “{graph.name}” are not encoded yet; "
                    "do it on the page Indexes, or with: "
                    f"{command(graph, plan)}"
                )
            if index:
                corpus = WalkCorpus(graph, plan, nodes, index)
            else:
                corpus = build(graph, encoder, plan, words, watch)
        shelf.values[folder.name] = corpus
    return corpus


def command(graph: Graph, plan: WalkPlan) -> str:
    """Return the command that encodes a walk corpus."""
    text = (
        f"python -m core index walks --graph {graph.folder or graph.name}"
        f" --strategy {plan.strategy}"
    )
    text += f" --walks {plan.walks} --length {plan.length}"
    for option, value, usual in (("direction", plan.direction, "graph"), ("seed", plan.seed, 0)):
        text += f" --{option} {value}" if value != usual else ""
    return text + " --unique" * plan.unique


def build(
    graph: Graph,
    encoder,
    plan: WalkPlan,
    words: Words | None = None,
    watch: Watch = NO_WATCH,
    limit: int = LIMIT,
) -> WalkCorpus:
    """Encode the walk corpus where it is not finished, block by block.

    Finished blocks are kept. A node is not encoded again if its walks have the same text as in an
    earlier content of the graph. A changed triple thus costs only the nodes whose walks pass it.
    The result equals a corpus built from nothing.

    Parameters
    ----------
    plan : how the walks are drawn.
    words : the wording of the walks; the template by default.
    limit : the largest number of nodes of the graph.

    Raises
    ------
    BadInput : the graph is larger, or no node has walks.
    StoreError : the vectors cannot be saved.
    """
    words = words or Template(graph)
    folder, nodes = place(graph, encoder, plan, words.wording), rooted(graph, plan, limit)
    with locked(folder / AT_WORK, True, busy_elsewhere(watch)):
        index = vectors.opened(folder)
        if index is None:
            most = getattr(encoder, "max_tokens", 0)
            blocks = WalkBlocks(
                graph, "nodes", folder, plan=plan, nodes=nodes, words=words, most=most
            )
            facts = {"of": "walks", "plan": list(astuple(plan)), "wording": words.wording}
            index = vectors.finished(blocks, here(encoder, watch), facts, watch)
        return WalkCorpus(graph, plan, nodes, index)


def forget(graph: Graph) -> None:
    """Release the graph's walk corpora from memory.

    Raises StoreError while a question encodes one.
    """
    shelf = graph.derived.shelf(SHELF)
    with free(shelf.lock, "The walks"):
        shelf.values.clear()
