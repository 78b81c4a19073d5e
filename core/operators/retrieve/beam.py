"""Path retrieval by a beam search from each seed, guided by a model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.chains import chain_groups
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.models.base import Choice, Task
from core.models.chooser_names import plain_name, short_name
from core.operators.base import DIRECTIONS, MAX_TEXTS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.refine import RECALL_HELP, chosen_items, part_words, rank_positions
from core.operators.stop import are_paths_sufficient
from core.parameters import param
from core.types import Frame, Path, Ranking, State

NEVER_STOP = "never"  # value of `stop` that asks no language model
SCORER_NEEDED = "only with a scorer, as a language model gives no scores"
RANK_BY_STEPS = "steps"  # value of `rank` that needs no model: the mean of a path's step scores
# paths in the order of finding, each with the scores of its steps; empty without scores
PathScores = dict[Path, tuple[float, ...]]


@dataclass(frozen=True, repr=False)
class BeamSearch(Operator):
    """The paths that a beam keeps at any hop, ranked once more at the end.

    Each seed is searched separately. Every kept path is extended by every step from its end. The
    candidates are scored as texts (the whole path, or with `unit` "triple" only the new triple),
    and the best `width` are kept and added to the result. Scores do not accumulate. Steps may
    return to a visited node, as in the paper. At the end `rank` ranks all paths of all seeds.
    (LEGO-GraphRAG, technical report, Algorithm 1 and section B.8)

    With `prune` "mean" or "percentile" no fixed number is kept, but the candidates whose
    min-max-normalised score reaches the mean or the given percentile, at most `limit`. `fanout`
    limits the steps tried from one node to the first in edge order (32 and 64 in the report's code,
    none in its Algorithm 1); 0 is no limit. `stop` names a language model that is shown the kept
    paths after each hop but the last, and may end the search (the report's LLMs-ES).

    `read` and `recall` are Hopscope's own. If a hop has more than `read` candidates, some of each
    relation chain are read first, then those with the best expected scores. With a `recall` below 1
    reading stops once that share of the best is expected among those read. The expectation uses the
    scores of earlier hops too. Candidates that are not read are left out.

    >>> table = {"A -> r1 -> C": 0.8, "A -> r1 -> C -> r4 -> D": 0.9}
    >>> answers(
    ...     "EgoNetwork() >> BeamSearch(hops=2, width=1, direction='out')",
    ...     "A",
    ...     models=scores(table),
    ... )
    ['A -> r1 -> C -> r4 -> D', 'A -> r1 -> C']
    """

    stage = "retrieve"
    title = "beam search"
    reads, writes = ("seeds", "subgraph"), ("paths",)

    model: str = param(
        "encoder", "Model", "What scores or picks the extensions at each hop.", model=True
    )
    width: int = param(8, "Beam width", "How many paths are kept at each hop.", low=1, high=10_000)
    hops: int = param(4, "Hops", "Longest path.", low=1, high=8)
    fanout: int = param(
        0,
        "Fan-out",
        "Steps tried from one node, in edge order; 0 tries all.",
        low=0,
        high=1_000_000,
    )
    unit: str = param(
        "path",
        "Scored text",
        "The whole path, or only its newest triple.",
        choices=("path", "triple"),
    )
    prune: str = param(
        "top",
        "Pruning",
        "top: the best of a fixed number; mean, percentile: by the scores themselves.",
        choices=("top", "mean", "percentile"),
    )
    percentile: float = param(
        90.0,
        "Percentile",
        "For percentile pruning: the share of candidates left behind.",
        low=0.0,
        high=100.0,
    )
    limit: int = param(
        64,
        "Most kept",
        "For mean and percentile pruning: never more than this a hop.",
        low=1,
        high=10_000,
    )
    revisit: bool = param(
        True, "May revisit", "Whether a path may return to a node it has visited."
    )
    rank: str = param(
        "encoder",
        "Final ranking",
        "The model that ranks all kept paths at the end; “steps” takes the mean of the scores on "
        "the way.",
        model=True,
        also=(RANK_BY_STEPS,),
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    stop: str = param(
        NEVER_STOP,
        "Early stop",
        "The language model that is asked after each hop whether the paths suffice; “never” asks "
        "none.",
        chat=True,
        also=(NEVER_STOP,),
    )
    read: int = param(
        0,
        "Read at most",
        "The most candidates that an encoder or a re-ranker reads a hop, those first that promise "
        "most by what it has read; 0 reads all.",
        low=0,
        high=1_000_000,
    )
    recall: float = param(
        1.0, "Stop early at (share of best expected)", RECALL_HELP, low=0.5, high=1.0
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.subgraph is not None
        local = LocalAdjacency(ctx.graph, state.subgraph, self.direction)
        task = Task(
            state.question.text,
            self.unit,
            ctx.seed,
            ctx.watch,
            tuple(ctx.graph.names(state.seeds)),
            max_read=self.read,
            recall=self.recall,
            n_best=self.width if self.prune == "top" else self.limit,
            earlier_scores={} if self.recall < 1 else None,
        )
        found: PathScores = {}
        for seed in dict.fromkeys(state.seeds):
            if seed in state.subgraph:
                self._search(local, seed, state, task, ctx, recorder, found)
        return state.replace(paths=self._rank_paths(found, task, ctx, recorder))

    def _search(
        self,
        local,
        seed: int,
        state: State,
        task: Task,
        ctx: Context,
        recorder: Recorder,
        found: PathScores,
    ) -> None:
        """Search from one seed, and add the kept paths of all hops to `found`.

        `local` is the subgraph as adjacency lists.
        """
        beam: PathScores = {Path((seed,)): ()}
        # with several seeds, the frames and notes name the seed
        suffix = f" from {ctx.graph.node_name(seed)}" if len(set(state.seeds)) > 1 else ""
        for hop in range(1, self.hops + 1):
            label = f"hop {hop}{suffix}"
            origins = self._extend_beam(local, beam)
            candidates = list(origins)
            if not candidates:
                break
            if len(candidates) == MAX_TEXTS:
                recorder.notes.append(
                    f"Hop {hop}{suffix} has too many extensions; the first {MAX_TEXTS:,} were read."
                )
            ctx.watch.report(
                f"Beam search, hop {hop} of {self.hops}: {len(candidates):,} candidates",
                (hop - 1) / self.hops,
            )
            prefix = f"hop {hop} of {self.hops}{suffix}, "
            hop_task = replace(
                task,
                groups=chain_groups(ctx.graph, candidates),
                preview=self._make_preview(state, found, candidates, ctx, prefix),
            )
            texts = self._texts(ctx.graph, candidates)
            chooser = ctx.models.chooser(self.model)
            choice = recorder.record_choice(self._choose(chooser, hop_task, texts))
            selected, ranked = chosen_items(Ranking("path", tuple(candidates)), choice)
            recorder.frames.append(Frame(label, selected, len(candidates), ranked))
            extended: PathScores = {}
            for index, path in enumerate(selected.items):
                new_scores = (choice.scores[index],) if choice.scores else ()
                extended[path] = beam[origins[path]] + new_scores
                found.setdefault(path, extended[path])
            beam = extended
            if not beam or hop == self.hops:
                break
            if self._are_sufficient(label, beam, task, ctx, recorder):
                break

    def _make_preview(
        self, state: State, found: PathScores, candidates: list[Path], ctx: Context, prefix: str
    ):
        """Return a callback that previews a hop; None if nobody is watching.

        It shows the paths of the earlier hops and the best candidates scored so far. They are
        ordered by their latest score, as the final ranking does not exist yet.
        """
        last_scores = {path: scores[-1] if scores else math.nan for path, scores in found.items()}

        def make_state(recorder: Recorder, positions: np.ndarray, scores: np.ndarray) -> State:
            ranked = rank_positions(Ranking("path", tuple(candidates)), positions, scores)
            best = ranked.head(self.width)
            scores_by_path = last_scores | dict(zip(best.items, best.scores or ()))
            all_paths = Ranking("path", tuple(scores_by_path))
            all_scores = np.array(list(scores_by_path.values()))
            return state.replace(
                paths=rank_positions(all_paths, np.arange(len(all_paths)), all_scores)
            )

        return ctx.scoring_preview(len(candidates), self.unit, make_state, prefix)

    def _are_sufficient(
        self, label: str, beam: PathScores, task: Task, ctx: Context, recorder: Recorder
    ) -> bool:
        """Return whether the language model of `stop` finds the kept paths sufficient."""
        if self.stop == NEVER_STOP:
            return False
        verdict, usage, clause = are_paths_sufficient(
            ctx.models.chat(self.stop), task, ctx.graph.texts(list(beam))
        )
        recorder.usage += usage
        recorder.notes.append(f"After {label}, {clause}.")
        return verdict

    def _extend_beam(self, local, beam: PathScores) -> dict[Path, Path]:
        """Return the one-step extensions of the beam, each with the path that it extends.

        There are at most `MAX_TEXTS`, those of the first paths.
        """
        origins: dict[Path, Path] = {}
        for path in beam:
            for row, edge, forward in local.step_lists[local.local_id(path.end)][
                : self.fanout or None
            ]:
                node = int(local.nodes[row])
                if self.revisit or node not in path.nodes:
                    origins.setdefault(path.extended(node, edge, forward), path)
                    if len(origins) == MAX_TEXTS:
                        return origins
        return origins

    def _texts(self, graph, paths: list[Path]) -> list[str]:
        if self.unit == "path":
            return graph.texts(paths)
        return graph.triple_texts([path.edges[-1] for path in paths])

    def _choose(self, chooser, task: Task, texts: list[str]) -> Choice:
        """Return the candidates that the pruning keeps, as positions in `texts`, best first."""
        if self.prune == "top":
            choice = chooser.choose(task, texts, self.width)
            if self.rank == RANK_BY_STEPS and choice.scores is None:
                raise BadParameter(f"BeamSearch can rank by the scores on the way {SCORER_NEEDED}.")
            return choice
        choice = chooser.choose(task, texts, 0)  # 0: all, as the scores set the number
        if choice.scores is None:
            raise BadParameter(f"BeamSearch can prune by mean or percentile {SCORER_NEEDED}.")
        if not choice.scores:
            return choice
        scores = np.asarray(choice.scores)
        score_range = scores.max() - scores.min()
        normal = (scores - scores.min()) / score_range if score_range > 0 else np.ones_like(scores)
        if self.prune == "mean":
            threshold = normal.mean()
        else:
            threshold = np.percentile(normal, self.percentile)
        # a score that misses the threshold only by a rounding error reaches it
        keep = max(1, min(int((normal >= threshold - 1e-12).sum()), self.limit))
        return replace(choice, positions=choice.positions[:keep], scores=choice.scores[:keep])

    def _rank_paths(
        self, found: PathScores, task: Task, ctx: Context, recorder: Recorder
    ) -> Ranking:
        """Return the paths of all hops and seeds, ranked once more, best first."""
        if self.rank == RANK_BY_STEPS:
            means = {path: float(np.mean(scores)) for path, scores in found.items()}
            order = sorted(found, key=lambda path: (-means[path], -found[path][-1]))
            return Ranking("path", tuple(order), tuple(means[path] for path in order))
        paths = Ranking("path", tuple(found))
        rank_task = replace(
            task,
            unit="path",
            groups=chain_groups(ctx.graph, paths.items),
            max_read=0,
            recall=1.0,
            earlier_scores=None,
        )
        chooser = ctx.models.chooser(self.rank)
        choice = recorder.record_choice(chooser.choose(rank_task, ctx.graph.texts(paths.items), 0))
        return chosen_items(paths, choice)[0]

    def words(self) -> str:
        width_words = {
            "top": f"{self.width} wide",
            "mean": "above the mean",
            "percentile": f"above percentile {self.percentile:g}",
        }[self.prune]
        unit = " of triples" if self.unit == "triple" else ""
        stop_words = "" if self.stop == NEVER_STOP else f", stopped by {short_name(self.stop)}"
        return (
            f"beam {width_words}{unit}, {self.hops} hops, {short_name(self.model)}"
            f"{part_words(self.read, self.recall)}{stop_words}"
        )

    def plain_words(self) -> str:
        prunings = {
            "top": f"the {self.width} best-matching paths",
            "mean": "the paths that match better than the mean",
            "percentile": f"the best-matching {100 - self.percentile:g} % of paths",
        }
        return f"follows {prunings[self.prune]} by {plain_name(self.model)}, up to {self.hops} hops"
