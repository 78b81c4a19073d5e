"""The operator that fetches community reports, and the prompt that shows them with the paths."""

import json

import pytest

from core.diagnosis.funnel import funnel
from core.diagnosis.targets import Target
from core.environment import Environment
from core.errors import BadParameter
from core.graph.building.build import build
from core.operators import Answer, CommunityReports, EgoNetwork, ShortestPaths
from core.operators.base import Context
from core.sources import GraphSource
from core.types import Question, State
from tests.films import TRIPLES, Parrot, Written
from tests.notes import NoteWith


class ReportChat(Parrot):
    """A language model that writes a report where JSON is asked for, and else answers."""

    def reply(self, messages, *, schema=None, **told):
        if schema:
            self.text = json.dumps({"title": "Films", "summary": "Made in 1999.", "findings": []})
        else:
            self.text = "Drama"
        return super().reply(messages, **told)


@pytest.fixture
def graph(tmp_path):
    return build(TRIPLES, tmp_path / "films", "films", "both")


def survival(graph, state, *answers):
    return funnel(GraphSource(""), graph, state, [Target("answer", name) for name in answers])


def run(graph, chat, *seeds, line=None):
    from core.graph.names.lookup import name_lookup

    ctx = Context(graph, Environment(Written(chat)))
    state = State(Question("a question"), tuple(name_lookup(graph).find(seed) for seed in seeds))
    for operator in line or (CommunityReports(),):
        state = operator(state, ctx)
    return state


def test_each_community_of_the_seeds_has_a_report(graph):
    # Leiden splits the five nodes into {One, Drama} and {Ann, Two, 1999}. Modularity: 3/5 + 1/5 -
    # (3/10)^2 - (7/10)^2 = 0.22.
    after = run(graph, ReportChat(""), "Two", "Drama", "One")
    assert [(r.about, r.members) for r in after.reports] == [(("Two",), 3), (("Drama", "One"), 2)]
    step = after.trace[-1]
    assert (
        step.sizes == {"reports": 2}
        and step.usage.calls == 2
        and "2 of 2 reports had not been prepared" in step.notes[0]
    )


def test_prepared_reports_cost_nothing(graph):
    run(graph, ReportChat(""), "Two", "One")
    after = run(graph, ReportChat(""), "Two", "One", line=(CommunityReports(keep=1),))
    assert after.trace[-1].usage.calls == 0 and [r.about for r in after.reports] == [("Two",)]
    assert after.trace[-1].notes == (NoteWith("2 communities", "first 1"),)


def test_invalid_report_is_noted_in_the_trace(graph):
    after = run(graph, Parrot("Two films."), "Two")
    assert after.reports[0].text == "Two films." and any(
        "no whole JSON" in note for note in after.trace[-1].notes
    )


def test_prompt_shows_reports_before_the_paths(graph):
    line = (
        EgoNetwork(hops=1),
        ShortestPaths(hops=1),
        CommunityReports(),
        Answer(prompt="paths-and-reports"),
    )
    after = run(graph, ReportChat(""), "Ann", line=line)
    lines = after.prompt.messages[-1]["content"].splitlines()
    assert lines[:2] == ["Reports:", "Films: Made in 1999."] and lines[
        lines.index("Facts:") + 1
    ].startswith("Ann -> ")
    assert after.prompt.reports == 1 and after.answer == "Drama"
    alive = {stage.name: stage.alive for stage in survival(graph, after, "1999", "Drama")}
    assert alive["paths"] == () and alive["prompt"] == ("1999",) and alive["answer"] == ("Drama",)


def test_prompt_without_reports_does_not_count_them(graph):
    after = run(
        graph,
        ReportChat(""),
        "Ann",
        line=(EgoNetwork(hops=1), ShortestPaths(hops=1), CommunityReports(), Answer()),
    )
    assert (
        after.prompt.reports == 0
        and {s.name: s.alive for s in survival(graph, after, "1999")}["prompt"] == ()
    )


def test_prompt_with_reports_needs_an_operator_that_fetches_them():
    with pytest.raises(BadParameter, match="community reports, and nothing before"):
        EgoNetwork() >> ShortestPaths() >> Answer(prompt="paths-and-reports")


def test_braces_in_reports_are_kept(graph):
    class BracesChat(ReportChat):
        def reply(self, messages, *, schema=None, **told):
            made = super().reply(messages, schema=schema, **told)
            from dataclasses import replace

            if schema:
                return replace(made, text=made.text.replace("1999", "{paths} {question}"))
            return made

    line = (
        EgoNetwork(hops=1),
        ShortestPaths(hops=1),
        CommunityReports(),
        Answer(prompt="paths-and-reports"),
    )
    after = run(graph, BracesChat(""), "Ann", line=line)
    assert "Films: Made in {paths} {question}." in after.prompt.messages[-1]["content"]
