"""Choice of the few nodes in the board's simple picture.

They are on the lanes' best paths and on paths to answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest

from core.types import Path

MAX_MAIN_NODES = 15
ENOUGH_MAIN_NODES = 12  # With this many nodes, no further paths are added.
MAX_NODES_WITH_ANSWERS = 18  # most nodes if paths to known answers need them


def main_nodes(
    seeds: Sequence[int],
    best: Sequence[Sequence[Path]],
    lost: Sequence[Sequence[Path]],
    answers: set[int],
    named_nodes: Collection[int] = frozenset(),
) -> list[int]:
    """Return the main nodes of the picture, which the board can show without the others.

    There are at most 15, or 18 with paths to answers. The seeds come first. Then these paths are
    added in turn, each as a whole or not at all: a path to each answer of `named_nodes`, each
    lane's best path, a path to each known answer that a lane found or lost (up to 18 nodes), and
    further paths of each lane until there are 12 nodes.

    Parameters
    ----------
    seeds : question entities.
    best, lost : for each lane its best paths, best first, and paths to the known answers that it
        lost.
    answers : nodes of the known answers.
    named_nodes : nodes of the answers that the sentence on all lanes names.
    """
    nodes = dict.fromkeys(seeds[:MAX_MAIN_NODES])

    def add_path(path: Path, limit: int) -> None:
        new_nodes = [node for node in path.nodes if node not in nodes]
        if len(nodes) + len(set(new_nodes)) <= limit:
            nodes.update(dict.fromkeys(new_nodes))

    for path in _paths_to_answers([*best, *lost], set(named_nodes)):
        add_path(path, MAX_MAIN_NODES)
    for paths in best:
        for path in paths[:1]:
            add_path(path, MAX_MAIN_NODES)
    for path in (*_paths_to_answers(best, answers), *_interleave_paths(lost)):
        add_path(path, MAX_NODES_WITH_ANSWERS)
    for path in _interleave_paths([paths[1:] for paths in best]):
        if len(nodes) < ENOUGH_MAIN_NODES:
            add_path(path, MAX_MAIN_NODES)
    return list(nodes)


def _paths_to_answers(best: Sequence[Sequence[Path]], answers: set[int]) -> Iterator[Path]:
    """Yield the best-ranked path of all lanes to each of the answers."""
    seen: set[int] = set()
    for path in _interleave_paths(best):
        if path.end in answers - seen:
            seen.add(path.end)
            yield path


def _interleave_paths(lanes: Iterable[Sequence[Path]]) -> Iterator[Path]:
    """Yield the first path of every lane, then the second, and so on."""
    for row in zip_longest(*lanes):
        yield from (path for path in row if path is not None)
