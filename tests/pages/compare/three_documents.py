"""A corpus of three documents, and lines on it that need no model.

One of the documents holds what must never become markup.
"""

from __future__ import annotations

from core.corpus import Document, write_corpus
from core.corpus.catalogue import corpora_folder
from core.types import Question

NAME = "three"
QUESTION = "Which magazine was started first, Arthur's Magazine or First for Women?"
LINE = "BuiltGraph(build='chunks') >> SparseChunks(keep=1) >> AnswerFromTables()"
WIDE = "BuiltGraph(build='chunks') >> SparseChunks(keep=3) >> AnswerFromTables()"
LATE = "First for Women"
DOCUMENTS = (
    Document(
        "arthur",
        "Arthur's Magazine was a magazine started in 1844. The magazine was started first.",
        "Arthur's Magazine",
    ),
    Document(
        "women",
        "A weekly started in 1989 <script>document.title = 'gone'</script> with {braces} and {0}.",
        LATE,
    ),
    Document(
        "radio",
        "A station in India, which was the first, and which plays songs by night and by day in many towns.",
        "Radio City",
    ),
)
KNOWN = Question(QUESTION, "q1", answers=("Arthur's Magazine",), gold=("arthur", "women"))


def made() -> str:
    """Writes the corpus into the home of the tests; its name."""
    write_corpus(
        corpora_folder() / NAME,
        DOCUMENTS,
        "Three documents",
        "",
        "",
        {"asked": ("Asked", [KNOWN])},
        (QUESTION,),
        own=True,
    )
    return NAME
