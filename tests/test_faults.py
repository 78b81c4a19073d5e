"""After each fault nothing is corrupt, and nothing that was promised is lost.

The faults are a few kills of each kind of work, a full disk, and a home that cannot be written.
"""

from __future__ import annotations

import pytest

from tests.benchmarks.fault_disk import full, read_only
from tests.benchmarks.fault_flips import flips
from tests.benchmarks.fault_kills import Met, kills, look
from tests.benchmarks.fault_server import killed


@pytest.mark.parametrize("kind", ["build", "index", "cases"])
def test_kills(kind, tmp_path):
    met = kills(kind, tmp_path, 1, seed=7)
    assert (met.times, met.corrupt, met.lost) == (1, [], []) and len(met.back) == 1


@pytest.mark.parametrize("kind", ["build"])
def test_a_full_disk(kind, tmp_path):
    met = full(kind, tmp_path)
    assert (met.corrupt, met.lost) == ([], [])


@pytest.mark.parametrize("kind", ["cases"])
def test_a_home_that_cannot_be_written(kind, tmp_path):
    met = read_only(kind, tmp_path)
    assert (met.corrupt, met.lost) == ([], [])


def test_changed_bytes(tmp_path):
    for met in flips(
        tmp_path / "home", 12, seed=3, kinds=("graph", "bulk", "index", "evaluation", "cases")
    ):
        assert (met.times, met.corrupt, met.lost) == (12, [], [])


def test_the_server_killed_while_a_case_is_saved(tmp_path):
    met = killed(tmp_path, 1)
    assert (met.times, met.corrupt, met.lost) == (1, [], [])


def test_what_is_lost_or_cannot_be_opened_is_told(tmp_path):
    met = Met("cases")
    look("cases", tmp_path, ["gone"], met)
    assert met.lost == ["cases: gone"] and met.corrupt == []
    (tmp_path / "cases.sqlite").write_bytes(b"no database" * 100)
    look("cases", tmp_path, [], met)
    assert len(met.corrupt) == 1 and "file is not a database" in met.corrupt[0]
