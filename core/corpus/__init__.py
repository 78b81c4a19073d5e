"""Documents and what comes of them first: corpora on disk, shipped and a person's own, readers of files, and chunks."""

from core.corpus.bringing import Brought, BroughtQuestions, bring, bring_questions
from core.corpus.catalogue import (
    Shipped,
    corpora,
    new_folder,
    open_corpus,
    own_corpus,
    remove_corpus,
)
from core.corpus.corpus import Corpus, write
from core.corpus.document import Document

__all__ = [
    "Brought",
    "BroughtQuestions",
    "Corpus",
    "Document",
    "Shipped",
    "bring",
    "bring_questions",
    "corpora",
    "new_folder",
    "open_corpus",
    "own_corpus",
    "remove_corpus",
    "write",
]
