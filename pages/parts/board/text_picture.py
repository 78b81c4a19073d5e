"""Shared picture of the hits of several lanes on documents.

Entities of one name, and passages of one id, are one node for all lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from core.diagnosis.passages import handed_on_chunks
from core.engine import MethodLane
from core.graph.algorithms.layout import Position, node_positions
from core.graph.edits import Edit
from core.graph.texts import chunk_lists, chunk_nodes
from core.types import Path
from pages.parts.board.keys import Key, drawn_item, edge_id, sorted_pair
from pages.parts.board.picture import edges_between
from pages.parts.board.text_hits import HIT_KINDS, Hit, hits_of, node_keys, passage_data
from pages.parts.shared.wording import tr

MAX_TEXT_PICTURE_NODES = 44  # most nodes, unless the graph is a corpus graph
MAX_DRAWN_MEMBERS = 12  # most drawn members of a community
# Most nodes and most gold passages for a corpus graph, whose nodes are documents.
MAX_DRAWN_DOCUMENTS = 52
MAX_DRAWN_GOLD = 14
# The best paths of each lane, as data of the board.
LanePathData = Sequence[Sequence[Mapping[str, Any]]]
HIT_ROLES = {"chunk": "passage", "node": "entity", "summary": "community", "community": "community"}


@dataclass
class PictureDraft:
    """Nodes and edges of a picture while it is made.

    Attributes
    ----------
    nodes : name and role of each node, by key.
    edges : words of each edge, by the sorted keys of its ends.
    shares : for each lane, the keys of its `nodes` and the ids of its `edges`.
    """

    nodes: dict[Key, dict[str, str]] = field(default_factory=dict)
    edges: dict[tuple[Key, Key], str] = field(default_factory=dict)
    shares: list[dict[str, list[str]]] = field(default_factory=list)


class TextPicture:
    """Picture of a comparison on documents.

    Positions are computed again when its nodes or edges change.
    """

    def __init__(self, positions: Mapping[str, Position] | None = None) -> None:
        """Make the picture.

        `positions` are the positions, by key, in another picture of the same documents, whose
        graphs may have other edits.
        """
        self._old_positions = dict(positions or {})
        self._numbers: dict[str, int] = {}
        self._drawn_graph: tuple[list[int], list[tuple[int, int]]] = ([], [])
        self._positions: dict[int, Position] = {}

    @property
    def positions(self) -> dict[str, Position]:
        """Positions by key.

        Nodes that are no longer drawn are included, in case they return.
        """
        return self._old_positions | {
            key: self._positions[number]
            for key, number in self._numbers.items()
            if number in self._positions
        }

    def draw(
        self,
        lanes: Sequence[MethodLane],
        gold: Mapping[str, str],
        fates: Mapping[Key, Any],
        paths: LanePathData,
    ) -> dict[str, Any]:
        """Return the `layout` of the board and the lanes' parts.

        The part of the layout that each lane found is in `kept`.

        Parameters
        ----------
        gold : titles of the gold passages by id.
        fates : by key, the fate in each lane.
        paths : for each lane its best paths.
        """
        draft = nodes_to_draw(lanes, gold, paths)
        self._place_nodes(draft)
        nodes = []
        for key, data in draft.nodes.items():
            x, y = self._positions[self._numbers[key]]
            about = {"lanes": _fates_data(fates.get(key, {}))}
            nodes.append({"id": key, **data, "x": x, "y": y, "about": about})
        edges = [
            {
                "id": edge_id(*pair),
                "source": pair[0],
                "target": pair[1],
                "relation": words,
                "words": words,
            }
            for pair, words in draft.edges.items()
        ]
        return {"layout": {"nodes": nodes, "edges": edges}, "kept": draft.shares}

    def _place_nodes(self, draft: PictureDraft) -> None:
        """Compute the positions of the nodes, unless the same graph is drawn as before."""
        for key in draft.nodes:
            self._numbers.setdefault(key, len(self._numbers))
        ids = [self._numbers[key] for key in draft.nodes]
        pairs = [(self._numbers[one], self._numbers[other]) for one, other in draft.edges]
        if (ids, pairs) == self._drawn_graph:
            return
        self._drawn_graph = (ids, pairs)
        fixed = {
            self._numbers[key]: self._old_positions[key]
            for key in draft.nodes
            if key in self._old_positions
        }
        self._positions = node_positions(ids, pairs, fixed)
        if not fixed:
            self._positions = _even_out(self._positions)


def apply_renames(positions: Mapping[str, Position], edits: Sequence[Edit]) -> dict[str, Position]:
    """Return positions with renamed entities also under their new names."""
    new_positions = dict(positions)
    for edit in edits:
        old = Key("node", edit.names[0])
        if edit.kind == "rename" and old in new_positions:
            new_positions[Key("node", edit.names[1])] = new_positions[old]
    return new_positions


def nodes_to_draw(
    lanes: Sequence[MethodLane], gold: Mapping[str, str], paths: LanePathData = ()
) -> PictureDraft:
    """Return the nodes to draw and the edges between them.

    The gold passages come first. Then the lanes take turns with their best paths and hits, until
    there are enough nodes.

    Parameters
    ----------
    gold : titles of the gold passages by id.
    paths : for each lane its best paths; empty for none.
    """
    lane_hits = [[hit for hit in hits_of(lane) if hit.kind != "triple"] for lane in lanes]
    paths = paths or [()] * len(lanes)
    draws_documents = _hand_on_documents(lanes)
    limit = MAX_DRAWN_DOCUMENTS if draws_documents else MAX_TEXT_PICTURE_NODES
    max_gold = MAX_DRAWN_GOLD if draws_documents else None
    draft = PictureDraft(_gold_nodes(gold, chain(*lane_hits), max_gold))
    for lane, path, hit in _take_turns(lanes, paths, lane_hits):
        if path is not None:
            _add_path(draft, path, gold, limit)
        if hit is not None and len(draft.nodes) < limit:
            data = {"name": _node_name(lane.graph, hit), "role": _role(hit.key, gold)}
            draft.nodes.setdefault(hit.key, data)
    for lane in lanes:
        _add_relations(draft, lane)
    for lane, hits, lane_paths in zip(lanes, lane_hits, paths):
        draft.shares.append(_add_share(draft, lane, hits, lane_paths))
    return draft


def _hand_on_documents(lanes: Sequence[MethodLane]) -> bool:
    """Return whether a lane hands documents on.

    Methods on a corpus graph do, because its nodes are documents.
    """
    return any(
        handed_on_chunks(lane.graph, lane.state) is not None for lane in lanes if lane.retrieved
    )


def _gold_nodes(
    gold: Mapping[str, str], hits: Iterable[Hit], limit: int | None
) -> dict[Key, dict[str, str]]:
    """Return the gold passages to draw.

    If there are more than `limit`, those that are hits are preferred. None is no limit.
    """
    hit_keys = {hit.key for hit in hits}
    nodes = {Key("chunk", id): {"name": title, "role": "gold"} for id, title in gold.items()}
    selected = set(sorted(nodes, key=lambda key: key not in hit_keys)[:limit])
    return {key: data for key, data in nodes.items() if key in selected}


def _take_turns(
    lanes: Sequence[MethodLane], paths: LanePathData, lane_hits: Sequence[Sequence[Hit]]
) -> Iterator[tuple[MethodLane, Mapping[str, Any] | None, Hit | None]]:
    """Yield the next best path and hit of each lane.

    The lanes take turns. A lane that has only one of them yields None for the other.
    """
    kinds = list(HIT_KINDS)
    hits_by_rank = [
        sorted(hits, key=lambda hit: (hit.rank, kinds.index(hit.kind))) for hits in lane_hits
    ]
    turns_of_lanes = map(zip_longest, paths, hits_by_rank)
    for turns in zip_longest(*turns_of_lanes):
        for lane, turn in zip(lanes, turns):
            if turn is not None:
                path, hit = turn
                yield lane, path, hit


def _add_share(
    draft: PictureDraft,
    lane: MethodLane,
    hits: Sequence[Hit],
    paths: Sequence[Mapping[str, Any]],
) -> dict[str, list[Any]]:
    """Add a lane's edges, and return its part of the picture."""
    lane_keys = {hit.key for hit in hits}
    for path in paths:
        lane_keys.update(path["nodes"])
    drawn_hits = [hit for hit in hits if hit.key in draft.nodes]
    edges, end_nodes = _add_edges(draft, lane, drawn_hits, paths)
    nodes = [key for key in draft.nodes if key in lane_keys or key in end_nodes]
    return {"nodes": nodes, "edges": edges}


