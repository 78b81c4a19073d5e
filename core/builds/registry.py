"""Every building operator by name."""

from __future__ import annotations

from core.builds.base import BuildOperator
from core.builds.chunking import SentenceChunks, TokenChunks, WholeDocuments

OPERATORS: dict[str, type[BuildOperator]] = {operator.__name__: operator for operator in (WholeDocuments, TokenChunks, SentenceChunks)}
