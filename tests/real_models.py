"""The real registry of models, one for all tests, so that weights are loaded once."""

from functools import cache
from pathlib import Path

from core.io.carried_weights import listed_weights, weights_of
from core.models.registry import Registry

registry = cache(Registry)


def models_without_chat(folder: Path) -> str:
    """Make a models folder with the encoder, the parser and SPLADE, but no language model."""
    folder.mkdir(exist_ok=True)
    for weights in listed_weights():
        source = weights_of(weights.package)
        if source is not None:
            (folder / weights.package).symlink_to(source)
    return str(folder)
