"""Cost of building graphs by graph and step (In-depth Analysis, Exp. 2, Figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.builds.report import GRAPH_STEPS, INDEX_STEPS, StepCost, step_costs
from core.evaluation.metrics.build_cost import read_build_cost
from core.types import Usage

TOKEN_COLUMNS = ("calls", "prompt tokens", "completion tokens")
BUILDING_COST_HEAD = ("graph", "part", "step", "seconds", *TOKEN_COLUMNS)
BUILD_PART_NAMES = {GRAPH_STEPS: "graph", INDEX_STEPS: "index"}


@dataclass(frozen=True)
class BuildingCosts:
    """A figure of a paper on the cost of building graphs.

    It is described by a TOML file.

    Parameters
    ----------
    id : name of the figure in the command `reproduce`.
    paper : title of the paper.
    place : number of the figure in the paper.
    title : title of the figure.
    builds : build of each graph, by the paper's name of the graph: first those that take no tokens,
        then the others in the paper's order of tokens.
    small_builds : the same for a small run.
    small : corpus of a small run.
    documents : number of the corpus's first documents that a small run takes.
    levels : names of the graphs, in ascending order of the tokens that the paper reports.
    index : name of the graph whose index the paper compares with the graph itself.
    hours : estimated hours of the whole experiment.
    differs : sentences on differences from the paper.
    """

    id: str
    paper: str
    place: str
    title: str
    builds: Mapping[str, str]
    small_builds: Mapping[str, str]
    small: str
    documents: int
    levels: tuple[str, ...]
    index: str
    hours: int
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphCost:
    """Cost of one graph by its steps.

    `name` is the paper's name of the graph, `build` the id of its build, and `chunks` the number of
    chunks that were read. `whole` is False if the tokens of the build are unknown, because an
    earlier build had read chunks. The field names are those of the command's JSON.
    """

    name: str
    build: str
    chunks: int
    steps: tuple[StepCost, ...] = field(default=())
    whole: bool = True

    def usage(self, part: str = "") -> Usage:
        """Return the calls and tokens of language models.

        They are those of all steps, or of a part's steps.
        """
        return sum((step.usage for step in self.steps if part in ("", step.part)), Usage())

    def seconds(self, part: str = "") -> float:
        """Return wall-clock seconds, of all steps or of a part's steps."""
        return sum(step.seconds for step in self.steps if part in ("", step.part))


def graph_cost(name: str, build: str, report: Mapping[str, Any], asks_model: bool) -> GraphCost:
    """Return the cost of a graph from the report of its build.

    Parameters
    ----------
    name : the paper's name of the graph.
    build : id of the build.
    report : the report of the build as plain data.
    asks_model : True if the build asks a language model.

    Returns
    -------
    The cost by step. `whole` is False if the report has no steps, if an earlier build had read
        chunks, or if the graph was shipped with its corpus.
    """
    steps = step_costs(report)
    has_tokens = read_build_cost(report, asks_model).tokens is not None
    is_whole = bool(steps) and not report.get("shipped") and has_tokens
    return GraphCost(name, build, report.get("counts", {}).get("chunks", 0), steps, is_whole)


def cost_rows(costs: Sequence[GraphCost]) -> list[list[str]]:
    """Return the rows under `BUILDING_COST_HEAD` as texts: one per step, and a total per graph."""
    rows = []
    for cost in costs:
        for step in cost.steps:
            step_cells = [cost.name, BUILD_PART_NAMES[step.part], step.step]
            rows.append([*step_cells, f"{step.seconds:,.1f}", *_token_cells(step.usage)])
        total_cells = [cost.name, "", "together"]
        rows.append([*total_cells, f"{cost.seconds():,.1f}", *_token_cells(cost.usage())])
    return rows


def check_claims(published: BuildingCosts, costs: Sequence[GraphCost]) -> list[str]:
    """Compare the paper's statements on the costs of building with the measured figures.

    Parameters
    ----------
    published : the experiment, with the paper's order of the graphs.
    costs : the measured cost of each graph.

    Returns
    -------
    One sentence per statement, preceded by sentences on graphs with incomplete or no tokens.
    """
    cost_by_name = {cost.name: cost for cost in costs}
    sentences = [
        f"{cost.name}: chunks had been read before, so that its tokens are not whole."
        for cost in costs
        if not cost.whole
    ]
    names_without_model = [cost.name for cost in costs if not cost.usage().calls]
    if names_without_model:
        names = ", ".join(names_without_model)
        sentences.append(f"No language model was asked for {names}: 0 tokens.")
    ordered = [cost_by_name[name] for name in published.levels if name in cost_by_name]
    sentences += _check_order([cost for cost in ordered if cost.usage().calls])
    sentences += _check_prompts([cost for cost in costs if cost.usage().calls])
    if published.index in cost_by_name:
        sentences += _check_index(cost_by_name[published.index])
    return sentences


def _check_order(costs: Sequence[GraphCost]) -> list[str]:
    """Return the statements on the tokens of graphs.

    The graphs are given in the paper's order.
    """
    if len(costs) < 2:
        return []
    tokens = [_total_tokens(cost.usage(GRAPH_STEPS)) for cost in costs]
    words = ", ".join(f"{cost.name} {number:,}" for cost, number in zip(costs, tokens))
    agrees = "as here" if tokens == sorted(tokens) else "which is another order than here"
    sentences = [
        f"Tokens of building the graph: {words}. The paper's order is "
        f"{', '.join(cost.name for cost in costs)}, {agrees}."
    ]
    if tokens[0]:
        sentences.append(
            f"{costs[-1].name} takes {tokens[-1] / tokens[0]:.1f} times the tokens of "
            f"{costs[0].name}; in the paper up to 40."
        )
    return sentences


def _check_prompts(costs: Sequence[GraphCost]) -> list[str]:
    """Return the statement on the tokens of prompts.

    It is about graphs that a language model built.
    """
    if not costs:
        return []
    count = sum(cost.usage().tokens_in > cost.usage().tokens_out for cost in costs)
    return [
        f"Prompts have more tokens than completions in {count} of {len(costs)} graphs; in the "
        "paper in all."
    ]


def _check_index(cost: GraphCost) -> list[str]:
    """Return the statement on the index of a graph.

    It is made if tokens were spent on the graph itself.
    """
    graph_tokens = _total_tokens(cost.usage(GRAPH_STEPS))
    if not graph_tokens:
        return []
    share = _total_tokens(cost.usage(INDEX_STEPS)) / graph_tokens
    return [
        f"The index of {cost.name} takes {share:.2f} times the tokens of its graph; in the "
        "paper nearly as many."
    ]


def building_markdown(
    published: BuildingCosts, subject: str, costs: Sequence[GraphCost], sentences: Sequence[str]
) -> str:
    """Return the table as Markdown, with the paper's statements below it.

    Parameters
    ----------
    published : the experiment.
    subject : words for the corpus and the model.
    costs : the measured cost of each graph.
    sentences : the result of `check_claims`.

    Returns
    -------
    A document in Markdown.
    """
    lines = [
        f"# {published.place}: {published.title}",
        "",
        f"{published.paper}; {subject}",
        "",
        f"| {' | '.join(BUILDING_COST_HEAD)} |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    lines += map(markdown_row, cost_rows(costs))
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in sentences), ""])


def markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown.

    Vertical bars in its cells are escaped.
    """
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _token_cells(usage: Usage) -> list[str]:
    return [f"{number:,}" for number in (usage.calls, usage.tokens_in, usage.tokens_out)]


def _total_tokens(usage: Usage) -> int:
    return usage.tokens_in + usage.tokens_out
