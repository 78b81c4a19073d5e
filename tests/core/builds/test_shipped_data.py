"""Graphs that ship with a corpus open for a new user without a language model call."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace

import pytest

from core.builds import build_for, build_status, find_build, open_graph, run_build
from core.builds.base import BuildState
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.fact_store import FactStore, fact_key
from core.builds.group.communities import Communities
from core.builds.run import build_context, build_of_graph
from core.builds.shipment import write_shipment
from core.builds.shipped_clusters import ShippedClusters
from core.builds.shipped_data import (
    FACTS_FILE,
    REPLIES_FILE,
    ModelsWithoutChat,
    RepliesNotShipped,
    ShippedBuild,
    builds_of,
    chunks_digest,
    find_shipped_build,
    read_head,
    shipped_builds,
    shipped_facts,
    shipped_replies,
)
from core.comparison.built_graphs import BuiltGraphs
from core.corpus import corpora, open_corpus
from core.errors import BadInput, BadParameter, StoreError
from core.graph.algorithms.igraph_library import WITHOUT_IGRAPH_NOTE
from core.io.plain_data import from_plain
from core.models.chat.saved_replies import SavedReplies
from core.models.registry import Registry
from core.operators.texts.built_graph import BuiltGraph
from core.watch import NO_WATCH
from tests.core.builds.kit import LetterModels, Texts
from tests.core.builds.test_language_model import ChatModels
from tests.core.builds.test_language_model import entity as entity_of
from tests.core.builds.test_language_model import relation as relation_of
from tests.libraries import no_igraph

TEXTS = {
    "a": "Ebenezer Scrooge and Jacob Marley were partners in London.",
    "b": "Bob Cratchit lived in Camden Town with Tiny Tim.",
    "c": "Nobody is named, and nothing is asked.",
}
BUILDS = ("kg-described", "tkg-described", "rkg-described")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "maker"))
    monkeypatch.setattr("core.builds.shipped_data.data_folder", (tmp_path / "data").joinpath)


class TitledModels(ChatModels):
    """Models with a title and weights of their own for each name."""

    def is_chat(self, name):
        return "qwen" in name

    def title(self, name):
        return f"Model {name}"

    def weights(self, name):
        return f"weights of {name}"


def reply_about_names(asked, number):
    """Reply to a prompt about the names that it lists.

    The reply about Bob is no JSON, and a prompt for a report gets a report.
    """
    if "Reports on parts" in asked:
        return {"title": "People", "summary": "They are told of.", "findings": [], "rating": 3}
    if "Bob Cratchit" in asked:
        return "I cannot."
    about = {"Ebenezer Scrooge": "A partner in London.", "Jacob Marley": "His partner."}
    return {
        "about": about,
        "links": [["Ebenezer Scrooge", "was partner of", "Jacob Marley", "business"]],
    }


class ChatlessModels(TitledModels):
    """Models of a new user, who has no language model."""

    def __init__(self):
        super().__init__(reply_about_names)

    def chat(self, role="answer"):
        raise AssertionError("no language model is asked")


@pytest.fixture(scope="module")
def built_graphs(tmp_path_factory):
    """Folder and corpus of built graphs, the models, and the shipped builds.

    The data to ship are written to the folder.
    """
    folder, models = tmp_path_factory.mktemp("maker"), TitledModels(reply_about_names)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOPSCOPE_HOME", str(folder))
        corpus = Texts(folder / "corpus", **TEXTS)
        for one in BUILDS:
            run_build(corpus, one, models, lanes=1)
        return (
            folder,
            corpus,
            models,
            write_shipment(
                corpus, [find_build(one) for one in BUILDS], models, folder / REPLIES_FILE
            ),
        )


@pytest.fixture
def maker(built_graphs, monkeypatch, tmp_path):
    """Corpus, models and shipped builds, with the data file where it ships."""
    folder, corpus, models, told = built_graphs
    monkeypatch.setenv("HOPSCOPE_HOME", str(folder))
    (tmp_path / "data" / "tests").mkdir(parents=True)
    shutil.copy(folder / REPLIES_FILE, tmp_path / "data" / "tests")
    return corpus, models, told


@pytest.fixture
def newcomer(maker, tmp_path, monkeypatch):
    """The same documents in the home of a user who has never built anything."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "newcomer"))
    (tmp_path / "newcomer").mkdir()
    return Texts(tmp_path / "theirs", **TEXTS)


