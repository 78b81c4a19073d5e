"""No library sends usage reports, or writes outside the home folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib

from core.io.home import ROOT
from core.io.usage_reports import SILENT_VARIABLES

RUN = """
import core, os, sys
assert {name: os.environ.get(name) for name in core.io.usage_reports.SILENT_VARIABLES} == core.io.usage_reports.SILENT_VARIABLES
import socket
def refused(*_): raise AssertionError("somebody is called")
socket.getaddrinfo = socket.socket.connect = refused
import openvino, huggingface_hub, streamlit
from openvino.tools.ovc import telemetry_utils
assert telemetry_utils.tm.__name__.endswith("telemetry_stub")
from huggingface_hub.constants import HF_HUB_DISABLE_TELEMETRY
assert HF_HUB_DISABLE_TELEMETRY
from core.io.home import home_folder
(home_folder() / "written").touch()
"""


def test_nothing_is_written_outside_the_persons_folder(tmp_path):
    empty, own = tmp_path / "empty", tmp_path / "own"
    empty.mkdir()
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in SILENT_VARIABLES and not name.startswith(("XDG_", "HF_"))
    }
    environment |= {"HOME": str(empty), "HOPSCOPE_HOME": str(own)}
    for arguments in (["-c", RUN], ["-m", "core", "instances"]):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    assert list(empty.rglob("*")) == [] and (own / "written").exists()


def test_the_browser_sends_no_statistics():
    assert (
        tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["browser"][
            "gatherUsageStats"
        ]
        is False
    )
