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
# OpenVINO sends an event through this module when it is imported, and works without the module.
REPORTING_MODULE = "openvino_telemetry"


def disable_usage_reports() -> None:
    """Switch usage reports off for this process and its children.

    Call this before the libraries are imported, as some send a report on import.
    """
    os.environ.update(SILENT_VARIABLES)
    # None marks a module that the import system refuses to import.
    sys.modules.setdefault(REPORTING_MODULE, None)  # type: ignore[arg-type]
