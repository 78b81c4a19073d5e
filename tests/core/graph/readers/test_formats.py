"""A graph format is one row of a table that both builders, the command and the page read."""

import re
import types

import pytest

from core.cli import EXIT_OK, main
from core.errors import BadInput, RunCancelled
from core.graph.building.build import build, build_in_memory
from core.graph.readers import formats
from core.graph.readers.formats import FORMATS, Format
from core.graph.readers.triple_file import TripleFile
from core.watch import Watch
from tests.core.graph.test_large import same
from tests.test_docs import blocks_of
from tests.triples import read_triples


@pytest.fixture()
def dot(monkeypatch):
    """The example format of CONTRIBUTING.md, with its module and table row as printed there."""
    module, row = blocks_of("CONTRIBUTING.md", "Add a format of graphs")
    made = types.ModuleType("dot")
    exec(module, made.__dict__)
    rows: dict = {}
    exec(row, {"FORMATS": rows, "Format": Format, "dot": made})
    monkeypatch.setitem(FORMATS, "dot", rows["dot"])


def write_dot(path, triples, odd=()):
    lines = [f'  "{head}" -> "{tail}" [label="{relation}"];' for head, relation, tail in triples]
    for place in odd:
        lines.insert(place, "  what is this?")
    path.write_text("\n".join(["digraph {", *lines, "}", ""]))
    return path


TRIPLES = [(f"node {n * 7 % 40}", f"r{n % 3}", f"node {n * 11 % 37}") for n in range(120)]


def test_a_new_format_is_read_at_once_and_in_blocks(dot, tmp_path):
    file = write_dot(tmp_path / "g.dot", TRIPLES)
    assert list(read_triples(file)) == TRIPLES
    assert same(build(file, tmp_path / "small", "g"), build_in_memory(TRIPLES, "g"))
    assert same(
        build(TripleFile(file, memory=30_000), tmp_path / "large", "g"),
        build_in_memory(TRIPLES, "g"),
    )


@pytest.mark.parametrize("memory", [None, 30_000])
def test_bad_lines_of_a_new_format_stop_or_are_left_out(dot, tmp_path, memory):
    file = write_dot(tmp_path / "g.gv", TRIPLES, odd=(0, 60))
    with pytest.raises(BadInput, match="g.gv, line 2: expected"):
        build(TripleFile(file, memory=memory), tmp_path / "g", "g")
    source = TripleFile(file, memory=memory, skips=True)
    assert same(build(source, tmp_path / "g", "g"), build_in_memory(TRIPLES, "g"))
    assert source.tally.sentences() == ["2 lines left out, no edge: lines 2, 62"]


def test_a_build_of_a_new_format_goes_on_where_it_was_stopped(dot, tmp_path):
    file = write_dot(tmp_path / "g.dot", TRIPLES * 30, odd=(3, 2000, 3500))

    def stop():
        if (tmp_path / "g" / "unfinished" / "spill" / "codes-2").exists():
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        build(TripleFile(file, memory=30_000, skips=True), tmp_path / "g", "g", watch=Watch(stop))
    source = TripleFile(file, memory=30_000, skips=True)
    assert same(build(source, tmp_path / "g", "g"), build_in_memory(TRIPLES, "g"))
    # Each line once, though it is read twice.
    assert source.tally.sentences() == ["3 lines left out, no edge: lines 5, 2,002, 3,502"]


def test_the_command_knows_a_new_format(dot, tmp_path, capsys):
    file = write_dot(tmp_path / "g.dot", TRIPLES, odd=(5,))
    assert (
        main(["build", str(file), "--out", str(tmp_path / "g"), "--memory", "64MiB", "--skip-bad"])
        == EXIT_OK
    )
    assert "1 line left out, no edge: line 7" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["build", "--help"])
    assert "dot (Edges in DOT, .dot .gv)" in re.sub(r"\s+", " ", capsys.readouterr().out)


def test_every_format_is_built_alike_at_once_and_in_blocks(tmp_path):
    nodes = "".join(f'<node id="n{n}"/>' for n in range(5))
    edges = "".join(f'<edge source="n{n}" target="n{n + 1}"/>' for n in range(4))
    (tmp_path / "g.graphml").write_text(
        f'<graphml><graph edgedefault="directed">{nodes}{edges}</graph></graphml>'
    )
    (tmp_path / "g.jsonl").write_text(
        '{"graph": [["A", "r", "B"]]}\n{"graph": [["B", "s", "C"], ["A", "r", "B"]]}\n'
    )
    for name in ("g.graphml", "g.jsonl"):
        graph = build(TripleFile(tmp_path / name, memory=30_000), tmp_path / f"{name}-large", "g")
        assert same(graph, build_in_memory(read_triples(tmp_path / name), "g"))
    with pytest.raises(BadInput, match="Numbers can be read from delimited text only"):
        build(TripleFile(tmp_path / "g.jsonl", numbered=True), tmp_path / "g", "g")


def test_bad_entries_in_graphml_and_rows_are_skipped_with_a_note(tmp_path):
    (tmp_path / "g.graphml").write_text(
        '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>\n<edge '
        'source="a" target="b"/>\n'
        '<edge source="a" target="gone"/>\n</graph></graphml>'
    )
    (tmp_path / "g.jsonl").write_text('{"graph": [["A", "r", "B"]]}\n{"graph": [["B", "s"]]}\n')
    said = {
        "g.graphml": "1 line left out, an edge to an unknown node: line 3",
        "g.jsonl": "1 line left out, no list of triples: line 2",
    }
    for name, sentence in said.items():
        source = TripleFile(tmp_path / name, skips=True)
        assert (
            build(source, tmp_path / f"{name}-g", "g").n_edges == 1
            and source.tally.sentences()[-1] == sentence
        )


def test_each_suffix_belongs_to_one_format():
    suffixes = [suffix for one in FORMATS.values() for suffix in one.suffixes]
    assert len(set(suffixes)) == len(suffixes) and formats.AUTO_TRIPLE_FORMAT not in FORMATS
