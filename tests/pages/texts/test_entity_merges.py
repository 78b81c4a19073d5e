"""Mend, on the page Texts, merges or refuses suggestions one by one.

A merge is undone, and a question set is asked before and after it.
"""

from __future__ import annotations

from core.builds import build_status, run_build
from core.builds.report import NameMerge, NameMerges, NearMerge
from core.corpus import Document, write_corpus
from core.corpus.catalogue import corpora_folder
from core.corpus.entity_merges import change_merges, read_merges
from core.graph.edits import Edit
from pages.parts.shared.session import engine
from pages.parts.texts.text_trail import ENTITIES_VIEW, MERGES_VIEW
from tests.pages.texts.texts_kit import button, labels, opened, texts, until

HOSTILE = "**<b>Bold</b>**"


def made():
    """A corpus with one person under two names, and its graph."""
    documents = [
        Document("a", "José Díaz visited Paris."),
        Document("b", "Jose Diaz moved to London."),
        Document("c", "José Díaz met Ann Lee."),
    ]
    corpus = write_corpus(corpora_folder() / "mended", documents)
    run_build(corpus, "tkg-noun-phrases", engine().models)
    return corpus


def reviewed(name):
    """The page with the names of a corpus to review."""
    at = opened(name, texts_view=MERGES_VIEW)
    return until(at, lambda: "suggestion" in texts(at))


def names(at):
    """The names in the table, which takes the place of the review for a moment."""
    button(at, "Back to the graph").click().run()
    at.segmented_control(key="texts_view").set_value(ENTITIES_VIEW).run()
    found = set(at.dataframe[0].value["Name"])
    button(at, "Review names").click().run()
    return found


def test_a_suggestion_is_merged_and_undone(small):
    corpus = made()
    at = reviewed("mended")
    assert (
        "1 suggestion" in texts(at)
        and "Jose Diaz (1) → José Díaz (2)" in texts(at).replace("**", "")
        and "accents" in texts(at)
    )
    assert {"Jose Diaz", "José Díaz"} <= names(at)
    button(at, "Merge").click().run()
    assert not at.exception and read_merges(corpus).edits == (
        Edit("merge", ("Jose Diaz", "José Díaz")),
    )
    assert "Jose Diaz" not in names(at) and "0 suggestions" in texts(at)
    button(at, "Jose Diaz → José Díaz").click().run()
    assert read_merges(corpus).edits == () and "Jose Diaz" in names(at)


def test_a_suggestion_is_merged_the_other_way(small):
    corpus = made()
    at = reviewed("mended")
    button(at, "Merge the other way").click().run()
    assert read_merges(corpus).edits == (Edit("merge", ("José Díaz", "Jose Diaz")),)
    found = names(at)
    assert "Jose Diaz" in found and "José Díaz" not in found


def test_what_is_not_the_same_is_not_suggested_again(small):
    corpus = made()
    at = reviewed("mended")
    button(at, "Different").click().run()
    assert read_merges(corpus).refused == (
        ("Jose Diaz", "José Díaz"),
    ) and "0 suggestions" in texts(at)


def test_a_merge_that_fits_nothing_says_so_and_hostile_names_are_text(small):
    corpus = made()
    change_merges(
        corpus,
        lambda mends: mends.with_merges(
            [Edit("merge", (HOSTILE, "José Díaz")), Edit("merge", ("Jose Diaz", "José Díaz"))]
        ),
    )
    at = reviewed("mended")
    assert "1 merge fits no names in this graph" in texts(at)
    label = next(label for label in labels(at) if "not here" in label)
    assert "\\*" in label and "<b>" not in label.replace("\\<b", "")
    button(at, "Undo all").click().run()
    assert read_merges(corpus).edits == ()


def test_a_corpus_without_questions_says_that_nothing_can_be_asked_before_and_after(small):
    corpus = made()
    change_merges(
        corpus, lambda mends: mends.with_merges([Edit("merge", ("Jose Diaz", "José Díaz"))])
    )
    at = reviewed("mended")
    assert "These texts have no question set." in texts(at)


