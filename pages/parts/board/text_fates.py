"""Fate of each hit in every lane on documents: found, ranked too late, or not found.

A hit is a ranked passage, entity, summary, relation or report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from core.diagnosis.causes import Fate
from core.diagnosis.passages import (
    chunk_rows,
    found_in_batches,
    handed_on_chunks,
    retained_by,
    too_late_text,
)
from core.engine import MethodLane
from core.graph.texts import chunk_nodes, hit_names
from core.types import Ranking
from pages.parts.board.keys import Key
from pages.parts.board.text_hits import HIT_KINDS, Hit, hits_of
from pages.parts.shared.wording import tr

KIND_PLURALS = {
    "passage": tr("passages"),
    "entity": tr("entities"),
    "summary": tr("summaries"),
    "relation": tr("relations"),
    "report": tr("reports"),
}

# Data of a fate. `fate` is found, dropped or never. `text` describes it. `plain` is true, so that
# the board adds no words before the text.
Data = dict[str, Any]


def hit_fates(
    lanes: Sequence[MethodLane],
    gold: Iterable[str],
    paths: Sequence[Sequence[Mapping[str, Any]]] = (),
) -> dict[Key, dict[str, Data]]:
    """Return the fate of each item, by key and lane id.

    Only lanes that have retrieved count. The items are the hits of all lanes, the gold passages,
    and the nodes on the best paths.

    Parameters
    ----------
    gold : ids of the gold passages.
    paths : for each lane its best paths, as data of the board; empty for none.
    """
    hits_of_lanes = [{hit.key: hit for hit in hits_of(lane)} for lane in lanes]
    on_paths = [_path_fates(lane_paths) for lane_paths in paths or [()] * len(lanes)]
    gold_keys = [Key("chunk", id) for id in gold]
    keys = list(dict.fromkeys(chain(gold_keys, *hits_of_lanes, *on_paths)))
    fates: dict[Key, dict[str, Data]] = {key: {} for key in keys}
    for i, (lane, hits) in enumerate(zip(lanes, hits_of_lanes)):
        if lane.retrieved:
            for key, fate in _fates_in_lane(lane, hits, on_paths[i], keys).items():
                fates[key][f"lane-{i}"] = fate
    return fates


def _fates_in_lane(
    lane: MethodLane, hits: Mapping[Key, Hit], on_path: Mapping[Key, Data], keys: Sequence[Key]
) -> dict[Key, Data]:
    """Return the fate of each item in one lane.

    Parameters
    ----------
    hits : the hits of the lane.
    on_path : the fates of the nodes on its best paths.
    keys : the items.
    """
    late_fates = _late_fates(lane, [key for key in keys if key.kind == "chunk" and key not in hits])
    n_shown = dict(lane.state.prompt.hits) if lane.state.prompt is not None else {}
    kinds = {hit.kind for hit in hits.values()}
    retained_rows = handed_on_chunks(lane.graph, lane.state)
    fates: dict[Key, Data] = {}
    for key in keys:
        if key in hits:
            fates[key] = _found_fate(hits[key], n_shown, retained_rows)
        elif key in on_path:
            fates[key] = on_path[key]
        # During a preview, a hit that is not found may still be found.
        elif lane.preview is None:
            fates[key] = late_fates.get(key) or _missing_fate(
                key, kinds, lane, retained_rows is not None
            )
    return fates


def _path_fates(paths: Sequence[Mapping[str, Any]]) -> dict[Key, Data]:
    """Return the fate of the nodes on a lane's paths.

    The paths are given best first.
    """
    ranks: dict[Key, int] = {}
    for path_rank, path in enumerate(paths, 1):
        ranks |= {key: path_rank for key in path["nodes"] if key not in ranks}
    return {
        key: _fate("found", tr("found: on path {place:,}", place=rank))
        for key, rank in ranks.items()
    }


def _found_fate(hit: Hit, n_shown: dict[str, int], retained_rows: frozenset[int] | None) -> Data:
    """Return the fate of a hit: found or ranked too late.

    Parameters
    ----------
    n_shown : number of hits in the prompt by kind; without the kinds that the prompt does not list.
    retained_rows : passages that the lane handed on; None if it handed on all that it ranked.
    """
    if hit.kind == "chunk" and retained_rows is not None and hit.item not in retained_rows:
        return _fate("dropped", too_late_text(hit.rank, len(retained_rows)))
    kind = "node" if hit.kind == "summary" else hit.kind
    if kind in n_shown and hit.rank > n_shown[kind]:
        return _fate(
            "dropped",
            tr(
                "dropped: rank {place:,}; the prompt has room for only {kind:,}",
                place=hit.rank,
                kind=n_shown[kind],
            ),
        )
    return _fate("found", tr("found: rank {place:,}", place=hit.rank))


def _missing_fate(key: Key, kinds: set[str], lane: MethodLane, hands_on_chunks: bool) -> Data:
    """Return the fate of an item that a lane did not rank.

    `kinds` has the kinds of the lane's hits.
    """
    kind = key.kind
    if hands_on_chunks and kind == "chunk":
        return _fate("never", tr("never reached"))
    if not kinds and lane.graph.columns.has_texts:
        return _fate("never", tr("reads no documents"))
    plural = KIND_PLURALS[HIT_KINDS[kind]]
    # Only the best hits are listed, so the item may be among the others.
    cut_list = next(
        (hits.listed for hits in lane.state.hits if hits.kind == kind and hits.unlisted), None
    )
    if cut_list is not None:
        return _fate(
            "never", tr("not among its best {most:,} {plural}", most=len(cut_list), plural=plural)
        )
    return _fate(
        "never",
        tr("not among its {plural}", plural=plural)
        if kind in kinds
        else tr("seeks no {plural}", plural=plural),
    )


def _fate(fate: str, text: str) -> Data:
    return {"fate": fate, "text": text, "plain": True}


def _late_fates(lane: MethodLane, keys: Sequence[Key]) -> dict[str, Data]:
    """Return the fate of ranked passages that were not handed on.

    The fates are by key. If several operators ranked a passage, the last operator counts.
    """
    rows = chunk_rows_by_id(lane.graph)
    rows_by_key = {key: rows[key.id] for key in keys if key.id in rows}
    fates_by_key: dict[str, Data] = {}
    for step in reversed(lane.state.trace):
        if step.before_cut is None or step.before_cut.kind not in ("chunk", "node"):
            continue
        ranks = _passage_ranks(lane.graph, step.before_cut, set(rows_by_key.values()))
        for key, row in rows_by_key.items():
            if key not in fates_by_key and row in ranks:
                fates_by_key[key] = (
                    _beyond_batches_fate(ranks[row])
                    if reads_in_batches(lane)
                    else _fate("dropped", too_late_text(ranks[row], retained_by(step)))
                )
    return fates_by_key


def reads_in_batches(lane: MethodLane) -> bool:
    """Return whether a lane read nodes in batches.

    Such a lane may not read all passages that its first search ranked.
    """
    return any(found_in_batches(step) for step in lane.state.trace)


def _beyond_batches_fate(rank: int) -> Data:
    """Return the fate of a ranked passage that no batch read."""
    return _fate("never", tr("never reached: rank {place:,} of the first search", place=rank))


def _passage_ranks(graph, ranking: Ranking, rows: set[int]) -> dict[int, int]:
    """Return the ranks, from 1, of the passages in some rows.

    The ranking is of passages, or of nodes that may be passages. Passages that it does not have are
    left out.
    """
    if ranking.kind == "chunk":
        return {row: ranking.positions[row] + 1 for row in rows if row in ranking.positions}
    rows_by_node = chunk_nodes(graph, ranking.items)
    return {
        rows_by_node[node]: rank
        for rank, node in enumerate(ranking.items, 1)
        if node in rows_by_node and rows_by_node[node] in rows
    }


def gold_titles(graph, documents: Iterable[str], fates: Sequence[Fate]) -> dict[str, str]:
    """Return the titles of the gold passages by their ids.

    Each gold document has one gold passage. A document may be one passage in one graph and split
    into several in another. The passage is the one that a lane found, else one in the graph of a
    lane, else the first one in `graph`.
    """
    found_first = sorted((fate for fate in fates if fate.chunk), key=lambda fate: fate.rank is None)
    # Reversed, so that the first fate of a document overwrites the later ones.
    chunk_of_document = {fate.document: fate.chunk for fate in reversed(found_first)}
    table, titles = graph.columns.chunks, {}
    for document in dict.fromkeys(documents):
        if rows := sorted(chunk_rows(graph, document)):
            titles[chunk_of_document.get(document) or table.text("id", rows[0])] = (
                table.text("title", rows[0]) or document
            )
    return titles


def chunk_rows_by_id(graph) -> dict[str, int]:
    """Return the row of each passage by its id."""
    table = graph.columns.chunks
    count = range(len(table) if table is not None else 0)
    return graph.derived.get_or_make(
        "rows of chunks",
        None,
        lambda: {id: row for row, id in enumerate(hit_names(graph, "chunk", count))},
    )
