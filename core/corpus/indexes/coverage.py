"""Comparison of a corpus's present documents with those of an index.

The index is that of a tool, opened for the corpus. Documents may be added, changed or removed after
an index was opened. Its graph does not know them.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachetools import LRUCache

from core.corpus.corpus import Corpus
from core.corpus.indexes.opened_indexes import IndexSummary, counted_words, text_digests
from core.corpus.indexes.tools import TOOLS
from core.errors import shorten

_coverages: LRUCache[tuple, IndexCoverage] = LRUCache(64)  # computing one reads every text


@dataclass(frozen=True)
class IndexCoverage:
    """The match between the documents of a corpus and those of an index.

    Parameters
    ----------
    tool_title : the tool's name.
    n_documents : number of documents in the index.
    n_other_documents : number of further documents in the corpus.
    changed : ids of documents whose text changed since the index was opened. A single empty id
        means that documents differ, but not which ones.
    removed : ids of documents that are no longer in the corpus.
    """

    tool_title: str
    n_documents: int
    n_other_documents: int = 0
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True if the corpus still has all documents of the index.

        Their texts must be the same.
        """
        return not self.changed and not self.removed

    def sentence(self) -> str:
        """Return a sentence on what the index does not cover.

        The sentence is empty if it covers all.

        >>> from core.corpus.indexes.coverage import IndexCoverage
        >>> IndexCoverage("LightRAG", 2, n_other_documents=1).sentence()
        'The index of LightRAG is of 2 documents; the corpus has 1 more, which is not in this
        graph.'
        >>> IndexCoverage("LightRAG", 2).sentence()
        ''
        """
        if not self.is_complete:
            changes = (("changed", self.changed), ("removed", self.removed))
            phrases = [_change_phrase(ids, change) for change, ids in changes if ids]
            return (
                f"Since the index of {self.tool_title} was opened, {' and '.join(phrases)}, of which it "
                "says nothing. Bring them back as they were, open its folder under another name, "
                "or build a graph of the documents here."
            )
        if not self.n_other_documents:
            return ""
        verb = "is" if self.n_other_documents == 1 else "are"
        return (
            f"The index of {self.tool_title} is of {counted_words(self.n_documents, 'documents')}; the "
            f"corpus has {self.n_other_documents:,} more, which {verb} not in this graph."
        )


def _change_phrase(ids: tuple[str, ...], change: str) -> str:
    """Return words that some documents were changed or removed.

    They name the first document. If its id is empty, the documents are unknown.
    """
    if not ids[0]:
        return "documents were added, changed or removed"
    return (
        f"{counted_words(len(ids), 'documents')} {'was' if len(ids) == 1 else 'were'} {change} "
        f"(“{shorten(ids[0], 60)}”)"
    )


def coverage_of_index(corpus: Corpus, index: IndexSummary) -> IndexCoverage:
    """Return how the present documents of a corpus match those of an opened index.

    Parameters
    ----------
    corpus : the corpus.
    index : the summary of the opened index.

    Returns
    -------
    The numbers of documents, and the ids of changed and removed documents.
    """
    title = TOOLS[index.tool].title
    if index.corpus == corpus.digest:
        others = len(corpus) - len(index.documents) if index.documents else 0
        return IndexCoverage(title, len(index.documents), others)
    # An earlier version recorded only the digest of the whole corpus.
    if not index.documents:
        return IndexCoverage(title, 0, changed=("",))
    key = (str(corpus.folder), corpus.digest, index.tool, index.corpus, *index.documents.items())
    if key not in _coverages:
        present = text_digests(corpus, index.documents)  # empty for a document that is missing
        removed = tuple(id for id, digest in present.items() if not digest)
        changed = tuple(
            id for id, digest in present.items() if digest and digest != index.documents[id]
        )
        others = len(corpus) - (len(present) - len(removed))
        _coverages[key] = IndexCoverage(title, len(present), others, changed, removed)
    return _coverages[key]
