"""Command `finetune`: train an encoder, a triple scorer, a reranker or a language model.

It reports the figures before and after the training on unseen questions.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from core.commands import finetune_reranker
from core.commands.terminal import (
    EXIT_OK,
    add_count,
    add_switch,
    add_text,
    finish_job,
    print_json,
    run_as_job,
    warn,
    whole_number,
)
from core.errors import BadInput
from core.evaluation.runs.store import Store, evaluations_file
from core.finetune import DEFAULT_SETS, training_runs
from core.finetune.encoder import ENCODER_PRESETS
from core.finetune.llm import BASE_MODEL_NEEDED, LLMSettings
from core.finetune.report import comparison_rows, evaluations, merge_summaries, report_lines
from core.finetune.split import QuestionSplit
from core.finetune.training_folders import trained_record
from core.finetune.training_runs import served_folder
from core.finetune.triples import TripleSettings

ENCODER_DESCRIPTION = """Trains all-MiniLM-L6-v2 so that a question lies near what leads to its answers: path \
texts (for No. 18), triples (No. 12)
and relation names (No. 5), by multiple-negatives ranking. A positive is what reaches a correct \
answer along the chain of relations that
agrees best with the correct answers; negatives are those of the other questions in the batch and, \
in the preset cpu, three other
candidates of its own question. The result is served as encoder-finetuned at once."""
LLM_DESCRIPTION = """Trains low-rank adapters (LoRA) on a causal language model with the very prompts by which \
language models choose paths (No. 20),
triples (No. 14) and relations (No. 7) from numbered lists, and plan relations (RoG); the right \
reply names what reaches a correct answer. The
merged model is served as chat-finetuned: by vLLM where there is a graphics card, or by any \
OpenAI-compatible server that is
started on its folder and declared under that name on the Models page. Rate 2e-4, warm-up 0.1, \
cosine, two epochs and the cut-off of 4,096
tokens are LEGO-GraphRAG v1's. It needs a base model's weights, none of which come with Hopscope, \
and a graphics card for large ones."""
TRIPLES_DESCRIPTION = """Trains SubgraphRAG's scorer: a small network over the vectors of question, head, \
relation and tail and over where both ends
lie, which learns to tell the triples on shortest ways from a question's entities to its answers \
from the others around it. The row
subgraph-rag reads the result at once, in the place of the one that ships. It needs the encoder \
only; some minutes on two quiet cores."""
RESUME_NOTE = """Everything is saved on the way: after an interrupt or a kill the same command \
resumes. MetaQA's training questions are not
shipped; the default trains on its development questions, holds some of them out to choose when to \
stop, and reports on test questions,
none of which is ever trained on. Of a set without a test part a fifth of the questions are left \
for the report. HOPSCOPE_THREADS is how
many threads are used."""
PRESET_HELP = """cpu: batches of 32, two epochs, positives drawn again, three hard negatives; minutes \
on two quiet cores. paper: batches of
1,024, ten epochs, the first positive only, no hard negatives, as LEGO-GraphRAG's code has it; \
hours without a graphics card"""


