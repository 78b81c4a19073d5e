"""Finished runs read from a file, as lanes and columns.

Hits, funnel, fates and answers come from the file, metrics equal those of ir_measures, and missing
data is reported.
"""

import json
import random
from dataclasses import replace

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, new_folder, own_corpus, write_corpus
from core.engine import Engine
from core.errors import BadInput
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.saved_runs import enlarge_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import find_method
from core.results import comparison_dict
from core.retrievers.runs.saved_runs import save_run_file
from core.sources import CorpusSource, GraphSource
from core.types import Question
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
OTHER = Question("How big was the turkey?", "2", answers=("a boy",), gold=("turkey",))
BY_WORDS = "SparseChunks(keep=1) >> AnswerFromTables()"
ROWS = (
    {
        "question": ASKED.text,
        "contexts": [DOCUMENTS[1].text, DOCUMENTS[0].text, "A whale <b>."],
        "answer": "Scrooge it was",
    },
    {"question": "Why?", "contexts": ["x"], "answer": "so"},
)


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", (ASKED, OTHER))})
    return CorpusSource("carols")


@pytest.fixture
def engine(kit):
    made = Engine(kit.Written(encoder=kit.Table({})))
    yield made
    made.jobs.stop()
    made.evaluations.stop()


def import_run(tmp_path, source, rows=ROWS, name="mine.jsonl"):
    file = tmp_path / name
    file.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8"
    )
    return save_run_file(file, source)


def lanes(engine, source, *specs, question=ASKED):
    job = engine.compare(
        engine.prepare_question(source, question, uses_model=False),
        [find_method(spec) for spec in specs],
    )
    assert job.wait(60)
    return comparison_dict(job.comparison)["lanes"]


def test_run_is_a_lane_with_hits_fates_and_funnel(engine, source, tmp_path):
    import_run(tmp_path, source)
    own, published = lanes(engine, source, "run-mine", BY_WORDS)
    assert (
        own["error"] is None
        and own["answer"] == "Scrooge it was"
        and [hit["id"] for hit in own["hits"]["chunk"]] == ["fred", "carol"]
    )
    assert own["gold"]["alive"]["retrieved"] == published["gold"]["alive"]["retrieved"] == ["carol"]
    assert own["gold"]["alive"]["prompt"] is None and own["funnel"]["answer"] == ["Scrooge"]
    assert own["gold"]["fates"][0]["place"] == 2
    assert (
        NoteWith(1, "3 documents", "not in the corpus", "“A whale <b>.”")
        in own["operators"][0]["notes"]
    )


def test_missing_data_of_a_run_is_a_readable_error(engine, source, tmp_path):
    import_run(tmp_path, source)
    (own,) = lanes(engine, source, "run-mine", question=OTHER)
    assert own["error"] == NoteWith("“mine.jsonl”", "“How big was the turkey?”")
    (own,) = lanes(engine, source, "FileDocuments(run='moby')")
    assert "no finished run “moby”" in own["error"]
    write_corpus(new_folder("others"), DOCUMENTS)
    (own,) = lanes(engine, CorpusSource("others"), "run-mine")
    assert own["error"] == NoteWith("“mine.jsonl”", "“carols”", "“others”")


def test_answers_alone_form_a_lane_on_triples(engine, source, tmp_path, kit):
    import_run(
        tmp_path,
        GraphSource(kit.graph.name),
        [{"question": "who directed One", "prediction": "Ann"}],
        "said.json",
    )
    question = Question("who directed One", entities=("One",), answers=("Ann",))
    (own,) = lanes(engine, GraphSource.of(kit.graph), "run-said", question=question)
    assert own["error"] is None and own["answer"] == "Ann" and own["funnel"]["answer"] == ["Ann"]


