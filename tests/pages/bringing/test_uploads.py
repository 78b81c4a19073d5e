"""Uploads on the Graphs screen: files of every format, what is refused, and a person's own question sets."""

from __future__ import annotations

import gzip
import io
import json
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from core.datasets import datasets, questions
from core.graph.building.build import build
from core.io.home import ROOT
from core.io.hub_sets import saved_set_path
from core.runtime.jobs import JOB_CANCELLED, Job
from core.sources import GraphSource
from pages.parts.bringing import drop_zone, graph_files
from pages.parts.bringing import questions as question_forms
from pages.parts.bringing.uploads import save_upload
from tests.notes import NoteWith
from tests.pages.bringing.zone_kit import drop, name_it

PAGE = str(ROOT / "pages" / "graphs.py")
HOSTILE = "<img src=x onerror=alert(1)> **bold** [x](javascript:alert(2))"
ROW = {
    "question": HOSTILE,
    "answer": ["B"],
    "q_entity": ["A"],
    "graph": [["A", "r", "B"], ["B", "r", "C"]],
}


@pytest.fixture()
def own(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    build([("A", "r", "B")], tmp_path / "graphs" / "small", "small", "both")
    return tmp_path


def opened() -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state.source = GraphSource("small")
    return at.run()


def button(at: AppTest, label: str):
    return next(b for b in at.button if b.label == label)


def add(at: AppTest, kind: str, name: str, content: bytes | str) -> AppTest:
    return drop(at, (name, content), brought_as=kind)


def built(at: AppTest) -> AppTest:
    button(at, "Build the graph").click().run()
    for _ in range(100):
        at.run()
        if at.success:
            return at
        time.sleep(0.05)
    raise AssertionError("the graph was not built")


GRAPHML = '<graphml><graph><node id="A"/><node id="B"/><edge source="A" target="B"><data key="relation">r</data></edge></graph></graphml>'


def test_a_graphml_file_becomes_a_graph(own):
    at = built(add(opened(), "graph", "t.graphml.gz", gzip.compress(GRAPHML.encode())))
    assert datasets()["t"].open().triple_text(0) == "A -> r -> B"
    assert not at.error


def test_more_columns_are_chosen(own):
    at = add(opened(), "graph", "five.tsv", "A\tr\tB\tm.1\tm.2\n")
    assert "line 1: found 5 columns" in at.error[0].value.replace("\\", "")
    at.text_input(key="upload_columns").set_value("4,2,5").run()
    assert not at.error and list(at.dataframe[0].value["Head"]) == ["m.1"]
    built(at)
    assert datasets()["five"].open().triple_text(0) == "m.1 -> r -> m.2"


def test_bombs_are_refused(own, monkeypatch):
    monkeypatch.setattr(graph_files, "MAX_UNPACKED_GRAPH_BYTES", 1 << 20)
    monkeypatch.setattr(question_forms, "MAX_UNPACKED_QUESTION_BYTES", 1 << 20)
    bomb = gzip.compress(b"A" * (3 << 20) + b"\tr\tB\n")
    at = add(opened(), "graph", "bomb.tsv.gz", bomb)
    assert "more than 1 MB" in at.error[0].value
    laughs = '<!DOCTYPE g [<!ENTITY a "ha">]><graphml>&a;</graphml>'
    assert "declares XML entities" in add(at, "graph", "laughs.graphml", laughs).error[0].value
    assert "more than 1 MB" in add(at, "questions", "bomb.txt.gz", bomb).error[-1].value
    monkeypatch.setitem(drop_zone.KIND_MAX_MEGABYTES, "questions", 0)
    assert "larger than" in add(at, "questions", "q.txt", "who\tA\n").error[-1].value


def test_questions_are_looked_at_and_kept(own):
    at = add(
        opened(),
        "questions",
        "My rows.jsonl",
        json.dumps(ROW) + "\n" + json.dumps({"question": "who"}),
    )
    assert NoteWith("2 questions", "1 with entities", "1 with answers", "1 with graphs") in [
        caption.value for caption in at.caption
    ]
    assert list(at.dataframe[0].value["Question"]) == [HOSTILE, "who"]
    button(at, "Save the questions").click().run()
    assert not at.exception and "my\\-rows" in at.success[0].value
    assert list(datasets()["small"].sets) == ["my-rows"] and questions("my-rows")[0].text == HOSTILE
    at = add(at, "questions", "My rows.jsonl", json.dumps(ROW))
    button(at, "Save the questions").click().run()
    assert "already a question set" in at.error[0].value
    at = opened()
    button(at, "Remove").click().run()
    assert datasets()["small"].sets == {}


TABLE = "entities;question;answers\nA;who knows A;B|C\n;what;\n"


def kept_table(own) -> AppTest:
    """The whole app on its Graphs page, with a table of two questions just kept."""
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=60)
    at.session_state.source = GraphSource("small")
    at.switch_page("pages/graphs.py").run()
    at = add(at, "questions", "Mine.csv", TABLE)
    assert NoteWith("2 questions", "1 with entities", "1 with answers") in [
        caption.value for caption in at.caption
    ]
    return button(at, "Save the questions").click().run()


