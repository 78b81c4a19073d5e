"""A corpus is asked through the engine, with lanes on graphs of their own.

The comparison is the same object as ever. The command line prints it.
"""

import json
from dataclasses import replace

import pytest

from core.builds import build_status, open_graph, run_build
from core.cases.comparison_data import freeze, thaw
from core.cli import main
from core.corpus import Document, new_folder, remove_corpus, write_corpus
from core.engine import Engine
from core.errors import BadInput, ModelFailed
from core.methods.catalogue import catalogue, find_method
from core.results import comparison_dict
from core.sources import CorpusSource, GraphSource
from core.types import Question
from tests.films import Parrot, Written

DOCUMENTS = (
    Document(
        "carol", "Marley was dead, to begin with. Scrooge was his partner.", "A Christmas Carol"
    ),
    Document(
        "fred", "Fred, the nephew of Scrooge, wished his uncle a merry Christmas.", "The nephew"
    ),
    Document("turkey", "The turkey was as big as a boy.", "The turkey"),
)
ASKED = Question("Who was the partner of Marley?", answers=("Scrooge",), gold=("carol",))
NEAR = "BuiltGraph() >> SparseChunks(keep=1) >> AnswerFromTables()"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", (ASKED,))})


@pytest.fixture
def engine():
    return Engine(Words(Parrot("Scrooge")))


class Words(Written):
    """Models whose encoder takes a text's words for its tokens."""

    def info(self, name):
        from types import SimpleNamespace

        return SimpleNamespace(present=True, how_to_get="", kind="encoder")


def compared(engine, corpus, *lines, **how):
    job = engine.compare(
        engine.prepare_question(CorpusSource.of(corpus), how.pop("question", ASKED), **how),
        [find_method(line) for line in lines],
    )
    assert job.wait(60)
    return job.comparison


def test_lanes_stand_on_graphs_of_their_own(corpus, engine):
    graph = run_build(corpus, "kg-noun-phrases", engine.models)
    found = compared(
        engine, corpus, NEAR, NEAR.replace("BuiltGraph()", "BuiltGraph(build='kg-noun-phrases')")
    )
    one, other = found.lanes
    assert (one.error, other.error) == (None, None)
    assert one.graph.n_nodes == 0 and other.graph.digest == graph.digest and other.graph.n_nodes > 0
    assert found.graph.digest == one.graph.digest


def test_a_build_that_is_not_there_costs_its_own_lane_alone(corpus, engine):
    one, other = compared(
        engine, corpus, NEAR, NEAR.replace("BuiltGraph()", "BuiltGraph(build='tkg-llm')")
    ).lanes
    assert (
        one.status == "done"
        and other.status == "failed"
        and "corpus build carols --graph tkg" in other.error
    )


def test_a_kind_of_graph_that_asks_no_language_model_is_built_with_the_first_question(
    corpus, engine
):
    (lane,) = compared(engine, corpus, NEAR.replace("BuiltGraph()", "BuiltGraph(build='kg')")).lanes
    assert lane.error is None and lane.graph.digest == open_graph(corpus, "kg-names").digest
    told = comparison_dict(
        compared(engine, corpus, NEAR.replace("BuiltGraph()", "BuiltGraph(build='kg')"))
    )["lanes"][0]["graph"]
    assert (told["build"], told["title"]) == ("kg", "Knowledge graph, by names and terms")


def test_chunks_that_no_lane_searches_by_vector_are_not_encoded(corpus, engine):
    line = "BuiltGraph(build='links-terms') >> SparseNodes(keep=1) >> DocumentsOfNodes() >> AnswerFromTables()"
    found = compared(engine, corpus, line)
    assert found.lanes[0].error is None and not vectors_of(corpus)
    assert found.graph.columns.chunks.texts("document") == ["carol", "fred", "turkey"]
    assert compared(engine, corpus, NEAR).lanes[0].error is None and not vectors_of(corpus)
    now = build_status(corpus, "chunks")
    assert now.is_current and not now.is_indexed
    assert (
        compared(engine, corpus, NEAR.replace("SparseChunks", "EmbedQuery() >> VectorChunks"))
        .lanes[0]
        .error
        is None
    )
    assert {folder.name.rpartition("-")[0] for folder in vectors_of(corpus)} == {"vectors-chunks"}
    run_build(corpus, "chunks", engine.models)
    assert (
        build_status(corpus, "chunks").is_indexed
        and build_status(corpus, "chunks").report["counts"]["vectors of chunks"] == 3
    )


