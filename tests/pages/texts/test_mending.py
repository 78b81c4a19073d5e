"""Mend on the page Texts: suggestions are merged or refused one by one, undone, and a question set is asked before and after."""

from __future__ import annotations

from core.builds import build
from core.corpus import Document, write
from core.corpus.catalogue import corpora_folder
from core.corpus.mends import mend, mends_of
from core.graph.edits import Edit
from pages.parts.shared.session import engine
from tests.pages.texts.texts_kit import button, labels, opened, texts, until

HOSTILE = "**<b>Bold</b>**"


def made():
    """A corpus with one person under two names, and its graph."""
    documents = [
        Document("a", "José Díaz visited Paris."),
        Document("b", "Jose Diaz moved to London."),
        Document("c", "José Díaz met Ann Lee."),
    ]
    corpus = write(corpora_folder() / "mended", documents)
    build(corpus, "tkg-noun-phrases", engine().models)
    return corpus


def names(at):
    return set(at.dataframe[0].value["Name"])


def test_a_suggestion_is_merged_and_undone(small):
    corpus = made()
    at = opened("mended")
    until(at, lambda: at.dataframe)
    assert "1 suggestion" in texts(at) and "Jose Diaz (1) → José Díaz (2)" in texts(at).replace("**", "") and "accents" in texts(at)
    assert {"Jose Diaz", "José Díaz"} <= names(at)
    button(at, "Merge").click().run()
    assert not at.exception and mends_of(corpus).edits == (Edit("merge", ("Jose Diaz", "José Díaz")),)
    assert "Jose Diaz" not in names(at) and "0 suggestions" in texts(at)
    button(at, "Jose Diaz → José Díaz").click().run()
    assert mends_of(corpus).edits == () and "Jose Diaz" in names(at)


def test_what_is_not_the_same_is_not_suggested_again(small):
    corpus = made()
    at = opened("mended")
    until(at, lambda: at.dataframe)
    button(at, "Not the same").click().run()
    assert mends_of(corpus).refused == (("Jose Diaz", "José Díaz"),) and "0 suggestions" in texts(at)


def test_a_merge_that_fits_nothing_says_so_and_hostile_names_are_text(small):
    corpus = made()
    mend(corpus, lambda mends: mends.accepted([Edit("merge", (HOSTILE, "José Díaz")), Edit("merge", ("Jose Diaz", "José Díaz"))]))
    at = opened("mended")
    until(at, lambda: at.dataframe)
    assert "1 merge fits nothing in this graph" in texts(at)
    label = next(label for label in labels(at) if "not here" in label)
    assert "\\*" in label and "<b>" not in label.replace("\\<b", "")
    button(at, "Undo all").click().run()
    assert mends_of(corpus).edits == ()


def test_a_corpus_without_questions_says_that_nothing_can_be_asked_before_and_after(small):
    corpus = made()
    mend(corpus, lambda mends: mends.accepted([Edit("merge", ("Jose Diaz", "José Díaz"))]))
    at = opened("mended")
    until(at, lambda: at.dataframe)
    assert "These texts have no question set." in texts(at)
