"""Index of a graph's relation chains, put into words and encoded once.

A chain is a sequence of relations, each followed along or against its triples. One call of the
encoder then suffices to compare a question with all chains.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary
from zipfile import BadZipFile

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.columns import row_offsets
from core.graph.names.head_types import head_types
from core.graph.names.phrases import chain_text, relation_phrase
from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph
from core.indexes.index_storage import (
    hold_free_lock,
    index_folder,
    write_atomically,
    write_if_possible,
)
from core.io import digests
from core.runtime.meter import count_time
from core.runtime.slots import hold_lock
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_CHAINS = 10_000  # about 50 MB
# Of the nodes that a step leads to, the share that must be able to take the next step. A smaller
# share comes from different things that happen to share a name.
MIN_FOLLOW_SHARE = 0.002
MAX_LEARNT_EDGES = 2_000_000  # triples read to learn which steps can follow each other
ENCODE_BATCH_CHAINS = 256  # chains encoded between two progress reports
CHAINS_SHELF = "relation chains"  # under this name a graph holds the indexes in memory
FINGERPRINT_TEXT = "Which words does this encoder put near each other?"
CHAINS_VERSION = 2
_fingerprints: WeakKeyDictionary = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class TokenSimilarity:
    """Similarity of a question to several texts, token by token.

    `sums` holds, for each text, the sum over its tokens of the best cosine to a token of the
    question. `lengths` counts the tokens of each text. `question_cosines` holds, for each token of
    the question, the best cosine to a token of the text.
    """

    sums: np.ndarray  # float64 [n]
    lengths: np.ndarray  # [n]
    question_cosines: np.ndarray  # float64 [n, question tokens]

    def f1(self) -> np.ndarray:
        """Return the F1 of token precision and recall, float64 [n] in [-1, 1]."""
        precision = self.sums / np.maximum(self.lengths, 1)
        recall = self.question_cosines.mean(axis=1)
        total = precision + recall
        # The harmonic mean; of a total of 0 or less, for which it has no meaning, the plain mean.
        return np.where(
            total > 0, 2 * precision * recall / np.where(total > 0, total, 1), total / 2
        )

    def __getitem__(self, rows: np.ndarray) -> TokenSimilarity:
        return TokenSimilarity(self.sums[rows], self.lengths[rows], self.question_cosines[rows])

    def combine(self, other: TokenSimilarity) -> TokenSimilarity:
        """Return the similarity of pairs of texts joined row by row."""
        return TokenSimilarity(
            self.sums + other.sums,
            self.lengths + other.lengths,
            np.maximum(self.question_cosines, other.question_cosines),
        )


@dataclass(frozen=True, eq=False)
class ChainIndex:
    """Relation chains with their texts and token vectors.

    The vectors are unit vectors of the tokens of the texts. Chains are ordered by (length, codes).
    Chain `i` has the vectors `tokens[starts[i] : starts[i + 1]]`, each stored as whole multiples of
    its value in `scales`. `n_found` is the estimated number of chains in the graph. If there are
    too many, the index holds the shortest, and among these the commonest.
    """

    chains: tuple[Chain, ...]
    texts: tuple[str, ...]
    tokens: np.ndarray  # int8 [t, d]
    scales: np.ndarray  # float32 [t]
    starts: np.ndarray  # int64 [n + 1]
    n_found: int

    @classmethod
    def from_texts(
        cls,
        chains: Sequence[Chain],
        texts: Sequence[str],
        vectors_of_text: Mapping[str, tuple[np.ndarray, np.ndarray]],
        n_found: int,
    ) -> ChainIndex:
        """Return the index of these chains, given the quantised token vectors of their texts."""
        parts = [vectors_of_text[text] for text in texts] or [quantise_rows(np.zeros((0, 1)))]
        tokens, scales = (np.concatenate(arrays) for arrays in zip(*parts))
        starts = row_offsets([len(vectors_of_text[text][1]) for text in texts])
        return cls(tuple(chains), tuple(texts), tokens, scales, starts, n_found)

    def __len__(self) -> int:
        return len(self.chains)

    @cached_property
    def position_of(self) -> dict[Chain, int]:
        """Position of each chain in the index."""
        return {chain: i for i, chain in enumerate(self.chains)}

    @cached_property
    def prefixes(self) -> frozenset[Chain]:
        """Every chain and every prefix of a chain."""
        return frozenset(chain[:n] for chain in self.chains for n in range(1, len(chain) + 1))

    def token_vectors(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the quantised token vectors of a chain and their scales."""
        rows = slice(self.starts[index], self.starts[index + 1])
        return self.tokens[rows], self.scales[rows]

    def scores(self, question: np.ndarray, indices: Sequence[int]) -> np.ndarray:
        """Score chains by their similarity to a question.

        The score is the F1 of two late interactions. Precision is the mean, over the tokens of the
        chain, of the best cosine to a token of the question. Recall is the same from the tokens of
        the question to those of the chain (as in BERTScore, Zhang et al. 2020). An encoder that
        gives one vector for a whole text counts as one token, and the score is then the cosine.

        Parameters
        ----------
        question : unit vectors of the question's tokens, [tokens, d].
        indices : positions of the chains to score.

        Returns
        -------
        float64 [len(indices)], in [-1, 1].
        """
        return self.compare_tokens(question, indices).f1()

    def compare_tokens(
        self, question: np.ndarray, indices: Sequence[int] | np.ndarray
    ) -> TokenSimilarity:
        """Compare the token vectors of a question with those of each chain.

        Parameters
        ----------
        question : unit vectors of the question's tokens, float [tokens, d].
        indices : positions of chains in the index, n.

        Returns
        -------
        Similarities of each of these chains.
        """
        if not len(indices):
            return TokenSimilarity(np.zeros(0), np.zeros(0), np.zeros((0, len(question))))
        lengths = np.diff(self.starts)[indices]
        rows = np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in indices])
        # Unlike a matrix product, einsum sums each row in the same order whatever the other rows
        # are, so that the cosines are reproducible to the last bit.
        cosines = np.einsum(
            "td,qd->tq", self.tokens[rows].astype(np.float32), question.astype(np.float32)
        ).astype(np.float64)
        cosines *= self.scales[rows, None]
        starts = np.cumsum(lengths) - lengths
        return TokenSimilarity(
            np.add.reduceat(cosines.max(axis=1), starts),
            lengths,
            np.maximum.reduceat(cosines, starts, axis=0),
        )


