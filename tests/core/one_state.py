"""One state as plain data, and back."""

from __future__ import annotations

from core.snapshot import freeze_all, thaw_all


def freeze(state, graph):
    return freeze_all((state,), graph)


def thaw(saved, graph=None):
    (state,) = thaw_all(saved, graph)
    return state
