"""An evaluation that is written as files of other tools and read again.

The figures stay the same. A corpus is written as BEIR has it.
"""

import io
import json
import zipfile

import pytest

from core.cli import EXIT_OK, main
from core.corpus import Document, new_folder, write_corpus
from core.engine import Engine
from core.evaluation.exchange.beir import write_beir
from core.evaluation.exchange.run_files import run_files, run_zip
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import find_method
from core.retrievers.runs.formats import read_run_file
from core.retrievers.runs.saved_runs import save_run_file
from core.sources import CorpusSource
from core.types import Question

DOCUMENTS = (
    Document(
        "A Carol", "Marley was dead, to begin with. Scrooge was his partner.", "A Christmas Carol"
    ),
    Document(
        "fred", "Fred, the nephew of Scrooge, wished his uncle a merry Christmas.", "The nephew"
    ),
    Document("turkey_1", "The turkey was as big as a boy, and Marley never saw it.", "The turkey"),
)
ASKED = (
    Question("partner Marley?", "1", answers=("Scrooge",), gold=("A Carol", "turkey_1")),
    Question("Fred merry?", "2", answers=("Fred", "the nephew"), gold=("fred\nFred, the nephew",)),
)
LINE = "SparseChunks(keep=2) >> AnswerFromTables()"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", ASKED)})


@pytest.fixture
def engine(kit):
    made = Engine(kit.Written(encoder=kit.Table({})))
    yield made
    made.jobs.stop()
    made.evaluations.stop()


def evaluated(engine, sets="carols", *specs):
    store = Store(evaluations_file())
    plan = make_plan(
        [find_method(spec) for spec in specs or (LINE,)], sets, None, engine.graph, model=False
    )
    job = evaluate(engine, store, plan)
    assert job.wait(60) and not job.error
    return store, RunSummary(store.run(job.number), store.rows(job.number))


def test_a_run_goes_out_and_comes_back_with_the_same_figures(corpus, engine, tmp_path):
    store, summary = evaluated(engine)
    files = run_files(engine, store, summary.run)
    named = lambda ending: next(text for name, text in files.items() if name.endswith(ending))
    trec, ragas, qed, qrels = map(named, (".trec", "ragas.jsonl", "qed.json", "qrels.txt"))
    assert qrels == "1 0 A%20Carol 1\n1 0 turkey_1 1\n2 0 fred 1\n"
    assert [line.split()[:4] for line in trec.splitlines()][:2] == [
        ["1", "Q0", "A%20Carol", "1"],
        ["1", "Q0", "turkey_1", "2"],
    ]
    first, second = map(json.loads, ragas.splitlines())
    assert (first["user_input"], first["reference"], second["reference"]) == (
        ASKED[0].text,
        "Scrooge",
        "Fred | the nephew",
    )
    assert first["retrieved_contexts"] == [DOCUMENTS[0].text, DOCUMENTS[2].text]
    assert [one["question_id"] for one in json.loads(qed)] == ["1", "2"]
    for name, text in (("run.trec", trec), ("qrels.txt", qrels)):
        (tmp_path / name).write_text(text, "utf-8")
    run = save_run_file(tmp_path / "run.trec", CorpusSource("carols"), qrels=tmp_path / "qrels.txt")
    assert not run.notes and [one.gold for one in run.list_questions()] == [
        ("A Carol", "turkey_1"),
        ("fred",),
    ]
    _, again = evaluated(engine, "run-run", "run-run")
    names = ["passage_recall@1", "passage_recall@2", "passage_precision@2"]
    (before,), (now,) = (one.table(names).values() for one in (summary, again))
    assert (
        [before[name].mean for name in names]
        == [now[name].mean for name in names]
        == [0.75, 1.0, 0.75]
    )


def test_the_rows_are_those_that_are_read_again(corpus, engine, tmp_path):
    store, summary = evaluated(engine)
    for name, text in run_files(engine, store, summary.run).items():
        if name != "qrels.txt":
            (tmp_path / name).write_text(text, "utf-8")
            found = read_run_file(tmp_path / name)
            format = next(one for one in ("trec", "ragas", "benchmark-qed") if f".{one}" in name)
            assert found.format == format and len(found.rows) == 2
    with zipfile.ZipFile(io.BytesIO(run_zip(engine, store, summary.run))) as packed:
        assert {"qrels.txt", "README.txt"} <= set(packed.namelist()) and len(packed.namelist()) == 5


def test_the_command_line_writes_them(corpus, tmp_path, capsys):
    out = tmp_path / "out"
    command = [
        "evaluate",
        "--set",
        "carols",
        "--methods",
        "BuiltGraph() >> SparseChunks(keep=1)",
        "--no-llm",
        "--files",
        str(out),
    ]
    assert main([*command, "--sample", "all"]) == EXIT_OK
    assert (out / "qrels.txt").is_file() and len(list(out.glob("*.trec"))) == 1
    assert "Written to" in capsys.readouterr().err
    assert main(["corpus", "export", "carols", str(tmp_path / "beir")]) == EXIT_OK


def test_a_corpus_as_beir_has_it(corpus, tmp_path):
    assert write_beir(corpus, tmp_path / "beir") == {
        "corpus.jsonl": 3,
        "qrels/carols.tsv": 3,
        "queries.jsonl": 2,
    }
    rows = [
        json.loads(line)
        for line in (tmp_path / "beir" / "corpus.jsonl").read_text("utf-8").splitlines()
    ]
    assert rows[0] == {"_id": "A Carol", "title": "A Christmas Carol", "text": DOCUMENTS[0].text}
    asked = [
        json.loads(line)
        for line in (tmp_path / "beir" / "queries.jsonl").read_text("utf-8").splitlines()
    ]
    assert [(one["_id"], one["text"]) for one in asked] == [(one.id, one.text) for one in ASKED]
    qrels = (tmp_path / "beir" / "qrels" / "carols.tsv").read_text("utf-8").splitlines()
    assert qrels == ["query-id\tcorpus-id\tscore", "1\tA Carol\t1", "1\tturkey_1\t1", "2\tfred\t1"]