def test_a_table_is_kept_and_one_of_it_asked(own):
    at = kept_table(own)
    assert at.success[0].value == NoteWith("Mine", "2 questions", "mine")
    button(at, "Ask one").click().run()
    assert not at.exception and at.session_state["question"] == "who knows A"
    assert (
        at.session_state["entities"] == ["A"]
        and at.session_state["answers"] == ["B", "C"]
        and at.session_state["source"] == GraphSource("small")
    )


def test_a_table_is_kept_and_evaluated(own):
    at = kept_table(own)
    button(at, "Evaluate them").click().run()
    assert (
        not at.exception
        and at.multiselect[0].options == ["Mine"]
        and at.multiselect[0].value == ["mine"]
    )


def test_the_form_has_an_example_that_is_taken(own):
    at = opened()
    shown = next(
        code.value for code in at.code if code.value.startswith("question,answers,entities")
    )
    at = add(at, "questions", "copied.csv", shown)
    assert not at.error and NoteWith("2 questions", "2 with entities", "2 with answers") in [
        caption.value for caption in at.caption
    ]


def test_each_question_can_be_asked_on_its_own_graph(own):
    at = add(opened(), "questions", "rog.json", json.dumps([ROW]))
    at.selectbox(key="questions_asked_on").set_value("question").run()
    button(at, "Save the questions").click().run()
    assert datasets()["small"].graph_for("rog", questions("rog")[0]).n_edges == 2


def test_what_does_not_fit_the_graph_is_told_before_anything_is_kept(own):
    at = add(opened(), "questions", "q.csv", "question,answers,entities\nwho,B,A\nwho,B,Zoe\n")
    assert [one.value.replace("\\", "") for one in at.warning] == [
        NoteWith("2 questions on small", 1, "“Zoe”")
    ]


def test_columns_are_named_where_the_file_does_not(own):
    at = add(opened(), "questions", "q.tsv", "7\twho\tB\tA\n")
    assert "most of its lines hold 4 columns" in at.error[0].value
    next(one for one in at.text_input if one.label == "Columns").set_value(
        "id,question,answers,entities"
    ).run()
    assert not at.error and NoteWith("1 question", "1 with entities", "1 with answers") in [
        caption.value for caption in at.caption
    ]
    button(at, "Save the questions").click().run()
    assert [(q.id, q.entities, q.answers) for q in questions("q")] == [("7", ("A",), ("B",))]


@pytest.mark.parametrize(
    "name, text, told",
    [
        ("q.jsonl", '{"question": "a"}\n{', "line 2: not JSON"),
        ("q.txt", "who\n", "line 1: expected"),
        ("q.csv", "question,answers\nwho,A\n,B\n", "row 3: the question is empty"),
        ("q.txt", "[]", "no questions"),
    ],
)
def test_bad_questions_name_the_line(own, name, text, told):
    at = add(opened(), "questions", name, text)
    assert told in at.error[0].value.replace("\\", "")
    assert not any(b.label == "Save the questions" for b in at.button)


def test_names_of_uploads_are_made_harmless(tmp_path):
    from types import SimpleNamespace

    for name in ("../../etc/passwd", "..", "", "a" * 300 + ".tsv.gz", "ü <b>.tsv"):
        file = SimpleNamespace(name=name, getvalue=lambda: b"")
        path = save_upload(file, tmp_path)
        assert (
            path.parent == tmp_path
            and path.is_file()
            and path.name.endswith(name[-4:] if "tsv" in name else "")
        )


def test_looking_at_a_file_is_a_job_that_can_be_cancelled(own):
    begun = []

    def endless(job: Job):
        begun.append(job)
        while True:
            time.sleep(0.01)
            job.step(0.5)
            job.cancel()

    at = AppTest.from_string(
        "import streamlit as st\n"
        "from pages.parts.bringing.inspection import inspect_upload\n"
        "inspect_upload('looked', (1,), st.session_state['work'])",
        default_timeout=30,
    )
    at.session_state["work"] = endless
    at.run()
    assert not at.exception and begun[0].status == JOB_CANCELLED
    assert "Cancelled" in at.info[0].value


