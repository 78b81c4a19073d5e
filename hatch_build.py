"""What makes a wheel of the checkout: all of it below one package, `hopscope`, so that nothing of ours is a top-level module of anybody.

In the checkout code imports `core` and `pages`; in the wheel it imports `hopscope.core` and `hopscope.pages`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = (
    "app.py",
    "main.py",
    "models.toml",
    "core",
    "pages",
    "assets",
    "data",
    "static",
    ".streamlit/config.toml",
)
OWN = re.compile(r"^(\s*(?:>>> |\.\.\. )?)(from|import) (core|pages)(?=[ .])", re.MULTILINE)


def in_package(code: str) -> str:
    """A Python file's text as it reads below the package.

    >>> in_package("from core.types import State\\nfrom pages.parts import board")
    'from hopscope.core.types import State\\nfrom hopscope.pages.parts import board'
    """
    return OWN.sub(r"\1\2 hopscope.\3", code)


def shipped(root: Path) -> list[Path]:
    """The files that ship, below `root`, without the folders of data that are not for a wheel."""
    table = tomllib.loads((root / "data/licences.toml").read_text("utf-8"))
    absent = [Path("data", name) for name, row in table.items() if not row["in_wheel"]]
    return [
        path
        for path in known_files(root)
        if not any(path.is_relative_to(folder) for folder in absent)
    ]


def known_files(root: Path) -> list[Path]:
    """Files that git knows or would take, or in an unpacked source archive all that lie there."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard", "--", *SHIPPED],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0 and listed.stdout:
        return [
            Path(name) for name in listed.stdout.split("\0") if name and (root / name).is_file()
        ]
    inside = [
        path
        for name in SHIPPED
        for path in ([root / name] if (root / name).is_file() else (root / name).rglob("*"))
    ]
    return sorted(
        path.relative_to(root)
        for path in inside
        if path.is_file() and "__pycache__" not in path.parts
    )


def write_package(root: Path, out: Path) -> None:
    """Write the package's files below `out`."""
    for path in shipped(root):
        target = out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            target.write_text(in_package((root / path).read_text("utf-8")), "utf-8")
        else:
            shutil.copyfile(root / path, target)
    for path in (root / "hopscope").glob("*.py"):
        (out / path.name).write_text(in_package(path.read_text("utf-8")), "utf-8")


class CustomBuildHook(BuildHookInterface):
    """Gives hatchling the rewritten files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hopscope-wheel-")
        if version == "editable":  # a path file to the checkout, by dev-mode-dirs
            return
        write_package(Path(self.root), Path(self._folder.name))
        build_data["force_include"][self._folder.name] = "hopscope"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()
