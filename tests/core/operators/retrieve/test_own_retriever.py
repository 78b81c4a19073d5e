"""The user's own retriever as a lane: the example server, evaluation and command line."""

import json
import socket
import subprocess
import sys
import time

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, main
from core.engine import Engine
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.io.home import ROOT
from core.methods.catalogue import catalogue, find_method
from core.results import comparison_dict
from core.retrievers.declarations import own_file
from core.sources import GraphSource
from core.types import Question
from tests.films import TRIPLES
from tests.notes import NoteWith

EXAMPLE = ROOT / "tests" / "example_retriever.py"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Yield the address of the example server on the films' triples."""
    file = tmp_path_factory.mktemp("example") / "triples.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE), str(port), str(file)], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def home(tmp_path, monkeypatch, address):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    own_file().write_text(
        f'[words]\ntitle = "Words in common"\nurl = "{address}"\nkeep = 2\n', "utf-8"
    )
    return tmp_path


@pytest.fixture
def engine(kit):
    made = Engine(kit.Written(encoder=kit.Table({})))
    yield made
    made.jobs.stop()
    made.evaluations.stop()


def asked(engine, kit, *specs, model=False):
    ask = engine.prepare_question(
        GraphSource.of(kit.graph),
        Question("who directed One", entities=("One",), answers=("Ann",)),
        uses_model=model,
    )
    job = engine.compare(ask, [find_method(spec) for spec in specs])
    assert job.wait(60)
    return job, comparison_dict(job.comparison)["lanes"]


def test_own_retriever_has_the_same_funnel_as_a_published_one(engine, kit, home):
    job, (own, published) = asked(engine, kit, "retriever-words", "lego-1", model=True)
    assert own["error"] is None and [step["name"] for step in own["operators"]] == [
        "OwnRetriever",
        "GraphReader",
        "Answer",
    ]
    assert [path["text"] for path in own["paths"]] == [
        "One -> directed_by -> Ann",
        "One -> has_genre -> Drama",
    ]
    assert [path["score"] for path in own["paths"]] == [1.0, 0.0] and own["reader_answers"] == [
        "Ann"
    ]
    assert (
        own["funnel"]["paths"] == own["funnel"]["prompt"] == published["funnel"]["paths"] == ["Ann"]
    )
    assert (
        "One -> directed_by -> Ann" in own["prompt"]
        and own["answer"] == "Drama"
        and own["funnel"]["answer"] == []
    )
    assert own["subgraph"] == {"nodes": 3, "edges": 2} and own["operators"][0]["seconds"] > 0


def test_paths_can_be_ranked_by_another_operator(engine, kit, home):
    _, (own,) = asked(
        engine, kit, "OwnRetriever(name='words') >> Rank(model='encoder', keep=1) >> Answer()"
    )
    assert len(own["paths"]) == 1 and own["error"] is None


def reply(home, told):
    (home / "mine.py").write_text(
        f"COUNT = []\ndef retrieve(request):\n    COUNT.append(1)\n    return {told}\n", "utf-8"
    )
    own_file().write_text('[mine]\npython = "mine:retrieve"\n', "utf-8")


def test_own_retriever_and_later_steps_run_again(engine, kit, home):
    """The replies alternate between Ann and Drama, so the second request shows Drama."""
    reply(home, '{"paths": [{"nodes": ["One", ["Ann", "Drama"][len(COUNT) % 2 - 1]]}]}')
    line = "OwnRetriever(name='mine') >> Rank(model='encoder') >> Answer()"
    found = [asked(engine, kit, line)[1][0]["reader_answers"] for _ in range(2)]
    assert found == [["Ann"], ["Drama"]]


def test_own_answers_are_the_answers_of_the_lane(engine, kit, home):
    reply(home, '{"paths": [{"nodes": ["One", "Ann"]}], "answers": ["1999"]}')
    _, (own,) = asked(engine, kit, "retriever-mine")
    assert (
        own["reader_answers"] == ["1999"] and own["paths"][0]["text"] == "One -> directed_by -> Ann"
    )
    assert own["operators"][1]["notes"] == [NoteWith("retriever's own")]