EDGES = "Source,Target,Type,Id,Label,Weight\n1,2,Directed,0,sails,2.5\n2,3,Directed,1,built in,1\n2,9,Directed,2,near,1\n"
NODES = f"Id,Label,Type,Description\n1,Anna,person,{HOSTILE.replace(',', ';')}\n2,The Gull,ship,Old.\n3,Turku,city,\n"


def test_edges_and_nodes_dropped_together_are_one_graph_with_types_and_weights(own):
    at = opened()
    drop(at, ("edges.csv", EDGES), ("nodes.csv", NODES))
    said = " ".join(info.value.replace("\\", "") for info in at.info)
    assert "Nodes are read from nodes.csv: known by “id”, called by “label”" in said
    assert "1 id of edges is not in the table of nodes, and is called as it is: “9”" in said
    triples, nodes = (frame.value for frame in at.dataframe)
    assert list(triples["Head"]) == ["Anna", "The Gull", "The Gull"] and list(
        triples["Weight"]
    ) == [2.5, 1.0, 1.0]
    assert list(nodes["Type"]) == ["person", "ship", "city"]
    at = built(at)
    graph = datasets()["edges"].open()
    assert (
        graph.columns.nodes.texts("type") == ["", "person", "ship", "city"]
        and graph.columns.edges.numbers("weight").max() == 2.5
    )


def test_a_zip_of_tables_is_one_graph_and_a_damaged_one_says_so(own):
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("import/edges.csv", EDGES)
        archive.writestr("import/nodes.csv", NODES)
        archive.writestr("__MACOSX/._nodes.csv", "x")
    at = built(add(opened(), "graph", "import.zip", packed.getvalue()))
    assert datasets()["import"].open().nodes_named("Anna")
    at = add(opened(), "graph", "import.zip", packed.getvalue()[:100])
    assert "damaged or no zip" in at.error[0].value.replace("\\", "")


def test_literals_of_rdf_are_what_the_person_says(own):
    text = '<http://a/a> <http://a/r> <http://a/b> .\n<http://a/a> <http://a/age> "42" .\n'
    at = add(opened(), "graph", "t.nt", text)
    assert any("1 literal is an entity" in info.value for info in at.info)
    assert len(at.dataframe[0].value) == 2
    at.selectbox(key="upload_literals").select("attributes").run()
    assert len(at.dataframe[0].value) == 1 and at.dataframe[1].value["Description"][0] == "age: 42"
    at = add(opened(), "graph", "t.tsv", "a\tr\tb\n")
    assert not [box for box in at.selectbox if box.key == "upload_literals"]


def test_the_language_of_labels_is_what_the_person_says(own):
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    text = f'<http://a/a> <http://a/r> <http://a/b> .\n<http://a/a> {label} "cat"@en, "Katze"@de .\n<http://a/b> {label} "mouse"@en .\n'
    at = add(opened(), "graph", "t.ttl", text)
    assert list(at.dataframe[0].value["Head"]) == ["cat"]
    for language, head in (("de", "Katze"), ("none", "a")):
        at.text_input(key="upload_language").set_value(language).run()
        assert list(at.dataframe[0].value["Head"])[:1] == [head]
    at.text_input(key="upload_language").set_value("<b>").run()
    assert "Labels are chosen by the tag of a language" in at.error[0].value and not at.exception
    at = add(opened(), "graph", "t.tsv", "a\tr\tb\n")
    assert not [one for one in at.text_input if one.key == "upload_language"]


def test_a_graph_and_its_questions_are_brought_by_their_id(own):
    file = saved_set_path("hf:toy/rog.parquet")
    file.parent.mkdir(parents=True)
    rows = [
        {
            "id": "1",
            "question": "who is Ann",
            "answer": ["Bo"],
            "q_entity": ["Ann"],
            "graph": [["Ann", "knows", "Bo"]],
        }
    ]
    pq.write_table(pa.Table.from_pylist(rows), file)
    at = opened()
    name_it(at, "hf:toy/rog", "graph")
    assert (
        list(at.dataframe[0].value["Relation"]) == ["knows"]
        and at.text_input(key="upload_name_hf:toy/rog").value == "hf-toy-rog"
    )
    at = name_it(opened(), "hf:toy/rog", "questions")
    assert "1 question, 1 with entities, 1 with answers, 1 with graphs of their own" in " ".join(
        one.value for one in at.caption
    )


def test_questions_as_parquet_are_asked_on_the_graphs_of_their_rows(own):
    """RoG's rows as HuggingFace has them, as a graph and as questions."""
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([ROW]), held)
    at = add(opened(), "questions", "rog.parquet", held.getvalue())
    assert "1 question, 1 with entities, 1 with answers, 1 with graphs of their own" in " ".join(
        one.value for one in at.caption
    )
    built(add(opened(), "graph", "rog.parquet", held.getvalue()))
    assert datasets()["rog"].open().n_edges == 2
