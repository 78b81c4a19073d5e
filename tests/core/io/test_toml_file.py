"""TOML files with numbers of thousands of digits, and other faults."""

from __future__ import annotations

import tomllib

import pytest

from core.io.toml_file import read_toml
from core.models.declarations import merged_declarations

LONG = "7" * 5_000
ROW = '[model.far]\nkind = "chat"\nbackend = "openai"\nurl = "http://localhost:1/v1"\nmodel = "m"\n'


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        (f"a = 1\nb = {LONG}\n", "b", 2),
        (f"[t]\n\n'c d' = 1\n x-y = -{LONG}", "x-y", 4),
        (f"list = [\n 1,\n {LONG},\n]", "list", 3),
    ],
)
def test_the_line_and_the_key_of_a_long_number_are_named(tmp_path, text, key, line):
    file = tmp_path / "a.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(tomllib.TOMLDecodeError) as told:
        read_toml(file)
    said = str(told.value)
    assert f"“{key}”" in said and "5,000 digits" in said and f"line {line}" in said


def test_deeply_nested_toml_is_refused(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("a = " + "[" * 50_000, "utf-8")
    with pytest.raises(tomllib.TOMLDecodeError):
        read_toml(file)


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (f"context = {LONG}", "“context”"),
        ("context = " + "7" * 400, '"context"'),
        ("timeout = " + "7" * 400, '"timeout"'),
        ("timeout = nan", '"timeout"'),
        ("timeout = inf", '"timeout"'),
        ("timeout = 0", '"timeout"'),
        ("context = -1", '"context"'),
        ("memory = 0x" + "f" * 5_000, '"memory"'),
    ],
)
def test_an_impossible_number_in_models_toml_gives_an_error_sentence(
    tmp_path, monkeypatch, row, named
):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    (tmp_path / "models.toml").write_text(ROW + row + "\n", "utf-8")
    (fault,) = merged_declarations().faults
    assert named in fault and str(tmp_path / "models.toml") in fault and len(fault) < 300


def test_servers_are_sent_at_least_one_text_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    rows = "".join(
        f'[model.{name}]\nkind = "{kind}"\nbackend = "{backend}"\nurl = "http://localhost:1"\n'
        f'model = "m"\n{key} = 0\n'
        for name, kind, backend, key in (
            ("a", "encoder", "openai-embeddings", "batch"),
            ("b", "reranker", "rerank", "at_once"),
        )
    )
    (tmp_path / "models.toml").write_text(rows, "utf-8")
    assert len(merged_declarations().faults) == 2


def test_an_unreadable_file_gives_an_error_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    (tmp_path / "models.toml").mkdir()
    (fault,) = merged_declarations().faults
    assert "models.toml" in fault and "read" in fault
