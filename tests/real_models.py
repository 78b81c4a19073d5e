"""The real registry of models, one for all tests, so that weights are loaded once."""

from functools import cache

from core.models.registry import Registry

registry = cache(Registry)
