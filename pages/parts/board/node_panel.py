"""Panel of a node: its relations in the graph, and its fate in each lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.datasets.relations import relation_words
from core.diagnosis.path_outcome import ordinal
from core.engine import MethodLane
from core.errors import shorten
from core.operators import OPERATORS
from core.types import State
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

MAX_PANEL_RELATIONS = 6  # relations that a panel lists
MAX_PANEL_CHARACTERS = 400  # most characters of a description
MAX_COUNTED_EDGES = 20_000  # a node with more edges is a hub, whose relations are not counted

RelationWords = Mapping[str, tuple[str, str]]  # by relation, its words forward and backward


def node_relations(graph, nodes: Sequence[int], words: RelationWords) -> dict[int, dict[str, Any]]:
    """Return the degree, frequent relations and description of each node.

    `words` has the words of the relations.

    Returns
    -------
    By node: `degree`; `relations`, words with their counts, most frequent first; `others`, the
    number of relations that are not listed; and `counted`, the number of edges that were counted,
    which is less than the degree if only a part of the graph is available, and 0 for a hub. `type`
    and `text` (a description) are added if the graph has them.
    """
    if not len(nodes):
        return {}
    ids = np.asarray(nodes, np.int64)
    degrees = graph.degrees(ids)
    counted_nodes = ids[degrees <= MAX_COUNTED_EDGES]
    counts: dict[int, list[tuple[str, int]]] = {int(node): [] for node in ids}
    if len(counted_nodes):
        steps = graph.steps_from(counted_nodes)
        # The distinct triples of node, relation and direction, and how many edges each has.
        relations_of_rows, sizes = np.unique(
            np.stack([steps.rows, steps.relations, steps.forward]), axis=1, return_counts=True
        )
        for (row, relation, forward), size in zip(relations_of_rows.T.tolist(), sizes.tolist()):
            counts[int(counted_nodes[row])].append(
                (relation_words(graph.relation_names[relation], bool(forward), words), size)
            )
    descriptions = node_descriptions(graph, nodes)
    return {
        int(node): {**_relations_data(int(degree), counts[int(node)]), **descriptions[int(node)]}
        for node, degree in zip(ids, degrees)
    }


def node_descriptions(graph, nodes: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return the `type` and the description of each node.

    The description is called `text` and is cut if it is long. Each is left out if the graph does
    not have it.
    """
    table = graph.columns.nodes
    if table is None:
        return {int(node): {} for node in nodes}
    node_texts = zip(nodes, table.texts("type", nodes), table.texts("description", nodes))
    descriptions = {}
    for node, type, description in node_texts:
        parts = {"type": type or "", "text": shorten(description or "", MAX_PANEL_CHARACTERS)}
        descriptions[int(node)] = {key: text for key, text in parts.items() if text}
    return descriptions


def _relations_data(degree: int, counts: list[tuple[str, int]]) -> dict[str, Any]:
    ordered = sorted(counts, key=lambda entry: (-entry[1], entry[0]))
    listed_relations = list(map(list, ordered[:MAX_PANEL_RELATIONS]))
    return {
        "degree": degree,
        "relations": listed_relations,
        "others": len(ordered) - len(listed_relations),
        "counted": sum(size for _, size in ordered),
    }


def lane_fates(
    lanes: Sequence[MethodLane], nodes: Sequence[int]
) -> dict[int, dict[str, dict[str, Any]]]:
    """Return the fate of each node in each lane that has retrieved.

    `in` tells whether the node is in the lane's subgraph or on one of its paths. `text` names the
    operator that extracted or dropped the node, and counts the paths through it.
    """
    fates: dict[int, dict[str, dict[str, Any]]] = {node: {} for node in nodes}
    for i, lane in enumerate(lanes):
        if lane.retrieved:
            path_counts = _path_counts(lane.state, set(nodes))
            for node in nodes:
                inside, text = _fate_in_lane(lane.states, node, path_counts.get(node, ()))
                fates[node][f"lane-{i}"] = {"in": inside, "text": text}
    return fates


def _path_counts(state: State, nodes: set[int]) -> dict[int, tuple[int, int]]:
    """Count the paths through each node, and find the best rank.

    Nodes on no path are left out.
    """
    counts_and_ranks: dict[int, tuple[int, int]] = {}
    for rank, path in enumerate(state.paths.items if state.paths is not None else (), 1):
        for node in nodes.intersection(path.nodes):
            count, best_rank = counts_and_ranks.get(node, (0, rank))
            counts_and_ranks[node] = (count + 1, best_rank)
    return counts_and_ranks


def _fate_in_lane(
    states: Sequence[State], node: int, path_count: tuple[int, ...]
) -> tuple[bool, str]:
    """Return whether a lane retrieved a node, and a text on it.

    `path_count` is the number of paths and the best rank; empty if the node is on no path.
    """
    if not any(state.subgraph is not None or state.paths is not None for state in states):
        return False, tr("reads no graph")
    parts = [_extraction_text(states, node)]
    if path_count:
        count, best_rank = path_count
        parts.append(
            tr(
                "on {paths}, the best is {ordinal}",
                paths=many(count, "path"),
                ordinal=ordinal(best_rank),
            )
        )
    elif states[-1].paths is not None:
        parts.append(tr("on no path"))
    subgraph = states[-1].subgraph
    is_retrieved = bool(path_count) or (subgraph is not None and node in subgraph)
    return is_retrieved, " · ".join(filter(None, parts))


def _extraction_text(states: Sequence[State], node: int) -> str:
    """Return the last operator that extracted or dropped the node, in words.

    For a node that was never extracted, it is the first operator that left it out.
    """
    was_extracted, text = False, ""
    for state in states:
        if state.subgraph is None:
            continue
        is_extracted, title = node in state.subgraph, tr(OPERATORS[state.trace[-1].operator].title)
        if is_extracted and not was_extracted:
            text = tr("from {title}", title=title)
        elif not is_extracted and (was_extracted or not text):
            text = tr("left out by {title}", title=title)
        was_extracted = is_extracted
    return text