def test_a_new_user_opens_the_graphs_without_a_language_model_call(maker, newcomer):
    (corpus, _, _), built = maker, BuiltGraphs(ChatlessModels())
    newcomer.characters = 200
    for kind in ("kg", "tkg", "rkg"):
        assert (
            build_for(newcomer, kind).id == f"{kind}-described"
            and not build_status(newcomer, f"{kind}-described").is_built
        )
        graph = built(newcomer, kind, make=True)
        assert graph.digest == open_graph(corpus, f"{kind}-described").digest
        assert (
            build_of_graph(graph).id == f"{kind}-described"
            and build_status(newcomer, f"{kind}-described").is_current
        )
    nodes = graph.columns.nodes.texts("description")
    assert "A partner in London." in nodes and graph.columns.edges.texts("keywords") == ["business"]


def test_the_file_records_the_cost_of_its_builds(maker, newcomer):
    _, models, (kg, tkg, rkg) = maker
    # Two chunks have names. They get two replies of 1,050 tokens and 2 seconds, one of which is no
    # JSON. Only tkg has reports.
    assert kg == ShippedBuild(
        "kg-described",
        repr(find_build("kg-described").line),
        ("Model qwen-1.5b",),
        3,
        2,
        2000,
        100,
        4.0,
        1,
    )
    unread = "1 of its replies (50.0 %) could not be read"
    assert (
        kg.words()
        == f"Made by Model qwen-1.5b of 3 chunks: 2 calls, 2,100 tokens, 4 seconds; {unread}"
    )
    assert rkg.calls == 2 and tkg.calls == 3 and tkg.unreadable == 1
    # One chunk, one report, and two attempts in each build at the chunk without a readable reply.
    assert len(models.writer.asked) == 1 + 1 + 3 * 2
    assert (
        shipped_builds(newcomer) == (kg, tkg, rkg)
        and find_shipped_build(newcomer, find_build("tkg-described")) == tkg
    )
    assert find_shipped_build(newcomer, find_build("tkg-llm")) is None
    run_build(newcomer, "tkg-described", ChatlessModels())
    report = build_status(newcomer, "tkg-described").report
    # Reports have another model.
    assert report["models"] == list(tkg.models) == ["Model qwen-1.5b", "Model qwen-0.5b"]
    assert from_plain(ShippedBuild, report["shipped"]) == tkg
    assert (
        report["usage"]["calls"] == 0
        and report["usage_kept"]["calls"] == tkg.calls
        and report["counts"]["unread"] == 1
    )


def test_the_file_depends_only_on_its_content(maker, tmp_path):
    corpus, models, told = maker
    file = tmp_path / REPLIES_FILE
    before = (tmp_path / "data" / "tests" / REPLIES_FILE).read_bytes()
    assert (
        write_shipment(corpus, [find_build(one) for one in BUILDS], ChatlessModels(), file) == told
        and file.read_bytes() == before
    )


def test_shipped_replies_suffice_without_shipped_facts(newcomer):
    kept = SavedReplies(shipped=shipped_replies(newcomer))
    made = run_build(newcomer, "rkg-described", ChatlessModels(), saved=kept)
    assert "A partner in London." in made.columns.nodes.texts("description")
    assert build_status(newcomer, "rkg-described").report["counts"]["extracted"] == 3


def test_shipped_data_do_not_fit_other_documents(newcomer):
    other = newcomer.changed(a="Ebenezer Scrooge was alone.")
    assert not shipped_builds(other) and build_for(other, "tkg").id == "tkg-names"


