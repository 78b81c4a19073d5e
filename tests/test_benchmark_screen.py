"""The benchmark of the screen says which processor it measured on."""

from __future__ import annotations

import pytest

from tests.benchmarks.processor import described, processor


@pytest.mark.parametrize(
    "text, cores, limit, words",
    [
        (
            "processor\t: 0\nmodel name\t: Some CPU 9\nflags\t\t: fpu avx avx2 avx512f avx512_vnni avx512_bf16\n",
            2,
            "",
            "Some CPU 9, 2 cores, AVX2, AVX-512, VNNI, bfloat16",
        ),
        ("model name : Old CPU\nflags : fpu avx2\n", 1, "", "Old CPU, 1 core, AVX2"),
        (
            "model name : Some CPU 9\nflags : avx2 avx512_bf16\n",
            4,
            "avx2",
            "Some CPU 9, 4 cores, AVX2, bfloat16; the encoder limited to AVX2",
        ),
    ],
)
def test_a_processor_is_told_by_name_cores_and_what_it_can(text, cores, limit, words):
    assert described(text, cores, limit) == words


def test_that_of_this_computer_has_a_name():
    assert processor().split(",")[0].strip()
