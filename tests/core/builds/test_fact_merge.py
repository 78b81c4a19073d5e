"""Facts merged into graphs of at most five nodes, by hand."""

from __future__ import annotations

import tempfile
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from core.builds.base import BuildContext, BuildState
from core.builds.fact_collections import NumberColumns, _fill, _pack
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.builds.merge import passages
from core.builds.merge.fact_merge import Merge, Merged
from core.builds.merge.passages import PassageGraph
from core.errors import StoreError
from core.graph import columns as graph_columns
from core.graph.columns import Table, concat_texts
from core.models.base import NoModels
from tests.core.builds.kit import Texts
from tests.core.builds.test_language_model import ChatModels

FACTS = (
    Facts(
        (
            ChunkEntity("Ann", "person", "Ann is a cook."),
            ChunkEntity("Rome", "place", "Rome is old."),
            ChunkEntity("Bob", "person"),
        ),
        (
            ChunkRelation("Ann", "Rome", "lives in", "Ann lives in Rome.", "home", 2.0),
            ChunkRelation("Bob", "Ann", "knows"),
        ),
    ),
    Facts(
        (
            ChunkEntity("ANN", "cook", "Ann cooks."),
            ChunkEntity(" ann", "person"),
            ChunkEntity("ANN", "person"),
        ),
        (
            ChunkRelation("Rome", "ANN", "lives in", "She lives there.", "home, city"),
            ChunkRelation("ann", "Rome", "likes"),
            ChunkRelation("Ann", "ANN"),
        ),
    ),
    Facts((), (ChunkRelation("Rome", "Italy", "in", weight=3.0),)),
)


def merged_graph(tmp_path, facts=FACTS, operator=None, ctx=None):
    n = len(facts)
    chunks = Table.from_columns(
        id=[f"c{i}" for i in range(n)], document=["d"] * n, text=[f"text {i}" for i in range(n)]
    )
    return (
        (operator or Merge())
        .apply(BuildState(Texts(tmp_path), chunks, facts), ctx or BuildContext(NoModels()))
        .graph
    )


def node_columns(graph):
    table = graph.columns.nodes
    rows = zip(
        graph.names(range(graph.n_nodes)),
        table.texts("type"),
        table.texts("description"),
        table.id_lists("chunks").to_lists(),
    )
    return {name: rest for name, *rest in rows}


def edge_columns(graph):
    table = graph.columns.edges
    rows = zip(
        table.texts("description"),
        table.texts("keywords"),
        table.numbers("weight").tolist(),
        table.id_lists("chunks").to_lists(),
    )
    return {text: list(row) for text, row in zip(graph.triple_texts(range(graph.n_edges)), rows)}


def test_nodes_of_one_name_are_one(tmp_path):
    # Ann is spelt “Ann” once, “ANN” twice and “ann” once. Ends of relations do not count in a chunk
    # that names her.
    assert node_columns(merged_graph(tmp_path)) == {
        "ANN": ["person", "Ann is a cook. Ann cooks.", [0, 1]],
        "Bob": ["person", "", [0]],
        "Italy": ["", "", [2]],
        "Rome": ["place", "Rome is old.", [0, 1, 2]],
    }


def test_edges_of_one_pair_are_one_with_the_sum_of_weights(tmp_path):
    # Ann and Rome: 2 + 1 + 1, given as Ann -> Rome twice and once in the other direction. A
    # relation of Ann with herself is dropped.
    assert edge_columns(merged_graph(tmp_path)) == {
        "ANN -> related to -> Rome": [
            "Ann lives in Rome. She lives there.",
            "home, city",
            4.0,
            [0, 1],
        ],
        "Bob -> related to -> ANN": ["", "", 1.0, [0]],
        "Rome -> related to -> Italy": ["", "", 3.0, [2]],
    }


