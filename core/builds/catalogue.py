"""Catalogue of the builds that ship, read from builds.toml and checked.

It also finds the build that a text names: an id, a kind of graph, or a line of operators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from core.builds.base import BuildLine, BuildOperator
from core.builds.registry import BUILD_GRAMMAR
from core.errors import BadParameter, shorten, suggest_name
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
# Between the id of a row and the language model that replaces the row's own.
MODEL_SEPARATOR = "@"
# Values of `GraphBuild.extractor`, which explains them.
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

    - "llm" is a language model, and "paper" is one with the settings of the papers.
    - "described" is a parser for names with a language model for their descriptions.
    - "names" and "noun-phrases" are parsers alone.
    - "opened" is the index of another tool.
    - For a corpus graph it is the origin of the links: "given" links, the "nearest" documents,
      shared "terms", "cited" documents, or "cited-llm" if a language model finds the citations.
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
    def is_own(self) -> bool:
        """True if no row of the catalogue has this line with any language model.

        The id is then the text of the line, such as “TokenChunks() >> ...”.
        """
        return "(" in self.id

    @property
    def catalogue_id(self) -> str:
        """Id of the catalogue row with this line, without the name of another model."""
        return self.id.partition(MODEL_SEPARATOR)[0]

    def with_model(self, model: str) -> GraphBuild:
        """Return this build with another language model.

        A row of the catalogue with that line is preferred. Raises BadParameter if the build uses no
        language model.

        >>> from core.builds import find_build
        >>> find_build("kg-described").with_model("qwen-0.5b").id
        'kg-described@qwen-0.5b'
        """
        if not self.line.uses_chat_model:
            raise BadParameter(f"The build “{self.title}” asks no language model.")
        line = BuildLine(tuple(_with_model(operator, model) for operator in self.line))
        return _build_with_line(line) or replace(
            self,
            id=f"{self.catalogue_id}{MODEL_SEPARATOR}{model}",
            line=line,
            title=f"{self.title.split(':')[0]}: {model}",
        )


@cache
def catalogue() -> dict[str, GraphBuild]:
    """Return the builds that ship, by id.

    Raises BadParameter for a mistake in the file, with the row, the key and the nearest valid name.
    """
    return read_builds(BUILDS_FILE)


def read_builds(file: Path) -> dict[str, GraphBuild]:
    """Return the builds of one TOML file. Raises BadParameter."""
    return {
        key: GraphBuild(key, **fields)
        for key, fields in BUILD_GRAMMAR.read_file(file, BUILD_FIELDS)
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
        return builds[row].with_model(model)
    if builds_of_kind(spec):
        return builds_of_kind(spec)[0]
    if "(" not in spec:
        kinds = dict.fromkeys(build.graph for build in builds.values())
        raise BadParameter(
            f"There is no build “{shorten(spec)}”.{suggest_name(spec, [*builds, *kinds])}"
        )
    line = BUILD_GRAMMAR.parse(spec)
    return _build_with_line(line) or GraphBuild(repr(line), "Own build", line, graph_kind(line))


def _build_with_line(line: BuildLine) -> GraphBuild | None:
    return next((build for build in catalogue().values() if build.line == line), None)


def graph_kind(line: BuildLine) -> str:
    """Return the kind of graph that a line makes.

    The line is compared with the rows of the catalogue, beginning at the operator that makes the
    graph. Of the rows with the same operators, the one with the fewest different parameters counts.
    Empty if no row has these operators.

    >>> from core.builds.catalogue import graph_kind
    >>> from core.builds.registry import BUILD_GRAMMAR
    >>> graph_kind(
    ...     BUILD_GRAMMAR.parse(
    ...         "SentenceChunks() >> NounPhrases() >> Merge(longest=90) >> Vectors(of='nodes')"
    ...     )
    ... )
    'rkg'
    >>> graph_kind(
    ...     BUILD_GRAMMAR.parse("TokenChunks() >> NounPhrases() >> PassageGraph() >> AddSynonymEdges()")
    ... )
    ''
    """
    steps = _graph_steps(line)
    kinds: list[tuple[int, str]] = []  # number of different parameters, kind of graph
    for build in catalogue().values():
        build_steps = _graph_steps(build.line)
        if list(map(type, build_steps)) == list(map(type, steps)):
            n_changes = sum(len(changed_values(*pair)) for pair in zip(build_steps, steps))
            kinds.append((n_changes, build.graph))
    return min(kinds, key=lambda pair: pair[0], default=(0, ""))[1]


def _graph_steps(line: BuildLine) -> list[BuildOperator]:
    """Return the operators that decide the kind of graph.

    The first makes the graph. Those after it change it, and operators of stage “index” are left
    out.
    """
    start = next((index for index, step in enumerate(line) if "graph" in step.writes), len(line))
    return [step for step in line.operators[start:] if step.stage != "index"]


def builds_of_kind(graph: str) -> list[GraphBuild]:
    """Return the builds of a kind of graph: by a language model first, by noun phrases last."""
    return [build for build in catalogue().values() if build.graph == graph]


def choose_build(graph: str, extractor: str = "") -> GraphBuild:
    """Return the build of a kind of graph by an extractor.

    Parameters
    ----------
    graph : a kind of graph, or the id of a build.
    extractor : name of an extractor; empty for the first build of that kind.

    Returns
    -------
    A build. If none of the kind has that extractor, the first without any, else the first.

    Raises
    ------
    BadParameter : there is no such kind, build or extractor.
    """
    builds = builds_of_kind(graph)
    if not builds:
        return find_build(graph)
    if extractor and extractor not in EXTRACTORS:
        raise BadParameter(
            f"There is no extractor “{shorten(extractor)}”.{suggest_name(extractor, EXTRACTORS)}"
        )
    if not extractor:
        return builds[0]
    # In reverse order, so that the first of several builds by one extractor remains.
    first_by_extractor = {build.extractor: build for build in reversed(builds)}
    return first_by_extractor.get(extractor) or first_by_extractor.get("", builds[0])


def _with_model(operator: BuildOperator, model: str) -> BuildOperator:
    """Return an operator with another language model, if it uses one."""
    model_values = {
        value.name: model
        for value in parameters(type(operator))
        if value.chat and getattr(operator, value.name) in operator.models()
    }
    return replace(operator, **model_values)
