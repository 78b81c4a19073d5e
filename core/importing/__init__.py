"""Recognition and import of graphs, documents, questions, runs, indexes, cases and databases."""

from core.importing.importer import IMPORT_KINDS, Importer, ImportKind, ReadFile
from core.importing.recognition import (
    Recognition,
    importers_named,
    recognise,
    recognise_together,
)
from core.importing.registry import IMPORT_SUFFIXES, IMPORTERS

__all__ = [
    "IMPORTERS",
    "IMPORT_KINDS",
    "IMPORT_SUFFIXES",
    "ImportKind",
    "Importer",
    "ReadFile",
    "Recognition",
    "importers_named",
    "recognise",
    "recognise_together",
]
