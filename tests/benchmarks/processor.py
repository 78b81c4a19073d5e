"""The processor that figures were measured on: its name, its cores and the instructions that an encoder's speed depends on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

# by the kernel's names
TOLD = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_vnni": "VNNI",
    "avx512_bf16": "bfloat16",
    "amx_bf16": "AMX",
}


def described(text: str, cores: int, limit: str = "") -> str:
    """A processor in a few words, of the text that Linux has of it in /proc/cpuinfo; `limit` is what oneDNN may use, where that is set.

    >>> from tests.benchmarks.processor import described
    >>> described("model name : Some CPU 9\\nflags : fpu avx2 avx512f avx512_bf16", 2, "AVX2")
    'Some CPU 9, 2 cores, AVX2, AVX-512, bfloat16; the encoder limited to AVX2'
    """
    rows = {
        name.strip(): value.strip()
        for name, _, value in (line.partition(":") for line in text.splitlines())
    }
    flags = rows.get("flags", rows.get("Features", "")).split()
    can = [title for flag, title in TOLD.items() if flag in flags]
    name = rows.get("model name") or platform.processor() or platform.machine()
    limited = f"; the encoder limited to {limit.upper()}" if limit else ""
    return ", ".join([name, f"{cores} core{'s' * (cores != 1)}", *can]) + limited


def processor(limit: str = "") -> str:
    """This computer's processor in a few words; where Linux does not tell, by its name alone."""
    info = Path("/proc/cpuinfo")
    return described(
        info.read_text("utf-8", "replace") if info.is_file() else "", os.cpu_count() or 1, limit
    )
