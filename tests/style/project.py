"""The packages of this project and their measurements."""

from __future__ import annotations

import builtins
import keyword
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.style.source import (
    MAX_COMPLEXITY,
    MAX_FUNCTION_LINES,
    MAX_SENTENCE_WORDS,
    Source,
    begins_with_question,
    first_sentence,
)

ROOT = Path(__file__).parents[2]
PACKAGES = ("core", "pages", "hopscope", "tests")
NOT_COUNTED = ("tests/benchmarks/", "tests/peers/")
LIBRARY_NAMES = frozenset(dir(builtins)) | set(keyword.kwlist) | sys.stdlib_module_names


@dataclass(frozen=True)
class Package:
    """The modules of a folder and what is counted over all of them."""

    name: str
    sources: tuple[Source, ...]

    @cached_property
    def counts(self) -> Counter[str]:
        """Sums of the counts of the modules."""
        total: Counter[str] = Counter()
        for source in self.sources:
            total.update(source.counts)
        return total

    @cached_property
    def sentence_words(self) -> list[int]:
        """Number of words of the first sentence of each docstring."""
        return [len(sentence.split()) for sentence in self.sentences]

    @cached_property
    def sentences(self) -> list[str]:
        """The first sentence of each docstring of a class or function."""
        sentences = []
        for source in self.sources:
            sentences += map(first_sentence, source.docstrings)
        return sentences

    def per_thousand_lines(self, name: str) -> float:
        """Return a count for each 1,000 non-blank lines."""
        return 1000 * self.counts[name] / max(self.counts["non-blank lines"], 1)

    def percent_of_docstrings(self, count: int) -> float:
        """Return a number of docstrings as a share of all."""
        return 100 * count / max(self.counts["docstrings"], 1)

    @property
    def mean_sentence_words(self) -> float:
        """Mean number of words of the first sentences."""
        return sum(self.sentence_words) / max(len(self.sentence_words), 1)

    @property
    def long_sentences(self) -> float:
        """Percentage of the first sentences that are too long."""
        long = sum(words > MAX_SENTENCE_WORDS for words in self.sentence_words)
        return self.percent_of_docstrings(long)

    @property
    def questions(self) -> float:
        """Percentage of the first sentences that begin with a question word."""
        return self.percent_of_docstrings(sum(map(begins_with_question, self.sentences)))

    @property
    def long_functions(self) -> set[tuple[str, str]]:
        """(path, name) of each function that is too long."""
        return self._functions(lambda function: function.lines > MAX_FUNCTION_LINES)

    @property
    def complex_functions(self) -> set[tuple[str, str]]:
        """(path, name) of each function that is too complex."""
        return self._functions(lambda function: function.complexity > MAX_COMPLEXITY)

    def _functions(self, is_counted: Callable) -> set[tuple[str, str]]:
        found = set()
        for source in self.sources:
            found |= {(source.path, item.name) for item in source.functions if is_counted(item)}
        return found

    @property
    def repeated_classes(self) -> set[tuple[str, str]]:
        """(path, name) of each class whose name another module has too."""
        return repeated(self.sources, lambda source: source.classes)

    @property
    def repeated_constants(self) -> set[tuple[str, str]]:
        """(path, name) of each constant whose name another module has too."""
        return repeated(self.sources, lambda source: source.constants)


def repeated(
    sources: Iterable[Source], names_of: Callable[[Source], list[str]]
) -> set[tuple[str, str]]:
    """Return (path, name) of each name that stands in several modules."""
    paths = defaultdict(set)
    for source in sources:
        for name in names_of(source):
            paths[name].add(source.path)
    found = set()
    for name, where in paths.items():
        if len(where) > 1:
            found |= {(path, name) for path in where}
    return found


@dataclass(frozen=True)
class Project:
    """The project as it lies on the disk."""

    root: Path
    packages: dict[str, Package]

    @property
    def product(self) -> Package:
        """All packages but the tests as one."""
        sources = []
        for package in self.packages.values():
            if package.name != "tests":
                sources += package.sources
        return Package("product", tuple(sources))

    @property
    def method_rows(self) -> int:
        """Number of methods in the catalogue."""
        files = (self.root / "core" / "methods").glob("*.toml")
        return sum(len(tomllib.loads(file.read_text("utf-8"))) for file in files)

    @property
    def document_words(self) -> int:
        """Number of words of the documents."""
        files = (self.root / "docs").rglob("*.md")
        return sum(len(file.read_text("utf-8").split()) for file in files)

    @property
    def missing_names(self) -> set[tuple[str, str]]:
        """(path, name) of each name in back-ticks in a docstring that stands for nothing."""
        sources = [source for package in self.packages.values() for source in package.sources]
        defined = set(LIBRARY_NAMES)
        words = set()
        for source in sources:
            defined |= source.defined_names
            words |= source.words | source.defined_names
        missing = set()
        for source in sources:
            for name in source.ticked_names:
                first, *rest = name.split(".")
                is_known = first in defined or first in source.words
                if not (is_known and words.issuperset(rest)):
                    missing.add((source.path, name))
        return missing


def read_package(root: Path, name: str) -> Package:
    """Read the modules of a folder, without those that are not counted."""
    sources = []
    for path in sorted((root / name).rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if not place.startswith(NOT_COUNTED):
            sources.append(Source(place, path.read_text("utf-8")))
    return Package(name, tuple(sources))


def read_project(root: Path = ROOT) -> Project:
    """Read all packages of the project."""
    return Project(root, {name: read_package(root, name) for name in PACKAGES})
