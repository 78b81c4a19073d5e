"""A corpus on disk: its content, its changes, and its state after a kill."""

from __future__ import annotations

import errno
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.corpus import Corpus, Document, write_corpus
from core.corpus.links import DocumentLink
from core.errors import BadInput, StoreError
from core.types import Question
from tests.timing import costs_like

ANN = Document("ann", "Ann knows Bo.", "Ann", "a.txt")
BO = Document("bo", "Bo knows <b>Cy</b> {and} “Ann”.", "", "b.txt", ((0, "page 1"), (9, "page 2")))
CY = Document("cy", "赛乐认识安。", "赛")


def test_documents_come_back_as_they_were_given(tmp_path):
    corpus = write_corpus(tmp_path / "three", [CY, ANN, BO], "Three", "CC0", "us")
    assert (
        list(corpus) == [ANN, BO, CY]
        and corpus.ids == ("ann", "bo", "cy")
        and corpus.document("bo") == BO
    )
    assert (corpus.name, corpus.title, corpus.licence, corpus.source, len(corpus)) == (
        "three",
        "Three",
        "CC0",
        "us",
        3,
    )
    assert corpus.characters == 13 + 31 + 6
    assert "bo" in corpus and "b" not in corpus and "d" not in corpus


def test_a_place_holds_up_to_the_next_one():
    assert [BO.place_at(at) for at in (0, 8, 9, 30)] == ["page 1", "page 1", "page 2", "page 2"]
    assert Document("x", "abc", places=((1, "one"),)).place_at(0) == ""


def test_questions_come_back_with_answers_and_gold(tmp_path):
    asked = [
        Question("Who knows Bo?", "q1", ("Bo",), ("Ann",), gold=("ann",)),
        Question("Who?", "q2"),
    ]
    corpus = write_corpus(tmp_path / "c", [ANN], sets={"ours": ("Our questions", asked)})
    assert corpus.sets == {"ours": "Our questions"} and list(corpus.questions("ours")) == asked
    with pytest.raises(BadInput, match="Did you mean “ours”"):
        corpus.questions("our")
    assert list(corpus.add([BO]).questions("ours")) == asked


def test_the_digest_is_that_of_the_content(tmp_path):
    documents = [ANN, BO, CY, *(Document(f"d{i}", f"text {i}") for i in range(20))]
    first = write_corpus(tmp_path / "a", documents, "A").digest
    random.Random(3).shuffle(documents)
    assert write_corpus(tmp_path / "b", documents, "another title").digest == first
    grown = write_corpus(tmp_path / "c", documents[5:]).add(documents[:7])
    assert grown.digest == first and len(grown) == 23
    assert grown.remove(["d3"]).digest != first
    assert Corpus.open(tmp_path / "c").add([Document("d3", "text 3")]).digest == first


def test_a_change_gives_another_digest_and_does_not_disturb_readers(tmp_path):
    before = write_corpus(tmp_path / "c", [ANN, BO])
    after = before.change([Document("ann", "Ann knows nobody.")])
    assert after.digest != before.digest and after.document("ann").text == "Ann knows nobody."
    assert before.document("ann") == ANN and before.document("bo") == BO
    assert Corpus.open(tmp_path / "c").digest == after.digest
    assert after.change([ANN]).digest == before.digest
    assert len(list((tmp_path / "c").glob("data-*"))) == 1


def test_an_open_corpus_keeps_its_questions(tmp_path):
    before = write_corpus(tmp_path / "c", [ANN], sets={"a": ("A", [Question("One?")])})
    before.update([BO], sets={"a": ("A", [Question("Two?")])})
    assert (
        before.questions("a")[0].text == "One?"
        and Corpus.open(tmp_path / "c").questions("a")[0].text == "Two?"
    )


def test_all_documents_may_change_at_once(tmp_path):
    corpus = write_corpus(tmp_path / "c", [ANN, BO])
    assert [d.text for d in corpus.change([Document("ann", "1"), Document("bo", "2")])] == [
        "1",
        "2",
    ]


def test_a_title_and_question_sets_can_be_put_later(tmp_path):
    corpus = write_corpus(tmp_path / "c", [ANN], "Old", sets={"a": ("A", [Question("One?")])})
    later = corpus.update([], title="New", sets={"b": ("B", [Question("Two?", answers=("x",))])})
    assert (later.title, later.sets, later.digest) == ("New", {"a": "A", "b": "B"}, corpus.digest)
    assert [later.questions(name)[0].text for name in "ab"] == ["One?", "Two?"]


def test_equal_content_writes_nothing(tmp_path):
    corpus = write_corpus(tmp_path / "c", [ANN, BO])
    stamp = (tmp_path / "c" / "corpus.json").stat().st_mtime_ns
    assert corpus.add([ANN]).digest == corpus.digest == corpus.update([BO]).digest
    assert (tmp_path / "c" / "corpus.json").stat().st_mtime_ns == stamp


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda c: c.add([Document("ann", "Other.")]), "has another document “ann” already"),
        (lambda c: c.change([CY]), "no document “cy”"),
        (lambda c: c.remove(["cy"]), "no document “cy”"),
        (lambda c: c.remove(["ann", "bo"]), "all documents"),
        (lambda c: c.add([Document(" ", "x", source="f.txt")]), "from f.txt has no id"),
        (
            lambda c: c.add([Document("x", "1"), Document("x", "2")]),
            "Two documents have the id “x”",
        ),
    ],
)
def test_invalid_changes_are_refused_and_change_nothing(tmp_path, change, sentence):
    corpus = write_corpus(tmp_path / "c", [ANN, BO])
    with pytest.raises(BadInput, match=sentence):
        change(corpus)
    assert list(Corpus.open(tmp_path / "c")) == [ANN, BO]


