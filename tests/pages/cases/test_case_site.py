"""The command `export`: which cases, which files, and what is refused."""

from __future__ import annotations

import os
import re
import stat
from html import unescape

import pytest

from core.cases import edit, export, save
from core.cases.examples import examples
from core.cases.file import write_cases
from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.engine import Engine
from core.errors import BadInput
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question
from pages.parts.board.thumbnail import thumbnail_svg
from pages.parts.cases.site import find_cases, site_files, write_site
from tests.films import films, kit

__all__ = ["films", "kit"]
LINE = "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=2) >> Answer()"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty user folder."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


@pytest.fixture
def case(kit):
    """A saved case."""
    engine = Engine(kit.Written(encoder=kit.Table({"One -> has_genre -> Drama": 1.0})))
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("genre of One", entities=("One",), answers=("Drama",))
    )
    job = engine.compare(ask, [Method("ranked", "Ranked", parse_line(LINE))])
    assert job.wait(120)
    engine.jobs.stop()
    return save(job.comparison, {"q": "genre of One"}, "a <b>note</b>", ["demo"])


def test_a_site_is_written_by_the_command_for_any_reader(case, tmp_path, capfd):
    folder = tmp_path / "new" / "site"
    assert main(["export", case.id, "--site", str(folder)]) == EXIT_OK
    assert f"1 cases in {folder}" in capfd.readouterr().out
    assert {file.name for file in folder.iterdir()} == {
        "index.html",
        f"case-{case.id}.html",
        "board.js",
        "board.css",
        "cytoscape.min.js",
        "cytoscape.LICENSE.txt",
    }
    if os.name != "nt":
        for path in (folder, *folder.iterdir()):
            assert path.stat().st_mode & stat.S_IROTH, path
    index = (folder / "index.html").read_text("utf-8")
    assert "a &lt;b&gt;note&lt;/b&gt;" in index and 'class="path"' in index


@pytest.mark.parametrize(
    ("name", "message"),
    [("0123456789ab", "There is no case"), ("no.cases.gz", "no.cases.gz cannot be read")],
)
def test_a_case_that_is_not_there_is_refused(tmp_path, capfd, name, message):
    assert main(["export", name, "--site", str(tmp_path / "site")]) == EXIT_WRONG_INPUT
    assert message in capfd.readouterr().err and not (tmp_path / "site").exists()


def test_a_file_without_cases_is_refused(tmp_path):
    file = tmp_path / "none.cases.gz"
    file.write_bytes(write_cases([]))
    with pytest.raises(BadInput, match="no cases"):
        find_cases([str(file)])


def test_cases_come_from_files_and_ids_each_once(case, tmp_path):
    file = tmp_path / "mine.cases.gz"
    file.write_bytes(export([case.id]))
    found = find_cases([case.id, str(file), "shipped"])
    assert [one.id for one, _ in found] == [case.id, *(one.id for one, _ in examples())]
    edit(case.id, notes="other notes")
    names = site_files(find_cases([str(file), case.id]))
    assert [name for name in names if name.startswith("case-")] == [
        f"case-{case.id}.html",
        f"case-{case.id}-2.html",
    ]


def test_pages_name_only_files_of_their_folder():
    files = site_files(examples())
    pages = [data.decode() for name, data in files.items() if name.endswith(".html")]
    assert len(pages) == len(examples()) + 1
    named = {
        name for page in pages for name in re.findall(r'<[^>]* (?:src|href|srcset)="([^"]*)"', page)
    }
    assert named - {"data:,"} <= set(files) and len(named) > 3 * len(examples())
    assert not re.search(r"url\(|@import", files["board.css"].decode())
    for page in pages:
        policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
        assert "default-src 'none'" in policy and "unsafe" not in policy


def test_only_pages_of_an_earlier_export_are_removed(tmp_path):
    files = site_files(examples()[:2])
    one, other = (f"case-{case.id}.html" for case, _ in examples()[:2])
    (tmp_path / "CNAME").write_text("example.com")
    write_site(tmp_path, files)
    assert (tmp_path / other).exists()
    write_site(tmp_path, site_files(examples()[:1]))
    assert not (tmp_path / other).exists()
    assert (tmp_path / one).exists() and (tmp_path / "CNAME").exists()


def test_a_folder_of_another_page_is_left_as_it_is(tmp_path):
    (tmp_path / "index.html").write_text("<h1>Mine</h1>")
    (tmp_path / "case-1.html").write_text("mine")
    with pytest.raises(BadInput, match="is another page"):
        write_site(tmp_path, {"index.html": b"", "case-2.html": b""})
    assert {file.name for file in tmp_path.iterdir()} == {"index.html", "case-1.html"}


def test_a_thumbnail_has_each_node_and_marks_the_edges_of_the_best_paths():
    corners = [(0, 0, 0.0, "question"), (1, 1.0, 0.0, "answer"), (2, 0.5, 1.0, "plain")]
    payload = {
        "layout": {
            "nodes": [{"id": id, "x": x, "y": y, "role": role} for id, x, y, role in corners],
            "edges": [
                {"id": 5, "source": 0, "target": 1},
                {"id": 6, "source": 1, "target": 2},
            ],
        },
        "lanes": [{"paths": [{"key": "a"}]}, {"paths": None}],
        "paths": {"a": {"edges": [5]}, "b": {"edges": [6]}},
    }
    assert thumbnail_svg(payload) == (
        '<svg viewBox="0 0 360 190" aria-hidden="true">'
        '<line x1="342" y1="18" x2="180" y2="172"/>'
        '<line x1="18" y1="18" x2="342" y2="18" class="path"/>'
        '<circle cx="18" cy="18" r="5" class="question"/>'
        '<circle cx="342" cy="18" r="5" class="answer"/>'
        '<circle cx="180" cy="172" r="5" class="plain"/></svg>'
    )
    assert thumbnail_svg({**payload, "layout": {"nodes": [], "edges": []}}) == ""
