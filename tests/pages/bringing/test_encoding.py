"""The encoding is offered for the texts among all files that can be imported."""

from __future__ import annotations

import pytest

from core.corpus.readers.files import TABLE_FILE_READERS, WHOLE_FILE_READERS
from core.importing import IMPORTERS
from pages.parts.bringing.encoding import TEXT_SUFFIXES


def test_each_reader_of_plain_text_is_offered_an_encoding():
    suffixes = {*WHOLE_FILE_READERS, *TABLE_FILE_READERS, *IMPORTERS["documents/html"].suffixes}
    assert suffixes <= TEXT_SUFFIXES


@pytest.mark.parametrize("name", ["nquads", "trig", "n3", "jsonld", "graphson", "pajek", "gml"])
def test_each_text_of_a_graph_is_offered_an_encoding(name):
    assert TEXT_SUFFIXES.issuperset(IMPORTERS[f"graph/{name}"].suffixes)


def test_runs_of_trec_are_offered_an_encoding():
    assert TEXT_SUFFIXES.issuperset(IMPORTERS["run/trec"].suffixes)


@pytest.mark.parametrize(
    "suffix",
    (".pdf", ".docx", ".epub", ".eml", ".ipynb", ".zip", ".gz", ".parquet", ".graphml", ".rdf"),
)
def test_no_encoding_is_offered_for_files_that_are_no_text_or_name_theirs(suffix):
    assert suffix not in TEXT_SUFFIXES
