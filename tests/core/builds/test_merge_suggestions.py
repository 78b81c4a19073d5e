"""Suggested merges of entities with fixed names, and merges that are saved with a corpus.

Saved merges are applied to each new graph.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.builds import run_build
from core.builds.merge_suggestions import suggest_by_spelling, suggest_by_vectors
from core.comparison.lane_run import open_lane_graph
from core.corpus import Document, write_corpus
from core.corpus.entity_merges import MERGES_FILE, EntityMerges, change_merges, read_merges
from core.engine import Engine
from core.errors import BadInput, StoreError
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.graph.edits import Edit, unmatched_edits
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import CorpusSource
from core.types import Question
from tests.films import Bag, Written


def graph_of_entities(*entities):
    """Build a graph of entities, each with its number of chunks, at most four."""
    names, sizes = [name for name, _ in entities], [size for _, size in entities]
    chunks = Table.from_columns(
        id=["a", "b", "c", "d"], document=["a", "b", "c", "d"], text=[""] * 4
    )
    edges = [(names[0], "knows", name) for name in names[1:]]
    return assemble(
        "g",
        names,
        edges,
        {"chunks": [list(range(size)) for size in sizes]},
        {"chunks": [[0]] * len(edges)},
        chunks,
    )


def suggested_merges(found):
    return [(one.edit.names, one.reason) for one in found]


@pytest.mark.parametrize(
    ("name", "other", "reason"),
    [
        ("Scrooge", "scrooge", "case"),
        ("Zoë Noël", "Zoe Noel", "accents"),
        ("Scrooge’s", "Scrooges", "apostrophes and punctuation"),
        ("Spider-Man", "Spider Man", "apostrophes and punctuation"),
        ("Stone\u2011Hill", "Stone–Hill", "apostrophes and punctuation"),
        ("ＨＡＬＥ", "Hale", "apostrophes and punctuation"),
        ("spirit", "Spirits", "plural"),
        ("Scrooge's house", "Scrooge houses", "plural"),
        ("city", "cities", "plural"),
    ],
)
def test_names_that_differ_only_in_spelling_are_suggested(name, other, reason):
    assert suggested_merges(
        suggest_by_spelling(graph_of_entities((name, 3), (other, 1), ("Marley", 2)), EntityMerges())
    ) == [((other, name), reason)]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("1843", "1844"),
        ("Ann", "Anne"),
        ("glass", "gla"),
        ("bus", "bu"),
        ("C", "C++ programs"),
        ("?", "!"),
        ("10⁶", "106"),
        ("x²", "x2"),
    ],
)
def test_different_names_are_not_suggested(name, other):
    assert suggest_by_spelling(graph_of_entities((name, 3), (other, 1)), EntityMerges()) == []


def test_the_name_with_most_passages_stays_and_refused_pairs_are_left_out():
    known = graph_of_entities(("spirits", 1), ("Spirit", 4), ("spirit", 2))
    assert [one.edit.names for one in suggest_by_spelling(known, EntityMerges())] == [
        ("spirit", "Spirit"),
        ("spirits", "Spirit"),
    ]
    assert [
        one.edit.names
        for one in suggest_by_spelling(known, EntityMerges().with_refusals([("Spirit", "spirit")]))
    ] == [("spirits", "Spirit")]
    assert [one.passages for one in suggest_by_spelling(known, EntityMerges())] == [(2, 4), (1, 4)]


def test_similar_vectors_with_other_numbers_are_not_suggested():
    """Vectors count words.

    Two of three words in common give a cosine of 2/3, and all words in another order give 1.
    """
    known = graph_of_entities(
        ("Tiny Tim Cratchit", 3),
        ("Cratchit Tim Tiny", 1),
        ("stave 1", 1),
        ("1 stave", 1),
        ("stave 2", 1),
    )
    found = suggest_by_vectors(known, EntityMerges(), Bag(), min_cosine=0.6)
    assert [(one.edit.names, one.cosine) for one in found] == [
        (("Cratchit Tim Tiny", "Tiny Tim Cratchit"), 1.0),
        (("stave 1", "1 stave"), 1.0),
    ]
    assert suggest_by_vectors(graph_of_entities(("Ann", 1)), EntityMerges(), Bag()) == []


def test_a_graph_of_passages_or_summaries_has_no_entities():
    chunks = Table.from_columns(id=["a"], document=["a"], text=[""])
    tree = assemble(
        "t", ["a", "A"], [], {"chunks": [[0], [0]], "level": np.array([0, 1])}, {}, chunks
    )
    assert (
        suggest_by_spelling(tree, EntityMerges()) == []
        and suggest_by_vectors(tree, EntityMerges(), Bag()) == []
    )


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return write_corpus(
        tmp_path / "corpus",
        [
            Document("a", "Old Scrooge met Tiny Tim in London.", "A"),
            Document("b", "Tim's father is Bob.", "B"),
        ],
    )


def test_merges_are_saved_removed_and_kept_after_changes(corpus):
    one, other = Edit("merge", ("Tim", "Tiny Tim")), Edit("merge", ("Old Scrooge", "Scrooge"))
    assert read_merges(corpus) == EntityMerges() and EntityMerges().digest == ""
    change_merges(
        corpus, lambda mends: mends.with_merges([one, other, one]).with_refusals([("Bob", "Ann")])
    )
    corpus = corpus.add([Document("c", "A third.", "C")])
    assert (
        read_merges(corpus) == EntityMerges((one, other), (("Ann", "Bob"),))
        and read_merges(corpus).digest
    )
    assert change_merges(corpus, lambda mends: mends.without_merges([one])).edits == (other,)


def test_a_damaged_file_of_merges_is_reported(corpus):
    (corpus.folder / MERGES_FILE).write_text('{"edits": [["merge"]], "refused": []}', "utf-8")
    with pytest.raises(StoreError, match="remove that file"):
        read_merges(corpus)


def test_too_many_merges_are_refused():
    with pytest.raises(BadInput, match="At most 5,000"):
        EntityMerges().with_merges(Edit("merge", (str(i), "a")) for i in range(5_001))


def test_the_last_decision_on_two_names_counts():
    one, other = Edit("merge", ("Hood", "Amy Hood")), Edit("merge", ("EHA", "Agency"))
    merged = EntityMerges().with_merges([one, other])
    refused = merged.with_refusals([("Amy Hood", "Hood")])
    assert (refused.edits, refused.refused) == ((other,), (("Amy Hood", "Hood"),))
    assert refused.with_merges([one]) == EntityMerges((other, one), ())


def test_methods_use_the_merged_graph_by_default_also_after_a_rebuild(corpus):
    engine = Engine(Written(encoder=Bag()))
    line = "NounPhrases() >> Merge()"
    spec = f"SentenceChunks() >> {line}"
    run_build(corpus, spec, engine.models)
    plain = engine.environment.open_build(corpus, spec)
    name, into = plain.names(range(2))
    lines = [
        parse_line(f"BuiltGraph(build={spec!r}{more}) >> SparseChunks()")
        for more in ("", ", mended=False")
    ]
    opened = lambda one: [
        open_lane_graph(made, CorpusSource.of(one), engine.environment) for made in lines
    ]
    ask = engine.prepare_question(CorpusSource.of(corpus), Question("who"), model=False)
    before = engine.key(ask, [Method("a", "A", lines[0])])
    change_merges(
        corpus,
        lambda mends: mends.with_merges(
            [Edit("merge", (name, into)), Edit("merge", ("Nobody", into))]
        ),
    )
    mended, bare = opened(corpus)
    assert (mended.n_nodes, bare.n_nodes) == (
        plain.n_nodes - 1,
        plain.n_nodes,
    ) and name not in mended.names(range(mended.n_nodes))
    assert unmatched_edits(plain, read_merges(corpus).edits) == (Edit("merge", ("Nobody", into)),)
    # Lanes that ran before the merges are not reused now.
    assert engine.key(ask, [Method("a", "A", lines[0])]) != before
    larger = corpus.add([Document("c", "A third text on Paris.", "C")])
    run_build(larger, spec, engine.models)
    mended, bare = opened(larger)
    assert mended.n_nodes == bare.n_nodes - 1 and name not in mended.names(range(mended.n_nodes))
    engine.jobs.stop()


def test_lanes_from_before_a_merge_are_not_reused(corpus):
    engine = Engine(Written(encoder=Bag()))
    one = Method("a", "A", parse_line("BuiltGraph() >> SparseChunks(keep=1)"))
    ask = lambda: engine.prepare_question(CorpusSource.of(corpus), Question("who"), model=False)
    first = engine.compare(ask(), [one])
    assert first.wait(60)
    again = engine.compare(ask(), [one], rerun=True, earlier=first.comparison)
    assert again.wait(60) and again.comparison.lanes[0].is_from_earlier
    change_merges(corpus, lambda mends: mends.with_merges([Edit("merge", ("Tim", "Tiny Tim"))]))
    after = engine.compare(ask(), [one], rerun=True, earlier=first.comparison)
    assert after.wait(60) and not after.comparison.lanes[0].is_from_earlier
    engine.jobs.stop()
