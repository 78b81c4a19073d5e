"""Explanations of how each lane on triples found or lost the known answers.

They are sentences on the most frequent cause of the losses, made from the trace of the lane's run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.datasets.relations import chain_words
from core.datasets.wording import relation_table
from core.diagnosis.causes import CAUSE_WORDINGS, Cause, Chain, Loss, required_figure
from core.diagnosis.losses import LaneStages, losses
from core.diagnosis.missed_answers import lost_paths
from core.diagnosis.path_outcome import ordinal, step_title
from core.diagnosis.wording import (
    all_words,
    capitalised,
    count_noun,
    is_or_are,
    list_names,
    number_words,
)
from core.sources import GraphSource
from core.types import State


@dataclass(frozen=True)
class LaneExplanation:
    """The explanation of one lane: a stage, a few words, and a sentence that continues them.

    Parameters
    ----------
    stage : the stage of the funnel with the main loss; None if nothing was lost. On triples most is
        lost there, on documents the first passage.
    head, text : the few words, and the sentence.
    n_right : how many of the `n_answers` known answers the lane gives, by its model or by its graph
        reader, whichever counts; None if no answer is known.
    losses : the known answers that are not given, those of the sentence first.
    n_extra_names : names by the graph reader that are no known answers.
    cause : the main cause of the losses, as the sentence puts it.
    """

    stage: str | None
    head: str
    text: str
    n_right: int | None = None
    n_answers: int = 0
    losses: tuple[Loss, ...] = ()
    n_extra_names: int = 0
    cause: Cause = Cause.FOUND


@dataclass(frozen=True)
class ComparisonVerdict:
    """The sentence for all lanes, and the explanation of each lane.

    The sentence is empty until every lane has retrieved. A lane's explanation is None until it has.
    While lanes that were added later still run, the sentence is about the earlier lanes, and
    `pending_text` says that they will be counted again. `named_answers` are the known answers that
    the sentence names.
    """

    text: str
    lanes: tuple[LaneExplanation | None, ...]
    named_answers: tuple[str, ...] = ()
    pending_text: str = ""

    def __str__(self) -> str:
        return self.text


def explain_lanes(
    graph, runs: Sequence[Sequence[State]], answers: Sequence[str], by_model: Sequence[bool]
) -> list[LaneExplanation | None]:
    """Return the explanation of each run; None for a run without states.

    Parameters
    ----------
    graph : the graph of the question.
    runs : the states of each run, oldest first.
    answers : the known answers.
    by_model : for each run, True if the language model's answer counts.
    """
    answers = tuple(dict.fromkeys(answers))
    lane_paths = [dict(lost) for lost in lost_paths(graph, runs, answers, by_model)]
    stages = [LaneStages(graph, states, model) for states, model in zip(runs, by_model)]
    return [
        _explain_lane(stage, answers, paths) if stage.states else None
        for stage, paths in zip(stages, lane_paths)
    ]


def _explain_lane(run: LaneStages, answers: tuple[str, ...], paths) -> LaneExplanation:
    """Return the explanation of a run. `paths` holds a path to each lost answer that has one."""
    if not answers:
        return LaneExplanation(None, "", _best_path_text(run))
    lost = losses(run, answers, paths)
    extra = _count_extra_names(run, answers)
    if not lost:
        text = _success_text(run, answers, extra)
        n = len(answers)
        return LaneExplanation(
            None, f"{_found_head(n)}:", text, n_right=n, n_answers=n, n_extra_names=extra
        )
    main = _main_cause(lost)
    main_losses = sorted(
        (loss for loss in lost if loss.cause == main),
        key=lambda loss: (loss.rank is None, loss.rank or 0, -(loss.hop or 0)),
    )
    # the cause in words may be more precise than that of the losses
    worded_cause, text = SENTENCES[main](_LossGroup(run, main_losses))
    head = CAUSE_WORDINGS[worded_cause].head.format(hop=main_losses[0].hop)
    other_losses = tuple(loss for loss in lost if loss.cause != main)
    return LaneExplanation(
        main_losses[0].stage,
        f"{head}:",
        capitalised(text),
        n_right=len(answers) - len(lost),
        n_answers=len(answers),
        losses=(*main_losses, *other_losses),
        n_extra_names=extra,
        cause=worded_cause,
    )


def _main_cause(lost: Sequence[Loss]) -> Cause:
    """Return the most frequent cause.

    Ties go to the earliest stage, then to the best rank.
    """
    causes, stages = Counter(loss.cause for loss in lost), GraphSource.stages
    return min(
        lost, key=lambda loss: (-causes[loss.cause], stages.index(loss.stage), loss.rank or 0)
    ).cause


def _count_extra_names(run: LaneStages, answers: Sequence[str]) -> int:
    """Return how many names of the graph reader are no answers.

    The answers are the known ones. The result is 0 if the language model's answers count.
    """
    if run.by_model or run.state.reader is None:
        return 0
    known_nodes = set[int]().union(*map(run.answer_nodes, answers))
    return sum(node not in known_nodes for node in run.state.reader)


def _found_head(count: int) -> str:
    return "Found" if count == 1 else capitalised(f"{all_words(count)} found")


def _best_path_text(run: LaneStages) -> str:
    """Describe the path that the answer follows, for a question without known answers."""
    if run.state.paths is None:
        return "It answers without paths."
    if run.answer_path is None or not len(run.answer_path):
        return "No path was found."
    words = _chain_text(run, run.path_chain(run.answer_path))
    chain_count = _count_chains(run)
    if chain_count:
        return f"“{words}” ranked first of {chain_count:,} relation sequences."
    return f"Its answer is at the end of “{words}”."


def _success_text(run: LaneStages, answers: Sequence[str], extra: int) -> str:
    """Describe the paths that led to all known answers."""
    it = "it" if len(answers) == 1 else "them"
    if run.state.paths is None:
        return f"The model named {it} without any facts."
    extra_sentence = (
        f" Beside {it}, {count_noun(extra, 'other name')} {is_or_are(extra)} given."
        if extra
        else ""
    )
    chain_count = _count_chains(run)
    if chain_count and run.answer_path is not None:
        words = _chain_text(run, run.path_chain(run.answer_path))
        return f"“{words}” ranked first of {chain_count:,} relation sequences.{extra_sentence}"
    items = run.state.paths.items
    targets = [run.answer_nodes(answer) for answer in answers]
    ranks = [  # of the first path to each answer
        next((rank for rank, path in enumerate(items, 1) if path.end in nodes), None)
        for nodes in targets
    ]
    known_ranks = [rank for rank in ranks if rank is not None]
    if len(known_ranks) < len(ranks):
        return f"The model named {it}, though not every path to {it} was kept."
    last, total = max(known_ranks), len(items)
    if len(answers) == 1:
        if total == 1:
            rank_clause = "is at the end of the only path"
        else:
            rank_clause = f"ranked {ordinal(last)} of {total:,} paths"
        return f"{answers[0]} {rank_clause}.{extra_sentence}"
    return (
        f"The first {last:,} of {count_noun(total, 'path')} lead to {all_words(len(answers))}."
        + extra_sentence
    )


def _count_chains(run: LaneStages) -> int | None:
    """Return the number of ranked relation chains; None for a method that ranks none."""
    return next((step.sizes["chains"] for step in run.state.trace if "chains" in step.sizes), None)


def _chain_text(run: LaneStages, chain: Chain) -> str:
    """Return relations in the graph's everyday words, if it has some for them."""
    return chain_words(list(chain), relation_table(run.graph.name))


