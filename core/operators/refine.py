"""Path refinement: paths are ranked or drawn at random, then cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.graph.algorithms.chains import chain_groups
from core.models.base import Choice, Task
from core.models.chooser_names import short_name
from core.models.scorers import top_k
from core.operators.base import Context, Operator, Recorder
from core.parameters import param
from core.types import Ranking, State

RECALL_HELP = (
    "The model reads no more once it expects this share of the best among those that it has read; "
    "1 reads all."
)


def part_words(read: int, recall: float) -> str:
    """Return words for the limits of a ranking whose model reads only some candidates.

    Examples: `, 512 read` and `, 99 % expected`. The text is empty if all are read.
    """
    words = f", {read:,} read" if read else ""
    return words + (f", {100 * recall:g} % expected" if recall < 1 else "")


def reads_part(parameters: Mapping[str, Any]) -> bool:
    """Return whether the parameters of a step limit how many candidates its model reads.

    >>> from core.operators.refine import reads_part
    >>> reads_part({"read": 0, "recall": 1.0}), reads_part({"read": 0, "recall": 0.98})
    (False, True)
    >>> reads_part({"recall": 0.97})  # the parameters of PageRank
    False
    """
    return "read" in parameters and bool(parameters["read"] or parameters.get("recall", 1.0) < 1)


def chosen_items(candidates: Ranking, choice: Choice) -> tuple[Ranking, Ranking | None]:
    """Return the chosen items, and all items in the chooser's order.

    The second result is None if that order is unknown.
    """
    kind = candidates.kind
    chosen = Ranking(kind, tuple(candidates.items[i] for i in choice.positions), choice.scores)
    if choice.order is None:
        return chosen, None
    order = tuple(candidates.items[i] for i in choice.order)
    return chosen, Ranking(kind, order, choice.order_scores)


def rank_positions(items: Ranking, positions: np.ndarray, scores: np.ndarray) -> Ranking:
    """Return the items at some positions by score, best first.

    `scores` is aligned with `positions`, which are indices of `items`.
    """
    order = top_k(scores, 0)  # 0 keeps all
    return Ranking(
        items.kind,
        tuple(items.items[i] for i in positions[order].tolist()),
        tuple(scores[order].tolist()),
    )


@dataclass(frozen=True)
class ItemRanking:
    """A function that keeps the best items of a state's field.

    A model chooses them.

    Parameters
    ----------
    field : the name of a field of `State` that holds a ranking.
    model : the name, role or combination of the models that choose.
    keep : how many items stay.
    """

    field: str
    model: str
    keep: int

    def __call__(
        self, state: State, ctx: Context, recorder: Recorder, task: Task, texts: Sequence[str]
    ) -> State:
        """Return the state with the chosen items.

        Parameters
        ----------
        task : the task of the model, without a preview.
        texts : the texts of all items.
        """
        candidates: Ranking = getattr(state, self.field)

        def partial_state(recorder: Recorder, positions: np.ndarray, scores: np.ndarray) -> State:
            recorder.before_cut = rank_positions(candidates, positions, scores)
            return state.replace(**{self.field: recorder.before_cut.head(self.keep)})

        task = replace(task, preview=ctx.scoring_preview(len(candidates), task.unit, partial_state))
        chooser = ctx.models.chooser(self.model)
        choice = recorder.record_choice(chooser.choose(task, texts, self.keep))
        chosen, order = chosen_items(candidates, choice)
        if order is not None:
            recorder.before_cut = order
        return state.replace(**{self.field: chosen})


@dataclass(frozen=True, repr=False)
class Rank(Operator):
    """The best `keep` paths by a model that reads question and path texts once.

    This is LEGO-GraphRAG's one-shot retrieval. A language model as chooser may name fewer paths.
    They stay in the order in which it named them, while the papers' code falls back to the order of
    the list.

    With `read` the model reads at most that many texts: first some of each relation chain, then
    those with the best expected scores (`core.models.reading_order`). With a `recall` below 1 it
    stops once that share of the best `keep` is expected among the texts read. The others are left
    out. Both are Hopscope's own additions. By default the model reads all texts.

    >>> table = {"A -> r1 -> C": 0.9, "A -> r0 -> B": 0.2}
    >>> answers(
    ...     "EgoNetwork() >> ShortestPaths(direction='out') >> Rank(keep=2)",
    ...     "A",
    ...     models=scores(table),
    ... )
    ['A -> r1 -> C', 'A -> r0 -> B']
    >>> from core.operators import Rank
    >>> Rank(read=512).words()
    'best 32 by encoder, 512 read'
    >>> Rank(recall=0.99).words()
    'best 32 by encoder, 99 % expected'
    """

    stage = "refine"
    title = "rank"
    plain = "keeps the best {keep:,} {by}"
    reads, writes = ("paths",), ("paths",)

    model: str = param(
        "encoder",
        "Model",
        "What ranks or picks: a scorer, a language model, or a combination.",
        model=True,
    )
    keep: int = param(32, "Keep", "How many paths stay.", low=1, high=100_000)
    read: int = param(
        0,
        "Read at most",
        "The most paths that an encoder or a re-ranker reads, those first that promise most by "
        "what it has read; 0 reads all.",
        low=0,
        high=1_000_000,
    )
    recall: float = param(
        1.0, "Stop early at (share of best expected)", RECALL_HELP, low=0.5, high=1.0
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.paths is not None
        ctx.watch.report(f"Ranking {len(state.paths):,} paths")
        texts = ctx.graph.texts(state.paths.items)
        task = Task(
            state.question.text,
            "path",
            ctx.seed,
            ctx.watch,
            tuple(ctx.graph.names(state.seeds)),
            chain_groups(ctx.graph, state.paths.items),
            max_read=self.read,
            recall=self.recall,
            n_best=self.keep,
        )
        return ItemRanking("paths", self.model, self.keep)(state, ctx, recorder, task, texts)

    def words(self) -> str:
        return f"best {self.keep:,} by {short_name(self.model)}{part_words(self.read, self.recall)}"


@dataclass(frozen=True, repr=False)
class RandomSelect(Operator):
    """`keep` of the paths drawn without replacement, in the order drawn.

    This is LEGO-GraphRAG v1's random refinement.

    >>> line = "EgoNetwork() >> ShortestPaths(direction='out') >> RandomSelect(keep=3)"
    >>> sorted(answers(line, "A"))  # all paths, as there are three
    ['A -> r0 -> B', 'A -> r1 -> C', 'A -> r1 -> C -> r4 -> D']
    """

    stage = "refine"
    title = "random selection"
    plain = "keeps {keep:,} at random"
    reads, writes = ("paths",), ("paths",)
    is_random = True

    keep: int = param(32, "Keep", "How many paths are drawn.", low=1, high=100_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        paths = state.paths
        assert paths is not None
        order = ctx.rng(state.question.text, self).permutation(len(paths))
        shuffled = Ranking("path", tuple(paths.items[int(i)] for i in order))
        recorder.before_cut = shuffled
        return state.replace(paths=shuffled.head(self.keep))

    def words(self) -> str:
        return f"{self.keep:,} at random"
