"""Common code of the peer programs: read the inputs and write the results."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from encoder import Encoder


class ProgramInputs:
    """Passages, entities, relations and questions; their numbers are their positions."""

    def __init__(self, told: dict[str, Any]):
        self.digest: str = told["digest"]
        self.passages: list[str] = told["passages"]
        self.facts: list[Any] = told["facts"]
        self.entities: dict[str, list[Any]] = told["entities"]
        self.relations: list[list[Any]] = told["relations"]
        self.communities: list[list[Any]] = told["communities"]
        self.questions: list[dict[str, Any]] = told["questions"]
        self.encoder = Encoder(self.passages)

    @cached_property
    def entity(self) -> dict[str, int]:
        """Number of each entity by name."""
        return {name: place for place, name in enumerate(self.entities)}

    @cached_property
    def relation(self) -> dict[tuple[str, ...], int]:
        """Number of each relation by its sorted ends."""
        return {tuple(one[:2]): place for place, one in enumerate(self.relations)}

    @cached_property
    def passage(self) -> dict[str, int]:
        """Number of each passage by text."""
        return {text: place for place, text in enumerate(self.passages)}

    def between(self, one: str, other: str) -> int:
        """The number of the relation of two entities."""
        return self.relation[tuple(sorted((one, other)))]


def record(package: str, outcome: Callable[[ProgramInputs], dict[str, Any]]) -> None:
    """Read inputs from the first file of the command line, and write results to the second."""
    given = ProgramInputs(json.loads(gzip.decompress(Path(sys.argv[1]).read_bytes())))
    told = {"program": f"{package} {version(package)}", "given": given.digest, **outcome(given)}
    Path(sys.argv[2]).write_bytes(
        gzip.compress(json.dumps(told, sort_keys=True, separators=(",", ":")).encode(), mtime=0)
    )
