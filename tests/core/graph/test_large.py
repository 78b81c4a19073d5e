import gzip
import os
import random
import signal
import subprocess
import sys

import numpy as np
import pytest

from core.errors import BadInput, RunCancelled
from core.graph.building.build import build, build_in_memory
from core.graph.large.sources import NumberSource
from core.graph.readers.skip_report import Tally
from core.graph.readers.triple_file import TripleFile, parse_memory
from core.graph.storage.store_files import write_store
from core.graph.store import STORE_ARRAYS, Graph
from core.watch import Watch
from tests.core.graph.verifying import verify
from tests.triples import read_triples

ODD_NAMES = [
    '"',
    "<script>",
    "🎬",
    "é",
    "e\u0301",
    "İ",
    "ß",
    "x" * 300,
    "a b",
    " a",
    "a ",
    "\x00",
    "a\x00",
    "naïve\u00a0",
    "\u3000x",
    "0",
    "00",
]


@pytest.fixture(autouse=True)
def without_fsync(monkeypatch):
    # Tests need no protection from a power failure.
    monkeypatch.setattr("os.fsync", lambda stream: None)


def random_triples(count=900, seed=1):
    """Triples with repeats, loops, a hub and odd names, in random order."""
    rng = random.Random(seed)
    names = ODD_NAMES + [f"node {i}" for i in range(200)]
    found = [
        (rng.choice(names), f"r{min(rng.randrange(9), rng.randrange(9))}", rng.choice(names))
        for _ in range(count)
    ]
    found += [("hub", "r0", rng.choice(names)) for _ in range(count // 4)]
    found += found[: count // 5]
    rng.shuffle(found)
    return found


def write_triples(path, triples, separator="\t"):
    path.write_bytes("".join(separator.join(triple) + "\n" for triple in triples).encode())
    return path


def small(path, **how):
    """Read the file with so little memory that every phase has many parts."""
    return TripleFile(path, memory=how.pop("memory", 30_000), **how)


def same(graph, other):
    for key in (*STORE_ARRAYS, "names_utf8"):
        left, right = getattr(graph, key), getattr(other, key)
        assert left.dtype == right.dtype and np.array_equal(left, right), key
    return graph.digest == other.digest and graph.relation_names == other.relation_names


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("memory", [15_000, 30_000, 1 << 26])
def test_the_very_same_store_as_in_memory(tmp_path, seed, memory):
    triples = random_triples(seed=seed)
    graph = build(
        small(write_triples(tmp_path / "t.tsv", triples), memory=memory), tmp_path / "g", "g"
    )
    assert same(graph, build_in_memory(triples, "g"))
    verify(graph)
    known = sorted(path.name for path in (tmp_path / "g").iterdir())
    assert known == sorted([graph.data_folder.name, "graph.json"])
    expected = build_in_memory(triples, "g")
    write_store(
        tmp_path / "h",
        {key: getattr(expected, key) for key in STORE_ARRAYS},
        expected.names_utf8,
        None,
    )
    for path in (tmp_path / "h").iterdir():
        assert path.read_bytes() == (graph.data_folder / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    "name, text", [("t.tsv", "z\tr2\tb\nb\tr1\tÄ\nz\tr2\tb\na\tr0\tz\n"), ("t.nt", None)]
)
def test_a_file_gives_the_same_ids_below_and_above_the_size_read_at_once(
    tmp_path, monkeypatch, name, text
):
    (tmp_path / name).write_text(text or "\n".join(NTRIPLES_LINES), "utf-8")
    below = build(tmp_path / name, tmp_path / "below", "g")
    monkeypatch.setattr("core.graph.large.sources.MAX_WHOLE_TEXT_BYTES", 0)
    above = build(tmp_path / name, tmp_path / "above", "g")
    assert (
        same(above, below)
        and above.names(range(4)) == sorted(above.names(range(above.n_nodes)))[:4]
    )
    if text:
        assert above.names(range(4)) == ["a", "b", "z", "Ä"] and above.relation_names == (
            "r0",
            "r1",
            "r2",
        )
        assert above.triple_texts(range(3)) == ["a -> r0 -> z", "b -> r1 -> Ä", "z -> r2 -> b"]


def test_one_node_with_nearly_all_edges_is_cut_into_pieces(tmp_path):
    triples = [("hub", f"r{i % 3}", f"n{i}") for i in range(1000)] + [
        (f"n{i}", "r0", "hub") for i in range(1000)
    ]
    graph = build(
        small(write_triples(tmp_path / "t.tsv", triples), memory=20_000), tmp_path / "g", "g"
    )
    assert same(graph, build_in_memory(triples, "g"))


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz", ".tsv.zst"])
def test_packed_files_and_line_ends(tmp_path, suffix):
    import zstandard

    data = (
        "\ufeffhead\trelation\ttail\r\n\n"
        + "".join(f"a{i}\tr\tb{i % 7}\r\n \t\n" for i in range(300))
        + "last\tr\tone"
    ).encode()
    packed = {
        ".tsv": data,
        ".tsv.gz": gzip.compress(data),
        ".tsv.zst": zstandard.compress(data[:999]) + zstandard.compress(data[999:]),
    }
    (tmp_path / f"t{suffix}").write_bytes(packed[suffix])
    graph = build(small(tmp_path / f"t{suffix}"), tmp_path / "g", "g")
    assert same(graph, build_in_memory(read_triples(tmp_path / f"t{suffix}"), "g"))
    assert graph.node_name(graph.n_nodes - 2) == "last" and graph.n_edges == 301


def test_a_cut_zstandard_file_is_reported(tmp_path):
    import zstandard

    (tmp_path / "t.tsv.zst").write_bytes(zstandard.compress(b"a\tr\tb\n" * 9999)[:-9])
    for how in (TripleFile, small):
        with pytest.raises(BadInput, match="Zstandard file is damaged or cut short"):
            build(how(tmp_path / "t.tsv.zst"), tmp_path / "g", "g")
    assert not (tmp_path / "g").exists()


@pytest.mark.parametrize("quoted", [False, True])
def test_commas_and_columns(tmp_path, quoted):
    lines = [f"{i},a{i % 50},r{i % 3},b{i % 20}" for i in range(400)]
    if quoted:
        lines[200:203] = ['7,"a, ""x""",r1,"two', 'lines"', '8,plain,r2,"c"']
    (tmp_path / "t.csv").write_text("id,head,relation,tail\n" + "\n".join(lines) + "\n")
    expected = build_in_memory(read_triples(tmp_path / "t.csv"), "g")
    graph = build(small(tmp_path / "t.csv", memory=70_000), tmp_path / "g", "g")
    assert same(graph, expected)
    assert bool(graph.nodes_named('a, "x"')) == quoted
    turned = small(tmp_path / "t.csv", columns=(4, 3, 2))
    assert same(
        build(turned, tmp_path / "t", "g"),
        build_in_memory(read_triples(tmp_path / "t.csv", columns=(4, 3, 2)), "g"),
    )


def test_a_build_continues_after_any_interruption(tmp_path):
    """The build is cancelled after three to six checks and started again, until it is complete."""
    source, triples = tmp_path / "t.tsv", random_triples(300)
    write_triples(source, triples)
    looks, phases = 0, []
    for turn in range(1000):
        left = 3 + turn % 4

        def check():
            nonlocal left, looks
            looks, left = looks + 1, left - 1
            if not left:
                raise RunCancelled()

        try:
            graph = build(
                small(source),
                tmp_path / "g",
                "g",
                watch=Watch(check, lambda text, share: phases.append(share)),
            )
            break
        except RunCancelled:
            assert (tmp_path / "g" / "unfinished").is_dir() and not (
                tmp_path / "g" / "graph.json"
            ).exists()
    assert turn > 5 and same(graph, build_in_memory(triples, "g"))
    once = []
    build(small(source), tmp_path / "h", "g", watch=Watch(lambda: once.append(1)))
    assert looks < 2.5 * len(once) + turn  # Finished work is not repeated.


def test_a_build_continues_after_a_kill(tmp_path):
    source, triples = tmp_path / "t.tsv", random_triples()
    write_triples(source, triples)
    old = build([("old", "r", "store")], tmp_path / "g", "g")
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom core.graph.building.build import build\n"
        "from core.watch import Watch\n"
        "from core.graph.readers.triple_file import TripleFile\n"
        "def told(text, share):\n    if text.startswith('Sorting triples by tail'): "
        "os.kill(os.getpid(), 9)\n"
        "build(TripleFile(Path(sys.argv[1]), memory=30_000), sys.argv[2], 'g', "
        "watch=Watch(report=told))"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, source, tmp_path / "g"], env=dict(os.environ)
    )
    assert child.returncode == -signal.SIGKILL
    assert Graph.open(tmp_path / "g").digest == old.digest
    told = []
    graph = build(
        small(source),
        tmp_path / "g",
        "g",
        watch=Watch(report=lambda text, share: told.append(text)),
    )
    assert told[0] == "Sorting triples by tail"
    assert same(graph, build_in_memory(triples, "g"))


def test_a_changed_source_starts_anew(tmp_path):
    source = write_triples(tmp_path / "t.tsv", random_triples(300))

    def stop():
        if (tmp_path / "g" / "unfinished" / "spill" / "codes-2").exists():
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        build(small(source), tmp_path / "g", "g", watch=Watch(stop))
    write_triples(source, random_triples(300, seed=5))
    assert same(
        build(small(source), tmp_path / "g", "g"), build_in_memory(random_triples(300, seed=5), "g")
    )


def test_a_kill_just_before_the_store_is_in_place(tmp_path):
    """The data have their final name, but the description does not mention them yet."""
    triples = random_triples(300)
    source = write_triples(tmp_path / "t.tsv", triples)

    def stop():
        if (tmp_path / "g" / "unfinished" / "store" / "source.json").exists():
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        build(small(source), tmp_path / "g", "g", watch=Watch(stop))
    (tmp_path / "g" / "unfinished" / "store").rename(tmp_path / "g" / "data-0123456789abcdef")
    assert same(build(small(source), tmp_path / "g", "g"), build_in_memory(triples, "g"))
    assert len(list((tmp_path / "g").iterdir())) == 2


def test_a_cancelled_build_without_keep_leaves_nothing(tmp_path):
    write_triples(tmp_path / "t.tsv", random_triples(300))
    looks = []

    def stop():
        looks.append(1)
        if len(looks) == 9:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        build(small(tmp_path / "t.tsv", keep=False), tmp_path / "g", "g", watch=Watch(stop))
    assert not (tmp_path / "g").exists()


BAD_LINES = [
    "a\tr\tb",
    "two\tcolumns",
    "",
    "a\t\tb",
    "c\tr\td",
    "   ",
    "\tr\tx",
    "e\tr\tf\tg",
    "\u00a0\tr\tx",
]


def test_bad_lines_are_errors_or_counted(tmp_path):
    (tmp_path / "t.tsv").write_bytes(
        "\n".join(BAD_LINES).encode() + b"\nx\tr\t\xff\nlast\tr\tone\n"
    )
    with pytest.raises(BadInput, match=r"t.tsv, line 2: found 2 columns, expected 3"):
        build(small(tmp_path / "t.tsv"), tmp_path / "g", "g")
    assert not (tmp_path / "g").exists()
    source = small(tmp_path / "t.tsv", skips=True, format="tab")
    graph = build(source, tmp_path / "g", "g")
    assert graph.names(range(graph.n_nodes)) == ["a", "b", "c", "d", "last", "one"]
    assert source.tally.bad_lines == {
        "not UTF-8": [1, [10]],
        "wrong number of columns": [2, [2, 8]],
        "an empty name": [3, [4, 7, 9]],
    }
    assert "2 lines left out, wrong number of columns: lines 2, 8" in source.tally.sentences()


def test_only_the_first_bad_lines_are_named(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tr\tb\n" + "bad\n" * 900)
    source = small(tmp_path / "t.tsv", skips=True)
    build(source, tmp_path / "g", "g")
    assert source.tally.sentences() == [
        "900 lines left out, wrong number of columns: lines 2, 3, 4, 5, 6 …"
    ]


@pytest.mark.parametrize("how", [TripleFile, small])
def test_relations_are_left_out_by_pattern(tmp_path, how):
    kinds = [
        "people.person.born",
        "common.topic.alias",
        "owl.sameAs",
        "type.object.type",
        "type.object.type_of",
        "commons.x",
    ]
    triples = [(f"{kind} {i}", kind, f"t{i % 9}") for i in range(40) for kind in kinds]
    source = how(
        write_triples(tmp_path / "t.tsv", triples),
        drop=("common.*", "*sameAs*", "type.object.type"),
    )
    graph = build(source, tmp_path / "g", "g")
    kept = [
        triple
        for triple in triples
        if triple[1] in ("people.person.born", "type.object.type_of", "commons.x")
    ]
    assert same(graph, build_in_memory(kept, "g"))
    assert source.tally.dropped == {"common.*": 40, "*sameAs*": 40, "type.object.type": 40}


NTRIPLES_LINES = [
    "<http://a.org/x/Paris> <http://a.org/r#in> <http://a.org/France> .",
    '<http://b.org/Paris> <http://b.org/in> "Paris" . # the town',
    '<http://a.org/x/Paris> <http://a.org/label> "Paris"@fr .',
    '_:b0 <http://a.org/label> "a \\"quoted\\" word\\n" .',
    "",
    "# nothing",
    '_:b1.x <http://a.org/label> "caf\u00e9"@FR .',
    (
        "<http://a.org/Caf%C3%A9> <http://a.org/label> "
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer> .'
    ),
    '<http://a.org/x> <urn:p> "x"^^<http://www.w3.org/2001/XMLSchema#string> .',
    '<http://a.org/x><urn:p>"x".',
    '<http://a.org/\\u00e9> <http://www.w3.org/2002/07/owl#sameAs> "Paris (http://b.org/Paris)" .',
    "<http://a.org/> <urn:p> <urn:x:end> .",
    '<http://a.org/x#> <urn:p> "  " .',
    '<http://c.org/x> <urn:p> "x (text)" .',
]


@pytest.mark.parametrize("count", [1, 40])
def test_ntriples(tmp_path, count):
    lines = NTRIPLES_LINES + [
        f"<http://{chr(97 + i % 5)}.org/{i % 23}> <http://a.org/r{i % 4}> <http://z.org/{i}> ."
        for i in range(count)
    ]
    (tmp_path / "t.nt").write_text("\r\n".join(lines))
    expected = build_in_memory(read_triples(tmp_path / "t.nt"), "g")
    assert same(build(small(tmp_path / "t.nt"), tmp_path / "g", "g"), expected)
    source = small(tmp_path / "t.nt", drop=("*sameAs*",))
    assert build(
        source, tmp_path / "h", "g"
    ).n_edges == expected.n_edges - 1 and source.tally.dropped == {"*sameAs*": 1}


def test_lines_that_are_not_ntriples(tmp_path):
    (tmp_path / "t.nt").write_bytes(
        b'<a:a> <a:b> <a:c> .\nwhat\n<a:a> <a:b> "\xff" .\n<a:a> <a:b> <a:d> .\n'
    )
    with pytest.raises(BadInput, match="t.nt, line 2: not N-Triples"):
        build(small(tmp_path / "t.nt"), tmp_path / "g", "g")
    source = small(tmp_path / "t.nt", skips=True)
    assert build(source, tmp_path / "g", "g").n_edges == 2 and source.tally.bad_lines == {
        "not N-Triples": [2, [2, 3]]
    }


def test_numbers_keep_their_ids(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, (50, 4, 70), (600, 3))
    (tmp_path / "t.tsv").write_text("".join(f"{h}\t{r}\t{t}\n" for h, r, t in rows) + "7\t0\t99\n")
    graph = build(small(tmp_path / "t.tsv", numbered=True), tmp_path / "g", "g")
    assert (
        graph.n_nodes == 100
        and graph.numbered
        and graph.node_name(99) == "99"
        and graph.nodes_named("99") == (99,)
    )
    edges = sorted({tuple(map(int, row)) for row in rows} | {(7, 0, 99)})
    assert list(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist())) == edges
    assert graph.relation_names == tuple(str(i) for i in range(max(row[1] for row in edges) + 1))
    by_tail = sorted(range(len(edges)), key=lambda e: (edges[e][2], e))
    assert graph.in_edges.tolist() == by_tail and graph.in_heads.tolist() == [
        edges[e][0] for e in by_tail
    ]

    def columns(first):
        every = np.vstack([rows, [[7, 0, 99]]]).astype(np.int32)
        for start in range(first, len(every), 37):
            yield tuple(every[start : start + 37].T)

    computed = build(NumberSource(("test",), 601, columns, memory_bytes=9_000), tmp_path / "h", "g")
    assert same(computed, graph)


@pytest.mark.parametrize("text", ["x", "-1", "1.0", "007", str(2**31 - 1), "1e3", "٣"])
def test_wrong_numbers_are_reported(tmp_path, text):
    (tmp_path / "t.tsv").write_text(f"0\t0\t1\n{text}\t0\t2\n")
    with pytest.raises(BadInput, match=f"line 2: “{text}” is no whole number"):
        build(small(tmp_path / "t.tsv", numbered=True), tmp_path / "g", "g")
    source = small(tmp_path / "t.tsv", numbered=True, skips=True)
    assert build(source, tmp_path / "g", "g").n_edges == 1 and source.tally.bad_lines == {
        "not a number": [1, [2]]
    }


def test_too_many_relations_and_no_triples_are_reported(tmp_path):
    (tmp_path / "t.tsv").write_text("0\t99999999\t1\n")
    with pytest.raises(BadInput, match="100,000,000 relations"):
        build(small(tmp_path / "t.tsv", numbered=True), tmp_path / "g", "g")
    (tmp_path / "t.tsv").write_text("a\tr\tb\n")
    with pytest.raises(BadInput, match="no triples"):
        build(small(tmp_path / "t.tsv", drop=("r",)), tmp_path / "g", "g")


def test_the_command_reports_skipped_lines(tmp_path, capsys):
    from core.cli import EXIT_OK, main

    write_triples(
        tmp_path / "t.tsv",
        [("a", "people.x", "b"), ("only one",), ("c", "common.y", "d"), ("e", "z.sameAs", "f")],
    )
    options = ["--memory", "64MiB", "--skip-bad", "--drop-relations", "common.*, *sameAs*"]
    assert (
        main(["build", str(tmp_path / "t.tsv"), "--out", str(tmp_path / "g"), *options]) == EXIT_OK
    )
    assert capsys.readouterr().out.splitlines() == [
        f"2 entities, 1 triples, 1 relations in {tmp_path / 'g'}",
        "1 line left out, wrong number of columns: line 2",
        "1 triple left out, relation common.*",
        "1 triple left out, relation *sameAs*",
    ]
    (tmp_path / "n.tsv").write_text("0\t0\t5\n")
    assert (
        main(["build", str(tmp_path / "n.tsv"), "--out", str(tmp_path / "n"), "--integers"])
        == EXIT_OK
    )
    assert capsys.readouterr().out == f"6 entities, 1 triples, 1 relations in {tmp_path / 'n'}\n"


@pytest.mark.parametrize(
    "text, size",
    [("2GiB", 2 << 30), ("800 MB", 800 << 20), ("0.5g", 1 << 29), ("100000000", 100_000_000)],
)
def test_memory_sizes_are_parsed_from_text(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "much", "1MB", "-2GiB"])
def test_impossible_memory_sizes_are_refused(text):
    with pytest.raises(BadInput):
        parse_memory(text)


