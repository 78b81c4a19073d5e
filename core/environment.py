"""What a run works with beside its graph and its question."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import BadInput
from core.models.base import Models
from core.types import Question


def none_solved(digest: str) -> Sequence[Question]:
    """Nobody has solved a question."""
    return ()


def none_built(corpus: Any, build: str, *_: Any) -> Any:
    """Nothing was built of any corpus."""
    raise BadInput("There is no corpus here to stand on.")


@dataclass(frozen=True)
class Environment:
    """Models, a person's own solved questions and a clock, made by whoever starts a run and handed down; nothing below looks for
    one of its own. What is derived from a graph is kept on the graph (`core.runtime.derived`).

    `solved(digest)` gives the questions that the person has solved on the graph of that digest; `built(corpus, build, watch, make)` the
    graph that a build made of a corpus, which raises StoreError where it is not built (see `core.comparison.built`); `encoding(graph,
    encoder, of)` the job that makes vectors in the background, None where whoever needs some waits for all; `clock()` seconds from any
    start.
    """

    models: Models
    solved: Callable[[str], Sequence[Question]] = none_solved
    built: Callable[..., Any] = none_built
    encoding: Callable[..., Any] | None = None
    clock: Callable[[], float] = time.perf_counter