class _LossGroup:
    """Losses of one cause, the best ranked first, with the words that sentences need."""

    def __init__(self, run: LaneStages, losses: Sequence[Loss]):
        self.run = run
        self.losses = losses
        self.first = losses[0]
        self.names = list_names([loss.name for loss in losses])
        self.n_more = len(losses) - 1  # losses after the first
        self.is_or_are = is_or_are(len(losses))
        self.it_or_them = "it" if len(losses) == 1 else "them"

    @property
    def operator_title(self) -> str:
        """The title of the operator that decided."""
        if self.first.step is None:
            return "the search"
        return "the filter" if self.is_filter else step_title(self.first.step)

    @property
    def is_filter(self) -> bool:
        """True if a filter of the subgraph decided."""
        return self.first.step is not None and self.first.step.stage == "filter"

    def quote_chain(self, chain: Chain) -> str:
        """Return relations in words, in quotes."""
        return f"“{_chain_text(self.run, chain)}”"

    def parameter(self, name: str):
        """Return a parameter of the operator that decided.

        The result is None if it has no such parameter.
        """
        return self.first.step.parameters.get(name) if self.first.step is not None else None

    @property
    def rank_clause(self) -> str:
        """The first answer's rank, and the number of others, in words.

        The others are further answers with the same cause.
        """
        rank = ordinal(required_figure(self.first.rank))
        more = f", {number_words(self.n_more)} more after it" if self.n_more else ""
        return f"{self.first.name} ranked {rank} of {self.first.n_candidates:,}{more}"


# Each function below returns the cause as the sentence puts it, and the sentence, which continues
# the head of that cause.
def _explain_not_in_graph(group: _LossGroup) -> tuple[Cause, str]:
    names = [f"“{loss.name}”" for loss in group.losses[:2]]
    if group.n_more > 1:
        names.append(f"{number_words(group.n_more - 1)} more")
    return Cause.NOT_IN_GRAPH, f"no entity is called {' or '.join(names)}."


