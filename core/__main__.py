"""`python -m core`: the command line."""

import sys


def begin() -> int:
    """Run the command that this process was started with; the exit code. What it needs is loaded here, so that Ctrl-C meanwhile is said as
    it is later on."""
    try:
        from core.cli import main
        from core.io.console import keep_printable
        from core.io.home import keep_private
        from core.sharing import OPERATOR, asked_of

        keep_printable()
        keep_private()
        asked_of(lambda: OPERATOR)  # whoever may run commands on this computer
        return main()
    except KeyboardInterrupt:
        print("hopscope: Interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(begin())
