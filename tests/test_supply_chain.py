"""The report on what an installation brings: its rules, on small inputs."""

from __future__ import annotations

import tomllib
from email.message import Message

import pytest
import yaml

from core.io.home import ROOT
from tests import supply_chain
from tests.supply_chain import is_allowed, licence_faults, licences_of, required


class FakeDistribution:
    """A distribution of these headers and requirements."""

    def __init__(self, *headers: tuple[str, str], requires: tuple[str, ...] = ()):
        self.metadata, self.requires = Message(), requires
        for name, value in headers:
            self.metadata[name] = value


MIT = FakeDistribution(("License-Expression", "MIT"))
GPL = FakeDistribution(("License", "GNU General Public License (GPL)\nVersion 2"))


@pytest.mark.parametrize(
    ("distribution", "licences"),
    [
        (MIT, ["MIT"]),
        (
            FakeDistribution(
                ("Classifier", "License :: OSI Approved :: BSD License"), ("License", "x")
            ),
            ["BSD-3-Clause"],
        ),
        (GPL, ["GNU General Public License (GPL)"]),
        (FakeDistribution(), ["unknown"]),
    ],
)
def test_a_licence_is_read(distribution, licences):
    assert licences_of(distribution) == licences


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 WITH LLVM-exception AND BSL-1.0", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND (MIT OR Apache-2.0)", False),
        ("LGPL-2.1-or-later", False),
        ("unknown", False),
    ],
)
def test_a_licence_is_allowed_by_its_parts(licence, allowed):
    assert is_allowed(licence) is allowed


def test_other_licences_are_named_and_refused(capsys, monkeypatch):
    monkeypatch.setitem(supply_chain.RULES["accepted"], "known-*", "for a test")
    faults = licence_faults({"good": MIT, "bad": GPL, "known-gpl": GPL}, {"bad"})
    said = capsys.readouterr().out
    assert [fault.split()[0] for fault in faults] == ["bad"]
    assert "bad: GNU General Public License (GPL) (pip install hopscope). NOT ALLOWED" in said
    assert "(extras or tests). for a test" in said and "good" not in said


def test_what_a_plain_install_leads_to_is_followed():
    installed = {
        "networkx": FakeDistribution(requires=("numpy>=1", 'torch; extra == "gpu"')),
        "pypdf": FakeDistribution(requires=('cryptography; extra == "crypto"',)),
        "numpy": FakeDistribution(),
        "torch": FakeDistribution(),
        "cryptography": FakeDistribution(),
    }
    assert required(installed) == {"networkx", "numpy", "pypdf", "cryptography"}


def test_reasons_are_of_packages_that_are_pinned():
    pins = (ROOT / "constraints.txt").read_text("utf-8").lower().replace("_", "-")
    for name in tomllib.loads((ROOT / "tests/supply_chain.toml").read_text("utf-8"))["accepted"]:
        assert name.startswith(("nvidia", "cuda")) or f"\n{name}==" in pins


def test_weights_and_binary_files_have_digests():
    components, faults = supply_chain.weight_components()
    assert faults == [] and len(components) > 30
    (data,) = supply_chain.data_components(["data/nations/triples.tsv.gz", "core/cli.py"])
    assert data["name"] == "data/nations/triples.tsv.gz" and "licenses" not in data
    assert all(len(one["hashes"][0]["content"]) == 64 for one in [*components, data])


def test_a_source_that_does_not_answer_is_said(capsys, monkeypatch):
    monkeypatch.setattr(supply_chain, "AUDIT_SOURCE", "http://127.0.0.1:9/{}/{}")
    assert supply_chain.audit_faults() == []
    assert "UNKNOWN: pip-audit did not run" in capsys.readouterr().out


def test_only_a_tag_publishes_and_no_password_is_stored():
    workflow = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text("utf-8"))
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML reads “on” as true
    publish = workflow["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"} and publish["environment"] == "pypi"
    assert "secrets." not in (ROOT / ".github/workflows/publish.yml").read_text("utf-8")
