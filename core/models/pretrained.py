"""A transformers model of a local folder or the model hub, loaded when it is first used."""

from __future__ import annotations

from typing import Any, ClassVar

from core.errors import ModelUnavailable, shorten
from core.models.batches import Batches
from core.models.device import device
from core.models.threads import threads
from core.runtime.meter import spent
from core.runtime.places import Places


class Pretrained:
    """`weights` is a folder or a name on the hub; of each text `max_tokens` are read, on a processor `batch` texts at a time. `kind` is the
    class of transformers that holds the network, in half precision on a graphics card."""

    kind: ClassVar[str]

    def __init__(self, weights: str, name: str, batch: int = 32, max_tokens: int = 512):
        self.weights, self.name, self.batch, self.max_tokens = weights, name, batch, max_tokens
        self._model: tuple[Any, Any] | None = None
        self._lock = Places()
        self._batches: Batches

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def engine(self) -> tuple[Any, Any]:
        """The network, on a graphics card where there is one, and its tokenizer. Raises ModelUnavailable."""
        if self._model is None:
            with spent("preparation", f"Loading {self.name}"):
                self._model = self._load()
        return self._model

    def _load(self) -> tuple[Any, Any]:
        try:
            import torch
            import transformers

            torch.set_num_threads(threads())
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.weights)
            network, place = (
                getattr(transformers, self.kind).from_pretrained(self.weights).eval(),
                device(),
            )
            network = (network.float() if place == "cpu" else network.half()).to(place)
            self._batches = Batches(place, self.batch)
            return network, tokenizer
        except ImportError:
            raise ModelUnavailable(
                f"{self.name} needs a library; get it with: pip install torch transformers"
            ) from None
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"{self.name}: {self.weights} cannot be loaded from this computer or the model hub. Put its weights in a folder and name "
                f"that folder in models.toml. ({shorten(str(error), 120)})"
            ) from error
