"""A row says in sentences the models that it needs and those that are missing.

Every published row says what it stands for.
"""

from core.methods.catalogue import catalogue
from core.methods.model_needs import missing_models, needed_models
from core.operators import Answer, BeamSearch, PersonalizedPageRank, ThinkOnGraph
from core.operators.text import parse_line
from tests.real_models import registry

# the systems of LEGO-GraphRAG v1's Table 1
EXISTING = {"tog", "rog", "kelp", "gsr", "gcr", "structgpt", "kb-binder", "dog"}


def test_models_come_in_the_order_of_the_line_without_words_that_are_none():
    line = (
        PersonalizedPageRank()
        >> BeamSearch(model="prefilter(bm25, choose, 8)", rank="encoder")
        >> Answer()
    )
    assert needed_models(line) == ("bm25", "choose", "encoder", "answer")
    assert needed_models(
        PersonalizedPageRank() >> BeamSearch(model="bm25", rank="steps") >> Answer()
    ) == (
        "bm25",
        "answer",
    )
    assert needed_models(ThinkOnGraph() >> Answer()) == ("choose", "answer")


def test_models_of_a_union_within_a_loop_are_needed():
    first = "SparseNodes() >> RankHits(of='nodes', model='choose')"
    loop = f"Loop(body=Union(first={first}, second=SparseNodes()) >> ExpandNodes())"
    line = parse_line(f"EmbedQuery(encoder='splade') >> SparseNodes() >> {loop}")
    assert needed_models(line) == ("splade", "choose", "encoder")


def test_what_is_missing_is_told_once_in_a_sentence():
    gsr = missing_models(catalogue()["gsr"].line, registry(), answering=False)
    assert len(gsr) == 1 and gsr[0].startswith(
        "gsr-t5 is not on this computer: no weights of it come with Hopscope; declare"
    )
    assert (
        missing_models(
            parse_line("PersonalizedPageRank() >> ShortestPaths() >> Rank(model='bm25')"),
            registry(),
        )
        == ()
    )
    (unknown,) = missing_models(
        parse_line("PersonalizedPageRank() >> ShortestPaths() >> Rank(model='bm52')"), registry()
    )
    assert "no declared model" in unknown and "bm25" in unknown
    assert missing_models(catalogue()["lego-1"].line, registry(), answering=False) == ()


def test_the_systems_of_table_1_are_all_there_and_say_what_they_are():
    known = catalogue()
    assert known.keys() >= EXISTING
    for key, method in known.items():
        if method.group == "Existing systems":
            assert method.base in ("", *EXISTING) and "Table 1" in method.paper and method.notes, (
                key
            )
    for key in ("structgpt", "kb-binder", "dog"):
        assert "approximat" in known[key].short and "missing" in known[key].notes
    for key in ("rog", "gcr", "kelp-plain"):
        assert "untrained" in known[key].short