CALLS = (
    Document(
        "call-1",
        "Amy Hood opened the meeting. Hood thanked Peter Lindqvist. The European Harbour Agency wrote. The EHA paid.",
    ),
    Document(
        "call-2",
        "Anna Berg and Olof Berg spoke. Berg said that the ferry is cold. Amy Hood asked Berg again.",
    ),
)


def joined():
    """A corpus whose names are joined by a build, and that build's graph."""
    corpus = write_corpus(corpora_folder() / "calls", CALLS)
    run_build(corpus, "kg-names", engine().models)
    return corpus


def joins(at):
    """Return the entries of the list of joined names."""
    return {
        line.split(" (")[0].replace("*", "")
        for line in texts(at).splitlines()
        if line.startswith("**") and (" → " in line or " ≠ " in line)
    }


def test_a_name_that_a_build_joined_is_separate_after_it_is_built_anew_and_joined_again_after_an_undo(
    small,
):
    corpus = joined()
    at = reviewed("calls")
    assert joins(at) == {"EHA → European Harbour Agency", "Hood → Amy Hood"} and "EHA" not in names(
        at
    )
    next(
        one for one in at.button if one.label == "Different" and "EHA" in str(one.key)
    ).click().run()
    assert read_merges(corpus).refused == (
        ("EHA", "European Harbour Agency"),
    ) and "EHA ≠ European Harbour Agency" in joins(at)
    assert "names marked since" in texts(at) and "EHA" not in names(at)
    until(at, lambda: "Rebuild" in labels(at))
    button(at, "Rebuild").click().run()
    until(at, lambda: "EHA" in names(at) and "Rebuild" not in labels(at))
    assert joins(at) == {"Hood → Amy Hood"} and build_status(corpus, "kg-names").is_current
    button(at, "EHA ≠ European Harbour Agency").click().run()
    assert read_merges(corpus).refused == () and build_status(corpus, "kg-names").has_renamed
    next(one for one in at.button if one.key == "split-again").click().run()
    until(at, lambda: "EHA" not in names(at))
    assert build_status(corpus, "kg-names").is_current


def test_a_name_that_may_be_one_of_several_is_merged_or_none_of_them(small):
    corpus = joined()
    at = reviewed("calls")
    assert "1 name with several possible matches" in texts(at) and "Berg" in names(at)
    button(at, "Merge into Olof Berg").click().run()
    assert read_merges(corpus).edits == (
        Edit("merge", ("Berg", "Olof Berg")),
    ) and "Berg" not in names(at)
    assert "several possible matches" not in texts(at)
    button(at, "Berg → Olof Berg").click().run()
    button(at, "None of them").click().run()
    assert set(read_merges(corpus).refused) == {
        ("Anna Berg", "Berg"),
        ("Berg", "Olof Berg"),
    } and "Berg" in names(at)
    assert build_status(corpus, "kg-names").is_current  # it joined none of them, and would not now
    button(at, "Anna Berg ≠ Berg").click().run()
    assert (
        "Merge into Anna Berg" in labels(at)
        and "Merge into Olof Berg" not in labels(at)
        and build_status(corpus, "kg-names").has_renamed
    )


def test_a_name_that_was_joined_twice_and_hostile_names_are_listed(small, monkeypatch):
    corpus = joined()
    twice = [
        NameMerge(HOSTILE, "Amy Hood", rule, 1, ("call-1",))
        for rule in ("part of a name", "acronym")
    ]
    near = [
        NearMerge("Berg", ("Anna Berg", other), 1, ("call-2",))
        for other in ("Olof Berg", "Amy Hood")
    ]
    monkeypatch.setattr(
        "pages.parts.texts.entity_merges.name_merges",
        lambda report: NameMerges.from_merges(twice, near),
    )
    at = reviewed("calls")
    assert (
        labels(at).count("Different") == 2
        and labels(at).count("Merge into Anna Berg") == 2
        and corpus.name == "calls"
    )
    assert not any("<b>" in one.value.replace("\\<b", "") for one in at.markdown)
