"""Proposals that may make a line find more known answers.

Each changes one operator of a line. They are for lines that search paths in a graph of triples, and
depend on the cause of the losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.diagnosis.causes import Cause, Loss, required_figure
from core.diagnosis.changes.size_advice import advise_subgraph_size
from core.diagnosis.changes.trials import LineChange, change_values, distinct_changes
from core.diagnosis.wording import count_noun
from core.indexes.chains import is_chain_index_ready
from core.operators import ChainRanking, PersonalizedPageRank
from core.operators.base import Line
from core.operators.branch import Branch
from core.operators.refine import reads_part
from core.parameters import parameter_values, parameters
from core.sources import SourceQuestion

MAX_SEARCH_HOPS = 8  # the most hops that a change searches
RETAINED_PATH_COUNTS = (64, 128, 256, 512)  # values of `keep` that are proposed for paths
BEAM_FACTORS = (2, 4)  # factors by which a beam is widened
ProposedValues = tuple[str, dict[str, Any]]  # a description, and new parameter values


def changes(
    ask: SourceQuestion, line: Line, losses: Sequence[Loss], models
) -> Iterator[LineChange]:
    """Yield changes that may help against losses, the best first.

    First come the changes that the cause suggests, then the advised subgraph size, then relation
    chains instead of the search, if they are prepared. A wider beam costs most and comes last. A
    line with branches has no changes.

    Parameters
    ----------
    ask : the question and its graph.
    line : the line of the lane.
    losses : the known answers that the lane lost, those of the main cause first; not empty.
    """
    if any(isinstance(operator, Branch) for operator in line):
        return
    yield from distinct_changes(
        line,
        (
            *_changes_by_cause(line, losses),
            *_advise_size(ask, line),
            *_use_relation_chains(ask, line, models),
            *_widen_beams(line, losses),
        ),
    )


def _changes_by_cause(line: Line, losses: Sequence[Loss]) -> Iterator[LineChange]:
    """Yield the changes that the cause of the first loss suggests."""
    cause = losses[0].cause
    same_cause = [loss for loss in losses if loss.cause == cause]
    for position, operator in enumerate(line):
        parameter_names = {parameter.name for parameter in parameters(type(operator))}
        for propose in PROPOSALS_BY_CAUSE.get(cause, ()):
            for words, changed in propose(operator, parameter_names, same_cause):
                yield from change_values(position, operator, words, **changed)


# The functions below have the same parameters: an operator of the line, the names of its
# parameters, and the losses of the cause. They yield nothing for an operator that they cannot
# change.
def _keep_paths(
    operator: Any, parameter_names: set[str], losses: Sequence[Loss]
) -> Iterator[ProposedValues]:
    if operator.stage == "refine" and "keep" in parameter_names:
        worst_rank = max(required_figure(loss.rank) for loss in losses)
        needed = max(operator.keep + 1, worst_rank)
        larger_counts = [count for count in RETAINED_PATH_COUNTS if count >= needed]
        if larger_counts:
            yield f"Keep {count_noun(larger_counts[0], 'path')}", {"keep": larger_counts[0]}


def _read_all(
    operator: Any, parameter_names: set[str], losses: Sequence[Loss]
) -> Iterator[ProposedValues]:
    if reads_part(parameter_values(operator)):
        yield "Read all", {"read": 0, "recall": 1.0}


def _try_every_step(
    operator: Any, parameter_names: set[str], losses: Sequence[Loss]
) -> Iterator[ProposedValues]:
    if "fanout" in parameter_names and operator.fanout:
        yield "Try every hop", {"fanout": 0}


def _search_further(
    operator: Any, parameter_names: set[str], losses: Sequence[Loss]
) -> Iterator[ProposedValues]:
    if operator.stage == "retrieve" and "hops" in parameter_names:
        hops = max(required_figure(loss.hop) for loss in losses)
        if hops <= MAX_SEARCH_HOPS:
            yield f"Search {count_noun(hops, 'hop')}", {"hops": hops}


def _follow_both_ways(
    operator: Any, parameter_names: set[str], losses: Sequence[Loss]
) -> Iterator[ProposedValues]:
    if "direction" in parameter_names and operator.stage in ("extract", "retrieve"):
        yield "Follow edges both ways", {"direction": "both"}


def _filter_less(
    operator: Any, parameter_names: set[str], losses: Sequence[Loss]
) -> Iterator[ProposedValues]:
    if operator.stage == "filter":
        keep = 2 * operator.keep
        yield f"Keep {count_noun(keep, operator.unit)}", {"keep": keep}


def _extract_more(
    operator: Any, parameter_names: set[str], losses: Sequence[Loss]
) -> Iterator[ProposedValues]:
    if operator.stage != "extract":
        return
    settings = parameter_values(operator)
    if "hops" in parameter_names and settings["hops"] < MAX_SEARCH_HOPS:
        hops = settings["hops"] + 1
        yield f"Take {count_noun(hops, 'hop')} around", {"hops": hops}
    elif "walks" in parameter_names:
        walks = 4 * settings["walks"]
        yield f"Walk {walks:,} times", {"walks": walks}
    elif "keep" in parameter_names:
        for times in (2, 5):
            keep = times * settings["keep"]
            yield f"Keep {count_noun(keep, 'node')}", {"keep": keep}


# By cause of the losses, the functions that propose changes against it.
PROPOSALS_BY_CAUSE: dict[Cause, tuple[Callable[..., Iterator[ProposedValues]], ...]] = {
    Cause.OUTRANKED: (_keep_paths,),
    Cause.NOT_READ: (_read_all,),
    Cause.NOT_TRIED: (_read_all, _try_every_step),
    Cause.TOO_FAR: (_search_further,),
    Cause.ONE_WAY: (_follow_both_ways,),
    Cause.LEFT_OUT: (_extract_more, _filter_less),
    Cause.EDGE_LEFT_OUT: (_filter_less,),
}


def _widen_beams(line: Line, losses: Sequence[Loss]) -> Iterator[LineChange]:
    """Yield a wider beam against losses by a beam."""
    if losses[0].cause not in (Cause.BEAM, Cause.NOT_TRIED):
        return
    for position, operator in enumerate(line):
        if hasattr(operator, "width"):
            for width in (times * operator.width for times in BEAM_FACTORS):
                yield from change_values(
                    position, operator, f"Widen the beam to {width:,}", width=width
                )


def _advise_size(ask: SourceQuestion, line: Line) -> Iterator[LineChange]:
    """Yield the subgraph size advised for the question."""
    for position, operator in enumerate(line):
        if isinstance(operator, PersonalizedPageRank):
            keep = advise_subgraph_size(ask.source.graph, ask.question, ask.seeds).keep
            yield from change_values(
                position, operator, f"Keep {count_noun(keep, 'node')}", keep=keep
            )


def _use_relation_chains(ask: SourceQuestion, line: Line, models) -> Iterator[LineChange]:
    """Yield relation chains instead of the search for paths."""
    chains = ChainRanking()
    if not is_chain_index_ready(
        ask.source.graph, models.encoder(chains.encoder), chains.steps, chains.direction
    ):
        return
    for position, operator in enumerate(line):
        if (
            operator.stage == "retrieve"
            and "paths" in operator.writes
            and not isinstance(operator, ChainRanking)
        ):
            yield LineChange(position, chains, "Follow relation chains")
