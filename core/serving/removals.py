"""The question of a comparison, asked again without some entities, triples or documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from core.diagnosis.edit_effects import ask_with_edits, compare_edited, edit_summary
from core.graph.edits import Edit, path_removals, unmatched_edits
from core.sources import AnswerSource

if TYPE_CHECKING:
    from core.comparison.lane import MethodComparison
    from core.engine import Engine
    from core.runtime.jobs import Job

BACKWARD_SUFFIX = "_reverse"  # of the relation of a backward step, in the text of a path


def removals_of(name: str, source: AnswerSource) -> tuple[Edit, ...]:
    """Return the removals that a name stands for.

    Parameters
    ----------
    name : the id of a document of the source, the text of a path or triple, or an entity.
    source : the opened source.

    Returns
    -------
    One removal for each triple of a path, else a single one.

    Examples
    --------
    >>> from core.serving.removals import removals_of
    >>> from core.sources import GraphSource
    >>> [edit.name for edit in removals_of("A -> r1 -> C -> r2_reverse -> B", GraphSource.of(toy))]
    ['A -> r1 -> C', 'B -> r2 -> C']
    """
    if name in source:
        return (Edit("passage", (name,)),)
    parts = name.split(" -> ")
    if len(parts) < 3 or len(parts) % 2 == 0:
        return (Edit("node", (name,)),)
    relations = []
    forward = []
    for relation in parts[1::2]:
        is_forward = relation in source.graph.relation_names
        is_forward = is_forward or not relation.endswith(BACKWARD_SUFFIX)
        forward.append(is_forward)
        relations.append(relation if is_forward else relation.removesuffix(BACKWARD_SUFFIX))
    return tuple(path_removals(parts[::2], relations, forward))


def compare_without(
    engine: Engine,
    full_comparison: MethodComparison,
    names: Sequence[str],
    wait: Callable[[Job], Any],
) -> Job:
    """Run the methods of a comparison again without what the names stand for.

    Parameters
    ----------
    full_comparison : the finished comparison; what it is without already stays away.
    names : entities, ids of documents, and texts of triples or paths.
    wait : waits until a job has ended.

    Returns
    -------
    The ended job. Each lane of its comparison has the difference to the full one in `beside`.

    Raises
    ------
    BadInput : the question cannot be asked without them.
    """
    ask = full_comparison.ask
    edits = list(ask.source.edits)
    for name in names:
        edits += removals_of(name, ask.source)
    methods = [lane.method for lane in full_comparison.lanes]
    job = engine.compare(ask_with_edits(ask, edits, engine), methods)
    wait(job)
    for index, difference in enumerate(compare_edited(full_comparison, job.comparison)):
        job.comparison.change_lane(index, beside=difference)
    return job


def unknown_names(full_comparison: MethodComparison, names: Sequence[str]) -> list[str]:
    """Return the names that stand for nothing in the graph of any method."""
    unknown = []
    for name in names:
        edits = removals_of(name, full_comparison.ask.source)
        graphs = (lane.graph for lane in full_comparison.lanes)
        if all(len(unmatched_edits(graph, edits)) == len(edits) for graph in graphs):
            unknown.append(name)
    return unknown


def removal_dict(comparison: MethodComparison, names: Sequence[str]) -> dict[str, Any]:
    """Return the differences to the answers on the whole source, as plain data.

    `names` are those of `compare_without`, which made the comparison. The result has `names`,
    `text` on all methods, and `lanes`, the difference of each method or None.
    """
    differences = [lane.beside for lane in comparison.lanes]
    return {
        "names": list(names),
        "text": edit_summary(comparison, differences),
        "lanes": [difference and asdict(difference) for difference in differences],
    }
