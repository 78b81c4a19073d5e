"""Files, folders and zips: files that are read or left out, and paths that may not escape."""

from __future__ import annotations

import gzip
import itertools
import os
import zipfile

import pytest

from core.corpus import write_corpus
from core.corpus.chunks import chunk_by_tokens
from core.corpus.readers import read_files
from core.errors import BadInput, RunCancelled
from core.watch import Watch
from tests.core.corpus.readers.test_marked import made_docx, made_pdf, saved
from tests.notes import NoteWith
from tests.timing import is_linear


@pytest.fixture
def folder(tmp_path):
    """A folder with one file of each kind."""
    inner = tmp_path / "papers"
    (inner / "deep").mkdir(parents=True)
    (inner / "a.txt").write_text("Plain text.")
    (inner / "deep" / "b.md").write_text("# Head\n\nText.")
    (inner / "deep" / "c.html").write_text("<p>Page.</p>")
    (inner / "d.pdf").write_bytes(made_pdf("Printed"))
    (inner / "e.docx").write_bytes(saved(made_docx()))
    (inner / "f.csv").write_text("id,text\n1,Row one.\n2,Row two.\n")
    (inner / "g.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Line."}\n'))
    return inner


ALL = ["a.txt", "d.pdf", "deep/b.md", "deep/c.html", "e.docx", "f.csv:1", "f.csv:2", "g.jsonl:1"]


def ids(read):
    return sorted(document.id for document in read.documents)


def test_a_folder_is_read_with_all_below_it(folder):
    read = read_files([folder])
    assert ids(read) == ALL and read.notes == []


def test_a_zip_of_the_folder_gives_the_same_documents(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as archive:
        for file in folder.rglob("*"):
            archive.write(file, file.relative_to(folder))
    one, other = read_files([folder]), read_files([tmp_path / "papers.zip"])
    assert sorted(one.documents, key=lambda d: d.id) == sorted(other.documents, key=lambda d: d.id)


def test_the_order_of_files_does_not_matter(folder, tmp_path):
    files = [folder / "a.txt", folder / "d.pdf", folder / "f.csv"]
    forward, backward = (
        write_corpus(tmp_path / name, read_files(order).documents)
        for name, order in (("x", files), ("y", files[::-1]))
    )
    assert forward.digest == backward.digest


def test_a_bad_file_affects_no_other_file_and_is_noted(folder):
    (folder / "empty.txt").touch()
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "bad.docx").write_bytes(b"PK broken")
    (folder / "posing.txt").write_bytes(os.urandom(2000) + b"\0")
    (folder / "tool.exe").write_bytes(b"MZ")
    (folder / ".hidden.txt").write_text("hidden")
    read = read_files([folder])
    assert ids(read) == ALL
    assert [sentence.split()[0] for sentence in read.notes] == [
        "papers:",
        "bad.docx",
        "bad.pdf",
        "empty.txt",
        "posing.txt",
    ]
    assert read.notes[0] == NoteWith("papers", 1, "left out", "tool.exe")


