"""Weights stored as a low-rank difference to other weights.

A model fine-tuned from an installed one is then distributed in a few megabytes.
"""

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
    """Return the float16 difference that turns `before` into `after`.

    A matrix is stored as two factors (`.left` [m, rank], `.right` [rank, n]) of the best
    approximation of its difference of that rank. Other tensors are stored as their difference, and
    tensors missing in `before` as they are. Tensors whose name contains `alone` are left out.

    >>> import numpy as np
    >>> from core.models.change import change, changed
    >>> before = {"w": np.zeros((3, 3))}
    >>> after = {"w": np.outer([1, 2, 0], [2, 0, 1]), "b": np.ones(2)}
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
    """Return the weights after a difference is applied, float32.

    Tensors that are not in the difference stay the same. Raises ValueError if shapes do not match.
    """
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
    """Write a difference into a folder."""
    from safetensors.numpy import save_file

    save_file(dict(difference), folder / FILE)


def read(folder: Path) -> dict[str, np.ndarray]:
    """Read the difference in a folder. Raises StoreError if it is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(folder / FILE)
    except (OSError, SafetensorError) as error:
        raise StoreError(f"{folder / FILE} cannot be read ({error}).") from None
