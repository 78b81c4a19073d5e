"""Choice of the corpus for an import: a new one, or one of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import streamlit as st

from core.corpus import Corpus, corpora, own_corpus
from core.corpus.corpus import CORPUS_OWNED_KIND
from core.datasets.own_sets import clean_name
from core.errors import BadInput
from pages.parts.shared.people import visitor_refusal
from pages.parts.shared.wording import tr

NEW_CORPUS = ""  # the name that stands for a new corpus in the choice
MAX_CORPUS_TITLE_CHARACTERS = 80
MAX_CORPUS_NAME_CHARACTERS = 40


@dataclass(frozen=True)
class TargetCorpus:
    """Choice of an existing corpus, or of a new one by its title.

    `existing_name` is empty for a new corpus, and `title` for an existing one.
    """

    existing_name: str
    title: str

    def name(self) -> str:
        """Return the name of the corpus. Raises BadInput if a new title is blank or in use."""
        return self.existing_name or name_for_title(self.title)


def own_corpora() -> dict[str, Corpus]:
    """Return the corpora to which the visitor may add documents, by name."""
    return {
        name: corpus
        for name, corpus in corpora().items()
        if isinstance(corpus, Corpus)
        and corpus.own
        and not visitor_refusal(CORPUS_OWNED_KIND, name)
    }


def choose_target(
    label: str,
    names: Sequence[str],
    title: str,
    key: str,
    title_key: str,
    *,
    default: str = NEW_CORPUS,
    format_name: Callable[[str], str],
) -> TargetCorpus:
    """Draw the choice of an existing corpus, or of a new one and its title.

    Parameters
    ----------
    names : names of the corpora to choose from.
    title : text that is in the field of the title at first.
    key, title_key : keys of the widgets of the choice and of the title.
    default : name that is selected at first.
    format_name : returns the words for the corpus of a name.
    """
    corpus_name = NEW_CORPUS
    if names:
        options = [NEW_CORPUS, *names]
        corpus_name = st.selectbox(
            label,
            options,
            options.index(default) if default in options else 0,
            lambda name: format_name(name) if name else tr("new texts"),
            key=key,
            width=300,
        )
    if corpus_name != NEW_CORPUS:
        return TargetCorpus(corpus_name, "")
    limit = MAX_CORPUS_TITLE_CHARACTERS
    title = st.text_input(tr("Title"), title, key=title_key, max_chars=limit, width=300)
    return TargetCorpus(NEW_CORPUS, title)


def name_for_title(title: str) -> str:
    """Return the name of a new corpus with this title.

    If the title has no letters from a to z and no digits, the name is `texts-` with a number.
    Raises BadInput if the title is blank, or if its name is in use.
    """
    if not title.strip():
        raise BadInput(tr("Enter a title for the new texts."))
    name = clean_name(title)[:MAX_CORPUS_NAME_CHARACTERS].strip("-")
    if not name:
        numbered_names = (f"texts-{number}" for number in count(1))
        return next(name for name in numbered_names if own_corpus(name) is None)
    if own_corpus(name) is not None:
        raise BadInput(
            tr(
                "Texts called “{name}” already exist. Choose another title, or add the files to "
                "them.",
                name=name,
            )
        )
    return name