def token_vectors(encoder, texts: Sequence[str], watch: Watch = NO_WATCH) -> list[np.ndarray]:
    """Return the vectors of the tokens of each text.

    The special tokens at both ends are left out. An encoder without token vectors gives a single
    vector for the whole text.

    Parameters
    ----------
    encoder : any encoder.
    texts : any number of texts.
    watch : called between batches; may raise RunCancelled.

    Returns
    -------
    float32 [tokens, d] with unit rows for each text.
    """
    if not hasattr(encoder, "encode_tokens"):
        return [vector[None] for vector in encoder.encode(texts, watch)]
    result: list[np.ndarray] = [np.empty(0)] * len(texts)
    for numbers, vectors in encoder.encode_tokens(texts, watch):
        for number in numbers:
            result[number] = vectors[1:-1] if len(vectors) > 2 else vectors
    return result


def fingerprint(encoder) -> str:
    """Return a short digest that differs between encoders, whatever they are called.

    It is computed from the vector of one fixed text. As servers and GPUs do not give the same
    digits each time, the digest of an encoder with an `identity` depends on this identity, the
    dimension, and the index of the largest component. A different model behind the same name is
    thus still detected.
    """
    if encoder not in _fingerprints:
        vector = np.asarray(encoder.encode([FINGERPRINT_TEXT])[0], np.float64)
        identity = getattr(encoder, "identity", "")
        if identity:
            content = f"{identity} {len(vector)} {np.abs(vector).argmax()}".encode()
        else:
            content = (np.round(vector, 2) + 0.0).astype("<f4").tobytes()
        _fingerprints[encoder] = hashlib.sha256(content).hexdigest()[:12]
    return _fingerprints[encoder]