@pytest.mark.parametrize(
    "name, data, sentence",
    [
        ("old.doc", b"x", "of a kind that cannot be read; save it as docx first"),
        ("x.bin", b"x", "of a kind that cannot be read; known are .txt"),
        ("x", b"text", "of a kind that cannot be read"),
        ("empty.txt", b"", "empty.txt is empty"),
        ("x.zip", b"no zip", "x.zip is damaged or no zip"),
        ("x.txt.gz", b"no gzip", "x.txt.gz: the gzip file is damaged"),
        ("scan.pdf", made_pdf(""), "scan.pdf holds no text in its 1 page; it looks scanned"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_where_it_is_the_only_one(
    tmp_path, name, data, sentence
):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput, match=sentence):
        read_files([tmp_path / name])


def test_a_folder_with_nothing_to_read_says_what_is_read(tmp_path):
    (tmp_path / "things").mkdir()
    with pytest.raises(BadInput, match=r"things holds no file that can be read \(.txt, .md"):
        read_files([tmp_path / "things"])
    (tmp_path / "things" / "a.exe").write_bytes(b"x")
    with pytest.raises(BadInput, match="it has a.exe"):
        read_files([tmp_path / "things"])


def test_missing_files_are_reported(tmp_path):
    with pytest.raises(BadInput, match="There is no file .*absent.txt"):
        read_files([tmp_path / "absent.txt"])
    with pytest.raises(BadInput, match="no file to read"):
        read_files([])


def test_a_second_file_of_one_name_is_skipped_with_a_note(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    read = read_files([tmp_path / "one" / "a.txt", tmp_path / "two" / "a.txt"])
    assert [document.text for document in read.documents] == [
        "one"
    ] and "Two of these files are called a.txt" in read.notes[0]


def test_documents_of_one_text_are_kept_and_noted(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("The same.")
    read = read_files([tmp_path])
    assert ids(read) == ["a.txt", "b.txt", "c.txt"]
    assert read.notes == [NoteWith("b.txt", "same text", "a.txt", 1)]


def test_a_zip_that_is_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(4):
            archive.writestr(f"{number}.txt", b"0" * (1 << 20))
    monkeypatch.setattr("core.corpus.readers.file_sources.MAX_ZIP_BYTES", 3 << 20)
    with pytest.raises(BadInput, match="bomb.zip would unpack to more than 3 MB"):
        read_files([tmp_path / "bomb.zip"])
    monkeypatch.setattr("core.corpus.readers.file_sources.MAX_ZIP_BYTES", 8 << 20)
    monkeypatch.setattr("core.corpus.readers.files.MAX_TEXT_BYTES", 1 << 19)
    with pytest.raises(BadInput, match="0.txt holds more than 1 MB"):
        read_files([tmp_path / "bomb.zip"])
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(b"0" * (1 << 20)))
    with pytest.raises(BadInput, match="bomb.txt.gz holds more than 1 MB"):
        read_files([tmp_path / "bomb.txt.gz"])


def test_a_zip_with_false_sizes_affects_no_other_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lies.txt", b"0" * 1000)
        archive.writestr("true.txt", b"True.")
    data = (
        (tmp_path / "x.zip")
        .read_bytes()
        .replace((1000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    )
    (tmp_path / "x.zip").write_bytes(data)
    read = read_files([tmp_path / "x.zip"])
    assert ids(read) == ["true.txt"] and "lies.txt in x.zip cannot be unpacked" in read.notes[0]


def test_paths_in_a_zip_never_escape(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name in (
            "../out.txt",
            "/abs.txt",
            "C:\\win.txt",
            "a/../../b.txt",
            "..\\up.txt",
            "good/in.txt",
        ):
            archive.writestr(name, b"Text.")
    read = read_files([tmp_path / "x.zip"])
    assert (
        ids(read) == ["good/in.txt"]
        and len(read.notes) == 5
        and all("outside of the zip" in sentence for sentence in read.notes)
    )
    assert (
        sorted(path.name for path in tmp_path.parent.rglob("*.txt") if tmp_path in path.parents)
        == []
    )


def test_links_out_of_a_folder_are_not_followed(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert ids(read_files([tmp_path / "in"])) == ["a.txt"]


def test_reading_reports_progress_and_can_be_cancelled(folder):
    heard = []
    read_files([folder], watch=Watch(report=lambda text, share: heard.append((text, share))))
    assert heard[0] == ("Reading a.txt", 0.0) and len({text for text, _ in heard}) == 7
    assert [share for _, share in heard] == sorted(share for _, share in heard)

    def cancelled():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        read_files([folder], watch=Watch(cancelled))


def test_a_corpus_of_one_chinese_sentence_is_one_chunk(tmp_path):
    (tmp_path / "一.txt").write_text("天气很好。", "utf-8")
    corpus = write_corpus(tmp_path / "one", read_files([tmp_path / "一.txt"]).documents)
    chunks = chunk_by_tokens(corpus)
    assert (chunks.texts("id"), chunks.texts("text"), chunks.numbers("tokens").tolist()) == (
        ["一.txt"],
        ["天气很好。"],
        [5],
    )


def test_the_time_of_a_corpus_grows_with_its_length(tmp_path):
    line = "A line of ordinary words, some 60 characters long in all.\n"

    def write(lines):
        (tmp_path / "lines.txt").write_text(line * lines)
        folder = tmp_path / f"{lines}-{next(numbers)}"
        return write_corpus(folder, read_files([tmp_path / "lines.txt"]).documents)

    numbers = itertools.count()
    assert write(180_000).characters == len(line) * 180_000
    assert is_linear(write, 180_000)
