"""Texts of the pages that differ between graphs and corpora."""

from __future__ import annotations

from dataclasses import dataclass

from core.sources import AnswerSource
from pages.parts.shared.wording import tr


@dataclass(frozen=True)
class SourceWords:
    """Texts about one kind of source, with placeholders for its title or name."""

    listed_title: str  # in the choice of the sidebar
    missing_text: str  # if the source does not exist
    no_questions_text: str  # if the source has no question set
    question_placeholder: str  # in an empty question box
    choose_text: str  # above a list of such sources
    other_kind_text: str  # on a page of such sources, if the chosen one is of the other kind


GRAPH_WORDS = SourceWords(
    "{title}",
    tr("There is no graph “{current}” here. Choose another, or add it on the page Graphs."),
    tr(
        "This graph has no question set. Type a question, or add a file of questions on the page "
        "Graphs."
    ),
    tr("Ask about an entity of the graph"),
    tr("Choose a graph"),
    tr("“{title}” is documents (page Texts). This page shows graphs of triples."),
)
CORPUS_WORDS = SourceWords(
    tr("{title} · texts"),
    tr("There are no documents “{current}” here. Choose others, or add them on the page Texts."),
    tr("These documents have no question set. Type a question."),
    tr("Ask a question of these documents"),
    tr("Choose documents"),
    tr("“{title}” is a graph of triples (page Graphs). This page shows documents."),
)


def words_of(source: AnswerSource | type[AnswerSource]) -> SourceWords:
    """Return the texts about the kind of a source."""
    return CORPUS_WORDS if source.is_corpus else GRAPH_WORDS
