"""Synthetic graphs of any size, computed triple by triple.

Every triple is computed from its number, so no part needs another and the graph is never held as a
whole. Of `nodes` nodes and three times as many triples, each node is the head of one triple. All
other ends are drawn by rank with density rank^(-2/3). This gives degrees a power law of exponent
2.5, and the largest hub about 5 nodes^(2/3) edges: fifty thousand at a million nodes, a million at
a hundred million. Ids are ranks scattered by a multiplication, so hubs lie apart. The store keeps
equal triples once, and therefore holds slightly fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np

PER_NODE, RELATIONS, SEED = 3, 400, 7
BLOCK = 1 << 20  # Triples of a block.
SCATTER = 2_654_435_761  # A prime, so no smaller number of nodes shares a factor with it.
# 20 consonants and 5 vowels give 100 syllables.
LETTERS = np.frombuffer(b"bcdfghjklmnprstvwzyxaeiou", np.uint8)


@numba.njit(cache=True)
def _mixed(value):
    """Return the splitmix64 finaliser of a number, a pseudo-random uint64."""
    value = (value + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@numba.njit(cache=True)
def _share(seed, number):
    """Return a pseudo-random number in [0, 1) for a seed and a number."""
    return (
        np.float64(_mixed(_mixed(np.uint64(seed)) ^ np.uint64(number)) >> np.uint64(11))
        / 9007199254740992.0
    )


@numba.njit(cache=True)
def _ranked(seed, number, nodes):
    """Return a node drawn with density rank^(-2/3), scattered over the ids."""
    rank = np.int64(nodes * _share(seed, number) ** 3)
    return (rank * SCATTER + 1) % nodes


@numba.njit(cache=True)
def triples(first, last, nodes, seed):
    """Return triples `first` to `last` as (heads, relations, tails), int32."""
    heads, relations, tails = (
        np.empty(last - first, np.int32),
        np.empty(last - first, np.int32),
        np.empty(last - first, np.int32),
    )
    for at in range(last - first):
        number = first + at
        heads[at] = (
            (number * SCATTER + 1) % nodes if number < nodes else _ranked(seed, 3 * number, nodes)
        )
        relations[at] = np.int32(RELATIONS * _share(seed, 3 * number + 1) ** 2)
        tails[at] = _ranked(seed, 3 * number + 2, nodes)
    return heads, relations, tails


def blocks(
    nodes: int, first: int = 0, seed: int = SEED
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield all triples from number `first` on, in blocks."""
    for start in range(first, PER_NODE * nodes, BLOCK):
        yield triples(start, min(PER_NODE * nodes, start + BLOCK), nodes, seed)


@numba.njit(cache=True)
def _write_name(out, at, node):
    """Write the name of a node to out[at:] and return its end.

    A name is the node's number in syllables and a pseudo-random word.
    """
    number, written = np.uint64(node), 0
    while written < 4 or number > 0:
        syllable = np.int64(number % np.uint64(100))
        out[at], out[at + 1] = LETTERS[syllable % 20], LETTERS[20 + syllable // 20]
        if written == 0:
            out[at] -= 32
        number, at, written = number // np.uint64(100), at + 2, written + 1
    chance = _mixed(np.uint64(node))
    out[at] = 32
    at += 1
    for place in range(3 + np.int64(chance & np.uint64(3))):
        syllable = np.int64((chance >> np.uint64(8 + 8 * place)) % np.uint64(100))
        out[at], out[at + 1] = LETTERS[syllable % 20], LETTERS[20 + syllable // 20]
        if place == 0:
            out[at] -= 32
        at += 2
    return at


@numba.njit(cache=True)
def _lines(heads, relations, tails, out):
    at = 0
    for index in range(len(heads)):
        at = _write_name(out, at, heads[index])
        for letter in b"\tthe.relation.r":
            out[at] = letter
            at += 1
        number = relations[index]
        out[at], out[at + 1], out[at + 2], out[at + 3] = (
            48 + number // 100,
            48 + number // 10 % 10,
            48 + number % 10,
            9,
        )
        at = _write_name(out, at + 4, tails[index])
        out[at] = 10
        at += 1
    return at


def name(node: int) -> str:
    """The name of a node in the named file."""
    out = np.empty(64, np.uint8)
    return out[: _write_name(out, 0, node)].tobytes().decode()


def write_tsv(nodes: int, path: str | Path, named: bool = True, seed: int = SEED) -> None:
    """Write the triples as tab-separated text, of names or of numbers."""
    out = np.empty(BLOCK * 96, np.uint8)
    with open(path, "wb") as stream:
        for heads, relations, tails in blocks(nodes, seed=seed):
            if named:
                stream.write(memoryview(out[: _lines(heads, relations, tails, out)]))
            else:
                np.savetxt(stream, np.column_stack([heads, relations, tails]), "%d", "\t")


def numbers(nodes: int, seed: int = SEED, memory: int | None = None):
    """The triples of numbered nodes as a source for `build`."""
    from core.graph.large.sources import NumberSource

    return NumberSource(
        ("synthetic", nodes, seed),
        PER_NODE * nodes,
        lambda first: blocks(nodes, first, seed),
        memory,
    )


def store(nodes: int, folder: str | Path, seed: int = SEED, memory: int | None = None):
    """The graph of numbered nodes, stored in `folder` unless it is there already."""
    from core.errors import StoreError
    from core.graph.building.build import build
    from core.graph.store import Graph

    called = f"synthetic {nodes:,}"
    try:
        graph = Graph.open(folder)
        if graph.name == called:
            return graph
    except StoreError:
        pass
    return build(numbers(nodes, seed, memory), folder, called)