@pytest.mark.parametrize(
    "told, why",
    [("[]", "cannot be used: it should be an object"), ("1 / 0", "failed: ZeroDivisionError")],
)
def test_errors_fail_only_its_lane(engine, kit, home, told, why):
    reply(home, told)
    _, (own, published) = asked(engine, kit, "retriever-mine", "lego-1")
    assert why in own["error"] and own["status"] == "failed" and published["error"] is None


def test_undeclared_names_reach_nothing(engine, kit, home):
    for name in ("http://127.0.0.1:1/", "os:system", "../words", ""):
        _, (own,) = asked(engine, kit, f"OwnRetriever(name={name!r}) >> Answer()")
        assert "no retriever" in own["error"]


def test_empty_reply_is_an_empty_lane(engine, kit, home):
    reply(home, "{}")
    _, (own,) = asked(engine, kit, "retriever-mine")
    assert (
        own["error"] is None
        and own["paths"] == []
        and own["reader_answers"] == []
        and own["subgraph"]["nodes"] == 1
    )


def test_evaluation_asks_each_question_once(engine, kit, home):
    reply(home, '{"paths": [{"nodes": [request["entities"][0], "Ann"]}]}')
    file = home / "q.csv"
    file.write_text(
        (
            "question,answers,entities\nwho directed One,Ann,One\nwho wrote Two,Ann,Two\n"
            "when was Two,1999,Two\n"
        ),
        "utf-8",
    )
    plan = make_plan(
        [find_method("retriever-mine")],
        str(file),
        None,
        lambda name: kit.graph,
        graph="films",
        model=False,
    )
    engine._graphs["films"] = kit.graph
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    assert job.wait(60) and not job.error
    rows = store.rows(job.number)
    assert sorted(row.outcome.answer.found for row in rows) == [0, 1, 1]
    from core.retrievers import calls

    assert sum(calls._import_module("mine", home / "mine.py").COUNT) == 3
    assert evaluate(engine, store, plan).number == job.number  # Nothing is left to compute.
    own_file().write_text('[mine]\npython = "mine:retrieve"\nversion = 2\n', "utf-8")
    plan = make_plan(
        [find_method("retriever-mine")],
        str(file),
        None,
        lambda name: kit.graph,
        graph="films",
        model=False,
    )
    again = evaluate(engine, store, plan)
    assert again.number != job.number and again.wait(60)


def test_command_line_runs_an_own_retriever(home, films, capsys):
    ask = [
        "ask",
        "who directed One",
        "--graph",
        str(films.folder),
        "--entity",
        "One",
        "--answer",
        "Ann",
        "--no-llm",
    ]
    assert main([*ask, "--method", "retriever-words", "--json"]) == EXIT_OK
    (lane,) = json.loads(capsys.readouterr().out)["lanes"]
    assert lane["instance"] == "retriever-words" and lane["reader_answers"] == ["Ann"]
    own_file().write_text('[words]\nurl = "http://127.0.0.1:9/"\n[bad]\nurl = 3\n', "utf-8")
    assert main([*ask, "--method", "retriever-words"]) == EXIT_FAILED
    assert "“words” cannot be reached" in capsys.readouterr().out
    assert main([*ask, "--method", "retriever-bad"]) != EXIT_OK
    assert "retrievers.toml, [bad]: “url” must be a text" in capsys.readouterr().err
    assert main(["instances"]) == EXIT_OK
    shown = capsys.readouterr()
    assert (
        "retriever-words" in shown.out
        and "retrievers.toml, [bad]" in shown.err
        and "retriever-words" in catalogue()
    )


def test_documentation_shows_the_example_as_it_runs():
    page = (ROOT / "docs" / "own-retriever.md").read_text("utf-8")
    code = EXAMPLE.read_text("utf-8")
    assert code[code.index("import json") :].strip() in page
