"""Fault tests: kills, full disks, read-only folders, parallel processes, changed bytes.

Corrupt results cannot be opened, differ from undisturbed work, or end without a readable error.
Lost results were promised but are missing. A process has recovered when the same command has done
its work, and the server when the next question is answered.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.benchmarks.fault_disk import full, read_only
from tests.benchmarks.fault_flips import KINDS as FLIPPED
from tests.benchmarks.fault_flips import flips
from tests.benchmarks.fault_kills import Met, kills
from tests.benchmarks.fault_server import killed, together
from tests.benchmarks.fault_work import WORK

KILLED = (*WORK, "server")
OTHER = ("full", "readonly", "together", "flips")
HEAD = "| what | times | corrupt | lost | back: median, worst | |\n|---|---:|---:|---:|---|---|"


def run(
    count: int = 100,
    kinds: Sequence[str] = (*KILLED, *OTHER),
    seed: int = 0,
    bytes_changed: int = 450,
) -> Iterator[Met]:
    """Run `count` kills spread over the kinds that are killed, then all other faults.

    These include `bytes_changed` changed bytes.
    """
    chosen = [kind for kind in KILLED if kind in kinds]
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        place = Path(folder)
        for number, kind in enumerate(chosen):
            share = count // len(chosen) + (number < count % len(chosen))
            if share:
                yield (
                    killed(place / kind, share, seed)
                    if kind == "server"
                    else kills(kind, place / kind, share, seed)
                )
        others: dict[str, Callable[[str, Path], Met]] = {"full": full, "readonly": read_only}
        for name, fault in others.items():
            for kind in WORK if name in kinds else ():
                yield fault(kind, place / f"{name}-{kind}")
        if "together" in kinds:
            yield together(place / "together")
        if "flips" in kinds:
            yield from flips(place / "flips", bytes_changed // len(FLIPPED), seed)


def main(arguments: list[str]) -> None:
    """Run the command.

    python -m tests.benchmarks faults [--kills N] [--kinds build server full flips ...]
        [--bytes N] [--seed N]
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks faults")
    parser.add_argument(
        "--kills",
        type=int,
        default=100,
        metavar="N",
        help="kills in all, spread over the kinds (default: 100)",
    )
    parser.add_argument("--kinds", nargs="+", choices=(*KILLED, *OTHER), default=[*KILLED, *OTHER])
    parser.add_argument(
        "--bytes", type=int, default=450, metavar="N", help="bytes changed in all (default: 450)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments that are drawn")
    options = parser.parse_args(arguments)
    print(HEAD)
    wrong = []
    for met in run(options.kills, options.kinds, options.seed, options.bytes):
        print(met.words(), flush=True)
        wrong += [*met.corrupt, *met.lost]
    for sentence in wrong:
        print(sentence)
