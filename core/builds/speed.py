"""Estimated duration of builds, from the speed of this computer.

The speed of a language model is known from its saved replies, that of other operators from earlier
builds.
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
    """Wall-clock time of an operator in a build.

    `new_texts` counts the texts without a saved result, which it read or encoded.
    """

    seconds: float
    new_texts: int


def record_speeds(line: BuildLine, times: Mapping[BuildOperator, StepTime], chunks: int) -> None:
    """Record the seconds per chunk of each operator.

    They are those of a build that read all chunks.

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
    if chunks < MIN_TIMED_CHUNKS or any(times[one].new_texts < chunks for one in extractors):
        return
    speeds = _load_speeds()
    for operator, step_time in times.items():
        if step_time.new_texts or not saves_results(operator):
            speeds[_key(line, operator)] = step_time.seconds / chunks
    for operator, step_time in times.items():
        if step_time.new_texts and operator.stage == "index":
            speeds[ENCODED_KEY] = step_time.seconds / step_time.new_texts
    text = json.dumps(speeds, indent=1)
    write_atomically(home_folder() / SPEEDS_FILE, lambda stream: stream.write(text.encode()))


def estimate_seconds(line: BuildLine, chunks: int, unsaved: int, new_texts: int) -> float | None:
    """Return the estimated seconds of a build on this computer.

    Parameters
    ----------
    line : the line of the build, without language models.
    chunks : the number of all chunks.
    unsaved : the number of chunks without saved facts, which an extractor has to read.
    new_texts : about how many chunks have texts without a saved vector.

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
            total += seconds * unsaved
        else:
            total += seconds * (new_texts if saves_results(operator) else chunks)
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
    """Return whether the facts or vectors of an operator are saved and reused."""
    return operator.stage == "extract" or bool(operator.models())


def _load_speeds() -> dict[str, float]:
    """Return the saved speeds; empty if the file is missing or damaged."""
    try:
        speeds = json.loads((home_folder() / SPEEDS_FILE).read_text("utf-8"))
        return {str(name): float(seconds) for name, seconds in speeds.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def estimate_model_seconds(ctx: BuildContext, name: str, usage: Usage) -> float | None:
    """Return the estimated seconds of calls of a language model on this computer.

    Parameters
    ----------
    ctx : the models and the saved replies of the build.
    name : role or name of the language model.
    usage : the expected calls, and the tokens of all of them.

    Returns
    -------
    Seconds, in proportion to the mean time of a saved reply. 0 without calls; None if no reply is
    saved.
    """
    mean_call = ctx.replies.mean_cost(ctx.models.weights(name))
    if not usage.calls:
        return 0.0
    if mean_call is None:
        return None
    seconds, mean_in, mean_out = mean_call
    # Writing a token takes about as long as reading four. The ratio compares the length of an
    # expected call with that of a saved one.
    call_length = (usage.tokens_in + 4 * usage.tokens_out) / usage.calls
    ratio = call_length / max(1.0, mean_in + 4 * mean_out)
    return usage.calls * seconds * ratio
