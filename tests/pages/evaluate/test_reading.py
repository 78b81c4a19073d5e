"""The tab Reading of an evaluation: shares, the missing answers, and the questions of a row."""

from __future__ import annotations

from types import SimpleNamespace

from core.diagnosis.influence import InfluenceCost
from core.evaluation.repairs.reading_run import missing_cost, readings_job_key
from core.evaluation.reports.reading_shares import reading_shares
from core.models.price import Cap
from pages.parts.evaluate import reading as page
from pages.parts.evaluate.run_progress import summary
from pages.parts.shared.session import engine
from tests.pages.evaluate.test_evaluate import (  # noqa: F401
    home,
    opened,
    part_of,
    run,
    said,
    saved,
)


def test_the_shares_are_there_before_a_reader_is_asked_again(run):  # noqa: F811
    at = part_of(run, "Reading")
    assert not at.exception
    (table,) = (one.value for one in at.dataframe)
    shares = reading_shares(summary(run))
    assert list(table["Questions"]) == [f"{one.n:,}" for one in shares]
    assert list(table["Known without context"]) == ["–", "–"]
    assert said(at).count("better retriever can win at most") == 2
    assert "No language model is asked" in said(at)


def test_readers_are_asked_again_at_a_press(run):  # noqa: F811
    at = part_of(run, "Reading")
    at.button(key="reading-go").click().run()
    job = engine().evaluations.get(readings_job_key(summary(run).run))
    assert job.wait(120) and not job.error and missing_cost(summary(run)) is None
    at = part_of(run, "Reading")
    (table,) = (one.value for one in at.dataframe)
    assert "–" not in list(table["With the evidence alone"])
    assert not [one for one in at.button if one.key == "reading-go"]


def test_a_limit_is_asked_for_where_a_language_model_is(run, monkeypatch):  # noqa: F811
    """The limit is that of the evaluation at first; nothing begins without a limit that is meant."""
    begun = []
    work = SimpleNamespace(
        has_ended=True, evaluation=SimpleNamespace(cap=Cap(2.5), max_concurrent=3)
    )
    monkeypatch.setattr(page, "job_of", lambda run: work)
    monkeypatch.setattr(page, "missing_cost", lambda results: InfluenceCost(4, 400, None))
    monkeypatch.setattr(page, "start_readings", lambda *_, **limits: begun.append(limits))
    at = part_of(run, "Reading")
    limit = lambda: at.text_input(key=f"reading_cap-{run}")
    assert limit().value == "2.5"
    limit().set_value("much").run()
    assert at.button(key="reading-go").disabled
    limit().set_value("700 tokens").run()
    at.button(key="reading-go").click().run()
    assert begun == [{"cap": Cap(700, tokens=True), "max_concurrent": 3}] and not at.exception


def test_the_switch_of_the_form_asks_once_the_run_is_finished(home, monkeypatch):  # noqa: F811
    at = opened()
    at.multiselect(key="evaluate_set_choice-graph-metaqa").set_value(["metaqa-1hop-dev"])
    at.number_input(key="evaluate_size").set_value(1)
    at.toggle(key="evaluate_reading").set_value(True)
    at.run()
    at.button(key="evaluate-go").click().run()
    assert not at.exception
    (evaluation,) = home.runs()
    job = engine().evaluations.get(readings_job_key(evaluation))
    assert job is not None and job.wait(120) and not job.error
    assert home.run(evaluation.id).status == "done"
    assert missing_cost(summary(evaluation.id)) is None