def add_command(subparsers) -> None:
    """Add the command and its parts with their options."""
    finetune = subparsers.add_parser("finetune")
    trainings = finetune.add_subparsers(required=True, metavar="WHAT")
    encoder = trainings.add_parser(
        "encoder",
        help="the sentence encoder, for v1 No. 5, 12 and 18",
        description=ENCODER_DESCRIPTION,
        epilog=RESUME_NOTE,
    )
    _add_common_options(encoder, questions="300")
    encoder.add_argument(
        "--preset", choices=("cpu", "paper"), default="cpu", help=f"{PRESET_HELP} (default: cpu)"
    )
    encoder.add_argument("--batch", type=whole_number(1), metavar="N", help="questions a step")
    encoder.add_argument(
        "--epochs", type=whole_number(1), metavar="N", help="how often each question is seen"
    )
    encoder.add_argument("--rate", type=_rate, metavar="X", help="the highest learning rate")
    encoder.add_argument(
        "--negatives", type=whole_number(0), metavar="N", help="hard negatives a question"
    )
    encoder.add_argument(
        "--margin",
        type=_rate,
        metavar="X",
        help="train by LEGO-GraphRAG v1's loss with this margin of cosines (default: by ranking "
        "in the batch)",
    )
    add_count(encoder, "--test-sample", 50, "unseen questions of each test set in the report")
    encoder.set_defaults(run=run_encoder)

    triples = trainings.add_parser(
        "triples",
        help="the scorer of triples, for subgraph-rag",
        description=TRIPLES_DESCRIPTION,
        epilog=RESUME_NOTE,
    )
    _add_common_options(triples, questions="150", report=False)
    add_count(triples, "--epochs", 8, "how often each question is seen")
    add_count(triples, "--hidden", 128, "hidden units")
    triples.set_defaults(run=run_triples)

    finetune_reranker.add_part(trainings)
    llm = trainings.add_parser(
        "llm",
        help="a language model, for v1 No. 7, 14 and 20",
        description=LLM_DESCRIPTION,
        epilog=RESUME_NOTE,
    )
    _add_common_options(llm, questions="all")
    add_text(
        llm,
        "--base",
        "MODEL",
        "a folder with a causal language model, or its name on the model hub",
    )
    add_count(llm, "--batch", 8, "dialogues a step, one at a time")
    add_count(llm, "--epochs", 2, "how often each question is seen")
    llm.add_argument(
        "--rate",
        type=_rate,
        default=2e-4,
        metavar="X",
        help="the highest learning rate (default: 2e-4)",
    )
    add_count(llm, "--cut", 4096, "dialogues of more tokens are left out")
    add_count(llm, "--test-sample", 50, "unseen questions of each test set in the report")
    llm.set_defaults(run=run_llm)


def _add_common_options(parser, questions: str, report: bool = True) -> None:
    """Add the options of all trainings; `questions` is the default of that option."""
    parser.add_argument(
        "--set",
        default=DEFAULT_SETS,
        metavar="NAMES",
        help="question sets, with commas, or files (default: MetaQA's -dev sets)",
    )
    add_text(
        parser, "--test", "NAMES", "test sets of the report (default: the -test set beside each)"
    )
    parser.add_argument(
        "--questions",
        default=questions,
        metavar="N",
        help=f"questions drawn from each set, or all (default: {questions})",
    )
    add_count(parser, "--held-out", 20, "of them for early stopping")
    add_count(parser, "--seed", 0, "of every draw", low=0)
    add_switch(parser, "--again", "train again, also where the same training was done or begun")
    add_switch(parser, "--json", "print one JSON object")
    if not report:
        return
    reports = parser.add_mutually_exclusive_group()
    add_switch(reports, "--report", "train nothing, only report on what is here")
    add_switch(reports, "--no-report", "only train")


def run_encoder(options) -> int:
    """Train and serve the encoder, report, and return the exit code."""
    engine = options.engine()
    if options.report:
        training = _trained_model(engine, training_runs.ENCODER_NAME, "encoder")
    else:
        changes = {"seed": options.seed}
        for name in ("batch", "epochs", "rate", "negatives", "margin"):
            if getattr(options, name) is not None:
                changes[name] = getattr(options, name)
        settings = replace(ENCODER_PRESETS[options.preset], **changes)
        split = _split(options)
        training = run_as_job(
            "encoder",
            lambda job: training_runs.run_encoder_training(
                engine, split, settings, job, options.again
            ),
        )
        if not options.json:
            _print_training(training)
    rows = [] if options.no_report else _report(engine, training, options)
    if options.json:
        print_json({"training": training, "report": rows})
    return EXIT_OK


def run_triples(options) -> int:
    """Train and serve the triple scorer, and return the exit code."""
    engine = options.engine()
    settings = TripleSettings(hidden=options.hidden, epochs=options.epochs, seed=options.seed)
    training = run_as_job(
        "triples",
        lambda job: training_runs.run_triples_training(
            engine, _split(options), settings, job, options.again
        ),
    )
    if options.json:
        print_json({"training": training})
    else:
        _print_training(training)
    return EXIT_OK


