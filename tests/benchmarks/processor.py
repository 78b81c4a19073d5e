"""Name, cores and relevant instruction sets of the processor that ran the benchmarks."""

from __future__ import annotations

import os
import platform
from pathlib import Path

# The kernel's names of instruction sets.
TOLD = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_vnni": "VNNI",
    "avx512_bf16": "bfloat16",
    "amx_bf16": "AMX",
}


def described(text: str, cores: int, limit: str = "") -> str:
    """Short description of a processor from the text of Linux's /proc/cpuinfo.

    `limit` is the highest instruction set that oneDNN may use, if one is set.

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
    """Description of this computer's processor, or its name alone where Linux gives no details."""
    info = Path("/proc/cpuinfo")
    return described(
        info.read_text("utf-8", "replace") if info.is_file() else "", os.cpu_count() or 1, limit
    )
