"""Command `corpus quality`: quality of the graphs of a corpus, measured without questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from core.builds import open_graph, status
from core.builds.shipped import builds_of
from core.commands.terminal import OK, bar
from core.corpus import Corpus, open_corpus
from core.corpus.mends import mends_of
from core.datasets import question_set
from core.diagnosis.quality import quality
from core.errors import BadInput
from core.graph.edits import edited
from core.io.json_text import json_text
from core.types import Question


def add_part(parts) -> None:
    """Add this part of `corpus` and its options."""
    made = parts.add_parser(
        "quality",
        help="how good the graphs of a corpus are, before any question is asked",
        description="Of each graph that is built: entities without relations, components, names "
        "that are there twice, chunks without an entity; with --set also which known answers and "
        "gold passages are in no node. No model is asked.",
    )
    made.add_argument("name", metavar="NAME", help="the corpus")
    made.add_argument(
        "--graph",
        default="",
        metavar="BUILD",
        help="one build, as status lists them (default: all that are built)",
    )
    made.add_argument(
        "--set",
        default="",
        metavar="SET",
        help="a question set with known answers or gold passages, or a file of questions",
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    made.set_defaults(run=run)


def run(options) -> int:
    """Print the counts of each graph and return the exit code."""
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
    questions = _questions(corpus, options.set)
    mends, found = mends_of(corpus), {}
    for build in [options.graph] if options.graph else _built(corpus):
        graph = edited(open_graph(corpus, build), mends.edits)
        found[build] = quality(graph, questions, mends)
    if options.json:
        print(
            json_text(
                {build: dataclasses.asdict(one) for build, one in found.items()},
                indent=2,
            )
        )
        return OK
    for build, one in found.items():
        print(
            "\n".join(
                [
                    f"{build}:",
                    *(
                        f"  {sentence}"
                        for sentence in one.sentences() or ["No entities, and no chunks."]
                    ),
                    "",
                ]
            )
        )
    return OK


def _built(corpus: Corpus) -> list[str]:
    """Return the ids of the builds that can be used. Raises BadInput if there is none."""
    found = [one.id for one in builds_of(corpus).values() if status(corpus, one).serves]
    if not found:
        raise BadInput(
            f"No graph is built of {corpus.name}; build one with: python -m core corpus build "
            f"{corpus.name}"
        )
    return found


def _questions(corpus: Corpus, name: str) -> Sequence[Question]:
    """Return the questions of a set of the corpus or of a file. Raises BadInput."""
    if name and name not in corpus.sets and Path(name).is_file():
        return question_set(name).questions()
    return corpus.questions(name) if name else ()
