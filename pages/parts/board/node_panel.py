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
MAX_COUNTED_EDGES = 20_000  # edges of a node above which its relations are not counted

RelationWords = Mapping[str, tuple[str, str]]  # words of a relation, forward and backward


def node_relations(graph, nodes: Sequence[int], words: RelationWords) -> dict[int, dict[str, Any]]:
    """Return for each node its degree and its most frequent relations.

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
    small = ids[degrees <= MAX_COUNTED_EDGES]
    counts: dict[int, list[tuple[str, int]]] = {int(node): [] for node in ids}
    if len(small):
        steps = graph.steps_from(small)
        relations_of_rows, sizes = np.unique(
            np.stack([steps.rows, steps.relations, steps.forward]), axis=1, return_counts=True
        )
        for (row, relation, forward), size in zip(relations_of_rows.T.tolist(), sizes.tolist()):
            counts[int(small[row])].append(
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

    `in` is a flag; `text` names the operator that extracted or dropped the node, and its paths.
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
    """Return the number of paths through each of the nodes, and the best rank."""
    ranks: dict[int, tuple[int, int]] = {}
    for rank, path in enumerate(state.paths.items if state.paths is not None else (), 1):
        for node in nodes.intersection(path.nodes):
            count, best = ranks.get(node, (0, rank))
            ranks[node] = (count + 1, best)
    return ranks


def _fate_in_lane(
    states: Sequence[State], node: int, path_count: tuple[int, ...]
) -> tuple[bool, str]:
    if not any(state.subgraph is not None or state.paths is not None for state in states):
        return False, tr("reads no graph")
    parts = [_extraction_text(states, node)]
    if path_count:
        count, best = path_count
        parts.append(
            tr(
                "on {paths}, the best is {ordinal}",
                paths=many(count, "path"),
                ordinal=ordinal(best),
            )
        )
    elif states[-1].paths is not None:
        parts.append(tr("on no path"))
    last = states[-1].subgraph
    return bool(path_count) or (last is not None and node in last), " · ".join(filter(None, parts))


def _extraction_text(states: Sequence[State], node: int) -> str:
    """Return the operator that extracted or dropped the node, in words."""
    inside, text = False, ""
    for state in states:
        if state.subgraph is None:
            continue
        is_extracted, title = node in state.subgraph, tr(OPERATORS[state.trace[-1].operator].title)
        if is_extracted and not inside:
            text = tr("from {title}", title=title)
        elif not is_extracted and (inside or not text):
            text = tr("left out by {title}", title=title)
        inside = is_extracted
    return text
