"""Builds as data and at run time."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from core.builds import (
    build_for,
    build_status,
    catalogue,
    choose_build,
    find_build,
    is_being_built,
    open_graph,
    own_builds,
    run_build,
)
from core.builds.catalogue import read_builds
from core.builds.cost import estimate_cost
from core.builds.registry import BUILD_GRAMMAR
from core.builds.report import BuildReport
from core.builds.run import BUILT_FILE, _step_context, build_context, build_folder
from core.builds.vectors import LEFT_OUT_NOTE
from core.comparison import built_graphs
from core.comparison.built_graphs import BuiltGraphs
from core.corpus import open_corpus
from core.errors import BadParameter, RunCancelled, StoreError, split_command
from core.indexes import vectors
from core.indexes.index_storage import write_atomically
from core.indexes.vectors import open_vectors
from core.indexes.vectors import vector_folder as vectors_place
from core.io.digests import check_own_digest
from core.models.chat.token_estimates import estimate_text_tokens
from core.watch import Watch
from tests.core.builds.kit import LetterModels, Texts
from tests.notes import NoteWith


@pytest.fixture
def corpus(tmp_path):
    return Texts(tmp_path / "corpus", one="Ann lives in Rome.", two="Rome is old. Ann knows Bob.")


def test_a_line_is_read_back_from_its_text():
    for one in catalogue().values():
        assert BUILD_GRAMMAR.parse(repr(one.line)) == one.line and find_build(
            repr(one.line)
        ) == one == find_build(one.id)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 + 1",
        "Nothing()",
        "TokenChunks(3)",
        "TokenChunks(sice=3)",
        "TokenChunks(size=open)",
        "no-such",
    ],
)
def test_invalid_builds_are_refused(text):
    with pytest.raises(BadParameter):
        find_build(text)


@pytest.mark.parametrize(
    "row",
    [
        '[a]\ntitle="A"',
        '[a]\ntitle="A"\nline=[{merge="TokenChunks"}]',
        '[a]\ntitle="A"\nlines=[]',
        "a=1",
        "[a",
        '[a]\ntitle="A"\nline=[1]',
    ],
)
def test_a_bad_row_is_refused_by_file_and_row(row, tmp_path):
    (tmp_path / "mine.toml").write_text(row)
    with pytest.raises(BadParameter, match="mine.toml"):
        read_builds(tmp_path / "mine.toml")


def test_chunks_alone_are_a_graph_without_nodes(corpus):
    with pytest.raises(StoreError, match="not built yet"):
        open_graph(corpus, "chunks")
    made = run_build(corpus, "chunks", LetterModels())
    graph = open_graph(corpus, choose_build("chunks"))
    assert (graph.n_nodes, graph.columns.chunks.texts("id"), graph.digest) == (
        0,
        ["one", "two"],
        made.digest,
    )
    assert build_status(corpus, "chunks").report["counts"] == {
        "chunks": 2,
        "documents cut": 2,
        "vectors of chunks": 2,
    }


def test_a_graph_of_changed_documents_is_not_opened(corpus):
    run_build(corpus, "chunks", LetterModels())
    with pytest.raises(StoreError, match="have changed"):
        open_graph(corpus.changed(one="Ann lives in Oslo."), "chunks")


def test_a_tree_of_an_earlier_version_is_outdated_and_rebuilt(corpus):
    one = find_build("tree-noun-phrases")
    run_build(corpus, one, LetterModels())
    file = build_folder(corpus, one) / BUILT_FILE
    # Earlier versions wrote no digest.
    earlier = check_own_digest(json.loads(file.read_text()))
    assert earlier.pop("editions") == {"Tree": 2} and build_status(corpus, one).is_current
    write_atomically(file, lambda stream: stream.write(json.dumps(earlier).encode()))
    now = build_status(corpus, one)
    assert (now.is_built, now.is_current) == (True, False) and now.outdated.startswith(
        "It was built by an earlier version"
    )
    with pytest.raises(
        StoreError, match="(?s)outdated.*earlier version.*Build it anew.*--graph tree"
    ):
        open_graph(corpus, one)
    run_build(corpus, one, LetterModels())
    assert build_status(corpus, one).is_current and not build_status(corpus, one).outdated
    run_build(corpus, "chunks", LetterModels())
    # Builds without changed operators have no edition.
    assert (
        json.loads((build_folder(corpus, find_build("chunks")) / BUILT_FILE).read_text())[
            "editions"
        ]
        == {}
    )


def test_a_graph_that_is_being_built_is_waited_for(corpus):
    seen, inner = [], []

    def cancelled():
        raise RunCancelled

    def check():
        if not seen:
            seen.append(is_being_built(corpus, "chunks"))
            with pytest.raises(RunCancelled):
                run_build(
                    corpus,
                    "chunks",
                    LetterModels(),
                    Watch(cancelled, lambda text, share: inner.append(text)),
                )

    run_build(corpus, "chunks", LetterModels(), watch=Watch(check))
    assert (
        seen == [True]
        and inner == ["Another process is building this; waiting for it"]
        and not is_being_built(corpus, "chunks")
    )


def test_a_graph_serves_until_the_next_one_is_whole(corpus, monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    before, fresh = (
        run_build(corpus, "tkg-noun-phrases", LetterModels()),
        corpus.changed(one="Ann lives in Oslo."),
    )
    asked, seen = BuiltGraphs(LetterModels()), []

    def told(text, share):
        # At this point the new graph is stored, but its vectors are not made yet.
        if "Encoding" in text:
            seen.append(
                (
                    open_graph(fresh, "tkg-noun-phrases").digest,
                    asked(fresh, "tkg", make=True).digest,
                    build_for(fresh, "tkg").id,
                )
            )
            assert (
                open_vectors(
                    vectors_place(open_graph(fresh, "tkg-noun-phrases"), LetterModels(), "nodes")
                )
                is not None
            )

    after = run_build(fresh, "tkg-noun-phrases", LetterModels(), Watch(report=told))
    assert (
        seen
        and set(seen) == {(before.digest, before.digest, "tkg-noun-phrases")}
        and before.digest != after.digest
    )
    assert (
        asked(fresh, "tkg").digest == open_graph(fresh, "tkg-noun-phrases").digest == after.digest
    )
    assert open_vectors(
        vectors_place(after, LetterModels(), "chunks")
    ) is not None and "Oslo" in after.columns.chunks.text("text", 0)
    assert sorted(
        one.name
        for one in build_folder(fresh, find_build("tkg-noun-phrases")).parent.iterdir()
        if one.is_dir()
    ) == [after.folder.name]


def test_a_waiting_caller_hears_the_progress_of_the_builder(corpus, monkeypatch):
    asked, at_work, waits, heard = (
        BuiltGraphs(LetterModels()),
        threading.Event(),
        threading.Event(),
        [],
    )

    def slow(corpus, one, models, watch, indexed):
        watch.report("Encoding chunks: 1 of 4", 0.25)
        at_work.set()
        assert waits.wait(120)
        return run_build(corpus, one, models, watch)

    monkeypatch.setattr(built_graphs, "run_build", slow)

    def hear(text, share):
        heard.append((text, share))
        waits.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(asked, corpus, "chunks")
        assert at_work.wait(120)
        second = pool.submit(asked, corpus, "chunks", watch=Watch(report=hear))
        assert first.result(20) is second.result(20)
    assert heard[0] == ("Encoding chunks: 1 of 4", 0.25)


def test_a_stopped_build_keeps_the_old_graph_and_continues_later(corpus):
    before, fresh = (
        run_build(corpus, "chunks", LetterModels()),
        corpus.changed(one="Ann lives in Oslo."),
    )

    def stopped(text, share):
        if "searchable" in text:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_build(fresh, "chunks", LetterModels(), Watch(report=stopped))
    assert open_graph(corpus, "chunks").digest == before.digest
    with pytest.raises(StoreError, match="have changed"):
        open_graph(fresh, "chunks")
    assert (
        run_build(fresh, "chunks", LetterModels()).digest
        == open_graph(fresh, "chunks").digest
        != before.digest
    )


def test_a_kind_of_graph_selects_the_best_built_one(tmp_path):
    corpus = Texts(tmp_path, d="Ann met Bob in Rome.")
    # The first build without a language model.
    assert find_build("kg").id == "kg-llm" and build_for(corpus, "kg").id == "kg-names"
    assert build_for(corpus, "kg-llm").id == "kg-llm" and build_for(corpus, "chunks").id == "chunks"
    assert [build_for(corpus, kind).id for kind in ("tree-k", "kg-synonyms")] == [
        "tree-k-noun-phrases",
        "kg-synonyms-names",
    ]
    run_build(corpus, "kg-noun-phrases", LetterModels())
    assert build_for(corpus, "kg").id == "kg-noun-phrases"
    build_folder(corpus, find_build("kg-described")).mkdir()
    write_atomically(
        build_folder(corpus, find_build("kg-described")) / BUILT_FILE,
        lambda stream: stream.write(built_record(corpus)),
    )
    assert build_for(corpus, "kg").id == "kg-described"
    # Nothing is built of these documents.
    assert build_for(corpus.changed(e="More."), "kg").id == "kg-names"


def built_record(corpus) -> bytes:
    """Content of the file that marks a graph as built from a corpus."""
    return json.dumps({"version": 1, "corpus": corpus.digest, "report": {}}).encode()


def test_the_remaining_time_is_that_of_a_step(tmp_path, monkeypatch):
    """A first step that takes no time predicts nothing for the second one.

    Half of the second step takes 10 seconds.
    """
    clock, said = [0.0], []
    monkeypatch.setattr("core.io.durations.time.monotonic", lambda: clock[0])
    ctx = build_context(
        Texts(tmp_path, d="Ann met Bob."),
        LetterModels(),
        Watch(report=lambda text, share: said.append((text, share))),
    )
    steps = find_build(
        "TokenChunks(size=240, overlap=24) >> NounPhrases() >> Merge() >> Vectors(of='nodes')"
    ).line
    parts = [_step_context(ctx, steps, number) for number in range(4)]
    for part in (parts[0], parts[1], parts[3]):
        part.watch.report("At it", 0.0)
        clock[0] += 0 if part is parts[0] else 10
        part.watch.report("At it", 0.5)
    assert said[3:] == [
        ("At it, 10 seconds left of this step", 1.5 / 4),
        ("At it", 3 / 4),
        ("At it, 10 seconds left", 3.5 / 4),
    ]


def test_a_build_estimates_its_time_from_an_earlier_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    line = find_build(
        "TokenChunks(size=240, overlap=24) >> NounPhrases() >> Merge() >> Vectors(of='nodes')"
    )
    corpus = Texts(
        tmp_path / "one", **{f"d{number}": f"Ann{number} met Bob in Rome." for number in range(20)}
    )
    told = estimate_cost(corpus, line, LetterModels())
    assert told.seconds is None and told.words() == NoteWith(20, 20, "chunks", "No language model")
    run_build(corpus, line, LetterModels())
    kept = json.loads((tmp_path / "speeds.json").read_text("utf-8"))
    operators = [repr(operator) for operator in line.line]
    assert list(kept) == [*operators[:-1], f"Merge {operators[-1]}", "encoded"] and all(
        seconds >= 0 for seconds in kept.values()
    )
    slow = dict(zip(kept, (0.5, 1.0, 0.25, 2.0)))
    (tmp_path / "speeds.json").write_text(json.dumps(slow), "utf-8")
    more = corpus.changed(**{f"e{number}": f"Eva{number} met Olof." for number in range(10)})
    # All chunks are cut and merged; only new ones are read.
    assert (
        estimate_cost(more, line, LetterModels()).seconds
        == 30 * 0.5 + 10 * 1.0 + 30 * 0.25 + 10 * 2.0
    )
    assert (
        estimate_cost(more, line, LetterModels()).words().endswith("26 seconds to 2 minutes here.")
    )
    # Most of the work was reused, so that this build tells nothing about the time of reading.
    run_build(more, line, LetterModels())
    assert json.loads((tmp_path / "speeds.json").read_text("utf-8")) == slow
    assert estimate_cost(more, find_build("kg-noun-phrases"), LetterModels()).seconds is None
    (tmp_path / "speeds.json").write_text(json.dumps(slow | {"encoded": 0.2}), "utf-8")
    # Vectors of chunks have no measured time, but the general time for vectors is known.
    assert estimate_cost(more, find_build("chunks"), LetterModels()).seconds == 30 * 0.5 + 30 * 0.2


def test_a_damaged_file_of_speeds_is_ignored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    (tmp_path / "speeds.json").write_text("[1", "utf-8")
    corpus = Texts(tmp_path / "one", d="Ann met Bob in Rome.")
    assert estimate_cost(corpus, find_build("chunks"), LetterModels()).seconds is None
    run_build(corpus, "chunks", LetterModels())


KINDS = ("chunks", "passage", "tree", "kg", "tkg", "rkg")


@pytest.mark.parametrize("kind", KINDS)
def test_a_corpus_of_one_sentence_is_a_graph_of_each_kind(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    graph = run_build(
        Texts(tmp_path / "one", d="Ann Berg sails to Turku."),
        choose_build(kind, "noun-phrases"),
        LetterModels(),
    )
    assert graph.columns.chunks.texts("text") == ["Ann Berg sails to Turku."]
    assert set(graph.names(range(graph.n_nodes))) == {
        "chunks": set(),
        "passage": {"d"},
        "tree": {"d"},
    }.get(kind, {"Ann Berg", "Turku"})


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_without_a_parser_still_has_its_chunks(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    report = BuildReport()
    graph = run_build(
        Texts(tmp_path / "one", d="李白乘舟将欲行，忽闻岸上踏歌声。"),
        choose_build(kind, "noun-phrases"),
        LetterModels(),
        report=report,
    )
    assert len(graph.columns.chunks) == 1
    assert kind in ("chunks", "tree") or "Names and phrases were found" in report.notes[0]


@pytest.mark.parametrize("kind", ["passage", "tkg", "rkg"])
def test_an_entity_in_every_chunk_is_one_node_with_a_short_description(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    report, texts = (
        BuildReport(),
        {f"d{number:03}": f"Ann Berg met Person{number} in Town{number}." for number in range(120)},
    )
    graph = run_build(
        Texts(tmp_path / "one", **texts),
        choose_build(kind, "noun-phrases"),
        LetterModels(),
        report=report,
    )
    if kind == "passage":
        # Entities in more than 50 chunks join no passages.
        assert graph.n_nodes == 120 and graph.n_edges == 0
        return
    (ann,) = graph.nodes_named("Ann Berg")
    assert (
        len(graph.columns.nodes.id_lists("chunks")[ann]) == 120
        and estimate_text_tokens(graph.columns.nodes.text("description", ann)) <= 500
    )
    assert any("were longer than 500 tokens" in note for note in report.notes)


def test_custom_builds_are_listed_apart_from_the_catalogue(tmp_path):
    corpus = Texts(tmp_path, one="Ann met Bob in Rome.")
    line = "TokenChunks(size=99, overlap=9) >> NounPhrases() >> Merge(longest=7)"
    assert own_builds(corpus) == {}
    run_build(corpus, "kg-noun-phrases", LetterModels())
    run_build(corpus, line, LetterModels())
    (found,) = own_builds(corpus).values()
    assert (found.id, found.is_own, found.graph) == (line, True, "rkg") and found.title.startswith(
        "Own build: chunks of 99 tokens → "
    )
    assert open_graph(corpus, found).digest == open_graph(corpus, line).digest
    (build_folder(corpus, find_build(line)) / BUILT_FILE).write_text("{", "utf-8")
    assert own_builds(corpus) == {}


def test_graphs_of_documents_whose_facts_came_with_them_are_by_noun_phrases():
    # This build needs no parser.
    assert build_for(open_corpus("2wikimultihopqa"), "kg").id == "kg-noun-phrases"


def test_a_build_leaves_out_vectors_beyond_the_limit(tmp_path, monkeypatch):
    """The graph is complete, and a question that needs them names the command."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    corpus = Texts(tmp_path / "one", d="Ann met Bob in Rome.", e="Bob met Eva.")
    line = find_build(
        "TokenChunks(size=240, overlap=24) >> NounPhrases() >> Merge() >> Vectors(of='nodes')"
    )
    few_vectors = partial(vectors.build_vectors, limit=1)
    monkeypatch.setattr(vectors, "build_vectors", few_vectors)
    graph = run_build(corpus, line, LetterModels())
    encoder = LetterModels().encoder("encoder")
    assert open_vectors(vectors_place(graph, encoder, "nodes")) is None
    (note,) = build_status(corpus, line).report["notes"]
    assert note.endswith(LEFT_OUT_NOTE) and f"{graph.n_nodes} nodes" in note
    command = f"hopscope index vectors --graph {graph.folder} --of nodes --limit {graph.n_nodes}"
    with pytest.raises(vectors.TooManyVectors) as error:
        few_vectors(graph, encoder, "nodes")
    assert split_command(str(error.value))[1] == command
