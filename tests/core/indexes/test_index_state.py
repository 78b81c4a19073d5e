"""State of a graph's indexes: which exist, what they are for, rebuilding and deletion."""

from __future__ import annotations

import os
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from core.environment import Environment
from core.errors import BadInput, StoreError
from core.graph.building.build import build
from core.graph.building.text_graph import store_graph
from core.graph.readers.triple_file import TripleFile
from core.graph.storage.store_files import lock_store
from core.indexes import cases as memory
from core.indexes import chains, vector_blocks, vectors
from core.indexes.communities import load_communities
from core.indexes.index_kinds import INDEX_KINDS
from core.indexes.index_state import (
    INDEX_ABSENT,
    INDEX_DAMAGED,
    INDEX_OF_OTHER_SETTING,
    INDEX_PARTIAL,
    INDEX_READY,
    delete_index,
    delete_leftover,
    index_stamp,
    index_states,
    leftovers,
    running_index_job,
    start_index_job,
)
from core.indexes.index_storage import index_folder
from core.io import digests
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, Jobs
from core.types import Question
from tests.core.operators.texts.kit import story
from tests.films import TRIPLES, Bag, Parrot, Written
from tests.libraries import no_igraph

REPORT = '{"title": "t", "summary": "s", "findings": []}'


class PresentModels(Written):
    """Models that are all present, except for the role `absent`."""

    absent = ""

    def info(self, role):
        told = f"The {role} model is fetched by a button." if role == self.absent else ""
        return SimpleNamespace(present=not told, how_to_get=told)


SOLVED_QUESTIONS = (
    Question("who directed [One]", "a", ("One",), ("Ann",)),
    Question("who made [Three]", "b", ("Three",), ("Ann",)),
)


