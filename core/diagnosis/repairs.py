"""Changes of one step that were tried on a lane's question and bring it more of the known answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from core.comparison.run import LaneRun, Layered, Prefixes
from core.diagnosis.adviser import advise
from core.diagnosis.causes import Cause
from core.diagnosis.explanation import Explained
from core.diagnosis.funnel import funnel, right
from core.diagnosis.losses import Loss, figure
from core.diagnosis.measure import PROMPT, READER
from core.diagnosis.trying import MOST_SECONDS, Change, best, changed_line, new_ones, ran, with_values
from core.diagnosis.wording import counted
from core.environment import Environment
from core.indexes.chains import at_hand
from core.operators import ChainRanking, PersonalizedPageRank
from core.operators.base import Line, Operator
from core.operators.branch import Branch
from core.parameters import parameters, values
from core.sources import Ask
from core.types import Repair, State

FURTHER = 8  # the most hops that an operator searches
KEEPS = (64, 128, 256, 512)  # paths
WIDER = (2, 4)  # times as wide


def repair(
    ask: Ask,
    line: Line,
    explanation: Explained,
    before: int | None,
    environment: Environment,
    prefixes: Prefixes,
    by_model: bool = False,
    check: Callable[[], None] = lambda: None,
    seconds: float = MOST_SECONDS,
) -> Repair | None:
    """The first change that brings all known answers, else the one that brings most; None where none was seen to help.

    `explanation` is that of the lane and `before` how many answers it `brought`, by what it is counted by: the graph reader names them, or,
    `by_model`, they are in the prompt, as a language model is not asked for what is only tried. A change has to bring more. At most six
    changes are tried in `seconds`, and none where a language model helps to retrieve. Raises what `check` raises.
    """
    if before is None or not explanation.losses:
        return None
    attempt = lambda change, checked: _tried(ask, line, change, environment, prefixes, checked, by_model)
    found = changes(ask, line, explanation.losses, environment.models)
    return best(found, before, attempt, check, seconds)


def brought(graph, state: State, answers: Sequence[str], by_model: bool) -> int | None:
    """How many known answers a run brings: those that the graph reader names, or those in the model's prompt; None without either."""
    if not by_model:
        return right(graph, state, answers, reader=True)
    return next((len(stage.alive) for stage in funnel(graph, state, answers, by_model) if stage.name == "prompt"), None)


def changes(ask: Ask, line: Line, losses: Sequence[Loss], models) -> Iterator[Change]:
    """What may help against these losses: what the loss names, the size that the question suggests, then relation chains, where
    they are prepared, in the place of the search; a wider beam, which costs most, last. None for a line with branches."""
    if any(isinstance(operator, Branch) for operator in line):
        return
    yield from new_ones(line, (*_against(line, losses), *_advised(ask, line), *_instead(ask, line, models), *_widened(line, losses)))


def _against(line: Line, losses: Sequence[Loss]) -> Iterator[Change]:
    """The changes that the commonest loss asks for."""
    cause, alike = losses[0].cause, [loss for loss in losses if loss.cause == losses[0].cause]
    for position, operator in enumerate(line):
        known = {parameter.name for parameter in parameters(type(operator))}
        searches = operator.stage == "retrieve" and "hops" in known
        if cause is Cause.OUTRANKED and operator.stage == "refine" and "keep" in known:
            last = max(figure(loss.place) for loss in alike)
            for keep in [keep for keep in KEEPS if keep > operator.keep and keep >= last][:1]:
                yield from with_values(position, operator, f"Keep {counted(keep, 'path')}", keep=keep)
        if cause is Cause.NOT_TRIED and "fanout" in known and operator.fanout:
            yield from with_values(position, operator, "Try every step", fanout=0)
        if cause is Cause.TOO_FAR and searches and (far := max(figure(loss.hop) for loss in alike)) <= FURTHER:
            yield from with_values(position, operator, f"Search {counted(far, 'hop')}", hops=far)
        if cause is Cause.ONE_WAY and "direction" in known and operator.stage in ("extract", "retrieve"):
            yield from with_values(position, operator, "Follow edges both ways", direction="both")
        if cause is Cause.LEFT_OUT and operator.stage == "extract":
            yield from _wider(position, operator, known)
        if cause in (Cause.LEFT_OUT, Cause.EDGE_LEFT_OUT) and operator.stage == "filter":
            keep = 2 * operator.keep
            yield from with_values(position, operator, f"Keep {counted(keep, operator.unit)}", keep=keep)


def _widened(line: Line, losses: Sequence[Loss]) -> Iterator[Change]:
    """A wider beam against what a beam lost."""
    for position, operator in enumerate(line):
        if losses[0].cause in (Cause.BEAM, Cause.NOT_TRIED) and hasattr(operator, "width"):
            for width in (times * operator.width for times in WIDER):
                yield from with_values(position, operator, f"Widen the beam to {width:,}", width=width)


def _wider(position: int, operator: Operator, known: set[str]) -> Iterator[Change]:
    """A larger subgraph."""
    now = values(operator)
    if "hops" in known and now["hops"] < FURTHER:
        hops = now["hops"] + 1
        yield from with_values(position, operator, f"Take {counted(hops, 'hop')} around", hops=hops)
    elif "walks" in known:
        walks = 4 * now["walks"]
        yield from with_values(position, operator, f"Walk {walks:,} times", walks=walks)
    elif "keep" in known:
        for times in (2, 5):
            keep = times * now["keep"]
            yield from with_values(position, operator, f"Keep {counted(keep, 'node')}", keep=keep)


def _advised(ask: Ask, line: Line) -> Iterator[Change]:
    """The subgraph of the size that the question suggests."""
    for position, operator in enumerate(line):
        if isinstance(operator, PersonalizedPageRank):
            keep = advise(ask.source.graph, ask.question, ask.seeds).keep
            yield from with_values(position, operator, f"Keep {counted(keep, 'node')}", keep=keep)


def _instead(ask: Ask, line: Line, models) -> Iterator[Change]:
    """Relation chains in the place of the search for paths."""
    chains = ChainRanking()
    if not at_hand(ask.source.graph, models.encoder(chains.encoder), chains.steps, chains.direction):
        return
    for position, operator in enumerate(line):
        if operator.stage == "retrieve" and "paths" in operator.writes and not isinstance(operator, ChainRanking):
            yield Change(position, chains, "Follow relation chains")


def _tried(
    ask: Ask, line: Line, change: Change, environment: Environment, prefixes: Prefixes, check: Callable[[], None], by_model: bool
) -> Repair | None:
    """What a change brings; None where it cannot be run, or not in time."""
    changed = changed_line(line, change)
    if changed is None:
        return None
    run = LaneRun(replace(ask, model=False, reader=True), changed, environment, Layered(prefixes))  # what is tried takes no room
    if not ran(run, check, answer=by_model):
        return None
    found, of = brought(ask.source.graph, run.state, ask.question.answers, by_model), len(set(ask.question.answers))
    by = f" {PROMPT if by_model else READER}" if ask.model else ""  # where both answer, a count says whose it is
    return None if found is None else Repair(repr(changed), f"{change.words} → {found:,} of {of:,}{by}", found, of)
