"""Effect of a change of the line on the question: figures, and new and dropped items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.comparison.lane import MethodComparison
from core.diagnosis.lane_figures import (
    LaneFigures,
    PathTurn,
    lane_figures,
    path_turn,
    strongest_turn,
)
from core.io.durations import durations_differ
from core.lines.difference import change_words
from core.operators.base import Line
from core.runtime.jobs import JOB_DONE
from pages.parts.board.payload import Board
from pages.parts.shared.wording import tr

MAX_CHANGE_ROWS = 60  # most paths or passages that are listed
TURN_ORDER: tuple[PathTurn, ...] = ("came", "went", "stayed", "passed")
Data = dict[str, Any]


def change_data(comparison: MethodComparison, old: Line | None, new: Line | None) -> Data | None:
    """Return the data of the effect of a change.

    It compares the line before with the line now. If there is no line before, it describes the line
    now. None until all lanes are done.
    """
    lanes = comparison.lanes
    if any(lane.status != JOB_DONE for lane in lanes):
        return None
    board = Board(comparison).payload()
    has_both = len(lanes) > 1
    documents = comparison.ask.source.is_corpus
    if documents and not board["lanes"][-1]["paths"]:
        rows = _hit_rows(board, has_both)
    else:
        rows = _path_rows(board, has_both)
    counts = _turn_counts(comparison, rows)
    return {
        "what": change_words(old, new) if has_both and old is not None and new is not None else "",
        "facts": _facts(
            *(lane_figures(comparison, lane) for lane in lanes),
            documents=documents,
        ),
        "picture": _picture(board, rows),
        "rows": [
            {key: row[key] for key in ("text", "before", "now", "turn", "why", "star")}
            for row in rows[:MAX_CHANGE_ROWS]
        ],
        "more": max(0, sum(counts.values()) - min(len(rows), MAX_CHANGE_ROWS)),
        "counts": counts,
        "both": has_both,
        "noun": tr("passages") if documents else tr("paths"),
    }


def _turn_counts(comparison: MethodComparison, rows: Sequence[Data]) -> dict[str, int]:
    """Return how many paths or hits are new, dropped or kept.

    All kept paths of the lanes are counted if the lanes have the same graph, else those that are
    drawn.
    """
    turn_counts: dict[str, int] = {
        name: sum(row["turn"] == name for row in rows) for name in TURN_ORDER
    }
    lane_paths = [lane.state.paths for lane in comparison.lanes]
    if (
        lane_paths[-1] is None
        or not any(lane_paths)
        or len({id(lane.graph) for lane in comparison.lanes}) > 1
    ):
        return turn_counts
    # Empty if the line has no paths yet.
    old, new = (
        set() if paths is None else {*paths.items} for paths in (lane_paths[0], lane_paths[-1])
    )
    return turn_counts | {"came": len(new - old), "went": len(old - new), "stayed": len(new & old)}


def _facts(*both: LaneFigures, documents: bool) -> list[Data]:
    """Return the figures of the line before and now.

    The line before has figures only if it was run. Each has a `label`, `before` (None without a
    run) and `now` in words, and whether it is better.
    """
    old_funnel, new_funnel = (both[0] if len(both) > 1 else None), both[-1]
    alive_count = lambda one: (
        None if one is None or one.alive is None or not one.of else len(one.alive)
    )
    yes = lambda one: None if one is None or one.first_right is None else int(one.first_right)
    what = tr("Passages kept") if documents else tr("Answers kept")
    figures = [
        _fact(
            what,
            alive_count(old_funnel),
            alive_count(new_funnel),
            lambda count: f"{count:,}",
            1,
            tr(" of {of:,}", of=new_funnel.of),
        ),
        _fact(
            tr("First answer right"),
            yes(old_funnel),
            yes(new_funnel),
            lambda right: tr("yes") if right else tr("no"),
            1,
        ),
        _fact(
            tr("Seconds"),
            old_funnel.seconds if old_funnel else None,
            new_funnel.seconds,
            lambda seconds: f"{seconds:.2f}",
            -1,
        ),
        _fact(
            tr("Tokens") if new_funnel.asked else tr("Prompt tokens"),
            old_funnel.tokens if old_funnel else None,
            new_funnel.tokens,
            lambda count: f"{count:,}",
            0,
        ),
    ]
    return [fact for fact in figures if fact is not None]


def _fact(
    label: str, old: float | None, new: float | None, words: Any, better: int, unit: str = ""
) -> Data | None:
    """Return one figure; None if it is not known for the line now.

    `better` is 1 if more is better, -1 if less is better, else 0.
    """
    if new is None:
        return None
    tone = "same"
    if old is not None and better and old != new:
        # Only for seconds is less better. Small differences of seconds are noise.
        is_close = better < 0 and not durations_differ(old, new)
        tone = "same" if is_close else "good" if (new > old) == (better > 0) else "bad"
    return {
        "label": label,
        "before": None if old is None else words(old),
        "now": words(new) + unit,
        "tone": tone,
    }


def _path_rows(board: Data, has_both: bool) -> list[Data]:
    """Return the drawn paths of both lines, new and dropped ones first."""
    ranks = [
        {
            key: rank
            for key, fates in board["fates"].items()
            if (rank := fates.get(lane["id"], {}).get("place")) is not None
        }
        for lane in board["lanes"]
    ]
    stars = {node["id"] for node in board["layout"]["nodes"] if node["role"] == "answer"}
    path_rows = []
    for key, fates in board["fates"].items():
        if key in board["paths"] and "words" in board["paths"][key]:
            path = board["paths"][key]
            path_rows.append(
                _row(
                    key,
                    _path_text(path),
                    fates,
                    ranks,
                    has_both,
                    not stars.isdisjoint(path["nodes"]),
                )
            )
    return _sorted_rows(path_rows)


def _hit_rows(board: Data, has_both: bool) -> list[Data]:
    """Return the passages, entities and relations of both lines, new and dropped ones first."""
    ranks: list[dict[str, int]] = []
    titles: dict[str, tuple[str, bool]] = {}
    for lane in board["lanes"]:
        ranks.append({})
        for table in lane.get("hits") or ():
            for rank, row in enumerate(table["rows"], 1):
                ranks[-1].setdefault(row["key"], rank)
                titles.setdefault(row["key"], (row["title"], bool(row["gold"])))
    return _sorted_rows(
        [
            _row(key, title, board["fates"].get(key, {}), ranks, has_both, gold)
            for key, (title, gold) in titles.items()
        ]
    )


def _row(
    key: str,
    text: str,
    fates: Mapping[str, Data],
    ranks: Sequence[Mapping[str, int]],
    has_both: bool,
    star: bool,
) -> Data:
    found_by_lane = [
        fates[f"lane-{i}"]["fate"] == "found" if f"lane-{i}" in fates else key in ranks[i]
        for i in range(len(ranks))
    ]
    last_fate = fates.get(f"lane-{len(ranks) - 1}", {})
    return {
        "key": key,
        "text": text,
        "before": ranks[0].get(key) if has_both else None,
        "now": ranks[-1].get(key),
        "turn": path_turn(found_by_lane[0] if has_both else None, found_by_lane[-1]),
        "why": "" if found_by_lane[-1] else last_fate.get("text", ""),
        "star": star,
    }


def _sorted_rows(rows: Iterable[Data]) -> list[Data]:
    last_rank = 1 << 30
    return sorted(
        rows,
        key=lambda row: (
            TURN_ORDER.index(row["turn"]),
            not row["star"],
            row["now"] or row["before"] or last_rank,
        ),
    )


def _path_text(path: Data) -> str:
    """Return a path in words, such as `Inception · directed by · Christopher Nolan`."""
    start, *other_steps = path["steps"]
    return " ".join(
        [
            start,
            *(
                part
                for words, name in zip(path["words"], other_steps[1::2])
                for part in (f"· {words} ·", name)
            ),
        ]
    )


def _picture(board: Data, rows: Sequence[Data]) -> Data:
    """Return the main nodes of the layout in columns by hops, with their changes.

    Edges have their changes too. Empty if the lanes have no paths.
    """
    nodes_by_id = {node["id"]: node for node in board["layout"]["nodes"] if "at" in node}
    edges: dict[tuple[Any, Any], list[PathTurn]] = {}
    nodes: dict[Any, list[PathTurn]] = {}
    for row in rows:
        path = board["paths"].get(row["key"], {"nodes": []})
        path_nodes = path["nodes"]
        if not path_nodes or not nodes_by_id.keys() >= set(path_nodes):
            continue
        for pair in zip(path_nodes, path_nodes[1:]):
            edges.setdefault(pair, []).append(row["turn"])
        for node in path_nodes:
            nodes.setdefault(node, []).append(row["turn"])
    picture_nodes = [
        {
            "id": str(id),
            "name": node["name"],
            "x": node["at"][0],
            "y": node["at"][1],
            "role": node["role"],
            "turn": strongest_turn(nodes[id]),
        }
        for id, node in nodes_by_id.items()
        if id in nodes
    ]
    return {
        "nodes": picture_nodes,
        "edges": [
            {"source": str(one), "target": str(other), "turn": strongest_turn(turns)}
            for (one, other), turns in edges.items()
        ],
    }
