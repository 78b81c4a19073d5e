"""Engine of Hopscope: graphs, models, operators, methods and their runs.

The import of this package loads nothing heavy.
"""

import os

__version__ = "0.9.0"

# Idle OpenMP threads sleep instead of using the processor. A library reads this setting when it
# is loaded, so it is set before all imports.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Libraries that report their usage over the network are silenced before they are imported.
from core.io.usage_reports import disable_usage_reports

disable_usage_reports()
