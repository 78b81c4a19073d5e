"""Explainers of lanes: one for graphs of triples, one for corpora.

A lane is the run of one method in a comparison. Its targets are the known answers or gold passages
that it should bring. An explainer says which they are, and how the lane lost some.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import LaneRun
from core.diagnosis.causes import Cause, Fate, Loss, rank_words
from core.diagnosis.changes import passage_changes, path_changes
from core.diagnosis.changes.trials import BroughtTargets, LineChange
from core.diagnosis.funnel import SavedAlive, count_right_answers, funnel
from core.diagnosis.losses import LaneStages, losses
from core.diagnosis.lost_passages import lost_passages
from core.diagnosis.measure import BY_READER, IN_PROMPT, lane_counts_by_model
from core.diagnosis.missed_answers import lost_paths
from core.diagnosis.passages import fates
from core.diagnosis.support import find_supporting_sentences
from core.diagnosis.targets import Target, answers_of, passages_of
from core.diagnosis.verdict.explanation import ComparisonVerdict, explain_lanes
from core.diagnosis.verdict.lane_words import lane_answers
from core.diagnosis.verdict.verdict_paths import verdict_paths
from core.diagnosis.verdict.verdict_texts import verdict_texts
from core.graph.edits import Edit, names_after_edits
from core.models.base import Models
from core.sources import AnswerSource, SourceQuestion
from core.types import Question, SupportingSentence
from core.watch import Watch

# Stages at which a passage counts as brought, the later one first, and their wording.
BROUGHT_STAGES = {"prompt": IN_PROMPT, "retrieved": "found"}
Item = TypeVar("Item", Fate, Loss)
LossesAndCause = tuple[tuple[Loss, ...], Cause | None]


class Explainer(ABC):
    """The explanations of lanes on one kind of source."""

    # says of a lane that it gives the same answer after items that it used were removed
    same_answer_words: str

    @abstractmethod
    def targets(self, question: Question) -> tuple[Target, ...]:
        """Return the known answers or passages that the lanes should bring.

        Parameters
        ----------
        question : the question with its known answers or evidence.

        Returns
        -------
        The targets; empty if neither answers nor passages of the question are known.
        """

    @abstractmethod
    def verdict(self, comparison: MethodComparison) -> ComparisonVerdict:
        """Return the sentences of each lane and of all lanes.

        Parameters
        ----------
        comparison : all lanes, each with its states.

        Returns
        -------
        The sentences in the order of the lanes.
        """

    @abstractmethod
    def loss_places(self, run: LaneStages, targets: Sequence[Target]) -> dict[str, str]:
        """Return words on where each target was lost, by name.

        They are a few words for each. The best ranked target comes first.

        Parameters
        ----------
        run : the states of one lane.
        targets : the lost targets.

        Returns
        -------
        Words by the name of a target.
        """

    @abstractmethod
    def run_losses(self, run: LaneRun) -> LossesAndCause:
        """Return the losses of a run and their most frequent cause.

        Parameters
        ----------
        run : the states of one lane.

        Returns
        -------
        The losses, and their most frequent cause; None without a loss.
        """

    @abstractmethod
    def count_brought(
        self, run: LaneRun | MethodLane, by_model: bool, saved_alive: SavedAlive
    ) -> BroughtTargets | None:
        """Return how many targets a run brings.

        Parameters
        ----------
        run : the states of one lane, or the lane.
        by_model : True to count what the prompt holds, if the language model's answer counts; False
            to count what the graph reader names. On a corpus it makes no difference.
        saved_alive : for a saved lane on a corpus, the targets alive in the corpus and in the
            graph.

        Returns
        -------
        The numbers of brought and of all targets; None if there is nothing to count.
        """

    @abstractmethod
    def propose_changes(self, run: LaneRun, lost: Sequence[Loss]) -> Iterator[LineChange]:
        """Yield the changes that may bring back a run's losses.

        Each changes one step.

        Parameters
        ----------
        run : the states of one lane.
        lost : losses to bring back.

        Yields
        ------
        The changes of one step.
        """

    @abstractmethod
    def trial_question(self, ask: SourceQuestion, by_model: bool) -> tuple[SourceQuestion, bool]:
        """Return a trial's question, and True if it needs its prompt.

        Parameters
        ----------
        ask : the question as the lane asked it.
        by_model : True if the language model's answer counts for the lane.

        Returns
        -------
        The question, set to run without a language model, and True if the operators that write the
        prompt have to run.
        """

    @abstractmethod
    def answer_texts(self, comparison: MethodComparison, lane: MethodLane) -> tuple[str, ...]:
        """Return the names in a lane's answer, or its text.

        Parameters
        ----------
        comparison : the comparison of the lane.
        lane : one of its lanes.

        Returns
        -------
        Answer names, or one text.
        """

    def rename_answer(self, names: tuple[str, ...], edits: Sequence[Edit]) -> tuple[str, ...]:
        """Return an answer with its names as they are after edits of the graph.

        Parameters
        ----------
        names : an answer as `answer_texts` returns it.
        edits : edits of the graph.

        Returns
        -------
        The answer with the new names; unchanged on a corpus.
        """
        return names

    def find_supporting_sentences(
        self, lane: MethodLane, models: Models, watch: Watch
    ) -> tuple[SupportingSentence, ...] | None:
        """Return the sentences of passages on which an answer's sentences rest.

        Parameters
        ----------
        lane : a lane with an answer.
        models : has the encoder that compares sentences.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        One entry for each sentence of the answer; None if lanes on this source read no passages.
        """
        return None


class TripleExplainer(Explainer):
    """Explanations of lanes on triples, whose targets are known answers on paths."""

    same_answer_words = "reached the same answer by another path"

    def targets(self, question: Question) -> tuple[Target, ...]:
        return answers_of(question)

    def verdict(self, comparison: MethodComparison) -> ComparisonVerdict:
        return verdict_paths(comparison)

    def loss_places(self, run: LaneStages, targets: Sequence[Target]) -> dict[str, str]:
        answers = [target.name for target in targets]
        if not answers or not run.states:
            return {}
        paths = lost_paths(run.graph, [run.states], answers, [run.by_model])[0]
        lost = _by_rank(losses(run, answers, dict(paths)))
        return {loss.name: rank_words(loss) for loss in lost}

    def run_losses(self, run: LaneRun) -> LossesAndCause:
        by_model = run.state.answer is not None
        answers = run.ask.question.answers
        (explanation,) = explain_lanes(run.graph, [run.states], answers, [by_model])
        if explanation is None or not explanation.losses:
            return (), None
        return explanation.losses, explanation.cause

    def count_brought(
        self, run: LaneRun | MethodLane, by_model: bool, saved_alive: SavedAlive
    ) -> BroughtTargets | None:
        """Return how many known answers the graph reader names.

        If the model's answer counts, return how many are in the prompt.
        """
        question, graph, state = run.ask.question, run.graph, run.state
        if by_model:
            where = IN_PROMPT
            stages = funnel(run.ask.source, graph, state, answers_of(question), by_model)
            count = next((len(stage.alive) for stage in stages if stage.name == "prompt"), None)
        else:
            where = BY_READER
            count = count_right_answers(graph, state, question.answers, reader=True)
        if count is None:
            return None
        # The words say whose answers are counted only if a language model answers too.
        words = where if run.ask.uses_model else ""
        return BroughtTargets(count, len(set(question.answers)), "", words)

    def propose_changes(self, run: LaneRun, lost: Sequence[Loss]) -> Iterator[LineChange]:
        if lost:
            yield from path_changes.changes(run.ask, run.line, lost, run.environment.models)

    def trial_question(self, ask: SourceQuestion, by_model: bool) -> tuple[SourceQuestion, bool]:
        return replace(ask, uses_model=False, uses_reader=True), by_model

    def answer_texts(self, comparison: MethodComparison, lane: MethodLane) -> tuple[str, ...]:
        return lane_answers(lane, lane_counts_by_model(comparison, lane))

    def rename_answer(self, names: tuple[str, ...], edits: Sequence[Edit]) -> tuple[str, ...]:
        return names_after_edits(names, [edit for edit in edits if not edit.is_removal])


class DocumentExplainer(Explainer):
    """Explanations of lanes on a corpus, whose targets are gold passages.

    If no gold passage is known, the targets are the words of known answers.
    """

    same_answer_words = "used it and gave the same answer"  # texts have no other path

    def targets(self, question: Question) -> tuple[Target, ...]:
        return passages_of(question) or answers_of(question)

    def verdict(self, comparison: MethodComparison) -> ComparisonVerdict:
        return verdict_texts(comparison)

    def loss_places(self, run: LaneStages, targets: Sequence[Target]) -> dict[str, str]:
        gold = [target.name for target in targets if target.kind == "passage"]
        lost = [fate for fate in fates(run.graph, run.states, gold) if fate.kind != "found"]
        return {fate.document: fate.text for fate in _by_rank(lost)}

    def run_losses(self, run: LaneRun) -> LossesAndCause:
        question = run.ask.question
        stages = funnel(run.ask.source, run.graph, run.state, passages_of(question))
        losses_found = lost_passages(run, stages)
        if not losses_found:
            answered = run.state.answer is not None and question.gold
            return (), Cause.NOT_SAID if answered else None
        causes = Counter(loss.cause for loss in losses_found)
        return losses_found, max(causes, key=lambda cause: causes[cause])

    def count_brought(
        self, run: LaneRun | MethodLane, by_model: bool, saved_alive: SavedAlive
    ) -> BroughtTargets | None:
        """Return how many targets are in the prompt.

        Without a prompt, those among the hits are counted.
        """
        ask, lane_targets = run.ask, self.targets(run.ask.question)
        funnel_stages = funnel(
            ask.source, run.graph, run.state, lane_targets, saved_alive=saved_alive
        )
        stages = {stage.name: stage for stage in funnel_stages}
        last = next((stages[name] for name in BROUGHT_STAGES if name in stages), None)
        if last is None:
            return None
        what = "evidence passage" if ask.question.gold else "correct answer"
        return BroughtTargets(len(last.alive), last.n_targets, what, BROUGHT_STAGES[last.name])

    def propose_changes(self, run: LaneRun, lost: Sequence[Loss]) -> Iterator[LineChange]:
        return passage_changes.changes(run.line, lost)

    def trial_question(self, ask: SourceQuestion, by_model: bool) -> tuple[SourceQuestion, bool]:
        return replace(ask, uses_model=False, uses_reader=False), True

    def answer_texts(self, comparison: MethodComparison, lane: MethodLane) -> tuple[str, ...]:
        state = lane.state
        if state.answer is None:
            return (state.excerpt.text,) if state.excerpt is not None else ()
        return tuple(filter(None, [state.answer.strip()]))

    def find_supporting_sentences(
        self, lane: MethodLane, models: Models, watch: Watch
    ) -> tuple[SupportingSentence, ...] | None:
        return find_supporting_sentences(lane.graph, lane.state, models.encoder(), watch)


def explainer_of(source: AnswerSource) -> Explainer:
    """Return the explainer of lanes on a source."""
    return DocumentExplainer() if source.is_corpus else TripleExplainer()


def _by_rank(items: Sequence[Item]) -> list[Item]:
    """Return losses or outcomes by their rank, those without a rank last."""
    return sorted(items, key=lambda item: (item.rank is None, item.rank or 0))
