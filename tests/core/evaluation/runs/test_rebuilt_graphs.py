"""Graphs that are built again for repeats: which, with what seeds, and on which a repeat runs."""

from dataclasses import replace
from operator import attrgetter
from types import SimpleNamespace

import pytest

from core.builds import build_status, find_build, own_builds
from core.builds.base import SampledOperator
from core.comparison import built_graphs
from core.corpus import Document, open_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.errors import BadInput
from core.evaluation.exchange.claim_checks import DIFFERS, EQUAL, verify_claim
from core.evaluation.exchange.claims import write_claim
from core.evaluation.runs import rebuilt_graphs
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.rebuilt_graphs import build_again, chance_of_build
from core.evaluation.runs.repeats import repeat_plan, with_repeats
from core.evaluation.runs.saved_runs import load_plan
from core.models.price import parse_cap
from core.runtime.jobs import JOB_DONE
from core.sources import CorpusSource
from core.types import Question
from core.watch import NO_WATCH
from tests.core.evaluation.runs.test_repeats import LOCAL, served

# As many documents as give the tree a layer of two summaries, by balanced k-means of 10.
TREE_DOCUMENTS = [
    Document(f"d{number:02}", f"word{number} word{number % 7} word{number % 5} common.", "")
    for number in range(21)
]
TREE_BUILD = "WholeDocuments() >> Tree(clusters='k-means', summaries='extractive')"
ON_TREE = (
    f'BuiltGraph(build="{TREE_BUILD}") >> EmbedQuery() >> VectorNodes(keep=4) >> AnswerFromTables()'
)
ON_CHUNKS = "BuiltGraph() >> SparseChunks(keep=1) >> AnswerFromTables()"
WORD_QUESTION = Question("word3 common", "q-1", answers=("word3",))


@pytest.fixture
def plan(bench):
    """A plan of a method on a tree of drawn clusters, and one on a graph without chance."""
    sets = {"asked": ("Asked", [WORD_QUESTION])}
    write_corpus(corpora_folder() / "small", TREE_DOCUMENTS, sets=sets, own=True)
    for build in (TREE_BUILD, ""):  # the first graphs, whose digests are in the key of a run
        bench.engine.environment.open_build(open_corpus("small"), build, make=True)
    methods = (bench.method("drawn", ON_TREE), bench.method("fixed", ON_CHUNKS))
    drawn = (DrawnQuestion(WORD_QUESTION, "asked", CorpusSource("small")),)
    graphs = (("corpus:small", open_corpus("small").digest),)
    return Plan(methods, drawn, "asked", 1, graphs, model=False)


def is_sampled(operator) -> bool:
    return isinstance(operator, SampledOperator)


def seeds_of(line: str) -> list[int]:
    return list(map(attrgetter("seed"), filter(is_sampled, find_build(line).line)))


@pytest.mark.parametrize(
    ("line", "models", "operators"),
    [
        (TREE_BUILD, LOCAL, ["Tree"]),
        ("TokenChunks() >> NounPhrases() >> Merge() >> Communities()", LOCAL, ["Communities"]),
        ("TokenChunks() >> NounPhrases() >> Merge()", served(), []),
        ("TokenChunks() >> LanguageModelExtraction() >> Merge()", LOCAL, []),
        (
            "TokenChunks() >> LanguageModelExtraction(temperature=0.5) >> Merge()",
            LOCAL,
            ["LanguageModelExtraction"],
        ),
        (
            "TokenChunks() >> DescribedNames() >> Merge(summarise=True)",
            served(),
            ["DescribedNames", "Merge"],
        ),
        ("TokenChunks() >> DescribedNames() >> Merge()", served("repeats"), []),
    ],
)
def test_operators_of_a_build_that_leave_something_to_chance(line, models, operators):
    assert list(chance_of_build(find_build(line).line, models)) == operators


def test_a_build_with_chance_gets_the_seeds_of_the_repeats(bench, plan):
    planned = with_repeats(plan, 3, bench.models, rebuild=True)
    assert dict(planned.varied) == {"drawn": "its graph, built again (a tree of summaries)"}
    for number, seed in ((1, 1000), (2, 2000)):
        line = repeat_plan(planned, number).methods[0].line
        assert seeds_of(line.operators[0].build) == [seed]
    assert plan.methods[0].line.operators[0].build == TREE_BUILD
    assert with_repeats(plan, 3, bench.models).repeats == 1  # not asked for


