"""Batch sizes of models: fixed on a processor, fitted to the free memory on a graphics card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from core.errors import ModelFailed

# Tokens of a batch on a graphics card, padding included.
FIRST_BATCH_TOKENS = 1 << 12
MAX_BATCH_TOKENS = 1 << 16  # larger batches are no faster
FREE_MEMORY_FRACTION = 0.5  # that a batch fills; other programs may need the rest
# Parts of the error messages of libraries.
OUT_OF_MEMORY_PHRASES = ("out of memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED")
# Options of a tokenizer that returns only the token ids.
IDS_ALONE = {"return_attention_mask": False, "return_token_type_ids": False}
T = TypeVar("T")


class BatchSplitter:
    """Splitter of texts into batches for a model on a device.

    On a processor all batches have the same number of texts. On a graphics card the memory per
    token is measured with a small first batch, and later batches fill half of the free memory. If
    memory runs out because other programs use the card, this batch and the later ones are halved.

    Parameters
    ----------
    device : “cpu”, or a graphics card such as “cuda:0”.
    rows : texts of a batch on a processor.
    """

    def __init__(self, device: str, rows: int):
        self._card = device if device != "cpu" else ""
        self._rows = rows
        self.tokens = FIRST_BATCH_TOKENS  # of the next batch on a graphics card, padding included
        self._is_measured = False

    def run(
        self, lengths: Sequence[int], read: Callable[[list[int]], T]
    ) -> Iterator[tuple[list[int], T]]:
        """Yield each batch with its result; long texts first.

        Parameters
        ----------
        lengths : number of tokens of each text.
        read : processes the texts at some positions.

        Yields
        ------
        Positions in `lengths`, and the result of `read`.

        Raises
        ------
        ModelFailed
            If a single text needs too much memory.
        """
        order = np.argsort(-np.asarray(lengths, np.int64), kind="stable").tolist()
        start = 0
        while start < len(order):
            batch_rows = order[start : start + self._count_rows(lengths[order[start]])]
            try:
                result = self._read_measured(batch_rows, lengths, read)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                fault = error
            else:
                start += len(batch_rows)
                yield batch_rows, result
                continue
            self._shrink(len(batch_rows), lengths[batch_rows[0]], fault)

    def _count_rows(self, longest: int) -> int:
        """Return the texts of a batch whose longest text has `longest` tokens."""
        return max(1, self.tokens // max(1, longest)) if self._card else self._rows

    def _read_measured(
        self, part: list[int], lengths: Sequence[int], read: Callable[[list[int]], T]
    ) -> T:
        """Return the result of `read`, measuring memory with the first batch on a graphics card."""
        if not self._card or self._is_measured:
            return read(part)
        import torch

        start_bytes = torch.cuda.memory_allocated(self._card)
        torch.cuda.reset_peak_memory_stats(self._card)
        result = read(part)
        peak_bytes = torch.cuda.max_memory_allocated(self._card) - start_bytes
        free, _ = torch.cuda.mem_get_info(self._card)
        spare = torch.cuda.memory_reserved(self._card) - torch.cuda.memory_allocated(self._card)
        self.tokens = batch_tokens_for(peak_bytes / (len(part) * lengths[part[0]]), free + spare)
        self._is_measured = True
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

        self.tokens = rows * longest // 2
        self._is_measured = True
        torch.cuda.empty_cache()


def pad_batch(
    tokenizer: Any, codes: Mapping[str, Sequence[Sequence[int]]], rows: Sequence[int], device: Any
) -> dict[str, Any]:
    """Return some tokenized texts as tensors of equal length on a device, with the attention mask.

    The result is that of `tokenizer.pad`, twenty times as fast. On a graphics card,
    `tokenizer.pad` took as long as all other work.

    Parameters
    ----------
    tokenizer : has the padding's token ids and side.
    codes : lists of token ids of all texts by the name of the tensor, such as input_ids.
    rows : the texts of the batch, as positions in these lists.
    device : where the tensors are put.

    Returns
    -------
    int64 tensors [rows, longest] by name, with the attention mask.
    """
    import torch

    lengths = np.array([len(codes["input_ids"][row]) for row in rows])
    columns = np.arange(lengths.max())
    if getattr(tokenizer, "padding_side", "right") == "left":
        columns = columns[::-1]
    mask = columns < lengths[:, None]
    pad_values = {
        "input_ids": tokenizer.pad_token_id,
        "token_type_ids": tokenizer.pad_token_type_id,
    }
    arrays = {"attention_mask": mask.astype(np.int64)}
    for key in pad_values.keys() & codes.keys():
        arrays[key] = np.full(mask.shape, pad_values[key], np.int64)
        arrays[key][mask] = np.concatenate([codes[key][row] for row in rows])
    return {key: torch.from_numpy(value).to(device) for key, value in arrays.items()}


def batch_tokens_for(bytes_a_token: float, free: float) -> int:
    """Return the tokens of a batch that fills a fraction of the free memory.

    Parameters
    ----------
    bytes_a_token : measured memory of a token, in bytes.
    free : free memory in bytes.

    Returns
    -------
    Tokens, at least `FIRST_BATCH_TOKENS` and at most `MAX_BATCH_TOKENS`.

    Examples
    --------
    >>> from core.models.batches import batch_tokens_for
    >>> batch_tokens_for(100_000.0, 4e9), batch_tokens_for(100_000.0, 1e12), batch_tokens_for(100_000.0, 1e6)
    (20000, 65536, 4096)
    """
    tokens = FREE_MEMORY_FRACTION * free / max(1.0, bytes_a_token)
    return int(min(MAX_BATCH_TOKENS, max(FIRST_BATCH_TOKENS, tokens)))


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of a library says that memory ran out."""
    return isinstance(error, MemoryError) or any(
        words in str(error) for words in OUT_OF_MEMORY_PHRASES
    )
