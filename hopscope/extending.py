"""Classes and functions for writing new operators."""

from core.operators.base import Context, Operator, Recorder
from core.parameters import param
from core.types import Path, Ranking, State

__all__ = ["Context", "Operator", "Path", "Ranking", "Recorder", "State", "param"]
