"""One registry of all that can be brought: graphs, documents, questions, runs, indexes, cases, databases."""

from core.importing.importer import KINDS, Importer, ImportKind, ReadFile
from core.importing.recognising import (
    Recognition,
    importers_named,
    recognise,
    recognise_together,
)
from core.importing.registry import IMPORTERS, SUFFIXES

__all__ = [
    "IMPORTERS",
    "KINDS",
    "SUFFIXES",
    "ImportKind",
    "Importer",
    "ReadFile",
    "Recognition",
    "importers_named",
    "recognise",
    "recognise_together",
]