def vectors_of(corpus):
    """The folders of vectors of all graphs of a corpus."""
    return list(corpus.folder.glob("graphs/*/indexes/*/vectors-*"))


def test_a_large_corpus_is_not_read_within_a_question(corpus, engine, monkeypatch):
    monkeypatch.setattr("core.comparison.built_graphs.MAX_ON_DEMAND_CHARACTERS", 3)
    (lane,) = compared(engine, corpus, NEAR.replace("BuiltGraph()", "BuiltGraph(build='kg')")).lanes
    assert (
        lane.status == "failed" and "corpus build carols --graph kg --extractor names" in lane.error
    )


class Dying(Parrot):
    """A language model that goes away when it is asked what is missing."""

    def reply(self, messages, **how):
        if "Evidence so far" in messages[-1]["content"]:
            raise ModelFailed("The model went away.")
        return super().reply(messages, **how)


def test_a_model_that_goes_away_half_way_costs_its_own_lane_alone(corpus):
    engine = Engine(Words(Dying("Scrooge")))
    more = corpus.add([Document("scrooge", "Scrooge lived in London, and Marley had lived there.")])
    kgp = "BuiltGraph(build='passage') >> SparseChunks(keep=1, by='tf-idf') >> MissingEvidence() >> AnswerFromPassages()"
    one, other = compared(engine, more, kgp, NEAR).lanes
    # what words found is kept
    assert one.status == "failed" and "went away" in one.error and len(one.state.chunks) == 1
    assert other.status == "done" and other.state.answer == "Scrooge"


def test_lanes_as_data(corpus, engine):
    (lane,) = comparison_dict(compared(engine, corpus, NEAR))["lanes"]
    (hit,) = lane["hits"]["chunk"]
    assert (hit["id"], hit["source"][0], hit["gold"]) == ("carol", "carol", True) and hit[
        "text"
    ].startswith("Marley was dead")
    assert (
        lane["graph"]["build"] == "chunks"
        and lane["answer"] == "Scrooge"
        and lane["prompt_hits"] == {"chunk": 1}
    )
    assert lane["funnel"] == {
        name: ["Scrooge"] for name in ("corpus", "graph", "retrieved", "prompt", "answer")
    }
    assert lane["gold"]["alive"] == {
        name: ["carol"] for name in ("corpus", "graph", "retrieved", "prompt")
    }


def test_without_a_model_the_prompt_and_an_excerpt(corpus, engine):
    (lane,) = comparison_dict(compared(engine, corpus, NEAR, uses_model=False))["lanes"]
    assert (
        lane["answer"] is None and lane["excerpt"]["chunk"] == "carol" and "carol" in lane["prompt"]
    )


def test_the_same_question_is_one_job_until_its_graph_is_another(corpus, engine):
    asked = engine.prepare_question(CorpusSource.of(corpus), ASKED)
    key = engine.key(asked, [find_method(NEAR)])
    assert key == engine.key(
        engine.prepare_question(CorpusSource("carols"), ASKED), [find_method(NEAR)]
    )
    more = corpus.add([Document("tim", "Tiny Tim was lame.")])
    assert key != engine.key(
        engine.prepare_question(CorpusSource.of(more), ASKED), [find_method(NEAR)]
    )
    assert (
        len(engine.prepare_question(CorpusSource.of(more), ASKED).source.graph.columns.chunks) == 4
    )


def test_a_comparison_is_known_without_building_or_opening_anything(corpus, engine):
    asked = engine.prepare_question(CorpusSource.of(corpus), ASKED)
    line = find_method(NEAR.replace("BuiltGraph()", "BuiltGraph(build='chunks')"))
    first = engine.key(asked, [line])
    job = engine.compare(asked, [line])
    assert job.key == first and job.wait(60) and job.comparison.lanes[0].status == "done"
    assert engine.compare(asked, [line]) is job and not vectors_of(corpus)


class Dies(Parrot):
    """A model that notes points, and is gone when it is asked for the answer."""

    def reply(self, messages, *, schema=None, **more):
        if schema is None:
            raise ModelFailed("The language model stopped.")
        return super().reply(messages, **more)


