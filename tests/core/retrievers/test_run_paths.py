"""Reasoning paths in rows of finished runs, as RoG, Think-on-Graph and SubgraphRAG write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.retrievers.reply import TextPath
from core.retrievers.runs.formats import read_run_file
from core.retrievers.runs.run_paths import paths_in
from tests.notes import NoteWith

ROG = """Based on the reasoning paths, please answer the given question.

Reasoning Paths:
Ann -> owns -> Marie -> sails_to -> Varna
Ann -> built -> Harbour

Question:
What did Ann build -> or own?"""


def path_texts(row) -> list[str]:
    """The paths as texts with their relations in brackets."""
    written = []
    for path in paths_in(row)[0]:
        steps = (f"[{relation}] {node}" for relation, node in zip(path.relations, path.nodes[1:]))
        written.append(" ".join([path.nodes[0], *steps]))
    return written


def test_paths_of_a_prompt_are_found():
    assert path_texts({"input": ROG}) == [
        "Ann [owns] Marie [sails_to] Varna",
        "Ann [built] Harbour",
    ]
    assert paths_in({"input": "What did Ann build -> or own?"}) == ((), 0)
    # A name with a comma looks like a row of four fields.
    triplets = "Triplets:\n(Ann,owns,Marie)\n(Bo, Holm,is,captain)\n\nQuestion:\nwho?"
    assert (
        path_texts({"user_query": triplets}) == ["Ann [owns] Marie"]
        and paths_in({"user_query": triplets})[1] == 1
    )


def test_think_on_graph_chains_continue_from_earlier_ends():
    """`reasoning_chains` of save_2_jsonl holds a list of triple lists per depth.

    Later triples begin where earlier ones end.
    """
    first = [["Ann", "owns", "Marie"], ["Ann", "built", "Harbour"]]
    second = [["Marie", "sails_to", "Varna"], ["Marie", "sails_to", "Rome"], ["Bo", "knows", "Cy"]]
    assert path_texts(
        {"question": "?", "results": "", "reasoning_chains": [[first], [second]]}
    ) == [
        "Ann [built] Harbour",
        "Ann [owns] Marie [sails_to] Varna",
        "Ann [owns] Marie [sails_to] Rome",
        "Bo [knows] Cy",
    ]


@pytest.mark.parametrize(
    "value, found",
    [
        ([["A", "r", "B"], ["A", "r", "B"]], ["A [r] B"]),
        ([["A", "r", "B", 0.25]], ["A [r] B"]),
        ([["A", "r", "B", "s", "C"]], ["A [r] B [s] C"]),
        ([[["A", "r", "B"], ["B", "s", "C"]]], ["A [r] B [s] C"]),
        ([[["A", "r", "B"], ["A", "s", "C"]]], ["A [r] B", "A [s] C"]),
        ([{"head": "A", "relation": "r", "tail": "B", "score": 2}], ["A [r] B"]),
        ([{"nodes": ["A", "B"], "relations": ["r"], "score": 1}], ["A [r] B"]),
        (["A -> r -> B", "(A, s, C)"], ["A [r] B", "A [s] C"]),
        ("[['A', 'r', 'B']]", ["A [r] B"]),
    ],
)
def test_path_formats_are_parsed(value, found):
    assert path_texts({"paths": value}) == found and paths_in({"triples": value})[1] == 0


@pytest.mark.parametrize(
    "value",
    [["A", "r"], 7, None, {}, [[]], [["A", "", "B"]], [["A", 3, "B"]], ["A -> r"], [{"head": "A"}]],
)
def test_invalid_paths_are_counted(value):
    paths, odd = paths_in({"paths": [value]})
    assert (paths, odd) == ((), 1)


def test_scores_are_kept():
    assert paths_in({"scored_triples": [["A", "r", "B", 0.25]]})[0] == (
        TextPath(("A", "B"), ("r",), (None,), 0.25),
    )


def written(tmp_path, *rows) -> str:
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return str(file)


def test_rog_and_tog_files_are_recognised_by_keys(tmp_path):
    rog = {
        "id": "W-1",
        "question": "What did Ann build?",
        "prediction": "Harbour\nMarie",
        "ground_truth": ["Harbour"],
        "input": ROG,
    }
    read = read_run_file(written(tmp_path, rog))
    (row,) = read.rows
    assert (read.format, row.question, row.answer, row.references) == (
        "rog",
        "What did Ann build?",
        "Harbour\nMarie",
        ("Harbour",),
    )
    assert len(row.paths) == 2 and not read.notes
    tog = {
        "question": "What did Ann build?",
        "results": "A {Harbour}.",
        "reasoning_chains": [[[["Ann", "built", "Harbour"]]], [["?"]]],
    }
    read = read_run_file(written(tmp_path, tog))
    (row,) = read.rows
    assert (read.format, row.answer, len(row.paths)) == ("tog", "A {Harbour}.", 1)
    assert read.notes == (NoteWith("neither triples nor paths", 1),)


def test_row_with_only_paths_is_accepted(tmp_path):
    read = read_run_file(
        written(tmp_path, {"id": "1", "triples": [["A", "r", "B"]]}, {"id": "2", "triples": []})
    )
    assert [len(row.paths) for row in read.rows] == [1]
    assert read.notes == (NoteWith("no documents, paths or answer", "1 row"),)
    with pytest.raises(BadInput, match="no row with a question"):
        read_run_file(written(tmp_path, {"id": "1", "triples": "?"}))


VALUE = st.recursive(
    st.none() | st.floats() | st.text(max_size=4) | st.just("A -> r -> B"),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


@given(VALUE)
def test_any_row_is_read_or_counted(value):
    paths, odd = paths_in({"paths": value, "reasoning_chains": value})
    assert odd >= 0 and all(
        len(path.nodes) == len(path.relations) + 1 == len(path.forward) + 1 for path in paths
    )