def test_white_space_is_defined_as_in_python():
    from core.graph.readers.text_loops import is_blank

    for code in (*range(0x3100), 0xFEFF, 0x1F3AC):
        letter = np.frombuffer(chr(code).encode("utf-8", "surrogatepass"), np.uint8)
        assert is_blank(letter, 0, len(letter)) == chr(code).isspace(), hex(code)


def test_names_in_order_of_their_bytes():
    from core.graph.bytes.byte_order import sorted_pieces

    rng = random.Random(3)
    names = [
        "",
        "a",
        "a\0",
        "a\0\0",
        "abcdefg",
        "abcdefgh",
        "abcdefg\0",
        *("".join(rng.choices("ab\0é", k=rng.randrange(40))) for _ in range(900)),
    ]
    names += ["same"] * 40 + ["a long beginning that all share, " + str(i % 60) for i in range(200)]
    encoded = [name.encode() for name in names]
    offsets = np.cumsum([0, *map(len, encoded)])
    for memory in (1 << 30, 9_000):
        pieces = [
            ids
            for _, ids in sorted_pieces(np.frombuffer(b"".join(encoded), np.uint8), offsets, memory)
        ]
        assert (len(pieces) > 1) == (memory == 9_000)
        assert np.concatenate(pieces).tolist() == sorted(
            range(len(names)), key=lambda i: (encoded[i], i)
        )


def test_a_tally_is_the_same_after_json():
    tally = Tally(True)
    assert tally.skip("why", 3) and not Tally().skip("why", 3)
    again = Tally(True)
    again.restore(tally.state())
    assert again == tally
