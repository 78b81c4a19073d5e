import gzip
import weakref
from dataclasses import replace

import pytest

from core.datasets import datasets, draw_from_set, open_graph, questions, read_questions
from core.datasets.catalogue import Dataset
from core.errors import BadInput, StoreError
from core.graph.building.build import build

COUNTS = {
    "metaqa-1hop-dev": 9992,
    "metaqa-2hop-dev": 14872,
    "metaqa-3hop-dev": 14274,
    "metaqa-1hop-test": 5007,
    "metaqa-2hop-test": 7408,
    "metaqa-3hop-test": 7174,
    "metaqa-1hop-ntm-dev": 9992,
    "metaqa-1hop-ntm-test": 5007,
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def test_movies_questions_are_all_there(home):
    dataset = datasets()["metaqa"]
    assert (
        dataset.title == "WikiMovies (MetaQA)"
        and dataset.direction == "both"
        and "Attribution 3.0" in dataset.licence
    )
    assert {name: len(dataset.questions(name)) for name in dataset.sets} == COUNTS
    assert all(len(dataset.kinds(name)) == COUNTS[name] for name in dataset.sets)
    assert all(known.title for known in dataset.sets.values())


def test_a_question_by_hand(home):
    question = questions("metaqa-2hop-dev")[1]
    assert question.text == "the films acted by Sharon Tate were released in which years"
    assert (question.id, question.entities, question.answers, question.hops) == (
        "metaqa-2hop-dev-2",
        ("Sharon Tate",),
        ("1967", "1968"),
        2,
    )
    assert datasets()["metaqa"].kinds("metaqa-2hop-dev")[1] == "actor_to_movie_to_year"
    assert questions("metaqa-2hop-dev") is questions("metaqa-2hop-dev")


def test_every_entity_and_answer_of_a_sample_is_in_the_graph(movies):
    from core.graph.names.lookup import name_lookup

    known = name_lookup(movies)
    for name in ("metaqa-1hop-test", "metaqa-3hop-dev"):
        for question in questions(name)[::50]:
            assert all(
                movies.node_name(known.find_exact(text)[0]) == text
                for text in question.entities + question.answers
            )


def test_drawing_is_the_same_for_the_same_seed(home):
    assert draw_from_set("metaqa-1hop-dev", 3) == draw_from_set("metaqa-1hop-dev", 3)
    assert len({draw_from_set("metaqa-1hop-dev", seed).id for seed in range(20)}) > 15


def test_unknown_names_suggest_known_ones(home):
    with pytest.raises(BadInput, match="Did you mean “metaqa-1hop-dev”"):
        questions("metaqa-1hop-de")
    with pytest.raises(BadInput, match="metaqa-3hop-test"):
        datasets()["metaqa"].questions("other")
    with pytest.raises(BadInput, match="Did you mean “metaqa”"):
        open_graph("metaq")


def test_a_few_of_many_graphs_are_named_and_the_others_counted(home):
    for number in range(30):
        build([("a", "r", "b")], home / "graphs" / f"private-{number}", "x", "out")
    with pytest.raises(BadInput) as near:
        open_graph("privat-7")
    assert str(near.value).count("private-") == 1
    with pytest.raises(BadInput) as none:
        open_graph("zzz")
    named = str(none.value).count("private-")
    assert named < 9
    assert f"and {len(datasets()) - 8} more" in str(none.value)


def test_own_graphs_are_listed(home):
    build([("a", "r", "b")], home / "graphs" / "mine", "My graph", "out")
    (home / "graphs" / "broken").mkdir()
    (home / "graphs" / "broken" / "graph.json").write_text("{")
    (home / "graphs" / "empty").mkdir()
    known = datasets()
    assert list(known)[-1] == "mine" and not {"broken", "empty"} & set(known)
    assert known["mine"].title == "My graph" and known["mine"].sets == {}
    assert (
        open_graph("mine") is open_graph(home / "graphs" / "mine")
        and open_graph("mine").direction == "out"
    )
    build([("a", "r", "c")], home / "graphs" / "mine", "My graph", "out")
    assert open_graph("mine").names([1]) == ["c"]
    with pytest.raises(StoreError):
        open_graph("broken")


@pytest.mark.parametrize(
    "text, told",
    [
        ("who\n", "line 1"),
        ("who [A]\tB\n\tB\n", "line 2"),
        ("", "no questions"),
        (b"who\tB\n\xff\0\tC\n", "line 2"),
    ],
)
def test_bad_question_files_are_refused(tmp_path, text, told):
    (tmp_path / "q.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput, match=told):
        read_questions(tmp_path / "q.txt", "q")


def test_plain_and_gzipped_questions(tmp_path):
    text = "who is [A B]?\tC|D|C|\r\n\nand\t\n"
    (tmp_path / "q.txt").write_bytes(text.encode())
    (tmp_path / "q.txt.gz").write_bytes(gzip.compress(text.encode()))
    first, second = read_questions(tmp_path / "q.txt.gz", "q", 1)
    assert (first.text, first.entities, first.answers, first.id) == (
        "who is A B?",
        ("A B",),
        ("C", "D"),
        "q-1",
    )
    assert (second.text, second.answers, second.id) == ("and", (), "q-3")
    assert read_questions(tmp_path / "q.txt", "q", 1) == (first, second)


@pytest.mark.parametrize("triples", [True, False])
def test_a_graph_is_shared_by_its_holders_and_freed_with_the_last(tmp_path, triples):
    """All holders of a graph share one object and its prepared names.

    A graph without a holder takes no memory.
    """
    source = tmp_path / "t.tsv"
    source.write_text("a\tr\tb\n", "utf-8")
    known = Dataset("g", "g", "", "both", source, tmp_path / "g")
    known.open()  # This builds the graph.
    known = known if triples else replace(known, triples=None)
    first, second = known.open(), known.open()
    assert first is second
    source.write_text("a\tr\tc\n", "utf-8")
    other = replace(known, triples=source).open()
    assert other is not first and other.names([1]) == ["c"]
    gone = weakref.ref(first)
    del first, second
    assert gone() is None
