"""Weights stored as a low-rank difference from other weights, in a few megabytes.

The embedded reranker is shipped as the difference from the weights of the embedded encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from core.errors import StoreError

DIFFERENCE_FILE = "change.safetensors"
LEFT_FACTOR_SUFFIX = ".left"
RIGHT_FACTOR_SUFFIX = ".right"


def low_rank_difference(
    base: Mapping[str, np.ndarray], target: Mapping[str, np.ndarray], rank: int, excluded: str = ""
) -> dict[str, np.ndarray]:
    """Return the difference of the weights `target` from the weights `base`.

    The difference of a matrix is approximated in low rank, by two factors (`.left` [m, rank],
    `.right` [rank, n]). The differences of other tensors are stored in full. Tensors that `base`
    lacks are stored themselves.

    Parameters
    ----------
    base, target : tensors by name.
    rank : rank of the approximation.
    excluded : tensors whose name contains this text are left out; empty to keep all.

    Returns
    -------
    float16 tensors by name.

    Examples
    --------
    >>> import numpy as np
    >>> from core.models.weight_differences import low_rank_difference, apply_difference
    >>> before = {"w": np.zeros((3, 3))}
    >>> after = {"w": np.outer([1, 2, 0], [2, 0, 1]), "b": np.ones(2)}
    >>> difference = low_rank_difference(before, after, 1)
    >>> sorted(difference), apply_difference(before, difference)["w"].round(2).tolist()
    (['b', 'w.left', 'w.right'], [[2.0, 0.0, 1.0], [4.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    """
    difference: dict[str, np.ndarray] = {}
    for name, value in target.items():
        if excluded and excluded in name:
            continue
        if name not in base:
            difference[name] = value
        elif value.ndim == 2 and min(value.shape) > rank:
            left, scale, right = np.linalg.svd(value - base[name], full_matrices=False)
            # In both factors, so that neither has values too large or small for float16.
            root = np.sqrt(scale[:rank])
            difference[name + LEFT_FACTOR_SUFFIX] = left[:, :rank] * root
            difference[name + RIGHT_FACTOR_SUFFIX] = root[:, None] * right[:rank]
        else:
            difference[name] = value - base[name]
    return {name: np.ascontiguousarray(value, np.float16) for name, value in difference.items()}


def apply_difference(
    base: Mapping[str, np.ndarray], difference: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return weights changed by a difference; tensors without one stay the same.

    Parameters
    ----------
    base : tensors by name.
    difference : the result of `low_rank_difference`.

    Returns
    -------
    float32 tensors by name.

    Raises
    ------
    ValueError : shapes do not match.
    """
    weights = {name: value.astype(np.float32) for name, value in base.items()}
    for name, stored_value in difference.items():
        value = stored_value.astype(np.float32)
        if name.endswith(LEFT_FACTOR_SUFFIX):
            base_name = name.removesuffix(LEFT_FACTOR_SUFFIX)
            right = difference[base_name + RIGHT_FACTOR_SUFFIX].astype(np.float32)
            weights[base_name] = base[base_name] + value @ right
        elif not name.endswith(RIGHT_FACTOR_SUFFIX):
            weights[name] = value + base[name] if name in base else value
    return weights


def write_difference(difference: Mapping[str, np.ndarray], folder: Path) -> None:
    """Write a difference into a folder.

    Parameters
    ----------
    difference : the result of `low_rank_difference`.
    folder : an existing folder.

    Raises
    ------
    OSError : the file cannot be written.
    """
    from safetensors.numpy import save_file

    save_file(dict(difference), folder / DIFFERENCE_FILE)


def read_difference(folder: Path) -> dict[str, np.ndarray]:
    """Read the difference in a folder. Raises StoreError if it is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(folder / DIFFERENCE_FILE)
    except (OSError, SafetensorError) as error:
        raise StoreError(f"{folder / DIFFERENCE_FILE} cannot be read ({error}).") from None
