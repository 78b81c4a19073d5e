"""The relation chains of a graph, put into words and encoded once; a question then finds its chains by one encoder call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary
from zipfile import BadZipFile

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.names.head_types import head_types
from core.graph.names.phrases import chain_text, phrase
from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph
from core.indexes.place import free, index_folder, keep, keep_if_possible
from core.io import digests
from core.runtime.meter import spent
from core.runtime.places import waiting
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_CHAINS = 10_000  # about 50 MB
RARE = (
    0.002  # share of the nodes reached; a step that fewer can take follows by an accident of names
)
MAX_EDGES = 2_000_000  # triples looked at to learn which steps follow each other
SHELF = "relation chains"  # where those read are kept on their graph
PROBE = "Which words does this encoder put near each other?"
VERSION = 2
_fingerprints: WeakKeyDictionary = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Alike:
    """How alike a question and texts are, token by token: for each text the sum of its tokens' best cosines to a token of the
    question, how many tokens it has, and for each token of the question the best cosine to a token of the text."""

    sums: np.ndarray  # float64 [n]
    lengths: np.ndarray  # [n]
    covered: np.ndarray  # float64 [n, question tokens]

    def f1(self) -> np.ndarray:
        """float64 [n], in [-1, 1]."""
        precision, recall = self.sums / np.maximum(self.lengths, 1), self.covered.mean(axis=1)
        total = precision + recall
        return np.where(
            total > 0, 2 * precision * recall / np.where(total > 0, total, 1), total / 2
        )

    def __getitem__(self, rows: np.ndarray) -> Alike:
        return Alike(self.sums[rows], self.lengths[rows], self.covered[rows])

    def beside(self, other: Alike) -> Alike:
        """Two texts said one after the other, row by row."""
        return Alike(
            self.sums + other.sums,
            self.lengths + other.lengths,
            np.maximum(self.covered, other.covered),
        )


@dataclass(frozen=True, eq=False)
class ChainIndex:
    """Chains with their words and the unit vectors of their words' tokens, ordered by (length, codes).

    Chain `i` has the vectors `tokens[starts[i] : starts[i + 1]]`, each in whole steps of its `scales`. `found` is how many
    chains the graph was seen to have, of which the commonest of the shortest are kept.
    """

    chains: tuple[Chain, ...]
    texts: tuple[str, ...]
    tokens: np.ndarray  # int8 [t, d]
    scales: np.ndarray  # float32 [t]
    starts: np.ndarray  # int64 [n + 1]
    found: int

    def __len__(self) -> int:
        return len(self.chains)

    @cached_property
    def place(self) -> dict[Chain, int]:
        """The place of each chain."""
        return {chain: i for i, chain in enumerate(self.chains)}

    @cached_property
    def beginnings(self) -> frozenset[Chain]:
        """Every chain and what chains begin with."""
        return frozenset(chain[:n] for chain in self.chains for n in range(1, len(chain) + 1))

    def part(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of a chain, in steps, and these steps."""
        rows = slice(self.starts[place], self.starts[place + 1])
        return self.tokens[rows], self.scales[rows]

    def scores(self, question: np.ndarray, places: Sequence[int]) -> np.ndarray:
        """float64 [len(places)]: how alike the question, as token vectors, and each of these chains are, in [-1, 1].

        F1 of two late interactions: precision is the mean over the chain's tokens of the best cosine to a token of the
        question, recall the same from the question's tokens to the chain's (as in BERTScore, Zhang et al. 2020). One
        vector for the whole text is a token too, and the score then the cosine.
        """
        return self.alike(question, places).f1()

    def alike(self, question: np.ndarray, places: Sequence[int] | np.ndarray) -> Alike:
        """How much of the question, as token vectors, each of these chains says, and the other way round."""
        if not len(places):
            return Alike(np.zeros(0), np.zeros(0), np.zeros((0, len(question))))
        lengths = np.diff(self.starts)[places]
        rows = np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in places])
        # einsum, unlike a matrix product, adds each row in an order that does not depend on the other rows
        alike = np.einsum(
            "td,qd->tq", self.tokens[rows].astype(np.float32), question.astype(np.float32)
        ).astype(np.float64)
        alike *= self.scales[rows, None]
        cuts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        return Alike(
            np.add.reduceat(alike.max(axis=1), cuts),
            lengths,
            np.maximum.reduceat(alike, cuts, axis=0),
        )


def token_vectors(encoder, texts: Sequence[str], watch: Watch = NO_WATCH) -> list[np.ndarray]:
    """For each text its tokens' unit vectors, float32 [tokens, d], without the marks at both ends; for an encoder that
    gives none, the text's own vector."""
    if not hasattr(encoder, "encode_tokens"):
        return [vector[None] for vector in encoder.encode(texts, watch)]
    found: list[np.ndarray] = [np.empty(0)] * len(texts)
    for places, vectors in encoder.encode_tokens(texts, watch):
        for place in places:
            found[place] = vectors[1:-1] if len(vectors) > 2 else vectors
    return found


