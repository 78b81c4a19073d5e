"""The chunks that were found and shown, against the passages that a question's answer rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.diagnosis.funnel import funnel
from core.diagnosis.passages import chunk_order, chunk_rows, gold_rows, shown_chunks
from core.diagnosis.targets import passages_of
from core.evaluation.metrics.ranking import Ranked, ranked
from core.sources import Source
from core.types import State


@dataclass(frozen=True)
class Passages:
    """How many passages the answer rests on, how many of them are alive at each stage of the funnel, and of the chunks that the prompt
    shows how many there are and how many are of these passages (None where there is no prompt, or no chunks were
    sought)."""

    golds: int
    alive: dict[str, int]
    shown: int | None = None
    right: int | None = None


def passages(source: Source, graph, state: State) -> Passages | None:
    """What became of the passages that the answer rests on; None where none is known.

    >>> from core.evaluation.metrics.passages import passages
    >>> from core.sources import CorpusSource
    >>> from core.types import Question
    >>> state = retrieve("SparseChunks(keep=2) >> AnswerFromTables()", graph=story, question="clerk Cratchit", models=says("He."))
    >>> passages(CorpusSource("story"), story, state.replace(question=Question("?", gold=("carol", "turkey"))))
    Passages(golds=2, alive={'corpus': 0, 'graph': 1, 'retrieved': 1, 'prompt': 1}, shown=2, right=2)
    """
    gold = tuple(dict.fromkeys(state.question.gold))
    if not gold:
        return None
    alive = {
        stage.name: len(stage.alive)
        for stage in funnel(source, graph, state, passages_of(state.question))
    }
    shown = shown_chunks(graph, state) if _seeks(graph, state) else None
    if shown is None:
        return Passages(len(gold), alive)
    right = gold_rows(graph, gold)
    return Passages(len(gold), alive, len(shown), len(shown & right))


def ranked_passages(graph, state: State) -> Ranked | None:
    """The chunks that were found against the passages that the question's answer rests on; None where no chunks were sought or no passages
    are known. Where the order before the cut is known, places behind the cut are told too, and `count` is that of the chunks kept.

    >>> from core.evaluation.metrics.passages import ranked_passages
    >>> from core.types import Question
    >>> state = retrieve("SparseChunks(keep=1)", graph=story, question="clerk Cratchit")  # carol#1, and behind the cut carol#2
    >>> ranked_passages(story, state.replace(question=Question("?", gold=("carol", "turkey"))))
    Ranked(count=1, relevant=(1, 2), first=(1, None))
    """
    gold = tuple(dict.fromkeys(state.question.gold))
    order = chunk_order(graph, state)
    if order is None or not gold or not _seeks(graph, state):
        return None
    rows = [chunk_rows(graph, document) for document in gold]
    found = ranked(
        ([i for i, held in enumerate(rows) if row in held] for row in order[1]), len(gold)
    )
    return replace(found, count=len(order[0]))


@dataclass(frozen=True)
class Found:
    """How many nodes of a tree were found, and how many of them are summaries."""

    nodes: int
    summaries: int


def found_in_tree(graph, state: State) -> Found | None:
    """What was found in a tree of summaries; None on another graph, or where no nodes were sought.

    >>> from core.evaluation.metrics.passages import found_in_tree
    >>> found_in_tree(toy, retrieve("EgoNetwork()", "A")) is None
    True
    """
    table = graph.columns.nodes
    if state.nodes is None or table is None or not table.has("level"):
        return None
    levels = table.numbers("level")
    if levels.any():
        return Found(len(state.nodes), sum(bool(levels[node]) for node in state.nodes.items))
    return None


def _seeks(graph, state: State) -> bool:
    """Whether chunks were sought: as such, or among the nodes of a tree or a passage graph, some of which are chunks."""
    table = graph.columns.nodes
    return state.chunks is not None or (
        state.nodes is not None and table is not None and table.has("level")
    )
