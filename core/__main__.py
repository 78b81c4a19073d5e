"""`python -m core`: the command line."""

import sys

from core.cli import main
from core.io.home import keep_private

keep_private()
sys.exit(main())