def run_llm(options) -> int:
    """Train and serve the language model, report, and return the exit code."""
    engine = options.engine()
    if options.report:
        training = _trained_model(engine, training_runs.CHAT_NAME, "llm --base MODEL")
    elif not options.base:
        raise BadInput(BASE_MODEL_NEEDED)
    else:
        settings = LLMSettings(
            options.batch, options.epochs, options.rate, cut=options.cut, seed=options.seed
        )
        split = _split(options)
        test_sample = 0 if options.no_report else options.test_sample
        training = run_as_job(
            "llm",
            lambda job: training_runs.run_llm_training(
                engine, split, settings, options.base, test_sample, job, options.again
            ),
        )
    if options.json:
        print_json({"training": training, "report": training["report"]})
        return EXIT_OK
    _print_training(training)
    tests = ", ".join(QuestionSplit(**training["split"]).test_names)
    print(
        f"\nOn questions of {tests}, which the training never saw: loss a token of the right "
        "reply, and how often the"
    )
    print("first number that the model names is right")
    for row in training["report"]:
        hit = "" if row["hit"] is None else f"  right first {row['hit']:.3f}"
        loss = "–" if row["loss"] is None else f"{row['loss']:.3f}"
        print(f"  {row['task']:9} {row['when']:7} {row['n']:>5,} dialogues  loss {loss}{hit}")
    return EXIT_OK


def _report(engine, training: dict, options) -> list[dict]:
    """Evaluate the base and the trained encoder on unseen questions, and return the comparison."""
    store = Store(evaluations_file())
    fields = dict(training["split"])
    if options.test:
        fields["tests"] = options.test
    split = QuestionSplit(**fields)
    numbers = []
    for job in evaluations(split, options.test_sample, engine, store):
        finish_job(job)
        numbers.append(job.number)
    summary = merge_summaries([(store.run(number), store.rows(number)) for number in numbers])
    for method in summary.methods:
        if failed := summary.failure_text(method):
            warn([f"{method}: {failed}"])
    rows = comparison_rows(summary)
    if not options.json:
        print(
            f"\nOne-shot ranking of the same paths, {', '.join(split.test_names)}, which the "
            "training never saw:"
        )
        print("before is v1 No. 16 with the plain encoder, after is v1 No. 18 with the trained one")
        print("\n".join(report_lines(rows)))
    return rows


def _print_training(training: dict) -> None:
    split = training["split"]
    examples, n_asked = training["examples"], training["asked"]
    total = f"{examples:,} of {n_asked:,}" if examples < n_asked else f"{n_asked:,}"
    print(
        f"Trained on {total} questions of {split['sets']}, {training['held_out']:,} more held out, "
        f"seed {split['seed']}."
    )
    if examples < n_asked:
        print(
            "From the others no retrieved path ends in a correct answer, or none misses all of them."
        )
    # Loss: mean since the last row, None at the start. Figure: on the held-out questions.
    for step, loss, figure in training["looks"]:
        mark = "  ← saved" if step == training["best_step"] else ""
        print(
            f"  step {step:>5,}  {'' if loss is None else f'loss {loss:.3f}':10}  held-out "
            f"{figure:.3f}{mark}"
        )


def _split(options) -> QuestionSplit:
    """Return the training, held-out and test questions. Raises BadInput for a wrong number."""
    if options.questions != "all" and not options.questions.isdecimal():
        raise BadInput(f"--questions is a whole number or “all”, not “{options.questions}”.")
    size = None if options.questions == "all" else int(options.questions)
    return QuestionSplit(options.set, options.test, size, options.held_out, options.seed)


def _trained_model(engine, name: str, command: str) -> dict:
    """Return the record of the trained model.

    Raises BadInput if there is none. Its message names the command that trains it.
    """
    training = trained_record(served_folder(engine, name))
    if training is None:
        raise BadInput(
            f"There is no trained model to report on; make it with: hopscope finetune {command}"
        )
    return training


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, not “{text}”")
    return rate
