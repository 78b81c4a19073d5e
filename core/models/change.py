"""Weights told as a change of others: of low rank, so that a model trained from an installed one ships in a few megabytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from core.errors import StoreError

FILE = "change.safetensors"
LEFT, RIGHT = ".left", ".right"


def change(
    before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray], rank: int, alone: str = ""
) -> dict[str, np.ndarray]:
    """What makes `after` of `before`, float16: of each matrix the change's best approximation of a rank, as two factors (`.left` [m, rank],
    `.right` [rank, n]); of other tensors the change itself; a tensor that was not there before, whole. Tensors whose name has the part
    `alone` stay as they are.

    >>> import numpy as np
    >>> from core.models.change import change, changed
    >>> before, after = {"w": np.zeros((3, 3))}, {"w": np.outer([1, 2, 0], [2, 0, 1]), "b": np.ones(2)}
    >>> difference = change(before, after, 1)
    >>> sorted(difference), changed(before, difference)["w"].round(2).tolist()
    (['b', 'w.left', 'w.right'], [[2.0, 0.0, 1.0], [4.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    """
    found: dict[str, np.ndarray] = {}
    for name, value in after.items():
        if alone and alone in name:
            continue
        if name not in before:
            found[name] = value
        elif value.ndim == 2 and min(value.shape) > rank:
            left, scale, right = np.linalg.svd(value - before[name], full_matrices=False)
            root = np.sqrt(scale[:rank])
            found |= {
                name + LEFT: left[:, :rank] * root,
                name + RIGHT: root[:, None] * right[:rank],
            }
        else:
            found[name] = value - before[name]
    return {name: np.ascontiguousarray(value, np.float16) for name, value in found.items()}


def changed(
    before: Mapping[str, np.ndarray], difference: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The weights that a change tells of, float32: those it says nothing of as they were. Raises ValueError where shapes do not fit."""
    found = {name: value.astype(np.float32) for name, value in before.items()}
    for name, value in difference.items():
        if name.endswith(LEFT):
            plain = name.removesuffix(LEFT)
            found[plain] = before[plain] + value.astype(np.float32) @ difference[
                plain + RIGHT
            ].astype(np.float32)
        elif not name.endswith(RIGHT):
            found[name] = (
                value.astype(np.float32) + before[name]
                if name in before
                else value.astype(np.float32)
            )
    return found


def write(difference: Mapping[str, np.ndarray], folder: Path) -> None:
    """Write a change into a folder."""
    from safetensors.numpy import save_file

    save_file(dict(difference), folder / FILE)


def read(folder: Path) -> dict[str, np.ndarray]:
    """The change that lies in a folder. Raises StoreError where it is absent or damaged."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(folder / FILE)
    except (OSError, SafetensorError) as error:
        raise StoreError(f"{folder / FILE} cannot be read ({error}).") from None
