"""Saved cases of an older format still open, display and export (tests/earlier/lanes.tar.gz).

They predate lanes as one frozen object. The archive has cases.sqlite with three comparisons, and
`expected.json` with their plain data in that version and the structure of their boards. The
comparisons are: five nodes with a repaired lane, two influences, a cancelled lane and a failed one;
the same graph without a triple, compared with earlier results; and three documents, asked on their
chunks, on a graph of their own, and on a graph that was not built.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from core.cases import cases, comparison_of_case, export, load
from core.cases.case import unpack
from core.cases.comparison_data import freeze
from core.cases.store import packed_case
from core.cli import EXIT_OK, main
from core.results import comparison_dict
from pages.parts.board.payload import Board
from pages.parts.board.static_board import comparison_html
from tests.core.test_earlier_home import differences, plain

SAVED_LANES = Path(__file__).parents[2] / "earlier" / "lanes.tar.gz"


@pytest.fixture
def earlier(home) -> dict[str, Any]:
    """The saved cases as the user's own, and the expected data of each."""
    with tarfile.open(SAVED_LANES) as archive:
        archive.extractall(home, filter="data")
    return json.loads((home / "expected.json").read_text("utf-8"))


def shape(value: Any) -> Any:
    """Replace texts and floats of plain data by the names of their types."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__ if isinstance(value, str | float) else value


def test_plain_data_and_boards_keep_their_keys(earlier):
    assert {case.id for case in cases() if not case.example} == earlier.keys()
    for key, expected in earlier.items():
        found = comparison_of_case(key)
        for lane in expected["json"]["lanes"]:
            for one in lane["influence"]:
                del one["text"]  # a sentence of today's words
        assert not differences(expected["json"], plain(comparison_dict(found)))
        assert not differences(expected["board"], shape(plain(Board(found).payload())))
        assert found.ask.question.text in comparison_html(found, Board(found))


def test_saved_lane_data_is_in_its_fields(earlier):
    by_notes = {case.notes: comparison_of_case(case.id) for case in cases("today")}
    first, second, third = by_notes["On triples"].lanes
    assert first.repair.right == first.repair.of == 2 and first.model
    assert [one.by_model for one in first.influences] == [False, True]
    assert [lane.status for lane in (first, second, third)] == ["done", "cancelled", "failed"]
    assert (second.retrieved, third.retrieved) == (True, False) and "bm25" in third.error
    assert all(lane.beside is not None for lane in by_notes["Without a triple"].lanes)
    chunks, graph, missing = by_notes["On documents"].lanes
    assert chunks.own_graph is None and graph.own_graph is not None
    assert len(graph.rests) == 2 and graph.saved_alive["graph"] == ("Scrooge", "carol")
    assert graph.build_title and missing.error


def test_old_cases_are_saved_and_exported_unchanged(earlier, tmp_path):
    for key in earlier:
        again, saved = plain(freeze(comparison_of_case(key))), unpack(packed_case(key)[1])
        for part in ("run", "graph", "apart"):  # The digest of an excerpt of an excerpt differs.
            again.pop(part, None)
            saved.pop(part, None)
        assert again == saved
    assert load(export(earlier)).n_known == len(earlier)
    out = tmp_path / "out.cases.gz"
    assert main(["cases", "export", "--out", str(out)]) == EXIT_OK and out.read_bytes()
