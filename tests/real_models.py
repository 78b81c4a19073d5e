"""The real registry of models, one for all tests, so that weights are loaded once."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from core.io.carried_weights import listed_weights, weights_of
from core.models.encoders.compute_modes import ComputeMode
from core.models.encoders.llama import LlamaEncoder
from core.models.registry import Registry
from tests.films import Bag

registry = cache(Registry)
# A llama of one layer of 32 numbers with random weights. Its tokens are bytes, of which it writes
# letters, digits and signs, without end.
TINY_MODEL = Path(__file__).with_name("core") / "models" / "chat" / "tiny.gguf"


@cache
def _input_embeddings(folder: Path) -> np.ndarray:
    with safe_open(str(folder / "model.safetensors"), "numpy") as weights:
        return weights.get_tensor("embeddings.word_embeddings.weight").astype(np.float32)


class NoLayers:
    """The network of an encoder without its layers: a token's vector is its input embedding."""

    device, max_batch_texts = "without layers", 256

    def __init__(self, folder: Path):
        self._embeddings = _input_embeddings(folder)

    def run(self, batches, on_batch, watch, with_tokens):
        for key, ids in batches:
            watch.check()
            tokens = self._embeddings[ids]
            on_batch(key, tokens.mean(axis=1), tokens)


@pytest.fixture(scope="module")
def no_layers():
    """Load encoders without their layers, which take nearly all of their time.

    A module that uses it has a home and a registry of its own, as vectors are saved.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ComputeMode, "forward", lambda mode, folder: NoLayers(folder))
        patch.setattr(LlamaEncoder, "_compute", lambda encoder, text: Bag().encode([text])[0])
        yield


def models_without_chat(folder: Path) -> str:
    """Make a models folder with the encoder, the parser and SPLADE, but no language model."""
    folder.mkdir(exist_ok=True)
    for weights in listed_weights():
        source = weights_of(weights.package)
        if source is not None:
            (folder / weights.package).symlink_to(source)
    return str(folder)
