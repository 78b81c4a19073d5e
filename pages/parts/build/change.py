"""Effect of a change of the line on one question: figures, and new and dropped items.

The page Build runs the old and the new line as two lanes of one comparison. The first lane is the
old line and the last lane the new one. If there is no old line, the only lane is the new line.
"""

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
# Order of the rows by turn: only in the new line, only in the old line, in both, in neither.
TURN_ORDER: tuple[PathTurn, ...] = ("came", "went", "stayed", "passed")
Data = dict[str, Any]


def change_data(comparison: MethodComparison, old: Line | None, new: Line | None) -> Data | None:
    """Return the data of the effect of a change of the line.

    Without an old line, it describes the results of the new one. None until all lanes are done.
    assets/bricks/change.js draws the data.

    Parameters
    ----------
    comparison : the lanes of the old and the new line.
    old, new : the two lines, of which the change is put in words. They may be longer than the lines
        of the lanes, whose expensive operators at the end wait for a click.
    """
    lanes = comparison.lanes
    if any(lane.status != JOB_DONE for lane in lanes):
        return None
    board = Board(comparison).payload()
    has_both = len(lanes) > 1
    is_corpus = comparison.ask.source.is_corpus
    if is_corpus and not board["lanes"][-1]["paths"]:
        rows = _hit_rows(board, has_both)
    else:
        rows = _path_rows(board, has_both)
    counts = _turn_counts(comparison, rows)
    return {
        "what": change_words(old, new) if has_both and old is not None and new is not None else "",
        "facts": _facts(
            *(lane_figures(comparison, lane) for lane in lanes),
            documents=is_corpus,
        ),
        "picture": _picture(board, rows),
        "rows": [
            {key: row[key] for key in ("text", "before", "now", "turn", "why", "star")}
            for row in rows[:MAX_CHANGE_ROWS]
        ],
        "more": max(0, sum(counts.values()) - min(len(rows), MAX_CHANGE_ROWS)),
        "counts": counts,
        "both": has_both,
        "noun": tr("passages") if is_corpus else tr("paths"),
    }


def _turn_counts(comparison: MethodComparison, rows: Sequence[Data]) -> dict[str, int]:
    """Return how many paths or hits are new, dropped or kept.

    If the lanes have the same graph, all paths that they kept are counted, else only `rows`, which
    come from the board and may leave some out.
    """
    counts: dict[str, int] = {name: sum(row["turn"] == name for row in rows) for name in TURN_ORDER}
    lane_paths = [lane.state.paths for lane in comparison.lanes]
    has_one_graph = len({id(lane.graph) for lane in comparison.lanes}) == 1
    if lane_paths[-1] is None or not any(lane_paths) or not has_one_graph:
        return counts
    old = set() if lane_paths[0] is None else set(lane_paths[0].items)
    new = set(lane_paths[-1].items)
    return counts | {"came": len(new - old), "went": len(old - new), "stayed": len(new & old)}


def _facts(*figures: LaneFigures, documents: bool) -> list[Data]:
    """Return the known figures of the old and the new line.

    Each has a `label`, `before` and `now` as text, and a `tone`: good, bad or same. `before` is
    None without an old line, and for seconds that differ by no more than their noise.
    """
    old = figures[0] if len(figures) > 1 else None
    new = figures[-1]
    facts = [
        _fact(
            tr("Passages kept") if documents else tr("Answers kept"),
            _alive_count(old),
            _alive_count(new),
            lambda count: f"{count:,}",
            1,
            tr(" of {of:,}", of=new.n_targets),
        ),
        _fact(
            tr("First answer right"),
            old.is_first_right if old else None,
            new.is_first_right,
            lambda is_right: tr("yes") if is_right else tr("no"),
            1,
        ),
        _fact(
            tr("Seconds"),
            old.seconds if old else None,
            new.seconds,
            lambda seconds: f"{seconds:.2f}",
            -1,
        ),
        _fact(
            tr("Tokens") if new.asked_model else tr("Prompt tokens"),
            old.tokens if old else None,
            new.tokens,
            lambda count: f"{count:,}",
            0,
        ),
    ]
    return [fact for fact in facts if fact is not None]


