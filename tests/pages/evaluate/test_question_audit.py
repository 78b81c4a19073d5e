"""The tab The set: an audit is started, a question is corrected, and the decision is saved."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.datasets.own_sets import save_set
from core.evaluation.audit.decisions import Decisions, decisions_file
from core.graph.building.build import build
from core.io.home import ROOT
from pages.parts.evaluate.question_audit import audit_job_key
from pages.parts.shared.session import engine

FILMS = {"Alpha": "Ann", "Beta": "Bob", "Gamma": "Cy", "Delta": "Dee", "Eta": "Eve"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with a graph and a set of which one key is wrong.

    The engine keeps a graph open by its name, so no other test has a graph of this name.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    build(
        [(f, "directed_by", n) for f, n in FILMS.items()],
        tmp_path / "graphs" / "audited",
        "audited",
    )
    rows = "".join(f"{f},who directed {f},{n},{f}\n" for f, n in (FILMS | {"Beta": "Ann"}).items())
    file = tmp_path / "q.csv"
    file.write_text(f"id,question,answers,entities\n{rows}", "utf-8")
    save_set(file, "my-set", "My set", "audited", ())
    return tmp_path


def opened() -> AppTest:
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)
    at.switch_page("pages/evaluate.py")
    at.query_params["graph"] = "audited"
    return at.run()


def test_a_set_is_audited_and_a_wrong_key_corrected(home):
    at = opened()
    assert not at.exception
    at.button(key="audit-go").click().run()
    assert engine().evaluations.get(audit_job_key("my-set")).wait(60)
    at.run()
    assert not at.exception
    key = "contradicted-0-Beta"
    assert at.text_area(key=f"audit-answers-{key}").value == "Bob"
    labels = [box.label for box in at.expander]
    at.button(key=f"audit-correct-{key}").click().run()
    assert {box.label for box in at.expander} - {"Decided"} <= set(labels)  # no box closes
    (decision,) = Decisions.open(decisions_file("my-set")).by_question.values()
    assert (decision.question, decision.action, decision.answers) == ("Beta", "correct", ("Bob",))
    assert not [one for one in at.text_area if key in str(one.key)]
    at.button(key="audit-undo-Beta").click().run()
    assert Decisions.open(decisions_file("my-set")).by_question == {}
    at.text_area(key=f"audit-entities-{key}").set_value("Gamma").run()
    at.button(key=f"audit-correct-{key}").click().run()
    (decision,) = Decisions.open(decisions_file("my-set")).by_question.values()
    assert (decision.answers, decision.entities) == (("Bob",), ("Gamma",))
    at.button(key="audit-undo-Beta").click().run()
    at.button(key=f"audit-leave out-{key}").click().run()
    (decision,) = Decisions.open(decisions_file("my-set")).by_question.values()
    assert decision.action == "leave out" and not at.exception


def test_evidence_is_corrected_passage_by_passage(home):
    """A passage that quotes its document has two lines, and stays as it is."""

    def page():
        from types import SimpleNamespace

        from core.evaluation.audit.findings import Finding
        from core.types import Question
        from pages.parts.evaluate.question_audit import _draw_correction

        question = Question("who", "1", answers=("Ann",), gold=("lost", "may\nAnn built it"))
        finding = Finding("1", "missing_passage", "", ("lost",))
        _draw_correction(SimpleNamespace(name="my-set"), question, finding, "k")

    at = AppTest.from_function(page).run()
    at.text_area(key="audit-gold-1-k").set_value("june").run()
    at.button(key="audit-correct-k").click().run()
    (decision,) = Decisions.open(decisions_file("my-set")).by_question.values()
    assert (decision.answers, decision.gold) == (None, ("june", "may\nAnn built it"))
