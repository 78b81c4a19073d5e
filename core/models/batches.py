"""Batches of texts for encoders and rerankers that run through torch.

Their size is fixed on a processor, and fitted to the free memory on a graphics card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from core.errors import ModelFailed

# Tokens of a batch on a graphics card, padding included.
FIRST_BATCH_TOKENS = 1 << 12  # also the smallest size that is chosen by measured memory
MAX_BATCH_TOKENS = 1 << 16  # larger batches are no faster
FREE_MEMORY_FRACTION = 0.5  # filled by a batch; other programs may need the rest
# Parts of the messages of torch and CUDA, which have no error class of their own for this.
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
        self._card = device if device != "cpu" else ""  # empty on a processor
        self._rows = rows
        self.tokens = FIRST_BATCH_TOKENS  # of the next batch on a graphics card, padding included
        self._is_measured = False  # true once `tokens` was fitted to the memory

    def run(
        self, lengths: Sequence[int], read: Callable[[list[int]], T]
    ) -> Iterator[tuple[list[int], T]]:
        """Yield each batch with its result, longest texts first.

        Parameters
        ----------
        lengths : number of tokens of each text.
        read : computes the result of a batch, from the positions of its texts in `lengths`.

        Yields
        ------
        The positions of a batch, and the result of `read` for it.

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
        self, rows: list[int], lengths: Sequence[int], read: Callable[[list[int]], T]
    ) -> T:
        """Return the result of `read` for some rows.

        On a graphics card, the first batch serves to measure the memory.
        """
        if not self._card or self._is_measured:
            return read(rows)
        import torch

        start_bytes = torch.cuda.memory_allocated(self._card)
        torch.cuda.reset_peak_memory_stats(self._card)
        result = read(rows)
        peak_bytes = torch.cuda.max_memory_allocated(self._card) - start_bytes
        free, _ = torch.cuda.mem_get_info(self._card)
        # Memory that torch keeps from earlier batches is free for the next one.
        spare = torch.cuda.memory_reserved(self._card) - torch.cuda.memory_allocated(self._card)
        padded_tokens = len(rows) * lengths[rows[0]]  # the first text is the longest
        self.tokens = batch_tokens_for(peak_bytes / padded_tokens, free + spare)
        self._is_measured = True
        return result

    def _shrink(self, rows: int, longest: int, fault: BaseException) -> None:
        """Halve later batches after one of some rows and `longest` tokens did not fit."""
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
    """Pad some tokenized texts to tensors of equal length on a device.

    The tensors equal those of `tokenizer.pad`, and are made twenty times as fast. On a graphics
    card, `tokenizer.pad` took as long as all other work.

    Parameters
    ----------
    tokenizer : a tokenizer of transformers, whose padding ids and padding side are used.
    codes : its output for all texts: by tensor name, such as input_ids, a list of ids per text.
    rows : positions of the batch's texts in these lists.
    device : device of the tensors.

    Returns
    -------
    int64 tensors [rows, longest] by name, among them the attention mask.
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


def batch_tokens_for(bytes_per_token: float, free_bytes: float) -> int:
    """Return the tokens of a batch that fills a fraction of the free memory.

    Parameters
    ----------
    bytes_per_token : measured memory of a token.
    free_bytes : free memory.

    Returns
    -------
    Tokens, at least `FIRST_BATCH_TOKENS` and at most `MAX_BATCH_TOKENS`.

    Examples
    --------
    >>> from core.models.batches import batch_tokens_for
    >>> batch_tokens_for(100_000.0, 4e9), batch_tokens_for(100_000.0, 1e12), batch_tokens_for(100_000.0, 1e6)
    (20000, 65536, 4096)
    """
    tokens = FREE_MEMORY_FRACTION * free_bytes / max(1.0, bytes_per_token)
    return int(min(MAX_BATCH_TOKENS, max(FIRST_BATCH_TOKENS, tokens)))


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of torch or Python says that memory ran out."""
    return isinstance(error, MemoryError) or any(
        words in str(error) for words in OUT_OF_MEMORY_PHRASES
    )
