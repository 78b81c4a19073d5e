"""Corpora of documents on disk: their catalogue, import, readers of files, and chunks.

Some corpora ship with Hopscope, others are a person's own. Graphs are built from their chunks.
"""

from core.corpus.catalogue import (
    ShippedCorpus,
    corpora,
    new_folder,
    open_corpus,
    own_corpus,
    remove_corpus,
)
from core.corpus.corpus import Corpus, write_corpus
from core.corpus.corpus_import import (
    CorpusImport,
    QuestionImport,
    import_documents,
    import_question_set,
)
from core.corpus.document import Document

__all__ = [
    "CorpusImport",
    "QuestionImport",
    "Corpus",
    "Document",
    "ShippedCorpus",
    "import_documents",
    "import_question_set",
    "corpora",
    "new_folder",
    "open_corpus",
    "own_corpus",
    "remove_corpus",
    "write_corpus",
]
