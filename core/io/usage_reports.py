"""Settings that stop libraries from sending usage reports and writing files for them."""

from __future__ import annotations

import os
import sys

SILENT_VARIABLES = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
}
# The module that sends an event when OpenVINO is imported; OpenVINO works without it.
REPORTING_MODULE = "openvino_telemetry"


def keep_quiet() -> None:
    """Switch usage reports off for this process and its children.

    Call this before the libraries are imported.
    """
    os.environ.update(SILENT_VARIABLES)
    # None marks a module that the import system refuses to import.
    sys.modules.setdefault(REPORTING_MODULE, None)  # type: ignore[arg-type]
