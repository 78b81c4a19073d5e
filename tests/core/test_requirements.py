"""The two lists of packages hold the same packages. Every package has one version in each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def named(file: str) -> dict[str, str]:
    """The packages of a list, lower case, with the version where one is given."""
    found = re.findall(
        r"^([A-Za-z0-9][\w.-]*)(?:\[\w+\])?(?:==(\S+))?",
        (ROOT / file).read_text("utf-8"),
        re.MULTILINE,
    )
    return {name.lower().replace("_", "-"): version for name, version in found}


def test_the_gpu_list_holds_every_package_of_the_default_one():
    assert set(named("requirements.txt")) <= set(named("requirements-gpu.txt"))


@pytest.mark.parametrize(
    ("wanted", "pins"),
    [("requirements.txt", "constraints.txt"), ("requirements-gpu.txt", "constraints-gpu.txt")],
)
def test_every_package_is_pinned(wanted, pins):
    versions, held = named(wanted), named(pins)
    assert {name for name, version in versions.items() if not (version or held.get(name))} == set()
    assert {
        name: version
        for name, version in versions.items()
        if version and held.get(name, version) != version
    } == {}


def test_every_import_is_declared():
    """Every package that the code imports stands in the list itself.

    It is not enough that another package brings it along.
    """
    import sys
    from importlib.metadata import packages_distributions

    provides = packages_distributions()
    declared = set(named("requirements.txt")) | set(named("requirements-gpu.txt"))
    files = [
        ROOT / "app.py",
        ROOT / "main.py",
        *(ROOT / "core").rglob("*.py"),
        *(ROOT / "pages").rglob("*.py"),
    ]
    # A line of a text that begins like an import names no package, or one that is declared.
    line = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)
    imported = {name for file in files for name in line.findall(file.read_text("utf-8"))} - {
        *sys.stdlib_module_names,
        "core",
        "pages",
    }
    known = {
        name: {one.lower().replace("_", "-") for one in provides[name]}
        for name in imported
        if name in provides
    }
    assert {name for name, distributions in known.items() if not distributions & declared} == set()


def test_a_plain_install_has_digests_of_the_pinned_versions():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {re.match(r"[\w.-]+", text)[0] for text in project["dependencies"]}
    text = (ROOT / "constraints-hashes.txt").read_text("utf-8")
    blocks = re.findall(
        r"^(\S+?)(?:\[\w+\])?==(\S+)[^\n]*((?:\n    --hash=sha256:[0-9a-f]{64}.*)+)", text, re.M
    )
    locked = {name.lower().replace("_", "-"): version for name, version, _ in blocks}
    assert len(blocks) == len(re.findall("^[^# ]", text, re.M))
    assert {name.lower().replace("_", "-") for name in wanted} <= set(locked)
    pins = named("constraints.txt")
    assert {
        name: version for name, version in locked.items() if pins.get(name, version) != version
    } == {}


def test_heavy_packages_are_extras():
    """Ray, FlagEmbedding and Playwright come with an extra, not with a plain install."""
    text = (ROOT / "constraints-hashes.txt").read_text("utf-8").lower()
    for name in ("ray", "flagembedding", "playwright", "torch", "vllm", "transformers"):
        assert not re.search(rf"^{name}==", text, re.M), name
        assert name == "vllm" or name in named("requirements.txt")
