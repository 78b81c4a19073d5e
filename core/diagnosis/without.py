"""The effect of edits of a graph or corpus on the answer of each lane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from core.comparison.lane import Comparison, Lane
from core.diagnosis.measure import lane_by_model
from core.diagnosis.path_outcome import prompt_paths
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.verdict.lane_words import lane_names
from core.diagnosis.verdict.verdict_words import explain
from core.diagnosis.wording import joined, named, sentence
from core.graph.edits import Edit, unmatched
from core.graph.texts import chunk_lists
from core.languages.spelling import normalize
from core.runtime.jobs import DONE
from core.types import Beside, Path

LONGEST = 80  # characters of an answer that are quoted


def beside(before: Comparison, now: Comparison) -> list[Beside | None]:
    """Return, for each lane of a comparison with edits, what they changed in its answer.

    An entry is None as long as the lane, or its counterpart before the edits, has no answer. Lanes
    are paired by their lines. A lane had read an item if its answer was made from it: a path, a
    triple, an entity or a passage.

    Parameters
    ----------
    before : the comparison without the edits.
    now : the comparison with the edits.
    """
    earlier = {
        repr(lane.instance.line): (lane, one)
        for lane, one in zip(before.lanes, explain(before).lanes)
    }
    found: list[Beside | None] = []
    for lane, one in zip(now.lanes, explain(now).lanes):
        old, explained = earlier.get(repr(lane.instance.line), (None, None))
        if old is None or not (_answered(now, lane) and _answered(before, old)):
            found.append(None)
            continue
        rights = (
            explained.right if explained is not None else None,
            one.right if one is not None else None,
        )
        found.append(_beside(before, now, old, lane, rights))
    return found


def together(comparison: Comparison, found: Sequence[Beside | None]) -> str:
    """Return a sentence for all lanes: which of them changed their answers, and which did not.

    The text is empty where no lane answered.
    """
    named_lanes = [
        (name, one)
        for name, one in zip(lane_names(comparison), found)
        if one is not None and not one.silent
    ]
    if not named_lanes:
        return ""
    changed = [name for name, one in named_lanes if not one.same]
    another = [name for name, one in named_lanes if one.same and one.read]
    others = [name for name, one in named_lanes if one.same and not one.read]
    removed = all(edit.removes for edit in comparison.ask.source.edits)
    otherwise, same = ("stood on it", explainer_of(comparison.ask.source).other_way)
    if not removed:
        otherwise, same = ("gave another answer", "said the same")
    parts = [f"{joined(changed)} {otherwise}" if changed else f"No lane {otherwise}"]
    parts += [f"{joined(another)} {same}"] if another else []
    parts += [f"{joined(others)} had not read it"] if others else []
    return sentence("; ".join(parts) + ".")


def _answered(comparison: Comparison, lane: Lane) -> bool:
    """Return whether a lane has given its final answer."""
    return (
        lane.retrieved and lane.error is None and (lane.status == DONE or not comparison.ask.model)
    )


def _beside(
    before: Comparison,
    now: Comparison,
    old: Lane,
    lane: Lane,
    rights: tuple[int | None, int | None],
) -> Beside:
    edits = now.ask.source.edits
    absent = unmatched(_whole(lane), edits)
    by_model = lane_by_model(before, old)
    read = any(_read(old, edit, by_model) for edit in edits if edit not in absent)
    explainer = explainer_of(now.ask.source)
    said_before, says_now = explainer.said(before, old), explainer.said(now, lane)
    said = explainer.said_after(said_before, edits)  # a renamed entity is no new answer
    lost, new = _difference(said, says_now), _difference(says_now, said)
    if not said and not says_now:
        return Beside(read, (), (), rights, "No answer, before and now.", silent=True)
    return Beside(
        read,
        lost,
        new,
        rights,
        _text(now, lane, read, lost, new, absent, len(edits)),
        said=said_before,
    )


def _whole(lane: Lane):
    return lane.graph if lane.graph.edited_from is None else lane.graph.edited_from.graph


def _difference(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    known = {normalize(name) for name in others}
    return tuple(name for name in dict.fromkeys(some) if normalize(name) not in known)


def _read(lane: Lane, edit: Edit, by_model: bool) -> bool:
    """Return whether a lane's answer was made from the item that an edit names."""
    graph, state = lane.graph, lane.state
    if edit.kind == "passage":
        rows = {row for hits in state.hits for row in _chunks(graph, hits.kind, hits.items)}
        return bool(rows) and edit.names[0] in graph.columns.chunks.texts("document", sorted(rows))
    paths = _leading(lane, by_model)
    edges = {edge for path in paths for edge in path.edges} | _items(lane, "triple")
    heads, relations, tails = graph.triples(np.array(sorted(edges), np.int64))
    if edit.kind == "edge":
        names = [graph.relation_names[one] for one in relations.tolist()]
        return edit.names in set(zip(graph.names(heads), names, graph.names(tails)))
    nodes = (
        {node for path in paths for node in path.nodes}
        | _items(lane, "node")
        | {*heads.tolist(), *tails.tolist()}
    )
    return edit.names[0] in graph.names(nodes)


def _leading(lane: Lane, by_model: bool) -> list[Path]:
    """Return the paths that the answer was made from.

    They are the paths in the prompt, or those that end where the graph reader answers.
    """
    state = lane.state
    if state.paths is None:
        return []
    if by_model:
        return list(state.paths.items[: prompt_paths(state)])
    return [path for path in state.paths.items if path.end in (state.reader or ())]


def _items(lane: Lane, kind: str) -> set[int]:
    """Return the hits of a kind."""
    return {item for hits in lane.state.hits if hits.kind == kind for item in hits.items}


def _chunks(graph, kind: str, items: Sequence[int]) -> list[int]:
    """Return the rows of the chunks that hits are or come from."""
    if kind not in ("node", "triple"):
        return list(items) if kind == "chunk" else []
    return [
        row
        for rows in chunk_lists(graph, "nodes" if kind == "node" else "edges", items)
        for row in rows
    ]


def _text(
    now: Comparison,
    lane: Lane,
    read: bool,
    lost: Sequence[str],
    new: Sequence[str],
    absent: Sequence[Edit],
    of: int,
) -> str:
    """Return a lane's sentence."""
    if len(absent) == of:
        return (
            f"Its graph has no {named([f'“{edit.name}”' for edit in absent])}, so nothing changed."
        )
    if not lost and not new and read and not all(edit.removes for edit in now.ask.source.edits):
        return "Same answer."
    if not lost and not new:
        return f"Same answer{_another(now, lane) if read else ', which did not rest on it'}."
    parts = [f"no longer says {_names(lost)}"] if lost else []
    parts += [f"now says {_names(new)}"] if new else []
    text = ", ".join(parts)
    return sentence(text if text.endswith("…") else f"{text}.")


def _another(now: Comparison, lane: Lane) -> str:
    """Describe how the answer is reached now: by the first path that leads to it, if any."""
    paths = _leading(lane, lane_by_model(now, lane))
    return f" by another way: {lane.graph.text(paths[0])}" if paths else ", though it had read it"


def _names(names: Sequence[str]) -> str:
    return named(
        [
            name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip(' .')}…"
            for name in (one.removesuffix(".") for one in names)
        ]
    )
