"""The device that models compute on (graphics card or processor), and its precision."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path

# Files of the drivers of NVIDIA, of AMD, of Windows inside WSL, and of NVIDIA on Windows.
CARD_DRIVER_FILES = (
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/proc/driver/nvidia",
    "/dev/kfd",
    "/dev/dxg",
    os.path.expandvars(r"%SystemRoot%\System32\nvcuda.dll"),
)
# Parts of the names of those instruction limits of oneDNN that still allow bfloat16.
BFLOAT16_ISA_PARTS = ("BF16", "FP16", "AMX", "AVX10")
# Parts of the names of those instruction sets of x86, one of which OpenVINO needs for bfloat16.
BFLOAT16_FLAG_PARTS = ("avx512", "avx_ne_convert", "amx", "avx10")


def has_graphics_card() -> bool:
    """Return whether a graphics card's driver is installed.

    torch is not used for this, since importing it takes seconds.
    """
    return any(Path(path).exists() for path in CARD_DRIVER_FILES)


def device() -> str:
    """Return `cuda:0` if torch sees a graphics card, else `cpu`."""
    import torch

    return "cuda:0" if torch.cuda.is_available() else "cpu"


def computes_in_bfloat16() -> bool:
    """Return whether the processor has bfloat16 instructions, according to OpenVINO.

    False if OpenVINO is not installed, or if an environment variable forbids these instructions to
    oneDNN, the library that computes for OpenVINO and torch.
    """
    limit = _instruction_limit()
    if limit not in ("DEFAULT", "ALL") and not any(part in limit for part in BFLOAT16_ISA_PARTS):
        return False
    flags = _processor_facts().get("flags", "")
    if flags and not any(part in flags for part in BFLOAT16_FLAG_PARTS):
        return False  # the import of OpenVINO takes a tenth of the time of a short command
    try:
        import openvino
    except ImportError:
        return False
    return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def processor() -> str:
    """Return a text that identifies the processor.

    It has the processor's name, a digest of its instruction sets and oneDNN's limit on them. It is
    a part of cache keys, as the last digits of computed vectors depend on the processor.
    """
    return f"{_name_and_digest()} {_instruction_limit()}"


def _instruction_limit() -> str:
    """Return the instruction sets to which an environment variable limits oneDNN, or DEFAULT."""
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA") or os.environ.get("DNNL_MAX_CPU_ISA")
    return limit.upper() if limit else "DEFAULT"


@cache
def _name_and_digest() -> str:
    facts = _processor_facts()
    if not facts:
        return f"{platform.machine()} {platform.processor()}"
    flags = facts.get("flags", facts.get("Features", ""))  # "Features" on ARM
    digest = hashlib.sha256(flags.encode()).hexdigest()[:8]
    return f"{facts.get('model name', platform.machine())} {digest}"


@cache
def _processor_facts() -> dict[str, str]:
    """Return what Linux says of the first core, by name; empty on other systems."""
    try:
        first_core, *_ = Path("/proc/cpuinfo").read_text("utf-8").split("\n\n")
    except OSError:
        return {}
    facts = {}
    for line in first_core.splitlines():
        name, _, value = line.partition(":")
        facts[name.strip()] = value.strip()
    return facts
