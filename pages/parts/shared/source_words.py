"""Texts of the pages that differ between graphs and documents."""

from __future__ import annotations

from dataclasses import dataclass

from core.sources import AnswerSource
from pages.parts.shared.wording import tr


@dataclass(frozen=True)
class SourceWords:
    """Texts about one kind of source, with placeholders for its title or name."""

    listed: str  # in the choice of the sidebar
    missing: str
    without_questions: str
    ask: str  # in an empty question box


GRAPH_WORDS = SourceWords(
    "{title}",
    tr("There is no graph “{current}” here; choose another, or add it on the page Graphs."),
    tr(
        "This graph has no questions of its own; type one, or add a file of questions on the "
        "Graphs page."
    ),
    tr("Ask about an entity of the graph"),
)
CORPUS_WORDS = SourceWords(
    tr("{title} · texts"),
    tr(
        "There is no corpus “{current}” here; choose another, or add its documents on the page "
        "Texts."
    ),
    tr("These documents have no questions of their own; type one."),
    tr("Ask a question of these documents"),
)


def words_of(source: AnswerSource) -> SourceWords:
    """Return the texts about a source."""
    return CORPUS_WORDS if source.is_corpus else GRAPH_WORDS