def test_edges_by_name_keep_relations_apart(tmp_path):
    found = edge_columns(merged_graph(tmp_path, operator=Merge(by="name", descriptions=False)))
    assert {name: (row[0], row[2]) for name, row in found.items()} == {
        "ANN -> lives in -> Rome": ("", 3.0),
        "ANN -> likes -> Rome": ("", 1.0),
        "Bob -> knows -> ANN": ("", 1.0),
        "Rome -> in -> Italy": ("", 3.0),
    }


def test_the_rule_of_the_published_code_keeps_only_a_to_z(tmp_path):
    facts = (
        Facts(
            (
                ChunkEntity("José-Díaz"),
                ChunkEntity("jos d az"),
                ChunkEntity("安"),
                ChunkEntity("José Díaz"),
            )
        ),
    )
    assert set(node_columns(merged_graph(tmp_path, facts, Merge(reading="code")))) == {"José Díaz"}
    assert set(node_columns(merged_graph(tmp_path, facts))) == {
        "José-Díaz",
        "jos d az",
        "安",
        "José Díaz",
    }


def test_long_descriptions_are_cut_after_the_last_that_fits(tmp_path):
    ctx = BuildContext(NoModels())
    # Each sentence has 18 bytes, 6 tokens.
    facts = tuple(Facts((ChunkEntity("Ann", "", f"Sentence number {i}."),)) for i in range(9))
    graph = merged_graph(tmp_path, facts, Merge(longest=13), ctx)
    assert node_columns(graph)["Ann"][1] == "Sentence number 0. Sentence number 1."
    assert ctx.report.counts["cut"] == 1 and "longer than 13 tokens" in ctx.report.notes[0]


