"""Shared parts of the commands: exit codes, options, output, a progress bar, and jobs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from core.errors import BadInput, HopscopeError, split_command
from core.io.hub_sets import fetch_set, is_set_id
from core.io.json_text import json_text
from core.watch import Watch

EXIT_OK, EXIT_FAILED, EXIT_WRONG_INPUT, EXIT_INTERRUPTED = 0, 1, 2, 130
"""Exit codes of a command: success, failure, wrong input, interrupt by Ctrl-C.

A failure is a part that failed or a model that is missing.
"""
CANCEL_WAIT_SECONDS = 10  # most seconds to wait until a cancelled job has ended
JOB_POLL_SECONDS = 0.1  # between two checks of a running job
CONTINUE_NOTE = "What is done is saved; run the same command again to continue."
ENCODING_HELP = "of texts that are not UTF-8, as cp1251 or shift_jis (default: by the text)"
# Seconds between two lines of progress if standard error is no terminal.
LINE_INTERVAL_SECONDS = 30.0


class TerminalBar:
    """A progress bar on standard error, used in a `with` block.

    The block gets a `Watch`, to which the work reports. If standard error is not a terminal, such
    as a log, a line is printed every `LINE_INTERVAL_SECONDS` seconds.
    """

    def __init__(self, text: str):
        from tqdm import tqdm

        self._is_terminal = sys.stderr.isatty()
        self._print_time = time.monotonic()
        self._last_line = ""
        self._bar = tqdm(
            total=1.0,
            desc=text,
            leave=False,
            disable=not self._is_terminal,
            bar_format="{desc} {bar} {percentage:3.0f}%",
        )

    def __enter__(self) -> Watch:
        return Watch(report=self._show)

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _show(self, text: str, fraction: float | None = None) -> None:
        if not self._is_terminal:
            self._print_line(text, fraction)
            return
        self._bar.set_description_str(text[:60], refresh=False)
        self._bar.n = fraction or 0.0
        self._bar.refresh()

    def _print_line(self, text: str, fraction: float | None) -> None:
        """Print the progress if it has changed, at most once per interval."""
        percentage = "" if fraction is None else f" ({100 * fraction:.0f} %)"
        line = f"hopscope: {text}{percentage}"
        seconds = time.monotonic() - self._print_time
        if line != self._last_line and seconds >= LINE_INTERVAL_SECONDS:
            print(line, file=sys.stderr, flush=True)
            self._last_line = line
            self._print_time = time.monotonic()


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers from `low` to `high`. It is a `type` of argparse."""

    def parse(text: str) -> int:
        if text.removeprefix("-").isdecimal():
            number = int(text)
            if low <= number and (high is None or number <= high):
                return number
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise argparse.ArgumentTypeError(f"expected a whole number {bounds}, not “{text}”")

    return parse


def add_count(parser: Any, flag: str, default: int, text: str, low: int = 1) -> None:
    """Add an option that takes a whole number.

    Its help text names the default.

    Parameters
    ----------
    flag : the option, such as `--seed`.
    text : the help text without the default.
    low : the smallest number that is allowed.
    """
    parser.add_argument(
        flag,
        type=whole_number(low),
        default=default,
        metavar="N",
        help=f"{text} (default: {default})",
    )


def add_text(parser: Any, flag: str, metavar: str, text: str) -> None:
    """Add an option that takes a text; `text` is its help. Without the option it is empty."""
    parser.add_argument(flag, default="", metavar=metavar, help=text)


def add_list(parser: Any, flag: str, metavar: Any, text: str, **options: Any) -> None:
    """Add an option that can be repeated; `text` is its help. Its values are a list.

    `options` are further ones of `add_argument`.
    """
    parser.add_argument(flag, action="append", default=[], metavar=metavar, help=text, **options)


def add_switch(parser: Any, flag: str, text: str) -> None:
    """Add an option without a value; `text` is its help. It is false by default."""
    parser.add_argument(flag, action="store_true", help=text)


port_number = whole_number(1, 65535)
"""Parser of a port number, as a `type` of argparse."""


def add_old_name(parser: Any, flag: str, dest: str, **options: Any) -> None:
    """Add an earlier name of an option, which is not in the help.

    `dest` is the destination of the option, and `options` are those of `add_argument`.
    """
    parser.add_argument(flag, dest=dest, help=argparse.SUPPRESS, **options)


def add_prompt(parser: Any) -> None:
    """Add the option that names another prompt for all methods."""
    add_text(
        parser,
        "--prompt",
        "NAME",
        "ask by another prompt: lego-graphrag or lego-graphrag-v1, walk-and-retrieve (as the "
        "papers print them), another name of core/prompts, or a file of your own with {question}, "
        "{paths}, {tables} or {passages} in it",
    )


def parse_sample(text: str) -> int | None:
    """Return the number of questions of a sample; None for “all”. Raises BadInput."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise BadInput(f"A sample is a whole number or “all”, not “{text}”.")
    return int(text)


def check_writable(file: Path) -> None:
    """Raise BadInput if a file is a folder, or its folder does not exist.

    It is called before long work whose result is written.
    """
    if file.is_dir() or not file.parent.is_dir():
        raise BadInput(f"{file} cannot be written: there is no such folder, or it is one.")


def write_text(file: Path, text: str) -> None:
    """Write a text into a file. Raises BadInput if that fails."""
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}.") from None


def print_json(data: Any, indent: int = 2) -> None:
    """Print plain data as JSON."""
    print(json_text(data, indent=indent))


def warn(sentences: Iterable[str]) -> None:
    """Print sentences on standard error, one per line."""
    for sentence in sentences:
        print(f"hopscope: {sentence}", file=sys.stderr)


def one_line_advice(message: str) -> str:
    """Return a message with its command, if it has one, on one line."""
    sentence, command = split_command(message)
    return f"{sentence.rstrip('.')}: {command}" if command else sentence


def local_path(name: str) -> str:
    """Return the path of a file that an option names.

    A file named `hf:NAME` or `irds:ID` is fetched, and a sentence on it is printed. Raises BadInput
    as `core.io.hub_sets.fetch_set` does.
    """
    if not is_set_id(name):
        return name
    with TerminalBar("Fetching") as watch:
        dataset = fetch_set(name, watch)
    warn([dataset.note])
    return str(dataset.path)


def local_paths(names: str) -> str:
    """Return names of question sets, separated by commas, each as `local_path` returns it."""
    return ",".join(local_path(name.strip()) for name in names.split(","))


def follow_job(job) -> None:
    """Show the progress of a job until it ends.

    Ctrl-C cancels the job, waits for its clean end, and is raised again as KeyboardInterrupt.
    """
    with TerminalBar("Starting") as progress:
        try:
            while not job.wait(JOB_POLL_SECONDS):
                progress.report(job.text, job.fraction)
        except KeyboardInterrupt:
            job.cancel()
            job.wait(CANCEL_WAIT_SECONDS)
            raise


def finish_job(job) -> Any:
    """Wait for a job that saves its progress, and return its result.

    Ctrl-C prints how to continue. Raises HopscopeError if the job failed.
    """
    try:
        follow_job(job)
    except KeyboardInterrupt:
        warn([CONTINUE_NOTE])
        raise
    if job.error:
        raise HopscopeError(job.error)
    return job.result


def run_as_job(name: str, work: Callable[[Any], Any]) -> Any:
    """Run `work` as a job in a thread, and return its result.

    The result is that of `finish_job`. `work` is called with the job, to which it reports its
    progress.
    """
    from core.runtime.jobs import Jobs

    return finish_job(Jobs(workers=1).run(name, work))