def test_missing_questions_count_as_failed(engine, source, tmp_path):
    """One of two questions is in the run, with its gold passage at rank 2.

    One of three contexts is not in the corpus.
    """
    import_run(tmp_path, source)
    store = Store(evaluations_file())
    job = evaluate(
        engine,
        store,
        make_plan(
            [find_method("run-mine"), find_method(BY_WORDS)],
            "carols",
            None,
            engine.graph,
            model=False,
        ),
    )
    assert job.wait(60) and not job.error
    summary = RunSummary(store.run(job.number), store.rows(job.number))
    table = summary.table(["passage_recall@2", "accuracy", "seconds", "tokens"])
    assert [table["run-mine"][name].mean for name in ("passage_recall@2", "accuracy")] == [0.5, 0.5]
    # The run has no measurements of time or tokens.
    assert table["run-mine"]["seconds"].n == table["run-mine"]["tokens"].n == 0
    assert "does not have the question" in summary.failure_text("run-mine")
    assert summary.external_result_sentences() == [
        NoteWith("mine.jsonl", 1, 3, "not in the corpus", 1, 1),
        NoteWith("mine.jsonl", "own answers"),
        NoteWith("mine.jsonl", "seconds and tokens"),
    ]
    assert recommendation(summary) is not None


def test_questions_of_a_run_form_a_set(engine, source, tmp_path):
    rows = [
        *ROWS[:1],
        {"question": "Why?", "contexts": ["carol"], "answer": "It was so", "ground_truth": "so"},
    ]
    import_run(tmp_path, source, rows)
    plan = make_plan([find_method("run-mine")], "run-mine", None, engine.graph, model=False)
    assert sorted((one.question.id, one.question.answers) for one in plan.drawn) == [
        ("1", ("Scrooge",)),
        ("mine-2", ("so",)),
    ]
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    assert job.wait(60) and [metric("accuracy")(row.outcome) for row in store.rows(job.number)] == [
        1.0,
        1.0,
    ]


def test_figures_of_a_trec_run_are_those_of_ir_measures(engine, tmp_path, monkeypatch):
    """The run has forty documents, 25 questions, tied scores, and 1 to 5 judgements each."""
    ir_measures = pytest.importorskip("ir_measures")
    from ir_measures import P, R, nDCG

    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    draw = random.Random(7)
    long = " ".join(f"Sentence {i} speaks of thing{i} and of nothing else." for i in range(80))
    documents = [
        Document(f"d{i:02d}", long if i == 3 else f"Document number {i} speaks of thing{i}.")
        for i in range(40)
    ]
    questions = [Question(f"What of thing{i}?", f"q{i}") for i in range(25)]
    write_corpus(new_folder("things"), documents, sets={"things": ("Things", questions)})
    run, qrels = tmp_path / "run.trec", tmp_path / "qrels.txt"
    ids = [document.id for document in documents]
    with run.open("w") as file, qrels.open("w") as judged:
        for number, question in enumerate(questions):
            if number != 4:  # The run lacks one judged question.
                for rank, id in enumerate(draw.sample(ids, draw.randint(3, 20)), 1):
                    file.write(f"{question.id} Q0 {id} {rank} {draw.randint(1, 6) / 2} mine\n")
            for id in draw.sample(ids, draw.randint(1, 5)):
                judged.write(f"{question.id} 0 {id} 1\n")
    save_run_file(run, CorpusSource("things"), qrels=qrels)
    store = Store(evaluations_file())
    job = evaluate(
        engine,
        store,
        make_plan([find_method("run-run")], "run-run", None, engine.graph, model=False),
    )
    assert job.wait(120) and not job.error
    ours = {row.question.id: row for row in store.rows(job.number)}
    named = {
        R @ 4: "passage_recall@4",
        R @ 10: "passage_recall@10",
        P @ 4: "passage_precision@4",
        nDCG @ 10: "ndcg@10",
    }
    judgements, ranked = (
        list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(run))),
    )
    expected = {
        (one.query_id, named[one.measure]): one.value
        for one in ir_measures.iter_calc(list(named), judgements, ranked)
    }
    assert len(ours) == 25 and ours["q4"].error and ours["q4"].outcome is None
    for (question, name), value in expected.items():
        row = ours[question]
        if row.outcome is None:
            own = metric(name).value_if_failed(row.question)
        else:
            own = metric(name)(row.outcome)
        assert own == pytest.approx(value), (question, name)