@count_time("preparation", "Relation chains of the graph")
def chain_index(
    graph: Graph, encoder, steps: int, direction: str = "graph", watch: Watch = NO_WATCH
) -> ChainIndex:
    """Return the index of the graph's chains.

    It is built first if it is not saved yet.

    Parameters
    ----------
    steps : the largest number of steps of a chain.
    direction : "both", "out" (along the triples), "in" (against them) or "graph", which is the
        setting of the graph.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The index, kept in memory with the graph.

    Raises
    ------
    StoreError : the index cannot be saved.
    """
    key = (fingerprint(encoder), steps, graph.resolve(direction))
    shelf = graph.derived.cache_of(CHAINS_SHELF)
    with hold_lock(shelf.lock, watch):
        index = shelf.values.get(key)
        if index is None:
            index = _read(_file(graph, key))
        if index is None:
            earlier = None
            if graph.edited_from is not None:  # its original has most of the chains
                earlier = chain_index(graph.edited_from.graph, encoder, steps, key[2], watch)
            index = build_chain_index(graph, encoder, steps, key[2], watch, earlier)
            write_if_possible(_file(graph, key), lambda stream: _write(stream, index))
        shelf.values[key] = index
    return index


def is_chain_index_ready(
    graph: KnowledgeGraph, encoder, steps: int, direction: str = "graph"
) -> bool:
    """Return whether the chains of a graph are already encoded.

    Parameters
    ----------
    encoder : the encoder; its fingerprint is part of the file's name.
    steps : largest number of steps of a chain.
    direction : direction of the steps: out, in, both or graph.

    Returns
    -------
    True if they are in memory or on disk.
    """
    key = (fingerprint(encoder), steps, graph.resolve(direction))
    return key in graph.derived.cache_of(CHAINS_SHELF).values or _file(graph, key).exists()


def prepare_chains(graph: Graph, encoder, steps: int, watch: Watch = NO_WATCH) -> None:
    """Encode the graph's chains anew, and replace the saved index when they are complete.

    Parameters
    ----------
    encoder : the encoder.
    steps : largest number of steps of a chain.
    watch : receives the progress; what it raises stops the work.

    Raises
    ------
    StoreError : the index cannot be saved.
    """
    key = (fingerprint(encoder), steps, graph.resolve("graph"))
    shelf = graph.derived.cache_of(CHAINS_SHELF)
    with hold_lock(shelf.lock, watch):
        index = build_chain_index(graph, encoder, steps, key[2], watch)
        write_atomically(_file(graph, key), lambda stream: _write(stream, index))
        shelf.values.pop(key, None)


def forget_chains(graph: Graph) -> None:
    """Release the graph's chains from memory. Raises StoreError while they are being encoded."""
    shelf = graph.derived.cache_of(CHAINS_SHELF)
    with hold_free_lock(shelf.lock, "The relation chains"):
        shelf.values.clear()


def _file(graph: KnowledgeGraph, key: tuple) -> Path:
    return index_folder(graph) / f"chains-{key[0]}-{key[1]}-{key[2]}.npz"


