"""Where the recorded indexes lie."""

from pathlib import Path

RECORDED = Path(__file__).with_name("recorded")
