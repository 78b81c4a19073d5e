"""`python -m core`: the command line."""

import sys

from core.cli import main
from core.io.home import keep_private
from core.sharing import OPERATOR, asked_of


def begin() -> int:
    """Run the command that this process was started with; the exit code."""
    keep_private()
    asked_of(lambda: OPERATOR)  # whoever may run commands on this computer
    return main()


if __name__ == "__main__":
    sys.exit(begin())
