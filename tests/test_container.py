"""Files around a container, a Space and a repository are read as their programs read them.

What they run exists.
"""

from __future__ import annotations

import json
import re
import tomllib

import pytest
import yaml

from core import __version__
from core.cli import parser
from core.io.home import ROOT

DOCKERFILES = ("Dockerfile", "docker/space/Dockerfile")
KNOWN = {"FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "CMD"}


def instructions(name: str) -> list[tuple[str, str]]:
    lines = [
        line
        for line in (ROOT / name).read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


@pytest.mark.parametrize("name", DOCKERFILES)
def test_a_dockerfile_runs_a_command_that_is_known(name):
    found = instructions(name)
    assert {word for word, _ in found} <= KNOWN and found[0][0] == "FROM"
    program, *arguments = json.loads(dict(found)["CMD"])
    options = parser().parse_args(arguments)
    assert (
        program == "hopscope" and str(options.port) == dict(found)["EXPOSE"] and options.no_browser
    )
    assert dict(found)["USER"] != "root"


@pytest.mark.parametrize("name", DOCKERFILES)
def test_it_installs_what_the_checkout_pins(name):
    text = (ROOT / name).read_text("utf-8")
    # which only the extra of other encoders brings
    assert "-c constraints.txt" in text and "torch" not in text
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    assert set(re.findall(r"\.whl\)\[(\w+)\]", text)) <= set(extras)


def test_compose_serves_this_computer_alone():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    assert (
        services["hopscope"]["ports"] == ["127.0.0.1:8501:8501"]
        and services["hopscope"]["environment"]["HOPSCOPE_HOME"] == "/data"
    )
    assert services["ollama"]["profiles"] == ["ollama"]


def test_a_space_knows_its_port():
    _, header, _ = (ROOT / "docker/space/README.md").read_text("utf-8").split("---\n", 2)
    assert (
        str(yaml.safe_load(header)["app_port"])
        == dict(instructions("docker/space/Dockerfile"))["EXPOSE"]
    )


def test_one_version_is_named():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == __version__ and cited["license"] == "Apache-2.0"
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"version = {{{__version__}}}" in readme


def test_forms_and_workflows_can_be_read():
    for file in (ROOT / ".github").rglob("*.yml"):
        assert yaml.safe_load(file.read_text("utf-8"))["name"], file
    steps = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))["jobs"][
        "tests"
    ]["steps"]
    assert steps[-1]["run"] == ".ci/run"
