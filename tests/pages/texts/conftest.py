"""A person's own folder with one small corpus."""

from __future__ import annotations

import pytest

from pages.parts.shared.session import engine
from tests.pages.texts.texts_kit import make


@pytest.fixture()
def small(monkeypatch, tmp_path):
    """A corpus of two documents, and no language model."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path / "none"))
    yield make()
    for jobs in (engine().preparing, engine().jobs):
        for key in [key for key in jobs._jobs if key.startswith(("build-", "cost-", "cut-", "corpus-", "bring-"))]:
            jobs._jobs.pop(key).cancel()
