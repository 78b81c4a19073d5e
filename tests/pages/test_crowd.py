"""A small crowd visits a real server.

Nobody meets an error, gets another's result or goes without an answer.
"""

from __future__ import annotations

import asyncio

from tests.benchmarks.crowd import Told, run, shows
from tests.benchmarks.visitors import follow


def test_a_few_visitors_are_all_answered_each_with_their_own():
    told = run(visitors=4, seconds=240, each=2)
    assert told.errors == [] and told.mixed == []
    assert {number: len(waits) for number, waits in told.waits.items()} == {0: 2, 1: 2, 2: 2, 3: 2}


def test_another_question_is_not_taken_for_ones_own(app):
    drawn = asyncio.run(
        asyncio.wait_for(follow(app, "q=who+directed+Kismet&lane=lego-1&llm=0", 1), 120)
    )
    assert shows(drawn, "who directed Kismet") and not shows(drawn, "who wrote Kismet")


def test_the_starved_and_the_memory_are_told():
    told = Told({0: [1.0, 1.0, 1.0], 1: [4.0]}, memory=[100.0, 110.0, 120.0, 125.0])
    rows = {row["name"]: row for row in told.rows(3, "")}
    assert (
        rows["slowest visitor"]["value"] == 4.0 and rows["visitors without an answer"]["value"] == 1
    )
    assert rows["memory"]["value"] == 125.0 and "+5 MB" in rows["memory"]["note"]


def test_evaluations_beside_a_crowd_are_told():
    told = Told({0: [1.0]}, memory=[100.0], evaluated=(3, 40, 1))
    row = {row["name"]: row for row in told.rows(1, "")}["evaluations done"]
    assert row["value"] == 3 and row["note"] == "40 of their questions answered, 1 failed"
