"""`python -m core`: the command line."""

import sys

from core.cli import main
from core.io.home import keep_private
from core.sharing import OPERATOR, asked_of

keep_private()
asked_of(lambda: OPERATOR)  # whoever may run commands on this computer
sys.exit(main())
