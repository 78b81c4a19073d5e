"""The user's own retriever on documents: its lane, answer, prompt, evaluation and errors."""

import pytest

from core.corpus import Document, new_folder, write_corpus
from core.engine import Engine
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import find_method
from core.results import comparison_dict
from core.retrievers.declarations import own_file
from core.sources import CorpusSource, GraphSource
from core.types import Question
from tests.films import Parrot
from tests.notes import NoteWith

DOCUMENTS = (
    Document(
        "carol", "Marley was dead, to begin with. Scrooge was his partner.", "A Christmas Carol"
    ),
    Document(
        "fred", "Fred, the nephew of Scrooge, wished his uncle a merry Christmas.", "The nephew"
    ),
    Document("turkey", "The turkey was as big as a boy.", "The turkey"),
)
ASKED = Question("Who was the partner of Marley?", "1", answers=("Scrooge",), gold=("carol",))
OTHER = Question("How big was the turkey?", "2", answers=("a boy",), gold=("turkey", "fred"))
BY_WORDS = "SparseChunks(keep=1) >> AnswerFromTables()"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", (ASKED, OTHER))})
    own_file().write_text('[mine]\npython = "mine:retrieve"\n', "utf-8")
    return tmp_path


@pytest.fixture
def engine(kit):
    made = Engine(kit.Written(encoder=kit.Table({}), chat=Parrot("Fred")))
    yield made
    made.jobs.stop()
    made.evaluations.stop()


def reply(home, data):
    (home / "mine.py").write_text(
        f"SEEN = []\ndef retrieve(request):\n    SEEN.append(request)\n    return {data}\n", "utf-8"
    )


def lanes(engine, *specs, model=True, question=ASKED):
    ask = engine.prepare_question(CorpusSource("carols"), question, uses_model=model)
    job = engine.compare(ask, [find_method(spec) for spec in specs])
    assert job.wait(60)
    return job.comparison.lanes, comparison_dict(job.comparison)["lanes"]


def test_own_retriever_is_a_lane_with_hits_and_funnel(engine, home):
    reply(
        home,
        (
            '{"documents": [{"id": "fred", "score": 2}, {"text": "Scrooge was his partner", '
            '"score": 1}, {"id": "moby"}]}'
        ),
    )
    _, (own, published) = lanes(engine, "retriever-mine-documents", BY_WORDS)
    assert own["error"] is None and [hit["id"] for hit in own["hits"]["chunk"]] == ["fred", "carol"]
    assert (
        own["gold"]["alive"]["retrieved"]
        == own["gold"]["alive"]["prompt"]
        == published["gold"]["alive"]["retrieved"]
        == ["carol"]
    )
    assert own["answer"] == "Fred"  # The reply has no answer, so it comes from the language model.
    assert NoteWith(1, "3 documents", "not in the corpus", "“moby”") in own["operators"][0]["notes"]
    from core.retrievers import calls

    request = {"question": ASKED.text, "corpus": "carols", "seed": 0, "keep": 10}
    # The request contains neither answers nor gold passages.
    assert calls._import_module("mine", home / "mine.py").SEEN == [request]


def test_own_answer_is_the_answer_of_the_lane(engine, home):
    reply(home, '{"documents": ["carol"], "answer": "Scrooge it was"}')
    for model in (True, False):
        (lane,), (own,) = lanes(engine, "retriever-mine-documents", model=model)
        assert own["answer"] == lane.answer == "Scrooge it was" and lane.state.own_answer
        assert own["gold"]["alive"]["prompt"] is None and own["funnel"]["answer"] == ["Scrooge"]


def test_prompt_shows_what_the_reader_saw(engine, home):
    """The prompt shows one of two retrieved documents, and the model gets that prompt."""
    reply(
        home,
        (
            '{"documents": ["carol", "fred"], "prompt": "Read: " + "Fred, the nephew of Scrooge, '
            'wished his uncle a merry Christmas."}'
        ),
    )
    (lane,), (own,) = lanes(engine, "retriever-mine-documents")
    assert (
        own["gold"]["alive"]["retrieved"] == ["carol"]
        and own["gold"]["alive"]["prompt"] == []
        and own["answer"] == "Fred"
    )
    assert [message["content"][:10] for message in lane.state.prompt.messages] == ["Read: Fred"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("[]", "cannot be used: it should be an object with “documents”"),
        ('{"paths": [{"nodes": ["a", "b"]}]}', "ask it of a graph of triples"),
        ("1 / 0", "failed: ZeroDivisionError"),
        (
            '{"documents": [{"id": "x" * 2000000}]}',
            "“id” of entry 1 of “documents” should be a text",
        ),
        ('{"documents": ["x"] * 10001}', "at most 10,000 are taken"),
        ("__import__('time').sleep(5)", "did not answer within 0.2 seconds"),
    ],
)
def test_errors_fail_only_its_lane(engine, home, data, why):
    reply(home, data)
    own_file().write_text('[mine]\npython = "mine:retrieve"\ntimeout = 0.2\n', "utf-8")
    _, (own, published) = lanes(engine, "retriever-mine-documents", BY_WORDS)
    assert why in own["error"] and own["status"] == "failed" and published["error"] is None


def test_wrong_kind_of_source_is_a_readable_error(engine, home, kit):
    reply(home, '{"documents": ["carol"]}')
    _, (own,) = lanes(engine, "OwnRetriever(name='mine') >> Answer()")
    assert "asks your retriever for paths of a graph, and “carols” are documents" in own["error"]
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("who directed One", entities=("One",)), uses_model=False
    )
    job = engine.compare(
        ask, [find_method("retriever-mine-documents"), find_method("retriever-mine")]
    )
    assert job.wait(60)
    first, second = comparison_dict(job.comparison)["lanes"]
    assert "is a graph of triples" in first["error"] and "ask it of a corpus" in second["error"]


def test_own_retriever_is_evaluated_with_a_published_one(engine, home):
    """Two of three gold passages have rank 1 or 2; one document of four is missing."""
    reply(
        home,
        (
            '{"documents": ["carol", "moby"] if "Marley" in request["question"] else ["fred", '
            '"carol"], "answer": "Scrooge"}'
        ),
    )
    plan = make_plan(
        [find_method("retriever-mine-documents"), find_method(BY_WORDS)],
        "carols",
        None,
        engine.graph,
        model=False,
    )
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    assert job.wait(60) and not job.error
    summary = RunSummary(store.run(job.number), store.rows(job.number))
    rows = {row.question.id: row.outcome for row in summary.rows_of("retriever-mine-documents")}
    assert [metric("passage_recall@2")(rows[id]) for id in ("1", "2")] == [1.0, 0.5]
    assert [metric("accuracy")(rows[id]) for id in ("1", "2")] == [1.0, 0.0]
    one, two = summary.external_result_sentences()
    assert one == NoteWith("mine", 1, 4, "not in the corpus", 1, 2) and two == NoteWith(
        "mine", "own answers"
    )
    assert evaluate(engine, store, plan).number == job.number
    own_file().write_text('[mine]\npython = "mine:retrieve"\nversion = 2\n', "utf-8")
    assert evaluate(engine, store, plan).number != job.number