def build_chain_index(
    graph: Graph,
    encoder,
    steps: int,
    direction: str,
    watch: Watch = NO_WATCH,
    earlier: ChainIndex | None = None,
) -> ChainIndex:
    """Find the chains of a graph, put them into words and encode them.

    The index has at most `MAX_CHAINS` chains, shorter ones first, then commoner ones.

    Parameters
    ----------
    encoder : the encoder.
    steps : largest number of steps of a chain.
    direction : direction of the steps: out, in or both.
    watch : receives the progress; what it raises stops the work.
    earlier : an index of earlier chains; equal texts are not encoded again.

    Returns
    -------
    The index, which is not saved.
    """
    watch.report("Finding relation chains")
    node_steps = possible_steps(graph)
    chains, n_found = possible_chains(node_steps, steps, direction, MAX_CHAINS, watch)
    phrases = [relation_phrase(name) for name in graph.relation_names]
    nouns = head_types(phrases, node_steps, lambda texts: encoder.encode(texts, watch))
    texts = [chain_text(chain, phrases, nouns) for chain in chains]
    vectors_of_text = {}
    if earlier is not None:
        vectors_of_text = {text: earlier.token_vectors(i) for i, text in enumerate(earlier.texts)}
    new = [text for text in dict.fromkeys(texts) if text not in vectors_of_text]
    for first in range(0, len(new), ENCODE_BATCH_CHAINS):
        watch.report(f"Encoding relation chains: {first:,} of {len(new):,}", first / len(new))
        batch = new[first : first + ENCODE_BATCH_CHAINS]
        vectors_of_text |= zip(batch, map(quantise_rows, token_vectors(encoder, batch, watch)))
    return ChainIndex.from_texts(chains, texts, vectors_of_text, n_found)


