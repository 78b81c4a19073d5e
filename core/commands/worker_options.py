"""Options of commands whose work can be spread over several processes by Ray."""

from __future__ import annotations

import os

from core.runtime.cluster import Workers


def add_workers(parser) -> None:
    """Add the options `--workers` and `--cluster`."""
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="spread the work over N processes, each with a core and models of its own (needs Ray)",
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="have a Ray cluster do it (default with --workers: RAY_ADDRESS, else Ray is started "
        "here); without --workers all its cores",
    )


def workers_of(options) -> Workers | None:
    """Return the workers that the options ask for; None for this process alone.

    Raises BadParameter.
    """
    if options.workers is None and options.cluster is None:
        return None
    return Workers(options.workers or 0, options.cluster or os.environ.get("RAY_ADDRESS", ""))
