"""Changes of one step that may bring a lane on triples more of the known answers, by what lost them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.diagnosis.causes import Cause, Loss, figure
from core.diagnosis.repair.adviser import advise
from core.diagnosis.repair.trying import Change, new_ones, with_values
from core.diagnosis.wording import counted
from core.indexes.chains import at_hand
from core.operators import ChainRanking, PersonalizedPageRank
from core.operators.base import Line, Operator
from core.operators.branch import Branch
from core.operators.refine import reads_part
from core.parameters import parameters, values
from core.sources import Ask

FURTHER = 8  # the most hops that an operator searches
KEEPS = (64, 128, 256, 512)  # paths
WIDER = (2, 4)  # times as wide


def changes(ask: Ask, line: Line, losses: Sequence[Loss], models) -> Iterator[Change]:
    """What may help against these losses: what the loss names, the size that the question suggests, then relation chains, where
    they are prepared, in the place of the search; a wider beam, which costs most, last. None for a line with branches."""
    if any(isinstance(operator, Branch) for operator in line):
        return
    yield from new_ones(
        line,
        (
            *_against(line, losses),
            *_advised(ask, line),
            *_instead(ask, line, models),
            *_widened(line, losses),
        ),
    )


def _against(line: Line, losses: Sequence[Loss]) -> Iterator[Change]:
    """The changes that the commonest loss asks for."""
    cause, alike = losses[0].cause, [loss for loss in losses if loss.cause == losses[0].cause]
    for position, operator in enumerate(line):
        known = {parameter.name for parameter in parameters(type(operator))}
        searches = operator.stage == "retrieve" and "hops" in known
        if cause is Cause.OUTRANKED and operator.stage == "refine" and "keep" in known:
            last = max(figure(loss.place) for loss in alike)
            for keep in [keep for keep in KEEPS if keep > operator.keep and keep >= last][:1]:
                yield from with_values(
                    position, operator, f"Keep {counted(keep, 'path')}", keep=keep
                )
        if cause in (Cause.NOT_READ, Cause.NOT_TRIED) and reads_part(values(operator)):
            yield from with_values(position, operator, "Read all", read=0, recall=1.0)
        if cause is Cause.NOT_TRIED and "fanout" in known and operator.fanout:
            yield from with_values(position, operator, "Try every step", fanout=0)
        if (
            cause is Cause.TOO_FAR
            and searches
            and (far := max(figure(loss.hop) for loss in alike)) <= FURTHER
        ):
            yield from with_values(position, operator, f"Search {counted(far, 'hop')}", hops=far)
        if (
            cause is Cause.ONE_WAY
            and "direction" in known
            and operator.stage in ("extract", "retrieve")
        ):
            yield from with_values(position, operator, "Follow edges both ways", direction="both")
        if cause is Cause.LEFT_OUT and operator.stage == "extract":
            yield from _wider(position, operator, known)
        if cause in (Cause.LEFT_OUT, Cause.EDGE_LEFT_OUT) and operator.stage == "filter":
            keep = 2 * operator.keep
            yield from with_values(
                position, operator, f"Keep {counted(keep, operator.unit)}", keep=keep
            )


def _widened(line: Line, losses: Sequence[Loss]) -> Iterator[Change]:
    """A wider beam against what a beam lost."""
    for position, operator in enumerate(line):
        if losses[0].cause in (Cause.BEAM, Cause.NOT_TRIED) and hasattr(operator, "width"):
            for width in (times * operator.width for times in WIDER):
                yield from with_values(
                    position, operator, f"Widen the beam to {width:,}", width=width
                )


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
    if not at_hand(
        ask.source.graph, models.encoder(chains.encoder), chains.steps, chains.direction
    ):
        return
    for position, operator in enumerate(line):
        if (
            operator.stage == "retrieve"
            and "paths" in operator.writes
            and not isinstance(operator, ChainRanking)
        ):
            yield Change(position, chains, "Follow relation chains")
