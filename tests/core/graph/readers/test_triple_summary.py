"""Summary of triples before a graph is built of them."""

from core.graph.readers.triple_summary import summarise_triples
from tests.notes import NoteWith


def test_names_that_differ_only_in_spelling_are_noted():
    triples = [
        ("O'Neil", "r", "O’Neil"),
        ("Ada Quill", "r", "ada  quill"),
        ("ADA QUILL", "r", "Rome"),
        ("Rome", "r", "Café"),
        ("Cafe", "r", "x"),
    ]
    (said,) = summarise_triples(triples, whole=True)[1:]  # An accent makes another letter.
    assert said == NoteWith(3, "“ADA QUILL” and “Ada Quill”")


def test_clearly_different_names_give_no_note():
    assert summarise_triples([("Rome", "capital of", "Italy")], whole=True) == [
        NoteWith("1 triple", "2 entities", "1 relation")
    ]
    assert summarise_triples([], whole=True) == [NoteWith("0 triples", "0 entities", "0 relations")]
