"""A HippoRAG index of two short texts, and hand-written files of OpenIE results."""

from __future__ import annotations

import json

import pytest

from core.errors import BadInput
from tests.core.corpus.indexes.kit import RECORDED, edges_of, nodes_of, opened_from
from tests.notes import NoteWith


def write_results(folder, *docs, name="openie_results_ner_model.json"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps({"docs": docs}))
    return folder


def test_a_folder_of_hipporag():
    opened = opened_from(RECORDED / "hipporag")
    assert nodes_of(opened) == {
        "Ann Lee": ("", "", [0, 1]),
        "Varna": ("", "", [0, 1]),
        "Black Sea": ("", "", [0]),
        "Marie": ("", "", [1]),
        "Bo Holm": ("", "", [1]),
    }
    assert {(*sorted(ends), about[0]) for ends, about in edges_of(opened).items()} == {
        ("Ann Lee", "Varna", "built the harbour of"),
        ("Black Sea", "Varna", "lies on"),
        ("Ann Lee", "Marie", "owns"),
        ("Bo Holm", "Marie", "is captain of"),
        ("Bo Holm", "Varna", "was born in"),
    }
    assert opened.notes == [NoteWith("pickled file", "not read")]


def test_spellings_of_one_name_are_one_entity_called_by_the_most_frequent(tmp_path):
    """HippoRAG compares names in lower case without punctuation.

    Names in non-Latin letters become empty there. Here they are kept.
    """
    triples = [
        ["U.S.", "borders", "Mexico"],
        ["u s", "is in", "北京"],
        ["U.S.", "", "Mexico"],
        ["a", "b"],
        "no triple",
    ]
    passage = {
        "idx": 3,
        "passage": "The U.S.",
        "extracted_entities": ["U.S.", None, "!!"],
        "extracted_triples": triples,
    }
    opened = opened_from(write_results(tmp_path / "a", passage))
    assert sorted(nodes_of(opened)) == ["!!", "Mexico", "U.S.", "北京"]
    assert {about[0] for about in edges_of(opened).values()} == {"borders", "is in"}
    assert opened.left_out == {"Left out, triples that are not three texts": 3}


def test_titles_are_taken_where_all_passages_have_one(tmp_path):
    docs = [{"idx": "a", "passage": "Ann\nShe cooks."}, {"idx": "b", "passage": "Rome\nIt is old."}]
    opened = opened_from(write_results(tmp_path / "titled", *docs))
    assert [(one.id, one.text) for one in opened.documents] == [
        ("Ann", "She cooks."),
        ("Rome", "It is old."),
    ]
    assert NoteWith("passage", "title") in opened.notes
    opened = opened_from(
        write_results(tmp_path / "titled", *docs, {"idx": "c", "passage": "One line."})
    )
    assert [(one.id, one.text) for one in opened.documents] == [
        ("a", "Ann\nShe cooks."),
        ("b", "Rome\nIt is old."),
        ("c", "One line."),
    ]


def test_wrong_or_several_result_files_are_refused(tmp_path):
    folder = write_results(tmp_path / "a", 1)
    with pytest.raises(BadInput, match="has no list “docs” of passages"):
        opened_from(folder)
    write_results(folder, {"passage": "Ann."}, name="openie_results_ner_other.json")
    with pytest.raises(
        BadInput,
        match=(
            "several files of OpenIE's results, openie_results_ner_model.json, "
            "openie_results_ner_other.json. Give"
        ),
    ):
        opened_from(folder)
    assert [
        one.text for one in opened_from(folder / "openie_results_ner_other.json").documents
    ] == ["Ann."]
