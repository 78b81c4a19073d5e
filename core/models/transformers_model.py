"""Base class of models of the transformers library, loaded at their first use."""

from __future__ import annotations

from typing import Any, ClassVar

from core.errors import ModelUnavailable, library_message, shorten
from core.models.batches import BatchSplitter
from core.models.device import device
from core.models.threads import thread_count
from core.runtime.meter import count_time
from core.runtime.slots import Slots


class TransformersModel:
    """A transformers model from a local folder or the model hub.

    It runs in half precision on a graphics card if there is one, else in float32. Subclasses set
    `kind`, the name of the class of transformers that loads the network.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    name : the name of the model here.
    batch : texts per batch on a processor.
    max_tokens : tokens of each text that are read.
    """

    kind: ClassVar[str]

    def __init__(self, weights: str, name: str, batch: int = 32, max_tokens: int = 512):
        self.weights = weights
        self.name = name
        self.batch = batch
        self.max_tokens = max_tokens
        self._model: tuple[Any, Any] | None = None
        self._lock = Slots()
        self._batches: BatchSplitter  # set by `_load`

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def engine(self) -> tuple[Any, Any]:
        """Return the network and its tokenizer. Raises ModelUnavailable.

        They are loaded at the first call.
        """
        if self._model is None:
            with count_time("preparation", f"Loading {self.name}"):
                self._model = self._load()
        return self._model

    def _load(self) -> tuple[Any, Any]:
        try:
            import torch
            import transformers

            torch.set_num_threads(thread_count())
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.weights)
            network = getattr(transformers, self.kind).from_pretrained(self.weights).eval()
            device_name = device()
            network = network.float() if device_name == "cpu" else network.half()
            self._batches = BatchSplitter(device_name, self.batch)
            return network.to(device_name), tokenizer
        except ImportError:
            raise ModelUnavailable(library_message(self.name, "torch transformers")) from None
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"{self.name}: {self.weights} cannot be loaded from this computer or the model "
                "hub. Put its weights in a folder and name "
                f"that folder in models.toml. ({shorten(str(error), 120)})"
            ) from error