def test_other_models_use_the_next_best_graph(newcomer):
    class OtherWeightModels(ChatlessModels):
        def weights(self, name):
            return "other weights"

    built = BuiltGraphs(OtherWeightModels())
    newcomer.characters = 200
    for _ in range(2):
        assert build_of_graph(built(newcomer, "kg", make=True)).id == "kg-names"
    with pytest.raises(RepliesNotShipped, match="does not cover"):
        built(newcomer, "kg-described", make=True)


def test_a_graph_built_here_comes_before_a_shipped_one(newcomer):
    rows = {
        "entities": [entity_of("Ebenezer Scrooge")],
        "relations": [relation_of("Ebenezer Scrooge", "Jacob Marley")],
    }
    models = TitledModels(lambda asked, number: {"names": ["Jacob Marley"], "triples": []} | rows)
    run_build(newcomer, "rkg-llm", models)
    assert (
        build_for(newcomer, "rkg").id == "rkg-llm"
        and build_for(newcomer, "tkg").id == "tkg-described"
    )


def test_a_build_with_another_language_model_can_ship(tmp_path, monkeypatch):
    corpus, models = Texts(tmp_path / "corpus", **TEXTS), TitledModels(reply_about_names)
    small = find_build("kg-described@qwen-0.5b")
    assert (
        small == find_build("kg-described").with_model("qwen-0.5b") == small.with_model("qwen-0.5b")
        and small.catalogue_id == "kg-described"
        and small.graph == "kg"
    )
    assert find_build("kg-described").with_model("qwen-1.5b") == find_build(
        "kg-described"
    ) != small and "model='qwen-0.5b'" in repr(small.line)
    assert small.id not in builds_of(corpus)
    run_build(corpus, small, models)
    (tmp_path / "data" / "tests").mkdir(parents=True)
    (told,) = write_shipment(corpus, [small], models, tmp_path / "data" / "tests" / REPLIES_FILE)
    assert told.models == ("Model qwen-0.5b",)
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "newcomer"))
    (tmp_path / "newcomer").mkdir()
    theirs = Texts(tmp_path / "theirs", **TEXTS)
    theirs.characters = 200
    ids = list(builds_of(theirs))
    assert ids.index(small.id) == ids.index("kg-described") + 1 and build_for(theirs, "kg") == small
    assert build_of_graph(BuiltGraphs(ChatlessModels())(theirs, "kg", make=True)).id == small.id
    assert BuiltGraph(build=small.id).build == small.id


@pytest.mark.parametrize(
    "spec", ["kg-noun-phrases@qwen-0.5b", "chunks@qwen-0.5b", "nothing@qwen-0.5b"]
)
def test_a_build_without_calls_takes_no_language_model(spec):
    with pytest.raises(BadParameter):
        find_build(spec)


def test_unshippable_builds_give_an_error_sentence(maker, tmp_path):
    corpus, models, _ = maker
    with pytest.raises(BadInput, match="reads no chunks"):
        write_shipment(corpus, [find_build("tree-noun-phrases")], models, tmp_path / REPLIES_FILE)
    with pytest.raises(StoreError, match="build it first"):
        write_shipment(
            corpus.changed(d="Fred met Mrs. Cratchit."),
            [find_build("kg-described")],
            ChatlessModels(),
            tmp_path / REPLIES_FILE,
        )
    with pytest.raises(BadInput, match="different ways"):
        other = find_build(
            repr(find_build("kg-described").line).replace(
                "size=240, overlap=24", "size=10, overlap=0"
            )
        )
        run_build(corpus, other, models)
        write_shipment(corpus, [find_build("kg-described"), other], models, tmp_path / REPLIES_FILE)
    assert not (tmp_path / REPLIES_FILE).exists()


class OtherVectorModels(TitledModels):
    """Models whose encoder returns other vectors.

    On another processor the last bits may differ.
    """

    def encode(self, texts, watch=NO_WATCH):
        return super().encode([text[::3] for text in texts])


