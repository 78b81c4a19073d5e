"""On which graph of a corpus a lane stands, in words."""

from __future__ import annotations

from core.builds import standing
from core.comparison.comparing import Comparison, Lane
from core.comparison.run import build_of
from core.corpus import Corpus


def stands_on(comparison: Comparison, lane: Lane) -> str:
    """The title of the build that made the graph a lane on documents stands on; empty on triples, or where the line names none."""
    corpus, spec = comparison.ask.corpus, build_of(lane.instance.line)
    return standing(corpus, spec).title if isinstance(corpus, Corpus) and spec else lane.stands
