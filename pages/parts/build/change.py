"""Effect of a change of the line on the question: figures, and new and dropped items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.comparison.lane import Comparison
from core.diagnosis.before_now import Figures, Turn, figures, strongest, turn
from core.io.durations import differ
from core.lines.difference import change_words
from core.operators.base import Line
from core.runtime.jobs import DONE
from pages.parts.board.payload import Board
from pages.parts.shared.wording import tr

ROWS = 60  # most paths or passages that are listed
ORDER: tuple[Turn, ...] = ("came", "went", "stayed", "passed")
Data = dict[str, Any]


def change_data(comparison: Comparison, before: Line | None, now: Line | None) -> Data | None:
    """Return the data of the effect of a change.

    It compares the line before with the line now. If there is no line before, it describes the line
    now. None until all lanes are done.
    """
    lanes = comparison.lanes
    if any(lane.status != DONE for lane in lanes):
        return None
    board = Board(comparison).payload()
    both = len(lanes) > 1
    documents = comparison.ask.source.is_corpus
    if documents and not board["lanes"][-1]["paths"]:
        rows = _hit_rows(board, both)
    else:
        rows = _path_rows(board, both)
    counts = _counts(comparison, rows)
    return {
        "what": change_words(before, now)
        if both and before is not None and now is not None
        else "",
        "facts": _facts(
            *(figures(comparison, lane) for lane in lanes),
            documents=documents,
        ),
        "picture": _picture(board, rows),
        "rows": [
            {key: row[key] for key in ("text", "before", "now", "turn", "why", "star")}
            for row in rows[:ROWS]
        ],
        "more": max(0, sum(counts.values()) - min(len(rows), ROWS)),
        "counts": counts,
        "both": both,
        "noun": tr("passages") if documents else tr("paths"),
    }


def _counts(comparison: Comparison, rows: Sequence[Data]) -> dict[str, int]:
    """Return how many paths or hits are new, dropped or kept.

    All kept paths of the lanes are counted if the lanes have the same graph, else those that are
    drawn.
    """
    drawn: dict[str, int] = {name: sum(row["turn"] == name for row in rows) for name in ORDER}
    found = [lane.state.paths for lane in comparison.lanes]
    if (
        found[-1] is None
        or not any(found)
        or len({id(lane.graph) for lane in comparison.lanes}) > 1
    ):
        return drawn
    # Empty if the line has no paths yet.
    old, new = (set() if paths is None else {*paths.items} for paths in (found[0], found[-1]))
    return drawn | {"came": len(new - old), "went": len(old - new), "stayed": len(new & old)}


def _facts(*both: Figures, documents: bool) -> list[Data]:
    """Return the figures of the line before and now.

    The line before has figures only if it was run. Each has a `label`, `before` (None without a
    run) and `now` in words, and whether it is better.
    """
    old, new = (both[0] if len(both) > 1 else None), both[-1]
    of = lambda one: None if one is None or one.alive is None or not one.of else len(one.alive)
    yes = lambda one: None if one is None or one.first_right is None else int(one.first_right)
    what = tr("Passages kept") if documents else tr("Answers kept")
    found = [
        _fact(what, of(old), of(new), lambda count: f"{count:,}", 1, tr(" of {of:,}", of=new.of)),
        _fact(
            tr("First answer right"),
            yes(old),
            yes(new),
            lambda right: tr("yes") if right else tr("no"),
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
            tr("Tokens") if new.asked else tr("Prompt tokens"),
            old.tokens if old else None,
            new.tokens,
            lambda count: f"{count:,}",
            0,
        ),
    ]
    return [fact for fact in found if fact is not None]


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
        near = better < 0 and not differ(old, new)
        tone = "same" if near else "good" if (new > old) == (better > 0) else "bad"
    return {
        "label": label,
        "before": None if old is None else words(old),
        "now": words(new) + unit,
        "tone": tone,
    }


def _path_rows(board: Data, both: bool) -> list[Data]:
    """Return the drawn paths of both lines, new and dropped ones first."""
    ranks = [
        {
            key: place
            for key, fates in board["fates"].items()
            if (place := fates.get(lane["id"], {}).get("place")) is not None
        }
        for lane in board["lanes"]
    ]
    stars = {node["id"] for node in board["layout"]["nodes"] if node["role"] == "answer"}
    found = []
    for key, fates in board["fates"].items():
        if key in board["paths"] and "words" in board["paths"][key]:
            path = board["paths"][key]
            found.append(
                _row(key, _path_text(path), fates, ranks, both, not stars.isdisjoint(path["nodes"]))
            )
    return _sorted(found)


def _hit_rows(board: Data, both: bool) -> list[Data]:
    """Return the passages, entities and relations of both lines, new and dropped ones first."""
    ranks: list[dict[str, int]] = []
    titles: dict[str, tuple[str, bool]] = {}
    for lane in board["lanes"]:
        ranks.append({})
        for table in lane.get("hits") or ():
            for place, row in enumerate(table["rows"], 1):
                ranks[-1].setdefault(row["key"], place)
                titles.setdefault(row["key"], (row["title"], bool(row["gold"])))
    return _sorted(
        [
            _row(key, title, board["fates"].get(key, {}), ranks, both, gold)
            for key, (title, gold) in titles.items()
        ]
    )


def _row(
    key: str,
    text: str,
    fates: Mapping[str, Data],
    ranks: Sequence[Mapping[str, int]],
    both: bool,
    star: bool,
) -> Data:
    found = [
        fates[f"lane-{i}"]["fate"] == "found" if f"lane-{i}" in fates else key in ranks[i]
        for i in range(len(ranks))
    ]
    said = fates.get(f"lane-{len(ranks) - 1}", {})
    return {
        "key": key,
        "text": text,
        "before": ranks[0].get(key) if both else None,
        "now": ranks[-1].get(key),
        "turn": turn(found[0] if both else None, found[-1]),
        "why": "" if found[-1] else said.get("text", ""),
        "star": star,
    }


def _sorted(rows: Iterable[Data]) -> list[Data]:
    last = 1 << 30
    return sorted(
        rows,
        key=lambda row: (
            ORDER.index(row["turn"]),
            not row["star"],
            row["now"] or row["before"] or last,
        ),
    )


def _path_text(path: Data) -> str:
    """Return a path in words, such as `Inception · directed by · Christopher Nolan`."""
    start, *rest = path["steps"]
    return " ".join(
        [
            start,
            *(
                part
                for words, name in zip(path["words"], rest[1::2])
                for part in (f"· {words} ·", name)
            ),
        ]
    )


def _picture(board: Data, rows: Sequence[Data]) -> Data:
    """Return the main nodes of the layout in columns by hops, with their changes.

    Edges have their changes too. Empty if the lanes have no paths.
    """
    placed = {node["id"]: node for node in board["layout"]["nodes"] if "at" in node}
    edges: dict[tuple[Any, Any], list[Turn]] = {}
    nodes: dict[Any, list[Turn]] = {}
    for row in rows:
        path = board["paths"].get(row["key"], {"nodes": []})
        on = path["nodes"]
        if not on or not placed.keys() >= set(on):
            continue
        for ends in zip(on, on[1:]):
            edges.setdefault(ends, []).append(row["turn"])
        for node in on:
            nodes.setdefault(node, []).append(row["turn"])
    drawn = [
        {
            "id": str(id),
            "name": node["name"],
            "x": node["at"][0],
            "y": node["at"][1],
            "role": node["role"],
            "turn": strongest(nodes[id]),
        }
        for id, node in placed.items()
        if id in nodes
    ]
    return {
        "nodes": drawn,
        "edges": [
            {"source": str(one), "target": str(other), "turn": strongest(turns)}
            for (one, other), turns in edges.items()
        ],
    }
