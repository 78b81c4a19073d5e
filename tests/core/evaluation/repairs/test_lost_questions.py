"""Questions of a run opened again with what they lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.diagnosis.causes import CAUSE_LABELS, Cause
from core.errors import BadInput
from core.evaluation.repairs.lost_questions import reopen_question
from core.sources import GraphSource


def test_every_cause_but_found_has_its_few_words():
    assert set(CAUSE_LABELS) == set(Cause) - {Cause.FOUND} and len(
        set(CAUSE_LABELS.values())
    ) == len(CAUSE_LABELS)


def test_a_lost_question_comes_back_with_its_states_and_its_cause(bench):
    """Of two paths from One the line keeps the first, which is the genre.

    One is directed by Ann and of genre Drama. The encoder puts the genre first.
    """
    store, job = bench.store(), bench.run(bench.plan(model=False))
    run, drawn = (
        store.run(job.number),
        {one.question.id: one for one in store.drawn_questions(job.number)},
    )
    one = next(spec for spec in run.spec["instances"] if spec["id"] == "one")
    lost = reopen_question(bench.engine, store, run, one, drawn["q-2"])
    assert lost is not None and len(lost.lane.states) == 5 and lost.drawn.question.id == "q-2"
    assert {loss.name for loss in lost.losses} <= {"Ann"} and lost.words("paths") == (
        CAUSE_LABELS[lost.cause] if lost.cause else "not on a path"
    )
    # it failed, so no states are there
    assert reopen_question(bench.engine, store, run, one, drawn["q-4"]) is None


def test_a_question_of_another_graph_by_now_is_refused(bench, kit, monkeypatch):
    store, job = bench.store(), bench.run(bench.plan(model=False))
    run, drawn = store.run(job.number), store.drawn_questions(job.number)[0]
    other = GraphSource.of(replace(kit.graph, digest="another"))
    monkeypatch.setattr(GraphSource, "open", lambda self, engine: other)
    with pytest.raises(BadInput, match="another state of the graph"):
        reopen_question(bench.engine, store, run, run.spec["instances"][0], drawn)
