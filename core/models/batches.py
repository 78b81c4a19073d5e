"""Batch sizes of models: fixed on a processor, fitted to the free memory on a graphics card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from core.errors import ModelFailed

# Tokens, padding included, of the first batch on a graphics card and of the largest. Larger
# batches are no faster.
FIRST, MOST = (1 << 12, 1 << 16)
SHARE = 0.5  # fraction of the free memory that is used; other programs may need the rest
# Parts of the messages of libraries.
FULL = ("out of memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED")
# Options of a tokenizer: only the token ids are needed.
IDS_ALONE = {"return_attention_mask": False, "return_token_type_ids": False}
T = TypeVar("T")


class Batches:
    """Splitter of texts into batches for a model on a device ("cuda:0", "cpu").

    On a processor a batch has `rows` texts. On a graphics card the first batch is small and
    measures the memory per token. Later batches fill half of the free memory. If memory runs out
    all the same, because other programs use the card, the batch is halved and read again. The size
    that worked is kept.
    """

    def __init__(self, device: str, rows: int):
        self._card, self._rows = device if device != "cpu" else "", rows
        self.tokens = FIRST  # of the next batch on a graphics card, padding included
        self._measured = False

    def run(
        self, lengths: Sequence[int], read: Callable[[list[int]], T]
    ) -> Iterator[tuple[list[int], T]]:
        """Yield each batch, as positions in `lengths`, with the result of `read`; long texts first.

        Parameters
        ----------
        lengths : number of tokens of each text.
        read : processes the texts at some positions.

        Raises
        ------
        ModelFailed
            If a single text needs too much memory.
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
        """Return the result of `read`, measuring memory with the first batch on a graphics card."""
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
    """Return some tokenized texts as tensors of equal length on a device, with the attention mask.

    The result is that of `tokenizer.pad`, twenty times as fast. On a graphics card that padding
    took as long as all the rest.
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
    """Return the tokens of a batch that fills a fraction of the free memory.

    The number is at least `FIRST` and at most `MOST`.

    >>> from core.models.batches import fitting
    >>> fitting(100_000.0, 4e9), fitting(100_000.0, 1e12), fitting(100_000.0, 1e6)
    (20000, 65536, 4096)
    """
    return int(min(MOST, max(FIRST, SHARE * free / max(1.0, bytes_a_token))))


def out_of_memory(error: BaseException) -> bool:
    """Return whether an error of a library says that memory ran out."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in FULL)
