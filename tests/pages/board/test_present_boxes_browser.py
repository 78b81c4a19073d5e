"""With Present on low screens, nothing in a lane lies over another thing.

No text is cut without a sign.
"""

from __future__ import annotations

import dataclasses
import json

import pytest

from core.cases.examples import examples
from core.cases.store import comparison_of_case
from pages.parts.board.payload import Board
from tests.pages.board.boxes import faults, picture_shares
from tests.pages.board.still import still
from tests.pages.board.test_board import report  # noqa: F401 - a fixture

SCREENS = {(1280, 720): 490, (1366, 768): 538}  # size of a screen: the height it leaves the lanes
MOST_LANES = 4


def shown_case(key: str, count: int) -> dict:
    """The presented board of a shipped case, with that many of its lanes."""
    case = comparison_of_case(key)
    lanes = case.lanes[:count]
    data = json.loads(json.dumps(Board(dataclasses.replace(case, lanes=lanes)).payload()))
    while len(data["lanes"]) < count:
        add_lane(data)
    return {**data, "present": True, "most_lanes": MOST_LANES}


def add_lane(data: dict) -> None:
    """One lane more, as a repair adds it: another, under a longer name."""
    model, new = data["lanes"][0], f"lane-{len(data['lanes'])}"
    data["lanes"].append({**model, "id": new, "title": f"{model['title']}, changed"})
    for fates in data["fates"].values():
        if model["id"] in fates:
            fates[new] = fates[model["id"]]
    for node in data["layout"]["nodes"]:
        lanes = (node.get("about") or {}).get("lanes", {})
        if model["id"] in lanes:
            lanes[new] = lanes[model["id"]]


@pytest.mark.parametrize("key", [case.id for case, _ in examples()])
def test_no_box_lies_over_another_and_nothing_is_cut_without_a_sign(report, key):  # noqa: F811
    page = report(shown_case(key, 1))
    found = {}
    for (width, height), left in SCREENS.items():
        page.set_viewport_size({"width": width, "height": height})
        for count in range(1, MOST_LANES + 1):
            data = {**shown_case(key, count), "height": left}
            page.evaluate("payload => hopscopeReport(payload)", data)
            still(page)
            if wrong := faults(page):
                found[width, count] = wrong
            if not data["documents"] and min(picture_shares(page)) < 0.4:
                found[width, count, "picture"] = picture_shares(page)
    assert found == {}