def test_long_descriptions_are_summarised_on_request(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    models = ChatModels(lambda *_: "Ann in short.")
    facts = tuple(
        Facts(
            (ChunkEntity("Ann", "", f"Sentence {{text}} {i}."), ChunkEntity(f"n{i}", "", "Short."))
        )
        for i in range(9)
    )
    graph = merged_graph(tmp_path, facts, Merge(longest=13, summarise=True), BuildContext(models))
    assert (
        node_columns(graph)["Ann"][1] == "Ann in short."
        and node_columns(graph)["n0"][1] == "Short."
    )
    (asked,) = models.writer.asked
    assert asked.startswith("Name: Ann\n") and "Sentence {text} 8." in asked


def test_a_description_with_an_empty_summary_is_cut_instead(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    # Each sentence has 18 bytes, 6 tokens.
    facts = tuple(Facts((ChunkEntity("Ann", "", f"Sentence number {i}."),)) for i in range(9))
    graph = merged_graph(
        tmp_path, facts, Merge(longest=13, summarise=True), BuildContext(ChatModels(lambda *_: " "))
    )
    assert node_columns(graph)["Ann"][1] == "Sentence number 0. Sentence number 1."


def test_text_is_kept_as_it_is(tmp_path):
    facts = (
        Facts(
            (ChunkEntity("<script>", "{x}", "{question} & <b>"), ChunkEntity("{braces}")),
            (ChunkRelation("<script>", "{braces}"),),
        ),
    )
    graph = merged_graph(tmp_path, facts)
    assert node_columns(graph)["<script>"] == ["{x}", "{question} & <b>", [0]]
    assert list(edge_columns(graph)) == ["<script> -> related to -> {braces}"]


def test_no_facts_give_a_graph_of_chunks_alone(tmp_path):
    graph = merged_graph(tmp_path, (Facts(), Facts()))
    assert (graph.n_nodes, graph.n_edges, len(graph.columns.chunks)) == (0, 0, 2)


SHARING = tuple(
    Facts(tuple(map(ChunkEntity, names)))
    for names in (["a", "b", "x"], ["A", "b", "x"], ["b", "x"], ["c", "x"], ["c", "x", "x"])
)


@pytest.mark.parametrize(
    "operator, expected",
    [
        (
            PassageGraph(common=4),
            {("c0", "c1"): 2, ("c0", "c2"): 1, ("c1", "c2"): 1, ("c3", "c4"): 1},
        ),
        (PassageGraph(common=4, min_shared=2), {("c0", "c1"): 2}),
        (
            PassageGraph(common=5, min_shared=2),
            {("c0", "c1"): 3, ("c0", "c2"): 2, ("c1", "c2"): 2, ("c3", "c4"): 2},
        ),
    ],
)
def test_passages_are_joined_by_the_entities_that_they_share(operator, expected, tmp_path):
    ctx = BuildContext(NoModels())
    graph = merged_graph(tmp_path, SHARING, operator, ctx)
    heads, _, tails = graph.triples(range(graph.n_edges))
    weights = graph.columns.edges.numbers("weight").tolist()
    assert {
        tuple(graph.names(pair)): weight for *pair, weight in zip(heads, tails, weights)
    } == expected
    assert graph.names(range(5)) == graph.columns.chunks.texts(
        "id"
    ) and graph.columns.nodes.id_lists("chunks").to_lists() == [[i] for i in range(5)]
    assert any("join none: x" in note for note in ctx.report.notes) == (operator.common == 4)


def test_passages_are_joined_block_after_block_as_pair_after_pair(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    facts = [
        Facts(
            tuple(
                ChunkEntity(f"{'eE'[rng.integers(2)]}{rng.zipf(1.5) % 30}")
                for _ in range(rng.integers(0, 14))
            )
        )
        for _ in range(40)
    ]
    rows = {}
    for row, one in enumerate(facts):
        for entity in one.entities:
            rows.setdefault(entity.name.lower(), set()).add(row)
    shared = {}
    for key in sorted(key for key, found in rows.items() if len(found) <= 9):
        for pair in combinations(sorted(rows[key]), 2):
            shared.setdefault(pair, []).append(key)
    expected = {(f"c{a}", f"c{b}"): keys for (a, b), keys in shared.items() if len(keys) >= 2}
    digests = set()
    for looked_at in (1, 7, 10**6):
        monkeypatch.setattr(passages, "COMPARE_BATCH_ROWS", looked_at)
        graph = merged_graph(tmp_path, facts, PassageGraph(common=9, min_shared=2))
        ends, edges = (
            [graph.names(one) for one in graph.triples(range(graph.n_edges))[::2]],
            graph.columns.edges,
        )
        names = [text.lower().split(", ") for text in edges.texts("description")]
        assert dict(zip(zip(*ends), names)) == expected and len(expected) > 10
        assert edges.numbers("weight").tolist() == [len(one) for one in names]
        assert [[f"c{row}" for row in both] for both in edges.id_lists("chunks").to_lists()] == [
            list(pair) for pair in zip(*ends)
        ]
        digests.add(graph.digest)
    assert len(digests) == 1  # Ids are not in the order of rows: c10 comes before c2.


def test_facts_merged_in_blocks_equal_facts_merged_at_once(tmp_path):
    """Facts merged in blocks equal facts merged one by one.

    Later blocks are included in earlier ones, either directly or in their saved form.
    """
    facts = (
        *FACTS,
        *SHARING,
        Facts(
            (ChunkEntity("\u2028 ä", "", "Two lines."),),
            (
                ChunkRelation("Rome", "a", "in", "Of both.", "city, x", 0.1),
                ChunkRelation("x", "Rome", "IN", weight=0.2),
            ),
        ),
    )
    table = Table.from_columns(id=[f"c{i}" for i in range(len(facts))], text=[""] * len(facts))
    for fresh in (
        lambda: Merged(True, "unicode"),
        lambda: Merged(False, "unicode", False, False),
        lambda: passages.Mentions("unicode"),
    ):
        found = []
        # Blocks as objects, and blocks in their saved form.
        for size, packed in product((1, 4, 100), (False, True)):
            whole = fresh()
            for first in range(0, len(facts), size):
                block, rows = fresh(), np.arange(first, min(first + size, len(facts)))
                for row in rows.tolist():
                    block.add(row - first if packed else row, facts[row])
                if packed:
                    whole.include(_fill(fresh(), _pack(block)), rows)
                else:
                    whole.include(block)
            found.append(whole)
        one, *others = [
            [list(v) if isinstance(v, dict) else v for v in columns(whole)] for whole in found
        ]
        assert all(other == one for other in others)
        if isinstance(found[0], Merged):
            shorten = lambda many: ["short"] * len(many)
            assert len({whole.graph("g", table, 3, shorten).digest for whole in found}) == 1


def columns(whole):
    """Texts and numbers of the merged facts, as lists."""
    for value in vars(whole).values():
        yield (
            [column.tolist() for column in value.arrays()]
            if isinstance(value, NumberColumns)
            else value
        )


def test_an_entity_in_every_chunk_joins_no_passages(tmp_path):
    ctx = BuildContext(NoModels())
    facts = tuple(
        Facts((ChunkEntity("everywhere"),), (ChunkRelation("everywhere", f"n{i}"),))
        for i in range(3000)
    )
    assert merged_graph(tmp_path, facts, PassageGraph(), ctx).n_edges == 0
    assert merged_graph(tmp_path, facts).n_edges == 3000


def test_texts_that_fill_memory_are_joined_in_a_temporary_file(monkeypatch):
    blocks = [["ä", "", "of two"], [], ["x" * 50], [""], ["the end"]]
    arrow = [pa.array(block, pa.large_string()) for block in blocks]
    # A slice of a longer array.
    sliced = pa.array(["left out", "ä", "", "of two"], pa.large_string())[1:]
    held = concat_texts(arrow)
    monkeypatch.setattr(graph_columns, "MAX_HELD_TEXT_BYTES", 10)
    for given in (arrow, [sliced, *arrow[1:]]):
        found = concat_texts(given)
        assert found.equals(held) and found.to_pylist() == [
            text for block in blocks for text in block
        ]
    assert found.cast("large_binary").to_pylist()[0] == "ä".encode()


def test_texts_in_a_temporary_file_stay_readable_after_memory_is_freed(monkeypatch):
    monkeypatch.setattr(graph_columns, "MAX_HELD_TEXT_BYTES", 10)
    column = concat_texts([pa.array(["x" * 100_000, "ä", "the end"], pa.large_string())])
    held, table = (
        len(graph_columns.TEXT_MAPS),
        Table.from_columns(description=column, weight=[1.0, 2.0, 3.0]),
    )
    before = table.texts("description")
    table.free_memory()
    assert table.texts("description") == before and table.numbers("weight").tolist() == [
        1.0,
        2.0,
        3.0,
    ]
    assert table.digest == Table.from_columns(description=before, weight=[1.0, 2.0, 3.0]).digest
    del column, table
    assert len(graph_columns.TEXT_MAPS) == held - 1  # The file is deleted together with the texts.


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(),
    reason="says how much memory is mapped on Linux alone",
)
def test_a_digest_of_texts_in_a_temporary_file_frees_their_memory(monkeypatch):
    monkeypatch.setattr(graph_columns, "MAX_HELD_TEXT_BYTES", 10)
    table = Table.from_columns(
        description=concat_texts(pa.array(["x" * 1000] * 4000, pa.large_string()) for _ in range(4))
    )
    assert table.texts("description")[-1] == "x" * 1000
    looked_at = resident()
    assert table.digest
    assert looked_at - resident() > 15_000  # In kB: 16 MB were in memory before.


def resident() -> int:
    """Kilobytes of files that the process has in memory."""
    return int(
        next(
            line
            for line in Path("/proc/self/status").read_text().splitlines()
            if line.startswith("RssFile")
        ).split()[1]
    )


def test_a_full_disk_is_reported(monkeypatch):
    class FullDiskFile(tempfile.SpooledTemporaryFile):
        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", FullDiskFile)
    with pytest.raises(StoreError, match="No space left on device"):
        concat_texts([pa.array(["a"], pa.large_string())])
