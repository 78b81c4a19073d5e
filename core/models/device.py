"""What a model computes on here: a graphics card or the processor, and in which precision."""

from __future__ import annotations


def device() -> str:
    """`cuda:0` where torch sees a graphics card, else `cpu`."""
    import torch

    return "cuda:0" if torch.cuda.is_available() else "cpu"


def computes_in_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16, as OpenVINO tells; False where it is not installed."""
    try:
        import openvino
    except ImportError:
        return False
    return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
