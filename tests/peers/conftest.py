"""A user folder shared by the comparisons, so that inputs are read and encoded once."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory):
    return tmp_path_factory.mktemp("peers")


@pytest.fixture
def home(shared_home, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(shared_home))
    return shared_home
