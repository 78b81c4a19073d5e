"""Reports of use that libraries send, and the files that they write for it, are switched off."""

from __future__ import annotations

import os
import sys

SILENT = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
}
REPORTER = "openvino_telemetry"  # sends an event when OpenVINO is imported; OpenVINO does without where it cannot be imported


def keep_quiet() -> None:
    """Switch reports off for this process and those that it starts. To be called before the libraries are imported."""
    os.environ.update(SILENT)
    sys.modules.setdefault(REPORTER, None)  # type: ignore[arg-type]  # the import system's own mark of what is not to be imported
