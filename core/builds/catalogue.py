"""Catalogue of the builds that ship, read from builds.toml and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from core.builds.base import BuildLine, BuildOperator
from core.builds.registry import BUILD_GRAMMAR
from core.errors import BadParameter, nearest, shorten
from core.lines.difference import changed_values
from core.parameters import parameters

BUILDS_FILE = Path(__file__).with_name("builds.toml")
BUILD_FIELDS = ("title", "graph", "extractor", "paper", "notes", "line")
GRAPH_KIND_WORDS = {
    "chunks": "chunks alone",
    "passage": "passage graph",
    "tree": "tree of summaries",
    "tree-k": "tree of summaries by k-means",
    "kg": "knowledge graph",
    "kg-synonyms": "knowledge graph with similar names linked",
    "tkg": "textual knowledge graph",
    "tkg-synonyms": "textual knowledge graph with similar entities linked",
    "rkg": "rich knowledge graph",
    "links": "corpus graph",
}
"""Short description of each kind of graph."""
MODEL_SEPARATOR = (
    "@"  # Separator between the id of a row and the language model that replaces the row's own.
)
EXTRACTORS = (
    "llm",
    "described",
    "names",
    "noun-phrases",
    "given",
    "nearest",
    "terms",
    "cited",
    "cited-llm",
    "paper",
    "opened",
)


@dataclass(frozen=True)
class GraphBuild:
    """A named line of building operators.

    `graph` is the kind of graph, a key of `GRAPH_KIND_WORDS`. `extractor` tells where the facts
    come from:

    - "llm" is a language model, "paper" the same with the settings of the papers.
    - "described" is a parser for names with a language model for their descriptions.
    - "names" and "noun-phrases" are parsers alone.
    - "opened" is the index of another tool.
    - For a corpus graph it is the origin of the links: "given" links, the "nearest" documents,
      shared "terms", "cited" documents, or "cited-llm" where a language model finds the citations.
    - Empty means that nothing is read.
    """

    id: str
    title: str
    line: BuildLine
    graph: str = ""
    extractor: str = ""
    paper: str = ""
    notes: str = ""

    @property
    def own(self) -> bool:
        """True if the line is no row of the catalogue, with any language model. The id is then the
        line."""
        return "(" in self.id

    @property
    def row(self) -> str:
        """Id of the catalogue row with this line, whatever its language model."""
        return self.id.partition(MODEL_SEPARATOR)[0]

    def by(self, model: str) -> GraphBuild:
        """Return this build with another language model.

        Raises BadParameter where it uses none.

        >>> from core.builds import find_build
        >>> find_build("kg-described").by("qwen-0.5b").id
        'kg-described@qwen-0.5b'
        """
        if not self.line.asks_chat:
            raise BadParameter(f"The build “{self.title}” asks no language model.")
        line = BuildLine(tuple(_asking(operator, model) for operator in self.line))
        match = next((one for one in catalogue().values() if one.line == line), None)
        return match or replace(
            self,
            id=f"{self.row}{MODEL_SEPARATOR}{model}",
            line=line,
            title=f"{self.title.split(':')[0]}: {model}",
        )


@cache
def catalogue() -> dict[str, GraphBuild]:
    """Return the builds that ship, by id.

    Raises BadParameter with the file, row and key, and the nearest valid name.
    """
    return read_builds(BUILDS_FILE)


def read_builds(file: Path) -> dict[str, GraphBuild]:
    """Return the builds of one TOML file. Raises BadParameter."""
    return {
        key: GraphBuild(key, **fields) for key, fields in BUILD_GRAMMAR.read(file, BUILD_FIELDS)
    }


def find_build(spec: str) -> GraphBuild:
    """Return the build that a text names.

    The text is the id of a build, a kind of graph (the first build of that kind), or a line of
    building operators. An id may name another language model after an @, as in
    "tkg-described@qwen-0.5b". Raises BadParameter.
    """
    builds = catalogue()
    if spec in builds:
        return builds[spec]
    row, _, model = spec.partition(MODEL_SEPARATOR)
    if row in builds and model:
        return builds[row].by(model)
    if of_kind(spec):
        return of_kind(spec)[0]
    if "(" not in spec:
        raise BadParameter(
            f"There is no build “{shorten(spec)}”."
            f"{nearest(spec, [*builds, *dict.fromkeys(b.graph for b in builds.values())])}"
        )
    line = BUILD_GRAMMAR.parse(spec)
    return next(
        (build for build in builds.values() if build.line == line),
        GraphBuild(repr(line), "Own build", line, kind_of(line)),
    )


def kind_of(line: BuildLine) -> str:
    """Return the kind of graph that a line makes.

    It is the kind of the catalogue row with the same operators from the graph on. Among several
    such rows, the one with the fewest different settings counts. Empty where no row has these
    operators.

    >>> from core.builds.catalogue import kind_of
    >>> from core.builds.registry import BUILD_GRAMMAR
    >>> kind_of(
    ...     BUILD_GRAMMAR.parse(
    ...         "SentenceChunks() >> NounPhrases() >> Merge(longest=90) >> Vectors(of='nodes')"
    ...     )
    ... )
    'rkg'
    >>> kind_of(
    ...     BUILD_GRAMMAR.parse("TokenChunks() >> NounPhrases() >> PassageGraph() >> AddSynonymEdges()")
    ... )
    ''
    """
    steps = _graph_steps(line)
    alike = [
        (row.graph, other)
        for row in catalogue().values()
        if [*map(type, other := _graph_steps(row.line))] == [*map(type, steps)]
    ]
    differing = lambda pair: sum(len(changed_values(*both)) for both in zip(pair[1], steps))
    return min(alike, key=differing)[0] if alike else ""


def _graph_steps(line: BuildLine) -> list[BuildOperator]:
    """Return the operators that decide the kind of graph.

    They are the one that makes the graph and those after it, without vectors.
    """
    start = next((index for index, one in enumerate(line) if "graph" in one.writes), len(line))
    return [one for one in line.operators[start:] if one.stage != "index"]


def of_kind(graph: str) -> list[GraphBuild]:
    """Return the builds of a kind of graph: by a language model first, by noun phrases last."""
    return [build for build in catalogue().values() if build.graph == graph]


def choose_build(graph: str, extractor: str = "") -> GraphBuild:
    """Return the build of a kind of graph by an extractor, else the first of that kind.

    Parameters
    ----------
    graph : a kind of graph, or the id of a build.
    extractor : name of an extractor; empty for the first build of that kind.

    Returns
    -------
    A build; the first of the kind if none has that extractor.

    Raises
    ------
    BadParameter : there is no such kind, build or extractor.
    """
    fit = of_kind(graph)
    if not fit:
        return find_build(graph)
    if extractor and extractor not in EXTRACTORS:
        raise BadParameter(
            f"There is no extractor “{shorten(extractor)}”.{nearest(extractor, EXTRACTORS)}"
        )
    if extractor:
        return next(
            (build for name in (extractor, "") for build in fit if name == build.extractor),
            fit[0],
        )
    return fit[0]


def _asking(operator: BuildOperator, model: str) -> BuildOperator:
    """Return an operator with another language model, if it uses one."""
    model_values = {
        p.name: model
        for p in parameters(type(operator))
        if p.chat and getattr(operator, p.name) in operator.models()
    }
    return replace(operator, **model_values)
