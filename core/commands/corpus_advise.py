"""Command `corpus advise`: advice whether the documents of a corpus need a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress

from core.commands.terminal import (
    EXIT_OK,
    TerminalBar,
    add_count,
    add_switch,
    finish_job,
    print_json,
    warn,
)
from core.corpus import open_corpus
from core.errors import BadInput
from core.evaluation.advice.advice_state import QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES, load_advice
from core.evaluation.advice.advisor import start_advice
from core.evaluation.advice.answer import AdviceAnswer, answer
from core.evaluation.advice.plan import (
    ADVICE_DEFAULTS,
    ADVICE_WRITER_ROLE,
    default_writer,
    estimate_advice_cost,
)
from core.evaluation.advice.roadmap import (
    Leaf,
    measured_sentence,
    next_roadmap_step,
    read_answers,
    roadmap_leaves,
    roadmap_questions,
)
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Store, evaluations_file

LOCAL_BACKEND = "llama"  # the backend that runs on this computer, whose replies cost nothing


def add_parts(parts) -> None:
    """Add this part of `corpus` and its options."""
    advise = parts.add_parser(
        "advise",
        help="do I need a graph? questions made from the texts, methods with and without a graph, "
        "and an answer",
        description="Make questions with evidence passages from the texts of a corpus, ask them of "
        "search by words, by vectors and by both, and of four methods on graphs, and say whether "
        "a graph is needed. No language model answers, so that no key is needed.",
        epilog="Everything is saved as it comes: after Ctrl-C or a crash the same command "
        "continues, and shows a finished answer at once.",
    )
    advise.add_argument("name", metavar="NAME", help="the corpus")
    advise.add_argument(
        "--questions",
        default="",
        choices=("", QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES),
        metavar="WHO",
        help="model: a language model writes them and they are checked; names: gaps and pairs of "
        "names (default: model where one is here)",
    )
    advise.add_argument(
        "--minutes",
        type=float,
        default=ADVICE_DEFAULTS.minutes,
        help=f"the time that it is to take (default: {ADVICE_DEFAULTS.minutes:.0f})",
    )
    add_count(advise, "--seed", 0, "of all that is drawn", low=0)
    add_switch(advise, "--again", "make the questions and the answer anew")
    add_switch(advise, "--yes", "do not ask before a language model elsewhere is put to work")
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
    add_switch(advise, "--json", "print one JSON object")
    advise.set_defaults(run=run)


def run(options) -> int:
    """Make the advice, print it and return the exit code."""
    if options.paper is not None:
        return _roadmap(options)
    if not 1 <= options.minutes <= 24 * 60:
        raise BadInput(f"Give 1 to {24 * 60:,} minutes, not {options.minutes:g}.")
    engine, store = options.engine(), Store(evaluations_file())
    with TerminalBar("Cutting the documents into chunks"):
        corpus = open_corpus(options.name)
        writer = options.questions or default_writer(engine.models)
        expected = estimate_advice_cost(corpus, engine.models, writer, options.minutes)
    warn([expected.words()])
    if (
        writer == QUESTIONS_BY_MODEL
        and engine.models.info(ADVICE_WRITER_ROLE).backend != LOCAL_BACKEND
        and not options.yes
    ):
        raise BadInput("Say --yes to put the language model to work, or --questions names.")
    advice = finish_job(
        start_advice(
            engine,
            store,
            corpus,
            by=writer,
            seed=options.seed,
            minutes=options.minutes,
            again=options.again,
        )
    )
    advice_answer = answer(RunSummary(store.run(advice.run), store.rows(advice.run)), advice)
    if options.json:
        print_json(
            {"answer": dataclasses.asdict(advice_answer), "advice": dataclasses.asdict(advice)}
        )
        return EXIT_OK
    for paragraph in (
        advice_answer.headline,
        *(kind.words() for kind in advice_answer.kinds),
        "",
        *advice_answer.details,
        "",
        *advice_answer.caveats,
        *advice_answer.made,
        "",
    ):
        print(paragraph)
    print(
        f"The questions are saved as {advice.set}, the figures as run {advice.run}: python -m "
        f"core evaluate --set {advice.set} ..."
    )
    return EXIT_OK


def _roadmap(options) -> int:
    """Print the paper's recommendation next to the figures measured on this corpus.

    The recommendations are the leaves of the decision tree of the In-depth Analysis, Figure 13.
    Returns the exit code.
    """
    measured_answer = AdviceAnswer("", "")
    corpus = open_corpus(options.name)
    store = Store(evaluations_file())
    saved = load_advice(corpus)
    if saved is not None and saved.done:
        with suppress(BadInput):  # The run with its figures may have been deleted.
            measured_answer = answer(RunSummary(store.run(saved.run), store.rows(saved.run)), saved)
    answers = read_answers(options.paper)
    step = next_roadmap_step(answers)
    if isinstance(step, Leaf):
        leaves = [step]
    else:
        leaves = [leaf for leaf in roadmap_leaves() if _agrees(leaf, answers)]
    leaf_rows = []
    for leaf in leaves:
        measured = measured_sentence(
            leaf, measured_answer.shares, measured_answer.names, measured_answer.asked
        )
        leaf_rows.append((leaf, [*leaf.words(), measured]))
    if options.json:
        print_json([dataclasses.asdict(leaf) | {"sentences": texts} for leaf, texts in leaf_rows])
        return EXIT_OK
    questions_by_key = roadmap_questions()
    for leaf, sentences in leaf_rows:
        answers_text = "; ".join(
            f"{questions_by_key[key].title} {questions_by_key[key].options[value]}"
            for key, value in leaf.when.items()
        )
        print(f"{','.join(leaf.when.values())}: {answers_text}")
        for sentence in sentences:
            print(f"  {sentence}")
        print()
    return EXIT_OK


def _agrees(leaf: Leaf, answers: Mapping[str, str]) -> bool:
    """Return whether a recommendation agrees with these answers."""
    return all(leaf.when.get(key) == value for key, value in answers.items())
