"""Estimated vectors of texts, from the means of their tokens' input vectors, without a network.

They predict which texts an encoder will score best, so that these are read first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.io.home import ROOT

SHIPPED_STATIC_VECTORS = ROOT / "data" / "models" / "static-vectors" / "map.safetensors"
DIGEST_KEY = "encoder"  # metadata of the file: digest of the encoder's weights


@dataclass(frozen=True, eq=False)
class StaticVectors:
    """A linear map from mean input vectors of texts to the vectors of an encoder.

    It is a ridge regression of reduced rank r, fitted by `python -m tests.benchmarks
    static_vectors`. The encoder's vector of a text is about
    `(m - token_mean) @ projection @ basis + mean`, where m is the mean of the centred unit input
    vectors of its tokens.

    Parameters
    ----------
    projection : float32 [d, r].
    basis : float32 [r, d] with orthonormal rows.
    token_mean : float32 [d], mean of m over the texts to which the map was fitted.
    mean : float32 [d], mean of the encoder's vectors of these texts.
    """

    projection: np.ndarray
    basis: np.ndarray
    token_mean: np.ndarray
    mean: np.ndarray

    @classmethod
    def open(cls, file: Path, digest: str) -> StaticVectors | None:
        """Open a saved map; None if it is missing or of other weights than those of `digest`."""
        from safetensors import safe_open

        if not file.exists():
            return None
        with safe_open(str(file), "numpy") as saved:
            if (saved.metadata() or {}).get(DIGEST_KEY) != digest:
                return None
            return cls(**{name: saved.get_tensor(name).astype(np.float32) for name in saved.keys()})

    def cosines(self, projected: np.ndarray, query: np.ndarray) -> np.ndarray:
        """Estimate the cosines of texts with a query.

        Parameters
        ----------
        projected : float [n, r], the projected mean input vectors of the texts.
        query : float [d], unit vector of the query by the encoder.

        Returns
        -------
        float [n].
        """
        coordinates = projected - self.token_mean @ self.projection
        dots = coordinates @ (self.basis @ query) + self.mean @ query
        squares = (coordinates**2).sum(axis=1) + 2 * coordinates @ (self.basis @ self.mean)
        return dots / np.sqrt(np.maximum(squares + self.mean @ self.mean, 1e-12))
