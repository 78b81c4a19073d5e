"""The home folder of Hopscope is readable by its owner alone."""

import os
import stat
import subprocess
import sys

from core.io.home import ROOT, keep_private


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_command_writes_nothing_readable_by_others(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    (tmp_path / "t.tsv").write_text("A\tr\tB\n")
    command = [
        sys.executable,
        "-m",
        "core",
        "build",
        str(tmp_path / "t.tsv"),
        "--out",
        str(home / "graphs" / "mine"),
    ]
    subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "HOPSCOPE_HOME": str(home)},
        check=True,
        capture_output=True,
    )
    assert mode(home) == 0o700
    made = [path for path in home.rglob("*") if not path.is_symlink()]
    assert len(made) > 3 and not [path for path in made if mode(path) & 0o077]


def test_a_read_only_home_stays_read_only(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    # The mask of this process stays, as other tests run in it too.
    monkeypatch.setattr("os.umask", lambda mode: None)
    (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / "home").chmod(0o555)
    keep_private()
    assert mode(tmp_path / "home") == 0o500
