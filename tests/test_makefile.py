"""`make install` is run as a person sees it.

A server of packages on loopback stands in the place of the usual index and of PyTorch's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.io.home import ROOT

FIRST = "Installing the packages; the first time this takes a few minutes."
NOT_REACHED = "PyTorch's index cannot be reached; taking torch from the usual one."
TORCH = "2.13.0"
pytestmark = [
    pytest.mark.skipif(not shutil.which("make"), reason="make is not on this computer"),
    pytest.mark.skipif(
        bool(shutil.which("nvidia-smi")), reason="with a graphics card PyTorch's index is not asked"
    ),
]


class Silent(SimpleHTTPRequestHandler):
    """Files, without a line for each request."""

    def log_message(self, *_):
        pass


def wheel(folder, version: str) -> None:
    """A package torch without any module, in the folder where an index has it."""
    folder.mkdir(parents=True)
    about = f"torch-{version}.dist-info"
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as file:
        file.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n"
        )
        file.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(f"{about}/RECORD", "")


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """(address of the server, an environment with pip)."""
    folder = tmp_path_factory.mktemp("packages")
    wheel(folder / "usual" / "torch", TORCH)
    wheel(folder / "cpu" / "torch", f"{TORCH}+cpu")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "environment")], check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder / "environment"
    server.shutdown()
    server.server_close()


def install(packages, folder, index: str, wanted: str = "") -> subprocess.CompletedProcess:
    """`make install` of torch and a list of packages, into the environment, without this computer's settings of pip."""
    address, environment = packages
    (folder / "wanted.txt").write_text(wanted)
    (environment / ".installed").unlink(missing_ok=True)
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PIP_", "MAKE", "MFLAGS")) and "proxy" not in key.lower()
    }
    settings = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": f"{address}/usual",
        "PIP_RETRIES": "0",
    }
    given = [
        "UV=",  # by pip, also where uv is installed
        f"VENV={environment}",
        f"REQUIREMENTS={folder / 'wanted.txt'}",
        f"CPU_INDEX={index}",
        "COMMAND=",  # its builder is among the packages, of which this list has none
    ]
    command = ["make", "--no-print-directory", "install", *given]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=kept | settings,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def installed(packages) -> str:
    """The version of torch in the environment; it is taken out of there."""
    [found] = packages[1].glob("lib/python*/site-packages/torch-*.dist-info")
    shutil.rmtree(found)
    return found.name.removeprefix("torch-").removesuffix(".dist-info")


def test_an_index_that_cannot_be_reached_is_one_plain_line(packages, tmp_path):
    ended = install(packages, tmp_path, "http://127.0.0.1:9/whl/cpu")
    assert (ended.returncode, ended.stdout.splitlines()) == (0, [FIRST, NOT_REACHED])
    assert installed(packages) == TORCH


def test_where_it_answers_the_build_for_processors_is_taken(packages, tmp_path):
    ended = install(packages, tmp_path, f"{packages[0]}/cpu")
    assert (ended.returncode, ended.stdout.splitlines()) == (0, [FIRST])
    assert installed(packages) == f"{TORCH}+cpu"


def test_an_install_that_fails_shows_pip_s_own_error_and_is_not_taken_for_done(packages, tmp_path):
    ended = install(packages, tmp_path, f"{packages[0]}/cpu", "no-such-package==1.0\n")
    assert (
        ended.returncode
        and "No matching distribution found for no-such-package==1.0" in ended.stdout
    )
    assert not (packages[1] / ".installed").exists()


@pytest.mark.parametrize("has_uv", [True, False])
def test_packages_are_installed_by_uv_where_it_is_there(tmp_path, has_uv):
    program = tmp_path / "uv"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    uv = [] if has_uv else ["UV="]
    command = ["make", "--dry-run", "install", f"VENV={tmp_path / 'environment'}", *uv]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    commands = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PATH": path}, text=True, capture_output=True
    ).stdout
    assert (f"{program} pip install" in commands) == has_uv
    assert ("-m pip install" in commands) != has_uv
    # the command of the environment runs this checkout, and is made again for other metadata
    assert "--no-deps --no-build-isolation -e ." in commands
