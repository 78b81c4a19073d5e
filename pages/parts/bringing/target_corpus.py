"""Corpus that what is brought becomes: new texts under a title, or texts of a person's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import streamlit as st

from core.corpus import Corpus, corpora, own_corpus
from core.corpus.corpus import OWNED_AS
from core.datasets.own import clean_name
from core.errors import BadInput
from pages.parts.shared.people import barred
from pages.parts.shared.wording import tr

NEW = ""
MAX_TITLE_LETTERS = 80
MAX_NAME_LETTERS = 40


@dataclass(frozen=True)
class TargetCorpus:
    """The choice of a corpus by its name, or of new texts by their title."""

    chosen: str
    title: str

    def name(self) -> str:
        """The name of the corpus. Raises BadInput where a new title is blank or taken."""
        return self.chosen or new_name(self.title)


def own_corpora() -> dict[str, Corpus]:
    """The corpora that the visitor may add to, by name."""
    return {
        name: corpus
        for name, corpus in corpora().items()
        if isinstance(corpus, Corpus) and corpus.own and not barred(OWNED_AS, name)
    }


def choose_target(
    label: str,
    names: Sequence[str],
    title: str,
    key: str,
    title_key: str,
    *,
    first: str = NEW,
    called: Callable[[str], str],
) -> TargetCorpus:
    """Draw the choice between new texts, with a field for their title, and some corpora.

    Parameters
    ----------
    title : what the field holds at first.
    key, title_key : the keys of the choice and of the field.
    first : the name that is chosen at first.
    called : gives the words for the corpus of a name.
    """
    chosen = NEW
    if names:
        options = [NEW, *names]
        words = lambda name: called(name) if name else tr("new texts")
        index = options.index(first) if first in options else 0
        chosen = st.selectbox(label, options, index, words, key=key, width=300)
    if chosen == NEW:
        limit = MAX_TITLE_LETTERS
        title = st.text_input(tr("Title"), title, key=title_key, max_chars=limit, width=300)
    return TargetCorpus(chosen, title if chosen == NEW else "")


def new_name(title: str) -> str:
    """The name of a new corpus of that title; a number where its letters are none of a to z. Raises
    BadInput where it is blank or taken."""
    if not title.strip():
        raise BadInput(tr("Give the new texts a title."))
    name = clean_name(title)[:MAX_NAME_LETTERS].strip("-")
    if not name:
        return next(
            name for name in (f"texts-{number}" for number in count(1)) if own_corpus(name) is None
        )
    if own_corpus(name) is not None:
        raise BadInput(
            tr(
                "There are already texts called “{name}”; choose another title, or add the files "
                "to them.",
                name=name,
            )
        )
    return name
