"""A header row is told from a triple by the contents of the rows, whatever its words."""

from __future__ import annotations

import gzip

import pytest

from core.errors import BadInput
from core.graph.building.build import build
from core.graph.large.sources import prepare_block_source
from core.graph.readers.header import HeaderVerdict, header_verdict
from core.graph.readers.triple_file import TripleFile
from core.io.home import ROOT

ROWS = [["Ann Lee", "keeps", "The Gull"], ["The Gull", "lies off", "Port Ness"]]
CHINESE = [["李安", "看守", "海鸥号"], ["海鸥号", "停泊于", "北港"]]


@pytest.mark.parametrize(
    "names",
    [
        *("a r b", "x y z", "term1 verb term2", "entity_a link entity_b", "startNode type endNode"),
        *(
            "a.name type(e) b.name",
            "from_thing how to_thing",
            "узел1 связь узел2",
            "主体 关系 客体",
        ),
        "sujet prédicat objet",
    ],
)
def test_names_of_columns_that_nobody_listed(names):
    assert header_verdict(names.split(), ROWS) is HeaderVerdict.HEADER


def test_latin_names_over_another_script_are_a_header():
    assert header_verdict(["Anfang", "Kante", "Schluss"], CHINESE) is HeaderVerdict.HEADER


def test_names_over_identifiers_are_a_header():
    ids = [["Gene::7", "binds", "Gene::9"], ["Gene::8", "binds", "Drug::1"]]
    assert header_verdict(["Anfang", "Kante", "Schluss"], ids) is HeaderVerdict.HEADER


def test_a_doubtful_header_counts_as_a_triple_with_a_note():
    assert header_verdict(["起点", "边", "终点"], CHINESE) is HeaderVerdict.UNSURE
    assert header_verdict(["Anfang", "Kante", "Schluss"], ROWS) is HeaderVerdict.UNSURE


@pytest.mark.parametrize(
    "first",
    [["Ann Lee", "wrote", "The Tide"], ["Bo Lee", "keeps", "Bo Hus"], ["Port Ness", "in", "Fife"]],
)
def test_a_row_that_shares_a_name_with_others_is_a_triple(first):
    assert header_verdict(first, ROWS) is HeaderVerdict.TRIPLE


def shipped_triple_files():
    for file in sorted((ROOT / "data").glob("*/*.[tk]*")):
        if file.name.removesuffix(".gz") in ("triples.tsv", "kb.tsv", "kg.tsv", "kb.txt"):
            yield pytest.param(file, id=file.parent.name)


@pytest.mark.parametrize("file", shipped_triple_files())
def test_no_triple_of_the_shipped_graphs_is_taken_for_a_header(file):
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        mark = "|" if file.name.startswith("kb.txt") else "\t"
        rows = [next(lines, "").rstrip("\n").split(mark) for _ in range(400)]
    rows = [row for row in rows if len(row) == 3]
    for at in range(0, min(len(rows), 200) - 1, 7):
        for count in (1, 2, 5, 20, 200):
            assert (
                header_verdict(rows[at], rows[at + 1 : at + 1 + count]) is not HeaderVerdict.HEADER
            )


def read(folder, text, name="t.csv", **how):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    file = TripleFile(folder / name, **how)
    return list(file.read()), file.tally


TABLE = "term1,verb,term2\nAnn Lee,keeps,The Gull\nThe Gull,lies off,Port Ness\n"
TRIPLES = [("Ann Lee", "keeps", "The Gull"), ("The Gull", "lies off", "Port Ness")]


def test_a_header_is_skipped_with_a_note_unless_declared_a_triple(tmp_path):
    triples, tally = read(tmp_path, TABLE)
    assert triples == TRIPLES and any("term1" in note for note in tally.notes)
    assert read(tmp_path, TABLE, header="no")[0][0] == ("term1", "verb", "term2")
    known = TABLE.replace("term1,verb,term2", "head,relation,tail")
    assert read(tmp_path, known, header="no")[0][0] == ("head", "relation", "tail")


def test_a_declared_header_is_skipped(tmp_path):
    text = "Anfang,Kante,Schluss\n" + TABLE.split("\n", 1)[1]
    triples, tally = read(tmp_path, text)
    assert len(triples) == 3 and any(
        "choose what the first row holds" in warning for warning in tally.warnings
    )
    triples, tally = read(tmp_path, text, header="yes")
    assert triples == TRIPLES and not tally.warnings


def test_chosen_columns_of_a_wide_table_have_a_header_too(tmp_path):
    text = "no,x_label,kind,y_label\n1,Ann Lee,keeps,The Gull\n2,The Gull,lies off,Port Ness\n"
    assert read(tmp_path, text, columns=(2, 3, 4))[0] == TRIPLES


def test_both_readers_leave_out_the_same_lines(tmp_path):
    text = "sep=;\n" + TABLE.replace(",", ";")
    assert read(tmp_path, text)[0] == TRIPLES
    source = prepare_block_source(TripleFile(tmp_path / "t.csv", memory=1 << 27))
    from core.graph.readers.blocks import BlockPosition

    found = []
    for block in source.blocks(BlockPosition(), 1 << 20):
        data = block.data.tobytes()
        found += [
            data[a : a + n].decode() for a, n in zip(block.starts.tolist(), block.lengths.tolist())
        ]
    assert found == [part for triple in TRIPLES for part in triple]


def test_an_edge_list_has_a_header_too(tmp_path):
    text = "node_1\tnode_2\nAnn Lee\tThe Gull\nThe Gull\tPort Ness\n"
    triples, tally = read(tmp_path, text, "t.edges")
    assert [(head, tail) for head, _, tail in triples] == [
        ("Ann Lee", "The Gull"),
        ("The Gull", "Port Ness"),
    ]
    assert any("node_1" in note for note in tally.notes)


@pytest.mark.parametrize(
    "header", ["head,relation,tail,source,from", "subject,predicate,object,source,target"]
)
def test_a_column_of_source_files_is_no_entity_column(tmp_path, header):
    text = f"{header}\nAnn Lee,keeps,The Gull,a.pdf,7\nThe Gull,lies off,Port Ness,b.pdf,8\n"
    triples, tally = read(tmp_path, text)
    assert triples == TRIPLES and any("source" in note for note in tally.notes)


def test_a_third_column_of_words_beside_two_ends_is_the_relation(tmp_path):
    text = "source\thow\ttarget\nAnn Lee\tkeeps\tThe Gull\nThe Gull\tlies off\tPort Ness\n"
    assert read(tmp_path, text, "t.tsv")[0] == TRIPLES


@pytest.mark.parametrize("memory", [None, 1 << 27])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.tsv", "subject\tpredicate\tobject\nAnn\tkeeps\tGull\nBo\tkeeps\tOwl\tsince 1802\n"),
        ("g.csv", 'subject,predicate,object\nAnn,keeps,"Gull"\nBo,keeps,Owl,since 1802\n'),
    ],
)
def test_rows_wider_than_the_header_are_bad_lines_also_in_blocks(tmp_path, name, text, memory):
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(BadInput, match=f"{name}, line 3: found 4 columns"):
        build(TripleFile(tmp_path / name, memory=memory), tmp_path / "g", "g")
    file = TripleFile(tmp_path / name, memory=memory, skips=True)
    graph = build(file, tmp_path / "h", "h")
    assert graph.triple_texts(range(graph.n_edges)) == ["Ann -> keeps -> Gull"]
    assert file.tally.sentences() == ["1 line left out, more columns than the header: line 3"]
