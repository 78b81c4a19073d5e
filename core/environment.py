"""Environment of a run: its models, clock and other resources outside graph and question."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import BadInput
from core.models.base import Models
from core.types import Question


def no_solved_questions(digest: str) -> Sequence[Question]:
    """Default of `Environment.solved_questions`: no question was solved."""
    return ()


def refuse_build(corpus: Any, build: str, *_: Any) -> Any:
    """Default of `Environment.open_build`: there is no corpus, so it raises BadInput."""
    raise BadInput("There is no corpus here to stand on.")


@dataclass(frozen=True)
class Environment:
    """Resources of a run, made by its caller and passed down to all operators.

    No operator opens resources of its own. Data derived from a graph is cached on the graph
    (`core.runtime.derived_values`).

    Attributes
    ----------
    models : encoders, rerankers and language models.
    solved_questions : `solved_questions(digest)` returns the questions that the user has solved on
        the graph of that digest.
    open_build : `open_build(corpus, build, watch, make)` returns the graph that a build made of a
        corpus. If the graph is not built, it is built if `make` is true and that is quick; else
        StoreError is raised (see `core.comparison.built_graphs`).
    start_encoding : `start_encoding(graph, encoder, item_kind)` returns the job that
        encodes the items in the background. If it is None, a caller waits for all vectors.
    clock : returns seconds since an arbitrary moment; only differences have a meaning.
    """

    models: Models
    solved_questions: Callable[[str], Sequence[Question]] = no_solved_questions
    open_build: Callable[..., Any] = refuse_build
    start_encoding: Callable[..., Any] | None = None
    clock: Callable[[], float] = time.perf_counter