def test_a_model_that_dies_between_map_and_reduce_costs_its_lane_alone(corpus):
    models = Words(Dies('{"points": [{"description": "Scrooge was his partner.", "score": 90}]}'))
    other = "BuiltGraph() >> SparseChunks(keep=1)"
    found = compared(
        Engine(models),
        corpus,
        "BuiltGraph() >> SparseChunks(keep=1) >> Points() >> AnswerFromPoints()",
        other,
    )
    one, beside = comparison_dict(found)["lanes"]
    assert (
        one["status"] == "failed"
        and one["error"] == "The language model stopped."
        and one["answer"] is None
    )
    assert one["points"] == [
        {"score": 90, "text": "Scrooge was his partner.", "kind": "chunk", "of": ["carol"]}
    ]
    assert (
        one["hits"]["chunk"][0]["id"] == "carol"
        and beside["status"] == "done"
        and beside["points"] is None
    )


def test_points_are_saved_with_a_comparison(corpus):
    models = Words(Parrot('{"points": [{"description": "Scrooge was his partner.", "score": 90}]}'))
    before = compared(
        Engine(models),
        corpus,
        "BuiltGraph() >> SparseChunks(keep=1) >> Points() >> AnswerFromPoints()",
    )
    after = thaw(json.loads(json.dumps(freeze(before))))
    assert (
        comparison_dict(after)["lanes"][0]["points"]
        == comparison_dict(before)["lanes"][0]["points"]
        != []
    )


def test_a_line_on_documents_is_none_for_triples(toy, engine):
    (lane,) = _ask(engine, toy, NEAR).lanes
    assert lane.status == "failed" and "Ask a corpus" in lane.error


def _ask(engine, graph, line):
    job = engine.compare(
        engine.prepare_question(GraphSource.of(graph), Question("q", entities=("A",))),
        [find_method(line)],
    )
    assert job.wait(60)
    return job.comparison


def test_a_question_of_nothing_is_refused(corpus, engine):
    with pytest.raises(BadInput, match="Type a question"):
        engine.prepare_question(CorpusSource.of(corpus), Question("  "))


def test_every_row_on_documents_says_what_it_needs():
    rows = [one for one in catalogue().values() if one.on_documents]
    assert {"vanilla-rag", "vgraphrag", "lgraphrag"} <= {one.id for one in rows}
    assert all(
        one.line.operators[0].stage == "graph" and one.line.operators[-1].stage == "generate"
        for one in rows
    )


def test_on_the_command_line(corpus, engine, capsys):
    done = main(
        ["ask", ASKED.text, "--corpus", "carols", "--method", NEAR, "--no-llm", "--json"],
        lambda: engine,
    )
    told = json.loads(capsys.readouterr().out)
    # those of the corpus's own question
    assert done == 0 and told["corpus"] == "carols" and told["gold"] == ["carol"]
    assert told["lanes"][0]["hits"]["chunk"][0]["id"] == "carol"


def test_the_command_line_says_what_was_done_without_a_language_model(corpus, engine, capsys):
    line = "BuiltGraph() >> NamesInQuestion(by='answer') >> SparseChunks(keep=1) >> Points() >> AnswerFromPoints()"
    assert (
        main(
            ["ask", ASKED.text, "--corpus", "carols", "--method", line, "--no-llm"],
            lambda: engine,
        )
        == 0
    )
    told = capsys.readouterr().out
    assert "No language model is asked: the question's own words were taken" in told
    assert "no point" in told


@pytest.mark.parametrize(
    "command",
    ["ask Who --corpus carols --method tog", "evaluate --set carols --methods tog --sample 1"],
)
def test_a_method_that_is_there_for_both_is_the_one_on_documents_where_documents_are_asked(
    command, corpus, engine, capsys
):
    main([*command.split(), "--no-llm", "--json"], lambda: engine)
    found = json.loads(capsys.readouterr().out)
    assert "tog-documents" in (
        list(found["instances"])
        if "instances" in found
        else [lane["instance"] for lane in found["lanes"]]
    )


def test_an_unknown_corpus_on_the_command_line(corpus, engine, capsys):
    assert main(["ask", "who", "--corpus", "carol"], lambda: engine) == 2
    assert "There is no corpus “carol”" in capsys.readouterr().err


