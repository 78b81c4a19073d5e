"""References found in texts by hand, and the corpus graph of chunks made from them."""

from __future__ import annotations

import numpy as np
import pytest

from core.builds.base import BuildContext, BuildState
from core.builds.chunkers import CharacterChunks, WholeDocuments
from core.builds.merge.citations import (
    Reference,
    Titles,
    cited_documents,
    documents_by_author,
    reference_list_start,
    references,
)
from core.builds.merge.corpus_graphs import CitedDocuments
from core.corpus import write_corpus
from core.corpus.chunks import chunk_by_characters
from core.corpus.document import Document
from core.errors import BadInput
from tests.core.builds.kit import LetterModels
from tests.core.builds.test_language_model import ChatModels

PAPERS = {
    "lida": (
        "LIDA: lightweight dialogue annotator",
        "BRAT (Stenetorp et al., 2012) and Doccano are web-based. We improve on Moss (2010a).\n"
        + "LIDA aims to fill these gaps. " * 5
        + "\nIt follows the grammar of trees, by itself, too.\n\nReferences\n"
        "Pontus Stenetorp, Sampo Pyysalo, and Bob Moss. 2012.\nBRAT: a web-based tool "
        "for annotation. In EACL,\npages 102-107.\n"
        "Bob Moss. 2010a. The grammar of trees. In ACL.\nAnn Else. 2001. A work that is "
        "not here.\n",
    ),
    "brat": (
        "BRAT: a web-based tool for annotation",
        "BRAT is based on our visualiser [2]. Both [1, 3-4] export images.\n\n"
        "References\n[1] Ann Else. A work that is not here. 1999.\n"
        "[2] Bob Moss. The Grammar of Trees. ACL, 2010.\n",
    ),
    "moss": (
        "The grammar of trees",
        "Trees have a grammar. LIDA: lightweight dialogue annotator came later, as did "
        "moss (2012).",
    ),
    "bare": ("bare", "Nothing is cited here (Moss, 2010)."),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


def papers():
    return [Document(id, text, title) for id, (title, text) in PAPERS.items()]


def test_a_list_of_references_is_read_by_the_titles_of_the_corpus():
    text, titles = PAPERS["lida"][1], Titles(papers())
    assert text[reference_list_start(text) :].startswith("References") and reference_list_start(
        PAPERS["moss"][1]
    ) == len(PAPERS["moss"][1])
    assert references(text[reference_list_start(text) :], titles) == [
        Reference("brat", "2012", None, ("Pontus", "Stenetorp", "Sampo", "Pyysalo", "Bob", "Moss")),
        Reference("moss", "2010a", None, ("Bob", "Moss")),
    ]
    text = PAPERS["brat"][1]
    assert references(text[reference_list_start(text) :], titles) == [
        Reference("moss", "2010", 2, ("Bob", "Moss"))
    ]


def test_a_work_is_cited_by_name_and_year_by_number_or_by_title():
    titles = Titles(papers())
    brat, moss = (
        Reference("brat", "2012", 4, ("Pontus", "Stenetorp", "Bob", "Moss")),
        Reference("moss", "2010a", 2, ("Bob", "Moss")),
    )
    said = lambda text: list(cited_documents(text, [brat, moss], titles))
    assert said("(Stenetorp et al., 2012; Moss, 2010)") == ["brat", "moss"]
    assert said("Stenetorp and Moss (2012), Moss & Lee 2010a, Moss (2011), stenetorp 2012") == [
        "brat",
        "moss",
    ]
    assert (
        said("as in [4], [1-3] and [9]") == ["brat", "moss"] and said("in 2012 [sic] it was") == []
    )
    assert said("We use the GRAMMAR of Trees.") == ["moss"]
    assert (
        documents_by_author("Moss", "2012", [brat]) == ["brat"]
        and documents_by_author("Moss", "2010b", [moss]) == []
    )


def test_first_authors_decide_between_equal_names():
    first, other = (
        Reference("one", "2012", None, ("Ann", "Lee")),
        Reference("two", "2012", None, ("Bob", "Moss", "Ann", "Lee")),
    )
    assert documents_by_author("Lee", "2012", [other, first]) == ["one"] and documents_by_author(
        "Lee", "2012", [other]
    ) == ["two"]


def test_shared_and_short_titles_match_no_document():
    titles = Titles(
        [
            Document("a", "-", "On long trees"),
            Document("b", "-", "On Long Trees"),
            Document("c", "-", "Trees"),
            Document("d", "-"),
        ]
    )
    assert titles.find_titles("on long trees, trees, d") == [] and titles.n_ambiguous == 2


def graph_of(tmp_path, operator, models=None, chunker=None):
    one = write_corpus(tmp_path / "corpora" / "papers", papers())
    ctx = BuildContext(models or LetterModels())
    made = operator.apply((chunker or CharacterChunks(size=120)).apply(BuildState(one), ctx), ctx)
    graph = made.graph
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    links = set(zip(graph.names(heads), graph.names(tails)))
    return graph, links, ctx.report


def test_a_chunk_is_linked_to_every_chunk_of_what_it_cites(tmp_path):
    graph, links, report = graph_of(tmp_path, CitedDocuments())
    chunks = {
        id: sorted(name for name in graph.names(range(graph.n_nodes)) if name.split("#")[0] == id)
        for id in PAPERS
    }
    assert len(chunks["lida"]) > 3 and len(chunks["brat"]) == 2 and chunks["moss"] == ["moss"]
    of = lambda source, target: {
        (a, b) for a, b in links if a.split("#")[0] == source and b.split("#")[0] == target
    }
    # Only the first chunk, to both chunks.
    assert of("lida", "brat") == {("lida#0", name) for name in chunks["brat"]}
    # One is cited by name, the other further on by its title.
    assert {a for a, _ in of("lida", "moss")} >= {"lida#0"} and len(of("lida", "moss")) == 2
    assert of("brat", "moss") == {("brat#0", "moss")} and of("moss", "lida") == {
        ("moss", name) for name in chunks["lida"]
    }
    assert not of("bare", "moss") and report.counts["documents without references to others"] == 2


def test_a_language_model_can_find_references(tmp_path):
    asked = list[str]()

    def say(text, *_):
        asked.append(text)
        if "BRAT (Stenetorp" in asked[-1]:
            named = {"author": "Pontus Stenetorp", "year": "2012", "title": ""}
            return {
                "citations": [
                    named,
                    {"author": "Else", "year": "2001", "title": ""},
                    "no object",
                    {"title": "The Grammar of trees"},
                ]
            }
        return {"else": []}

    graph, links, report = graph_of(
        tmp_path, CitedDocuments(model="answer"), ChatModels(say), WholeDocuments()
    )
    assert links == {("lida", "brat"), ("lida", "moss")} and not any(
        "References" in text for text in asked
    )
    assert report.counts["unreadable replies"] == 3


def test_missing_titles_are_noted(tmp_path):
    one = write_corpus(
        tmp_path / "corpora" / "bare", [Document("a", "One."), Document("b", "Two.")]
    )
    assert "no titles" in CitedDocuments().missing_requirement(one)
    with pytest.raises(BadInput, match="no titles"):
        ctx = BuildContext(LetterModels())
        CitedDocuments().apply(WholeDocuments().apply(BuildState(one), ctx), ctx)


def test_chunks_of_characters_are_slices_that_cut_no_word():
    text = "one two\n three  " + "x" * 25 + " four"
    table = chunk_by_characters([Document("d", text), Document("blank", " \n ")], size=10)
    assert table.texts("text") == [
        "one two",
        "three",
        "x" * 10,
        "x" * 10,
        "x" * 5 + " four",
    ] and set(table.texts("document")) == {"d"}
    assert all(part in text for part in table.texts("text"))
    assert chunk_by_characters([Document("d", "a" * 4096 + "b")]).texts("text") == ["a" * 4096, "b"]
