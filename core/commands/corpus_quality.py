"""Command `corpus quality`: quality of the graphs of a corpus, measured without questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from core.builds import build_status, open_graph
from core.builds.shipped_data import builds_of
from core.commands.terminal import EXIT_OK, TerminalBar, add_switch, add_text, print_json
from core.corpus import Corpus, open_corpus
from core.corpus.entity_merges import read_merges
from core.datasets import question_set
from core.diagnosis.quality import measure_quality
from core.errors import BadInput
from core.graph.edits import edit_graph
from core.types import Question


def add_part(parts) -> None:
    """Add this part of `corpus` and its options."""
    quality_parser = parts.add_parser(
        "quality",
        help="how good the graphs of a corpus are, before any question is asked",
        description="Of each graph that is built: entities without relations, components, names "
        "that are there twice, chunks without an entity; with --set also which correct answers and "
        "evidence passages are in no node. No model is asked.",
    )
    quality_parser.add_argument("name", metavar="NAME", help="the corpus")
    add_text(
        quality_parser,
        "--graph",
        "BUILD",
        "one build, as status lists them (default: all that are built)",
    )
    add_text(
        quality_parser,
        "--set",
        "SET",
        "a question set with correct answers or evidence passages, or a file of questions",
    )
    add_switch(quality_parser, "--json", "print one JSON object")
    quality_parser.set_defaults(run=run)


def run(options) -> int:
    """Print the counts of each graph and return the exit code."""
    with TerminalBar("Opening the corpus"):
        corpus = open_corpus(options.name)
    questions = _questions(corpus, options.set)
    merges = read_merges(corpus)
    quality_by_build = {}
    for build in [options.graph] if options.graph else _usable_builds(corpus):
        graph = edit_graph(open_graph(corpus, build), merges.edits)
        quality_by_build[build] = measure_quality(graph, questions, merges)
    if options.json:
        print_json({build: dataclasses.asdict(one) for build, one in quality_by_build.items()})
        return EXIT_OK
    for build, graph_quality in quality_by_build.items():
        print(f"{build}:")
        for sentence in graph_quality.sentences() or ["No entities, and no chunks."]:
            print(f"  {sentence}")
        print()
    return EXIT_OK


def _usable_builds(corpus: Corpus) -> list[str]:
    """Return the ids of the builds that can be used. Raises BadInput if there is none."""
    build_ids = [
        one.id for one in builds_of(corpus).values() if build_status(corpus, one).can_be_opened
    ]
    if not build_ids:
        raise BadInput(
            f"No graph is built of {corpus.name}; build one with: hopscope corpus build "
            f"{corpus.name}"
        )
    return build_ids


def _questions(corpus: Corpus, name: str) -> Sequence[Question]:
    """Return the questions of a set of the corpus or of a file. Raises BadInput."""
    if name and name not in corpus.sets and Path(name).is_file():
        return question_set(name).questions()
    return corpus.questions(name) if name else ()
