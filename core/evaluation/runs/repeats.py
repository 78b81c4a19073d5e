"""Repeats of the methods of a plan whose results vary by chance.

A repeat asks the same questions with another seed. It varies random draws, the order of drawn
items, and the replies of language models that sample. Graphs are built again only if that is asked
for (`core.evaluation.runs.rebuilt_graphs`). A judge's saved verdict on the same answer stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.comparison.lane_run import build_of
from core.errors import BadInput
from core.evaluation.runs.chance import Chance, chance_of_model, repeat_seed
from core.evaluation.runs.plan import Plan, models_used
from core.evaluation.runs.rebuilt_graphs import on_rebuilt_graph, rebuild_words, with_rebuilds
from core.methods.catalogue import Method
from core.models.base import Models
from core.operators.base import Operator
from core.parameters import parameter_values, parameters

MAX_RUNS = 100  # of each method
AA_RUNS = 2  # of the method of an A/A run


def chance_of(method: Method, models: Models, answers: bool) -> tuple[Chance, ...]:
    """Return the sources of chance in a method; none if a repeat would give the same.

    Parameters
    ----------
    method : the method.
    models : the registry of models.
    answers : True if language models are asked for answers.

    Returns
    -------
    The sources, each once. A language model counts if it is sampled at a temperature above 0, or
        if its server is not known to repeat itself with the same seed.
    """
    sources: list[Chance] = []
    for operator in method.line.parts():
        if operator.is_random:
            sources.append(Chance(f"the draws of {type(operator).__name__}"))
        elif not operator.is_reusable:
            sources.append(Chance("your own retriever", follows_seed=False))
        sources += _chance_of_models(operator, models, answers)
    return tuple(dict.fromkeys(sources))


def with_repeats(plan: Plan, runs: int, models: Models, rebuild: bool = False) -> Plan:
    """Return a plan in which each method with chance runs several times.

    Parameters
    ----------
    plan : the plan.
    runs : runs of each method, the first included; methods without chance run once.
    models : the registry of models.
    rebuild : True to build graphs again for each repeat, where their builds leave something to
        chance. Their methods then run several times too.

    Returns
    -------
    The plan. If no method has chance it is the same plan with a note that says so.

    Raises
    ------
    BadInput : the number of runs is below 1 or above `MAX_RUNS`, or no graph can be built again.
    """
    if not 1 <= runs <= MAX_RUNS:
        raise BadInput(f"A method runs 1 to {MAX_RUNS} times, not {runs:,}.")
    if rebuild and runs == 1:
        raise BadInput("Graphs are built again for repeats: ask for 2 or more runs.")
    if runs == 1:
        return plan
    if rebuild:
        plan = with_rebuilds(plan, models)
    built = rebuild_words(plan)
    varied = []
    fixed = []
    for method in plan.methods:
        words = [source.words for source in chance_of(method, models, plan.model)]
        words += [built[method.id]] if method.id in built else []
        if words:
            varied.append((method.id, ", ".join(words)))
        else:
            fixed.append(method.label)
    notes = plan.notes
    if fixed:
        notes += (f"Run once, because nothing in it is left to chance: {', '.join(fixed)}.",)
    if not varied:
        return replace(plan, notes=notes)
    return replace(plan, repeats=runs, varied=tuple(varied), notes=notes)


def repeated(
    methods: Sequence[Method], runs: int, models: Models, answers: bool, rebuild: bool = False
) -> list[Method]:
    """Return methods as often as they run: those with chance `runs` times, the others once.

    With `rebuild` those on a built graph count as repeated, whatever their builds leave to chance.
    """
    counted: list[Method] = []
    for method in methods:
        varies = (rebuild and build_of(method.line)) or chance_of(method, models, answers)
        counted += [method] * (runs if varies else 1)
    return counted


def repeat_plan(plan: Plan, number: int) -> Plan:
    """Return the plan of a repeat: the methods with chance, with another seed.

    Methods whose graphs are built again run on those of the repeat.
    """
    varied = (method for method in plan.methods if method.id in dict(plan.varied))
    methods = tuple(on_rebuilt_graph(plan, method, number) for method in varied)
    return replace(plan, methods=methods, seed=repeat_seed(plan.seed, number))


def aa_offer(
    methods: Sequence[Method], models: Models, answers: bool, runs: int = 1
) -> tuple[str, ...]:
    """Return the sentence that offers an A/A run before a comparison; none if none is needed.

    An A/A run compares a method with itself. It is offered if several methods are compared, one
    of them samples replies, and no repeats are asked for.

    Parameters
    ----------
    methods : the methods to compare.
    models : the registry of models.
    answers : True if language models are asked for answers.
    runs : runs of each method with chance.
    """
    method = sampled_method(methods, models, answers)
    if runs > 1 or len(methods) < 2 or method is None:
        return ()
    return (
        f"{method.label} samples its replies: to see how far chance alone goes, run it against "
        "itself first (A/A: 2 repeats, no other method).",
    )


def sampled_method(methods: Sequence[Method], models: Models, answers: bool) -> Method | None:
    """Return the first method with a language model that samples, None if there is none."""
    for method in methods:
        if any(source.is_sampled for source in chance_of(method, models, answers)):
            return method
    return None


def _chance_of_models(operator: Operator, models: Models, answers: bool) -> Iterator[Chance]:
    """Yield the sources of chance in the models of an operator."""
    if not answers and (operator.without_model or operator.stage == "generate"):
        return
    values = parameter_values(operator)
    chats = {values[each.name] for each in parameters(type(operator)) if each.chat}
    for name in models_used(operator):
        temperature = values.get("temperature", 0.0)
        if source := chance_of_model(models, name, name in chats, temperature):
            yield source