def _role(key: Key, gold: Mapping[str, str]) -> str:
    return "gold" if key.kind == "chunk" and key.id in gold else HIT_ROLES[key.kind]


def _add_path(
    draft: PictureDraft, path: Mapping[str, Any], gold: Mapping[str, str], limit: int
) -> None:
    """Add the nodes of a path, unless there would be more than `limit` nodes."""
    new_nodes = {
        key: {"name": name, "role": _role(key, gold)}
        for key, name in zip(path["nodes"], path["steps"][::2])
        if key not in draft.nodes
    }
    if len(draft.nodes) + len(new_nodes) <= limit:
        draft.nodes |= new_nodes


def _even_out(positions: dict[int, Position]) -> dict[int, Position]:
    """Return positions with more even gaps between them.

    On each axis, a position moves halfway to where it would be if all positions were evenly spaced
    from 0 to 1.
    """
    new_positions: dict[int, list[float]] = {node: [] for node in positions}
    for axis in (0, 1):
        order = sorted(positions, key=lambda node: (positions[node][axis], node))
        for rank, node in enumerate(order):
            new_positions[node].append(
                round((positions[node][axis] + rank / max(1, len(order) - 1)) / 2, 4)
            )
    return {node: (point[0], point[1]) for node, point in new_positions.items()}


