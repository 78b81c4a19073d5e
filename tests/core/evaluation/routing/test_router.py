"""Routers of evaluations: figures by hand, the line they give, and where none is offered."""

from dataclasses import replace

import pytest

from core.errors import BadInput
from core.evaluation.metrics.outcome import OperatorCost, Outcome
from core.evaluation.metrics.ranking import GoldRanks
from core.evaluation.reports.summary import RunSummary
from core.evaluation.routing.joint_line import join_lines
from core.evaluation.routing.router import find_router, router_data
from core.operators.routing_rule import saved_rules
from core.operators.text import parse_line
from core.snapshot import freeze_all
from core.types import Question, State

NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
FAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank(keep=1)"
OTHER = "PersonalizedPageRank() >> ShortestPaths() >> Answer()"


@pytest.fixture
def run(bench, kit):
    """`run(right, seconds)`: the store and the summary of methods by their letters.

    `right` has a text of 0 and 1 for each method, one letter a question. Questions at even places
    have the word “far”.
    """

    def make(right, seconds, lines=(NEAR, FAR), with_states=True, repeats=()):
        n = len(next(iter(right.values())))
        words = ("far", "near")
        questions = tuple(
            Question(f"{words[place % 2]} film {place}", f"q{place:03}", ("One",), ("Drama",))
            for place in range(n)
        )
        methods = [bench.method(key, line) for key, line in zip(right, lines)]
        plan = bench.plan(*methods, questions=questions, model=False)
        if repeats:
            plan = replace(plan, repeats=1 + len(repeats), varied=(("far", "its draws"),))
        store = bench.store()
        saved = store.begin_run(plan.spec("models"), plan.drawn, again=True)
        runs = [("far", letters, number) for number, letters in enumerate(repeats, 1)]
        for key, letters, number in [*((*pair, 0) for pair in right.items()), *runs]:
            for question, letter in zip(questions, letters):
                ranks = GoldRanks(1, (1,) * int(letter), (1 if letter == "1" else None,))
                cost = OperatorCost("Rank", "refine", seconds[key])
                outcome = Outcome(1, paths=ranks, reader=ranks, costs=(cost,))
                state = State(question, (kit.node("One"),))
                states = freeze_all((state, state, state), kit.graph) if with_states else None
                store.save_row(saved.id, key, question.id, outcome, None, states, number)
        store.set_status(saved.id, "done")
        return store, RunSummary(store.run(saved.id), store.rows(saved.id))

    return make


def test_equal_quality_for_less(run):
    # near questions are answered by both, far ones by the dear method alone
    store, summary = run({"near": "01" * 50, "far": "11" * 50}, {"near": 1.0, "far": 4.0})
    router = find_router(store, summary)
    assert router.methods == ("near", "far") and router.means == (0.5, 1.0)
    assert (router.oracle.quality, router.oracle.lead, router.oracle.cost) == (1.0, 0.0, 2.5)
    assert router.quality.difference == 0 and router.cost.difference == pytest.approx(-1.5)
    assert router.cost_ratio == pytest.approx(2.5 / 4) and router.shares == (0.5, 0.5)
    assert router.is_cheaper and router.pays and not router.is_better


def test_better_than_every_single_method(run):
    store, summary = run({"near": "01" * 50, "far": "10" * 50}, {"near": 1.0, "far": 4.0})
    router = find_router(store, summary)
    assert router.quality.difference == 0.5 and router.is_better and router.pays
    assert router.oracle.lead == 0.5 and router.oracle.chance_lead == pytest.approx(0.25)


def test_a_gain_within_what_repeats_share_does_not_pay(run):
    """Of near questions the dear method has none in two runs, and all in the third."""
    figures = {"near": "01" * 50, "far": "10" * 50}, {"near": 1.0, "far": 4.0}
    alone = find_router(*run(*figures))
    noisy = find_router(*run(*figures, repeats=("00" * 50, "10" * 50, "00" * 50)))
    assert alone.is_better and alone.pays
    assert noisy.quality.difference == pytest.approx(0.25)
    assert noisy.quality.low < 0 and not noisy.pays


