"""Entry point of the command line, also as a module: python -m core."""

import gc
import sys


def begin() -> int:
    """Run the command of this process and return its exit code.

    The imports are inside the function, so that Ctrl-C during them gives the same message as later.
    """
    # Most objects of a start live until its end. With Python's own thresholds, collections in vain
    # take a tenth of the time of a short command.
    gc.set_threshold(20_000, 20, 1_000)
    try:
        from core.cli import main
        from core.io.console import keep_printable
        from core.io.home import keep_private
        from core.sharing import LOCAL_ADMINISTRATOR, set_person_source

        keep_printable()
        keep_private()
        # Whoever can run commands on this computer may do everything.
        set_person_source(lambda: LOCAL_ADMINISTRATOR)
        return main()
    except KeyboardInterrupt:
        print("hopscope: Interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(begin())
