"""Command `reports`: let a language model write community reports before they are needed."""

from __future__ import annotations

from core.commands.terminal import (
    EXIT_OK,
    TerminalBar,
    add_list,
    add_switch,
    warn,
    whole_number,
)
from core.datasets import questions
from core.errors import BadInput
from core.evaluation.runs.plan import draw_sample
from core.graph.algorithms.igraph_library import community_notes
from core.graph.names.lookup import name_lookup
from core.indexes.communities import load_communities
from core.indexes.reports import ReportStore
from core.io.durations import with_time_left


def add_command(subparsers) -> None:
    """Add the command and its options."""
    reports = subparsers.add_parser(
        "reports",
        description="Write the reports of communities that are not written yet: of named "
        "entities, of the entities of a question set, or of all. Ctrl-C stops; what was written "
        "stays, and the same command continues from there.",
    )
    add_list(reports, "--entity", "NAME", "of this entity's community; repeat for more")
    reports.add_argument("--set", metavar="NAME", help="of the entities in this question set")
    reports.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="only N of its questions, the same ones that evaluate draws with that seed",
    )
    reports.add_argument("--seed", type=whole_number(0), default=0)
    add_switch(reports, "--all", "of every community of the graph, the largest first")
    reports.add_argument(
        "--graph", default="metaqa", metavar="NAME", help="a graph's name (default: metaqa)"
    )
    reports.add_argument(
        "--size", type=int, default=10, metavar="N", help="the largest community (default: 10)"
    )
    reports.add_argument(
        "--model",
        default="answer",
        metavar="NAME",
        help="the role or name of the writing model (default: answer)",
    )
    reports.set_defaults(run=run)


def run(options) -> int:
    """Write the reports, print how many, and return the exit code."""
    if options.size < 2:
        raise BadInput("--size must be at least 2.")
    engine = options.engine()
    with TerminalBar("Opening the graph") as watch:
        graph = engine.graph(options.graph, watch=watch)
        communities = load_communities(graph, options.size, watch)
    warn(community_notes())
    reports = ReportStore(
        graph,
        communities,
        lambda: engine.models.chat(options.model),
        engine.models.signature(options.model),
    )
    with TerminalBar("Reports") as watch:
        chosen = _chosen_communities(options, graph, communities)
        written, saved = reports.write_missing(chosen, with_time_left(watch))
    print(
        f"{written:,} reports written, {saved:,} were there, of {len(communities):,} communities "
        f"of {graph.name}."
    )
    return EXIT_OK


def _chosen_communities(options, graph, communities) -> list[int]:
    """Return the communities that the options name. Raises BadInput if they name none."""
    import numpy as np

    if options.all:
        return np.argsort(-communities.sizes(), kind="stable").tolist()
    entities = list(options.entity)
    if options.set:
        entities += [
            entity
            for question in draw_sample(questions(options.set), options.sample, options.seed)
            for entity in question.entities
        ]
    if not entities:
        raise BadInput("Say whose reports: --entity NAME, --set NAME or --all.")
    nodes = map(name_lookup(graph).find, dict.fromkeys(entities))
    return [int(communities.community_of[node]) for node in nodes]