def test_a_shipped_tree_keeps_its_clusters_despite_other_vectors(tmp_path, monkeypatch):
    words = "alpine bonsai cactus dahlia".split()
    texts = {
        f"{word}{number}": f"{word * (number + 1)} {'kelp' * (8 - number)} was told."
        for word in words
        for number in range(8)
    }
    corpus, one, models = (
        Texts(tmp_path / "corpus", **texts),
        find_build("tree-k-llm@qwen-0.5b"),
        TitledModels(lambda *_: "A summary."),
    )
    mine = run_build(corpus, one, models, lanes=1)
    (tmp_path / "data" / "tests").mkdir(parents=True)
    (told,) = write_shipment(corpus, [one], models, tmp_path / "data" / "tests" / REPLIES_FILE)
    assert told.calls == mine.n_nodes - 32 == 3 and told.models == ("Model qwen-0.5b",)

    def elsewhere(name, say):
        monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / name))
        (tmp_path / name).mkdir()
        theirs = Texts(tmp_path / name / "corpus", **texts)
        return run_build(theirs, one, OtherVectorModels(say)), build_for(theirs, "tree-k")

    theirs, stands = elsewhere("newcomer", lambda *_: pytest.fail("a language model is asked"))
    assert theirs.digest == mine.digest and stands.id == one.id
    shutil.rmtree(tmp_path / "data")
    alone, _ = elsewhere("alone", lambda *_: "A summary.")
    assert alone.digest != mine.digest  # So the graphs above are the same because of the file.


def test_shipped_facts_of_a_parser_are_not_read_again(tmp_path, monkeypatch):
    corpus, one = Texts(tmp_path / "corpus", **TEXTS), find_build("tkg-noun-phrases")
    mine, other = run_build(corpus, one, ChatlessModels()), find_build("rkg-noun-phrases")
    (tmp_path / "data" / "tests").mkdir(parents=True)
    assert (
        write_shipment(
            corpus, [one, other], ChatlessModels(), tmp_path / "data" / "tests" / FACTS_FILE
        )
        == ()
    )
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "newcomer"))
    (tmp_path / "newcomer").mkdir()
    monkeypatch.setattr(
        NounPhrases,
        "extract_facts",
        lambda *_: pytest.fail("the parser is asked") if _[1] else iter(()),
    )
    theirs = Texts(tmp_path / "theirs", **TEXTS)
    assert run_build(theirs, one, ChatlessModels()).digest == mine.digest
    assert not shipped_builds(theirs) and build_status(theirs, one).report["counts"]["kept"] == 3


@pytest.mark.parametrize(
    "row",
    [
        {"about": {"corpus": "x"}},
        {"about": 3},
        {"about": {"corpus": "x", "chunks": "y", "builds": [{}]}},
    ],
)
def test_a_file_with_a_bad_description_gives_an_error_sentence(row, tmp_path):
    with gzip.open(tmp_path / REPLIES_FILE, "wt") as stream:
        stream.write(json.dumps(row))
    with pytest.raises(BadInput, match="write it anew"):
        read_head(tmp_path / REPLIES_FILE)


def test_replies_without_a_description_are_still_read(tmp_path):
    with gzip.open(tmp_path / REPLIES_FILE, "wt") as stream:
        stream.write(
            json.dumps(
                {
                    "key": "k",
                    "text": "t",
                    "tokens_in": 1,
                    "tokens_out": 1,
                    "finish": "stop",
                    "seconds": 1.0,
                }
            )
        )
    assert (
        read_head(tmp_path / REPLIES_FILE)["builds"] == []
        and SavedReplies(shipped=[tmp_path / REPLIES_FILE]).find("k").text == "t"
    )


REPLY_FILES = [
    file for name in corpora() for file in shipped_replies(type("Named", (), {"name": name})())
]


