"""Graphs that are built again for the repeats of an evaluation.

A graph of documents is built again by the same build with another seed in the operators whose
results vary by chance: they draw clusters or communities, or ask a language model that samples. All
others give the same again, so a build without such an operator is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from core.builds import GraphBuild, build_for, build_status, find_build, run_build
from core.builds.base import BuildLine, SampledOperator
from core.comparison.lane_run import build_of
from core.errors import BadInput
from core.evaluation.runs.chance import Chance, chance_of_model, repeat_seed
from core.evaluation.runs.plan import Plan
from core.methods.catalogue import Method
from core.models.base import Models
from core.operators.texts.built_graph import BuiltGraph
from core.sources import CorpusSource
from core.watch import Watch


def chance_of_build(line: BuildLine, models: Models) -> dict[str, tuple[Chance, ...]]:
    """Return the sources of chance in a build, by the name of the operator.

    Operators that would give the same again are left out.
    """
    sources: dict[str, tuple[Chance, ...]] = {}
    for operator in line:
        if isinstance(operator, SampledOperator):
            drawn = [Chance(operator.title)] if operator.draws else []
            asked = [
                chance_of_model(models, name, True, operator.temperature)
                for name in operator.chat_models()
            ]
            found = tuple([*drawn, *filter(None, asked)])
            if found:
                sources[type(operator).__name__] = found
    return sources


def with_rebuilds(plan: Plan, models: Models) -> Plan:
    """Return the plan with the builds that are repeated with it (`Plan.rebuilt`).

    Raises BadInput if the questions are not all on one corpus, or if no method has a graph that
    would come out otherwise.
    """
    corpus = _corpus(plan)
    rebuilt = []
    for method in plan.methods:
        if spec := build_of(method.line):
            line = build_for(corpus, spec).line
            if names := chance_of_build(line, models):
                rebuilt.append((method.id, repr(line), ",".join(names)))
    if not rebuilt:
        raise BadInput(
            "No graph of these methods would be built otherwise: nothing in their builds is drawn "
            "or sampled. Leave out building them again."
        )
    return replace(plan, rebuilt=tuple(rebuilt))


def rebuild_words(plan: Plan) -> dict[str, str]:
    """Return in words what varies in the graphs of the plan's methods, by the method's id."""
    words = {}
    for method, text, names in plan.rebuilt:
        steps = [step.title for step in find_build(text).line if _is_among(step, names)]
        words[method] = f"its graph, built again ({', '.join(steps)})"
    return words


def on_rebuilt_graph(plan: Plan, method: Method, number: int) -> Method:
    """Return a method as a repeat runs it: on its graph built again, if it has one."""
    build = _build_of_repeat(plan, method, number)
    if build is None:
        return method
    return replace(method, line=method.line.map_operators(partial(_on_build, build.id)))


def build_again(plan: Plan, numbers: Iterable[int], models: Models, watch: Watch) -> None:
    """Build the graphs of some repeats of a plan, unless they are up to date.

    They stay among the graphs of the corpus. Raises as `core.builds.run_build`.

    Parameters
    ----------
    plan : the plan.
    numbers : numbers of the repeats; others than those of the plan are left out.
    models : the registry of models.
    watch : receives the progress and may raise RunCancelled.
    """
    for number in filter(range(1, plan.repeats).__contains__, numbers):
        for method in plan.methods:
            build = _build_of_repeat(plan, method, number)
            if build is not None and not build_status(_corpus(plan), build).is_current:
                title = f"Building the graph of {method.label} again, repeat {number}"
                run_build(_corpus(plan), build, models, watch.titled(title))


def asks_model_again(plan: Plan) -> bool:
    """Return whether a language model is asked while graphs are built again."""
    return any(build.line.uses_chat_model for build in _repeated_builds(plan))


def chance_of_graphs(plan: Plan, models: Models) -> tuple[Chance, ...]:
    """Return the sources of chance in the graphs that are built again for the plan's methods."""
    sources = (chance_of_build(build.line, models).values() for build in _repeated_builds(plan))
    return tuple(chain.from_iterable(chain.from_iterable(sources)))


def _repeated_builds(plan: Plan) -> list[GraphBuild]:
    ids = [method.id for method in plan.methods]
    return [find_build(line) for method, line, _ in plan.rebuilt if method in ids]


def _corpus(plan: Plan) -> Any:
    sources = {drawn.source for drawn in plan.drawn}
    source = sources.pop()
    if sources or not isinstance(source, CorpusSource):
        raise BadInput("Graphs are built again only for questions on the documents of one corpus.")
    return source.documents


def _build_of_repeat(plan: Plan, method: Method, number: int) -> GraphBuild | None:
    """Return the build of a method's graph in a repeat, None if it is not built again."""
    for id, text, names in plan.rebuilt:
        if id == method.id:
            change = partial(_reseeded, names, number)
            return find_build(repr(find_build(text).line.map_operators(change)))
    return None


def _reseeded(names: str, number: int, operator: Any) -> Any:
    if not _is_among(operator, names):
        return operator
    return replace(operator, seed=repeat_seed(operator.seed, number))


def _is_among(operator: Any, names: str) -> bool:
    return isinstance(operator, SampledOperator) and type(operator).__name__ in names.split(",")


def _on_build(build: str, operator: Any) -> Any:
    return replace(operator, build=build) if isinstance(operator, BuiltGraph) else operator