def test_what_cannot_be_built_again_is_refused(bench, plan):
    with pytest.raises(BadInput, match="2 or more"):
        with_repeats(plan, 1, bench.models, rebuild=True)
    with pytest.raises(BadInput, match="drawn or sampled"):
        with_repeats(replace(plan, methods=plan.methods[1:]), 2, bench.models, rebuild=True)
    with pytest.raises(BadInput, match="one corpus"):
        with_repeats(bench.plan(model=False), 2, bench.models, rebuild=True)
    planned = with_repeats(plan, 2, bench.models, rebuild=True)
    with pytest.raises(BadInput, match="is not counted"):
        evaluate(bench.engine, bench.store(), planned, max_questions=1)
    asking = TREE_BUILD.replace(", summaries='extractive'", "")
    asked = replace(planned, rebuilt=(("drawn", asking, "Tree"),))
    with pytest.raises(BadInput, match="is not counted"):
        evaluate(bench.engine, bench.store(), asked, cap=parse_cap("100 tokens"))


def test_each_repeat_runs_on_its_own_graph_which_is_built_once(bench, plan, monkeypatch, tmp_path):
    opened, built = [], []
    open_graph, run_build = built_graphs.BuiltGraphs.__call__, rebuilt_graphs.run_build

    def open_and_note(graphs, corpus, spec="", *more, **options):
        opened.append(spec)
        return open_graph(graphs, corpus, spec, *more, **options)

    def build_and_note(corpus, build, *more):
        built.append(seeds_of(build.id))
        return run_build(corpus, build, *more)

    monkeypatch.setattr(built_graphs.BuiltGraphs, "__call__", open_and_note)
    monkeypatch.setattr(rebuilt_graphs, "run_build", build_and_note)
    planned = with_repeats(plan, 3, bench.models, rebuild=True)
    job = bench.run(planned)
    store = bench.store()
    assert (store.run(job.number).status, store.run(job.number).failed) == (JOB_DONE, 0)
    assert built == [[1000], [2000]]
    assert {tuple(seeds_of(spec)) for spec in opened if "Tree" in spec} == {(0,), (1000,), (2000,)}
    corpus = open_corpus("small")
    digests = {build_status(corpus, line).graph for line in own_builds(corpus)}
    assert len(digests) > 1  # other seeds, other clusters
    assert load_plan(store, store.run(job.number)).spec("x") == planned.spec("x")
    store._db.execute("DELETE FROM repeats WHERE number = 2")
    assert bench.run(planned).number == job.number and store.run(job.number).done == 4
    assert built == [[1000], [2000]]  # those that are there are not built again
    encoder = SimpleNamespace(kind="encoder", backend="written", present=True)
    monkeypatch.setattr(bench.models, "info", lambda name: encoder)
    folder = tmp_path / "claim"
    write_claim(bench.engine, store, store.run(job.number), folder)
    found = {each.subject: each for each in verify_claim(bench.engine, folder)}
    assert DIFFERS not in map(attrgetter("state"), found.values())
    assert found["DRAWN, run again"].state == EQUAL and "3 of 3" in found["DRAWN, run again"].text
    assert "--rebuild" in (folder / "claim.json").read_text()


def test_settings_of_a_foreign_claim_build_nothing_that_no_row_has(plan, monkeypatch):
    built = []
    monkeypatch.setattr(rebuilt_graphs, "run_build", lambda _, build, *more: built.append(build))
    foreign = (("drawn", TREE_BUILD, "WholeDocuments,Vectors"),)  # neither has a seed
    build_again(
        replace(plan, repeats=1 << 60, rebuilt=foreign), [-1, 0, 1 << 61, 3], None, NO_WATCH
    )
    assert built == []  # without another seed it is the graph that is there


def test_a_build_that_fails_ends_the_run_before_its_questions(bench, plan, monkeypatch):
    def fail(*_):
        raise BadInput("no room")

    monkeypatch.setattr(rebuilt_graphs, "run_build", fail)
    job = bench.run(with_repeats(plan, 2, bench.models, rebuild=True))
    assert "no room" in str(job.error) and not bench.store().rows(job.number)