@pytest.fixture
def films(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return build(TRIPLES, tmp_path / "films", "films", "both")


def environment_of(models=None, solved=SOLVED_QUESTIONS):
    """An environment with these models and solved questions; by default all models are present."""
    return Environment(models or PresentModels(Parrot(REPORT)), lambda digest: solved)


@pytest.fixture
def jobs():
    jobs = Jobs(workers=1)
    yield jobs
    jobs.stop()


def build_index(jobs, graph, name, models=None, **wishes):
    job = start_index_job(jobs, graph, INDEX_KINDS[name], environment_of(models), **wishes)
    assert job.wait(60)
    return job


def states_by_name(graph, models=None, solved=SOLVED_QUESTIONS):
    return {one.kind.name: one for one in index_states(graph, environment_of(models, solved))}


def test_all_indexes_are_absent_at_first(films):
    assert {one.state for one in states_by_name(films).values()} == {INDEX_ABSENT}
    assert all(
        one.size == 0 and one.changed is None and not one.refusal
        for one in states_by_name(films).values()
    )


@pytest.mark.parametrize("name", [name for name, kind in INDEX_KINDS.items() if kind.build])
def test_each_kind_of_index_is_built_and_deleted_alone(films, jobs, name, tmp_path):
    films = films if INDEX_KINDS[name].fits(films) else store_graph(story(), tmp_path / "story")
    before = time.time() - 2
    assert build_index(jobs, films, name).status == JOB_DONE
    one = states_by_name(films)[name]
    assert (
        one.state == INDEX_READY
        and one.saved[0].is_default
        and one.size > 0
        and one.changed > before
    )
    others = {
        path.name for path in index_folder(films).iterdir() if not INDEX_KINDS[name].owns(path.name)
    }
    (index_folder(films) / "notes.txt").write_text("mine", "utf-8")
    delete_index(jobs, films, INDEX_KINDS[name])
    assert states_by_name(films)[name].state == INDEX_ABSENT
    assert {path.name for path in index_folder(films).iterdir()} == others | {"notes.txt"}
    # No index in memory replaces the deleted one.
    assert (
        build_index(jobs, films, name).status == JOB_DONE
        and states_by_name(films)[name].state == INDEX_READY
    )


def test_unsuitable_kinds_are_not_shown(films, tmp_path):
    assert "vectors-chunks" not in states_by_name(films) and "vectors-chunks" in states_by_name(
        store_graph(story(), tmp_path / "story")
    )


def test_vectors_without_items_are_refused(films):
    with pytest.raises(BadInput, match="“films” has no chunks"):
        vectors.build_vectors(films, Bag(), "chunks")


def test_parts_are_counted_among_possible_ones(films, jobs):
    build_index(jobs, films, "cases")
    assert states_by_name(films)["cases"].coverage == (1, 1)  # Three is not in the graph.
    build_index(jobs, films, "communities")
    found = load_communities(films)
    build_index(jobs, films, "reports")
    assert states_by_name(films)["reports"].coverage == (len(found), len(found))


def test_cancelled_reports_are_kept_and_continued(films, jobs):
    chat, first = Parrot(REPORT), threading.Event()
    reply = chat.reply

    def slow(messages, **told):
        if chat.asked:
            first.set()
            told["watch"].check()
            time.sleep(0.2)
        return reply(messages, **told)

    chat.reply = slow
    models = PresentModels(chat)
    job = start_index_job(jobs, films, INDEX_KINDS["reports"], environment_of(models))
    assert first.wait(120) and running_index_job(jobs, films, INDEX_KINDS["reports"]) is job
    with pytest.raises(StoreError, match="cancel that first"):
        delete_index(jobs, films, INDEX_KINDS["reports"])
    job.cancel()
    assert job.wait(120) and job.status in (JOB_CANCELLED, JOB_DONE)
    kept = states_by_name(films, models)["reports"].coverage[0]
    assert kept >= 1
    build_index(jobs, films, "reports", models)
    assert (
        states_by_name(films, models)["reports"].state == INDEX_READY
        and len(chat.asked) == states_by_name(films, models)["reports"].coverage[1]
    )
    build_index(jobs, films, "reports", models, anew=True)
    assert len(chat.asked) == 2 * states_by_name(films, models)["reports"].coverage[1]


def test_a_failed_rebuild_keeps_the_old_index(films, jobs, monkeypatch):
    build_index(jobs, films, "chains")
    (file,) = index_folder(films).glob("chains-*")
    before = file.read_bytes()

    def broken(*_):
        raise StoreError("The disk is full.")

    monkeypatch.setattr(chains, "build_chain_index", broken)
    job = build_index(jobs, films, "chains", anew=True)
    assert job.error == "The disk is full." and file.read_bytes() == before


@pytest.mark.parametrize(("name", "size"), [("communities", "10"), ("clusters", "100,000")])
def test_communities_found_without_igraph_are_of_another_setting(films, jobs, name, size):
    build_index(jobs, films, name)
    words = f"at most {size} entities each, where they can be split"
    with no_igraph():
        (by_igraph,) = states_by_name(films)[name].saved
        assert states_by_name(films)[name].state == INDEX_OF_OTHER_SETTING
        assert by_igraph.description == words
        build_index(jobs, films, name)
        assert states_by_name(films)[name].state == INDEX_READY
    found = {one.description: one.is_default for one in states_by_name(films)[name].saved}
    assert found == {words: True, f"{words}, found without igraph": False}
    assert leftovers(films) == []


def test_indexes_of_other_settings_are_distinguished(films, jobs):
    chains.chain_index(films, PresentModels().encoder(), 2)
    one = states_by_name(films)["chains"]
    assert (
        one.state == INDEX_OF_OTHER_SETTING
        and one.saved[0].description == "up to 2 steps, followed both ways"
    )
    load_communities(films, 3)
    assert states_by_name(films)["communities"].state == INDEX_OF_OTHER_SETTING
    models = PresentModels(Parrot(REPORT))
    build_index(jobs, films, "reports", models)
    (kept,) = states_by_name(films)["reports"].saved
    models.signature = lambda name=None: "another model"
    assert (
        states_by_name(films, models)["reports"].state == INDEX_PARTIAL
        and states_by_name(films, models)["reports"].coverage[0] == 0
    )


def test_an_absent_model_comes_with_advice(films):
    models = PresentModels()
    models.absent = "encoder"
    assert (
        states_by_name(films, models)["chains"].refusal
        == "The encoder model is fetched by a button."
    )
    assert not states_by_name(films, models)["communities"].refusal


def test_cases_need_solved_questions(films):
    assert "-train" in states_by_name(films, solved=())["cases"].refusal


def test_no_index_is_deleted_while_a_question_builds_it(films, jobs):
    build_index(jobs, films, "chains")
    with (
        films.derived.cache_of(chains.CHAINS_SHELF).lock,
        pytest.raises(StoreError, match="try again when that is done"),
    ):
        delete_index(jobs, films, INDEX_KINDS["chains"])
    assert states_by_name(films)["chains"].state == INDEX_READY


def test_indexes_of_an_earlier_content_are_listed_and_deleted(films, jobs):
    build_index(jobs, films, "communities")
    newer = build([*TRIPLES, ("Two", "has_genre", "Drama")], films.folder, "films", "both")
    assert states_by_name(newer)["communities"].state == INDEX_ABSENT
    (left,) = leftovers(newer)
    assert (
        left.is_earlier_content
        and left.description == "Communities"
        and left.size == sum(f.stat().st_size for f in left.path.iterdir())
    )
    load_communities(newer)
    delete_leftover(newer, left)
    assert not leftovers(newer) and states_by_name(newer)["communities"].state == INDEX_READY
    delete_leftover(newer, left)  # The files are already deleted.


def test_unknown_and_unfinished_files_are_leftovers(films):
    folder = index_folder(films)
    (folder / "strange.bin").write_bytes(b"12345")
    (folder / ".communities-10.npy-abc").write_bytes(b"half")
    # A recent unfinished file may belong to a running process.
    assert [(one.path.name, one.size) for one in leftovers(films)] == [("strange.bin", 5)]
    os.utime(folder / ".communities-10.npy-abc", (1, 1))
    assert [one.description for one in leftovers(films)][1] == "Unfinished file"
    outside = leftovers(films)[0].__class__(films.folder / "graph.json", "", 0, 0.0)
    delete_leftover(films, outside)  # This file is no leftover of the graph.
    assert (films.folder / "graph.json").is_file()


def test_the_stamp_changes_with_the_indexes(films):
    before = index_stamp(films, environment_of(PresentModels()))
    assert before == index_stamp(films, environment_of(PresentModels()))
    np.save(index_folder(films) / "communities-10.npy", np.zeros(5, np.int32))
    assert index_stamp(films, environment_of(PresentModels())) != before


def test_the_time_estimate_does_not_read_questions(films, monkeypatch):
    monkeypatch.setattr(
        memory,
        "case_coverage",
        lambda *asked: pytest.fail("that takes seconds, and this is asked at every run of a page"),
    )
    assert (
        INDEX_KINDS["cases"].describe_duration(films, environment_of(PresentModels(Parrot(REPORT))))
        == "about 1 second"
    )


@pytest.mark.parametrize("name", ["cases", "reports"])
def test_a_damaged_index_is_named_and_can_be_deleted(films, jobs, name):
    models = PresentModels(Parrot(REPORT))
    build_index(jobs, films, name, models)
    (file,) = (path for path in index_folder(films).iterdir() if INDEX_KINDS[name].match(path.name))
    file.write_bytes(b"no database" * 200)
    one = states_by_name(films, models)[name]
    assert one.state == INDEX_DAMAGED and file.name in one.damage and one.coverage is None
    delete_index(jobs, films, INDEX_KINDS[name])
    assert states_by_name(films, models)[name].state == INDEX_ABSENT


def test_damaged_vectors_are_encoded_again(films, jobs):
    build_index(jobs, films, "vectors-nodes")
    (folder,) = (
        path
        for path in index_folder(films).iterdir()
        if INDEX_KINDS["vectors-nodes"].match(path.name)
    )
    whole = (folder / "index.faiss").read_bytes()
    (folder / "index.faiss").write_bytes(whole[: len(whole) // 2])
    assert states_by_name(films)["vectors-nodes"].state == INDEX_PARTIAL
    assert (
        build_index(jobs, films, "vectors-nodes").status == JOB_DONE
        and (folder / "index.faiss").read_bytes() == whole
    )


def test_a_damaged_block_without_index_is_reported(films, jobs, monkeypatch):
    monkeypatch.setattr(vector_blocks.VectorBlocks, "remove_files", lambda blocks: None)
    build_index(jobs, films, "vectors-nodes")
    (block,) = index_folder(films).glob("vectors-nodes-*/block-000000.npy")
    block.write_bytes(block.read_bytes()[:-100])
    (block.parent / "index.json").unlink()
    assert not build_index(jobs, films, "vectors-nodes").error
    (block.parent / "index.json").unlink()
    (block.parent / "index.faiss").unlink()
    assert "block-000000.npy is damaged" in build_index(jobs, films, "vectors-nodes").error


def test_indexes_built_by_another_process_are_not_deleted(films, jobs):
    build_index(jobs, films, "vectors-nodes")
    (folder,) = (
        path
        for path in index_folder(films).iterdir()
        if INDEX_KINDS["vectors-nodes"].match(path.name)
    )
    with lock_store(folder / "building", False):
        with pytest.raises(StoreError, match="by another process"):
            delete_index(jobs, films, INDEX_KINDS["vectors-nodes"])
    delete_index(jobs, films, INDEX_KINDS["vectors-nodes"])
    assert not folder.exists()


def test_unsuitable_graphs_give_a_reason(films, tmp_path, monkeypatch):
    numbers = tmp_path / "numbers.tsv"
    numbers.write_text("0\t0\t1\n1\t0\t2\n", "utf-8")
    numbered = build(TripleFile(numbers, numbered=True), tmp_path / "numbered", "numbered", "both")
    assert (
        "only numbered" in states_by_name(numbered)["vectors-nodes"].refusal
        and not states_by_name(numbered)["vectors-triples"].refusal
    )
    monkeypatch.setattr("core.graph.algorithms.leiden.LEIDEN_IGRAPH_EDGES", 1)
    monkeypatch.setattr("core.graph.algorithms.leiden.free_memory", lambda: 5)
    for name in ("communities", "clusters", "reports"):
        assert "too many to be clustered" in states_by_name(films)[name].refusal
    with pytest.raises(BadInput, match="too many to be clustered"):
        load_communities(films)


@pytest.mark.parametrize("place", [0.3, 0.6, 0.99])
@pytest.mark.parametrize("name", ["keys.npy", "index.faiss"])
def test_a_changed_byte_of_vectors_is_never_searched(jobs, films, name, place):
    """A digest is stored after the arrays.

    A changed index is not opened, and is built again from intact blocks.
    """
    assert not build_index(jobs, films, "vectors-nodes").error
    folder = next(index_folder(films).glob("vectors-nodes-*"))
    file = folder / name
    data = bytearray(file.read_bytes())
    data[int(place * (len(data) - 80))] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match=f"{name} is not as it was written"):
        digests.check_appended_digest(file)
    assert (vectors.open_vectors(folder) is None) == (name == "index.faiss")


def test_encoding_time_follows_measurements_on_this_computer(films, tmp_path, monkeypatch):
    from core.indexes import index_kinds
    from core.models.encoders.compute_modes import ComputeMode, ModeSpeed, ModeSpeeds

    Info = type("Info", (), {"present": True})
    encoder = type("Encoder", (), {"mode": ComputeMode("openvino", "f32")})()
    env = type(
        "Here",
        (),
        {
            "models": type(
                "Models", (), {"encoder": lambda self: encoder, "info": lambda self, name: Info}
            )()
        },
    )()
    monkeypatch.setattr(index_kinds, "saved_speeds", lambda: None)
    slow = INDEX_KINDS["vectors-nodes"].seconds(films, env)
    measured = ModeSpeeds(
        "2026-01-01",
        (ModeSpeed(ComputeMode("openvino", "f32"), 2 * index_kinds.INDEX_COSTS.slow_rate, 1.0),),
    )
    monkeypatch.setattr(index_kinds, "saved_speeds", lambda: measured)
    assert INDEX_KINDS["vectors-nodes"].seconds(films, env) == slow / 2
    encoder.mode = ComputeMode("torch", "f32")
    assert INDEX_KINDS["vectors-nodes"].seconds(films, env) == slow
