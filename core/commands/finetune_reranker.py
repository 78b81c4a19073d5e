"""Command `finetune reranker`: train a cross-encoder from MiniLM on shipped questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.commands.terminal import (
    EXIT_OK,
    add_count,
    add_switch,
    add_text,
    print_json,
    run_as_job,
    whole_number,
)
from core.errors import BadInput
from core.finetune.reranker import RerankerSettings
from core.finetune.reranker_run import (
    RERANKER_CORPORA,
    RERANKER_NAME,
    Lessons,
    run_reranker_training,
    ship_reranker,
)

RERANKER_DESCRIPTION = """Trains a cross-encoder from all-MiniLM-L6-v2: a question and a text read together give \
one number, which sets the text that the
question rests on above others that share its words (BM25), by the cross-entropy over the group. \
It learns from one half of the questions
of SciFact and HotpotQA, from titles of their documents asked of the texts, and from paths of \
MetaQA's development questions; the other
half of the questions, which it is never trained on, measures it. It is served as \
reranker-finetuned only if it ranks those better than
late interaction; the figures of both lie beside it. About an hour on two cores; HOPSCOPE_THREADS \
says how many threads are used. After an
interrupt or a kill the same command continues where it was."""


def add_part(trainings) -> None:
    """Add this part of `finetune` and its options."""
    parser = trainings.add_parser(
        "reranker",
        help="a cross-encoder, for FastInsight and re-ranking",
        description=RERANKER_DESCRIPTION,
    )
    parser.add_argument(
        "--corpora",
        default=",".join(RERANKER_CORPORA),
        metavar="NAMES",
        help=f"with commas (default: {','.join(RERANKER_CORPORA)})",
    )
    parser.add_argument(
        "--questions",
        type=whole_number(0),
        default=0,
        metavar="N",
        help="drawn from each corpus's half (default: all)",
    )
    add_count(parser, "--titles", 2000, "documents a corpus whose title is asked", low=0)
    add_count(parser, "--paths", 60, "of MetaQA's development questions", low=0)
    add_count(parser, "--test-sample", 100, "unseen questions a corpus", low=0)
    add_count(parser, "--epochs", 3, "how often each question is seen", low=0)
    add_count(parser, "--tokens", 192, "of a question and a text that are read", low=0)
    add_count(parser, "--seed", 0, "of every draw", low=0)
    add_switch(parser, "--again", "train again, also where the same training was done or begun")
    add_text(
        parser, "--ship", "FOLDER", "write the trained one as small as it ships, and measure that"
    )
    add_count(parser, "--rank", 32, "of the matrices of --ship: more is larger", low=0)
    add_switch(parser, "--json", "print one JSON object")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Train, measure and serve the cross-encoder, and return the exit code."""
    engine = options.engine()
    corpora = tuple(filter(None, map(str.strip, options.corpora.split(","))))
    lessons = Lessons(
        corpora,
        options.questions,
        options.test_sample,
        titles=options.titles,
        paths=options.paths,
        seed=options.seed,
    )
    if not corpora or not options.epochs or options.tokens < 16:
        raise BadInput("Name a corpus, one epoch and 16 tokens at least.")
    if options.ship:
        return _ship(engine, lessons, options)
    settings = RerankerSettings(epochs=options.epochs, tokens=options.tokens, seed=options.seed)
    record = run_as_job(
        "reranker",
        lambda job: run_reranker_training(engine, lessons, settings, job, options.again),
    )
    if options.json:
        print_json(record, indent=1)
    else:
        _print(record)
    return EXIT_OK


def _ship(engine: Any, lessons: Lessons, options: Any) -> int:
    """Write the small form of the trained model."""
    folder, rank = Path(options.ship), max(1, options.rank)
    record = run_as_job(
        "ship", lambda job: ship_reranker(engine, lessons, folder, rank, options.tokens, job)
    )
    _print_figures(record)
    print(f"{folder}: {sum(file.stat().st_size for file in folder.iterdir()) / 1000:,.0f} kB")
    return EXIT_OK


def _print_figures(record: dict[str, Any]) -> None:
    print(
        f"Trained on {record['examples']:,} groups, {record['held_out']:,} more held out, "
        f"{record['steps']:,} steps."
    )
    for row in record["report"]:
        figures = f"{row[RERANKER_NAME]:.3f}, late interaction {row['late-interaction']:.3f}"
        print(f"  {row['corpus']}: nDCG@10 on {row['questions']:,} unseen questions {figures}")


def _print(record: dict[str, Any]) -> None:
    _print_figures(record)
    outcome = "it is no better than late interaction, so it is not saved"
    if record["kept"]:
        outcome = "it is served"
    print(f"{RERANKER_NAME}: {outcome}")
