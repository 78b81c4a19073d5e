"""Sources of chance in methods and in the builds of their graphs, and the seeds of repeats."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.errors import HopscopeError
from core.models.base import Models

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

    >>> from core.evaluation.runs.chance import repeat_seed
    >>> repeat_seed(7, 0), repeat_seed(7, 2)
    (7, 2007)
    """
    return (seed + SEED_STEP * number) % SEED_LIMIT


def chance_of_model(
    models: Models, name: str, is_chat: bool, temperature: float = 0.0
) -> Chance | None:
    """Return the source of chance that a model is, None if it would give the same again.

    Parameters
    ----------
    models : the registry of models.
    name : name or role of the model.
    is_chat : True if it is used as a language model.
    temperature : its sampling temperature.
    """
    info = _info(models, name)
    if name == RANDOM_BACKEND or getattr(info, "backend", "") == RANDOM_BACKEND:
        return Chance("random scores")
    if is_chat and temperature:
        return Chance(f"replies of {name} (temperature above 0)", is_sampled=True)
    if getattr(info, "backend", "") == SERVED_BACKEND:
        profile = getattr(info, "profile", None)
        if profile is None or profile.seed != SEED_REPEATS:
            words = f"replies of {name} (its server may vary)"
            return Chance(words, is_sampled=True, follows_seed=False)
    return None


def _info(models: Models, name: str) -> Any:
    """Return the description of a model, None for one that is not declared."""
    with suppress(HopscopeError):
        return models.info(name)
    return None
