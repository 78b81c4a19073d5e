"""Hopscope's engine: graphs, models, operators, instances, and the runs that join them. Imports nothing heavy."""

import os

__version__ = "0.9.0"

# Before any library with OpenMP is loaded: threads that wait sleep, rather than take the processor from those that work.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from core.io.quiet import keep_quiet

keep_quiet()
