"""Comparisons of PageRank methods on a graph: what was asked for, what came out, and the last ones kept beside the graph."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets import questions
from core.errors import BadInput, damage
from core.evaluation.pagerank.trials import MethodRow, compare_methods
from core.evaluation.runs.plan import sample
from core.graph.names.lookup import names
from core.graph.storage.opening import needs_subprocess, open_same
from core.graph.store import Graph
from core.indexes.place import index_folder, keep
from core.io import digests
from core.io.durations import with_time_left
from core.io.plain import from_plain, to_plain
from core.runtime.subprocess_worker import in_subprocess
from core.types import Question
from core.watch import NO_WATCH, Watch

FILE, HISTORY, VERSION = "pageranks.json", 10, 1
RANDOM = ""  # in the place of a question set: entities drawn at random


@dataclass(frozen=True)
class MethodConfig:
    """What is compared: methods by name, on a question set or `RANDOM` entities and how many of them, with which parameters of
    PageRank; `recall` is what the methods aim at that can be asked for it."""

    methods: tuple[str, ...]
    source: str = RANDOM
    count: int = 20
    keep: int = 1000
    damping: float = 0.8
    direction: str = "graph"
    recall: float = 0.97
    seed: int = 0


@dataclass(frozen=True)
class MethodComparison:
    """A finished comparison, and when it ended, in seconds since 1970."""

    config: MethodConfig
    rows: tuple[MethodRow, ...]
    when: float


def compare(graph: Graph, config: MethodConfig, watch: Watch = NO_WATCH) -> MethodComparison:
    """Measure and keep; a large graph is measured on in a process of its own, so that a cancel takes effect at once and nothing
    else is held up. Raises BadInput where there is nothing to measure with, HopscopeError for what goes wrong in that process,
    StoreError, and what `watch` raises."""
    if not config.methods:
        raise BadInput("Choose at least one method.")
    watch.report("Getting the methods ready")
    if needs_subprocess(graph):
        rows = in_subprocess(_measured, graph.folder, graph.digest, config, watch=watch)
    else:
        rows = measure(graph, config, watch)
    done = MethodComparison(config, tuple(rows), time.time())
    stored = [_saved(one) for one in (done, *saved_comparisons(graph))[:HISTORY]]
    text = json.dumps(
        digests.marked({"version": VERSION, "comparisons": stored}), ensure_ascii=False
    )
    keep(index_folder(graph) / FILE, lambda stream: stream.write(text.encode()))
    return done


def measure(graph: Graph, config: MethodConfig, watch: Watch = NO_WATCH) -> list[MethodRow]:
    """A row for each method that is asked for. Raises BadInput, and what `watch` raises."""
    drawn = starts(graph, config)
    if not drawn:
        raise BadInput(
            "None of the questions names an entity of this graph; choose another set, or random entities."
        )
    watch = with_time_left(watch)
    return compare_methods(
        graph,
        config.methods,
        drawn,
        config.keep,
        config.damping,
        config.direction,
        config.recall,
        watch,
    )


def _measured(
    folder: Path, digest: str, config: MethodConfig, watch: Watch = NO_WATCH
) -> list[MethodRow]:
    """`measure`, on a graph that is opened first."""
    graph = open_same(folder, digest)
    assert isinstance(graph, Graph)  # no other is measured apart
    return measure(graph, config, watch)


def starts(graph: Graph, config: MethodConfig) -> list[Question | tuple[int, ...]]:
    """The questions whose entities the graph has, or single nodes drawn at random; the same for the same seed. Raises BadInput
    for an unknown set."""
    if config.source == RANDOM:
        drawn = np.random.default_rng(config.seed).choice(
            graph.n_nodes, min(config.count, graph.n_nodes), replace=False
        )
        return [(int(node),) for node in drawn]
    known = names(graph)
    asked = sample(questions(config.source), config.count, config.seed)
    return [
        question
        for question in asked
        if question.entities and all(known.exact(entity) for entity in question.entities)
    ]


def saved_comparisons(graph: Graph) -> list[MethodComparison]:
    """The comparisons that are kept for a graph, the newest first. Raises StoreError where they cannot be read."""
    file = index_folder(graph) / FILE
    try:
        saved = digests.check_marked(json.loads(file.read_text("utf-8")))
        if saved["version"] != VERSION:
            return []
        fit = {
            field.name for field in fields(MethodRow)
        }  # what was measured before there was as much to tell is let go
        return [
            _comparison(one)
            for one in saved["comparisons"]
            if all(row.keys() | {"ran"} == fit for row in one["rows"])
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        instead = "delete that file to begin anew"
        raise damage(f"The comparisons in {file} are", error, instead) from None


def _saved(one: MethodComparison) -> dict[str, Any]:
    return {"wish": to_plain(one.config), "rows": list(map(to_plain, one.rows)), "when": one.when}


def _comparison(saved: dict[str, Any]) -> MethodComparison:
    rows = tuple(from_plain(MethodRow, row) for row in saved["rows"])
    return MethodComparison(from_plain(MethodConfig, saved["wish"]), rows, saved["when"])
