"""Corpora of documents, readers of document files, and chunks.

Corpora are stored on disk. Some ship with Hopscope, others are a person's own.
"""

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
