"""The rows of the table of measurements, their limits, and the exceptions that still stand.

An exception is a line of `exceptions.txt`: a rule, a place, and a name or a number. A ceiling lies
a little above the figure of the day it was set, so that small changes need no new one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.style.project import Package, Project

EXCEPTIONS = Path(__file__).with_name("exceptions.txt")
COMMAND = "python -m tests.style --exceptions"
HEADING = f"# Where the style is worse than its limits. May only become shorter: `{COMMAND}`.\n"
MAX_LOOSE_STEPS = 3  # a ceiling this far above its figure must be lowered
MIN_LOOSE_ITEMS = 3  # in a small package a single item moves a rate by more than a step


@dataclass(frozen=True)
class Row:
    """A row of the table, with its limit where it has one."""

    label: str
    figure: Callable[[Package], float]
    limit: float | dict[str, float] = math.inf  # by package where it is not the same for all
    step: float = 1  # to which a ceiling is rounded up
    unit: str = ""  # behind the label in the table

    @property
    def key(self) -> str:
        """The label as one word."""
        return re.sub(r"\W+", "-", self.label).strip("-")

    def limit_of(self, package: Package) -> float:
        """Return what the figure of a package may be without an exception."""
        if isinstance(self.limit, dict):
            return self.limit.get(package.name, math.inf)
        return self.limit

    def step_of(self, package: Package) -> float:
        """Return the step to which the ceilings of a package are rounded."""
        return max(self.step, 1000 * MIN_LOOSE_ITEMS / max(package.counts["non-blank lines"], 1))

    def ceiling_of(self, package: Package) -> float:
        """Return a ceiling between a half and one and a half steps above today's figure."""
        step = self.step_of(package)
        return round(math.ceil(self.figure(package) / step + 0.5) * step, 2)


def counted(name: str, limit: float | dict[str, float] = math.inf, step: float = 1) -> Row:
    """Return the row of a number of things."""
    return Row(name, lambda package: package.counts[name], limit, step)


def rate(name: str, limit: float = math.inf, step: float = 1) -> Row:
    """Return the row of a number of things for each 1,000 non-blank lines."""
    figure = partial(Package.per_thousand_lines, name=name)
    return Row(name, figure, limit, step, unit=", per 1,000 lines")


def names(places: set[tuple[str, str]]) -> int:
    """Return how many names stand at some places."""
    return len({name for _, name in places})


ROWS = (
    counted("modules"),
    counted("non-blank lines"),
    counted("code lines", {"core": 56_000, "pages": 12_500, "tests": 47_000}, step=500),
    counted("statements"),
    counted("comment lines"),
    counted("docstrings"),
    counted("parameter sections"),
    Row("words of a first sentence", lambda package: package.mean_sentence_words, 11, 0.5),
    Row("first sentences over 18 words, %", lambda package: package.long_sentences, 0),
    Row("first sentences that are questions, %", lambda package: package.questions, 0),
    rate("conditional expressions", 20),
    rate("comprehensions", 35),
    rate("nested comprehensions", 0.5, step=0.25),
    rate("tuple assignments", 3),
    rate("named lambdas", 0, step=0.25),
    rate("calls with six positional arguments", 0.5, step=0.25),
    rate("lines over 100 columns", 0),
    Row("functions over 40 lines", lambda package: len(package.long_functions)),
    Row("functions of complexity over 15", lambda package: len(package.complex_functions)),
    Row("class names that occur twice", lambda package: names(package.repeated_classes)),
    Row("constants in two modules", lambda package: names(package.repeated_constants), 20, 5),
)


@dataclass(frozen=True)
class Exceptions:
    """Places and ceilings that may be worse than the limits."""

    places: frozenset[str]  # "rule path name"
    ceilings: dict[str, float]  # by "ceiling package row"

    def text(self) -> str:
        """Return the exceptions as they stand in their file."""
        ceilings = [f"{key} {ceiling:g}" for key, ceiling in self.ceilings.items()]
        return HEADING + "\n".join(sorted([*self.places, *ceilings])) + "\n"

    def __len__(self) -> int:
        return len(self.places) + len(self.ceilings)


def read_exceptions(text: str) -> Exceptions:
    """Read the text of the file of exceptions."""
    places = set()
    ceilings = {}
    for line in text.splitlines():
        if line.startswith("ceiling "):
            key, ceiling = line.rsplit(" ", 1)
            ceilings[key] = float(ceiling)
        elif line and not line.startswith("#"):
            places.add(line)
    return Exceptions(frozenset(places), ceilings)


def needed_exceptions(project: Project) -> Exceptions:
    """Return the exceptions that the project needs as it is today."""
    found = {"missing-name": project.missing_names, "class": set(), "complex": set(), "long": set()}
    for package in project.packages.values():
        found["complex"] |= package.complex_functions
        found["long"] |= package.long_functions
    for package in (project.product, project.packages["tests"]):
        found["class"] |= package.repeated_classes
    places = set()
    for rule, where in found.items():
        places |= {f"{rule} {path} {name}" for path, name in where}
    ceilings = {}
    for key, row, package in limited(project):
        if row.figure(package) > row.limit_of(package):
            ceilings[key] = row.ceiling_of(package)
    return Exceptions(frozenset(places), ceilings)


def limited(project: Project) -> Iterator[tuple[str, Row, Package]]:
    """Yield each row with a limit and each package, and the key of its ceiling."""
    for package in project.packages.values():
        for row in ROWS:
            if row.limit_of(package) < math.inf:
                yield f"ceiling {package.name} {row.key}", row, package


def problems(project: Project, exceptions: Exceptions) -> list[str]:
    """Say what is worse than limits and exceptions allow, and which exceptions are superfluous."""
    needed = needed_exceptions(project)
    found = [f"worse than allowed: {place}" for place in needed.places - exceptions.places]
    found += [f"needs no exception: {place}" for place in exceptions.places - needed.places]
    unknown = set(exceptions.ceilings)
    for key, row, package in limited(project):
        unknown.discard(key)
        figure = row.figure(package)
        ceiling = exceptions.ceilings.get(key, row.limit_of(package))
        if figure > ceiling:
            found.append(f"worse than allowed: {key} {ceiling:g}, is {figure:.2f}")
        elif key in exceptions.ceilings and key not in needed.ceilings:
            found.append(f"needs no exception: {key}, is {figure:.2f}")
        elif key in needed.ceilings and is_loose(ceiling, row, package):
            found.append(f"needs a lower ceiling: {key} {ceiling:g}, is {figure:.2f}")
    return sorted(found + [f"needs no exception: {key}" for key in unknown])


def is_loose(ceiling: float, row: Row, package: Package) -> bool:
    """Return whether a ceiling lies far above the figure of today."""
    return row.figure(package) < ceiling - MAX_LOOSE_STEPS * row.step_of(package)


def shortened(exceptions: Exceptions, needed: Exceptions) -> Exceptions:
    """Return the exceptions without those that are not needed, with the lower ceilings."""
    ceilings = {}
    for key in exceptions.ceilings.keys() & needed.ceilings.keys():
        ceilings[key] = min(exceptions.ceilings[key], needed.ceilings[key])
    return Exceptions(exceptions.places & needed.places, ceilings)
