"""`corpus mend` on the command line: suggested, merged, refused, forgotten, and asked before and after."""

from __future__ import annotations

import json

import pytest

from core.builds import build_status
from core.builds.report import NameMerge, NameMerges, NearMerge
from core.builds.run import RENAMED_NOTE
from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, new_folder, open_corpus, write_corpus
from core.corpus.entity_merges import read_merges
from core.engine import Engine
from core.io import digests
from core.io.plain_data import to_plain
from core.types import Question
from tests.films import Bag, Written


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Two documents in which one person has two names, with a question set."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    texts = {
        "a": "José Díaz visited Paris.",
        "b": "Jose Diaz moved to London.",
        "c": "José Díaz met Ann Lee.",
    }
    questions = {
        "asked": (
            "Asked",
            [Question("Who moved to London", "q0", answers=("José Díaz",), gold=("b",))],
        )
    }
    write_corpus(
        new_folder("notes"), [Document(id, text) for id, text in texts.items()], sets=questions
    )
    return open_corpus("notes")


@pytest.fixture
def mended(notes, capsys):
    """`mended(*arguments)`: the exit code, lines of output and errors."""
    engine = Engine(Written(encoder=Bag()))

    def run(*arguments):
        code = main(["corpus", *arguments], lambda: engine)
        out = capsys.readouterr()
        return code, out.out.splitlines(), out.err

    assert run("build", "notes", "--graph", "kg", "--extractor", "noun-phrases")[0] == EXIT_OK
    yield run
    engine.jobs.stop()
    engine.evaluations.stop()


def test_a_suggestion_is_accepted_saved_and_forgotten(mended, notes):
    _, out, _ = mended("mend", "notes")
    assert (
        out[:2] == ["merges saved: 0", "suggestions: 1"]
        and out[2].strip() == "Jose Diaz (1) -> José Díaz (2)  accents"
    )
    _, out, _ = mended("mend", "notes", "--accept", "Jose Diaz")
    assert out == ["merges saved: 1", "  Jose Diaz -> José Díaz", "suggestions: 0"]
    assert [edit.names for edit in read_merges(notes).edits] == [("Jose Diaz", "José Díaz")]
    assert (
        mended("mend", "notes", "--forget", "all")[1][0] == "merges saved: 0"
        and read_merges(notes).edits == ()
    )


def test_names_of_ones_own_are_merged_and_what_is_not_the_same_is_not_suggested_again(mended):
    assert mended("mend", "notes", "--refuse", "José Díaz", "Jose Diaz")[1] == [
        "merges saved: 0",
        "not the same: 1",
        "  Jose Diaz / José Díaz",
        "suggestions: 0",
    ]
    assert mended("mend", "notes", "--allow", "José Díaz", "Jose Diaz")[1][:2] == [
        "merges saved: 0",
        "suggestions: 1",
    ]
    assert mended("mend", "notes", "--merge", "Paris", "London")[1][0] == "merges saved: 1"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--accept", "Nobody"), "“Nobody” is not suggested."),
        (("--forget", "Nobody"), "No merge of “Nobody” is saved."),
        (("--merge", "Nobody", "Paris"), "“Nobody” and “Paris” are not both entities of notes."),
        (("--set", "asked"), "No merge is saved, so that nothing differs"),
    ],
)
def test_what_cannot_be_done_says_why(mended, arguments, text):
    code, _, err = mended("mend", "notes", *arguments)
    assert code == EXIT_WRONG_INPUT and text in err


def test_a_merge_that_a_rebuilt_graph_has_no_names_for_is_said_and_stays(mended, notes):
    mended("mend", "notes", "--accept", "all")
    notes.remove(["b"])
    mended("build", "notes", "--graph", "kg", "--extractor", "noun-phrases")
    _, out, _ = mended("mend", "notes")
    assert out[0] == "merges saved: 1, of which 1 fit nothing in notes" and out[1].endswith(
        "(not in this graph)"
    )


def test_without_a_graph_of_entities_it_says_how_to_build_one(notes, capsys):
    assert main(["corpus", "mend", "notes"], lambda: None) == EXIT_WRONG_INPUT
    assert "No graph with entities is built of notes" in capsys.readouterr().err


def test_a_question_set_is_asked_before_and_after(mended):
    mended("mend", "notes", "--accept", "all")
    line = "BuiltGraph(build='kg') >> EmbedQuery() >> VectorNodes(keep=1) >> AnswerFromTables()"
    code, out, err = mended("mend", "notes", "--set", "asked", "--method", line)
    assert code == EXIT_OK and "1 of 1 questions of asked" in "\n".join(out), err
    assert any("mended=False" in text for text in out)


def test_what_a_build_joined_is_listed_and_refused_for_the_next_one(mended, notes):
    assert mended("build", "notes", "--graph", "rkg", "--extractor", "names")[0] == EXIT_OK
    listed = build_status(notes, "rkg-names")
    made = NameMerges.from_merges(
        [NameMerge("Lee", "Ann Lee", "part of a name", 1, ("c",))],
        [NearMerge("Diaz", ("José Díaz", "Ann Diaz"), 1, ("b",))],
    )
    file = listed.folder / "built.json"
    record = json.loads(file.read_text("utf-8"))
    record["report"]["joined"] = to_plain(made)
    file.write_text(
        json.dumps(
            digests.with_digest({key: value for key, value in record.items() if key != "sha256"})
        ),
        "utf-8",
    )
    _, out, err = mended("mend", "notes", "--graph", "rkg-names")
    assert out[:4] == [
        "names joined by the build: 1",
        "  Lee -> Ann Lee  part of a name",
        "names that may be one of several: 1",
        "  Diaz: José Díaz, Ann Diaz",
    ]
    assert RENAMED_NOTE not in err
    assert (
        RENAMED_NOTE
        in mended("mend", "notes", "--graph", "rkg-names", "--refuse", "Ann Lee", "Lee")[2]
    )
    assert any("built, names marked since" in line for line in mended("status", "notes")[1])
