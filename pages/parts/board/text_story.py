"""Replay of a lane that reads documents in batches.

It shows the documents of each batch, the neighbour through which each was found, and its score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.diagnosis.passages import chunk_rows, found_in_batches
from core.engine import MethodLane
from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.graph.texts import hit_titles
from core.operators.nodes.replay import node_origins
from core.types import Frame, Step
from pages.parts.board.keys import Key, drawn_item, edge_id
from pages.parts.board.text_hits import node_keys
from pages.parts.shared.wording import tr

Data = dict[str, Any]
# A node, the neighbour through which it was found (None if by the first search), and the score by
# which it was selected (None if unknown).
ArrivedNode = tuple[int, int | None, float | None]
RERANKER_SCORES_NOTE = tr("Scores of the re-ranker.")
SELECTION_SCORES_NOTE = tr(
    "Scores that chose them: similarity to the question and position in the graph."
)
# End of the title of a batch of neighbours of nodes that were read before.
NEIGHBOURS_TITLE = "neighbours"


def batch_replay(
    lane_id: str, lane: MethodLane, gold: Iterable[str] = ()
) -> tuple[list[Data], dict[str, Data], dict[str, Data]]:
    """Return the replay of a lane, its paths, and their fates.

    The replay is a list of at most one; paths and fates are by key. All are empty if nothing was
    read in batches. `gold` has ids of documents, which have a star before their titles.
    """
    step = _batch_step(lane)
    if step is None:
        return [], {}, {}
    gold_keys = _gold_keys(lane, gold)
    frames: list[Data] = []
    paths: dict[str, Data] = {}
    fates: dict[str, Data] = {}
    for title, considered, batch in _batches(simple_graph(lane.graph), step):
        nodes = _nodes_and_neighbours(batch)
        keys = node_keys(lane.graph, nodes)
        names = dict(zip(nodes, hit_titles(lane.graph, "node", nodes)))
        path_keys = [f"{lane_id} reads {keys[node]}" for node, _, _ in batch]
        for path_key, (node, neighbour, _) in zip(path_keys, batch):
            star = "★ " if keys[node] in gold_keys else ""
            paths[path_key] = _arrival_path(keys, node, neighbour) | {
                "steps": [f"{star}{names[node]}"]
            }
            text = _arrival_text(names, neighbour)
            fates[path_key] = {lane_id: {"fate": "found", "text": text, "plain": True}}
        frames.append(
            {
                "title": title,
                "considered": considered,
                "paths": path_keys,
                "scores": [score for _, _, score in batch],
                "note": _scores_note(step, is_first=not frames),
            }
        )
    return [{"title": tr("Batches"), "of": "document", "frames": frames}], paths, fates


def _batch_step(lane: MethodLane) -> Step | None:
    """Return the first step of a finished lane that read in batches."""
    if not lane.retrieved or lane.preview is not None:
        return None
    return next((step for step in lane.state.trace if found_in_batches(step)), None)


def _gold_keys(lane: MethodLane, gold: Iterable[str]) -> set[Key]:
    """Return the keys of the passages of the gold documents."""
    keys = set()
    for document in gold:
        for row in chunk_rows(lane.graph, document):
            keys.add(Key("chunk", lane.graph.columns.chunks.text("id", row)))
    return keys


def _nodes_and_neighbours(batch: Sequence[ArrivedNode]) -> list[int]:
    """Return the nodes of a batch, then the neighbours through which they were found."""
    neighbours = [neighbour for _, neighbour, _ in batch if neighbour is not None]
    return [*(node for node, _, _ in batch), *neighbours]


def _arrival_path(keys: Mapping[int, Key], node: int, neighbour: int | None) -> Data:
    """Return the path to a node from the neighbour through which it was found."""
    if neighbour is None:
        position = drawn_item([keys[node]], [])
    else:
        pair = [keys[neighbour], keys[node]]
        position = drawn_item(pair, [edge_id(*pair)])
    return {**position, "words": [], "forward": []}


def _arrival_text(names: Mapping[int, str], neighbour: int | None) -> str:
    """Return how a node was found, in words."""
    if neighbour is None:
        return tr("found by the first search")
    return tr("next to “{by}”", by=names[neighbour])


def _scores_note(step: Step, is_first: bool) -> str:
    """Return a sentence that explains the scores of a batch."""
    if step.operator == "Loop" and not is_first:
        return SELECTION_SCORES_NOTE
    return RERANKER_SCORES_NOTE


def _batches(links: SimpleGraph, step: Step) -> Iterator[tuple[str, int, list[ArrivedNode]]]:
    """Yield the title, candidate count and new nodes of each batch.

    A frame that has no new nodes is no batch.
    """
    if step.operator == "AdaptiveRerank":
        origins = _adaptive_origins(links, step.frames)
    else:
        origins = node_origins(links, step.frames)
    seen: set[int] = set()
    for number, frame in enumerate(step.frames):
        new_nodes = [node for node in frame.ranking.items if node not in seen and node in origins]
        seen |= set(new_nodes)
        if new_nodes:
            if not number and step.operator != "AdaptiveRerank":
                title = tr("Start")
            else:
                title = frame.title.partition(": ")[0]
            yield (
                title,
                max(len(new_nodes), frame.considered),
                [(node, *origins[node][1:]) for node in new_nodes],
            )


def _adaptive_origins(
    links: SimpleGraph, frames: tuple[Frame, ...]
) -> dict[int, tuple[int, int | None, float | None]]:
    """Return the origins of nodes in graph-based adaptive re-ranking, as `node_origins` does.

    A neighbour was found through the best-scored of its neighbours that were read before it.
    """
    scores: dict[int, float] = {}
    origins: dict[int, tuple[int, int | None, float | None]] = {}
    for number, frame in enumerate(frames):
        frame_scores = dict(zip(frame.ranking.items, frame.ranking.scores or ()))
        for node in frame.ranking.items:
            scored_neighbours = []
            if frame.title.endswith(NEIGHBOURS_TITLE):
                scored_neighbours = [
                    other for other in links.neighbours(node).tolist() if other in scores
                ]
            origins[node] = (
                number,
                max(scored_neighbours, key=lambda other: (scores[other], -other), default=None),
                frame_scores.get(node),
            )
        scores |= frame_scores
    return origins