def fingerprint(encoder) -> str:
    """A few letters that differ between encoders, by the vector of one text, whatever they are called.

    Servers and graphics cards do not give the same digits each time: of an encoder that says which it is (`identity`), this and the
    largest number of that vector count, so that another model behind the same name is told from it.
    """
    if encoder not in _fingerprints:
        vector, named = (
            np.asarray(encoder.encode([PROBE])[0], np.float64),
            getattr(encoder, "identity", ""),
        )
        if named:
            counts = f"{named} {len(vector)} {np.abs(vector).argmax()}".encode()
        else:
            counts = (np.round(vector, 2) + 0.0).astype("<f4").tobytes()
        _fingerprints[encoder] = hashlib.sha256(counts).hexdigest()[:12]
    return _fingerprints[encoder]


@spent("preparation", "Relation chains of the graph")
def chain_index(
    graph: Graph, encoder, steps: int, direction: str = "graph", watch: Watch = NO_WATCH
) -> ChainIndex:
    """The graph's chains of at most `steps` steps, encoded first where they are not kept yet.

    Raises StoreError where they cannot be kept, and what `watch` raises.
    """
    key, shelf = (fingerprint(encoder), steps, graph.resolve(direction)), graph.derived.shelf(SHELF)
    with waiting(shelf.lock, watch):
        index = shelf.values.get(key)
        if index is None:
            index = _read(_file(graph, key))
        if index is None:
            index = build(
                graph, encoder, steps, key[2], watch, _whole(graph, encoder, steps, key[2], watch)
            )
            keep_if_possible(_file(graph, key), lambda stream: _write(stream, index))
        shelf.values[key] = index
    return index


def at_hand(graph: KnowledgeGraph, encoder, steps: int, direction: str = "graph") -> bool:
    """Whether the graph's chains were encoded before, so that asking for them takes no time."""
    key = (fingerprint(encoder), steps, graph.resolve(direction))
    return key in graph.derived.shelf(SHELF).values or _file(graph, key).exists()


def prepare(graph: Graph, encoder, steps: int, watch: Watch = NO_WATCH) -> None:
    """The graph's chains encoded anew and kept; what was kept stays until then. Raises as `chain_index`."""
    key, shelf = (fingerprint(encoder), steps, graph.resolve("graph")), graph.derived.shelf(SHELF)
    with waiting(shelf.lock, watch):
        index = build(graph, encoder, steps, key[2], watch)
        keep(_file(graph, key), lambda stream: _write(stream, index))
        shelf.values.pop(key, None)


def forget(graph: Graph) -> None:
    """Lets go of the graph's chains in memory. Raises StoreError while they are encoded."""
    shelf = graph.derived.shelf(SHELF)
    with free(shelf.lock, "The relation chains"):
        shelf.values.clear()


def _file(graph: KnowledgeGraph, key: tuple) -> Path:
    return index_folder(graph) / f"chains-{key[0]}-{key[1]}-{key[2]}.npz"


def _whole(
    graph: Graph, encoder, steps: int, direction: str, watch: Watch = NO_WATCH
) -> ChainIndex | None:
    """The chains of the graph that an edited one comes from, most of which it still has."""
    known = graph.edited_from
    return None if known is None else chain_index(known.graph, encoder, steps, direction, watch)


def build(
    graph: Graph,
    encoder,
    steps: int,
    direction: str,
    watch: Watch = NO_WATCH,
    known: ChainIndex | None = None,
) -> ChainIndex:
    """The chains that the graph is seen to have, in words and encoded. At most `MAX_CHAINS`, shorter and commoner ones first. Those that
    are `known` in the same words are not encoded again."""
    watch.report("Finding relation chains")
    has = takes_part(graph)
    chains, found = possible_chains(has, steps, direction, MAX_CHAINS, watch)
    phrases = [phrase(name) for name in graph.relation_names]
    nouns = head_types(phrases, has, lambda texts: encoder.encode(texts, watch))
    texts = [chain_text(chain, phrases, nouns) for chain in chains]
    parts = {} if known is None else {text: known.part(i) for i, text in enumerate(known.texts)}
    new = [text for text in dict.fromkeys(texts) if text not in parts]
    for at in range(0, len(new), 256):
        watch.report(f"Encoding relation chains: {at:,} of {len(new):,}", at / len(new))
        some = new[at : at + 256]
        parts |= zip(some, map(in_steps, token_vectors(encoder, some, watch)))
    every = [parts[text] for text in texts] or [in_steps(np.zeros((0, 1)))]
    tokens, scales = (np.concatenate(arrays) for arrays in zip(*every))
    starts = np.concatenate([[0], np.cumsum([len(parts[text][0]) for text in texts])]).astype(
        np.int64
    )
    return ChainIndex(tuple(chains), tuple(texts), tokens, scales, starts, found)