def quantise_rows(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantise rows to int8 values with one scale per row.

    The values are from -127 to 127, and the scales are float32. This takes a quarter of the space
    and keeps cosines accurate to 0.01.
    """
    scales = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-12) / 127
    return np.round(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def possible_steps(graph: Graph) -> csr_matrix:
    """Return the steps possible at each node, float64 [nodes, 2 * relations].

    Step `2 * r` follows relation `r` along its triples, step `2 * r + 1` against them. The value is
    1 if the step leads to one node, and 2 if it leads to several. All triples are read, or
    `MAX_LEARNT_EDGES` of them at even intervals.
    """
    if graph.n_edges <= MAX_LEARNT_EDGES:
        edges = np.arange(graph.n_edges)
    else:
        edges = np.linspace(0, graph.n_edges - 1, MAX_LEARNT_EDGES).astype(np.int64)
    heads, relations, tails = graph.triples(edges)
    # Each triple gives a step from its head and one from its tail. Triples that repeat a step to the
    # same neighbour count once.
    codes = 2 * relations
    nodes = np.concatenate([heads, tails])
    steps = np.concatenate([codes, codes + 1])
    neighbours = np.concatenate([tails, heads])
    order = np.lexsort((neighbours, steps, nodes))
    nodes, steps, neighbours = nodes[order], steps[order], neighbours[order]
    is_first = np.ones(len(nodes), bool)
    is_first[1:] = (
        (nodes[1:] != nodes[:-1]) | (steps[1:] != steps[:-1]) | (neighbours[1:] != neighbours[:-1])
    )
    from scipy.sparse import csr_matrix

    # Equal entries are summed, which gives the number of neighbours.
    entries = (nodes[is_first], steps[is_first])
    matrix = csr_matrix((np.ones(len(entries[0])), entries), (graph.n_nodes, 2 * graph.n_relations))
    matrix.data = np.minimum(matrix.data, 2)
    return matrix


def possible_chains(
    node_steps: csr_matrix, steps: int, direction: str, limit: int, watch: Watch = NO_WATCH
) -> tuple[list[Chain], int]:
    """Return the chains that can probably be followed in the graph, and their number.

    Each step must be possible at some of the nodes that the step before leads to, and at more than
    the share `MIN_FOLLOW_SHARE` of them. The frequency of a chain is estimated from its pairs of
    steps, as if each step depended only on the one before.

    Parameters
    ----------
    node_steps : steps possible at each node, from `possible_steps`.
    steps : the largest number of steps of a chain.
    direction : direction of the steps: out, in or both.
    limit : the largest number of chains. Shorter chains come first, then commoner ones.

    Returns
    -------
    The chains ordered by (length, codes), and how many there are. Longer chains are counted only as
    continuations of returned chains.
    """
    is_possible = node_steps.sign().tocsr()
    has_several = (node_steps > 1).astype(np.float64).tocsr()
    # [reverse of the step before, next step]: number of nodes at which both are possible
    follows = (is_possible.T @ is_possible).tocsr()
    # A step straight back must lead to another node than the one before.
    n_returning = np.asarray(has_several.sum(axis=0)).ravel()
    total = np.asarray(is_possible.sum(axis=0)).ravel()
    # The codes of steps along the triples are even, those of steps against them odd.
    is_allowed = (total > 0) & (
        (direction == "both") | (np.arange(node_steps.shape[1]) % 2 == (direction == "in"))
    )
    level: dict[Chain, float] = {
        (code,): float(total[code]) for code in np.flatnonzero(is_allowed).tolist()
    }
    chains, n_found = _commonest(level, limit), len(level)
    level = {chain: level[chain] for chain in chains}
    for _ in range(1, steps):
        level, n_longer = _extend_chains(
            level, follows, n_returning, total, is_allowed, limit - len(chains), watch
        )
        chains, n_found = chains + list(level), n_found + n_longer
    return sorted(chains, key=lambda chain: (len(chain), chain)), n_found


def _extend_chains(
    level: dict[Chain, float],
    follows: csr_matrix,
    n_returning: np.ndarray,
    total: np.ndarray,
    is_allowed: np.ndarray,
    limit: int,
    watch: Watch = NO_WATCH,
) -> tuple[dict[Chain, float], int]:
    """Extend the chains of `level`, whose values are frequencies, by one step.

    Returns the `limit` commonest extended chains with their frequencies, and the number of all.
    """
    # The empty arrays allow for no chain at all.
    chains, codes, counts = sorted(level), [np.empty(0, np.int64)], [np.empty(0)]
    for chain in chains:
        watch.check()
        reverse = chain[-1] ^ 1
        row = slice(follows.indptr[reverse], follows.indptr[reverse + 1])
        next_codes = follows.indices[row]
        n_both = np.where(next_codes == reverse, n_returning[reverse], follows.data[row])
        fits = is_allowed[next_codes] & (n_both > MIN_FOLLOW_SHARE * total[reverse])
        codes.append(next_codes[fits])
        counts.append(level[chain] * n_both[fits] / total[reverse])
    chain_index = np.repeat(np.arange(len(chains)), [len(part) for part in codes[1:]])
    next_codes, frequencies = np.concatenate(codes), np.concatenate(counts)
    # First all that are at least as common as the last one within the limit, then sorted and cut.
    if 0 < limit < len(frequencies):
        best = np.flatnonzero(frequencies >= np.partition(frequencies, -limit)[-limit])
    else:
        best = np.arange(len(frequencies))
    best = best[np.lexsort((next_codes[best], chain_index[best], -frequencies[best]))][:limit]
    longer = {(*chains[chain_index[i]], int(next_codes[i])): float(frequencies[i]) for i in best}
    return longer, len(frequencies)


def _commonest(level: dict[Chain, float], limit: int) -> list[Chain]:
    return sorted(level, key=lambda chain: (-level[chain], chain))[: max(0, limit)]


def _write(stream, index: ChainIndex) -> None:
    text = json.dumps(
        {
            "version": CHAINS_VERSION,
            "found": index.n_found,
            "chains": index.chains,
            "texts": index.texts,
        },
        ensure_ascii=False,
    )
    # The file can hold arrays only, so the text is saved as an array of its bytes.
    text_bytes: Any = {"told": np.frombuffer(text.encode("utf-8"), np.uint8)}
    np.savez(stream, tokens=index.tokens, scales=index.scales, starts=index.starts, **text_bytes)


def _read(file) -> ChainIndex | None:
    """Read the chains in `file`; None if missing, damaged or of another version."""
    try:
        digests.check_appended_digest(file)
        with np.load(file, allow_pickle=False) as data:
            meta = json.loads(data["told"].tobytes().decode("utf-8"))
            if meta["version"] != CHAINS_VERSION:
                return None
            arrays = data["tokens"], data["scales"], data["starts"]
            index = ChainIndex(
                tuple(map(tuple, meta["chains"])), tuple(meta["texts"]), *arrays, meta["found"]
            )
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None
    if len(index.starts) == len(index.chains) + 1 and index.starts[-1] == len(index.tokens):
        return index
    return None