def _explain_not_shown(group: _LossGroup) -> tuple[Cause, str]:
    if group.run.by_model:
        return Cause.NOT_SHOWN, f"the model was shown no facts and did not name {group.names}."
    return Cause.NOT_SOUGHT, "no path was sought, and no model answered."


def _explain_left_out(group: _LossGroup) -> tuple[Cause, str]:
    loss, limit = group.first, group.first.n_retained or 0
    on_the_way = loss.missing_name != loss.name
    what = f"{loss.missing_name}, on the way to {group.names}," if on_the_way else group.names
    is_ = "is" if on_the_way else group.is_or_are
    hops = group.parameter("hops")
    walks = group.parameter("walks")
    if walks:
        text = f"{count_noun(walks, 'random walk')} never came to {what.rstrip(',')}."
        return Cause.LEFT_OUT, text
    if hops is not None and group.parameter("matches") is None and limit < group.parameter("keep"):
        return Cause.TOO_FAR, f"{what} {is_} more than {count_noun(hops, 'hop')} away."
    phrase = Cause.FILTERED if group.is_filter else Cause.LEFT_OUT
    it = loss.missing_name if group.n_more and not on_the_way else "it"
    rank_clause = f": {it} ranked {ordinal(loss.rank)}" if loss.rank else ""
    return (
        phrase,
        f"{what} {is_} not among the {count_noun(limit, 'node')} that {group.operator_title} "
        f"keeps{rank_clause}.",
    )


def _explain_edge_left_out(group: _LossGroup) -> tuple[Cause, str]:
    relation = group.quote_chain(((group.first.missing_name, True),))
    return (
        Cause.FILTERED if group.is_filter else Cause.EDGE_LEFT_OUT,
        f"{group.operator_title} leaves out a {relation} edge on the way to {group.names}.",
    )


def _explain_too_far(group: _LossGroup) -> tuple[Cause, str]:
    distance, limit = required_figure(group.first.hop), required_figure(group.first.n_retained)
    away = f"{group.names} {group.is_or_are} {count_noun(distance, 'hop')} away"
    return Cause.TOO_FAR, f"{away}, {limit} {is_or_are(limit)} searched."


def _explain_no_way(group: _LossGroup) -> tuple[Cause, str]:
    return Cause.NO_WAY, f"no path inside the subgraph leads to {group.names}."


def _explain_one_way(group: _LossGroup) -> tuple[Cause, str]:
    return (
        Cause.ONE_WAY,
        f"edges are followed one way only, and the way to {group.names} needs the other.",
    )


def _explain_beam(group: _LossGroup) -> tuple[Cause, str]:
    loss = group.first
    path = f"{group.quote_chain(loss.chain)} to {loss.missing_name}"
    if loss.rank is None:
        return (
            Cause.BEAM,
            f"the model did not choose {path} among "
            f"{count_noun(required_figure(loss.n_candidates), 'path')}.",
        )
    count = required_figure(loss.n_retained)
    limit = f"only {count:,} {is_or_are(count)} kept"
    return Cause.BEAM, f"{path} ranked {ordinal(loss.rank)} of {loss.n_candidates:,}; {limit}."


def _explain_not_tried(group: _LossGroup) -> tuple[Cause, str]:
    loss, fanout = group.first, group.parameter("fanout")
    hop = f"{group.quote_chain(loss.chain[-1:])} to {loss.missing_name}"
    read, recall = group.parameter("read"), group.parameter("recall")
    limit = ""
    if fanout:
        hops_tried = f"{count_noun(fanout, 'hop')} {is_or_are(fanout)} tried"
        limit = f"from {loss.start} only the first {hops_tried}"
    if read or (recall or 1) < 1:
        some = f"at most {read:,}" if read else "only the most promising"
        candidates = count_noun(required_figure(loss.n_candidates), "candidate")
        first = f"{limit}, and " if fanout else ""
        return Cause.NOT_TRIED, f"{first}the model read {some} of {candidates}, not {hop}."
    if fanout:
        return Cause.NOT_TRIED, f"{limit}, not {hop}."
    return Cause.NOT_TRIED, f"{hop} is not among the hops from {loss.start} that were tried."


def _explain_other_relations(group: _LossGroup) -> tuple[Cause, str]:
    loss = group.first
    walked = f"it walked {group.quote_chain(loss.followed_chain)}"
    if loss.chain and loss.followed_chain:
        text = f"{walked}; the way to {group.names} is {group.quote_chain(loss.chain)}."
    elif loss.followed_chain:
        text = f"{walked}, which does not lead to {group.names}."
    else:
        text = f"nothing that it walked leads to {group.names}."
    return Cause.OTHER_RELATIONS, text