def test_a_saved_comparison_shows_the_same_without_the_corpus(corpus, engine):
    """Lanes on two graphs, their hits and texts, the funnels and fates, once the corpus is gone."""
    run_build(corpus, "tkg-noun-phrases", engine.models)
    line = "BuiltGraph(build='tkg-noun-phrases') >> EmbedQuery() >> VectorNodes(keep=2) >> IncidentRelations() >> VectorChunks(keep=1)"
    before = compared(
        engine,
        corpus,
        NEAR,
        f"{line} >> ContextTables() >> AnswerFromTables()",
        question=replace(ASKED, gold=("carol", "fred")),
    )
    saved = json.loads(json.dumps(freeze(before), allow_nan=False))
    remove_corpus("carols")
    after = thaw(saved)
    one, other = comparison_dict(before), comparison_dict(after)
    for lane in (*one["lanes"], *other["lanes"]):
        for hits in lane["hits"].values():
            for hit in hits:
                hit["score"] = round(hit["score"], 5)
                # chunks beside the hits are not saved
                hit["source"] = sorted(set(hit["source"]) & {"carol", "A Christmas Carol"})
    assert one == other and other["lanes"][1]["graph"]["nodes"] > 2
    assert freeze(after)["apart"][0]["graph"]["tables"] == saved["apart"][0]["graph"]["tables"]


@pytest.mark.parametrize(
    "change",
    [
        {"standing": 7},
        {"standing": "1"},
        {"kept": {"corpus": []}},
        {"kept": {"corpus": [1], "graph": []}},
    ],
)
def test_a_damaged_one_is_refused(corpus, engine, change):
    saved = json.loads(json.dumps(freeze(compared(engine, corpus, NEAR))))
    saved["lanes"][0] |= change
    with pytest.raises(BadInput, match="damaged"):
        thaw(saved)


@pytest.mark.parametrize(
    "tables",
    [
        {"chunks": {"id": ["a", "b"]}},
        {"chunks": {"id": [1]}},
        {"nodes": {"color": []}},
        {"chunks": {"members": [[9]]}},
    ],
)
def test_damaged_tables_are_refused(corpus, engine, tables):
    saved = json.loads(json.dumps(freeze(compared(engine, corpus, NEAR))))
    saved["graph"]["tables"] = tables
    with pytest.raises(BadInput, match="damaged"):
        thaw(saved)


def test_evaluated_over_the_questions_of_a_corpus(corpus, engine, capsys, monkeypatch):
    """The command line evaluates lines over the questions of a corpus.

    It counts gold passages by place, and words of the answer in the prompt. A lane without its
    graph fails with “not built yet”.
    """
    lines = f"{NEAR},{NEAR.replace('BuiltGraph()', 'BuiltGraph(build=' + repr('kg-noun-phrases') + ')')},language-model-only"
    # so that no graph is built within a question
    monkeypatch.setattr("core.comparison.built_graphs.MAX_ON_DEMAND_CHARACTERS", 3)
    arguments = ["evaluate", "--set", "carols", "--methods", lines, "--sample", "all", "--json"]
    assert main(arguments, lambda: engine) == 1  # one method answered no question
    near, other, alone = json.loads(capsys.readouterr().out)["instances"].values()
    figure = lambda told, name: told["metrics"][name]["mean"]
    assert [figure(near, name) for name in ("context_recall", "hits@1", "token_recall")] == [
        1.0
    ] * 3
    assert figure(near, "passage_recall@4") is None  # it hands on fewer than four passages
    assert figure(alone, "passage_recall@4") is None and figure(alone, "hits@1") == 1.0
    assert near["funnel"]["retrieved"] == 1.0 and "not built yet" in json.dumps(other)
    run_build(corpus, "kg-noun-phrases", engine.models)
    assert main(arguments, lambda: engine) == 0  # which is another run, as its graph is there


def test_evaluated_without_a_language_model(corpus, engine, capsys):
    assert (
        main(
            ["evaluate", "--set", "carols", "--methods", NEAR, "--sample", "all", "--no-llm"],
            lambda: engine,
        )
        == 0
    )
    assert "are the nearest sentence's" in capsys.readouterr().out
