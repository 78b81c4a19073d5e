"""Size and time of a clean install of the wheel.

It needs a package index.

    python -m tests.benchmarks install [--extras EXTRAS ...]

Each set of extras gets a new environment, with the versions of constraints.txt. Megabytes are those
of files on disk by package. Files that pip compiles (`__pycache__`) are counted separately, since
uv compiles none. Seconds are processor time.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from core.io.home import ROOT

LARGEST = 25  # Packages of a table.


@dataclass(frozen=True)
class Installed:
    """An environment's packages with their bytes, and the costs of its install.

    Compiled files are counted apart. Seconds are processor and wall-clock time.
    """

    packages: dict[str, int]
    compiled: int
    seconds: tuple[float, float]


def sizes(site: Path) -> tuple[dict[str, int], int]:
    """Bytes of each package by its recorded files, and of all compiled files."""
    packages, compiled = {}, 0
    for record in site.glob("*.dist-info/RECORD"):
        name, total = record.parent.name.partition("-")[0], 0
        with record.open(encoding="utf-8", newline="") as rows:
            for path, *_ in csv.reader(rows):
                file = site / path
                size = file.stat().st_size if file.is_file() else 0
                if file.suffix == ".pyc":
                    compiled += size
                else:
                    total += size
        packages[name] = total
    return packages, compiled


def install(folder: Path, *wanted: str) -> Installed:
    """Make a new environment in `folder` and install `wanted` with pip.

    Raises CalledProcessError with pip's output.
    """
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    before, begun = os.times(), time.monotonic()
    pip = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        str(ROOT / "constraints.txt"),
        *wanted,
    ]
    subprocess.run(pip, check=True)
    after = os.times()
    took = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    (site,) = (
        folder.glob("lib*/python*/site-packages")
        if os.name != "nt"
        else [folder / "Lib/site-packages"]
    )
    return Installed(*sizes(site), (took, time.monotonic() - begun))


def table(found: Installed) -> str:
    """The largest packages as a table, and a line of totals."""
    shown = sorted(found.packages.items(), key=lambda one: -one[1])
    rest = sum(size for _, size in shown[LARGEST:])
    rows = [
        *shown[:LARGEST],
        (f"{max(0, len(shown) - LARGEST)} others", rest),
        ("compiled by pip", found.compiled),
    ]
    whole = sum(found.packages.values())
    took = "{:.0f} s of the processor, {:.0f} s of the clock".format(*found.seconds)
    lines = [
        (
            f"{whole / 1e6:,.0f} MB in {len(shown)} packages, "
            f"{(whole + found.compiled) / 1e6:,.0f} MB with what pip compiles; {took}"
        ),
        "",
    ]
    return "\n".join(
        [
            *lines,
            "| package | MB |",
            "|---|---:|",
            *(f"| {name} | {size / 1e6:,.0f} |" for name, size in rows),
        ]
    )


def main(arguments: list[str]) -> None:
    """Print a table for each set of extras."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks install", description=__doc__)
    parser.add_argument(
        "--extras",
        nargs="*",
        default=["", "encoders"],
        help="sets such as llm,encoders (default: none, and encoders)",
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="hopscope-install-") as made:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", made],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (wheel,) = Path(made).glob("*.whl")
        for number, extras in enumerate(options.extras):
            found = install(
                Path(made) / str(number), f"{wheel}[{extras}]" if extras else str(wheel)
            )
            print(f"\nhopscope{f'[{extras}]' if extras else ''}: {table(found)}", flush=True)
