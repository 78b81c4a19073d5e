"""Entry point of the command `hopscope`, in a checkout and installed; also python -m hopscope."""

import sys

from core.__main__ import begin

if __name__ == "__main__":
    sys.exit(begin())
