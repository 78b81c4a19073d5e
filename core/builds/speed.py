"""Speed of building on this computer.

Language models are measured by saved replies, other operators by earlier builds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from core.builds.base import BuildContext, BuildLine, BuildOperator
from core.indexes.index_storage import write_atomically
from core.io.home import home_folder
from core.types import Usage

SPEEDS_FILE = "speeds.json"  # file in the person's folder: seconds per chunk, by operator
# Key in this file for the seconds per encoded text. It is used for vectors of chunks if no earlier
# build had to encode them.
ENCODED_KEY = "encoded"
MIN_TIMED_CHUNKS = 20  # fewest chunks of a build whose speed is recorded


@dataclass(frozen=True)
class StepTime:
    """Time of an operator in a build.

    `fresh` counts the texts that it read or encoded, as no result was saved.
    """

    seconds: float
    fresh: int


def record_speeds(line: BuildLine, times: Mapping[BuildOperator, StepTime], chunks: int) -> None:
    """Record the seconds per chunk of each operator, from a build that read all chunks.

    Parameters
    ----------
    line : the line of the build.
    times : time of each operator.
    chunks : number of chunks; nothing is recorded below `MIN_TIMED_CHUNKS`.

    Raises
    ------
    StoreError : the file cannot be written.
    """
    extractors = [operator for operator in line if operator.stage == "extract"]
    if chunks < MIN_TIMED_CHUNKS or any(times[one].fresh < chunks for one in extractors):
        return
    speeds = _load_speeds()
    for operator, step_time in times.items():
        if step_time.fresh or not saves_results(operator):
            speeds[_key(line, operator)] = step_time.seconds / chunks
    for operator, step_time in times.items():
        if step_time.fresh and operator.stage == "index":
            speeds[ENCODED_KEY] = step_time.seconds / step_time.fresh
    text = json.dumps(speeds, indent=1)
    write_atomically(home_folder() / SPEEDS_FILE, lambda stream: stream.write(text.encode()))


def estimate_seconds(line: BuildLine, chunks: int, read: int, encoded: int) -> float | None:
    """Return the estimated seconds of a build on this computer.

    Parameters
    ----------
    chunks : the number of all chunks.
    read : the number of chunks that an extractor still has to read.
    encoded : the number of texts to encode.

    Returns
    -------
    Seconds; None if one of its operators has not been measured yet.
    """
    speeds, total = _load_speeds(), 0.0
    for operator in line:
        seconds = speeds.get(_key(line, operator))
        if seconds is None and getattr(operator, "of", "") == "chunks":
            seconds = speeds.get(ENCODED_KEY)
        if seconds is None:
            return None
        if operator.stage == "extract":
            total += seconds * read
        else:
            total += seconds * (encoded if saves_results(operator) else chunks)
    return total


def _key(line: BuildLine, operator: BuildOperator) -> str:
    """Return the name under which the speed of an operator is saved.

    For vectors it includes the operator that makes the graph, which determines the number of
    vectors per chunk.
    """
    if operator.stage != "index":
        return repr(operator)
    maker = next((type(one).__name__ for one in line if "graph" in one.writes), "")
    return f"{maker} {operator!r}".strip()


def saves_results(operator: BuildOperator) -> bool:
    """Return whether the results of an operator are saved and reused."""
    return operator.stage == "extract" or bool(operator.models())


def _load_speeds() -> dict[str, float]:
    try:
        speeds = json.loads((home_folder() / SPEEDS_FILE).read_text("utf-8"))
        return {str(name): float(seconds) for name, seconds in speeds.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def estimate_model_seconds(ctx: BuildContext, name: str, usage: Usage) -> float | None:
    """Return the estimated seconds of calls of a language model on this computer.

    Parameters
    ----------
    ctx : the saved replies, by whose mean the time is estimated.
    name : role or name of the language model.
    usage : calls and tokens.

    Returns
    -------
    Seconds; None if no reply was measured.
    """
    mean_call = ctx.replies.mean_cost(ctx.models.weights(name))
    if not usage.calls:
        return 0.0
    if mean_call is None:
        return None
    seconds, read, written = mean_call
    # Writing a token takes as long as reading four.
    share = (usage.tokens_in + 4 * usage.tokens_out) / usage.calls / max(1.0, read + 4 * written)
    return usage.calls * seconds * share
