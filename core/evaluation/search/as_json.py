"""A search and what it found as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.evaluation.search.points import Point, front
from core.evaluation.search.verdict import POINTS, SearchPlan, SearchVerdict


def search_dict(planned: SearchPlan, points: Sequence[Point], verdict: SearchVerdict | None) -> dict[str, Any]:
    """Everything as plain data."""
    config, best = planned.search.config, {point.number for point in front(tuple(points))}
    found = {
        "set": config.tuning.set,
        "sample": len(config.tuning.drawn),
        "seed": config.tuning.seed,
        "metric": config.quality,
        "budget": {config.cost: config.budget},
        "trials": [_point(point) | {"front": point.number in best} for point in points],
        "front": [point.number for point in front(tuple(points))],
    }
    if config.asks:
        found["calls"] = {"made": planned.search.calls(), "allowed": config.calls}
    if verdict is None:
        why = planned.unjudged(front(tuple(points))[:POINTS])
        return found | ({"unjudged": why} if why else {})
    published = {key: {name: asdict(one) for name, one in row.items()} for key, row in verdict.figures.items()}
    against = [
        {
            "number": one.point.number,
            "beats": one.better,
            "words": verdict.words(one),
            "figures": {name: asdict(estimate) for name, estimate in one.figures.items()},
            "quality": asdict(one.quality),
            "cost": asdict(one.cost),
        }
        for one in verdict.against
    ]
    unseen = {"set": planned.on_unseen.set, "sample": verdict.questions, "run": verdict.run, "best_published": verdict.best.id}
    unseen["failed"] = list(verdict.failed)
    return found | {"unseen": {**unseen, "published": published, "found": against}}


def _point(point: Point) -> dict[str, Any]:
    return {"number": point.number, "line": repr(point.line), "words": point.line.words(), **asdict(point.tried)}
