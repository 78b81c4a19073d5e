"""Start of another Python process that imports what this one imports."""

from __future__ import annotations

import os
import sys

from core.io.home import ROOT


def python_command(*arguments: str) -> list[str]:
    """Return the command of a Python process.

    The current folder is not on its path. In a checkout, the folder would hide the installed package.
    """
    return [sys.executable, "-P", *arguments]


def python_environment() -> dict[str, str]:
    """Return the environment of the process, which imports from the places of this one.

    The folder of this package is among them: where it is not installed, it may be on the path of
    this process as the current folder alone.
    """
    places = [*filter(None, sys.path), str(ROOT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