def test_the_line_can_be_asked_and_evaluated(run, bench, kit):
    store, summary = run({"near": "01" * 50, "far": "11" * 50}, {"near": 1.0, "far": 4.0})
    data = router_data(store, summary)
    line = parse_line(data["line"])
    assert repr(line) == data["line"] and saved_rules() == (data["rule"],) and data["pays"]
    questions = tuple(
        Question(f"{word} film", word, ("One",), ("Drama",)) for word in ("far", "near")
    )
    done = bench.run(bench.plan(bench.method("router", data["line"]), questions=questions))
    rows = {row.question.id: row for row in store.rows(done.number)}
    steps = {key: [cost.operator for cost in row.outcome.costs] for key, row in rows.items()}
    assert "Rank" in steps["far"] and "Rank" not in steps["near"]
    assert "KeepResults" in steps["near"] and not any(row.error for row in rows.values())


def test_one_method_best_on_every_question_gives_no_router(run):
    store, summary = run({"near": "1" * 60, "far": "1" * 60}, {"near": 1.0, "far": 4.0})
    with pytest.raises(BadInput, match="nothing to choose"):
        find_router(store, summary)
    data = router_data(store, summary)
    assert (data["line"], data["pays"], saved_rules()) == ("", False, ())
    assert "nothing to choose" in data["sentences"][0]


def test_the_cheap_method_alone_is_as_good(run):
    # The dear method has one question more, which is nothing beyond chance.
    near = "1" * 199 + "0"
    store, summary = run({"near": near, "far": "1" * 200}, {"near": 1.0, "far": 4.0})
    router = find_router(store, summary)
    assert router.is_dominated and not router.pays


def test_what_features_do_not_tell_does_not_pay(run):
    # Which method is right follows from nothing in the question.
    near = "0011" * 50
    far = "1100" * 50
    store, summary = run({"near": near, "far": far}, {"near": 1.0, "far": 4.0})
    router = find_router(store, summary)
    assert router.oracle.lead == 0.5 and not router.is_better and not router.pays


def test_without_saved_states_the_words_remain(run):
    figures = {"near": "01" * 50, "far": "11" * 50}, {"near": 1.0, "far": 4.0}
    router = find_router(*run(*figures, with_states=False))
    assert router.cost.difference == pytest.approx(-1.5) and "word:far" in router.rule.features


def test_failed_questions_count_as_wrong_and_cost_the_mean(run):
    store, summary = run({"near": "01" * 50, "far": "11" * 50}, {"near": 1.0, "far": 4.0})
    rows = [
        replace(row, outcome=None, error="It broke.")
        if (row.method, row.question.id) == ("near", "q001")
        else row
        for row in summary.rows
    ]
    router = find_router(store, RunSummary(summary.run, rows))
    assert router.means == (0.49, 1.0) and router.costs == (1.0, 4.0)


def test_methods_that_fit_in_no_branch_are_named(run):
    store, summary = run(
        {"near": "01" * 50, "other": "11" * 50}, {"near": 1.0, "other": 4.0}, (NEAR, OTHER)
    )
    with pytest.raises(BadInput, match="different last steps"):
        find_router(store, summary)
    with pytest.raises(BadInput, match="no scores of nobody"):
        find_router(store, summary, ["nobody"])


@pytest.mark.parametrize(
    ("lines", "joint"),
    [
        (
            ("EgoNetwork() >> ShortestPaths()", "PageRank() >> ShortestPaths()"),
            "PredictArm(rule='r-0123456789ab') >> Branch(on='arm', arms={1: PageRank() >> "
            "ShortestPaths()}, otherwise=EgoNetwork() >> ShortestPaths())",
        ),
        (
            ("EgoNetwork() >> ShortestPaths()", "EgoNetwork() >> ShortestPaths() >> Rank()"),
            "EgoNetwork() >> ShortestPaths() >> PredictArm(rule='r-0123456789ab') >> "
            "Branch(on='arm', arms={1: Rank()}, otherwise=KeepResults())",
        ),
        (
            ("BuiltGraph() >> SparseChunks()", "BuiltGraph() >> EmbedQuery() >> VectorChunks()"),
            "BuiltGraph() >> PredictArm(rule='r-0123456789ab') >> Branch(on='arm', "
            "arms={1: EmbedQuery() >> VectorChunks()}, otherwise=SparseChunks())",
        ),
    ],
)
def test_common_first_steps_stand_before_the_branch(lines, joint):
    found = join_lines([parse_line(line) for line in lines]).with_rule("r-0123456789ab")
    assert repr(found) == joint and repr(parse_line(joint)) == joint


def test_methods_on_different_graphs_are_no_arms():
    texts = "BuiltGraph(build='kg') >> SparseChunks()", "BuiltGraph() >> SparseChunks()"
    with pytest.raises(BadInput, match="BuiltGraph"):
        join_lines([parse_line(text) for text in texts])