def _add_relations(draft: PictureDraft, lane: MethodLane) -> None:
    """Add the ends of a lane's best relations, up to `MAX_TEXT_PICTURE_NODES` nodes."""
    for head, tail, _ in _relation_ends(lane):
        missing = [key for key in (head, tail) if key not in draft.nodes]
        if len(draft.nodes) + len(missing) <= MAX_TEXT_PICTURE_NODES:
            draft.nodes |= {key: {"name": key.id, "role": "entity"} for key in missing}


def _relation_ends(lane: MethodLane) -> list[tuple[Key, Key, str]]:
    """Return head, tail and words of a lane's ranked relations.

    They are in the order of their ranks.
    """
    hits = lane.state.relations if lane.retrieved else None
    if hits is None or not len(hits):
        return []
    heads, relations, tails = (
        part.tolist() for part in lane.graph.triples(np.asarray(hits.listed.items, np.int64))
    )
    nodes = [*heads, *tails]
    passages = chunk_nodes(lane.graph, nodes)
    keys = {}
    for node, name in zip(nodes, lane.graph.names(nodes)):
        keys[node] = Key("chunk" if node in passages else "node", name)
    names = lane.graph.relation_names
    return [
        (keys[head], keys[tail], names[relation])
        for head, tail, relation in zip(heads, tails, relations)
    ]


def items_of_keys(lanes: Sequence[MethodLane], keys: Iterable[Key]) -> dict[str, dict[str, Any]]:
    """Return the nodes and edges by which the item of each key is drawn.

    A relation is drawn as its ends and the edge between them; any other item as one node.
    """
    ends_by_relation: dict[Key, tuple[Key, Key]] = {}
    for lane in lanes:
        # Both lists have the lane's relations in the order of their ranks.
        relation_keys = [hit.key for hit in hits_of(lane) if hit.kind == "triple"]
        for key, (head, tail, _) in zip(relation_keys, _relation_ends(lane)):
            ends_by_relation[key] = (head, tail)
    items: dict[str, dict[str, Any]] = {}
    for key in keys:
        ends = ends_by_relation.get(key)
        items[key] = drawn_item([key]) if ends is None else drawn_item(ends, [edge_id(*ends)])
    return items


def _add_edges(
    draft: PictureDraft,
    lane: MethodLane,
    hits: Sequence[Hit],
    paths: Sequence[Mapping[str, Any]] = (),
) -> tuple[list[str], set[Key]]:
    """Add the edges of a lane between drawn nodes to the draft.

    Returns
    -------
    The ids of these edges, and the ends of the lane's relations.
    """
    edges = _path_edges(draft, paths)
    relation_edges = _relation_edges(draft, lane)
    edges |= relation_edges
    for hit in hits:
        edges |= _hit_edges(draft, lane, hit)
    edges |= _passage_links(draft, lane)
    draft.edges |= {pair: words for pair, words in edges.items() if pair not in draft.edges}
    return [edge_id(*pair) for pair in edges], set(chain.from_iterable(relation_edges))


