"""Batch sizes, with numbers computed by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.errors import ModelFailed
from core.models.batches import BatchSplitter, is_out_of_memory, pad_batch


def batches_read(batches: BatchSplitter, lengths, fits) -> list[list[int]]:
    """Batches in which texts of these lengths were read.

    A batch of more than `fits` tokens runs out of memory.
    """
    tried: list[list[int]] = []

    def read(rows):
        tried.append(rows)
        if len(rows) * max(lengths[row] for row in rows) > fits:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        return [lengths[row] for row in rows]

    for rows, found in batches.run(lengths, read):
        assert found == [lengths[row] for row in rows]
    return tried


def test_processor_batches_have_a_fixed_size_longest_first():
    assert batches_read(BatchSplitter("cpu", 2), [3, 9, 1, 9, 4], 1000) == [[1, 3], [4, 0], [2]]


def test_batch_that_ran_out_of_memory_is_halved_for_good():
    batches = BatchSplitter("cpu", 4)
    assert batches_read(batches, [5] * 6, 10) == [[0, 1, 2, 3], [0, 1], [2, 3], [4, 5]]
    assert batches_read(batches, [5] * 3, 10) == [[0, 1], [2]]


def test_single_text_that_is_too_long_is_reported():
    with pytest.raises(ModelFailed, match="text of 9,000 tokens"):
        batches_read(BatchSplitter("cpu", 4), [9000, 5], 100)


def test_other_errors_do_not_halve_batches():
    with pytest.raises(RuntimeError, match="shapes"):
        list(
            BatchSplitter("cpu", 4).run(
                [1], lambda rows: (_ for _ in ()).throw(RuntimeError("shapes do not fit"))
            )
        )
    assert is_out_of_memory(MemoryError()) and is_out_of_memory(
        RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate")
    )


@pytest.mark.parametrize(
    ("side", "wanted"), [("right", [[5, 6, 7], [8, 1, 1]]), ("left", [[5, 6, 7], [1, 1, 8]])]
)
def test_batches_have_texts_of_one_length(side, wanted):
    tokenizer = SimpleNamespace(pad_token_id=1, pad_token_type_id=0, padding_side=side)
    codes = {"input_ids": [[9], [5, 6, 7], [8]], "token_type_ids": [[0], [0, 1, 1], [1]]}
    found = {
        key: value.tolist() for key, value in pad_batch(tokenizer, codes, [1, 2], "cpu").items()
    }
    assert found["input_ids"] == wanted and found["attention_mask"] == [
        [int(id != 1) for id in row] for row in wanted
    ]
    assert found["token_type_ids"] == [[0, 1, 1], [1, 0, 0] if side == "right" else [0, 0, 1]]
