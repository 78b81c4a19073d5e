"""The same jobs without a browser: one command a module of `core/commands`.

Exit codes: 0 all went well; 1 a lane failed or a model was missing; 2 the input was wrong; 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from core.commands import (
    ask,
    build,
    cases,
    evaluate,
    finetune,
    index,
    instances,
    models,
    prepare,
    questions,
    reports,
    search,
)
from core.commands.terminal import FAILED, INTERRUPTED, OK, WRONG
from core.errors import BadInput, BadParameter, HopscopeError, StoreError, UnknownEntity

__all__ = ["FAILED", "INTERRUPTED", "OK", "WRONG", "main", "parser"]
COMMANDS = (
    ask,
    instances,
    build,
    cases,
    evaluate,
    finetune,
    index,
    models,
    prepare,
    questions,
    reports,
    search,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except (BadInput, BadParameter, UnknownEntity, StoreError) as error:
        return _complain(error, WRONG)
    except HopscopeError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return _complain("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(prog="python -m core", description="Explore how graph retrievers find their answers.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return top


def _complain(error: object, code: int) -> int:
    print(f"hopscope: {error}", file=sys.stderr)
    return code
