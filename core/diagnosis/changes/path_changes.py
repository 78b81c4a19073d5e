"""Changes of one step that may bring a lane on triples more of the known answers.

They depend on the cause of the losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.diagnosis.causes import Cause, Loss, figure
from core.diagnosis.changes.adviser import advise
from core.diagnosis.changes.trying import LineChange, new_ones, with_values
from core.diagnosis.wording import counted
from core.indexes.chains import at_hand
from core.operators import ChainRanking, PersonalizedPageRank
from core.operators.base import Line
from core.operators.branch import Branch
from core.operators.refine import reads_part
from core.parameters import parameters, values
from core.sources import Ask

FURTHER = 8  # the most hops that a change searches
KEEPS = (64, 128, 256, 512)  # numbers of paths that a change keeps
WIDER = (2, 4)  # factors by which a beam is widened
Values = tuple[str, dict[str, Any]]  # words, and parameter values of an operator


def changes(ask: Ask, line: Line, losses: Sequence[Loss], models) -> Iterator[LineChange]:
    """Yield changes that may help against some losses, in the order in which they should be tried.

    First come the changes that the cause suggests, then the advised subgraph size, then relation
    chains instead of the search, if they are prepared. A wider beam costs most and comes last. A
    line with branches has no changes.
    """
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


def _against(line: Line, losses: Sequence[Loss]) -> Iterator[LineChange]:
    """Yield the changes that the cause of the first loss suggests."""
    alike = [loss for loss in losses if loss.cause == losses[0].cause]
    for position, operator in enumerate(line):
        known = {parameter.name for parameter in parameters(type(operator))}
        for propose in AGAINST.get(alike[0].cause, ()):
            for words, changed in propose(operator, known, alike):
                yield from with_values(position, operator, words, **changed)


def _keep_paths(operator: Any, known: set[str], alike: Sequence[Loss]) -> Iterator[Values]:
    if operator.stage == "refine" and "keep" in known:
        last = max(figure(loss.place) for loss in alike)
        for keep in [keep for keep in KEEPS if keep > operator.keep and keep >= last][:1]:
            yield f"Keep {counted(keep, 'path')}", {"keep": keep}


def _read_all(operator: Any, known: set[str], alike: Sequence[Loss]) -> Iterator[Values]:
    if reads_part(values(operator)):
        yield "Read all", {"read": 0, "recall": 1.0}


def _try_every_step(operator: Any, known: set[str], alike: Sequence[Loss]) -> Iterator[Values]:
    if "fanout" in known and operator.fanout:
        yield "Try every step", {"fanout": 0}


def _search_further(operator: Any, known: set[str], alike: Sequence[Loss]) -> Iterator[Values]:
    if operator.stage == "retrieve" and "hops" in known:
        far = max(figure(loss.hop) for loss in alike)
        if far <= FURTHER:
            yield f"Search {counted(far, 'hop')}", {"hops": far}


def _both_ways(operator: Any, known: set[str], alike: Sequence[Loss]) -> Iterator[Values]:
    if "direction" in known and operator.stage in ("extract", "retrieve"):
        yield "Follow edges both ways", {"direction": "both"}


def _filter_less(operator: Any, known: set[str], alike: Sequence[Loss]) -> Iterator[Values]:
    if operator.stage == "filter":
        keep = 2 * operator.keep
        yield f"Keep {counted(keep, operator.unit)}", {"keep": keep}


def _extract_more(operator: Any, known: set[str], alike: Sequence[Loss]) -> Iterator[Values]:
    if operator.stage != "extract":
        return
    now = values(operator)
    if "hops" in known and now["hops"] < FURTHER:
        hops = now["hops"] + 1
        yield f"Take {counted(hops, 'hop')} around", {"hops": hops}
    elif "walks" in known:
        walks = 4 * now["walks"]
        yield f"Walk {walks:,} times", {"walks": walks}
    elif "keep" in known:
        for times in (2, 5):
            keep = times * now["keep"]
            yield f"Keep {counted(keep, 'node')}", {"keep": keep}


# Functions by cause that yield the changes that may help.
AGAINST: dict[Cause, tuple[Callable[..., Iterator[Values]], ...]] = {
    Cause.OUTRANKED: (_keep_paths,),
    Cause.NOT_READ: (_read_all,),
    Cause.NOT_TRIED: (_read_all, _try_every_step),
    Cause.TOO_FAR: (_search_further,),
    Cause.ONE_WAY: (_both_ways,),
    Cause.LEFT_OUT: (_extract_more, _filter_less),
    Cause.EDGE_LEFT_OUT: (_filter_less,),
}


def _widened(line: Line, losses: Sequence[Loss]) -> Iterator[LineChange]:
    """Yield a wider beam against losses by a beam."""
    for position, operator in enumerate(line):
        if losses[0].cause in (Cause.BEAM, Cause.NOT_TRIED) and hasattr(operator, "width"):
            for width in (times * operator.width for times in WIDER):
                yield from with_values(
                    position, operator, f"Widen the beam to {width:,}", width=width
                )


def _advised(ask: Ask, line: Line) -> Iterator[LineChange]:
    """Yield the subgraph size advised for the question."""
    for position, operator in enumerate(line):
        if isinstance(operator, PersonalizedPageRank):
            keep = advise(ask.source.graph, ask.question, ask.seeds).keep
            yield from with_values(position, operator, f"Keep {counted(keep, 'node')}", keep=keep)


def _instead(ask: Ask, line: Line, models) -> Iterator[LineChange]:
    """Yield relation chains instead of the search for paths."""
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
            yield LineChange(position, chains, "Follow relation chains")
