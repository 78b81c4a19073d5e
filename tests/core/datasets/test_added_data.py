"""Folders of data that an installation lacks, from a checkout and from a server on loopback."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import open_corpus
from core.datasets import datasets
from core.datasets.added_data import add_data
from core.errors import BadInput, FetchFailed
from core.io import data_folders
from core.io.data_folders import listed_data
from core.io.home import ROOT

ROWS = {
    "corpus.jsonl": [{"_id": "1", "title": "One", "text": "Ann met Bob."}],
    "queries.jsonl": [{"_id": "q", "text": "Whom did Ann meet?"}],
}
QRELS = "query-id\tcorpus-id\tscore\nq\t1\t1\n"


def archive(**more: bytes) -> bytes:
    """A publisher's archive in the form of BEIR, with more members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for file, rows in ROWS.items():
            packed.writestr(f"scifact/{file}", "\n".join(map(json.dumps, rows)))
        packed.writestr("scifact/qrels/train.tsv", QRELS)
        for name, content in more.items():
            packed.writestr(name, content)
    return out.getvalue()


@pytest.fixture
def installation(tmp_path, monkeypatch):
    """An installation without any data but the table, and an empty home."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(data_folders, "SHIPPED_DATA", tmp_path / "data")
    monkeypatch.setattr("core.datasets.catalogue._shipped_descriptions", lambda: [])
    return tmp_path


@pytest.fixture
def publish(monkeypatch):
    """Serve an archive on loopback in the place of SciFact's, whole or cut after some bytes."""
    servers, asked = [], []

    def start(content: bytes, sha256: str = "", cut: int | None = None):
        limits = [cut]

        class ArchiveHandler(BaseHTTPRequestHandler):
            def do_GET(self):
                wanted = self.headers.get("Range") or ""
                asked.append(wanted)
                first = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
                self.send_response(206 if first else 200)
                self.send_header("Content-Length", str(len(content) - first))
                self.end_headers()
                self.wfile.write(content[first : limits.pop() if limits else None])

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), ArchiveHandler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        row = replace(
            listed_data()["scifact"],
            url=f"http://127.0.0.1:{server.server_port}/scifact.zip",
            sha256=sha256 or hashlib.sha256(content).hexdigest(),
        )
        monkeypatch.setitem(listed_data(), "scifact", row)
        return asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def files_below(folder) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".lock")
    )


def test_a_publishers_archive_becomes_a_corpus(installation, publish):
    publish(archive(**{"elsewhere/other.txt": b"not taken"}))
    with pytest.raises(BadInput, match="hopscope data --add scifact"):
        open_corpus("scifact")
    folder = add_data("scifact")
    assert folder == installation / "home" / "data" / "scifact"
    assert files_below(folder.parent) == [
        f"scifact/{name}"
        for name in ("corpus.jsonl", "corpus.toml", "qrels/train.tsv", "queries.jsonl")
    ]
    corpus = open_corpus("scifact")
    assert [document.title for document in corpus] == ["One"]
    assert [question.text for question in corpus.questions("scifact")] == ["Whom did Ann meet?"]


def test_a_wrong_digest_leaves_nothing(installation, publish):
    publish(archive(), sha256="0" * 64)
    with pytest.raises(FetchFailed, match="has the sha256"):
        add_data("scifact")
    assert files_below(installation / "home") == []


def test_a_cut_connection_is_continued(installation, publish, monkeypatch):
    monkeypatch.setattr("core.io.downloads.DOWNLOAD_PIECE_BYTES", 500)
    content = archive(**{"scifact/more.bin": bytes(range(256)) * 100})
    asked = publish(content, cut=1000)
    with pytest.raises(FetchFailed, match="cannot be reached"):
        add_data("scifact")
    assert files_below(installation / "home") == ["data/scifact.part"]
    assert add_data("scifact").is_dir()
    assert asked == ["", "bytes=1000-"]
    assert "data/scifact.part" not in files_below(installation / "home")


@pytest.mark.parametrize(
    "member", ["../evil", "scifact/../../evil", "/evil", "scifact\\..\\evil", "C:/evil"]
)
def test_a_member_outside_of_the_archive_is_refused(installation, publish, member):
    publish(archive(**{member: b"x"}))
    with pytest.raises(BadInput, match="outside of it"):
        add_data("scifact")
    assert (
        not list(installation.rglob("evil")) and not (installation / "home/data/scifact").exists()
    )


def test_what_is_no_archive_is_refused(installation, publish):
    publish(b"<html>moved</html>")
    with pytest.raises(BadInput, match="cannot be unpacked"):
        add_data("scifact")


def test_a_folder_of_a_checkout_is_found_by_the_app(installation, capsys):
    assert "nations" not in datasets()
    assert main(["data", "--add", "nations", "--from", str(ROOT)]) == EXIT_OK
    assert "its licence: unknown" in capsys.readouterr().out
    assert datasets()["nations"].triples == installation / "home/data/nations/triples.tsv.gz"
    assert datasets()["nations"].open().n_nodes == 14
    assert main(["data"]) == EXIT_OK
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == len(listed_data())
    marks = {row.split()[1]: row[0] for row in rows}
    assert marks["nations"] == "●" and marks["umls"] == "○"


def test_weights_of_a_checkout_are_found(installation):
    from core.models.registry import Registry

    assert "hopscope data --add models/reranker" in Registry().info("reranker-minilm").how_to_get
    folder = add_data("models/reranker", ROOT / "data")
    assert data_folders.data_folder("models/reranker") == folder
    assert Registry().info("reranker-minilm").present


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--add", "umls"], EXIT_WRONG_INPUT, "hopscope data --add umls --from FOLDER"),
        (["--add", "nation"], EXIT_WRONG_INPUT, "“nations”"),
        (["--add", "umls", "--from", "."], EXIT_WRONG_INPUT, "name a checkout"),
        (["--from", "."], EXIT_WRONG_INPUT, "--from needs --add"),
        (["--add", "scifact"], EXIT_FAILED, "cannot be reached"),
    ],
)
def test_what_cannot_be_added_is_said(installation, monkeypatch, capsys, arguments, code, sentence):
    row = replace(listed_data()["scifact"], url="http://127.0.0.1:9/scifact.zip")
    monkeypatch.setitem(listed_data(), "scifact", row)
    monkeypatch.chdir(installation)
    assert main(["data", *arguments]) == code
    assert sentence in capsys.readouterr().err


def test_another_folder_and_links_are_refused(installation):
    other = installation / "nations"
    other.mkdir()
    with pytest.raises(BadInput, match="does not hold nations"):
        add_data("nations", other)
    (other / "dataset.toml").symlink_to(ROOT / "data/nations/dataset.toml")
    with pytest.raises(BadInput, match="links"):
        add_data("nations", other)
    assert not (installation / "home/data/nations").exists()