def _explain_not_read(group: _LossGroup) -> tuple[Cause, str]:
    return Cause.NOT_READ, _picked_sentence(group, "read")


def _explain_outranked(group: _LossGroup) -> tuple[Cause, str]:
    loss, limit = group.first, required_figure(group.first.n_retained)
    assert loss.step is not None and loss.step.before_cut is not None  # OUTRANKED has an order
    if loss.step.before_cut.scores is None and group.parameter("model") is None:
        return Cause.NOT_DRAWN, _picked_sentence(group, "drawn")
    return Cause.OUTRANKED, f"{group.rank_clause}; only {limit:,} {is_or_are(limit)} kept."


def _explain_not_chosen(group: _LossGroup) -> tuple[Cause, str]:
    return Cause.NOT_CHOSEN, _picked_sentence(group, "chosen")


def _explain_not_handed_on(group: _LossGroup) -> tuple[Cause, str]:
    return (
        Cause.NOT_HANDED_ON,
        f"a path to {group.names} was seen, but {group.operator_title} handed nothing on.",
    )


def _picked_sentence(group: _LossGroup, how: str) -> str:
    """Return a sentence on paths that a step picked. `how` is read, drawn or chosen."""
    count = group.first.n_retained
    paths = count_noun(required_figure(group.first.n_candidates), "path")
    was, they_do = ("was", "it does") if count == 1 else ("were", "they do")
    return f"of {paths} {count:,} {was} {how}, and {they_do} not lead to {group.names}."


def _explain_no_room(group: _LossGroup) -> tuple[Cause, str]:
    limit = required_figure(group.first.n_retained)
    return Cause.NO_ROOM, f"{group.rank_clause}; the model reads only the top {limit:,}."


def _explain_on_the_way(group: _LossGroup) -> tuple[Cause, str]:
    where = "on paths but not at their ends" if group.n_more else "on a path but not at its end"
    return Cause.ON_THE_WAY, f"{group.names} {group.is_or_are} {where}."


def _explain_not_named(group: _LossGroup) -> tuple[Cause, str]:
    limit = required_figure(group.first.n_retained)
    stops = "the reader names nothing"
    if limit:
        stops = f"the reader stops at {count_noun(limit, 'name')}"
    chain = group.quote_chain(group.first.chain)
    return Cause.NOT_NAMED, f"{group.names} {group.is_or_are} at the end of {chain}, but {stops}."


def _explain_not_followed(group: _LossGroup) -> tuple[Cause, str]:
    loss = group.first
    rank_clause = f"rank {loss.rank:,} of {loss.n_candidates:,}"
    leads = f"{group.quote_chain(loss.chain)}, {rank_clause}, leads to {group.names}"
    followed = group.quote_chain(loss.followed_chain)
    return Cause.NOT_FOLLOWED, f"its answer follows {followed}; {leads}."


def _explain_not_said(group: _LossGroup) -> tuple[Cause, str]:
    loss = group.first
    was = "were in the prompt"
    if not group.n_more:
        was = f"was in the prompt (path {loss.rank:,} of {loss.n_candidates:,})"
    return Cause.NOT_SAID, f"{group.names} {was}, but the model did not name {group.it_or_them}."


def _explain_not_reached(group: _LossGroup) -> tuple[Cause, str]:
    return Cause.NOT_REACHED, f"{group.operator_title} did not reach {group.names}."


# By cause of the losses, the function that explains them.
SENTENCES = {
    Cause.NOT_IN_GRAPH: _explain_not_in_graph,
    Cause.NOT_SHOWN: _explain_not_shown,
    Cause.LEFT_OUT: _explain_left_out,
    Cause.EDGE_LEFT_OUT: _explain_edge_left_out,
    Cause.TOO_FAR: _explain_too_far,
    Cause.NO_WAY: _explain_no_way,
    Cause.ONE_WAY: _explain_one_way,
    Cause.BEAM: _explain_beam,
    Cause.NOT_TRIED: _explain_not_tried,
    Cause.OTHER_RELATIONS: _explain_other_relations,
    Cause.NOT_READ: _explain_not_read,
    Cause.OUTRANKED: _explain_outranked,
    Cause.NOT_CHOSEN: _explain_not_chosen,
    Cause.NOT_HANDED_ON: _explain_not_handed_on,
    Cause.NO_ROOM: _explain_no_room,
    Cause.NOT_FOLLOWED: _explain_not_followed,
    Cause.NOT_NAMED: _explain_not_named,
    Cause.ON_THE_WAY: _explain_on_the_way,
    Cause.NOT_SAID: _explain_not_said,
    Cause.NOT_REACHED: _explain_not_reached,
}
