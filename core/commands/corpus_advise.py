"""Command `corpus advise`: advice whether the documents of a corpus need a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress

from core.commands.terminal import OK, add_count, bar, finish, warn
from core.corpus import open_corpus
from core.errors import BadInput
from core.evaluation.advice.advising import start
from core.evaluation.advice.answer import Answer, answer
from core.evaluation.advice.plan import MINUTES, ROLE, estimate, usual_writer
from core.evaluation.advice.roadmap import Leaf, advised, leaves, measured, questions, read_answers
from core.evaluation.advice.saved import BY_MODEL, BY_NAMES, saved_advice
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.store import Store, evaluations_file
from core.io.json_text import json_text

LOCAL = "llama"  # the backend that runs on this computer, whose replies cost nothing


def add_parts(parts) -> None:
    """Add this part of `corpus` and its options."""
    advise = parts.add_parser(
        "advise",
        help="do I need a graph? questions made from the texts, methods with and without a graph, "
        "and an answer",
        description="Make questions with gold passages from the texts of a corpus, ask them of "
        "search by words, by vectors and by both, and of four methods on graphs, and say whether "
        "a graph is needed. No language model answers, so that no key is needed.",
        epilog="Everything is saved as it comes: after Ctrl-C or a crash the same command "
        "continues, and shows a finished answer at once.",
    )
    advise.add_argument("name", metavar="NAME", help="the corpus")
    advise.add_argument(
        "--questions",
        default="",
        choices=("", BY_MODEL, BY_NAMES),
        metavar="WHO",
        help="model: a language model writes them and they are checked; names: gaps and pairs of "
        "names (default: model where one is here)",
    )
    advise.add_argument(
        "--minutes",
        type=float,
        default=MINUTES,
        help=f"the time that it is to take (default: {MINUTES:.0f})",
    )
    add_count(advise, "--seed", 0, "of all that is drawn", least=0)
    advise.add_argument(
        "--again", action="store_true", help="make the questions and the answer anew"
    )
    advise.add_argument(
        "--yes",
        action="store_true",
        help="do not ask before a language model elsewhere is put to work",
    )
    advise.add_argument(
        "--paper",
        default=None,
        metavar="ANSWERS",
        nargs="?",
        const="",
        help="measure nothing: what the In-depth Analysis recommends (its Figure 13) for these "
        "answers, such as specific,complex,low,more, beside what was measured on these texts "
        "before; without answers all that it recommends",
    )
    advise.add_argument("--json", action="store_true", help="print one JSON object")
    advise.set_defaults(run=run)


def run(options) -> int:
    """Make the advice, print it and return the exit code."""
    if options.paper is not None:
        return _roadmap(options)
    if not 1 <= options.minutes <= 24 * 60:
        raise BadInput(f"Give 1 to {24 * 60:,} minutes, not {options.minutes:g}.")
    engine, store = options.engine(), Store(evaluations_file())
    with bar("Cutting the documents into chunks"):
        corpus = open_corpus(options.name)
        by = options.questions or usual_writer(engine.models)
        expected = estimate(corpus, engine.models, by, options.minutes)
    warn([expected.words()])
    if by == BY_MODEL and engine.models.info(ROLE).backend != LOCAL and not options.yes:
        raise BadInput("Say --yes to put the language model to work, or --questions names.")
    advice = finish(
        start(
            engine,
            store,
            corpus,
            by=by,
            seed=options.seed,
            minutes=options.minutes,
            again=options.again,
        )
    )
    found = answer(Summary(store.run(advice.run), store.rows(advice.run)), advice)
    if options.json:
        print(
            json_text(
                {"answer": dataclasses.asdict(found), "advice": dataclasses.asdict(advice)},
                indent=2,
            )
        )
        return OK
    for paragraph in (
        found.headline,
        *(kind.words() for kind in found.kinds),
        "",
        *found.details,
        "",
        *found.caveats,
        *found.made,
        "",
    ):
        print(paragraph)
    print(
        f"The questions are saved as {advice.set}, the figures as run {advice.run}: python -m "
        f"core evaluate --set {advice.set} ..."
    )
    return OK


def _roadmap(options) -> int:
    """Print the paper's recommendation next to the figures measured on this corpus.

    The paper is the In-depth Analysis, Figure 13. Returns the exit code.
    """
    found, corpus, store = Answer("", ""), open_corpus(options.name), Store(evaluations_file())
    saved = saved_advice(corpus)
    if saved is not None and saved.done:
        with suppress(BadInput):  # The run with its figures may have been deleted.
            found = answer(Summary(store.run(saved.run), store.rows(saved.run)), saved)
    advice = advised(read_answers(options.paper))
    chosen = (
        (advice,)
        if isinstance(advice, Leaf)
        else tuple(leaf for leaf in leaves() if _fits(leaf, read_answers(options.paper)))
    )
    written = [
        (leaf, [*leaf.words(), measured(leaf, found.shares, found.names, found.asked)])
        for leaf in chosen
    ]
    if options.json:
        print(
            json_text(
                [dataclasses.asdict(leaf) | {"sentences": said} for leaf, said in written],
                indent=2,
            )
        )
        return OK
    known = questions()
    for leaf, said in written:
        way = "; ".join(
            f"{known[key].title} {known[key].options[value]}" for key, value in leaf.when.items()
        )
        print(
            "\n".join(
                [
                    f"{','.join(leaf.when.values())}: {way}",
                    *(f"  {sentence}" for sentence in said),
                    "",
                ]
            )
        )
    return OK


def _fits(leaf: Leaf, answers: Mapping[str, str]) -> bool:
    """Return whether a recommendation agrees with these answers."""
    return all(leaf.when.get(key) == value for key, value in answers.items())