def _alive_count(figures: LaneFigures | None) -> int | None:
    """Return the number of targets after the last stage.

    Targets are known answers or gold passages. None if the question has none, or the line was not
    run.
    """
    if figures is None or figures.alive is None or not figures.n_targets:
        return None
    return len(figures.alive)


def _fact(
    label: str, old: float | None, new: float | None, format_value: Any, better: int, unit: str = ""
) -> Data | None:
    """Return one figure; None if it is unknown for the new line.

    Parameters
    ----------
    old, new : values of the old and the new line.
    format_value : returns a value as text.
    better : 1 if more is better, -1 if less is better, else 0.
    unit : text after the new value.
    """
    if new is None:
        return None
    tone = "same"
    before = None if old is None else format_value(old)
    now = format_value(new) + unit
    if old is not None and better and old != new:
        # Less is better only for seconds, whose small differences are noise.
        if better < 0 and not durations_differ(old, new):
            before = None
            now = tr("{now}, about as before", now=now)
        else:
            tone = "good" if (new > old) == (better > 0) else "bad"
    return {"label": label, "before": before, "now": now, "tone": tone}


def _path_rows(board: Data, has_both: bool) -> list[Data]:
    """Return the paths of both lines, changed ones first.

    A fate is the result of a path in one lane: its rank (`place`), or why it was dropped. A path to
    a known answer has a star.
    """
    ranks: list[dict[str, int]] = []
    for lane in board["lanes"]:
        rank_by_key = {
            key: fates.get(lane["id"], {}).get("place") for key, fates in board["fates"].items()
        }
        ranks.append({key: rank for key, rank in rank_by_key.items() if rank is not None})
    answers = {node["id"] for node in board["layout"]["nodes"] if node["role"] == "answer"}
    rows = []
    for key, fates in board["fates"].items():
        path = board["paths"].get(key, {})
        # Hits are listed among the paths too, but have no words.
        if "words" in path:
            star = not answers.isdisjoint(path["nodes"])
            rows.append(_row(key, _path_text(path), fates, ranks, has_both, star))
    return _sorted_rows(rows)


def _hit_rows(board: Data, has_both: bool) -> list[Data]:
    """Return the hits of both lines, changed ones first.

    Hits are passages, entities and relations. Gold passages have a star.
    """
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
    """Return the row of one path or hit.

    Parameters
    ----------
    key : key of the path or hit on the board.
    fates : its results by lane id; may be empty for a hit.
    ranks : for each lane, the ranks by key, from 1.

    Returns
    -------
    The ranks `before` and `now` (None if not found), the `turn`, and `why` the new line dropped it.
    """
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
    last_rank = 1 << 30  # of rows without a rank, after all others
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
    names = path["steps"][::2]
    steps = [f" · {words} · {name}" for words, name in zip(path["words"], names[1:])]
    return "".join([names[0], *steps])


def _picture(board: Data, rows: Sequence[Data]) -> Data:
    """Return the nodes and edges of the picture, with turns.

    Only paths whose nodes all have a position (`at`) in the layout of the board are drawn. Both
    lists are empty if the lanes have no paths.
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
            "id": str(node_id),
            "name": node["name"],
            "x": node["at"][0],
            "y": node["at"][1],
            "role": node["role"],
            "turn": strongest_turn(nodes[node_id]),
        }
        for node_id, node in nodes_by_id.items()
        if node_id in nodes
    ]
    return {
        "nodes": picture_nodes,
        "edges": [
            {"source": str(source), "target": str(target), "turn": strongest_turn(turns)}
            for (source, target), turns in edges.items()
        ],
    }