def _path_edges(
    draft: PictureDraft, paths: Sequence[Mapping[str, Any]]
) -> dict[tuple[Key, Key], str]:
    """Return the edges of some paths between drawn nodes, with their words."""
    edges: dict[tuple[Key, Key], str] = {}
    for path in paths:
        for one, other, words in zip(path["nodes"], path["nodes"][1:], path["words"]):
            if one in draft.nodes and other in draft.nodes:
                edges.setdefault(sorted_pair(one, other), words)
    return edges


def _relation_edges(draft: PictureDraft, lane: MethodLane) -> dict[tuple[Key, Key], str]:
    """Return the relations of a lane between drawn nodes."""
    edges: dict[tuple[Key, Key], str] = {}
    for head, tail, words in _relation_ends(lane):
        if head in draft.nodes and tail in draft.nodes and head != tail:
            edges[sorted_pair(head, tail)] = words
    return edges


def _hit_edges(draft: PictureDraft, lane: MethodLane, hit: Hit) -> dict[tuple[Key, Key], str]:
    """Return the edges from a hit to what it rests on.

    An entity or a summary has edges to its passages, a community to its members.
    """
    if hit.kind in ("node", "summary"):
        keys = [key for key in _passage_keys(lane, hit) if key in draft.nodes]
        return {sorted_pair(hit.key, key): tr("told in") for key in keys}
    if hit.kind == "community":
        keys = [key for key in _member_keys(lane, hit) if key in draft.nodes]
        return {sorted_pair(hit.key, key): "member" for key in keys[:MAX_DRAWN_MEMBERS]}
    return {}


def _passage_keys(lane: MethodLane, hit: Hit) -> list[Key]:
    """Return the keys of the passages of an entity or a summary."""
    rows = chunk_lists(lane.graph, "nodes", [hit.item])[0]
    if not rows:
        return []
    return [Key("chunk", id) for id in lane.graph.columns.chunks.texts("id", rows)]


def _member_keys(lane: MethodLane, hit: Hit) -> list[Key]:
    """Return the keys of the members of a community."""
    members = lane.graph.columns.communities.id_lists("members")[hit.item]
    return [Key("node", name) for name in lane.graph.names(members.tolist())]


def _passage_links(draft: PictureDraft, lane: MethodLane) -> dict[tuple[Key, Key], str]:
    """Return the edges between a lane's drawn passage nodes."""
    nodes = lane.state.nodes.items if lane.retrieved and lane.state.nodes is not None else ()
    passages = list(chunk_nodes(lane.graph, nodes))
    keys = {
        node: key
        for node, name in zip(passages, lane.graph.names(passages))
        if (key := Key("chunk", name)) in draft.nodes
    }
    if not keys:
        return {}
    edges = edges_between(lane.graph, np.array(sorted(keys), np.int64))
    heads, relations, tails = (part.tolist() for part in lane.graph.triples(edges))
    words = lane.graph.relation_names
    return {
        sorted_pair(keys[head], keys[tail]): words[relation]
        for head, relation, tail in zip(heads, relations, tails)
        if head != tail
    }


def path_items(graph, path: Path) -> tuple[list[Key], list[str]]:
    """Return the keys of a path's nodes, and its edge ids."""
    keys = node_keys(graph, path.nodes)
    nodes = [keys[node] for node in path.nodes]
    return nodes, [edge_id(*pair) for pair in zip(nodes, nodes[1:])]


def _node_name(graph, hit: Hit) -> str:
    """Return the name of a hit for its node in the picture."""
    if hit.kind == "chunk":
        title, mark, number = passage_data(graph, hit.item, frozenset())["title"].rpartition("#")
        # The number comes first, because only it differs between passages of one document.
        if mark and number.isdecimal():
            return f"#{number} {title}".strip()
        return f"{title}{mark}{number}"
    if hit.kind == "community":
        return graph.columns.communities.text("title", hit.item) or tr(
            "Community {number}", number=hit.item
        )
    return graph.node_name(hit.item)


def _fates_data(fates: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    return {
        lane: {"in": fate["fate"] == "found", "text": fate["text"]} for lane, fate in fates.items()
    }