def test_command_line_imports_and_scores_a_run(source, tmp_path, capsys):
    import_run(tmp_path, source, name="kept.jsonl")
    file = tmp_path / "run.trec"
    file.write_text("1 Q0 carol 1 2 x\n2 Q0 fred 1 2 x\n", "utf-8")
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 carol 1\n2 0 turkey 1\n", "utf-8")
    command = ["evaluate", "--run", str(file), "--corpus", "carols", "--sample", "all", "--no-llm"]
    assert main([*command, "--qrels", str(qrels), "--json"]) == EXIT_OK
    out, said = capsys.readouterr()
    assert "run.trec (TREC run): 2 questions, 2 with documents, none with answers." in said
    if "instances" in json.loads(out):
        figures = json.loads(out)["instances"]["run-run"]["metrics"]
    else:
        figures = json.loads(out)
    assert "run-run" in out and figures
    assert main([*command, "--set", "carols", "--qrels", str(qrels)]) == EXIT_WRONG_INPUT
    assert (
        main(["evaluate", "--run", str(file)]) == EXIT_WRONG_INPUT
        and main(["evaluate"]) == EXIT_WRONG_INPUT
    )
    assert (
        main(["evaluate", "--run", str(tmp_path / "none"), "--corpus", "carols"])
        == EXIT_WRONG_INPUT
    )


def test_paths_of_a_run_are_matched_with_the_graph(engine, tmp_path, monkeypatch, kit):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    films = kit.graph
    question = Question("Who directed One?", "1", answers=("Ann",))
    head, relation, tail = films.triple_texts([0])[0].split(" -> ")
    rows = [
        {
            "question": question.text,
            "prediction": tail,
            "triples": [[tail, relation, head], [head, relation, "Nobody <b>"], "?"],
        }
    ]
    run = import_run(tmp_path, GraphSource("toy"), rows)
    assert run.describe().startswith("1 question, 1 with paths, 1 with answers")
    assert run.notes[0] == NoteWith("neither triples nor paths", 1)
    line = find_method(f"run-{run.name}").line
    assert [type(operator).__name__ for operator in line] == ["FilePaths", "FileAnswer"]
    after = replace(kit.state(head), question=question)
    for operator in line:
        after = operator(after, kit.context())
    # The path follows this triple backwards.
    assert films.triple_texts([path.edges[0] for path in after.paths.items]) == [
        f"{head} -> {relation} -> {tail}"
    ]
    assert (
        after.answer == tail and NoteWith(1, "2 paths", "left out", "names") in after.trace[0].notes
    )


def test_graph_reader_answers_a_run_of_paths(tmp_path, monkeypatch, source):
    run = import_run(
        tmp_path, GraphSource("toy"), [{"question": "Who?", "triples": [["A", "r1", "C"]]}]
    )
    assert [type(operator).__name__ for operator in find_method(f"run-{run.name}").line] == [
        "FilePaths",
        "Answer",
    ]
    with pytest.raises(
        BadInput,
        match="holds paths.*“carols” is a corpus",
    ):
        import_run(
            tmp_path, source, [{"question": "Who?", "triples": [["A", "r1", "C"]]}], "other.jsonl"
        )


def test_a_run_on_its_own_questions_is_enlarged_until_these_are_others(tmp_path, source, engine):
    """A question of the file gets the id and the answers of a later one of the corpus."""
    run = import_run(tmp_path, source, [ROWS[1], ROWS[1] | {"question": "How?"}])
    methods, set_name = [find_method(f"run-{run.name}")], f"run-{run.name}"
    plan = make_plan(methods, set_name, 1, engine.graph, model=False)
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    assert job.wait(60)
    more = enlarge_plan(store, store.run(job.number), 1, engine.graph)
    assert more.drawn[:1] == plan.drawn and len(more.drawn) == 2
    asked = plan.drawn[0].question
    own_corpus("carols").with_questions({"more": ("More", (replace(asked, id="other"),))})
    with pytest.raises(BadInput, match="have changed"):
        enlarge_plan(store, store.run(job.number), 1, engine.graph)