def in_steps(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows as whole numbers of -127 to 127, int8, and the step of each row, float32: a quarter of the space, cosines to 0.01."""
    scales = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-12) / 127
    return np.round(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def takes_part(graph: Graph) -> csr_matrix:
    """Which steps each node can take: float64 [nodes, 2 * relations], 1 where it can, 2 where to two other nodes or more.

    From all triples, or from `MAX_EDGES` of them spread evenly.
    """
    if graph.n_edges <= MAX_EDGES:
        edges = np.arange(graph.n_edges)
    else:
        edges = np.linspace(0, graph.n_edges - 1, MAX_EDGES).astype(np.int64)
    heads, relations, tails = graph.triples(edges)
    codes = 2 * relations
    nodes, steps, others = (
        np.concatenate([heads, tails]),
        np.concatenate([codes, codes + 1]),
        np.concatenate([tails, heads]),
    )
    order = np.lexsort((others, steps, nodes))
    nodes, steps, others = nodes[order], steps[order], others[order]
    fresh = np.ones(len(nodes), bool)
    fresh[1:] = (nodes[1:] != nodes[:-1]) | (steps[1:] != steps[:-1]) | (others[1:] != others[:-1])
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(
        (np.ones(int(fresh.sum())), (nodes[fresh], steps[fresh])),
        (graph.n_nodes, 2 * graph.n_relations),
    )
    matrix.data = np.minimum(matrix.data, 2)
    return matrix


def possible_chains(
    has: csr_matrix, steps: int, direction: str, most: int, watch: Watch = NO_WATCH
) -> tuple[list[Chain], int]:
    """Chains of which each step can be taken at some of the nodes the one before leads to, and not at `RARE` ones only: (chains
    by (length, codes), how many there are).

    How common a chain is, is guessed from its pairs of steps, as if each depended on the one before it only. Where there
    are more than `most`, the shorter come first, then the commoner; longer ones are then counted only as far as they
    continue kept ones.
    """
    can, several = has.sign().tocsr(), (has > 1).astype(np.float64).tocsr()
    follows = (
        can.T @ can
    ).tocsr()  # [way back of the step before, next step]: at how many nodes both are
    again = np.asarray(
        several.sum(axis=0)
    ).ravel()  # a step back leads on only where there is another node to reach
    total = np.asarray(can.sum(axis=0)).ravel()
    allowed = (total > 0) & (
        (direction == "both") | (np.arange(has.shape[1]) % 2 == (direction == "in"))
    )
    level: dict[Chain, float] = {
        (code,): float(total[code]) for code in np.flatnonzero(allowed).tolist()
    }
    chains, found = _commonest(level, most), len(level)
    level = {chain: level[chain] for chain in chains}
    for _ in range(1, steps):
        level, longer = _longer(level, follows, again, total, allowed, most - len(chains), watch)
        chains, found = chains + list(level), found + longer
    return sorted(chains, key=lambda chain: (len(chain), chain)), found


def _longer(
    level: dict[Chain, float],
    follows: csr_matrix,
    again: np.ndarray,
    total: np.ndarray,
    allowed: np.ndarray,
    most: int,
    watch: Watch = NO_WATCH,
) -> tuple[dict[Chain, float], int]:
    """The commonest chains that continue these by one step, at most `most`, with how common each is; and how many there are."""
    chains, codes, counts = sorted(level), [np.empty(0, np.int64)], [np.empty(0)]
    for chain in chains:
        watch.check()
        back = chain[-1] ^ 1
        row = slice(follows.indptr[back], follows.indptr[back + 1])
        after = follows.indices[row]
        both = np.where(after == back, again[back], follows.data[row])
        fits = allowed[after] & (both > RARE * total[back])
        codes.append(after[fits])
        counts.append(level[chain] * both[fits] / total[back])
    place = np.repeat(np.arange(len(chains)), [len(part) for part in codes[1:]])
    after, common = np.concatenate(codes), np.concatenate(counts)
    if 0 < most < len(common):
        best = np.flatnonzero(common >= np.partition(common, -most)[-most])
    else:
        best = np.arange(len(common))
    best = best[np.lexsort((after[best], place[best], -common[best]))][:most]
    return {(*chains[place[i]], int(after[i])): float(common[i]) for i in best}, len(common)


def _commonest(level: dict[Chain, float], most: int) -> list[Chain]:
    return sorted(level, key=lambda chain: (-level[chain], chain))[: max(0, most)]


def _write(stream, index: ChainIndex) -> None:
    text = json.dumps(
        {"version": VERSION, "found": index.found, "chains": index.chains, "texts": index.texts},
        ensure_ascii=False,
    )
    arrays: dict[str, Any] = {
        "tokens": index.tokens,
        "scales": index.scales,
        "starts": index.starts,
    }
    arrays["told"] = np.frombuffer(text.encode("utf-8"), np.uint8)
    np.savez(stream, **arrays)


def _read(file) -> ChainIndex | None:
    """The chains saved in `file`; None where there is nothing, or it is damaged or of another version."""
    try:
        digests.check_sealed(file)
        with np.load(file, allow_pickle=False) as data:
            saved = json.loads(data["told"].tobytes().decode("utf-8"))
            if saved["version"] != VERSION:
                return None
            arrays = data["tokens"], data["scales"], data["starts"]
            index = ChainIndex(
                tuple(map(tuple, saved["chains"])), tuple(saved["texts"]), *arrays, saved["found"]
            )
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None
    if len(index.starts) == len(index.chains) + 1 and index.starts[-1] == len(index.tokens):
        return index
    return None
