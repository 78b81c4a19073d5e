"""Recognition and import of graphs, documents, questions, runs, indexes, cases and databases.

`recognise` says which formats a file may have, and an `Importer` reads the files of one format. The
command `bring`, the drop zone of the pages and the tables of formats in the documentation use them.
"""

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
