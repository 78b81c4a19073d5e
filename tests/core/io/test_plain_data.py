"""Dataclasses written as plain data, and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

import pytest

from core.io.plain_data import PlainReader, PlainWriter, from_plain, to_plain


@dataclass(frozen=True)
class Leg:
    start: str
    km: float
    by: Literal["foot", "bus"] = "foot"


@dataclass(frozen=True)
class Walk:
    legs: tuple[Leg, ...]
    hours: int | None = None
    box: tuple[int, float] = (0, 0.0)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    map: object = field(default=None, metadata={"saved": False})
    title: str = field(default="", metadata={"saved": "name"})


WALK = Walk(
    (Leg("Ulm", 1.5), Leg("Bern", 2.0, "bus")), 3, (1, 0.5), {"Ulm": ("steep",)}, object(), "south"
)
SAVED = {
    "legs": [{"start": "Ulm", "km": 1.5}, {"start": "Bern", "km": 2.0, "by": "bus"}],
    "hours": 3,
    "box": [1, 0.5],
    "notes": {"Ulm": ["steep"]},
    "name": "south",
}


def test_fields_are_written_once_by_name_without_defaults():
    assert to_plain(WALK) == SAVED
    assert to_plain(Walk(())) == {"legs": [], "notes": {}}


def test_written_data_are_read_back():
    assert from_plain(Walk, json.loads(json.dumps(SAVED)), map=WALK.map) == WALK


def test_data_written_by_asdict_are_read_too():
    leg = Leg("Ulm", 1.5)
    assert from_plain(Leg, json.loads(json.dumps(asdict(leg)))) == leg


def test_unknown_fields_of_later_versions_are_ignored_or_refused():
    assert from_plain(Leg, {"start": "Ulm", "km": 1, "shoes": 2}) == Leg("Ulm", 1.0)
    with pytest.raises(ValueError, match="Leg has no field 'shoes'"):
        PlainReader(strict=True).value(Leg, {"start": "Ulm", "km": 1, "shoes": 2})


@pytest.mark.parametrize(
    "damage",
    [
        {"legs": "Ulm"},
        {"hours": "3"},
        {"hours": True},
        {"box": [1]},
        {"name": 4},
        {"legs": [{"start": "Ulm", "km": 1.0, "by": "sea"}]},
    ],
)
def test_another_type_is_refused(damage):
    with pytest.raises(ValueError):
        from_plain(Walk, {**SAVED, **damage})


def test_a_missing_field_is_refused():
    with pytest.raises(TypeError, match="km"):
        from_plain(Leg, {"start": "Ulm"})


def test_custom_types_and_renamed_fields_are_read():
    class ShortWriter(PlainWriter):
        def value(self, value):
            return f"{value.start} {value.km}" if isinstance(value, Leg) else super().value(value)

    def leg(saved):
        return Leg(saved.split()[0], float(saved.split()[1]))

    saved = ShortWriter().fields(Walk((Leg("Ulm", 1.5),), 3))
    assert saved == {"legs": ["Ulm 1.5"], "hours": 3, "notes": {}}
    assert PlainReader({Leg: leg}, {"long": "hours"}).value(
        Walk, {"legs": ["Ulm 1.5"], "long": 3}
    ) == Walk((Leg("Ulm", 1.5),), 3)


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="A object cannot be saved"):
        to_plain(Walk((), notes={"Ulm": object()}))
