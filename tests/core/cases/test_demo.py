"""The shipped first comparisons open without models in an empty user folder.

Each shows the difference between methods that it is meant for.
"""

from __future__ import annotations

import gzip
import tomllib
from types import SimpleNamespace

import pytest

from core.cases import comparison_of_case
from core.cases.case import unpack
from core.cases.examples import DEMO_NAME, EXAMPLE_FOLDER, demo
from core.cases.file import CASES_EXTENSION, read_cases, write_cases
from core.commands.cases import _run_comparison
from core.comparison.lane import MethodComparison
from core.diagnosis.repair.repair_offers import best_repair, find_equal_lane
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.errors import HopscopeError
from core.runtime.jobs import Job

TOLD = tomllib.loads((EXAMPLE_FOLDER / f"{DEMO_NAME}.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def opened():
    return [comparison_of_case(case.id) for case in demo()]


def test_demo_cases_follow_the_list():
    assert [case.question for case in demo()] == [row["question"] for row in TOLD["case"]]
    assert [case.notes.split(".")[0] for case in demo()] == [row["title"] for row in TOLD["case"]]
    assert all(
        case.example and case.tags == (DEMO_NAME,) and case.link["lane"] == TOLD["lanes"]
        for case in demo()
    )
    assert (
        len(demo()) >= 5
        and (EXAMPLE_FOLDER / f"{DEMO_NAME}{CASES_EXTENSION}").stat().st_size < 1_000_000
    )


def test_one_lane_finds_all_and_others_less(opened):
    for one in opened:
        told = explain_comparison(one)
        of, found = len(one.ask.question.answers), [lane.n_right for lane in told.lanes]
        assert found.count(of) == 1 and max(count for count in found if count < of) > 0
        assert told.text.startswith("Only ") and all(lane.text for lane in told.lanes)


def test_no_lane_wins_them_all(opened):
    best = {
        max(range(3), key=lambda i, one=one: explain_comparison(one).lanes[i].n_right)
        for one in opened
    }
    assert len(best) > 1


def test_first_demo_has_a_failing_a_partial_and_a_full_lane(opened):
    assert [lane.n_right for lane in explain_comparison(opened[0]).lanes] == [0, 5, 6]


def test_loss_by_ranking_has_a_repair(opened):
    first = explain_comparison(opened[0])
    assert first.lanes[1].head == "Lost when ranking:" and "1985" in first.lanes[1].text
    assert best_repair(opened[0])[0] == 1 and opened[0].lanes[1].repair.right == 6


def test_repairs_do_not_duplicate_another_lane(opened):
    """The beam that follows relation chains would be equal to the third lane."""
    chains = [one for one in opened if one.lanes[0].repair is not None]
    assert chains and all(
        find_equal_lane(one, one.lanes[0], one.lanes[0].repair) == 2 for one in chains
    )
    assert [best_repair(one) and best_repair(one)[0] for one in opened] == [1, None, 1, 1, None]


def test_demo_cases_show_different_losses(opened):
    assert len({explain_comparison(one).lanes[1].head for one in opened}) >= 3


def test_equal_cases_give_an_equal_file():
    packed = (EXAMPLE_FOLDER / f"{DEMO_NAME}{CASES_EXTENSION}").read_bytes()
    again = write_cases((case, unpack(content)) for case, content in read_cases(packed))
    # Versions of zlib compress differently.
    assert gzip.decompress(again) == gzip.decompress(packed)


def test_a_failed_search_for_repairs_ends_the_command():
    comparison = MethodComparison(None, [], follow_up_errors=("The search for repairs failed.",))
    job = Job("demo", lambda job: None)
    job.comparison = comparison
    job.run()
    engine = SimpleNamespace(compare=lambda ask, lanes, try_repairs: job)
    with pytest.raises(HopscopeError, match="The search for repairs failed"):
        _run_comparison(engine, None, [])
