"""The same jobs without a browser: one command a module of `core/commands`.

Exit codes: 0 all went well; 1 a lane failed or a model was missing; 2 the input was wrong; 130 interrupted.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from core import __version__
from core.commands.terminal import FAILED, INTERRUPTED, OK, WRONG, warn
from core.errors import BadInput, BadParameter, HopscopeError, StoreError, UnknownEntity
from core.io.home import cannot_save

if TYPE_CHECKING:
    from core.engine import Engine

__all__ = ["FAILED", "INTERRUPTED", "OK", "WRONG", "main", "parser"]
COMMANDS = (
    "ask",
    "instances",
    "bring",
    "build",
    "cases",
    "corpus",
    "demo",
    "evaluate",
    "finetune",
    "graph",
    "index",
    "judge",
    "mcp",
    "models",
    "prepare",
    "questions",
    "reports",
    "reproduce",
    "run",
    "search",
    "serve",
)


def main(arguments: Sequence[str] | None = None, engine: Callable[[], Engine] | None = None) -> int:
    """Run one command, in the environment of `engine()` where it needs one (default: an engine of its own); the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    options = parser([name for name in COMMANDS if name in given[:1]] or COMMANDS).parse_args(given)
    with ExitStack() as opened:
        options.engine = engine or (lambda: opened.enter_context(closing(_engine())))
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    """Run a parsed command and return its exit code; an error becomes one sentence."""
    try:
        warn(filter(None, [cannot_save()]))
        code = options.run(options)
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()  # what goes wrong with it is said here, and not at the end of the process
        return code
    except (BadInput, BadParameter, UnknownEntity, StoreError) as error:
        return _complain(error, WRONG)
    except HopscopeError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return _complain("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            if error.filename is None:
                raise
            return _complain(f"{error.filename} cannot be used: {error.strerror}.", FAILED)
        # what is still to be printed would fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _complain("What is printed cannot be written: the disk is full.", FAILED)


def parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The grammar of these commands; only their modules are loaded, with all that they import."""
    top = argparse.ArgumentParser(
        prog="python -m core", description="Explore how graph retrievers find their answers."
    )
    top.add_argument("--version", action="version", version=f"Hopscope {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for name in names:
        importlib.import_module(f"{__package__}.commands.{name}").add(commands)
    return top


def _engine() -> Engine:
    from core.engine import Engine  # takes half a second, which most commands need not wait for

    return Engine()


def _complain(error: object, code: int) -> int:
    print(f"hopscope: {error}", file=sys.stderr)
    return code
