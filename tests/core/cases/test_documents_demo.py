"""The shipped case study on documents opens without models.

In each question one lane fails, one finds half, and one succeeds.
"""

import gzip
import tomllib

import pytest

from core.cases import comparison_of_case
from core.cases.case import unpack
from core.cases.examples import EXAMPLE_FOLDER, demo, examples
from core.cases.file import CASES_EXTENSION, read_cases, write_cases
from core.diagnosis.funnel import funnel
from core.diagnosis.targets import passages_of
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.sources import CorpusSource

LIST = "documents"
TOLD = tomllib.loads((EXAMPLE_FOLDER / f"{LIST}.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def opened():
    return [comparison_of_case(case.id) for case in demo(CorpusSource("hotpotqa"))]


def test_demo_cases_follow_the_list():
    found = demo(CorpusSource(TOLD["corpus"]))
    assert [case.question for case in found] == [row["question"] for row in TOLD["case"]] and len(
        found
    ) == 3
    assert [case.notes.split(".")[0] for case in found] == [row["title"] for row in TOLD["case"]]
    assert [list(case.link["lane"]) for case in found] == [row["lanes"] for row in TOLD["case"]]
    assert all(case.example and case.tags == (LIST,) for case in found) and not demo(
        CorpusSource("no such corpus")
    )
    assert all("corpus" not in case.link for case in demo())


def test_lanes_fail_half_succeed_and_succeed(opened):
    for one in opened:
        gold = one.ask.question.gold
        read = [
            funnel(
                one.ask.source,
                lane.graph,
                lane.state,
                passages_of(one.ask.question),
                saved_alive=lane.saved_alive,
            )[-1]
            for lane in one.lanes
        ]
        assert [stage.name for stage in read] == ["prompt"] * 3
        assert sorted(len(stage.alive) for stage in read) == [0, 1, 2] and len(gold) == 2


def test_no_lane_wins_them_all_and_each_is_explained(opened):
    best = {one.lanes[0].method.id for one in opened}
    assert len(best) > 1
    assert all(lane.head for one in opened for lane in explain_comparison(one).lanes)


def test_equal_cases_give_an_equal_file():
    packed = (EXAMPLE_FOLDER / f"{LIST}{CASES_EXTENSION}").read_bytes()
    again = write_cases((case, unpack(content)) for case, content in read_cases(packed))
    assert gzip.decompress(again) == gzip.decompress(packed) and len(packed) < 1_000_000


def test_names_of_shipped_cases_are_those_of_their_lanes():
    for case, _ in examples():
        lanes = comparison_of_case(case.id).lanes
        assert case.method_labels == tuple(lane.method.label for lane in lanes), case.id
