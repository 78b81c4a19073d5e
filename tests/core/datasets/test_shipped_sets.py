"""Sizes of the shipped graphs and question sets, and their fit to each other."""

import pytest

from core.datasets import datasets, graph_for, open_graph, question_set, questions, read_questions
from core.errors import BadInput, UnknownEntity
from core.graph.names.lookup import name_lookup
from tests.triples import read_triples

GRAPHS = {  # Entities, triples, relations, direction.
    "marj-graph": (73, 91, 59, "both"),
    "metaqa": (43_234, 133_582, 9, "both"),
    "nations": (14, 1_992, 55, "both"),
    "pathquestion-2hop": (1_056, 1_211, 13, "out"),
    "pathquestion-3hop": (1_836, 2_839, 13, "out"),
    "qingshui-graph": (68, 99, 51, "both"),
    "umls": (135, 6_529, 46, "both"),
    "webqsp-cwq": (4_943, 7_015, 759, "both"),
}
SETS = {
    "marj-graph": 10,
    "qingshui-graph": 10,
    "pathquestion-2hop": 1_908,
    "pathquestion-3hop": 5_198,
    "webqsp-answerable": 647,
    "webqsp-test": 774,
    "webqsp-own": 572,
    "cwq-answerable": 1_445,
    "cwq-test": 1_693,
    "cwq-own": 810,
}


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
    yield
    patch.undo()


def neighbours(graph):
    """Nodes one step away from each node, in the direction of the graph."""
    return [set(graph.steps(node, "graph")[0].tolist()) for node in range(graph.n_nodes)]


def nodes_within(near, seeds, steps):
    """Nodes within that many steps."""
    found, newest = set(seeds), set(seeds)
    for _ in range(steps):
        newest = set().union(*(near[node] for node in newest)) - found
        found |= newest
    return found


def test_every_graph_has_its_counts():
    known = datasets()
    assert set(GRAPHS) <= set(known)
    for name, counts in GRAPHS.items():
        if name != "metaqa":
            graph = known[name].open()
            assert (graph.n_nodes, graph.n_edges, graph.n_relations, graph.direction) == counts
        assert known[name].title and known[name].licence and known[name].source


def test_every_set_has_its_counts():
    assert {name: len(questions(name)) for name in SETS} == SETS
    assert all(question_set(name).title for name in SETS)
    assert {
        name for graph in GRAPHS for name in datasets()[graph].sets if graph != "metaqa"
    } == set(SETS)
    for name in SETS:
        known = questions(name)
        assert len({q.id for q in known}) == len(known) and all(q.text and q.answers for q in known)


@pytest.mark.parametrize("hops", [2, 3])
def test_every_answer_of_pathquestion_is_reached_along_the_triples(hops):
    graph = open_graph(f"pathquestion-{hops}hop")
    known, near = name_lookup(graph), neighbours(graph)
    for question in questions(f"pathquestion-{hops}hop")[::10]:
        assert question.hops == hops and len(question.entities) == 1
        nodes = {known.find(answer) for answer in question.answers}
        assert nodes & nodes_within(near, [known.find(question.entities[0])], hops)


@pytest.mark.parametrize("name, of, in_four", [("webqsp", 774, 633), ("cwq", 1_693, 1_476)])
def test_answerable_freebase_rows_are_marked(name, of, in_four):
    graph = open_graph("webqsp-cwq")
    ids = {graph.node_name(node): node for node in range(graph.n_nodes)}
    rows = questions(f"{name}-test")
    fit = [
        q.id
        for q in rows
        if q.entities and all(e in ids for e in q.entities) and any(a in ids for a in q.answers)
    ]
    assert fit == [q.id for q in questions(f"{name}-answerable")]
    near, answered = neighbours(graph), 0
    for question in rows:
        found = nodes_within(near, [ids[e] for e in question.entities if e in ids], 4)
        answered += any(ids.get(answer) in found for answer in question.answers)
    assert (len(rows), answered) == (of, in_four)


def test_the_union_graph_is_that_of_all_rows():
    dataset = datasets()["webqsp-cwq"]
    rows = [
        t
        for name in ("webqsp", "cwq")
        for t in read_triples(dataset.triples.parent / f"{name}.jsonl.gz")
    ]
    assert set(rows) == set(read_triples(dataset.triples)) and len(set(rows)) == 7_015


def test_a_question_on_its_own_graph():
    question = next(q for q in questions("webqsp-own") if q.id == "WebQTest-1")
    graph = graph_for("webqsp-own", question)
    assert (graph.name, graph.n_edges, graph.folder) == ("webqsp-cwq:WebQTest-1", 20, None)
    assert open_graph(graph.name) is graph and graph_for("webqsp-test", question).n_edges == 7_015
    node = name_lookup(graph).find("James K. Polk")
    assert {graph.node_name(int(n)) for n in graph.steps(node, "out")[0]} >= {"Farmer", "m.04j60kc"}
    with pytest.raises(UnknownEntity):
        name_lookup(graph).find("Jamaica")


def test_every_own_graph_holds_the_entities_and_an_answer():
    for question in questions("cwq-own")[::20]:
        graph = graph_for("cwq-own", question)
        held = set(graph.names(range(graph.n_nodes)))
        assert set(question.entities) <= held and held & set(question.answers)


def test_unknown_own_graphs_are_refused():
    with pytest.raises(BadInput, match="No question “nobody”"):
        open_graph("webqsp-cwq:nobody")
    bare = next(
        q for q in questions("cwq-test") if not question_set("cwq-test").question_triples(q.id)
    )
    with pytest.raises(BadInput, match="without a graph of its own"):
        question_set("cwq-test").question_graph(bare.id, "x", "both")
    with pytest.raises(BadInput, match="has no question “nobody”"):
        question_set("cwq-test").question_triples("nobody")


def test_a_file_is_a_set_too(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text(
        '{"question": "who is A", "answer": "B", "q_entity": ["A"], "graph": [["A", "r", '
        '"B"]]}\n{"question": "none"}\n'
    )
    with_graph, without = questions(file)
    assert questions(str(file)) == read_questions(file)
    assert graph_for(file, with_graph).n_edges == 1
    with pytest.raises(BadInput, match="without a graph of its own"):
        graph_for(file, without)
    file.write_text('{"question": "another"}\n')
    assert [q.text for q in questions(file)] == ["another"]  # A changed file is read again.
    with pytest.raises(BadInput, match="no question set"):
        questions(tmp_path / "absent.jsonl")


def test_first_questions_can_be_asked():
    for name, dataset in datasets().items():
        if name != "metaqa":
            known = {q.text for set_name in dataset.sets for q in dataset.questions(set_name)}
        else:
            known = set(dataset.examples)
        assert set(dataset.examples) <= known and (dataset.examples or not dataset.sets)
