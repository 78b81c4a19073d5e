"""Commands in places other than a developer's: homes, terminals and ports."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
from argparse import Namespace

import pytest

from core.commands import run as run_command
from core.commands.run import browser_host
from core.errors import BadInput, StoreError
from core.graph.building.build import build
from core.io.home import ROOT, home_folder

POSIX = pytest.mark.skipif(os.name == "nt", reason="rights and signals of POSIX")


@pytest.fixture
def asked(tmp_path):
    """The command that asks a small graph, and the environment of a home of its own."""
    build([("Ann", "owns", "The Tern")], tmp_path / "boats", "boats")
    line = ["ask", "who", "--entity", "Ann", "--graph", str(tmp_path / "boats")]
    command = [sys.executable, "-m", "core", *line, "--method", "lego-1", "--no-llm"]
    return command, os.environ | {"HOPSCOPE_HOME": str(tmp_path / "home")}


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii"])
def test_letters_that_an_encoding_lacks_are_replaced(asked, encoding):
    command, environment = asked
    done = subprocess.run(
        command, env=environment | {"PYTHONIOENCODING": encoding}, cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode(encoding)
    assert "PageRank 1,000 -> shortest paths" in done.stdout.decode(encoding)


@POSIX
def test_closed_output_is_no_fault(asked):
    command, environment = asked
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], env=environment, cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0
    # a slow start tells its progress
    assert not re.search(b"Traceback|Exception|Error", done.stderr)


def test_named_home_is_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_HOME", "~/kept")
    assert home_folder() == tmp_path / "kept" and home_folder().is_dir()


def test_unknown_home_is_a_sentence(monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("HOPSCOPE_HOME")
    monkeypatch.setattr("core.io.home.Path.home", nobody)
    with pytest.raises(StoreError, match="HOPSCOPE_HOME"):
        home_folder()


@POSIX
@pytest.mark.parametrize("mode, after", [(0o1777, 0o1777), (0o770, 0o770), (0o755, 0o700)])
def test_home_that_others_may_write_keeps_its_rights(tmp_path, mode, after):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    code = "from core.io.home import keep_private, home_folder; keep_private(); (home_folder() / 'x').write_text('')"
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"HOPSCOPE_HOME": str(folder)},
        cwd=ROOT,
        check=True,
    )
    assert stat.S_IMODE(folder.stat().st_mode) == after
    assert stat.S_IMODE((folder / "x").stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
@pytest.mark.parametrize("folder", ["", "graphs"])
def test_folder_of_another_user_is_named(tmp_path, folder):
    home_of_another = tmp_path / "home"
    (home_of_another / "graphs").mkdir(parents=True)
    (home_of_another / folder).chmod(0o700)
    code = (
        "import os, sys\n"
        "from core.io.home import graphs_folder\nfrom core.errors import StoreError\n"
        "os.setuid(65534)\n"
        "try:\n    graphs_folder()\nexcept StoreError as error:\n    sys.exit(str(error))"
    )
    for parent in [tmp_path, *tmp_path.parents]:
        if parent.stat().st_uid == 0 and parent != parent.parent and len(parent.parts) > 2:
            parent.chmod(parent.stat().st_mode | 0o055)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"HOPSCOPE_HOME": str(home_of_another), "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and str(home_of_another / folder) in done.stderr
    assert "another user" in done.stderr


@pytest.mark.parametrize(
    "host, shown",
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::1", "[::1]"),
        ("::", "[::1]"),
        ("ann.local", "ann.local"),
    ],
)
def test_address_is_one_that_a_browser_opens(host, shown):
    assert browser_host(host) == shown


def test_taken_port_is_said_before_a_browser_opens(monkeypatch):
    monkeypatch.setattr(run_command.webbrowser, "open", lambda address: pytest.fail(address))
    monkeypatch.setattr(run_command.subprocess, "Popen", lambda *_: pytest.fail("a server began"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        with pytest.raises(BadInput, match=str(number)):
            run_command.serve(Namespace(host="127.0.0.1", port=number, no_browser=False), "")


def test_next_free_port_is_taken_where_none_was_named(monkeypatch, capsys):
    begun = []

    class RecordedServer:
        def __init__(self, command, env):
            begun.append(command)

        def wait(self):
            return 0

        def terminate(self):
            pass

    monkeypatch.setattr(run_command.subprocess, "Popen", RecordedServer)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        monkeypatch.setattr(run_command, "DEFAULT_APP_PORT", taken)
        run_command.serve(Namespace(host="127.0.0.1", port=None, no_browser=True), "cases")
    used = int(begun[0][-1])
    assert taken < used < taken + run_command.MAX_TRIED_PORTS
    assert capsys.readouterr().out == f"http://127.0.0.1:{used}/cases\n"


PREPARING = """
import time
from argparse import Namespace
from core.commands import prepare, run

def slow(engine):
    print("preparing", flush=True)
    time.sleep(600)

prepare.build_and_fetch = slow
run.run(Namespace(engine=lambda: None, port=8, host="127.0.0.1", no_browser=True))
"""


@POSIX
def test_told_to_end_while_it_prepares_it_ends():
    with subprocess.Popen(
        [sys.executable, "-c", PREPARING], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout.readline() == "preparing\n"
        command.send_signal(signal.SIGTERM)
        assert command.wait(60) == 128 + signal.SIGTERM


@POSIX
def test_compiled_loops_go_below_the_home_or_into_memory(tmp_path):
    code = (
        "import os, sys\nfrom pathlib import Path\nimport core.graph.compiled as compiled\n"
        "os.environ.pop('NUMBA_CACHE_DIR', None)\n"
        "compiled.set_numba_cache_folder(Path(sys.argv[1]))\n"
        "from numba import njit\n"
        "@njit(cache=True)\n"
        "def more(x):\n    return x + 1\n"
        "print(more(1), os.environ.get('NUMBA_CACHE_DIR', 'memory'))"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    for writable in (True, False):
        kept = tmp_path / f"home-{writable}"
        if not writable:
            kept.write_text("a file where the folder should be")
        done = subprocess.run(
            [sys.executable, str(script), "/proc/self"],  # nothing can be made there
            env=os.environ | {"HOPSCOPE_HOME": str(kept), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        number, place = done.stdout.split()
        assert number == "2"
        assert place.startswith(str(kept / "compiled")) if writable else place == "memory"
