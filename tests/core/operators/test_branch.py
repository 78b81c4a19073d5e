"""Branches: the chosen arm, required fields, canonical text, TOML form and invalid branches."""

import tomllib

import pytest
import tomli_w

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.errors import BadParameter
from core.methods import catalogue as rows
from core.operators import (
    EgoNetwork,
    PersonalizedPageRank,
    PredictHops,
    Rank,
    ShortestPaths,
    SimplePaths,
)
from core.operators.base import Line
from core.operators.branch import Branch
from core.operators.text import parse_line
from core.sources import GraphSource, SourceQuestion
from core.types import Question

NEAR = Branch(
    "hops",
    ((1, (ShortestPaths(hops=1),)), (2, (ShortestPaths(hops=2), Rank(keep=1)))),
    (SimplePaths(),),
)
LINE = Line((PredictHops(), EgoNetwork(hops=4), NEAR))
TEXT = (
    "PredictHops() >> EgoNetwork(hops=4) >> Branch(on='hops', arms={1: ShortestPaths(hops=1), "
    "2: ShortestPaths(hops=2) >> Rank(keep=1)}, otherwise=SimplePaths())"
)
ROW = """
title = "By hops"
line = [
  { convert = "PredictHops" },
  { extract = "EgoNetwork", hops = 4 },
  { branch = "hops", 1 = [ { retrieve = "ShortestPaths", hops = 1 } ], 2 = [
    { retrieve = "ShortestPaths", hops = 2 },
    { refine = "Rank", keep = 1 },
  ], else = [ { retrieve = "SimplePaths" } ] },
]
"""


def test_hops_of_the_state_choose_the_arm(kit):
    whole, ctx = (
        EgoNetwork(hops=4)(kit.state("One"), kit.context()),
        kit.context(encoder=kit.Table({})),
    )
    ran = lambda hops: [step.operator for step in NEAR(whole.replace(hops=hops), ctx).trace[1:]]
    assert ran(1) == ["ShortestPaths"] and ran(2) == ["ShortestPaths", "Rank"]
    assert ran(3) == ran(None) == ["SimplePaths"]
    assert len(NEAR(whole.replace(hops=2), ctx).paths) == 1


def test_lane_has_a_state_per_operator_of_the_arm(kit, monkeypatch):
    monkeypatch.setattr(
        PredictHops, "apply", lambda self, state, ctx, recorder: state.replace(hops=2)
    )
    reached = []
    lane = LaneRun(
        SourceQuestion(GraphSource.of(kit.graph), Question("a question"), (kit.node("One"),)),
        LINE,
        kit.context(encoder=kit.Table({})).environment,
        PrefixCache(),
    )
    lane.retrieve(LaneListener(on_state=reached.append))
    told = ["PredictHops", "EgoNetwork", "ShortestPaths", "Rank", "GraphReader"]
    assert [state.trace[-1].operator for state in lane.states] == told and reached == lane.states
    assert [step.operator for step in lane.state.trace] == told and lane.state.trace[2].parameters[
        "hops"
    ] == 2


def test_branch_reads_and_writes_fields_of_its_arms():
    assert NEAR.reads == ("hops", "seeds", "subgraph") and NEAR.writes == ("paths",)
    assert LINE.parts() == (
        PredictHops(),
        EgoNetwork(hops=4),
        ShortestPaths(hops=1),
        ShortestPaths(hops=2),
        Rank(keep=1),
        SimplePaths(),
    )
    both = Branch("hops", ((1, (EgoNetwork(), ShortestPaths())),), (EgoNetwork(),))
    assert both.reads == ("hops", "seeds") and both.writes == (
        "subgraph",
    )  # Only one arm finds paths.
    with pytest.raises(BadParameter, match="Branch reads a number of hops"):
        Line((EgoNetwork(), NEAR))
    with pytest.raises(BadParameter, match="Branch reads a subgraph"):
        Line((PredictHops(), NEAR))
    with pytest.raises(BadParameter, match="Rank reads paths"):
        Line((PredictHops(), both, Rank()))


def test_canonical_text_is_parsed_again():
    assert repr(LINE) == TEXT and parse_line(TEXT) == LINE and hash(parse_line(TEXT)) == hash(LINE)
    assert (
        "by hops: 1 → shortest paths, 2 → shortest paths, then best 1 by encoder, else complete paths"
        in LINE.words()
    )
    for broken in (
        "Branch()",
        "Branch(on='hops', arms={}, otherwise=SimplePaths())",
        "Branch(on='hops', arms={'1': SimplePaths()}, otherwise=1)",
    ):
        with pytest.raises(BadParameter):
            parse_line(f"PredictHops() >> EgoNetwork() >> {broken}")


def test_row_is_parsed_again(tmp_path):
    file = tmp_path / "rows.toml"
    file.write_text(f'["by-hops"]{ROW}', "utf-8")
    method = rows.read_methods(file)["by-hops"]
    assert method.line == LINE
    told = tomllib.loads(tomli_w.dumps({"by-hops": rows.toml_row(method)}))
    file.write_text(tomli_w.dumps(told), "utf-8")
    assert rows.read_methods(file)["by-hops"].line == LINE


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("1 = [", "one = [", "an arm of a branch is named by a whole number or “else”, not “one”"),
        ('"hops"', '"moods"', "A branch looks at hops or arm, not at 'moods'"),
        ("else = [ { ", "else = [] , 3 = [ { ", "An arm of a branch has no operator"),
        (
            '{ refine = "Rank", keep = 1 }',
            '{ generate = "Answer" }',
            "Answer cannot stand in an arm",
        ),
        (
            "keep = 1",
            "keeps = 1",
            "arm 2, operator 2: Rank has no parameter “keeps”. Did you mean “keep”",
        ),
        (
            'else = [ { retrieve = "SimplePaths" } ]',
            'else = "SimplePaths"',
            "the arm “else” must be a list of operators",
        ),
    ],
)
def test_error_in_a_row_names_its_position(tmp_path, old, new, why):
    file = tmp_path / "rows.toml"
    file.write_text(f'["by-hops"]{ROW.replace(old, new)}', "utf-8")
    with pytest.raises(BadParameter, match="rows.toml, “by-hops”") as raised:
        rows.read_methods(file)
    assert why in str(raised.value)


def test_report_combination_depends_on_the_hops():
    line = rows.catalogue()["lego-14-by-hops"].line
    branch = line.operators[2]
    assert line.operators[1] == PersonalizedPageRank(keep=1000, damping=0.8)
    ((hops, (near,)),), (far,) = branch.arms, branch.otherwise
    assert (hops, near.prune, near.unit) == (1, "mean", "path") and (far.prune, far.unit) == (
        "top",
        "triple",
    )
    assert {(beam.width, beam.hops, beam.fanout) for beam in (near, far)} == {(8, 4, 32)}
