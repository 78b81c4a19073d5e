"""Engine of Hopscope: graphs, models, operators, methods and their runs.

The import of this package loads nothing heavy.
"""

import os

__version__ = "0.9.0"

# Waiting OpenMP threads sleep and leave the processor to those that work. It is read when a
# library with OpenMP is loaded, so it is set first.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from core.io.usage_reports import keep_quiet

keep_quiet()
