"""Command line: the work of the app without a browser.

Each command is a module of `core.commands`.

Exit codes: 0 success; 1 a lane failed or a model was missing; 2 wrong input; 130 interrupted.
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
from core.commands.terminal import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_WRONG_INPUT, warn
from core.errors import BadInput, BadParameter, HopscopeError, StoreError, UnknownEntity
from core.io.home import save_fault

if TYPE_CHECKING:
    from core.engine import Engine

__all__ = ["EXIT_FAILED", "EXIT_INTERRUPTED", "EXIT_OK", "EXIT_WRONG_INPUT", "main", "parser"]
COMMAND_NAMES = (
    "ask",
    "bring",
    "build",
    "cases",
    "corpus",
    "data",
    "demo",
    "evaluate",
    "finetune",
    "graph",
    "index",
    "judge",
    "mcp",
    "methods",
    "models",
    "prepare",
    "questions",
    "reports",
    "reproduce",
    "run",
    "search",
    "serve",
)

OLD_NAMES = {"instances": "methods"}  # earlier names of commands, which still work


def main(arguments: Sequence[str] | None = None, engine: Callable[[], Engine] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments : of the command line; default: those of the process.
    engine : opens the engine if the command needs one; by default a new one, closed at the end.
    """
    argv = list(sys.argv[1:] if arguments is None else arguments)
    argv[:1] = [OLD_NAMES.get(name, name) for name in argv[:1]]
    names = argv[:1] if argv and argv[0] in COMMAND_NAMES else COMMAND_NAMES
    options = parser(names).parse_args(argv)
    with ExitStack() as stack:
        options.engine = engine or (lambda: stack.enter_context(closing(_make_engine())))
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    """Run a parsed command and return its exit code; an error becomes one sentence."""
    try:
        # If nothing can be saved on this computer, the person learns the reason first.
        warn(filter(None, [save_fault()]))
        code = options.run(options)
        if sys.stdout is not None:  # it may be closed
            # A failure to write is caught here, not at the exit of the interpreter.
            sys.stdout.flush()
        return code
    except (BadInput, BadParameter, UnknownEntity, StoreError) as error:
        return _print_error(error, EXIT_WRONG_INPUT)
    except HopscopeError as error:
        return _print_error(error, EXIT_FAILED)
    except KeyboardInterrupt:
        return _print_error("Interrupted.", EXIT_INTERRUPTED)
    except BrokenPipeError:  # the program that reads the output, such as `head`, has ended
        sys.stderr.close()
        return EXIT_FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            if error.filename is None:  # a fault of this program, not of a file
                raise
            return _print_error(f"{error.filename} cannot be used: {error.strerror}.", EXIT_FAILED)
        # The rest of the output would fail again, so it is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _print_error("What is printed cannot be written: the disk is full.", EXIT_FAILED)


def parser(names: Sequence[str] = COMMAND_NAMES) -> argparse.ArgumentParser:
    """Return the parser of the given commands.

    Only the modules of these commands are imported, as imports take time.
    """
    command_parser = argparse.ArgumentParser(
        prog="hopscope", description="Explore how graph retrievers find their answers."
    )
    command_parser.add_argument("--version", action="version", version=f"Hopscope {__version__}")
    commands = command_parser.add_subparsers(required=True, metavar="COMMAND")
    for name in names:
        importlib.import_module(f"{__package__}.commands.{name}").add_command(commands)
    return command_parser


def _make_engine() -> Engine:
    # The import takes half a second, and most commands need no engine.
    from core.engine import Engine

    return Engine()


def _print_error(error: object, code: int) -> int:
    """Print an error and return the exit code."""
    print(f"hopscope: {error}", file=sys.stderr)
    return code
