"""A person's own folder with one small corpus."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.parts.shared.session import engine
from tests.films import Bag
from tests.pages.texts.texts_kit import make


@pytest.fixture()
def small(monkeypatch, tmp_path):
    """A corpus of two documents, an encoder that counts words, and no language model."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path / "none"))
    models, bag = engine().models, Bag()
    told = models.info
    monkeypatch.setattr(models, "encoder", lambda name="encoder": bag)
    monkeypatch.setattr(
        models,
        "info",
        lambda name: replace(told(name), present=True) if name == "encoder" else told(name),
    )
    yield make()
    for jobs in (engine().preparing, engine().jobs):
        for key in [
            key
            for key in jobs._jobs
            if key.startswith(("build-", "cost-", "cut-", "corpus-", "bring-"))
        ]:
            jobs._jobs.pop(key).cancel()
