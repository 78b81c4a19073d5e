"""Two lines over the same questions, beside what an evaluation of them says, and by hand."""

from __future__ import annotations

from math import isclose

import pytest

from core.errors import RunCancelled
from core.evaluation.metrics.catalogue import metric
from core.evaluation.runs.paired_run import PairedRun
from core.evaluation.runs.row import make_ask
from core.runtime.jobs import Job
from core.watch import Watch
from tests.core.evaluation.runs.test_runner import LINE


@pytest.fixture
def both(bench):
    """`both(questions)`: one path kept before and two now, over some of the four questions."""

    def make(questions=bench.questions, lines=(1, 2)):
        plan = bench.plan(
            *(bench.method(f"keep{keep}", LINE.format(keep=keep)) for keep in lines),
            questions=questions,
            model=False,
        )
        return PairedRun(plan, bench.engine.environment, make_ask(bench.engine, plan))

    return make


def of(run):
    return {one.metric: one for one in run.differences()}


def test_the_differences_are_those_of_an_evaluation(bench, both):
    """A question that failed before and now counts as 0 for both.

    It is the last question, whose entity is not in the graph.
    """
    run = both()(Job("both"))
    rows = {
        (row.method, row.question.id): row.outcome
        for row in bench.store().rows(bench.run(run.plan).number)
    }
    for name in ("path_recall", "reader_hit@1"):
        number = lambda key, name=name: 0.0 if rows[key] is None else metric(name)(rows[key])
        old, new = ([number((f"keep{keep}", f"q-{i}")) for i in range(1, 5)] for keep in (1, 2))
        found = of(run)[name]
        assert (
            isclose(found.before, sum(old) / 4)
            and isclose(found.now, sum(new) / 4)
            and found.test.n == 4
        )
        assert isclose(found.test.difference, found.now - found.before)
    assert "“Nobody” " in run.reasons()


def test_two_paths_keep_what_one_keeps(bench, both):
    """Drama's path is the first of One's, so a second one brings nothing."""
    run = both(bench.questions[:1])(Job("both"))
    found = of(run)["path_recall"]
    assert (found.before, found.now, found.test.difference, found.test.is_significant) == (
        1.0,
        1.0,
        0.0,
        False,
    )


def test_what_is_shared_is_computed_once(bench, both):
    both(bench.questions[:1])(Job("both"))
    assert len(bench.models.choosers["encoder"].seen) == 2  # Rank twice, the rest of the line once


def test_a_cancelled_run_has_what_was_asked_until_then(bench, both):
    run, job = both(), Job("both")

    class Two(Watch):
        def check(self):
            if len(run.outcomes) == 2:
                job.stop()
            job.check()

        def report(self, text, fraction=None):
            job.report(text, fraction)

    with pytest.raises(RunCancelled):
        run(Two())
    assert (
        len(run.outcomes) == 2
        and of(run)["path_recall"].test.n == 2
        and job.text == "1 of 4 questions"
    )


def test_before_the_first_question_there_is_no_difference(both):
    assert both().differences() == ()
