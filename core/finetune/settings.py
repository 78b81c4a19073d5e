"""Settings of trainings as values for JSON, for the records and keys of trainings."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def settings_dict(settings: DataclassInstance) -> dict[str, Any]:
    """Return the settings of a training as values that JSON can hold: tuples become lists."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(settings).items()
    }
