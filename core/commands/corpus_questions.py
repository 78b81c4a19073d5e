"""`corpus write-questions`: abstract questions to a corpus, written by a language model."""

from __future__ import annotations

from core.commands.terminal import OK, bar, finish, warn
from core.corpus import corpora, open_corpus
from core.errors import BadInput, nearest
from core.evaluation.questions.keeping import start, usual_name
from core.evaluation.questions.writing import ROLE, Recipe, Writing

SHOWN = 5  # questions that are printed


def add_parts(parts) -> None:
    """The grammar of this part of the command."""
    usual = Recipe()
    written = parts.add_parser(
        "write-questions",
        help="let a language model write questions that ask for an overview of a corpus",
        description="Five users, five tasks of each, five questions to each task, from what the corpus is about; kept as a question set.",
        epilog="Every reply is kept: the same command goes on where it stopped, and asks nobody where all is written.",
    )
    written.add_argument("name", metavar="NAME", help="the corpus")
    written.add_argument("--users", type=int, default=usual.users, metavar="N")
    written.add_argument("--tasks", type=int, default=usual.tasks, metavar="N", help="of each user")
    written.add_argument("--questions", type=int, default=usual.questions, metavar="N", help="to each task")
    written.add_argument("--about", default="", metavar="TEXT", help="what the corpus is about (default: summed up from its passages)")
    written.add_argument("--set", default="", metavar="NAME", help="the set's name (default: that of the corpus with -abstract)")
    written.add_argument("--model", default=ROLE, metavar="NAME", help="the role or name of the model that writes (default: answer)")
    written.set_defaults(run=run)


def run(options) -> int:
    """Write, keep and print; the exit code."""
    if options.name not in corpora():
        raise BadInput(f"There is no corpus “{options.name}”.{nearest(options.name, corpora())}")
    recipe, engine = Recipe(options.users, options.tasks, options.questions), options.engine()
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
    set_name = options.set or usual_name(corpus.name)
    written = finish(start(engine, Writing(corpus, engine.models, recipe, options.about, options.model), set_name))
    warn(written.notes)
    print(f"About: {written.about}")
    for question in written.questions[:SHOWN]:
        print(f"  {question.text}")
    if len(written.questions) > SHOWN:
        print(f"  and {len(written.questions) - SHOWN:,} more")
    print(f"{len(written.questions):,} questions of {corpus.name} are kept as {set_name}")
    return OK
