"""Registry of all that can be imported, with recognition of formats.

It covers graphs, documents, published sets, questions, finished runs, indexes, saved comparisons
and databases.
"""

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