@pytest.mark.skipif(not REPLY_FILES, reason="no replies ship with any corpus here")
@pytest.mark.parametrize("file", REPLY_FILES, ids=lambda file: file.parent.name)
def test_shipped_files_fit_the_current_documents_and_chunks(file, monkeypatch):
    """The shipped files are of the current documents and chunks.

    They have the facts of every chunk under current keys.
    """
    monkeypatch.setattr("core.builds.shipped_data.data_folder", (file.parent.parent).joinpath)
    corpus, head = open_corpus(file.parent.name), read_head(file)
    assert head["corpus"] == corpus.digest and head["builds"]
    ctx = build_context(corpus, Registry())
    for one in head["builds"]:
        line = find_build(one.build).line
        assert repr(line) == one.line
        chunks = line.operators[0].table(corpus)
        assert chunks_digest(chunks) == head["chunks"]
        for extract in (operator for operator in line if operator.stage == "extract"):
            keys = [
                fact_key(repr(extract), extract.signature(ctx), text)
                for text in chunks.texts("text")
            ]
            assert set(keys) <= set(FactStore(shipped=[file]).load(keys))


@pytest.mark.skipif(not REPLY_FILES, reason="no replies ship with any corpus here")
@pytest.mark.parametrize("file", REPLY_FILES, ids=lambda file: file.parent.name)
def test_shipped_graphs_open_without_a_language_model_call(file, monkeypatch):
    """The shipped files are opened with an encoder that counts letters.

    The real encoder is slow and does not matter here.
    """
    monkeypatch.setattr("core.builds.shipped_data.data_folder", (file.parent.parent).joinpath)
    corpus, real = open_corpus(file.parent.name), Registry()

    class LetterVectorRegistry(LetterModels):
        weights, is_chat, title, signature = real.weights, real.is_chat, real.title, real.signature

    assert shipped_builds(corpus)
    for one in shipped_builds(corpus):
        run_build(corpus, one.build, LetterVectorRegistry())
        report = build_status(corpus, one.build).report
        assert report["usage"]["calls"] == 0 and from_plain(ShippedBuild, report["shipped"]) == one


@pytest.mark.skipif(not REPLY_FILES, reason="no replies ship with any corpus here")
@pytest.mark.parametrize("file", REPLY_FILES, ids=lambda file: file.parent.name)
def test_shipped_communities_are_those_of_igraph_without_it_too(file, monkeypatch):
    """Reports on communities ship, and others than those of igraph would have none."""
    monkeypatch.setattr("core.builds.shipped_data.data_folder", file.parent.parent.joinpath)
    corpus = open_corpus(file.parent.name)
    lines = [find_build(one.build).line for one in shipped_builds(corpus)]
    lines = [line for line in lines if any(isinstance(one, Communities) for one in line)]
    assert lines

    def digest(line, **changes):
        ctx = replace(build_context(corpus, ModelsWithoutChat(Registry())), **changes)
        state = BuildState(corpus)
        for operator in line.without_indexes:
            state = operator.apply(state, ctx)
        assert ctx.report.notes.count(WITHOUT_IGRAPH_NOTE) == 0
        return state.graph.digest

    for line in lines:
        by_igraph = digest(line, clusters=ShippedClusters())
        with no_igraph():
            assert digest(line) == by_igraph


FACT_FILES = [
    file for name in corpora() for file in shipped_facts(type("Named", (), {"name": name})())
]


@pytest.mark.parametrize("file", FACT_FILES, ids=lambda file: file.parent.name)
def test_shipped_noun_phrases_cover_every_current_chunk(file):
    """The shipped files have the current parser's facts on every chunk, so that it does not run."""
    corpus, line = open_corpus(file.parent.name), find_build("kg-noun-phrases").line
    ctx = build_context(corpus, Registry())
    keys = [
        fact_key(repr(line.operators[1]), line.operators[1].signature(ctx), text)
        for text in line.operators[0].table(corpus).texts("text")
    ]
    assert keys and set(keys) <= set(FactStore(shipped=[file]).load(keys))
