"""Evaluations over workers, without Ray.

What a dead worker was at is told in its rows, and the next run tries it again.
"""

from core.evaluation.runs.evaluation_jobs import evaluate
from core.runtime.cluster import WORKER_DIED_MESSAGE, LostResult


class LocalWorkers:
    """Workers in this process, of which those at some places die."""

    def __init__(self, *dying):
        self.dying, self.count = dying, 2

    def description(self):
        return "2 workers"

    def run_each(self, work, items, watch):
        for item in items:
            watch.check()
            yield item, LostResult() if item[0] in self.dying else work(item)


def test_a_dead_workers_rows_say_so_and_are_tried_again(bench, monkeypatch):
    monkeypatch.setattr("core.evaluation.runs.worker_runs._engine", lambda: bench.engine)
    job = evaluate(bench.engine, bench.store(), bench.plan(), workers=LocalWorkers(1))
    assert job.wait(120) and job.status == "done", job.error
    rows = {(row.method, row.question.id): row for row in bench.store().rows(job.number)}
    assert {key for key, row in rows.items() if row.error == WORKER_DIED_MESSAGE} == {
        ("two", "q-2"),
        ("one", "q-2"),
    }
    assert rows["two", "q-1"].outcome.paths.count == 2 and rows["one", "q-4"].error.startswith(
        "“Nobody”"
    )
    again = bench.run(bench.plan())
    # nobody knows Nobody
    assert again.number == job.number and bench.store().run(job.number).failed == 2
    assert job.text.startswith("8 of 8 done, 4 failed")
