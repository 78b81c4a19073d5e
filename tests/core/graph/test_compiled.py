"""Cached compiled loops are used only for the sources that they were compiled from."""

import os
import subprocess
import sys
from pathlib import Path

from core.graph.compiled import set_numba_cache_folder

ROOT = Path(__file__).parents[3]
CALLED = "from numba import njit\n\n@njit(cache=True)\ndef one():\n    return {}\n"
CALLER = (
    "from numba import njit\nfrom loops.called import one\n\n@njit(cache=True)\ndef "
    "twice():\n    return 2 * one()\n"
)
RUN = """
import os
from pathlib import Path
from core.graph.compiled import set_numba_cache_folder
os.environ.pop("NUMBA_CACHE_DIR")  # set where this package was imported
set_numba_cache_folder(Path("loops"))
from loops.caller import twice
print(twice())
"""


def test_a_loop_is_compiled_again_when_a_called_file_changes(tmp_path):
    folder = tmp_path / "loops"
    folder.mkdir()
    (folder / "caller.py").write_text(CALLER)
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    told = []
    for number in (1, 5, 5):
        (folder / "called.py").write_text(CALLED.format(number))
        command = [sys.executable, "-c", RUN]
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            env=kept | {"PYTHONPATH": f"{ROOT}:."},
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(int(ran.stdout))
        # The compiled code of earlier sources is deleted.
        assert len(list((folder / "__pycache__").glob("loops-*"))) == 1
    assert told == [2, 10, 10]


def test_a_chosen_folder_of_compiled_loops_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    set_numba_cache_folder(tmp_path)
    assert (
        os.environ["NUMBA_CACHE_DIR"] == str(tmp_path) and not (tmp_path / "__pycache__").exists()
    )