def test_no_documents_are_no_corpus(tmp_path):
    with pytest.raises(BadInput, match="would have no documents"):
        write_corpus(tmp_path / "c", [])
    assert not (tmp_path / "c").exists()


def test_half_a_character_becomes_the_replacement_character(tmp_path):
    assert (
        write_corpus(tmp_path / "c", [Document("x", "a\ud800b \U0001f600")]).document("x").text
        == "a\ufffdb \U0001f600"
    )


def test_a_damaged_corpus_is_reported(tmp_path):
    write_corpus(tmp_path / "c", [ANN])
    next((tmp_path / "c").glob("data-*/documents.arrow")).write_bytes(b"ARROW1")
    with pytest.raises(StoreError, match="damaged"):
        Corpus.open(tmp_path / "c")
    (tmp_path / "c" / "corpus.json").write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        Corpus.open(tmp_path / "c")
    with pytest.raises(StoreError, match="no corpus"):
        Corpus.open(tmp_path / "d")


KILLED = """
import sys, itertools
from core.corpus import Corpus, Document
corpus = Corpus.open(sys.argv[1])
print("ready", flush=True)
for n in itertools.count():
    corpus = corpus.put([Document("a", f"text {n}"), Document("b", f"text {n}")])
"""


def test_a_kill_leaves_the_old_or_the_new(tmp_path):
    write_corpus(
        tmp_path / "c", [Document(x, "text 0" if x in "ab" else "y" * 5000) for x in "abcdefghij"]
    )
    for moment in (0.01, 0.05, 0.11, 0.17):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path / "c")], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(moment)
        process.kill()
        process.wait()
        corpus = Corpus.open(tmp_path / "c")
        assert len(corpus) == 10 and corpus.document("a").text == corpus.document("b").text
    corpus.update([ANN])
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == [
        "corpus.json",
        next((tmp_path / "c").glob("data-*")).name,
    ]


@pytest.mark.parametrize(
    "step",
    [
        "core.io.durable_files.os.replace",
        "core.io.durable_files.os.fsync",
        "core.graph.columns.Table.save",
    ],
)
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, step):
    corpus = write_corpus(tmp_path / "c", [ANN])

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(step, full)
        with pytest.raises(StoreError, match="cannot be stored in .*: No space left on device"):
            corpus.add([BO])
    assert list(Corpus.open(tmp_path / "c")) == [ANN] and len(list((tmp_path / "c").iterdir())) == 2
    assert list(corpus.add([BO])) == [ANN, BO]


def test_concurrent_additions_lose_nothing(tmp_path):
    corpus = write_corpus(tmp_path / "c", [ANN])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: corpus.add([Document(f"d{n}", f"text {n}")]), range(12)))
    assert len(Corpus.open(tmp_path / "c")) == 13


def test_many_documents_open_at_once(tmp_path):
    corpus = write_corpus(
        tmp_path / "c",
        (Document(f"d{i:06}", f"The text of document {i}. " * 20) for i in range(20_000)),
    )
    assert (
        Corpus.open(tmp_path / "c")
        .document("d019999")
        .text.startswith("The text of document 19999.")
    )
    write_corpus(
        tmp_path / "small", [Document(f"d{i:06}", f"Document {i}. " * 40) for i in range(200)]
    )
    # There are a hundred times as many documents. Reading all of them would take a hundred times as
    # long.
    assert costs_like(
        lambda: Corpus.open(tmp_path / "c").document("d019999").text,
        lambda: Corpus.open(tmp_path / "small").document("d000199").text,
    )
    again = Corpus.open(tmp_path / "c")
    assert again.digest == corpus.digest


@pytest.mark.parametrize(
    "name", ["documents.arrow", "links.arrow", "questions.json", "files.json", "../corpus.json"]
)
def test_a_changed_byte_is_found_when_a_corpus_is_opened(tmp_path, name):
    made = write_corpus(
        tmp_path / "c",
        [ANN],
        sets={"asked": ("Asked", [Question("who?", "q", gold=("ann",))])},
        links=[DocumentLink("ann", "ann")],
    )
    file = next((tmp_path / "c").glob("data-*")) / name
    data = file.read_bytes()
    for at in range(0, len(data), 7 if name != "../corpus.json" else 1):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            again = Corpus.open(tmp_path / "c")
        except StoreError as error:
            assert "damaged" in str(error) or "version" in str(error)
            continue
        assert name == "../corpus.json" and (again.title, again.sets, again.digest) == (
            made.title,
            made.sets,
            made.digest,
        )
