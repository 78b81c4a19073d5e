"""How many texts a model reads at once: a fixed number on a processor, on a graphics card as many as its memory holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from core.errors import ModelFailed

# tokens, padding counted, of the first batch on a graphics card and of any: more make it no faster
FIRST, MOST = (1 << 12, 1 << 16)
SHARE = 0.5  # of the memory that is free, which others may want too
FULL = ("out of memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED")  # in what libraries say
# what a tokenizer is to give
IDS_ALONE = {"return_attention_mask": False, "return_token_type_ids": False}
T = TypeVar("T")


class Batches:
    """Cuts texts into batches for a model on a device ("cuda:0", "cpu"), `rows` of them at a time on a processor.

    On a graphics card the first batch is small and tells how much memory a token takes; the later ones fill half of what is free. Where
    memory runs out all the same, since others use the card, the batch is halved and read again. What was found lasts.
    """

    def __init__(self, device: str, rows: int):
        self._card, self._rows = device if device != "cpu" else "", rows
        self.tokens = FIRST  # of the next batch on a graphics card, padding counted
        self._measured = False

    def run(
        self, lengths: Sequence[int], read: Callable[[list[int]], T]
    ) -> Iterator[tuple[list[int], T]]:
        """Each batch, as positions in `lengths` (tokens of each text), with what `read` gives for it; long texts first.

        Raises ModelFailed where a single text is too much.
        """
        order, at = np.argsort(-np.asarray(lengths, np.int64), kind="stable").tolist(), 0
        while at < len(order):
            part = order[at : at + self._size(lengths[order[at]])]
            try:
                result = self._watched(part, lengths, read)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                fault = error
            else:
                at += len(part)
                yield part, result
                continue
            self._shrink(len(part), lengths[part[0]], fault)

    def _size(self, longest: int) -> int:
        return max(1, self.tokens // max(1, longest)) if self._card else self._rows

    def _watched(
        self, part: list[int], lengths: Sequence[int], read: Callable[[list[int]], T]
    ) -> T:
        """What `read` gives; on a graphics card the first batch is measured."""
        if not self._card or self._measured:
            return read(part)
        import torch

        before = torch.cuda.memory_allocated(self._card)
        torch.cuda.reset_peak_memory_stats(self._card)
        result = read(part)
        taken = torch.cuda.max_memory_allocated(self._card) - before
        free, _ = torch.cuda.mem_get_info(self._card)
        unused = torch.cuda.memory_reserved(self._card) - torch.cuda.memory_allocated(self._card)
        self.tokens = fitting(taken / (len(part) * lengths[part[0]]), free + unused)
        self._measured = True
        return result

    def _shrink(self, rows: int, longest: int, fault: BaseException) -> None:
        if rows == 1:
            raise ModelFailed(
                f"There is not enough memory to read one text of {longest:,} tokens."
            ) from fault
        if not self._card:
            self._rows = rows // 2
            return
        import torch

        self.tokens, self._measured = rows * longest // 2, True
        torch.cuda.empty_cache()


def padded(
    tokenizer: Any, codes: Mapping[str, Sequence[Sequence[int]]], rows: Sequence[int], device: Any
) -> dict[str, Any]:
    """Some texts in tokens as tensors on a device, made of one length, and the mask of what they are. As `tokenizer.pad` does, twenty times
    as fast: on a graphics card that took as long as all the rest.
    """
    import torch

    lengths = np.array([len(codes["input_ids"][row]) for row in rows])
    places = np.arange(lengths.max())
    if getattr(tokenizer, "padding_side", "right") == "left":
        places = places[::-1]
    mask = places < lengths[:, None]
    filled = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    found = {"attention_mask": mask.astype(np.int64)}
    for key in filled.keys() & codes.keys():
        found[key] = np.full(mask.shape, filled[key], np.int64)
        found[key][mask] = np.concatenate([codes[key][row] for row in rows])
    return {key: torch.from_numpy(value).to(device) for key, value in found.items()}


def fitting(bytes_a_token: float, free: float) -> int:
    """Tokens of a batch that takes a share of the free memory, at least those of the first and at most MOST.

    >>> from core.models.batches import fitting
    >>> fitting(100_000.0, 4e9), fitting(100_000.0, 1e12), fitting(100_000.0, 1e6)
    (20000, 65536, 4096)
    """
    return int(min(MOST, max(FIRST, SHARE * free / max(1.0, bytes_a_token))))


def out_of_memory(error: BaseException) -> bool:
    """Whether what a library raised says that memory ran out."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in FULL)
