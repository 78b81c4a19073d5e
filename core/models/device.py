"""What a model computes on here: a graphics card or the processor, and in which precision."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path

NVCUDA = os.path.expandvars(r"%SystemRoot%\System32\nvcuda.dll")  # NVIDIA's driver on Windows
# NVIDIA's, AMD's, and Windows' inside WSL
DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/proc/driver/nvidia", "/dev/kfd", "/dev/dxg", NVCUDA)
# in the names of oneDNN's limits that leave bfloat16 in
BFLOAT16 = ("BF16", "FP16", "AMX", "AVX10")


def graphics_card() -> bool:
    """Whether the driver of a graphics card is on this computer, without asking torch, which takes seconds to import."""
    return any(Path(place).exists() for place in DRIVERS)


def device() -> str:
    """`cuda:0` where torch sees a graphics card, else `cpu`."""
    import torch

    return "cuda:0" if torch.cuda.is_available() else "cpu"


def computes_in_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16, as OpenVINO tells; False where it is not installed, or where the environment
    keeps oneDNN, which computes for it, from using them."""
    limit = _limit()
    if limit not in ("DEFAULT", "ALL") and not any(name in limit for name in BFLOAT16):
        return False
    try:
        import openvino
    except ImportError:
        return False
    return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def processor() -> str:
    """The processor's name, a digest of the instructions that it has, and the limit that the environment sets oneDNN."""
    return f"{_processor()} {_limit()}"


def _limit() -> str:
    return next(
        (
            os.environ[name].upper()
            for name in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
            if os.environ.get(name)
        ),
        "DEFAULT",
    )


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").split("\n\n")[0].splitlines()
    except OSError:  # elsewhere than on Linux
        return f"{platform.machine()} {platform.processor()}"
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    flags = facts.get("flags", facts.get("Features", ""))
    return f"{facts.get('model name', platform.machine())} {hashlib.sha256(flags.encode()).hexdigest()[:8]}"
