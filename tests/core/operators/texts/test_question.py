"""The question's vector, names and keywords, and unexpected replies of language models."""

import json

import numpy as np
import pytest

from core.types import Keywords
from tests.core.operators.nodes.kit import corpus_graph
from tests.core.operators.texts.kit import plain
from tests.films import Bag, Parrot, Written
from tests.notes import NoteWith


def test_language_model_extracts_names(told):
    said = Written(Parrot(json.dumps({"names": ["Tiny  Tim", "Tiny Tim", ""]})))
    after = told.state("NamesInQuestion(by='answer')", "Who is Tiny Tim?", models=said)
    assert after.names == ("Tiny Tim",) and after.trace[0].usage.calls == 1


@pytest.mark.parametrize(
    "reply", ["no JSON", '{"names": "Tim"', '{"people": []}', "[1]", '{"names": [1]}', "null"]
)
def test_unreadable_reply_is_reported(told, reply):
    after = told.state(
        "NamesInQuestion(by='answer')", "Is Tim lame?", models=Written(Parrot(reply))
    )
    assert after.names == ("Tim",) and "could not be read" in after.trace[0].notes[0]


def test_language_model_extracts_keywords(told):
    said = Written(Parrot('{"high": ["poverty"], "low": ["Tim", "crutch"]}'))
    assert told.state("ExtractKeywords(by='answer')", models=said).keywords == Keywords(
        ("Tim", "crutch"), ("poverty",)
    )


def test_keywords_without_a_model_skip_function_words(told):
    after = told.state("ExtractKeywords()", "Who is the partner of Scrooge in the firm?")
    assert after.keywords == Keywords(("Scrooge",), ("partner", "firm"))


def test_low_keywords_are_encoded(told):
    after = told.state("ExtractKeywords() >> EmbedQuery(text='low keywords')", "Is Tim with Fred?")
    assert np.allclose(after.vector, Bag().encode(["Tim, Fred"])[0])


def test_without_keywords_the_question_is_encoded(told):
    after = told.state("ExtractKeywords() >> EmbedQuery(text='low keywords')", "who is it")
    assert (
        np.allclose(after.vector, Bag().encode(["who is it"])[0])
        and "no low keywords" in after.trace[1].notes[0]
    )


def test_document_ids_are_no_names(told):
    """Keywords of both levels are the words; the id “82” of a document is no name."""
    line = "ExtractKeywords() >> EmbedQuery(text='low keywords')"
    after = told.state(
        line,
        "What is told of apples in 82?",
        on=corpus_graph({"81": "apples", "82": "pears"}, [("81", "82")]),
    )
    assert after.keywords == Keywords(("told", "apples", "82"), ("told", "apples", "82"))
    assert np.allclose(after.vector, Bag().encode(["told, apples, 82"])[0])


def test_graph_of_chunks_has_no_names(told):
    assert told.state("NamesInQuestion()", "Is Tim lame?", on=plain()).names == ()


@pytest.mark.parametrize(
    "line, found",
    [("NamesInQuestion(by='answer')", "names"), ("ExtractKeywords(by='answer')", "keywords")],
)
def test_question_words_replace_the_language_model(told, line, found):
    said = Parrot('{"names": ["Nobody"], "low": ["Nobody"], "high": []}')
    after = told.state(line, "Is Tim lame?", models=Written(said), answering=False)
    assert getattr(after, found) in (("Tim",), Keywords(("Tim",), ("lame",))) and not said.asked
    assert after.trace[0].notes == (NoteWith("No language model", "own words"),)


def test_level_without_keywords_can_be_skipped(told):
    line = (
        "ExtractKeywords() >> EmbedQuery(text='low keywords', without='nothing') >> VectorNodes()"
    )
    after = told.state(f"{line} >> IncidentRelations() >> ChunksByOccurrence()", "who is it")
    assert after.vector is None and (
        after.nodes.items,
        after.relations.items,
        after.chunks.items,
    ) == ((), (), ())
    assert after.trace[2].notes == (NoteWith("nothing to search by"),)
