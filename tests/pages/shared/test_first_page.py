"""Work that the first page leaves for later, so that it opens quickly."""

from __future__ import annotations

import subprocess
import sys

from streamlit import config
from streamlit.testing.v1 import AppTest

from core.datasets.sets import QuestionSet
from core.io.home import ROOT

IMPORT_ALL_PARTS = """
import importlib, pathlib, sys
for file in sorted(pathlib.Path("pages/parts").rglob("*.py")):
    importlib.import_module(".".join(file.with_suffix("").parts))
print([name for name in ("numba", "torch", "openvino") if name in sys.modules])
"""


def test_no_page_imports_a_compiler_or_a_model_library():
    listed = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL_PARTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout.strip() == "[]"


def test_the_first_page_reads_no_question_set(monkeypatch):
    read_sets = []
    read = QuestionSet._read
    monkeypatch.setattr(
        QuestionSet,
        "_read",
        lambda question_set: (read_sets.append(question_set), read(question_set))[1],
    )
    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120).run()
    assert not app.exception and app.session_state["hops"] == 3
    assert read_sets == []


def test_no_page_is_parsed_into_a_tree():
    """Python 3.11 may fail to, while another thread does the same, and the page is then an error."""
    assert config.get_option("runner.magicEnabled") is False
