"""The effect of edits on each lane's answer.

An edit removes or changes an edge, an entity or a passage of the source. The comparison is run
again on the edited source, and its lanes are compared with those of the first run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from core.comparison.lane import MethodComparison, MethodLane
from core.diagnosis.measure import lane_counts_by_model
from core.diagnosis.path_outcome import prompt_paths
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.verdict.lane_words import lane_names
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.diagnosis.wording import capitalised, join_words, list_names
from core.graph.edits import Edit, unmatched_edits
from core.graph.texts import chunk_lists
from core.languages.spelling import normalize
from core.runtime.jobs import JOB_DONE
from core.sources import AnswerSource, SourceQuestion
from core.sources.source import GraphOpener
from core.types import EditComparison, Path

MAX_QUOTED_ANSWER_CHARACTERS = 80  # characters of an answer that are quoted


def ask_with_edits(
    ask: SourceQuestion, edits: Iterable[Edit], engine: GraphOpener
) -> SourceQuestion:
    """Return the same question to a source with these edits, in place of those that it has.

    Raises BadInput if the question cannot be asked of the edited source.
    """
    source = replace(ask.source, edits=tuple(edits)).open(engine)
    edited_ask = source.ask(ask.question, ask.seed, ask.uses_reader, ask.uses_model)
    return replace(edited_ask, waits_for_vectors=ask.waits_for_vectors)


def compare_edited(earlier: MethodComparison, now: MethodComparison) -> list[EditComparison | None]:
    """Return the effect of edits on each lane's answer.

    An entry is None as long as the lane, or its counterpart before the edits, has no answer. Lanes
    are paired by their lines. The effect also tells if a lane's answer was made from an edited
    path, triple, entity or passage.

    Parameters
    ----------
    earlier : the comparison without the edits.
    now : the comparison with the edits.
    """
    old_lanes = {
        repr(lane.method.line): (lane, explanation)
        for lane, explanation in zip(earlier.lanes, explain_comparison(earlier).lanes)
    }
    differences: list[EditComparison | None] = []
    for lane, explanation in zip(now.lanes, explain_comparison(now).lanes):
        old_lane, old = old_lanes.get(repr(lane.method.line), (None, None))
        if old_lane is None or not (_is_answered(now, lane) and _is_answered(earlier, old_lane)):
            differences.append(None)
            continue
        n_right = (  # before and now
            None if old is None else old.n_right,
            None if explanation is None else explanation.n_right,
        )
        differences.append(_compare_lane(earlier, now, old_lane, lane, n_right))
    return differences


def edit_summary(comparison: MethodComparison, effects: Sequence[EditComparison | None]) -> str:
    """Return a sentence on which lanes changed their answers.

    The text is empty if no lane answered.
    """
    changed: list[str] = []
    same_read: list[str] = []
    same_not_read: list[str] = []
    for name, effect in zip(lane_names(comparison), effects):
        if effect is None or effect.silent:
            continue
        if not effect.is_unchanged:
            changed.append(name)
        elif effect.read:
            same_read.append(name)
        else:
            same_not_read.append(name)
    if not (changed or same_read or same_not_read):
        return ""
    changed_words, same_words = _outcome_words(comparison.ask.source)
    parts = [f"{join_words(changed) if changed else 'No method'} {changed_words}"]
    if same_read:
        parts.append(f"{join_words(same_read)} {same_words}")
    if same_not_read:
        parts.append(f"{join_words(same_not_read)} had not used it")
    return capitalised("; ".join(parts) + ".")


def _outcome_words(source: AnswerSource) -> tuple[str, str]:
    """Return the words for a changed answer and for the same answer."""
    if all(edit.is_removal for edit in source.edits):
        return "depended on it", explainer_of(source).same_answer_words
    return "gave another answer", "gave the same answer"


def _is_answered(comparison: MethodComparison, lane: MethodLane) -> bool:
    """Return whether a lane has given its final answer."""
    return (
        lane.retrieved
        and lane.error is None
        and (lane.status == JOB_DONE or not comparison.ask.uses_model)
    )


def _compare_lane(
    earlier: MethodComparison,
    now: MethodComparison,
    old: MethodLane,
    lane: MethodLane,
    n_right: tuple[int | None, int | None],
) -> EditComparison:
    """Compare a lane with its counterpart `old` before the edits.

    `n_right` holds the numbers of known answers that they give, before and now.
    """
    edits = now.ask.source.edits
    absent = unmatched_edits(_unedited_graph(lane), edits)
    by_model = lane_counts_by_model(earlier, old)
    read = any(_has_used(old, edit, by_model) for edit in edits if edit not in absent)
    explainer = explainer_of(now.ask.source)
    old_names, new_names = explainer.answer_texts(earlier, old), explainer.answer_texts(now, lane)
    expected = explainer.rename_answer(old_names, edits)  # a renamed entity is no new answer
    lost, new = _missing_names(expected, new_names), _missing_names(new_names, expected)
    if not expected and not new_names:
        return EditComparison(read, (), (), n_right, "No answer, before and now.", silent=True)
    return EditComparison(
        read,
        lost,
        new,
        n_right,
        _lane_sentence(now, lane, read, lost, new, absent, len(edits)),
        said=old_names,
    )


def _unedited_graph(lane: MethodLane):
    """Return the graph before the edits."""
    return lane.graph if lane.graph.edited_from is None else lane.graph.edited_from.graph


def _missing_names(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are not among the others."""
    other_names = {normalize(name) for name in others}
    return tuple(name for name in dict.fromkeys(names) if normalize(name) not in other_names)


