"""Repeats of the methods of a plan whose results vary by chance.

A repeat asks the same questions with another seed. It varies random draws, the order of drawn
items, and the replies of language models that sample. Graphs and vectors stay the same, as the
seed of a run does not reach them. So does a judge's saved verdict on the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from core.errors import BadInput, HopscopeError
from core.evaluation.runs.plan import Plan, models_used
from core.methods.catalogue import Method
from core.models.base import Models
from core.operators.base import Operator
from core.parameters import parameter_values, parameters

MAX_RUNS = 100  # of each method
AA_RUNS = 2  # of the method of an A/A run
SEED_STEP = 1_000  # between two runs, because an operator may use some seeds from its own on
SEED_LIMIT = 1 << 31  # servers take seeds of 32 bits
SERVED_BACKEND = "openai"
RANDOM_BACKEND = "random"
SEED_REPEATS = "repeats"  # `ServerProfile.seed` of a server that repeats itself


@dataclass(frozen=True)
class Chance:
    """A source of chance in a method, in words.

    `is_sampled` is true for replies of a language model. `follows_seed` is false for what may vary
    with the same seed too.
    """

    words: str
    is_sampled: bool = False
    follows_seed: bool = True


def repeat_seed(seed: int, number: int) -> int:
    """Return the seed of a repeat; number 0 is the first run.

    >>> from core.evaluation.runs.repeats import repeat_seed
    >>> repeat_seed(7, 0), repeat_seed(7, 2)
    (7, 2007)
    """
    return (seed + SEED_STEP * number) % SEED_LIMIT


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


def with_repeats(plan: Plan, runs: int, models: Models) -> Plan:
    """Return a plan in which each method with chance runs several times.

    Parameters
    ----------
    plan : the plan.
    runs : runs of each method, the first included; methods without chance run once.
    models : the registry of models.

    Returns
    -------
    The plan. If no method has chance it is the same plan with a note that says so.

    Raises
    ------
    BadInput : the number of runs is below 1 or above `MAX_RUNS`.
    """
    if not 1 <= runs <= MAX_RUNS:
        raise BadInput(f"A method runs 1 to {MAX_RUNS} times, not {runs:,}.")
    if runs == 1:
        return plan
    varied = []
    fixed = []
    for method in plan.methods:
        words = [source.words for source in chance_of(method, models, plan.model)]
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


def repeated(methods: Sequence[Method], runs: int, models: Models, answers: bool) -> list[Method]:
    """Return methods as often as they run: those with chance `runs` times, the others once."""
    counted: list[Method] = []
    for method in methods:
        counted += [method] * (runs if runs > 1 and chance_of(method, models, answers) else 1)
    return counted


def repeat_plan(plan: Plan, number: int) -> Plan:
    """Return the plan of a repeat: the methods with chance, with another seed."""
    methods = tuple(method for method in plan.methods if method.id in dict(plan.varied))
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
        info = _info(models, name)
        if name == RANDOM_BACKEND or getattr(info, "backend", "") == RANDOM_BACKEND:
            yield Chance("random scores")
        elif name in chats and values.get("temperature"):
            yield Chance(f"replies of {name} (temperature above 0)", is_sampled=True)
        elif getattr(info, "backend", "") == SERVED_BACKEND:
            profile = getattr(info, "profile", None)
            if profile is None or profile.seed != SEED_REPEATS:
                words = f"replies of {name} (its server may vary)"
                yield Chance(words, is_sampled=True, follows_seed=False)


def _info(models: Models, name: str) -> Any:
    """Return the description of a model, None for one that is not declared."""
    with suppress(HopscopeError):
        return models.info(name)
    return None
