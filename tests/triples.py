"""Triples of files, read as tests compare them."""

from __future__ import annotations

from pathlib import Path

from core.graph.readers.formats import AUTO_TRIPLE_FORMAT
from core.graph.readers.triple_file import TripleFile
from core.watch import NO_WATCH


def read_triples(path, watch=NO_WATCH, format=AUTO_TRIPLE_FORMAT, columns=None, most=None):
    """The triples (head, relation, tail) of a file, in its order."""
    return TripleFile(Path(path), format, columns, most).read(watch)