def _has_used(lane: MethodLane, edit: Edit, by_model: bool) -> bool:
    """Return whether a lane's answer was made from the item that an edit names."""
    graph, state = lane.graph, lane.state
    if edit.kind == "passage":
        rows = set[int]().union(*(_chunk_rows(graph, hits.kind, hits.items) for hits in state.hits))
        return bool(rows) and edit.names[0] in graph.columns.chunks.texts("document", sorted(rows))
    paths = _answer_paths(lane, by_model)
    edges = _hit_items(lane, "triple").union(*(path.edges for path in paths))
    heads, relations, tails = graph.triples(np.array(sorted(edges), np.int64))
    if edit.kind == "edge":
        names = [graph.relation_names[relation] for relation in relations.tolist()]
        return edit.names in set(zip(graph.names(heads), names, graph.names(tails)))
    nodes = (
        _hit_items(lane, "node")
        .union(*(path.nodes for path in paths))
        .union(heads.tolist(), tails.tolist())
    )
    return edit.names[0] in graph.names(nodes)


def _answer_paths(lane: MethodLane, by_model: bool) -> list[Path]:
    """Return the paths that the answer was made from.

    They are the paths in the prompt, or the paths that end at the graph reader's answers.
    """
    state = lane.state
    if state.paths is None:
        return []
    if by_model:
        return list(state.paths.items[: prompt_paths(state)])
    return [path for path in state.paths.items if path.end in (state.reader or ())]


def _hit_items(lane: MethodLane, kind: str) -> set[int]:
    """Return the hits of a kind."""
    return set[int]().union(*(hits.items for hits in lane.state.hits if hits.kind == kind))


def _chunk_rows(graph, kind: str, items: Sequence[int]) -> list[int]:
    """Return the rows of the chunks of hits. A hit is a chunk, or was extracted from chunks."""
    if kind == "chunk":
        return list(items)
    if kind not in ("node", "triple"):
        return []
    row_lists = chunk_lists(graph, "nodes" if kind == "node" else "edges", items)
    return list(chain.from_iterable(row_lists))


def _lane_sentence(
    now: MethodComparison,
    lane: MethodLane,
    read: bool,
    lost: Sequence[str],
    new: Sequence[str],
    absent: Sequence[Edit],
    n_edits: int,
) -> str:
    """Return the sentence on a lane: the same answer, or what it lost and added.

    `absent` are the edits of items that the lane's graph never had, of `n_edits` in all.
    """
    if len(absent) == n_edits:
        names = list_names([f"“{edit.name}”" for edit in absent])
        return f"Its graph has no {names}, so nothing changed."
    if not lost and not new and read and not all(edit.is_removal for edit in now.ask.source.edits):
        return "Same answer."
    if not lost and not new:
        return f"Same answer{_other_way(now, lane) if read else ', which did not depend on it'}."
    parts = [f"no longer says {_list_answers(lost)}"] if lost else []
    parts += [f"now says {_list_answers(new)}"] if new else []
    text = ", ".join(parts)
    return capitalised(text if text.endswith("…") else f"{text}.")


def _other_way(now: MethodComparison, lane: MethodLane) -> str:
    """Return a clause on another path to the same answer. The path leads there after a removal."""
    paths = _answer_paths(lane, lane_counts_by_model(now, lane))
    return f" by another path: {lane.graph.text(paths[0])}" if paths else ", though it had used it"


def _list_answers(names: Sequence[str]) -> str:
    """Return a list of answers in words; long answers are cut."""
    limit = MAX_QUOTED_ANSWER_CHARACTERS
    texts = [name.removesuffix(".") for name in names]
    return list_names(
        [text if len(text) <= limit else f"{text[: limit - 1].rstrip(' .')}…" for text in texts]
    )
